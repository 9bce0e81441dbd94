"""How fast a platform is posted to, and what goes first when much waits: data for `moot.channels.outbox.buckets`.

A platform's own word (429 and `Retry-After`, rate-limit headers) always counts beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moot.protocols.rulebook import rulebook


@dataclass(frozen=True, slots=True)
class Budget:
    """A token bucket.

    Attributes:
        per_s: Posts a second in the long run.
        burst: Posts that may go at once after a rest.

    Raises:
        ValueError: Nothing could ever be posted.
    """

    per_s: float
    burst: int = 1

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not self.per_s > 0 or self.burst < 1:
            raise ValueError(
                f"a budget of {self.per_s:g} a second, {self.burst} at once, lets nothing through"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A platform's pace.

    Attributes:
        channel: What one channel takes; None: no limit of ours.
        everywhere: What the whole platform takes.
        backlog: More waiting messages than this in a channel are a backlog: urgent types go first, routine messages
            of one case are folded into one post. 0: nothing ever is one.
        fold_most: So many messages one post stands for at most.
    """

    channel: Budget | None = None
    everywhere: Budget | None = None
    backlog: int = 0
    fold_most: int = 1


UNPACED: Final = Pace()
"""Every message at once, one by one, in log order."""

SLACK: Final = Pace(
    channel=Budget(per_s=1.0, burst=3), everywhere=Budget(per_s=5.0, burst=20), backlog=10, fold_most=25
)
"""Slack takes about one message a second in a channel and short bursts; its limit for a whole workspace is secret."""

DISCORD: Final = Pace(everywhere=Budget(per_s=40.0, burst=40), backlog=10, fold_most=25)
"""Discord tells the pace of a channel in headers, which its library obeys; all in all a bot has 50 calls a second."""


def is_routine(type: str, case_id: str | None) -> bool:
    """Say whether a message may be folded with others of its case; what is urgent, people must see (R-B5)."""
    return case_id is not None and type not in rulebook().urgent
