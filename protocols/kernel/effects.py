"""Effects: what one fold of the docket changed."""

from __future__ import annotations

from protocols.kernel.case import CaseState, Decision
from protocols.kernel.errors import Violation
from protocols.kernel.obligation import Obligation


class Effects:
    """What one fold changed; the dispatcher wakes bots with it, the folds count with it.

    Attributes:
        opened: Obligations that are new.
        closed: Obligations that are gone: settled, voided or overtaken.
        settled: The obligation that this message answered, if any.
        voided: The obligation that this ruling voided, if any.
        retried: The obligation whose answer broke a rule; it is owed again with the next attempt.
        violation: The rule that this message broke.
        decision: The decision that this ruling put into effect.
        started: First states of cases that this message opened.
        ended: Last states of cases that this message ended.
        superseded: An officer's message that came too late to matter.
    """

    __slots__ = (
        "closed",
        "decision",
        "ended",
        "opened",
        "retried",
        "settled",
        "started",
        "superseded",
        "violation",
        "voided",
    )

    def __init__(self) -> None:
        """Start with nothing changed."""
        self.opened: list[Obligation] = []
        self.closed: list[Obligation] = []
        self.settled: Obligation | None = None
        self.voided: Obligation | None = None
        self.retried: Obligation | None = None
        self.violation: Violation | None = None
        self.decision: Decision | None = None
        self.started: list[CaseState] = []
        self.ended: list[CaseState] = []
        self.superseded = False
