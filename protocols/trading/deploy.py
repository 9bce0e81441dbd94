"""Deployment: proposal, two reviews, a decision by the table, its notice (spec 4.1, R-B1, R-B2, R-B12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.table import Duty, Missed, check_figures
from moot.protocols.trading.briefing import session_of
from moot.protocols.trading.life import (
    AS_USUAL,
    CANDIDATES,
    DEPLOYED,
    REJECTED,
    RESTS,
    STAGING,
    check_move,
    standing_of,
)
from moot.protocols.trading.limits import PORTFOLIO
from moot.protocols.trading.messages import (
    DeployDecision,
    DeployNotice,
    DeployParameters,
    DeployProposal,
    DeployReview,
)
from moot.protocols.trading.reviewing import (
    check_alone,
    check_form,
    check_known,
    check_owed,
    duty,
    plain,
    shown,
    still_owed,
)
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER

KIND: Final = "deployment"
OPS, BRIDGE = "#b-ops", "#bridge"

REVIEWING, DECIDING, ESCALATED, NOTIFYING = "reviewing", "deciding", "escalated", "notifying"
RETURNING, ENDED = "returning", "ended"

DEPLOY, DEPLOY_MODIFIED, REJECT, ESCALATE = "DEPLOY", "DEPLOY_MODIFIED", "REJECT", "ESCALATE"

ADMIN, ADMIN_MODIFIED, EXPIRED = "admin", "admin_modified", "expired"
"""Reasons of the ruling that an escalation's end leads to: as proposed, with the reviewers' limits, silence."""

FEEDBACK: Final = {
    ADMIN: "the admin did not agree to it",
    EXPIRED: "nobody answered the escalation in time",
}
"""What System A is told of a rejection that no DEPLOY_DECISION gave, by the ruling's reason."""


DUTIES: Final[Mapping[str, tuple[Duty, ...]]] = {
    REVIEWING: (
        duty(GUARDIAN, "DEPLOY_REVIEW", OPS, "review"),
        duty(TRADER, "DEPLOY_REVIEW", OPS, "review"),
    ),
    DECIDING: (duty(OPERATOR, "DEPLOY_DECISION", OPS, "decision"),),
    ESCALATED: (),
    NOTIFYING: (duty(OPERATOR, "DEPLOY_NOTICE", OPS, "notice"),),
    RETURNING: (duty(OPERATOR, "STRATEGY_MOVED", BRIDGE, "return"),),
}
"""Who owes what in each phase; the reviews at once and in any order. `escalated` waits for the admin."""

MISSED: Final[Mapping[str, Missed]] = {
    REVIEWING: Missed(Decision("void", "timeout", "R-B2"), DECIDING),
    DECIDING: Missed(Decision("ESCALATE", "timeout", "R-B1"), ESCALATED),
    NOTIFYING: Missed(Decision("void", "timeout", "R-B12"), ENDED),
    RETURNING: Missed(Decision("void", "timeout", "R-D20"), ENDED),
}
"""What silence leads to: a missed review is a disagreement, a missed decision the admin's; a notice only tells."""

AFTER: Final[Mapping[str, str]] = {
    DEPLOY: NOTIFYING,
    DEPLOY_MODIFIED: NOTIFYING,
    REJECT: RETURNING,
    ESCALATE: ESCALATED,
}
"""The phase after a decision."""

OUTCOME: Final[Mapping[str, str]] = {DEPLOY: DEPLOYED, DEPLOY_MODIFIED: DEPLOYED, REJECT: REJECTED}
"""How the case ends after it."""

# ---------------------------------------------------------------- the decision table

MISSING: Final = "missing"
ACCEPTABLE, ELEVATED, EXCESSIVE = "acceptable", "elevated", "excessive"
READY, ILLIQUID, ADJUST = "ready", "liquidity_concern", "needs_adjustment"

GUARDIAN_SAYS: Final = (ACCEPTABLE, ELEVATED, EXCESSIVE, MISSING)
"""What the Guardian's review may come to."""
TRADER_SAYS: Final = (READY, ILLIQUID, ADJUST, MISSING)
"""What the Trader's may: `liquidity_concern` means ready, but with that concern."""

ANY: Final = ""
"""Matches whatever is said."""


class Row(NamedTuple):
    """A line of R-B1.

    Attributes:
        n: Its row number there; row 2 takes several lines.
        guardian: What the Guardian's review says.
        trader: What the Trader's says.
        decision: What is decided.
        position_limit: Whether the Guardian's limit is agreed on.
        order_type: Whether the Trader's order type is.
    """

    n: int
    guardian: str
    trader: str
    decision: str
    position_limit: bool = False
    order_type: bool = False


TABLE: Final = (
    Row(1, EXCESSIVE, ANY, REJECT),
    Row(2, ANY, ILLIQUID, ESCALATE),
    Row(2, ELEVATED, ADJUST, ESCALATE),
    Row(2, MISSING, ANY, ESCALATE),
    Row(2, ANY, MISSING, ESCALATE),
    Row(3, ACCEPTABLE, READY, DEPLOY),
    Row(4, ACCEPTABLE, ADJUST, DEPLOY_MODIFIED, order_type=True),
    Row(5, ELEVATED, READY, DEPLOY_MODIFIED, position_limit=True),
)
"""R-B1; the first line that matches wins."""


def row_of(guardian: str, trader: str) -> Row:
    """Return the first line of the table that matches what the two reviews say."""
    return next(row for row in TABLE if row.guardian in (ANY, guardian) and row.trader in (ANY, trader))


def guardian_says(review: DeployReview | None) -> str:
    """Return what the Guardian's review says, in the table's words."""
    return MISSING if review is None else str(review.risk_assessment)


def trader_says(review: DeployReview | None) -> str:
    """Return what the Trader's review says, in the table's words."""
    if review is None:
        return MISSING
    return (
        ILLIQUID if review.executability == READY and review.liquidity_concern else str(review.executability)
    )


# ---------------------------------------------------------------- the case


@dataclass(frozen=True, kw_only=True)
class DeploymentState(CaseState):
    """State of a deployment.

    Attributes:
        strategy_id: What is to be deployed.
        proposal: Its proposal.
        guardian: The Guardian's review, once there is one.
        trader: The Trader's.
        decision: DEPLOY, DEPLOY_MODIFIED, REJECT or ESCALATE, "" before.
        parameters: What it was agreed on.
        feedback: Why it was rejected, for System A.
    """

    strategy_id: str
    proposal: DeployProposal
    guardian: DeployReview | None = None
    trader: DeployReview | None = None
    decision: str = ""
    parameters: DeployParameters = AS_USUAL
    feedback: str = ""

    @property
    def row(self) -> Row:
        """Return the line of the table that the reviews match."""
        return row_of(guardian_says(self.guardian), trader_says(self.trader))

    @property
    def agreed(self) -> DeployParameters:
        """Return the parameters that this line agrees on."""
        row = self.row
        return self.limits(position_limit=row.position_limit, order_type=row.order_type)

    def limits(self, *, position_limit: bool = True, order_type: bool = True) -> DeployParameters:
        """Return the reviewers' limits, as far as they gave some."""
        guardian, trader = self.guardian, self.trader
        return DeployParameters(
            position_limit=guardian.recommended_position_limit if guardian and position_limit else None,
            order_type=trader.suggested_order_type if trader and order_type else None,
        )


def open_deployment(env: Envelope, context: RuleContext, parent: CaseState | None) -> DeploymentState:
    """Open a deployment: Guardian and Trader owe their reviews.

    Raises:
        Violation: The strategy does not stand in staging, is deployed already, or its figures are not the log's.
    """
    body = env.body
    assert isinstance(body, DeployProposal)
    known = standing_of(context, body.strategy_id, STAGING, "4.1")
    if known.is_deployed:
        raise Violation("R-B12", f"{body.strategy_id} is traded on paper already", field="strategy_id")
    check_alone(context, KIND, body.strategy_id)
    check_rested(context, body.strategy_id)
    check_known(body.backtest_metrics, known.backtest, "backtest_metrics", "R-D20")
    state = DeploymentState(
        case_id=body.deployment_id,
        kind=KIND,
        phase=REVIEWING,
        parent=parent.case_id if parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        strategy_id=body.strategy_id,
        proposal=body,
    )
    return _enter(state, REVIEWING, env)


def check_rested(context: RuleContext, strategy_id: str) -> None:
    """Check that a strategy is not proposed again too soon after it was rejected (R-F7).

    Raises:
        Violation: Fewer than five sessions passed, and it has no new backtest.
    """
    sessions = context.fold_named("life").resting.get(strategy_id)
    if sessions is not None:
        left = "one session" if sessions == RESTS - 1 else f"{RESTS - sessions} sessions"
        why = f"{strategy_id} was rejected: {left} more, or a new backtest, come first"
        raise Violation("R-F7", why, field="strategy_id")


def _enter(state: DeploymentState, phase: str, env: Envelope, **changes: Any) -> DeploymentState:
    if phase == ENDED:
        decision = changes.get("decision", state.decision)
        return evolve(state, phase=phase, owed=(), outcome=OUTCOME[decision], **changes)
    return evolve(
        state, phase=phase, owed=tuple(d.owed(state.case_id, env) for d in DUTIES[phase]), **changes
    )


def _reviewed(state: DeploymentState, env: Envelope, obligation: Obligation | None = None) -> DeploymentState:
    """Go on with the other review, or to the decision when both are in or missed."""
    owed = still_owed(state, env, obligation)
    return evolve(state, owed=owed) if owed else _enter(state, DECIDING, env)


def step(state: DeploymentState, env: Envelope, context: RuleContext) -> DeploymentState:
    """Apply a message of a seat.

    Raises:
        Violation: The phase does not allow it, the recommended limit is none (R-F14), the decision is not the table's,
            or it moves something else.
    """
    body = env.body
    check_owed(state, env, "4.1")
    if isinstance(body, DeployReview):
        check_form(env, body, "4.1")
        _check_limit(body)
        reviewed = evolve(state, guardian=body) if env.author == GUARDIAN else evolve(state, trader=body)
        return _reviewed(reviewed, env)
    if isinstance(body, DeployDecision):
        check_figures(body, decision_figures(state), "R-B1")
        if body.decision == REJECT and not (body.feedback or "").strip():
            raise Violation("R-B1", "a rejection gives System A its feedback", field="feedback")
        return _enter(
            state,
            AFTER[body.decision],
            env,
            decision=body.decision,
            parameters=body.parameters,
            feedback=body.feedback or "",
        )
    if isinstance(body, DeployNotice):
        check_figures(body, notice_figures(state), "R-B12")
    else:
        check_move(env, context, strategy_id=state.strategy_id, from_=STAGING, to=CANDIDATES, feedback="R-B1")
    return _enter(state, ENDED, env)


def _check_limit(review: DeployReview) -> None:
    """Check that the Guardian recommends a limit that a position may have, and that lets one be opened.

    Raises:
        Violation: R-F14, it is nothing, or more than any position may have.
    """
    limit = review.recommended_position_limit
    if limit is not None and not 0 < limit <= PORTFOLIO.position:
        why = f"it is more than 0 and at most {PORTFOLIO.position:.0%} of the equity, not {limit:.2%}"
        raise Violation("R-F14", why, field="recommended_position_limit")


def decision_figures(state: DeploymentState) -> dict[str, Any]:
    """Return the fields of DEPLOY_DECISION that the table fixes (R-B1)."""
    row = state.row
    return {"decision": row.decision, "row": row.n, "parameters": state.agreed.model_dump()}


def notice_figures(state: DeploymentState) -> dict[str, Any]:
    """Return the fields of DEPLOY_NOTICE that the decision fixes (R-B12)."""
    return {"action": "STAGE", "strategy_id": state.strategy_id, "to": STAGING}


def brief(state: DeploymentState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Show the proposal, the reviews and what the table makes of them."""
    figures: dict[str, Any] = {
        "proposal": state.proposal.model_dump(mode="json"),
        "guardian": plain(state.guardian),
        "trader": plain(state.trader),
    }
    if state.phase == DECIDING:
        figures |= decision_figures(state)
    elif state.phase == NOTIFYING:
        figures |= notice_figures(state)
    elif state.phase == RETURNING:
        figures |= {"strategy_id": state.strategy_id, "from_": STAGING, "to": CANDIDATES}
        figures["feedback"] = state.feedback
    return {**figures, **shown(state.strategy_id, context)}


def otherwise(state: DeploymentState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when an obligation is missed (R-B1, R-B2)."""
    return MISSED[state.phase].decision


def rule(
    state: DeploymentState,
    decision: Decision,
    env: Envelope,
    context: RuleContext,
    obligation: Obligation | None,
) -> DeploymentState:
    """Apply a ruling: a missed duty, the end of its escalation, or a human STOP."""
    if decision.outcome == "stop":
        return evolve(state, phase=ENDED, owed=(), outcome="stopped")
    if obligation is None:
        return _settled(state, decision, env)
    if state.phase == REVIEWING:
        return _reviewed(state, env, obligation)
    if state.phase == DECIDING:
        return _enter(state, ESCALATED, env, decision=ESCALATE)
    return _enter(state, ENDED, env)


def _settled(state: DeploymentState, decision: Decision, env: Envelope) -> DeploymentState:
    """Take the admin's decision, or what follows from silence (R-B1)."""
    if decision.outcome == DEPLOY:
        is_modified = decision.reason == ADMIN_MODIFIED
        return _enter(
            state,
            NOTIFYING,
            env,
            decision=DEPLOY_MODIFIED if is_modified else DEPLOY,
            parameters=state.limits() if is_modified else AS_USUAL,
        )
    return _enter(state, RETURNING, env, decision=REJECT, feedback=FEEDBACK[decision.reason])


DEPLOYMENT: Final = CaseType(
    kind=KIND,
    openers=("DEPLOY_PROPOSAL",),
    open=open_deployment,
    step=step,
    otherwise=otherwise,
    rule=rule,
    parent_of=session_of,
    brief=brief,
    system="B",
)
