"""Writers: what fills an Arena seat's outputs with words; the shell around them keeps the rules (`arena.ArenaMind`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta

from moot.bots.minds.mind import View
from moot.bots.minds.views.arena import last_draft
from moot.bots.notebook.access import Toolbox
from moot.bots.seats.sessions import ReviewerSession


@dataclass(frozen=True, slots=True)
class Work:
    """One output that is asked for.

    Attributes:
        view: What the mind is shown; its brief holds prompt, round, evidence and what is unresolved.
        toolbox: The tools of the seat, each with its access mode.
        session: The Reviewer's resumed session; None for the others.
    """

    view: View
    toolbox: Toolbox
    session: ReviewerSession | None = None

    @property
    def kind(self) -> str:
        """Return which message is owed: DRAFT, REVIEW or FINAL_OUTPUT."""
        return self.view.obligation.expects[0]

    def last_draft(self) -> str:
        """Return the newest draft as it is kept (R-A9), "" before the first."""
        return last_draft(self.view)


class Writer(ABC):
    """Writes drafts, reviews and final outputs; whatever it does goes through its toolbox."""

    @abstractmethod
    def delay(self, view: View) -> timedelta | None:
        """Say how long after its opening an obligation is answered; None: not at all."""

    def begins_at_once(self, view: View) -> bool:
        """Say whether it is asked when the obligation opens, as `Mind.begins_at_once`."""
        return False

    @abstractmethod
    async def write(self, work: Work) -> str | None:
        """Write the raw text of an output; None: it stays silent after all."""

    def question(self, work: Work) -> str:
        """Return what to ask the notebook in this phase."""
        return str(work.view.brief["query"])
