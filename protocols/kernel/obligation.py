"""Obligations: who owes which message, in which channel, until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from moot.protocols.kernel.seats import PEOPLE, Seat


@dataclass(frozen=True, slots=True)
class Visibility:
    """What the mind that answers is shown, on top of its seat's read rights (K12).

    Attributes:
        hidden_cases: Case ids whose messages are withheld.
        hidden_types: Message types that are withheld, notes of people among them.
        hidden_authors: Seats whose messages are withheld.
        shown_types: The message types that are shown at all; None: every type.
        has_memory: Whether memory may be read; without, it is empty.
        content_ref: Evidence that is shown as `View.content`, "" for none.
    """

    hidden_cases: frozenset[str] = frozenset()
    hidden_types: frozenset[str] = frozenset()
    hidden_authors: frozenset[str] = frozenset()
    shown_types: frozenset[str] | None = None
    has_memory: bool = True
    content_ref: str = ""


EVERYTHING: Final = Visibility()
NO_GRACE: Final = timedelta(0)


@dataclass(slots=True, unsafe_hash=True)
class Obligation:
    """A message that a seat owes.

    Nobody changes one, so it may be hashed: its fields are `Final`. As a frozen dataclass it would take four times as
    long to make, as a named tuple twice as long to read.

    Attributes:
        id: `<case_id>/<step>/<seat>`; the step names round and retry, so ids never repeat within a case.
        case_id: The case it belongs to.
        seat: Who owes it; officers and the admin are seats too.
        expects: The message types that settle it.
        channel: Where it is owed.
        opened_at: `sent_at` of the message that opened it.
        due_at: The referee pings after this.
        grace: It may be ruled void after `due_at + grace`.
        may_see: What the seat's mind is shown for it.
        outage: How much of the time until `due_at` the society was down (K6).
        rule: The step of its case's machine that it came from, "" where there is no machine.
        subject: What it is about, where a step is owed about several things at once: a reviewer, a strategy, a signal.
        can_be_missed: Whether the referee rules on it after its deadline; only a person's duty may stay owed (R-G16).

    Source: kernel.
    """

    id: Final[str]
    case_id: Final[str]
    seat: Final[Seat]
    expects: Final[tuple[str, ...]]
    channel: Final[str]
    opened_at: Final[datetime]
    due_at: Final[datetime]
    grace: Final[timedelta]
    may_see: Final[Visibility] = EVERYTHING
    outage: Final[timedelta] = NO_GRACE
    rule: Final[str] = ""
    subject: Final[Any] = None
    can_be_missed: Final[bool] = False

    @property
    def void_at(self) -> datetime:
        """Return the instant from which a ruling may void it; a late ping moves it, see `Deadlines.void_at`."""
        return self.due_at + self.grace

    @property
    def is_ruled_on(self) -> bool:
        """Return whether the referee rules on silence: a person's duty may stay owed instead (R-G16)."""
        return self.seat not in PEOPLE or self.can_be_missed

    @property
    def within(self) -> timedelta:
        """Return how long the seat has until the ping, outages aside."""
        return self.due_at - self.opened_at - self.outage

    @property
    def step(self) -> str:
        """Return the step part of the id."""
        return self.id[len(self.case_id) + 1 :].rsplit("/", 1)[0]
