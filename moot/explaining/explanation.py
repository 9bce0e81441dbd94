"""An explanation: what was decided, on what, by whom, and what followed; plain values, the same for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any, Final

from moot.protocols.kernel.times import rfc3339

ESCALATED: Final = "ESCALATION"


@dataclass(frozen=True, slots=True)
class Said:
    """A message, for people.

    Attributes:
        seq: Its number.
        at: When.
        by: Who spoke: the seat, and the person or the model in it.
        text: What was said, without by whom.
        type: Its type.
        case_id: Its case; None for none.
    """

    seq: int
    at: datetime
    by: str
    text: str
    type: str
    case_id: str | None


@dataclass(frozen=True, slots=True)
class Held:
    """A figure and the limit that it was held against.

    Attributes:
        name: The figure, in words.
        value: It.
        relation: at least, at most, above or below.
        limit: The limit.
        purpose: What it takes that for.
        rule: The spec section or ruling that says so.
        holds: Whether it keeps the limit.
    """

    name: str
    value: float
    relation: str
    limit: float
    purpose: str
    rule: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Applied:
    """A decision table and the row that applied; `on` counts from 0."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    on: int


@dataclass(frozen=True, slots=True)
class Row:
    """The row of its kind's table by which a message moved a case.

    Attributes:
        table: Whose table, in words: "Debate".
        phase: In which phase, in words; "" for any.
        event: What moved it.
        leads_to: The phase it led to; several where the log does not tell which.
        says: What the row says, in a sentence; "" where it says no more than that.
    """

    table: str
    phase: str
    event: str
    leads_to: tuple[str, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A message that decided, or should have.

    Attributes:
        said: The message.
        what: What it decided, in a word or two.
        why: Its author's words on it, whole.
        held: Which figures were held against which limits.
        applied: The decision table that it follows; None for none.
        row: The row of the machine; None where the table has none for it.
        broke: Why it counts for nothing, as the referee said; "" where it counts.
    """

    said: Said
    what: str
    why: tuple[str, ...]
    held: tuple[Held, ...]
    applied: Applied | None
    row: Row | None
    broke: str


@dataclass(frozen=True, slots=True)
class Objection:
    """Who objected, and with what; `texts` are what `said` leaves out or cuts short, whole."""

    said: Said
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """Something else of the same story.

    Attributes:
        id: Its id, which can be asked about in turn.
        kind: What it is, in words.
        came_to: What was decided about it, in a few words; "ended" where no message says more; "" for nothing.
        seq: The message that brought it up.
    """

    id: str
    kind: str
    came_to: str
    seq: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why something came about.

    Attributes:
        id: What was asked about, in full.
        kind: What it is, in words: "Debate", "Strategy", "Message".
        case_id: The case that the page is about; None where it is about none.
        came_to: What was decided, in order, in a few words; "ended" where no message says more; "" for nothing.
        about: The messages that were asked about, where they are no case: a message, what an obligation was answered
            with, where an id stands.
        opened: The message that began it.
        decisions: What was decided, in order.
        objections: Who objected, in order.
        people: What people said about it: answers, notes, overrides.
        asked: The escalations about it, and what they came to.
        followed: What was said after the last decision.
        links: What belongs to the same story, in order.
        is_foreign: Whether it is of a protocol that is not Moot's own.
    """

    id: str
    kind: str
    case_id: str | None
    came_to: str
    about: tuple[Said, ...]
    opened: Said
    decisions: tuple[Decision, ...]
    objections: tuple[Objection, ...]
    people: tuple[Said, ...]
    asked: tuple[Link, ...]
    followed: tuple[Said, ...]
    links: tuple[Link, ...]
    is_foreign: bool = False

    @property
    def unheard(self) -> str:
        """What is to say of the admin where no person spoke; "" where one did, or where it was escalated."""
        if self.asked or self.people:
            return ""
        if self.is_foreign:
            return "nobody spoke"
        is_asked = self.opened.type == ESCALATED
        return "the admin was asked, nobody has answered" if is_asked else "nobody was asked, nobody spoke"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data; instants as RFC 3339."""
        found: dict[str, Any] = _plain(self)
        return found


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return rfc3339(value) if isinstance(value, datetime) else value
