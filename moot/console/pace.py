"""How society time goes on between messages, as far as a guest can tell (K7)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from moot.console.model.interface import SocietyTime
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import ClockSet, SocietyStarted


class SocietyClock:
    """Goes on from the last message at the society's speed, not past the next instant due; a message corrects it.

    Args:
        wall_s: A clock of seconds that only counts: the loop's.
        utc_ns: The time of day, for societies on the real clock.
    """

    def __init__(self, wall_s: Callable[[], float], utc_ns: Callable[[], int]) -> None:
        self._wall_s = wall_s
        self._utc_ns = utc_ns
        self._at: datetime | None = None
        self._since = 0.0
        self._told: datetime | None = None
        self.speed = 1.0
        self.is_paused = False
        self.clock = ""
        self.reason = ""
        self.is_warm_up = False
        self.is_rehearsal = False

    @property
    def at(self) -> datetime | None:
        """Return the instant of the last message, or what was set after it."""
        return self._at

    def take(self, env: Envelope, ago_s: float = 0.0) -> None:
        """Go on from a message that came so many wall seconds ago."""
        self._anchor(env.sent_at, ago_s)
        body = env.body
        if isinstance(body, SocietyStarted):
            self.clock, self.speed, self.is_paused, self.reason = body.clock, body.speed, body.paused, ""
            self.is_warm_up, self.is_rehearsal = body.warm_up, body.rehearsal is not None
        elif isinstance(body, ClockSet):
            self.speed, self.is_paused, self.reason = body.speed, body.paused, body.reason
            self._anchor(max(env.sent_at, body.society_at), ago_s)

    def learn(self, env: Envelope) -> None:
        """Take clock and speed from an earlier message, and not the time."""
        at, since, told = self._at, self._since, self._told
        self.take(env)
        self._at, self._since, self._told = at, since, told

    def now(self, *, is_running: bool, limit: datetime | None) -> SocietyTime:
        """Return the society's time.

        Args:
            is_running: Whether a society runs.
            limit: The next instant at which something falls due, None when that is not known.
        """
        at = self._at
        if at is not None and is_running:
            if self.clock == "real":
                at = max(at, datetime.fromtimestamp(self._utc_ns() / 1e9, UTC))
                limit = None
            elif not self.is_paused:
                passed = timedelta(seconds=max(0.0, self._wall_s() - self._since) * self.speed)
                at = max(at, min(at + passed, limit)) if limit is not None else at + passed
            # Told once is told: a limit that is learned later does not turn time back.
            at = at if self._told is None else max(at, self._told)
            self._told = at
        return SocietyTime(
            at=at,
            speed=self.speed,
            is_paused=self.is_paused,
            is_running=is_running,
            clock=self.clock,
            limit=None if limit is None or at is None else max(limit, at),
            reason=self.reason,
            is_rehearsal=self.is_rehearsal,
        )

    def _anchor(self, at: datetime, ago_s: float) -> None:
        # The log is the truth: what was told between two messages was a guess.
        self._at = at
        self._since = self._wall_s() - ago_s
        self._told = None
