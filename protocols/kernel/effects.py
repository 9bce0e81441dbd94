"""Effects: what one fold of the docket changed."""

from __future__ import annotations

from collections.abc import Sequence

from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.rule_faults import RuleFault


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
        fault: The exception in a protocol's code that this message led to, if any; its case waits for the RULING.
        is_unproven: A RULING `faulted` on a case in which no rule raised when it was folded here.
        superseded: An officer's message that came too late to matter.
        deeds: What it did besides being said, as the bits of `context.Deed`.
    """

    # Defaults of the class: a fold changes few of them, and there are very many folds.
    opened: Sequence[Obligation] = ()
    closed: Sequence[Obligation] = ()
    settled: Obligation | None = None
    voided: Obligation | None = None
    retried: Obligation | None = None
    violation: Violation | None = None
    decision: Decision | None = None
    started: Sequence[CaseState] = ()
    ended: Sequence[CaseState] = ()
    fault: RuleFault | None = None
    is_unproven: bool = False
    superseded: bool = False
    deeds: int = 0

    @property
    def is_in_effect(self) -> bool:
        """Whether the message broke no rule and came in time."""
        return self.violation is None and self.fault is None and not self.superseded
