"""The ledger: every call of a model by the log, and what it is booked with (K26, K27).

What the bursar says are facts, so they are held against the books here: a reservation that does not fit where it stands
in the log is superseded and never sent; any other misfit is a fault of an officer (K5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from moot.protocols.calls.books import (
    NONE,
    SOCIETY,
    Amount,
    Asked,
    Books,
    Lack,
    Limit,
    Place,
    day_of,
)
from moot.protocols.calls.call import Call, call_id_of, check_asked, check_settled
from moot.protocols.calls.limits import limits_in, micro
from moot.protocols.calls.messages import (
    BudgetSet,
    CallRefused,
    CallReserved,
    CallSettled,
)
from moot.protocols.calls.price import price_in
from moot.protocols.kernel.context import Fold, RuleContext
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import OfficerFault, Violation
from moot.protocols.kernel.officers import ConfigChanged, SocietyStarted

_PRUNED: Final = 64
"""Calls of closed obligations are forgotten once so many more are known than after the last time."""


class Ledger(Fold):
    """Fold what calls were reserved, settled and refused, and what may be spent.

    Attributes:
        books: What is booked in each budget.
        open: Calls under way, by id.
        lack: Why the call did not fit that the last message refused; None when the last message refused none.
    """

    name = "ledger"
    types = frozenset(
        {"CALL_RESERVED", "CALL_SETTLED", "CALL_REFUSED", "BUDGET_SET", "SOCIETY_STARTED", "CONFIG_CHANGED"}
    )

    def __init__(self) -> None:
        """Start with nothing booked and no limits."""
        self.books = Books()
        self.open: dict[str, Call] = {}
        self.lack: Lack | None = None
        self._asked: dict[str, dict[tuple[int, int], list[Call]]] = {}
        self._kept = 0
        self._day = ""
        self._configured: object = None

    # ---------------------------------------------------------------- questions

    def calls(self, obligation: str, attempt: int, turn: int) -> tuple[Call, ...]:
        """Return what was asked for in a turn of an open obligation, oldest first."""
        return tuple(self._asked.get(obligation, {}).get((attempt, turn), ()))

    def next_id(self, obligation: str, attempt: int, turn: int) -> str:
        """Return the id of the next call in a turn."""
        return call_id_of(obligation, attempt, turn, len(self.calls(obligation, attempt, turn)) + 1)

    def refused(self) -> tuple[str, ...]:
        """Return the obligations for which the call that was asked for last was refused."""
        return tuple(
            obligation
            for obligation, turns in self._asked.items()
            if any(type(calls[-1].asked) is CallRefused for calls in turns.values())
        )

    def fits(self, asked: Asked, at: datetime, besides: Books | None = None) -> Lack | None:
        """Say into which budget a call does not fit; None when it fits into all.

        Args:
            asked: The call.
            at: When it would be reserved.
            besides: What was booked and does not stand in the log yet.
        """
        return self.books.lack(asked, at, besides)

    def room(self, at: datetime) -> Iterator[tuple[Place, Limit, Amount, Amount]]:
        """List the budgets of an instant: what each is, what is booked, and which part of that is under way."""
        return self.books.gauges(at)

    def is_short(self, lack: Lack) -> bool:
        """Say whether a call that did not fit into a budget still does not."""
        most = getattr(self.books.limit(lack.place), lack.unit)
        booked = getattr(self.books.booked.get(lack.place, NONE), lack.unit)
        return most is not None and (booked or 0) + (lack.asked or 0) > most

    def raise_(self, lack: Lack) -> None:
        """Raise a spent budget by what it was set to, at least so far that the call fits that did not."""
        limit = getattr(self.books.limits.get(lack.place.scope, Limit()), lack.unit)
        most = getattr(self.books.limit(lack.place), lack.unit)
        booked = getattr(self.books.booked.get(lack.place, NONE), lack.unit)
        lacks = (booked or 0) + (lack.asked or 0) - (most or 0)
        self.books.raise_(lack.place, lack.unit, max(limit or 0, lacks))

    # ---------------------------------------------------------------- folding

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one envelope.

        Raises:
            OfficerFault: The bursar said what does not follow.
        """
        body = env.body
        self.lack = None
        if type(body) is CallSettled:
            self._settled(env, body)
        elif type(body) is CallReserved or type(body) is CallRefused:
            self._asked_for(env, body, fx, docket)
        elif type(body) is BudgetSet:
            if fx.violation is None:
                self._set(body)
        elif type(body) is SocietyStarted:
            self._configure(body.config.get("budget"))
            self._probed(body.config.get("models"), env.sent_at)
        elif type(body) is ConfigChanged and "budget" in body.changes:
            self._configure(body.changes["budget"])

    def _configure(self, budget: object) -> None:
        """Take `[budget]` of the configuration; what people set holds until that changes."""
        if budget == self._configured:
            return
        self._configured = budget
        self.books.limits = limits_in(budget)
        self.books.raised.clear()

    def _probed(self, models: object, at: datetime) -> None:
        """Book what it took to find out at a start how models are called: money and tokens, no call of a seat."""
        for model in models.values() if isinstance(models, Mapping) else ():
            probe = model.get("probe") if isinstance(model, Mapping) else None
            if isinstance(probe, Mapping):
                used = Amount(_figure(probe.get("cost")), _figure(probe.get("tokens")) or 0)
                for place in (SOCIETY, Place("day", day_of(at))):
                    self.books.settle((place,), NONE, used)

    def _set(self, body: BudgetSet) -> None:
        before = self.books.limits.get(body.scope, Limit())
        given = (micro(body.usd), body.tokens, body.calls)
        self.books.limits[body.scope] = Limit(
            *(old if new is None else new for old, new in zip(before, given, strict=True))
        )

    def _asked_for(
        self, env: Envelope, body: CallReserved | CallRefused, fx: Effects, docket: Docket
    ) -> None:
        self._forget(env, docket)
        before = self.calls(body.obligation, body.attempt, body.turn)
        price = price_in(docket.context.config, body.model)
        check_asked(env, body, before, price)
        call = Call(body, env.seq, (), price)
        turns = self._asked.setdefault(body.obligation, {})
        turns.setdefault((body.attempt, body.turn), []).append(call)
        asked = Asked(call.most, body.seat, body.case)
        lack = self.books.lack(asked, env.sent_at)
        owed = docket.open.get(body.obligation)
        if owed is not None and (owed.seat, owed.case_id) != (body.seat, body.case):
            raise OfficerFault(f"{owed.id} is owed by {owed.seat} in {owed.case_id}", seq=env.seq)
        if owed is None and body.obligation in docket.cases and body.case != body.obligation:
            raise OfficerFault(f"the call is about the case {body.obligation}", seq=env.seq)
        if type(body) is CallRefused:
            self.lack = lack
            fx.superseded = lack is None
        elif lack is not None or not is_wanted(docket, body.obligation, body.attempt):
            fx.superseded = True
        else:
            call.places = asked.places(env.sent_at)
            self.books.hold(call.places, call.most)
            self.open[body.call_id] = call

    def _settled(self, env: Envelope, body: CallSettled) -> None:
        call = self.open.get(body.call_id)
        if call is None:
            raise OfficerFault(f"{body.call_id} is not under way, so nothing of it is settled", seq=env.seq)
        check_settled(env, body, call)
        call.settled = body
        del self.open[body.call_id]
        self.books.settle(call.places, call.most, Amount(body.cost, body.tokens, 1))

    # ---------------------------------------------------------------- what is over

    def _forget(self, env: Envelope, docket: Docket) -> None:
        """Forget days and cases that are over, and calls of closed obligations, so that memory stays bounded."""
        today = day_of(env.sent_at)
        if today == self._day and len(self._asked) < self._kept + _PRUNED:
            return
        under_way = {call.asked.obligation for call in self.open.values()}
        kept = docket.open.keys() | docket.cases.keys() | under_way
        for obligation in self._asked.keys() - kept:
            del self._asked[obligation]
        held = self.books.held
        for place in [*self.books.booked]:
            is_over = place.key < today if place.scope == "day" else place.key not in docket.cases
            if place.scope in ("day", "case") and is_over and place not in held:
                self.books.forget(place)
        self._day, self._kept = today, len(self._asked)


def is_wanted(docket: Docket, obligation: str, attempt: int) -> bool:
    """Say whether the answer of a call is of use.

    Args:
        docket: What is owed.
        obligation: What its seat owes; or a case, for which it is made as a whole: the trials of an experiment.
        attempt: Answers to it that broke a rule so far.
    """
    is_there = obligation in docket.open or obligation in docket.cases
    return is_there and docket.attempts.get(obligation, 0) == attempt


def check_budget(env: Envelope, _context: RuleContext) -> None:
    """Check that a BUDGET_SET sets something.

    Raises:
        Violation: It sets nothing.
    """
    body: Any = env.body
    if body.usd is None and body.tokens is None and body.calls is None:
        raise Violation("K27", "sets nothing: give usd, tokens or calls", field="usd")


def _figure(told: object) -> int | None:
    return told if isinstance(told, int) and not isinstance(told, bool) and told >= 0 else None
