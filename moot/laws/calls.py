"""Laws of what language models are asked, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from moot.laws.law import Findings, Memory, Message, hears
from moot.laws.recent import Recent

Key = tuple[str, str]
"""A scope, and which day, seat or case."""
Amounts = tuple[int, int, int]
"""Micro-dollars, tokens, calls."""

SCOPES: Final = ("society", "day", "seat", "case")
UNITS: Final = ("usd", "tokens", "calls")
MICRO: Final = 1_000_000

PAID: Final = frozenset({"answered", "refused", "truncated", "filtered", "unparsable"})
"""Outcomes of a call that a model said something to: it is never asked again (K26)."""


class CallsAreBookedFirst(Memory, source="K26"):
    """A call is reserved once, then settled once, and what a model has answered is not asked again."""

    def __init__(self) -> None:
        self.open: Recent[str, int] = Recent()
        self.done: Recent[str, int] = Recent()
        self.answered: Recent[str, int] = Recent()

    @hears("CALL_RESERVED")
    def reserved(self, message: Message) -> Findings:
        """Note a reservation."""
        name = message["body"]["call_id"]
        turn = name.rpartition("/")[0]
        before = self.open.get(name, self.done.get(name, self.answered.get(turn)))
        self.open[name] = message["seq"]
        return () if before is None else (f"{name} was called before, seq {before}",)

    @hears("CALL_SETTLED")
    def settled(self, message: Message) -> Findings:
        """Hold a settlement against its reservation."""
        body = message["body"]
        name, before = body["call_id"], self.done.get(body["call_id"])
        self.done[name] = message["seq"]
        if body["outcome"] in PAID:
            self.answered[name.rpartition("/")[0]] = message["seq"]
        if self.open.pop(name, None) is None:
            return (f"{name} was settled by seq {before}",) if before else (f"{name} was never reserved",)
        return ()


@dataclass
class Reserved:
    """A reservation: where it is booked, what it may take, what was used by then, and who asked at the same time."""

    keys: tuple[Key, ...]
    asked: Amounts
    used: dict[Key, Amounts]
    beside: set[str]
    is_sent: bool = False


class BudgetsHold(Memory, source="K27"):
    """Nothing is sent that does not fit: the society's budget, a day's, a seat's, a case's hold its worst case.

    What was reserved and never settled was never sent, so it takes room from nobody; nothing is judged any more once an
    admin chose to raise a budget by as much again.
    """

    def __init__(self) -> None:
        self.budget: Any = None
        self.limits: dict[str, list[float | None]] = {}
        self.used: Recent[Key, Amounts] = Recent()
        self.calls: Recent[str, Reserved] = Recent(256)
        self.is_raised = False

    @hears("SOCIETY_STARTED", "CONFIG_CHANGED")
    def configured(self, message: Message) -> Findings:
        """Take in a configuration; limits that were set hold until it changes."""
        body = message["body"]
        budget = (body.get("config") or body.get("changes") or {}).get("budget", self.budget)
        if budget != self.budget:
            self.budget, self.limits = budget, {}
            for scope in SCOPES:
                self._limit(scope, budget if scope == "society" else budget.get(scope, {}))
        return ()

    @hears("BUDGET_SET")
    def limited(self, message: Message) -> Findings:
        """Take in what an admin set."""
        self._limit(message["body"]["scope"], message["body"])
        return ()

    @hears("ESCALATION_RESOLVED")
    def raised(self, message: Message) -> Findings:
        """Note that an admin wants more spent."""
        self.is_raised = self.is_raised or message["body"]["effect"] == "raise_budget"
        return ()

    def _limit(self, scope: str, given: Any) -> None:
        limits = self.limits.setdefault(scope, [None, None, None])
        for place, unit in enumerate(UNITS):
            if given.get(unit) is not None:
                limits[place] = float(given[unit]) * (MICRO if unit == "usd" else 1)

    @hears("CALL_RESERVED")
    def reserved(self, message: Message) -> Findings:
        """Note who asks for room."""
        body = message["body"]
        keys = tuple(
            zip(SCOPES, ("", message["sent_at"][:10], body["seat"], body["case"] or ""), strict=True)
        )
        used = {key: self.used.get(key, (0, 0, 0)) for key in keys}
        beside = {name for name, call in self.calls.items() if not call.is_sent}
        asked = body["max_cost"] or 0, body["max_tokens"], 1
        self.calls[body["call_id"]] = Reserved(keys, asked, used, beside)
        return ()

    @hears("CALL_SETTLED")
    def settled(self, message: Message) -> Findings:
        """Book what was used, and hold each call that was sent against what was booked when it asked."""
        body = message["body"]
        name = body["call_id"]
        call = self.calls.get(name)
        if call is None or self.is_raised:
            return
        call.is_sent = True
        for key in call.keys:
            self.used[key] = _sum(self.used.get(key, (0, 0, 0)), (body["cost"] or 0, body["tokens"], 1))
        for other, later in self.calls.items():
            if name in later.beside:
                later.beside.discard(name)
                for key in later.used.keys() & set(call.keys):
                    later.used[key] = _sum(later.used[key], call.asked)
            elif other != name:
                continue
            if later.is_sent:
                yield from self._judge(other, later)

    def _judge(self, name: str, call: Reserved) -> Findings:
        for key, used in call.used.items():
            booked = _sum(used, call.asked)
            for unit, value, most in zip(UNITS, booked, self.limits.get(key[0], ()), strict=False):
                if most is not None and value > most:
                    yield f"{name} was sent: {value:,} {unit} of {' '.join(key)}, the limit is {most:,.0f}"


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]
