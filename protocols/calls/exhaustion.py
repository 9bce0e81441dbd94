"""What follows when a budget is spent: the admin is asked, and a simulated mind may answer meanwhile (K27).

A budget counts as spent from the first CALL_REFUSED that rightly says so, until it is raised or what it is for is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from moot.protocols.calls.books import Lack, Place, day_of
from moot.protocols.calls.ledger import Ledger
from moot.protocols.calls.messages import BudgetSet, CallRefused
from moot.protocols.escalation.case import EscalationState
from moot.protocols.escalation.watch import Condition, Source
from moot.protocols.kernel.context import Deed, Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.minds import SIMULATED
from moot.protocols.kernel.officers import ConfigChanged, SocietyStarted
from moot.protocols.kernel.seats import TIMEKEEPER, Seat

SILENT, SIMULATE, RAISE = "stay_silent", "simulate", "raise_budget"
"""What the end of an escalation does to a budget."""

TRIGGERS: Final = {SILENT: "budget", SIMULATE: "budget_simulated"}
"""The row of the trigger table, by what the seats do until somebody answers; silence leaves it at that."""

_MINDS: Final = "call/minds/"
"""How the id of a CONFIG_CHANGED that follows from a budget begins."""


@dataclass(slots=True)
class Spent:
    """A budget that is spent.

    Attributes:
        lack: The call that did not fit, and why.
        seq: Where that was said.
        code: The row of the trigger table by which the admin is asked.
        does: What the seats do for which no call fits: `stay_silent` or `simulate`.
    """

    lack: Lack
    seq: int
    code: str
    does: str

    def concerns(self, seat: str) -> bool:
        """Say whether it holds a seat up; those of the society, a day and a case hold up every seat."""
        return self.lack.place.scope != "seat" or self.lack.place.key == seat


class Exhaustion(Fold):
    """Follow which budgets are spent, and name the timekeeper's duty to say that other minds answer.

    Attributes:
        spent: The budgets that are, by name.
        over: Those that no longer are, by the last message that this fold took in: trigger and name.
        asks_again_at: The last message at which seats may answer what they could not: it made room, or seated other
            minds.
    """

    name = "exhaustion"
    types = frozenset(
        {"CALL_REFUSED", "BUDGET_SET", "ESCALATION_RESOLVED", "SOCIETY_STARTED", "CONFIG_CHANGED"}
    )
    deeds = Deed.ENDED

    def __init__(self) -> None:
        """Start with nothing spent."""
        self.spent: dict[str, Spent] = {}
        self.over: tuple[tuple[str, str], ...] = ()
        self.asks_again_at = 0
        self._minds: Mapping[str, Any] = {}
        self._said: Mapping[str, Any] = {}

    def goes_on_with(self, seat: Seat) -> str:
        """Say what fills the seat of a model: `model`, or `simulated` while a budget is spent and that is chosen."""
        return SIMULATED if self._said.get(seat) == SIMULATED != self._minds.get(seat) else "model"

    def spent_at(self, now: datetime) -> dict[str, Spent]:
        """Return the budgets that are spent at an instant, by name: those of days that are over are not."""
        return {name: one for name, one in self.spent.items() if not _is_past(one, now)}

    def is_changing(self, docket: Docket) -> bool:
        """Say whether a CONFIG_CHANGED of minds is due."""
        return any(key.startswith(_MINDS) for key in docket.pending)

    # ---------------------------------------------------------------- folding

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Draft] | None:
        """Take in one envelope."""
        body = env.body
        self.over = ()
        if type(body) is CallRefused:
            self._refused(env, docket)
        elif not self.spent and type(body) not in (SocietyStarted, ConfigChanged):
            return None
        elif type(body) is BudgetSet and fx.violation is None:
            self._end([name for name, one in self.spent.items() if not _is_still_short(one, docket)])
        elif type(body) is SocietyStarted:
            self._configured(body.config.get("minds"))
            self._end([name for name, one in self.spent.items() if not _is_still_short(one, docket)])
        elif type(body) is ConfigChanged:
            self._changed(env, body)
        for ended in fx.ended:
            if isinstance(ended, EscalationState) and ended.code in TRIGGERS.values():
                self._answered(ended, docket)
            self._end(
                [name for name, one in self.spent.items() if one.lack.place == Place("case", ended.case_id)]
            )
        still = self.spent_at(env.sent_at)
        self._end([name for name in self.spent if name not in still])
        if self.over or (type(body) is ConfigChanged and env.id.startswith(_MINDS)):
            self.asks_again_at = env.seq
        return self._duty(env, docket)

    def _refused(self, env: Envelope, docket: Docket) -> None:
        ledger: Ledger = docket.context.fold_named("ledger")
        lack = ledger.lack
        if lack is None or lack.asked is None:
            return
        if (known := self.spent.get(lack.budget)) is not None:
            known.lack, known.seq = lack, env.seq
            return
        budget = docket.context.config.get("budget")
        chosen = budget.get("on_exhausted") if isinstance(budget, Mapping) else None
        does = SIMULATE if chosen == SIMULATED else SILENT
        self.spent[lack.budget] = Spent(lack, env.seq, TRIGGERS[does], does)

    def _answered(self, ended: EscalationState, docket: Docket) -> None:
        """Put into force how an escalation of a spent budget ended."""
        one = self.spent.get(ended.subject)
        if one is None:
            return
        if ended.effect in (SILENT, SIMULATE):
            one.does = ended.effect
        elif ended.effect == RAISE:
            ledger: Ledger = docket.context.fold_named("ledger")
            ledger.raise_(one.lack)
            self._end([ended.subject])

    def _end(self, names: list[str]) -> None:
        self.over += tuple((self.spent.pop(name).code, name) for name in names)

    # ---------------------------------------------------------------- minds

    def _configured(self, minds: object) -> None:
        self._minds = self._said = dict(minds) if isinstance(minds, Mapping) else {}

    def _changed(self, env: Envelope, body: ConfigChanged) -> None:
        minds = body.changes.get("minds")
        if not isinstance(minds, Mapping):
            return
        if env.id.startswith(_MINDS):
            self._said = dict(minds)
        else:
            self._configured(minds)

    def _wanted(self, at: datetime) -> Mapping[str, Any]:
        """Return the minds as they are to be: simulated where a model's seat is held up and that is chosen."""
        doing = [one for one in self.spent_at(at).values() if one.does == SIMULATE]
        return {
            seat: SIMULATED
            if isinstance(mind, Mapping) and "model" in mind and any(one.concerns(seat) for one in doing)
            else mind
            for seat, mind in self._minds.items()
        }

    def _duty(self, env: Envelope, docket: Docket) -> Iterable[Draft] | None:
        """Return the CONFIG_CHANGED that is due, in place of one that is no longer."""
        for key in [key for key in docket.pending if key.startswith(_MINDS)]:
            docket.revoke(key)
        wanted = self._wanted(env.sent_at)
        return None if wanted == self._said else [_config_changed(wanted, self._said, f"{_MINDS}{env.seq}")]

    def alarm(self, docket: Docket) -> datetime | None:
        """Return the midnight at which a spent day is over for which simulated minds answer."""
        if not self.spent:
            return None
        days = [
            one.lack.place.key
            for one in self.spent.values()
            if one.lack.place.scope == "day" and one.does == SIMULATE
        ]
        return min((_midnight_after(day) for day in days), default=None)

    def ring(self, now: datetime, docket: Docket) -> Iterable[Draft]:
        """Return the CONFIG_CHANGED that is due because a day is over."""
        alarm = self.alarm(docket)
        if alarm is None or now < alarm:
            return ()
        wanted = self._wanted(now)
        return (
            () if wanted == self._said else (_config_changed(wanted, self._said, f"{_MINDS}{day_of(alarm)}"),)
        )


def _config_changed(wanted: Mapping[str, Any], said: Mapping[str, Any], key: str) -> Draft:
    back = [seat for seat in wanted if said.get(seat) == SIMULATED != wanted[seat]]
    why = "a model's calls fit into the budget again" if back else "no call of a model fits into the budget"
    return Draft(
        channel="#admin",
        author=TIMEKEEPER,
        actor=OFFICER,
        key=key,
        body=ConfigChanged(changes={"minds": dict(wanted)}, reason=why),
    )


def _is_past(one: Spent, at: datetime) -> bool:
    place = one.lack.place
    return place.scope == "day" and place.key < day_of(at)


def _midnight_after(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=1)


def _is_still_short(one: Spent, docket: Docket) -> bool:
    """Say whether the call that did not fit would not fit now, as limits are."""
    ledger: Ledger = docket.context.fold_named("ledger")
    return ledger.is_short(one.lack)


class BudgetSpent(Source):
    """A budget into which a call did not fit; one escalation for each, until it is raised or over."""

    types = Exhaustion.types
    deeds = Deed.ENDED

    def changes(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Condition]:
        """Return what the fold of exhausted budgets, which took in this envelope before, made of it."""
        exhaustion: Exhaustion = docket.context.fold_named("exhaustion")
        if not (exhaustion.spent or exhaustion.over):
            return ()
        found = [Condition(code, name, False) for code, name in exhaustion.over]
        ledger: Ledger = docket.context.fold_named("ledger")
        lack = ledger.lack if type(env.body) is CallRefused else None
        if lack is not None and (one := exhaustion.spent.get(lack.budget)) is not None:
            found.append(Condition(one.code, lack.budget, True, lack.line, (env.seq,)))
        return found


def sources() -> tuple[Source, ...]:
    """Return fresh sources of all conditions of calls."""
    return (BudgetSpent(),)
