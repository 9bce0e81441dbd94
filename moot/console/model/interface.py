"""The read model: all that a page, the API and the stream know of a society.

Nothing above it opens a file or a socket. `ReadModel` is the interface; `model_live` follows a running log,
`model_past` stands at a past moment. Times are the society's, aware UTC. What a person may not read is left
out by `seen_by`. Texts are plain: whoever shows one escapes it.

Usage::

    mine = model.seen_by(person)
    window = await mine.window(channel="#a-arena", limit=50)
    async for batch in mine.changes(window.last or mine.head): ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from moot.channels.showing.rendering import UNKNOWN, Speakers, speakers_of
from moot.channels.surface import ActReply
from moot.console.errors import NotReady
from moot.console.model.views import (
    MAX_COUNTED_HITS,
    MOST_WINDOW,
    WINDOW,
    Batch,
    CaseView,
    ChannelView,
    Count,
    Damage,
    EscalationView,
    Lateness,
    ObligationView,
    Op,
    OptionView,
    Person,
    PhaseStep,
    Progress,
    SocietyTime,
    StandingView,
    Window,
)
from moot.console.options import OWNER, PLATFORM, VIEWER
from moot.memory.records import Record
from moot.protocols.kernel.case import Ended
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.message import Message

if TYPE_CHECKING:
    from moot.console.model.calls import Calls
    from moot.explaining.explanation import Explanation

__all__ = [
    "MAX_COUNTED_HITS",
    "MOST_WINDOW",
    "OWNER",
    "PLATFORM",
    "VIEWER",
    "WINDOW",
    "Batch",
    "CaseView",
    "ChannelView",
    "Count",
    "Damage",
    "EscalationView",
    "Lateness",
    "ObligationView",
    "Op",
    "OptionView",
    "Person",
    "PhaseStep",
    "Progress",
    "ReadModel",
    "SocietyTime",
    "StandingView",
    "Window",
]


class ReadModel(ABC):
    """A society to look at. Every method may raise `Unreadable` when a file cannot be read now.

    Methods that need the folded docket (`obligations`, `standing`, `docket`, `form`) raise `NotReady` until
    the log has been read; `progress` says how far that is. Windows, search, messages and cases answer from
    the first moment.
    """

    # ------------------------------------------------------------ where it stands

    @property
    @abstractmethod
    def head(self) -> int:
        """Seq of the last message, 0 for none."""

    @property
    @abstractmethod
    def is_past(self) -> bool:
        """Whether this stands at a past moment, where nobody can act."""

    @abstractmethod
    def now(self) -> SocietyTime:
        """Return the society's time; cheap, ask as often as you like."""

    @abstractmethod
    def progress(self) -> Progress:
        """Return how far the log has been folded; complete means that every method answers."""

    @abstractmethod
    def index_progress(self) -> Progress:
        """Return how far channels, cases and texts have been indexed."""

    @abstractmethod
    def seen_by(self, person: Person) -> ReadModel:
        """Return the same society as this person may see it; everything else leaves out the rest."""

    # ------------------------------------------------------------ messages

    @abstractmethod
    async def window(
        self,
        *,
        channel: str | None = None,
        case_id: str | None = None,
        but: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int = WINDOW,
    ) -> Window:
        """Return a stretch of messages: of a channel, of a case, of both, or of all.

        Args:
            channel: Only this channel.
            case_id: Only this case.
            but: Not this channel.
            before: The newest ones with a lower seq; None: from the end.
            after: The oldest ones with a higher seq instead.
            limit: At most so many, up to `MOST_WINDOW`.
        """

    @abstractmethod
    async def search(
        self,
        text: str = "",
        *,
        type: str | None = None,
        seat: str | None = None,
        case_id: str | None = None,
        channel: str | None = None,
        before: int | None = None,
        limit: int = WINDOW,
    ) -> Window:
        """Return the newest messages whose sentence has all these words, and that fit the rest.

        The last word may be the beginning of one. Nothing in the text has a special meaning.
        """

    @abstractmethod
    async def count_found(
        self,
        text: str = "",
        *,
        type: str | None = None,
        seat: str | None = None,
        case_id: str | None = None,
        channel: str | None = None,
    ) -> int:
        """Return how many messages `search` finds, counted up to `MAX_COUNTED_HITS` and one more."""

    @abstractmethod
    async def message(self, seq: int) -> Envelope:
        """Return one message.

        Raises:
            NotThere: There is none that this person may read, or the line is damaged.
        """

    @abstractmethod
    async def channels(self) -> tuple[ChannelView, ...]:
        """Return the channels that this person reads, in the catalogue's order."""

    @abstractmethod
    async def counts(self, *types: str) -> tuple[Count, ...]:
        """Return how many messages there are by day, type, seat and channel; of some types, or of all."""

    @abstractmethod
    def changes(self, cursor: int) -> AsyncGenerator[Batch, None]:
        """Yield what comes after `cursor`, without end; ends when the server does.

        Nothing is queued for a page: one that is too far behind gets a batch that says `must_reload`.
        """

    # ------------------------------------------------------------ cases and duties

    @abstractmethod
    async def case(self, case_id: str) -> CaseView:
        """Return a case.

        Raises:
            NotThere: No message of it is known.
        """

    @abstractmethod
    async def rules_versions(self) -> Sequence[tuple[int, str]]:
        """List from which message on which rules version is in force."""

    @abstractmethod
    async def explain(self, given: str) -> Explanation:
        """Explain what an id stands for, from the messages that this person may read.

        Raises:
            NotThere: There is no such thing.
        """

    @abstractmethod
    async def obligations(self) -> tuple[ObligationView, ...]:
        """Return what is owed: by bots and people first, then by officers; what is due first comes first."""

    @abstractmethod
    async def escalations(self, *, limit: int = WINDOW) -> tuple[EscalationView, ...]:
        """Return the escalations, open ones first, then the last that ended, newest first."""

    @abstractmethod
    async def standing(self) -> StandingView:
        """Return how the society stands."""

    @abstractmethod
    def docket(self) -> Docket:
        """Return the folded docket, to be read and never kept across an await."""

    def speakers(self) -> Speakers:
        """Return what is known of who speaks; nothing while the log is still being read."""
        try:
            return speakers_of(self.docket().context)
        except NotReady:
            return UNKNOWN

    @abstractmethod
    async def ended(self, kind: str | None = None, *, limit: int = WINDOW) -> tuple[Ended, ...]:
        """Return the cases that ended last, newest first."""

    # ------------------------------------------------------------ memory and evidence

    @abstractmethod
    async def memory(
        self, shelf: str, *, before: int | None = None, limit: int = WINDOW
    ) -> tuple[Record, ...]:
        """Return the newest records of a shelf, each in its last version, newest first.

        Args:
            shelf: `causal`, `reflections`, `principles`, `architecture`, `strategies`, `metrics`, `thresholds`.
            before: Only records written before this seq.
            limit: At most so many.

        Raises:
            NotThere: There is no such shelf.
        """

    @abstractmethod
    async def evidence(self, ref: str) -> Mapping[str, Any]:
        """Return what a reference such as `equity/0123456789abcdef` names.

        Raises:
            NotThere: Nothing is kept under it.
        """

    @property
    @abstractmethod
    def calls(self) -> Calls:
        """Return the calls of models, for those who may see them."""

    # ------------------------------------------------------------ the past

    @abstractmethod
    async def at(self, seq: int) -> ReadModel:
        """Return the society as it stood after a message, for the same person; close it with `close`.

        It answers windows at once and folds its own docket behind.

        Raises:
            NotThere: There is no such message.
            NotReady: Too many past moments are open at once.
        """

    @abstractmethod
    async def step_to(self, seq: int) -> None:
        """Move a past moment forwards or backwards; forwards costs only what lies between."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of a past moment; nothing for the present."""

    # ------------------------------------------------------------ acting

    @abstractmethod
    def why_not(self, person: Person, kind: str, channel: str = "#admin") -> str:
        """Say why this person may not do this there, in one line; "" when they may."""

    @abstractmethod
    async def act(
        self,
        person: Person,
        kind: str,
        fields: Mapping[str, object],
        *,
        key: str,
        channel: str = "#admin",
        reply_to: int | None = None,
    ) -> ActReply:
        """Do something as a person: a note, an answer, a halt, or a `command` (`moot.channels.chat.commands`).

        It is kept until the log has it, and done once however often it is repeated with its key.

        Args:
            person: Who.
            kind: What.
            fields: Its content; for `command` {"text": …}.
            key: Chosen once per act by the page, at most 150 characters.
            channel: Where it was said.
            reply_to: The message it is about.

        Returns:
            What to tell the person.
        """

    @abstractmethod
    async def form(self, person: Person, obligation_id: str) -> Mapping[str, Any]:
        """Return what a person in a seat may answer: JSON Schema by message type.

        Raises:
            NotThere: Nobody owes that, or not any more.
        """

    @abstractmethod
    async def suggestion(self, person: Person, obligation_id: str) -> Message:
        """Return what the simulated mind of the seat that this person holds would answer, as a starting point.

        Raises:
            NotThere: Nobody owes that any more, this person does not hold the seat, or the mind would be silent.
            NotReady: The mind is still thinking, or cannot be asked now.
        """

    @abstractmethod
    async def answer(self, person: Person, obligation_id: str, body: Mapping[str, Any]) -> ActReply:
        """Answer what a seat owes that this person sits in (K14); wrong fields are named."""

    @abstractmethod
    async def control(self, person: Person, op: Op, value: float | None = None) -> ActReply:
        """Pause, go on, step to the next timer, or set the speed (K7)."""

    @abstractmethod
    async def show_escalations(self, page: str, escalation_ids: frozenset[str]) -> None:
        """Note which escalations a page has open, so that the society waits (K8); none when the page goes.

        Args:
            page: Names the page, its client id for example.
            escalation_ids: What it shows now.
        """
