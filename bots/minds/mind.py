"""The Mind interface: shown a view of what its seat owes, it says when and what it answers (K12, K13)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.memory.store import MemoryView
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.figures import NEWEST
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import Violation
from moot.protocols.kernel.seats import Seat

if TYPE_CHECKING:
    from moot.bots.minds.views.arena import Arena
    from moot.bots.minds.views.debate import Debate
    from moot.bots.minds.views.motion import DebatedMotion
    from moot.bots.minds.views.panel import Panel

NO_CONFIG: Final[Mapping[str, Any]] = MappingProxyType({})
NAMELESS: Final[Mapping[str, str]] = MappingProxyType({})


class View(NamedTuple):
    """All that a mind is shown for one obligation, filtered by its seat's rights and `may_see` (K12).

    A tuple, for one is made for every answer and a frozen dataclass takes five times as long.

    Attributes:
        obligation: What is owed.
        seat: Whose mind is asked.
        now: Society time, aware UTC.
        attempt: Answers of this seat to it that broke a rule so far.
        refused: Why the last of them was refused; "" when none was.
        transcript: The case's messages so far, oldest first, with those of the case it is part of.
        notes: What people said lately, oldest first.
        brief: Figures that the rules hold the answer to, by field name; see `Machine.brief`.
        memory: Memory as of the seq that woke the bot (K13).
        is_conservative: Whether System A rejects uncertain hypotheses (R-B8).
        elapsed: Time since the case's budget began to run, outages aside.
        config: The effective configuration as logged.
        content: What the obligation lets it see of a work that is kept as evidence, "" for nothing.
        names: What people are called, by their ids (PERSON_NAMED).
        kind: What kind of case it is about: debate, run, panel, motion and so on.
        rules_version: Version of the rules that the log is under.
    """

    obligation: Obligation
    seat: Seat
    now: datetime
    attempt: int
    refused: str
    transcript: tuple[Envelope, ...]
    notes: tuple[Envelope, ...]
    brief: Mapping[str, Any]
    memory: MemoryView
    is_conservative: bool = False
    elapsed: timedelta = timedelta(0)
    config: Mapping[str, Any] = NO_CONFIG
    content: str = ""
    names: Mapping[str, str] = NAMELESS
    kind: str = ""
    rules_version: int = NEWEST

    def last(self, kind: str) -> Envelope | None:
        """Return the newest message of a type in the transcript."""
        return next((e for e in reversed(self.transcript) if e.body.type == kind), None)

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the types of message that settle the obligation."""
        return self.obligation.expects

    @property
    def in_effect(self) -> tuple[Envelope, ...]:
        """Return the transcript without what the referee called violations (K10)."""
        broken = {env.body.of_seq for env in self.transcript if isinstance(env.body, Violation)}
        return tuple([env for env in self.transcript if env.seq not in broken])

    def reply(self, kind: type[Message] | str | None = None, /, **fields: Any) -> Reply:
        """Make the answer of a few fields: what the rules fix is filled in, and all of it is checked.

        Args:
            kind: The message's class or type; None: the one that is asked for.
            fields: Its fields; parts may be mappings, tuples may be lists.

        Raises:
            WrongBody: One line that names the field that is wrong, missing or unknown, and why.
        """
        from moot.bots.minds.replying import body_of

        return Reply(body_of(self, kind, fields))

    @property
    def debate(self) -> Debate | None:
        """Return the debate over a hypothesis that the obligation belongs to; None where it is of another kind."""
        from moot.bots.minds.views.debate import Debate

        return Debate(self.in_effect, self.brief.get("round")) if self.kind == "debate" else None

    @property
    def motion(self) -> DebatedMotion | None:
        """Return the motion that the obligation belongs to; None where it is of another kind."""
        from moot.bots.minds.views.motion import DebatedMotion

        return DebatedMotion.of(self) if self.kind == "motion" else None

    @property
    def arena(self) -> Arena | None:
        """Return the Arena's run that the obligation belongs to; None where it is of another kind."""
        from moot.bots.minds.views.arena import Arena

        return Arena.of(self) if self.kind == "run" else None

    @property
    def panel(self) -> Panel | None:
        """Return the panel that the obligation belongs to; None where it is of another kind."""
        from moot.bots.minds.views.panel import Panel

        return Panel.of(self) if self.kind == "panel" else None


@dataclass(frozen=True, slots=True)
class Aside:
    """A message that nobody owes, posted before the answer (a RESEARCH_NOTE)."""

    channel: str
    body: Message


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Attributes:
        body: What settles the obligation.
        asides: What is said beside it.
        is_stand_in: Whether a simulated mind gave it for the one that fills the seat, which the log then says.
    """

    body: Message
    asides: tuple[Aside, ...] = ()
    is_stand_in: bool = False


class Mind(ABC):
    """Fills a seat. One mind serves all obligations of its seat, several at a time."""

    def begins_at_once(self, view: View) -> bool:
        """Say whether it is asked when the obligation opens, though it answers later; that of a model is (K28).

        Such a mind is shown what is to be seen then, and asked once: it sees to repetitions itself.
        """
        return False

    @abstractmethod
    def consider(self, view: View) -> timedelta | None:
        """Say how long after the obligation opened the answer will come; None: it stays silent."""

    @abstractmethod
    async def answer(self, view: View) -> Reply | None:
        """Answer an obligation; None: stay silent after all.

        The body may leave out what the society fills in: the case id and counted ids.
        """
