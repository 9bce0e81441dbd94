"""Allowances: how much of a console one person may use, so that nobody takes it from the others.

A bucket holds so many tokens and fills up again at a rate; what is done takes one or more out. People who do not
look after a society have a bucket each, and so has every address for those who show no token at all.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from moot.console.model.interface import Person


class Rate(NamedTuple):
    """A bucket's size and how fast it fills.

    Attributes:
        per_s: Tokens a second.
        burst: Tokens that a full bucket holds.
    """

    per_s: float
    burst: float


ASKING: Final = Rate(100, 1_000)
"""What a viewer may ask: a page is some sixty files at a token each, a question to the log takes several."""

ACTING: Final = Rate(2, 30)
"""What a viewer may do: notes, and answers from a seat."""

OWNERS_ASKING: Final = Rate(5_000, 20_000)
OWNERS_ACTING: Final = Rate(100, 1_000)
"""What an admin may: enough for any program, and a bound for one that has gone wrong."""

STRANGERS: Final = Rate(20, 100)
"""What may be asked without a token, from one address; whoever asks more is told so and hung up on."""

MOST_KNOWN: Final = 4_096
"""Buckets that are remembered; a forgotten one is full."""


class Bucket:
    """One bucket."""

    __slots__ = ("_at", "_has", "_rate")

    def __init__(self, rate: Rate, now: float) -> None:
        """Begin full.

        Args:
            rate: Its size, and how fast it fills.
            now: Seconds of the loop's clock.
        """
        self._rate = rate
        self._has = rate.burst
        self._at = now

    def take(self, now: float, tokens: float = 1.0) -> bool:
        """Take tokens out, if they are there; says whether they were."""
        self._fill(now)
        if self._has < tokens:
            return False
        self._has -= tokens
        return True

    def delay_s(self, now: float, tokens: float, most_s: float) -> float | None:
        """Take tokens out that will be there soon; returns in how many seconds, None when that is too long."""
        self._fill(now)
        wait_s = max(0.0, (tokens - self._has) / self._rate.per_s)
        if wait_s > most_s:
            return None
        self._has -= tokens
        return wait_s

    def _fill(self, now: float) -> None:
        self._has = min(self._rate.burst, self._has + (now - self._at) * self._rate.per_s)
        self._at = now


class Allowances:
    """Everybody's buckets."""

    def __init__(self) -> None:
        """Begin with full ones."""
        self._buckets: dict[tuple[str, str], Bucket] = {}

    def asking(self, person: Person, now: float) -> Bucket:
        """Return the bucket for what a person asks."""
        return self._bucket(("asking", person.user_id), OWNERS_ASKING if person.is_admin else ASKING, now)

    def acting(self, person: Person, now: float) -> Bucket:
        """Return the bucket for what a person does."""
        return self._bucket(("acting", person.user_id), OWNERS_ACTING if person.is_admin else ACTING, now)

    def stranger(self, peer: str, now: float) -> Bucket:
        """Return the bucket of an address, for those who show no token."""
        return self._bucket(("stranger", peer), STRANGERS, now)

    def _bucket(self, key: tuple[str, str], rate: Rate, now: float) -> Bucket:
        found = self._buckets.pop(key, None) or Bucket(rate, now)
        # The one that was used last stands last.
        self._buckets[key] = found
        while len(self._buckets) > MOST_KNOWN:
            del self._buckets[next(iter(self._buckets))]
        return found
