"""What minds are shown: judged at their port, for a log says what a seat wrote and not what it saw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moot.bots.minds.mind import View
from moot.chaos.judge import Finding

REVIEWS: Final = frozenset({"PHASE1", "PHASE2"})
"""A reviewer's standard, and its review."""


def peeked(view: View) -> Iterator[Finding]:
    """Yield what a mind is shown that the rules of panels keep from it (sprint contracts 2 and 6, K12).

    Read from the rules a second time: what the obligation says of its own sight is not looked at.
    """
    if not REVIEWS.intersection(view.asked):
        return
    for env in view.transcript:
        if env.body.type in REVIEWS and env.author != view.seat:
            yield Finding("sight", env.seq, f"{view.seat} is shown the {env.body.type} of the {env.author}")
    if view.content and "PHASE1" in view.asked:
        yield Finding("sight", 0, f"{view.seat} is shown the work before it has committed to a standard")
