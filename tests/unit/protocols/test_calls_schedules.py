"""No schedule of calls, crashes, midnights and changed budgets exceeds a budget, but by a flagged overrun (K27)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.calls.books import UNITS, Amount, Asked, Books, Place
from moot.protocols.calls.call import call_id_of, refused_key, reserved_key, settled_key
from moot.protocols.calls.ledger import Ledger
from moot.protocols.calls.messages import BudgetSet, CallRefused, CallReserved, CallSettled, Scope
from moot.protocols.calls.usage import Usage
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.seats import ADMIN, BURSAR
from moot.protocols.motion.messages import Motion
from moot.protocols.motion.seats import ADVOCATE, JUDGE
from tests.doubles.call_table import SHA, CallTable

SCHEDULES: Final = 10_000
SEATS: Final = (ADVOCATE, JUDGE)
SIZES: Final = (1, 3, 5, 8)
"""What a call may take: so many tokens, each of which costs a micro-dollar."""
SCOPES: Final[tuple[Scope, ...]] = ("society", "day", "seat", "case")
EVEN: Final = {"model": "test", "price": {"input": "1", "output": "1"}}


@pytest.fixture(scope="module")
def docket() -> Docket:
    """A society in which two seats owe something in each of two cases; the ledger only reads it."""
    table = CallTable(models={"even": EVEN})
    (owed,) = table.docket.owed_by(ADVOCATE)
    table.say(ADMIN, Motion(question="And why?"), channel="#motions")
    for case_id in table.docket.cases:
        for seat in SEATS:
            name = f"{case_id}/claim/{seat}"
            table.docket.open[name] = replace(owed, id=name, case_id=case_id, seat=seat)
    return table.docket


@dataclass
class Flight:
    """A call that was published and does not stand in the log yet."""

    asked: Asked
    body: CallReserved
    places: tuple[Place, ...]
    is_disturbed: bool = False


@dataclass
class Schedule:
    """Plays a schedule against a ledger, as the bursar books and crashes do; counts by itself what is spent."""

    docket: Docket
    budget: dict[str, Any]
    ledger: Ledger = field(default_factory=Ledger)
    ahead: Books = field(default_factory=Books)
    flights: list[Flight] = field(default_factory=list)
    spent: dict[Place, Counter[str]] = field(default_factory=dict)
    turns: Counter[str] = field(default_factory=Counter)
    seq: int = 0

    def __post_init__(self) -> None:
        self.now = self.docket.at or pytest.fail("nothing was folded")
        self.start()

    def fold(self, body: Message, key: str) -> bool:
        """Fold a message; say whether it is in effect."""
        self.seq += 1
        env = Envelope(2, self.seq, key, "#calls", BURSAR, OFFICER, None, None, 0, 0, None, 0, self.now, body)
        fx = Effects()
        self.ledger.apply(env, fx, self.docket)
        return not fx.superseded

    def start(self) -> None:
        config = {"models": {"even": EVEN}, "budget": self.budget}
        body = SocietyStarted.model_construct(config=config)
        self.fold(body, f"started/{self.seq}")

    def play(self, script: bytes) -> None:
        for step in script:
            STEPS[step & 7](self, step >> 3)
        while self.flights:
            self.sequence(0)

    # ---------------------------------------------------------------- steps

    def ask(self, arg: int) -> None:
        """Book a call ahead and publish its reservation, or its refusal where there is no room."""
        seat = SEATS[arg & 1]
        case = sorted(self.docket.cases)[arg >> 1 & 1]
        most = SIZES[arg >> 2 & 3]
        obligation = f"{case}/claim/{seat}"
        asked = Asked(Amount(most, most, 1), seat, case)
        self.turns[obligation] += 1
        turn = self.turns[obligation]
        call_id = call_id_of(obligation, 0, turn, 1)
        told: dict[str, Any] = {
            "call_id": call_id, "seat": seat, "case": case, "obligation": obligation, "attempt": 0, "turn": turn,
            "try_": 1, "model": "even", "max_cost": most, "max_tokens": most,
        }  # fmt: skip
        lack = self.ledger.fits(asked, self.now, self.ahead)
        if lack is None:
            places = asked.places(self.now)
            self.ahead.hold(places, asked.most)
            late = any(flight.is_disturbed for flight in self.flights)
            self.flights.append(Flight(asked, CallReserved(**told, request_sha256=SHA), places, late))
        elif not self.flights:
            assert self.fold(CallRefused(**told, why=lack.line), refused_key(call_id))

    def sequence(self, _arg: int) -> None:
        """Take the next reservation into the log: what nothing came before stands, and fits by our own count."""
        if not self.flights:
            return
        flight = self.flights.pop(0)
        stands = self.fold(flight.body, reserved_key(flight.body.call_id))
        self.ahead.release(flight.places, flight.asked.most)
        assert stands or flight.is_disturbed
        if not stands:
            return
        for place in flight.asked.places(self.now):
            spent = self.spent.setdefault(place, Counter())
            spent.update(dict(zip(UNITS, flight.asked.most, strict=True)))
            for unit, most in zip(UNITS, self.ledger.books.limit(place), strict=True):
                assert most is None or spent[unit] <= most, (place, unit)

    def settle(self, arg: int, used: int | None = None) -> None:
        """Settle a call that is under way with less than was reserved."""
        if self.ledger.open:
            call_id = sorted(self.ledger.open)[arg % len(self.ledger.open)]
            most = self.ledger.open[call_id].asked.max_tokens
            self.end(call_id, "answered", most * (arg & 3) // 4 if used is None else most + used)

    def surprise(self, arg: int) -> None:
        """Settle a call with more than was reserved, or with nothing told."""
        if arg & 1:
            self.settle(arg >> 1, 1 + (arg >> 1))
            self.disturb()
        elif self.ledger.open:
            call_id = sorted(self.ledger.open)[arg % len(self.ledger.open)]
            self.end(call_id, "provider_error", None, is_free=bool(arg & 2))

    def set(self, arg: int) -> None:
        """Set a budget, higher or lower."""
        unit, amount = UNITS[arg % 3], arg >> 1
        value = amount / 1_000_000 if unit == "usd" else amount
        self.fold(BudgetSet(scope=SCOPES[arg & 3], **{unit: value}), f"k{self.seq}")
        self.disturb()

    def wait(self, arg: int) -> None:
        """Let hours pass, and perhaps a midnight."""
        self.now += timedelta(hours=arg)
        self.disturb()

    def crash(self, _arg: int) -> None:
        """Lose what does not stand in the log; what does is settled as unknown after the start."""
        self.flights.clear()
        self.ahead = Books()
        self.start()
        for call_id in list(self.ledger.open):
            self.end(call_id, "unknown", None)

    # ---------------------------------------------------------------- counting

    def disturb(self) -> None:
        for flight in self.flights:
            flight.is_disturbed = True

    def end(self, call_id: str, outcome: Any, used: int | None, *, is_free: bool = False) -> None:
        call = self.ledger.open[call_id]
        usage = None if used is None else Usage(input=used, output=0)
        cost, tokens, overrun = call.came_to(usage, is_free=is_free)
        body = CallSettled(
            call_id=call_id, outcome=outcome, why="", model_reported="", provider_id="", finish="", usage=usage,
            cost=cost, tokens=tokens, overrun=overrun, latency_ms=1, reply_sha256=None,
        )  # fmt: skip
        most = call.asked.max_tokens
        came_to = used if used is not None else 0 if is_free else most
        assert overrun == (came_to > most)
        self.fold(body, settled_key(call_id))
        for place in call.places:
            self.spent[place].update({"usd": came_to - most, "tokens": came_to - most})


STEPS: Final = (
    Schedule.ask,
    Schedule.ask,
    Schedule.ask,
    Schedule.sequence,
    Schedule.settle,
    Schedule.surprise,
    Schedule.set,
    lambda self, arg: Schedule.crash(self, arg) if arg > 24 else Schedule.wait(self, arg),
)

limits = st.integers(0, 2**16 - 1).map(
    lambda n: {
        "calls": n & 7,
        "usd": f"0.0000{10 + (n >> 3 & 31):02d}",
        "day": {"tokens": n >> 8 & 15},
        "seat": {"calls": n >> 12 & 3} if n & 1 else {},
        "case": {"usd": f"0.00000{n >> 13 & 7}"} if n & 2 else {},
    }
)


@settings(max_examples=SCHEDULES, derandomize=True, database=None)
@given(limits, st.binary(min_size=1, max_size=30))
def test_no_budget_is_ever_exceeded(docket: Docket, budget: dict[str, Any], script: bytes) -> None:
    schedule = Schedule(docket, budget)
    schedule.play(script)
    books = schedule.ledger.books
    for place, spent in schedule.spent.items():
        if place in books.booked:
            assert books.booked[place] == Amount(*(spent[unit] for unit in UNITS))
