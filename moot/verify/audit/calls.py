"""Calls of models: the ledger added up again, and a call behind whatever a model is said to have written (K26, K27).

What the bursar says is held against the books where it is folded. Here the same sums are made without those books.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moot.bots.minds.model.measured import own_fields
from moot.protocols.calls.books import UNITS, Place, shown
from moot.protocols.calls.ledger import Ledger
from moot.protocols.calls.messages import CallReserved, CallSettled
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import BOT, Envelope
from moot.protocols.kernel.minds import MODEL
from moot.protocols.kernel.officers import ConfigChanged, SocietyStarted
from moot.verify.report import Findings

Sums = tuple[int, int, int]
"""Micro-USD, tokens and calls."""

_NOTHING: Final[Sums] = (0, 0, 0)


class Calls:
    """Adds up what calls were booked with, and looks for the call behind every message of a model."""

    def __init__(self, findings: Findings) -> None:
        """Start with nothing booked."""
        self._findings = findings
        self._sums: dict[Place, Sums] = {}
        self._open: dict[str, tuple[CallReserved, tuple[Place, ...]]] = {}
        self._answered: dict[str, set[int]] = {}
        self._has_models = False

    def take(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in a message that was folded."""
        body = env.body
        if type(body) is CallReserved:
            if not fx.superseded:
                self._reserved(env, body, docket)
        elif type(body) is CallSettled:
            self._settled(env, body, docket)
        elif type(body) is SocietyStarted or type(body) is ConfigChanged:
            if type(body) is SocietyStarted:
                self._probed(env, body)
            minds = docket.context.fold_named("minds").at(env.seq)
            self._has_models = any(mind.startswith(MODEL) for mind in minds.values())
        elif self._has_models and env.obligation_id is not None and env.actor == BOT:
            self._written(env, docket)
        if self._answered:
            for owed in fx.closed:
                self._answered.pop(owed.id, None)
        if self._sums:
            for ended in fx.ended:
                self._forget(Place("case", ended.case_id))

    def _reserved(self, env: Envelope, body: CallReserved, docket: Docket) -> None:
        places = tuple(_places(env, body))
        if places[1] not in self._sums:
            for place in [place for place in self._sums if place.scope == "day"]:
                self._forget(place)
        self._open[body.call_id] = body, places
        self._add(places, (body.max_cost or 0, body.max_tokens, 1), 1)
        ledger: Ledger = docket.context.fold_named("ledger")
        for place in places:
            limit = ledger.books.limit(place)
            for unit, most, booked in zip(UNITS, limit, self._sums[place], strict=True):
                if most is not None and booked > most:
                    self._findings.add(
                        env.seq,
                        "budget",
                        "K27",
                        f"{body.call_id} was sent, and takes what is booked for {place.shown} to "
                        f"{shown(unit, booked)} of {shown(unit, most)}",
                    )

    def _probed(self, env: Envelope, body: SocietyStarted) -> None:
        """Book what it took at the start to find out how models are called."""
        models = body.config.get("models")
        for model in models.values() if isinstance(models, Mapping) else ():
            probe = model.get("probe") if isinstance(model, Mapping) else None
            if isinstance(probe, Mapping):
                cost, tokens = (
                    found if type(found := probe.get(name)) is int and found > 0 else 0
                    for name in ("cost", "tokens")
                )
                self._add((Place("society"), Place("day", f"{env.sent_at:%Y-%m-%d}")), (cost, tokens, 0), 1)

    def _settled(self, env: Envelope, body: CallSettled, docket: Docket) -> None:
        found = self._open.pop(body.call_id, None)
        if found is None:
            why = f"{body.call_id} is settled, and no reservation of it stands"
            self._findings.add(env.seq, "budget", "K26", why)
            return
        asked, places = found
        self._add(places, (asked.max_cost or 0, asked.max_tokens, 1), -1)
        self._add(places, (body.cost or 0, body.tokens, 1), 1)
        is_more = (body.cost or 0) > (asked.max_cost or 0) or body.tokens > asked.max_tokens
        if is_more != body.overrun:
            said = "more than was reserved, and does not say so" if is_more else "no more than was reserved"
            self._findings.add(env.seq, "budget", "K27", f"{body.call_id} comes to {said}")
        if body.outcome == "answered" and asked.obligation in docket.open:
            self._answered.setdefault(asked.obligation, set()).add(asked.attempt)

    def _written(self, env: Envelope, docket: Docket) -> None:
        """Check that a message of a seat that a model fills was asked of it, but for what the society measures."""
        if not docket.context.fold_named("minds").of(env.author, env.seq).startswith(MODEL):
            return
        if own_fields(env.body.type) == () or env.attempt in self._answered.get(env.obligation_id or "", ()):
            return
        why = f"a model is said to have written this {env.body.type}, and no call for it was answered"
        self._findings.add(env.seq, "call", "K26", why)

    def _add(self, places: tuple[Place, ...], sums: Sums, sign: int) -> None:
        for place in places:
            usd, tokens, calls = self._sums.get(place, _NOTHING)
            self._sums[place] = (usd + sign * sums[0], tokens + sign * sums[1], calls + sign * sums[2])

    def _forget(self, place: Place) -> None:
        if not any(place in places for _, places in self._open.values()):
            self._sums.pop(place, None)


def _places(env: Envelope, body: CallReserved) -> Iterator[Place]:
    yield Place("society")
    yield Place("day", f"{env.sent_at:%Y-%m-%d}")
    yield Place("seat", body.seat)
    if body.case is not None:
        yield Place("case", body.case)
