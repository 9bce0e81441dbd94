"""The society's life and clock by the log: started first, silent while stopped, time as said (K4, K6, K7)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from moot.protocols.kernel.catalogue import Matrix, Viewers
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import ClockSet, ConfigChanged, SocietyStarted, SocietyStopped
from moot.protocols.kernel.seats import ADMIN, PEOPLE
from moot.protocols.kernel.times import LEAST_SPEED, MOST_SPEED, rfc3339
from moot.protocols.rulebook import READ, VERSION, rulebook
from moot.verify.report import Findings

WALL_S: Final = 5.0
"""Wall seconds that a host may be behind."""
LEAST: Final = timedelta(seconds=60)
"""Society time that it may be behind at any speed."""
AT_ONCE: Final = timedelta(seconds=1)
"""The same under virtual time, which does not move while anything is to be done (K2)."""
WORTH_TELLING: Final = timedelta(hours=1)
"""From here on it is told how far behind the officers may be: what is removed from such a log shows late."""
MESSAGES: Final = 64
"""So many messages may come, at any speed, before one that an officer owes at once: a host has it next in its loop."""

PLAYED: Final = frozenset({"simulated", "scene"})
"""From these platforms an admin speaks in virtual time only: one that is simulated (R-D19), or that a scene plays."""


class Lifecycle:
    """Follows start, stop, configuration and clock.

    Attributes:
        slack: How far behind the officers may be, in society time.
        settled_at: Since when the society has been up, with time passing as it does now.
        matrix: The permission matrix with the viewers' rights as the log says them.
    """

    def __init__(self, findings: Findings) -> None:
        """Start before SOCIETY_STARTED."""
        self._findings = findings
        self.slack = LEAST
        self.settled_at: datetime | None = None
        self.matrix = Matrix(rulebook().rights, rulebook().channels, rulebook().seats.values())
        self._kind = ""
        self._version = 0
        self._speed = 1.0
        self._paused_at: datetime | None = None

    def before(self, env: Envelope, docket: Docket) -> None:
        """Check a message against the state before it."""
        body = env.body
        kind = type(body)
        if env.v != self._version:
            self._changes_version(env)
        if kind is SocietyStarted:
            self._starts(env, docket)
            return
        if not docket.context.is_up:
            why = "the society is stopped" if docket.seq else "SOCIETY_STARTED comes first"
            self._bad(env, "K6" if docket.seq else "K4", f"{body.type}: {why}")
        if env.author in PEOPLE and docket.seq:
            self._rights(env, docket)
        if kind is SocietyStopped:
            self._stops(env)
        elif kind is ClockSet:
            self._sets(env, docket)
        elif self._paused_at is not None and env.sent_at > self._paused_at + LEAST:
            self._findings.warn(
                "paused", env.seq, "time was paused and passed all the same, perhaps by steps"
            )
            self._paused_at = None

    def after(self, env: Envelope, docket: Docket) -> None:
        """Take in a message of the timekeeper."""
        body = env.body
        if isinstance(body, SocietyStarted):
            self._kind = body.clock
            self.settled_at = env.sent_at
            self._paused_at = env.sent_at if body.paused else None
            self._pace(body.speed, env.seq)
        elif isinstance(body, ClockSet):
            if body.held_s:
                self.settled_at = env.sent_at
            self._paused_at = env.sent_at if body.paused else None
            self._pace(body.speed, env.seq)
        if isinstance(body, SocietyStarted | ConfigChanged):
            self.matrix = Matrix(
                rulebook().rights,
                rulebook().channels,
                rulebook().seats.values(),
                _viewers(docket.context.config),
            )

    def settled_before(self, at: datetime | None) -> datetime | None:
        """Return before when whatever officers owe must stand in a log that ends at an instant; None: nothing must."""
        before = at - self.slack if at is not None else None
        return before if before and self.settled_at and before > self.settled_at else None

    def _pace(self, speed: float, seq: int) -> None:
        """Set the slack: that of the faster of the old pace and the new, since lateness outlives a change."""
        if self._kind == "virtual":
            self.slack = AT_ONCE
        else:
            self.slack = max(LEAST, timedelta(seconds=WALL_S * min(max(speed, self._speed), MOST_SPEED)))
        self._speed = speed
        if self.slack >= WORTH_TELLING:
            why = f"time runs at {speed:,.0f}x: what officers owe by the clock may be {self.slack} late"
            self._findings.warn("speed", seq, why)

    def _changes_version(self, env: Envelope) -> None:
        """Check that the schema version changes where another build starts the society, and never back (K4)."""
        if env.v < self._version or (self._version and type(env.body) is not SocietyStarted):
            self._bad(env, "K4", f"v: {env.v} among messages of {self._version}; a start may raise it")
        else:
            self._version = env.v

    def _bad(self, env: Envelope, rule: str, why: str) -> None:
        self._findings.add(env.seq, "lifecycle", rule, why)

    def _rights(self, env: Envelope, docket: Docket) -> None:
        """Check that people speak as what the configuration lists them, admin or viewer (R-E5)."""
        admins = docket.context.config.get("admins")
        platform, user_id = env.actor.platform, env.actor.user_id
        if platform in PLAYED and self._kind == "virtual":
            return
        listed = admins.get(platform) if isinstance(admins, Mapping) else None
        is_admin = isinstance(listed, list | tuple) and user_id in listed
        if is_admin is not (env.author == ADMIN):
            why = f"{user_id} is {'an' if is_admin else 'no'} admin on {platform}, not {env.author}"
            self._findings.add(env.seq, "permission", "R-E5", f"actor: {why}")

    def _stops(self, env: Envelope) -> None:
        body = env.body
        assert isinstance(body, SocietyStopped)
        if body.last_seq != env.seq - 1:
            self._bad(env, "K6", f"last_seq: {body.last_seq}, the message before it is {env.seq - 1}")
        self._check_id(env, f"stopped/{env.seq}")

    def _starts(self, env: Envelope, docket: Docket) -> None:
        body = env.body
        assert isinstance(body, SocietyStarted)
        self._check_id(env, f"started/{env.seq}")
        if docket.seq and body.society_id != docket.context.society_id:
            self._bad(env, "K4", f"society_id: {body.society_id}, this log is of {docket.context.society_id}")
        if body.rules_version in READ - {VERSION}:
            why = f"said under rules {body.rules_version}: what only rules {VERSION} hold is not asked of it"
            self._findings.skip("older_rules", env.seq, why)
        elif body.rules_version != VERSION:
            self._bad(env, "K4", f"rules_version: this Moot knows {VERSION}, not {body.rules_version}")
        if not LEAST_SPEED <= body.speed <= MOST_SPEED or (body.clock == "real" and body.speed != 1):
            self._bad(env, "K7", f"speed: {body.speed} is no speed of a {body.clock} clock")
        if body.clock != "accelerated" and body.paused:
            self._bad(env, "K7", f"paused: a {body.clock} clock is never")
        last = docket.at
        if body.clock == "accelerated" and last is not None:
            slack = max(LEAST, timedelta(seconds=WALL_S * min(body.speed, MOST_SPEED)))
            if env.sent_at > last + slack:
                self._findings.add(
                    env.seq,
                    "clock",
                    "K7",
                    f"accelerated time goes on at {last:%d %H:%M:%S}, it does not jump",
                )

    def _check_id(self, env: Envelope, derived: str) -> None:
        """Check an id that is derived, or chosen in another way altogether (K1)."""
        if env.id != derived and env.id.partition("/")[0] == derived.partition("/")[0]:
            self._bad(env, "K1", f"id: {env.id}, this is {derived}")

    def _sets(self, env: Envelope, docket: Docket) -> None:
        body = env.body
        assert isinstance(body, ClockSet)
        if body.held_s:
            self._held(env, body, docket)
        self._check_id(env, f"clock/{rfc3339(body.society_at)}/{env.id.rpartition('/')[2]}")
        slack = max(self.slack, LEAST, timedelta(seconds=WALL_S * min(body.speed, MOST_SPEED)))
        if abs(env.sent_at - body.society_at) > slack:
            self._findings.add(
                env.seq,
                "clock",
                "K7",
                f"society_at: {body.society_at:%d %H:%M:%S}, sent {env.sent_at:%d %H:%M:%S}",
            )
        if not LEAST_SPEED <= body.speed <= MOST_SPEED or self._kind == "virtual":
            self._findings.add(env.seq, "clock", "K7", f"a {self._kind} clock has no speed {body.speed}")

    def _held(self, env: Envelope, body: ClockSet, docket: Docket) -> None:
        """Check an outage of a running society: in real time alone, and no longer than the log was silent (K6)."""
        if self._kind != "real" or body.speed != 1 or body.paused:
            self._bad(env, "K6", f"held_s: a {self._kind} clock loses no time")
        silent = env.sent_at - (docket.at or env.sent_at)
        if body.held > silent:
            self._bad(env, "K6", f"held_s: {body.held}, but the message before it is {silent} old")
        self._findings.warn("held", env.seq, f"for {body.held} nobody could do anything: {body.reason}")


def _viewers(config: Mapping[str, Any]) -> Viewers:
    """Read the viewers' rights from the configuration as logged; what it lacks is the default."""
    given = config.get("viewers")
    if not isinstance(given, Mapping):
        return Viewers()
    default = Viewers()
    return Viewers(
        _channels(given.get("reads"), default.reads), _channels(given.get("writes"), default.writes)
    )


def _channels(names: object, default: frozenset[str]) -> frozenset[str]:
    if not isinstance(names, list | tuple):
        return default
    return rulebook().named(map(str, names)) & rulebook().channel_names
