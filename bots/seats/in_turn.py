"""Reviewers of a panel who are not blind to each other: they review one after the other, and see what stands there.

The protocol withholds all that others say (spec 2). What is done here departs from it, for who wants to know what that
is worth: the obligations are the same, and the reviews before one's own are shown behind the work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from moot.bots.minds.mind import Mind, Reply, View

STEP: Final = timedelta(minutes=10)
"""From one review to the next: five of them keep the time that each has."""

_HEAD: Final = "=== review by "
_HEADS: Final = re.compile(rf"^{_HEAD}[a-z_]+ ===\n", re.MULTILINE)


class InTurn(Mind):
    """Has a mind commit itself at once, and review when its turn has come, by what it is shown then."""

    def __init__(self, mind: Mind, begins: datetime, place: int) -> None:
        """Take the mind, when the first reviews, and how many do before this one."""
        self._mind = mind
        self._at = begins + place * STEP

    def consider(self, view: View) -> timedelta | None:
        """Say when its turn comes; None where the mind stays silent."""
        delay = self._mind.consider(view)
        if delay is None:
            return None
        owed = view.obligation
        if owed.expects[0] == "PHASE2":
            return max(self._at - owed.opened_at, timedelta(0))
        return timedelta(0)

    async def answer(self, view: View) -> Reply | None:
        return await self._mind.answer(view)


def followed(work: str, reviews: Mapping[str, str]) -> str:
    """Return a work with the reviews so far, by role, behind it."""
    return "\n".join([work, *(f"{_HEAD}{role} ===\n{text}" for role, text in reviews.items())])


def apart(content: str) -> tuple[str, Sequence[str]]:
    """Return the work, and the reviews behind it: none where reviewers are blind."""
    work, *reviews = _HEADS.split(content)
    return (work.removesuffix("\n") if reviews else work), reviews
