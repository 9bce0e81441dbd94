"""The sessions of Reviewers: what was said in them, by the reference that resumes them (6.3, 9.5)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

KEPT: Final = 64
"""So many sessions are remembered; older ones are rebuilt from the log when they are asked for."""


class SessionMissing(Exception):
    """No session is there to resume; its text says which, in one line."""


@dataclass(frozen=True, slots=True)
class ReviewerSession:
    """What a Reviewer knows when it goes on.

    Attributes:
        session_id: As the task names it.
        reviews: Its reviews so far, oldest first.
        unresolved: What the last recorded round left open, (id, text) each.
    """

    session_id: str
    reviews: tuple[str, ...] = ()
    unresolved: tuple[tuple[str, str], ...] = ()


class SessionStore:
    """Keeps sessions under the references that the Orchestrator derives; a reference stands for all said before it."""

    def __init__(self) -> None:
        """Start without any."""
        self._sessions: OrderedDict[str, ReviewerSession] = OrderedDict()

    def open(self, ref: str, session: ReviewerSession) -> None:
        """Keep a session under the reference that resumes it."""
        self._sessions[ref] = session
        self._sessions.move_to_end(ref)
        while len(self._sessions) > KEPT:
            self._sessions.popitem(last=False)

    def resume(self, ref: str) -> ReviewerSession:
        """Return the session that a reference stands for.

        Raises:
            SessionMissing: There is none: the review must not take place (9.5).
        """
        session = self._sessions.get(ref)
        if session is None:
            raise SessionMissing(f"nothing is kept under {ref or '(no reference)'}")
        return session


class LostSessions(SessionStore):
    """A store that has lost everything, for scripts that want to see what happens then."""

    def open(self, ref: str, session: ReviewerSession) -> None:
        """Keep nothing."""
