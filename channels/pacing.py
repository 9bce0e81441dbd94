"""How fast a platform is posted to, and what goes first when much waits: data, and a bucket that keeps to it.

A platform's own word (429 and `Retry-After`, rate-limit headers) always counts beside it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """A token bucket.

    Attributes:
        per_s: Posts a second in the long run.
        burst: Posts that may go at once after a rest.
    """

    per_s: float
    burst: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A platform's pace.

    Attributes:
        channel: What one channel takes; None: no limit of ours.
        everywhere: What the whole platform takes.
        backlog: So many waiting messages in a channel are a backlog: urgent types go first, routine messages of one
            case are folded into one post.
        fold_most: So many messages one post stands for at most.
    """

    channel: Budget | None = None
    everywhere: Budget | None = None
    backlog: int = 0
    fold_most: int = 1


UNPACED: Pace = Pace()
"""Every message at once, one by one, in log order."""
