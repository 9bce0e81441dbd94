"""What a read model answers with: plain frozen values, in the society's time; see `model`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from moot.console.options import PLATFORM
from moot.protocols.escalation.messages import is_case_duty
from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.envelope import Actor, Envelope
from moot.protocols.kernel.seats import ADMIN, Seat

WINDOW: Final = 100
"""Messages of a window."""

MOST_WINDOW: Final = 500
"""Messages of the largest window."""

MAX_COUNTED_HITS: Final = 10_000
"""Hits of a search that are counted; a page shows "more than" beyond it."""

Op = Literal["pause", "resume", "step", "speed"]
"""What `control` asks of the clock."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at a page.

    Attributes:
        user_id: Who they are on the platform `console`.
        seat: What they are: `ADMIN` or `VIEWER`.
    """

    user_id: str
    seat: Seat

    @property
    def is_admin(self) -> bool:
        """Say whether they may act as an admin."""
        return self.seat == ADMIN

    @property
    def actor(self) -> Actor:
        """Return who writes when they do."""
        return Actor("human", PLATFORM, self.user_id)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the log has been read, for those who must wait for it.

    Attributes:
        done: Messages read.
        total: Messages there are.
        doing: What is being done, in words.
        problem: Why it does not go on, one line; "" when it does.
    """

    done: int
    total: int
    doing: str
    problem: str = ""

    @property
    def is_complete(self) -> bool:
        """Say whether all has been read."""
        return self.done >= self.total

    @property
    def share(self) -> float:
        """Return the part that has been read, from 0 to 1."""
        return 1.0 if self.is_complete else self.done / self.total

    def __str__(self) -> str:
        """Say it in one line."""
        so_far = f"{self.doing}: {self.done:,} of {self.total:,} messages"
        return f"{so_far}; {self.problem}" if self.problem else so_far


@dataclass(frozen=True, slots=True)
class Damage:
    """A line of the log that is no message; windows leave it out and name it."""

    seq: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of messages, oldest first.

    Bodies of types that this version does not know are `Opaque`; `envelope.body.model_dump()` gives the JSON.

    Attributes:
        envelopes: The messages.
        damaged: Lines within the stretch that are no messages.
        before: Pass it as `before` for the window above; None when there is nothing older.
        after: Pass it as `after` for the window below; None when this one reaches the end.
        flaws: Which of the messages broke a rule, by seq, and how (what the referee's VIOLATION says).
        progress: Of the index. Until it is complete, a window may be short, or empty, and still have `before`.
    """

    envelopes: tuple[Envelope, ...]
    damaged: tuple[Damage, ...] = ()
    before: int | None = None
    after: int | None = None
    flaws: Mapping[int, str] = field(default_factory=dict)
    progress: Progress = Progress(0, 0, "")

    @property
    def last(self) -> int:
        """Return the seq of the newest message, 0 without one."""
        return self.envelopes[-1].seq if self.envelopes else 0


@dataclass(frozen=True, slots=True)
class ChannelView:
    """A channel in the list on the left.

    Attributes:
        name: With its `#`.
        system: The group of seats that it belongs to: A, B, both, or a protocol's own; "" where no protocol brings it.
        purpose: What is said there.
        heading: What it is listed under.
        last_seq: Its last message, 0 for none; with a page's own mark it gives "unread".
        messages: How many it holds, as far as the index knows.
    """

    name: str
    system: str
    purpose: str
    heading: str
    last_seq: int
    messages: int


class Count(NamedTuple):
    """How many messages of a type a seat posted in a channel on a day of the society (`YYYY-MM-DD`)."""

    day: str
    type: str
    seat: str
    channel: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SocietyTime:
    """The society's time, and how to go on from it without asking again.

    Attributes:
        at: The society's instant when this was made; None before the first message.
        speed: Society seconds a wall second.
        is_paused: Whether it stands still.
        is_running: Whether a society runs; when none does, time stands at the last message.
        clock: `real`, `accelerated`, `virtual`, or "" before the first start.
        limit: It does not pass this instant before the next message comes; None: no limit.
        reason: Why the speed was set last ("waiting for ann ...", K8).
        trouble: Why the society can say nothing now, "" while all is well; accelerated time stands still then.
        is_rehearsal: Whether things are made to go wrong on purpose in it.
    """

    at: datetime | None
    speed: float
    is_paused: bool
    is_running: bool
    clock: str
    limit: datetime | None = None
    reason: str = ""
    trouble: str = ""
    is_rehearsal: bool = False

    @property
    def pace(self) -> float:
        """Return society seconds a wall second as they pass now: 0 when paused, stopped or in trouble."""
        stands = self.is_paused or not self.is_running or (self.trouble and self.clock != "real")
        return 0.0 if stands else self.speed

    def after(self, wall_s: float) -> datetime | None:
        """Return the society's instant so many wall seconds after this was made."""
        if self.at is None:
            return None
        later = self.at + timedelta(seconds=wall_s * self.pace)
        return later if self.limit is None else max(self.at, min(later, self.limit))


@dataclass(frozen=True, slots=True, kw_only=True)
class ObligationView:
    """A message that a seat owes or owed.

    Attributes:
        id: Its id.
        case_id: Its case.
        step: Which step of the case.
        seat: Who owes.
        held_by: User id of the person in that seat, None for the bot.
        held_on: Their platform.
        expects: Message types that settle it.
        channel: Where.
        opened_at: When it arose.
        due_at: The referee reminds after this.
        void_at: It may be ruled void from here on.
        closed_seq: The message that closed it; None while it is open.
        closed_at: When.
        how: "" while open, else `answered`, `answered late`, `ruled …`, `withdrawn`.
        attempt: Answers so far that broke a rule (K1).
        position: The position that it is about, in words; "" for none, and once it is closed.
        context: What a person is shown of an open duty of theirs.
        silence: What the referee rules when a person misses it; "" where nothing is ruled.
    """

    id: str
    case_id: str
    step: str
    seat: Seat
    held_by: str | None
    held_on: str | None = None
    expects: tuple[str, ...]
    channel: str
    opened_at: datetime
    due_at: datetime
    void_at: datetime
    closed_seq: int | None = None
    closed_at: datetime | None = None
    how: str = ""
    attempt: int = 0
    position: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    silence: str = ""

    @property
    def is_persons(self) -> bool:
        """Return True for an open duty of people that is no escalation: its case asks, by acts of its own (R-G16)."""
        return self.closed_seq is None and is_case_duty(self.seat, self.expects)

    def is_held_by(self, person: Person) -> bool:
        """Say whether a person sits in that seat: somebody of the same name elsewhere is another one (K14)."""
        return (self.held_by, self.held_on) == (person.user_id, PLATFORM)

    def remaining(self, now: datetime | None) -> timedelta:
        """Return the time until it is due, negative when it is late; at its end once it is closed."""
        return self.due_at - (self.closed_at or now or self.opened_at)

    def is_late(self, now: datetime | None) -> bool:
        """Say whether it is or was late."""
        return self.remaining(now) < timedelta(0)


@dataclass(frozen=True, slots=True)
class PhaseStep:
    """A phase that a case entered, with which message, when."""

    phase: str
    seq: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Lateness:
    """Somebody who was late: within the grace, ruled silent, or after the ruling.

    Attributes:
        seat: Who.
        step: For what.
        how: In words.
        seq: The message that shows it.
        by_s: By how many seconds of the society; 0 when the ruling says all.
    """

    seat: str
    step: str
    how: str
    seq: int
    by_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """All that a case view needs.

    Attributes:
        case_id: Its id.
        kind: `debate`, `deployment`, `run`, `panel`, `escalation` …
        phase: Where it is, or was when it ended.
        phases: All phases that this kind of case knows, for the drawing; empty when unknown.
        outcome: How it ended; None while open.
        parent: The case it was opened in.
        children: Cases opened in it.
        opened_seq: Its first message.
        ended_seq: The message that ended it; None while open.
        transcript: What was said in it, oldest first, at most `MOST_WINDOW`.
        older: Pass it as `before` to `window(case_id=…)` for what the transcript leaves out; None: nothing.
        path: The phases it went through.
        obligations: Past and open.
        late: Who was late.
        waits_for_ruling: Whether nothing moves it but a ruling (K10).
        state: The state itself while it is open, else None.
        progress: Of the reading; until it is complete, `path`, `obligations` and `late` may lack something.
    """

    case_id: str
    kind: str
    phase: str
    phases: tuple[str, ...]
    outcome: str | None
    parent: str | None
    children: tuple[str, ...]
    opened_seq: int
    ended_seq: int | None
    transcript: tuple[Envelope, ...]
    older: int | None
    path: tuple[PhaseStep, ...]
    obligations: tuple[ObligationView, ...]
    late: tuple[Lateness, ...]
    waits_for_ruling: bool
    state: CaseState | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class OptionView:
    """What may be answered to an escalation; the first one is the conservative one, taken on silence."""

    n: int
    label: str
    effect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationView:
    """An escalation and what became of it.

    Attributes:
        escalation_id: Its case id.
        seq: Its first message.
        level: URGENT, DECISION_NEEDED or ATTENTION.
        code: Its row in the trigger table.
        trigger: What triggered it, in words.
        context: More about it.
        options: What may be answered.
        default: Number of the option that silence leads to.
        raised_at: When.
        answer_by: When silence leads to the default option.
        state: `open`, `acknowledged`, `answered`, `expired` or `withdrawn`.
        pages: Further pages so far.
        acknowledged_by: User id.
        answered_by: User id.
        answer: The option's number or the text; None without an answer.
        effect: What followed.
        ended_at: When it ended; None while open.
    """

    escalation_id: str
    seq: int
    level: str
    code: str
    trigger: str
    context: str
    options: tuple[OptionView, ...]
    raised_at: datetime
    answer_by: datetime
    state: str
    default: int = 1
    pages: int = 0
    acknowledged_by: str | None = None
    answered_by: str | None = None
    answer: int | str | None = None
    effect: str = ""
    ended_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Say whether it can still be answered or has not been resolved yet."""
        return self.ended_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingView:
    """How the society stands.

    Attributes:
        seq: The message after which it stands so.
        is_halted: Whether the desk is halted.
        halt_id: The halt's case, "" without one.
        is_conservative: Whether System A is conservative until an admin decides (R-F2).
        stopped: Systems that a person stopped.
        holders: Who sits in which seat, by user id.
        cases: Open cases by kind.
        ended: How many cases have ended.
        seed: The society's seed.
        rules_version: Of its rules.
        is_warm_up: Whether the last start was that of a warm-up.
        desk: The desk's money as `moot.desk.money` gives it.
        positions: What the desk holds, as plain data.
        strategies: Where every strategy stands, as `moot.desk.strategies` gives it.
    """

    seq: int
    is_halted: bool
    halt_id: str
    is_conservative: bool
    stopped: tuple[str, ...]
    holders: Mapping[Seat, str]
    cases: Mapping[str, int]
    ended: int
    seed: int
    rules_version: str
    is_warm_up: bool = False
    desk: Mapping[str, Any] = field(default_factory=dict)
    positions: Sequence[Mapping[str, Any]] = ()
    strategies: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """What is new on a page.

    Attributes:
        envelopes: New messages in order; empty when only the reading or the connection changed.
        head: The log's end with them; the cursor to go on from.
        must_reload: The page is too far behind, or the log was replaced: load the window anew.
    """

    envelopes: tuple[Envelope, ...]
    head: int
    must_reload: bool = False
