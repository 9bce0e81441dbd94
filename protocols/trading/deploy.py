"""Deployment: proposal, two reviews, a decision by the table, its notice (spec 4.1, R-B1, R-B2, R-B12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import DERIVED, SECOND_AUDIT, Exactly, Fields, Figures, check, exactly
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Missed, Move, RuleInput, ends, passes
from moot.protocols.trading.briefing import session_of
from moot.protocols.trading.life import DEPLOYED, REJECTED, RESTS
from moot.protocols.trading.limits import PORTFOLIO
from moot.protocols.trading.messages import (
    DeployDecision,
    DeployParameters,
    DeployProposal,
    DeployReview,
)
from moot.protocols.trading.moves import check_move, move_figures, standing_of
from moot.protocols.trading.reviewing import (
    OPS,
    check_alone,
    check_known,
    move,
    notice,
    operators,
    plain,
    reviews,
    shown,
)
from moot.protocols.trading.standing import AS_USUAL, CANDIDATES, PAPER_DAYS, STAGING, Standing

KIND: Final = "deployment"

REVIEWING, DECIDING, ESCALATED, NOTIFYING = "reviewing", "deciding", "escalated", "notifying"
RETURNING: Final = "returning"

DEPLOY, DEPLOY_MODIFIED, REJECT, ESCALATE = "DEPLOY", "DEPLOY_MODIFIED", "REJECT", "ESCALATE"

ADMIN, ADMIN_MODIFIED, EXPIRED = "admin", "admin_modified", "expired"
"""Reasons of the ruling that an escalation's end leads to: as proposed, with the reviewers' limits, silence."""

FEEDBACK: Final = {
    ADMIN: "the admin did not agree to it",
    EXPIRED: "nobody answered the escalation in time",
}
"""What System A is told of a rejection that no DEPLOY_DECISION gave, by the ruling's reason."""


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
"""What the Trader's review may come to besides missing; `liquidity_concern` means ready, but with that concern."""

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

MEANS: Final[Mapping[int, str]] = {
    1: "the risk is excessive",
    2: "the reviews disagree, or one is missing",
    3: "the risk is acceptable, the execution ready",
    4: "the risk is acceptable, the execution needs an adjustment",
    5: "the risk is elevated, the execution ready",
}
"""What a row asks for, in words."""


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
        carries_parameters: Whether DEPLOY carries the reviews' parameters, as it does from rules version 4 on (R-G1).
    """

    strategy_id: str
    proposal: DeployProposal
    guardian: DeployReview | None = None
    trader: DeployReview | None = None
    decision: str = ""
    parameters: DeployParameters = AS_USUAL
    feedback: str = ""
    carries_parameters: bool = True

    @property
    def row(self) -> Row:
        """Return the line of the table that the reviews match."""
        return row_of(guardian_says(self.guardian), trader_says(self.trader))

    @property
    def agreed(self) -> DeployParameters:
        """Return the parameters that this line agrees on (R-B1, R-G1)."""
        row = self.row
        if row.decision == DEPLOY and self.carries_parameters:
            agreed = self.limits()
            limit = agreed.position_limit
            limit = PORTFOLIO.position if limit is None else min(limit, PORTFOLIO.position)
            return agreed.model_copy(update={"position_limit": limit})
        return self.limits(position_limit=row.position_limit, order_type=row.order_type)

    def limits(self, *, position_limit: bool = True, order_type: bool = True) -> DeployParameters:
        """Return the reviewers' limits, as far as they gave some."""
        guardian, trader = self.guardian, self.trader
        return DeployParameters(
            position_limit=guardian.recommended_position_limit if guardian and position_limit else None,
            order_type=trader.suggested_order_type if trader and order_type else None,
        )


def open_deployment(given: RuleInput) -> DeploymentState:
    """Open a deployment: Guardian and Trader owe their reviews.

    Raises:
        Violation: The strategy does not stand in staging, is deployed already, or its figures are not the log's.
    """
    env, body, context = given.message, given.body, given.context
    known = standing_of(context, body.strategy_id, STAGING, "4.1")
    if known.is_deployed:
        raise Violation("R-B12", f"{body.strategy_id} is traded on paper already", field="strategy_id")
    check_alone(context, KIND, body.strategy_id)
    check_rested(context, body.strategy_id)
    check_known(body.backtest_metrics, known.backtest, "backtest_metrics", "R-D20")
    profile = Fields(exactly(profile_of(known), since=DERIVED))
    check(body, {"risk_profile": profile}, "R-D20", version=context.version)
    return DeploymentState(
        case_id=body.deployment_id,
        kind=KIND,
        phase=REVIEWING,
        parent=given.parent.case_id if given.parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        strategy_id=body.strategy_id,
        proposal=body,
        carries_parameters=context.version >= SECOND_AUDIT,
    )


def profile_of(known: Standing) -> dict[str, Any]:
    """Return what of a DEPLOY_PROPOSAL's risk profile the log fixes: what is traded; its risk follows from prices."""
    strategy = known.strategy
    return {} if strategy is None else {"archetype": strategy.archetype, "symbols": tuple(strategy.symbols)}


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


def _reviewed(_state: DeploymentState, given: RuleInput) -> Effect:
    """Take in a review, under the name of its seat (4.1)."""
    _check_limit(given.body)
    return Effect({given.subject: given.body})


def _check_limit(review: DeployReview) -> None:
    """Check that the Guardian recommends a limit that a position may have, and that lets one be opened.

    Raises:
        Violation: R-F14, it is nothing, or more than any position may have.
    """
    limit = review.recommended_position_limit
    if limit is not None and not 0 < limit <= PORTFOLIO.position:
        why = f"it is more than 0 and at most {PORTFOLIO.position:.0%} of the equity, not {limit:.2%}"
        raise Violation("R-F14", why, field="recommended_position_limit")


def _decided(_state: DeploymentState, given: RuleInput) -> Effect:
    """The table's decision, with its parameters (R-B1).

    Raises:
        Violation: A rejection does not say why.
    """
    body = given.body
    if body.decision == REJECT and not (body.feedback or "").strip():
        raise Violation("R-B1", "a rejection gives System A its feedback", field="feedback")
    changes = {"decision": body.decision, "parameters": body.parameters, "feedback": body.feedback or ""}
    return Effect(changes, to=AFTER[body.decision])


def _left_to_the_admin(_state: DeploymentState, _given: RuleInput) -> Effect:
    """A decision that is missed is the admin's (R-B1)."""
    return Effect({"decision": ESCALATE})


def _by_admin(state: DeploymentState, given: RuleInput) -> Effect:
    """The admin deploys it as proposed; whatever else it says is no consent (R-B1)."""
    if given.body.outcome != DEPLOY:
        return _rejected(state, given)
    return Effect({"decision": DEPLOY, "parameters": AS_USUAL}, to=NOTIFYING)


def _by_admin_modified(state: DeploymentState, _given: RuleInput) -> Effect:
    """The admin deploys it with the reviewers' limits (R-B1)."""
    return Effect({"decision": DEPLOY_MODIFIED, "parameters": state.limits()})


def _rejected(_state: DeploymentState, given: RuleInput) -> Effect:
    """An escalation that nobody answers, or that the admin does not agree to, rejects it (R-B1)."""
    return Effect({"decision": REJECT, "feedback": FEEDBACK[given.body.reason]}, to=RETURNING)


def _returned(state: DeploymentState, given: RuleInput) -> Effect:
    """Back to the candidates, with a word for System A (R-B1, R-D20)."""
    check_move(given.message, given.context, feedback="R-B1")
    return _closed(state, given)


def _closed(state: DeploymentState, _given: RuleInput) -> Effect:
    """It ends as it was decided, told or not (R-B12)."""
    return Effect(outcome=OUTCOME[state.decision])


def decision_figures(state: DeploymentState, _given: RuleInput) -> Figures:
    """Return the fields of DEPLOY_DECISION that the table fixes (R-B1)."""
    row = state.row
    return {
        "decision": Exactly(row.decision),
        "row": Exactly(row.n),
        "parameters": Exactly(state.agreed.model_dump()),
    }


def notice_figures(state: DeploymentState, _given: RuleInput) -> Figures:
    """Return the fields of DEPLOY_NOTICE that the decision fixes (R-B12)."""
    return {
        "action": Exactly("STAGE"),
        "strategy_id": Exactly(state.strategy_id),
        "from_": Exactly(STAGING, since=DERIVED),
        "to": Exactly(STAGING),
        "validation_period_days": Exactly(PAPER_DAYS, since=DERIVED),
    }


def return_figures(state: DeploymentState, given: RuleInput) -> Figures:
    """Return the fields of STRATEGY_MOVED that a rejection fixes (R-D20)."""
    return move_figures(given.context, state.strategy_id, STAGING, CANDIDATES)


def _brief(state: DeploymentState, given: RuleInput) -> dict[str, Any]:
    """Show the proposal, the reviews and the desk."""
    return {
        "proposal": state.proposal.model_dump(mode="json"),
        "guardian": plain(state.guardian),
        "trader": plain(state.trader),
        **shown(state.strategy_id, given.context),
    }


def _return_brief(state: DeploymentState, given: RuleInput) -> dict[str, Any]:
    """Show besides why it was rejected."""
    return {**_brief(state, given), "feedback": state.feedback}


DEPLOYMENT: Final = Machine(
    kind=KIND,
    system="B",
    phases=(REVIEWING, DECIDING, ESCALATED, NOTIFYING, RETURNING),
    rule="4.1",
    start={DeployProposal: Start(open_deployment, (REVIEWING,))},
    steps={
        "review": reviews(REVIEWING, DeployReview, "4.1", _brief, _reviewed),
        "decision": operators(
            DECIDING,
            OPS,
            {DeployDecision: Move((NOTIFYING, RETURNING, ESCALATED), _decided)},
            Missed("R-B1", ESCALATE, Move((ESCALATED,), _left_to_the_admin)),
            _brief,
            decision_figures,
        ),
        "notice": notice(NOTIFYING, Move((ENDED,), _closed), _brief, notice_figures),
        "return": move(
            RETURNING, Move((ENDED,), _returned), Move((ENDED,), _closed), _return_brief, return_figures
        ),
    },
    rulings={
        ADMIN: Move((NOTIFYING, RETURNING), _by_admin),
        ADMIN_MODIFIED: Move((NOTIFYING,), _by_admin_modified),
        EXPIRED: Move((RETURNING,), _rejected),
        STOP: Move((ENDED,), ends("stopped")),
    },
    dry={REVIEWING: Move((DECIDING,), passes)},
    idle={ESCALATED: "its escalation ends"},
    parent_of=session_of,
)
"""A missed review is a disagreement, a missed decision the admin's; a notice only tells (R-B1, R-B2, R-B12)."""
