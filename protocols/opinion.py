"""What a panel says of a decision that was put before it, as the case that waits for it sees it (R-B2, R-D16).

Cases above know of panels only the opener, and what is here: which of their decisions go before one, how long they
wait for it, and the ended child's outcome and verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.obligation import NO_GRACE
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.kernel.steps import Move, RuleInput, Step
from moot.protocols.kernel.times import minutes

PLACE: Final = "#r-panel"

OFF, ADVISORY, BINDING = "off", "advisory", "binding"
"""What a panel has to say in a decision: nothing, an opinion, or a veto."""

WAIT: Final = minutes(130)
"""How long a decision waits for its panel: two hours and ten minutes of grace."""
LATE: Final = "panel_late"
"""Reason of the RULING that ends the wait."""

CONSENTS: Final = frozenset({"editorial_decision=accept", "editorial_decision=minor_revision"})
REJECTIONS: Final = frozenset({"editorial_decision=reject", "editorial_decision=reject_or_major_revision"})
"""Decisions of a panel; any other one sends the work back to be revised."""

_DECIDED: Final = "decided"


@dataclass(frozen=True, slots=True)
class Opinion:
    """How a panel ended, or why there was none.

    Attributes:
        panel_id: The panel, "" when none was opened.
        decision: The action of its contract, "" when it decided nothing.
        why: Its audit tag, or in words why nothing was decided; "" for a decision.
    """

    panel_id: str = ""
    decision: str = ""
    why: str = ""

    @property
    def consents(self) -> bool:
        """Say whether it lets the decision pass; a panel that ended without a decision is no consent (R-B2)."""
        return self.decision in CONSENTS

    @property
    def rejects(self) -> bool:
        """Say whether it turns the work down for good."""
        return self.decision in REJECTIONS

    def plain(self) -> dict[str, str]:
        """Return it as JSON data, for a brief."""
        return {"panel_id": self.panel_id, "decision": self.decision, "why": self.why}


def say_in(context: RuleContext, what: str) -> str:
    """Return what panels have to say in a kind of decision, `promotions` or `architecture`, as the log has it (K4)."""
    panel = context.config.get("panel") or {}
    said = panel.get(what)
    return said if said in (ADVISORY, BINDING) else OFF


def opinion_of(panel: CaseState) -> Opinion:
    """Return how a panel that has ended judged."""
    verdict = str(getattr(panel, "verdict", ""))
    if panel.outcome == _DECIDED:
        return Opinion(panel.case_id, verdict)
    return Opinion(panel.case_id, why=verdict or str(panel.outcome))


def check_contract(env: Envelope, subject: str) -> None:
    """Check that a panel is opened under a contract for what is to be judged; its ids begin so (R-P6).

    Raises:
        Violation: It is a contract for something else.
    """
    contract: Any = getattr(env.body, "contract", {})
    contract_id = str(contract.get("contract_id", ""))
    if not contract_id.startswith(f"{subject}/"):
        why = f"this is judged under a contract {subject}/…, not {contract_id or 'one without an id'}"
        raise Violation("R-P6", why, field="contract.contract_id")


def waiting(
    phase: str, channel: str, rule: str, move: Move, outcome: Literal["void", "skip"] = "void", **more: Any
) -> Step:
    """Return the step in which a case waits for its panel, until the Referee ends the wait.

    Args:
        phase: In which it waits.
        channel: Where the Referee rules.
        rule: The ruling that limits the wait.
        move: What comes then.
        outcome: What the Referee rules.
        more: What else the step says: a case may wait for several panels at once.
    """

    def ruled(state: CaseState, _given: RuleInput) -> Ruling:
        """Make the ruling that ends the wait."""
        return Ruling(
            obligation_id=None, case_id=state.case_id, outcome=outcome, reason=LATE, rule=rule, of_seq=None
        )

    return Step(
        phase=phase,
        seat=REFEREE,
        channel=channel,
        moves={Ruling: move},
        missed=None,
        rule=rule,
        within=WAIT,
        grace=NO_GRACE,
        discharge=ruled,
        **more,
    )
