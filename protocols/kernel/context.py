"""What holds for the whole society: clock, outages, tenures, and the folds that rules may read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import IntFlag
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.figures import NEWEST
from moot.protocols.kernel.officers import ClockSet, ConfigChanged, SocietyStarted, SocietyStopped
from moot.protocols.kernel.seats import Seat

if TYPE_CHECKING:
    from moot.protocols.kernel.case import CaseState
    from moot.protocols.kernel.docket import Docket
    from moot.protocols.kernel.effects import Effects

NOTHING: Final[tuple[Draft, ...]] = ()


class Deed(IntFlag):
    """What a message may do besides being said; folds name the deeds that they take in whatever the type.

    * ENDED: it ends a case. RULED: it puts a ruling into effect. BROKE: it breaks a rule.
    * PERSON: a person says it. AWAITED: it is the answer of a seat in `RuleContext.awaited`.
    * HELD: it is said while a STOP holds a system.
    """

    ENDED = 1
    RULED = 2
    BROKE = 4
    PERSON = 8
    AWAITED = 16
    HELD = 32


class Fold:
    """A fold over the log beside the cases: a ledger, a calendar, a watch.

    It never emits: `apply` and `ring` name duties of officers with derived ids (K9).

    Class attributes:
        name: What rules call it by.
        types: The message types that it takes in, None for all.
        deeds: The deeds that it takes in whatever the type.
    """

    name: str = ""
    types: frozenset[str] | None = None
    deeds: Deed = Deed(0)

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Draft] | None:
        """Take in one envelope and what it changed; return duties that follow at once."""
        return None

    def alarm(self, docket: Docket) -> datetime | None:
        """Return the next instant at which `ring` may have something to say."""
        return None

    def ring(self, now: datetime, docket: Docket) -> Iterable[Draft]:
        """Return the duties that time alone makes due at `now`; pure."""
        return NOTHING

    def owed(self, env: Envelope, docket: Docket) -> Draft | None:
        """Return the duty that this message discharges, however urgent others are; None when there is none."""
        return next((draft for draft in self.ring(env.sent_at, docket) if draft.identity() == env.id), None)

    def was_owed(self, env: Envelope, docket: Docket) -> bool:
        """Say whether an officer's message was a duty that something else overtook."""
        return False


class RuleContext:
    """The society-wide state that rules may read.

    Attributes:
        seq: Seq of the message that is being folded.
        at: Its `sent_at`.
        society_id: What tells this society from every other, by the first SOCIETY_STARTED (K4).
        started_at: `sent_at` of the first SOCIETY_STARTED.
        speed: Society seconds a wall second, 0 before the start.
        paused: Whether the clock stands still.
        protocols: Names of the protocols besides Moot's own that the society ever spoke.
        spoken: Those that it has spoken since its last start.
        config: The effective configuration as logged (K4).
        rules_version: The rules version that new cases are pinned to (K4).
        seed: The society's seed.
        is_up: Whether a host runs, by the log.
        running: Number of open cases by kind.
        tenures: Seq of the last SEAT_TAKEN or SEAT_RELEASED by seat: the fencing token (K14).
        holders: The person who holds a seat: a user id on a platform.
        conservative_a: Whether System A rejects uncertain hypotheses until an admin decides (R-B8, R-F2).
        stopped: Systems that a human STOP holds, until the society starts again.
        cases: The docket's open cases by id.
        awaited: Seats whose next answer some fold wants to hear of.
        folds: The folds, in the order in which they apply.
        ringing: Those of them that name duties which time alone makes due.
    """

    def __init__(self, folds: Sequence[Fold]) -> None:
        """Start before the first envelope."""
        self.seq = 0
        self.at: datetime | None = None
        self.society_id = ""
        self.started_at: datetime | None = None
        self.stopped_at: datetime | None = None
        self.speed = 0.0
        self.paused = False
        self.config: dict[str, Any] = {}
        self.protocols: frozenset[str] = frozenset()
        self.spoken: frozenset[str] = frozenset()
        self.rules_version = ""
        self.seed = 0
        self.is_up = False
        self.outage = timedelta(0)
        self.running: dict[str, int] = {}
        self.tenures: dict[Seat, int] = {}
        self.holders: dict[Seat, Actor] = {}
        self.conservative_a = False
        self.stopped: set[str] = set()
        self.cases: Mapping[str, CaseState] = {}
        self.awaited: set[Seat] = set()
        self.folds = tuple(folds)
        self.ringing = tuple(fold for fold in folds if type(fold).ring is not Fold.ring)
        self._by_name = {fold.name: fold for fold in folds}

    @property
    def now(self) -> datetime:
        """Return the instant of the message that is, or was last, folded."""
        assert self.at is not None
        return self.at

    @property
    def version(self) -> int:
        """Return the rules version as a number, that of the newest before a start or where it is none."""
        return int(self.rules_version) if self.rules_version.isdecimal() else NEWEST

    def fold_named(self, name: str) -> Any:
        """Return the fold with this name.

        Raises:
            KeyError: There is none.
        """
        return self._by_name[name]

    def subscribers(self, kind: str, deeds: int) -> tuple[Fold, ...]:
        """Return the folds that take in a message of this type that does this, in their order."""
        return tuple(f for f in self.folds if f.types is None or kind in f.types or f.deeds & deeds)

    def lifecycle(self, env: Envelope, before: datetime | None) -> timedelta:
        """Take in SOCIETY_STARTED, SOCIETY_STOPPED, CONFIG_CHANGED or CLOCK_SET.

        Args:
            env: The message.
            before: `sent_at` of its predecessor in the log.

        Returns:
            The outage that it ends, zero for none (K6).
        """
        body = env.body
        if isinstance(body, SocietyStarted):
            gap = timedelta(0)
            if self.started_at is None:
                self.started_at = env.sent_at
                self.society_id = body.society_id
            else:
                gap = env.sent_at - (self.stopped_at or before or env.sent_at)
            self.config = dict(body.config)
            self.spoken = _named(self.config)
            self.protocols |= self.spoken
            self.rules_version = body.rules_version
            self.seed = body.seed
            self.speed = body.speed
            self.paused = body.paused
            self.is_up = True
            self.stopped_at = None
            self.stopped.clear()
            self.outage += gap
            return gap
        if isinstance(body, SocietyStopped):
            self.is_up = False
            self.stopped_at = env.sent_at
        elif isinstance(body, ClockSet):
            self.speed = body.speed
            self.paused = body.paused
            if body.held_s:
                self.outage += body.held
                return body.held
        elif isinstance(body, ConfigChanged):
            self.config = {**self.config, **dict(body.changes)}
        return timedelta(0)


def _named(config: Mapping[str, Any]) -> frozenset[str]:
    named = config.get("protocols", ())
    return frozenset(map(str, named)) if isinstance(named, list | tuple) else frozenset()
