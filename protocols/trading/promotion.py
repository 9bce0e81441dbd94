"""Promotion: proposal, two reviews, a decision by the table, then what follows from it (spec 4.3, R-B2, R-B3).

Where the society's configuration wants it, a promotion that the table would allow is put before a panel first. The
panel may only hold a promotion up, never make one; the case knows of it no more than `kernel.opinion`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.table import Duty, check_figures
from moot.protocols.opinion import (
    BINDING,
    LATE,
    OFF,
    OPENER,
    PLACE,
    Opinion,
    check_contract,
    opinion_of,
    say_in,
    wait,
)
from moot.protocols.trading.briefing import session_of
from moot.protocols.trading.life import (
    CANDIDATES,
    EXTENDED,
    MOST_EXTENSIONS,
    PRODUCTION,
    REJECTED,
    STAGING,
    Standing,
    check_move,
    standing_of,
)
from moot.protocols.trading.messages import (
    DeployNotice,
    PromotionDecision,
    PromotionProposal,
    PromotionReview,
)
from moot.protocols.trading.reviewing import (
    check_alone,
    check_form,
    check_owed,
    duty,
    plain,
    shown,
    still_owed,
)
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER

KIND: Final = "promotion"
OPS, BRIDGE = "#b-ops", "#bridge"

REVIEWING, DECIDING, MOVING, NOTIFYING, ENDED = "reviewing", "deciding", "moving", "notifying", "ended"
CONVENING, AWAITING = "convening", "awaiting"
PROMOTE, EXTEND, REJECT = "PROMOTE", "EXTEND", "REJECT"

CONTRACTS: Final = "strategy"
"""Dossiers of strategies are judged under contracts whose ids begin so (R-P6)."""

SHARPE, DRAWDOWN = 0.30, -0.20
"""What reviewers are shown: a promotion wants a Sharpe ratio above, and a drawdown less deep (R-B3)."""


DUTIES: Final[Mapping[str, tuple[Duty, ...]]] = {
    REVIEWING: (
        duty(GUARDIAN, "PROMOTION_REVIEW", OPS, "review"),
        duty(TRADER, "PROMOTION_REVIEW", OPS, "review"),
    ),
    CONVENING: (duty(OPERATOR, OPENER, PLACE, "panel"),),
    DECIDING: (duty(OPERATOR, "PROMOTION_DECISION", OPS, "decision"),),
    MOVING: (duty(OPERATOR, "STRATEGY_MOVED", BRIDGE, "move"),),
    NOTIFYING: (duty(OPERATOR, "DEPLOY_NOTICE", OPS, "notice"),),
}
"""Who owes what in each phase; the reviews at once and in any order. While a panel sits the Referee minds the time."""

MISSED: Final[Mapping[str, Decision]] = {
    REVIEWING: Decision("void", "timeout", "R-B2"),
    CONVENING: Decision("void", "timeout", "R-B2"),
    DECIDING: Decision("void", "timeout", "R-B3"),
    MOVING: Decision("void", "timeout", "R-D20"),
    NOTIFYING: Decision("void", "timeout", "R-B12"),
}
"""What the referee rules on silence; a missed decision never promotes (see `otherwise`)."""

OUTCOME: Final[Mapping[str, str]] = {PROMOTE: "promoted", EXTEND: EXTENDED, REJECT: REJECTED}
"""How the case ends after a decision."""
UNMOVED: Final = "unmoved"
"""How it ends when a promotion was decided and nobody moved the strategy."""

TO: Final[Mapping[str, tuple[str, str]]] = {
    PROMOTE: (PRODUCTION, "PROMOTE"),
    REJECT: (CANDIDATES, "WITHDRAW"),
}
"""Where a decision moves the strategy, and the action that its notice tells."""

# ---------------------------------------------------------------- the decision table

MISSING: Final = "missing"
SAYS: Final = ("approve", "extend_validation", "reject", MISSING)
"""What a review may come to; one that was missed counts as objecting (R-B2)."""

ANY: Final = ""
"""Matches whatever is recommended."""


class Row(NamedTuple):
    """A line of R-B3: its row number there, what either reviewer recommends, what is decided."""

    n: int
    guardian: str
    trader: str
    decision: str


TABLE: Final = (
    Row(1, "reject", ANY, REJECT),
    Row(1, ANY, "reject", REJECT),
    Row(2, "approve", "approve", PROMOTE),
    Row(3, ANY, ANY, EXTEND),
)
"""R-B3; the first line that matches wins."""


def row_of(guardian: str, trader: str) -> Row:
    """Return the first line of the table that matches what the two reviews recommend."""
    return next(row for row in TABLE if row.guardian in (ANY, guardian) and row.trader in (ANY, trader))


def decision_of(row: Row, extensions: int) -> str:
    """Return what a line decides: a third extension is a rejection (R-B3)."""
    return REJECT if row.decision == EXTEND and extensions >= MOST_EXTENSIONS else row.decision


# ---------------------------------------------------------------- the case


@dataclass(frozen=True, kw_only=True)
class PromotionState(CaseState):
    """State of a promotion.

    Attributes:
        strategy_id: What is to be promoted.
        proposal: Its proposal.
        extensions: How often its validation was extended before.
        guardian: The Guardian's review, once there is one.
        trader: The Trader's.
        decision: PROMOTE, EXTEND or REJECT, "" before.
        say: What a panel has to say in it, as configured when both reviews were in.
        panel_id: The panel that it waits for, "" when none was opened.
        opinion: How that ended; None before, and where no panel is asked.
    """

    strategy_id: str
    proposal: PromotionProposal
    extensions: int
    guardian: PromotionReview | None = None
    trader: PromotionReview | None = None
    decision: str = ""
    say: str = OFF
    panel_id: str = ""
    opinion: Opinion | None = None

    @property
    def row(self) -> Row:
        """Return the line of the table that the reviews match."""
        said = (r.recommendation if r is not None else MISSING for r in (self.guardian, self.trader))
        return row_of(*said)


def proposal_figures(known: Standing, context: RuleContext) -> dict[str, Any]:
    """Return the fields of PROMOTION_PROPOSAL that the log fixes (R-B3)."""
    metrics = context.fold_named("book").paper_metrics(known.strategy_id)
    return {"paper_trading_metrics": metrics, "days": known.days}


def open_promotion(env: Envelope, context: RuleContext, parent: CaseState | None) -> PromotionState:
    """Open a promotion: Guardian and Trader owe their reviews.

    Raises:
        Violation: The strategy is not traded on paper, not for long enough, or its figures are not the log's.
    """
    body = env.body
    assert isinstance(body, PromotionProposal)
    known = standing_of(context, body.strategy_id, STAGING, "4.3")
    if not known.is_deployed:
        raise Violation("R-B12", f"{body.strategy_id} is not traded on paper", field="strategy_id")
    if known.days < known.days_needed:
        why = f"{body.strategy_id} was traded on paper for {known.days} sessions of {known.days_needed}"
        raise Violation("R-B3", why, field="days")
    check_alone(context, KIND, body.strategy_id)
    check_figures(body, proposal_figures(known, context), "R-B3")
    state = PromotionState(
        case_id=body.promotion_id,
        kind=KIND,
        phase=REVIEWING,
        parent=parent.case_id if parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        strategy_id=body.strategy_id,
        proposal=body,
        extensions=known.extensions,
    )
    return _enter(state, REVIEWING, env)


def _enter(state: PromotionState, phase: str, env: Envelope) -> PromotionState:
    owed = tuple(duty.owed(state.case_id, env) for duty in DUTIES[phase])
    return evolve(state, phase=phase, owed=owed)


def _end(state: PromotionState, outcome: str) -> PromotionState:
    return evolve(state, phase=ENDED, owed=(), outcome=outcome)


def _decide(state: PromotionState, decision: str, env: Envelope) -> PromotionState:
    decided = evolve(state, decision=decision)
    return _end(decided, EXTENDED) if decision == EXTEND else _enter(decided, MOVING, env)


def _reviewed(
    state: PromotionState, env: Envelope, context: RuleContext, obligation: Obligation | None = None
) -> PromotionState:
    """Go on with the other review; when both are in or missed, to the panel or to the decision."""
    owed = still_owed(state, env, obligation)
    if owed:
        return evolve(state, owed=owed)
    say = say_in(context, "promotions")
    if say == OFF or decided(state) != PROMOTE:
        return _enter(state, DECIDING, env)
    return _enter(evolve(state, say=say), CONVENING, env)


def _judged(state: PromotionState, opinion: Opinion, env: Envelope) -> PromotionState:
    return _enter(evolve(state, opinion=opinion), DECIDING, env)


def step(state: PromotionState, env: Envelope, context: RuleContext) -> PromotionState:
    """Apply a message of a seat.

    Raises:
        Violation: The phase does not allow it, the decision is not the table's, or it moves something else.
    """
    body = env.body
    check_owed(state, env, "4.3")
    if isinstance(body, PromotionReview):
        check_form(env, body, "4.3")
        is_guardian = env.author == GUARDIAN
        state = evolve(state, guardian=body) if is_guardian else evolve(state, trader=body)
        return _reviewed(state, env, context)
    if body.type == OPENER:
        check_contract(env, CONTRACTS)
        owed = (wait(state.case_id, env, OPS),)
        return evolve(state, phase=AWAITING, owed=owed, panel_id=env.case_id or "")
    if isinstance(body, PromotionDecision):
        check_figures(body, decision_figures(state), "R-B3")
        return _decide(state, body.decision, env)
    if isinstance(body, DeployNotice):
        check_figures(body, notice_figures(state), "R-B12")
        return _end(state, OUTCOME[state.decision])
    feedback = "R-B3" if state.decision == REJECT else ""
    to = TO[state.decision][0]
    check_move(env, context, strategy_id=state.strategy_id, from_=STAGING, to=to, feedback=feedback)
    return _enter(state, NOTIFYING, env)


def child_ended(
    state: PromotionState, child: CaseState, env: Envelope, context: RuleContext
) -> PromotionState:
    """Take in how the panel ended that the decision waits for; one that comes too late changes nothing."""
    if state.phase != AWAITING or child.case_id != state.panel_id:
        return state
    return _judged(state, opinion_of(child), env)


def discharge(state: PromotionState, obligation: Obligation, context: RuleContext) -> Message:
    """Make the ruling that ends the wait for a panel."""
    return Ruling(
        obligation_id=None, case_id=state.case_id, outcome="void", reason=LATE, rule="R-B2", of_seq=None
    )


def decided(state: PromotionState) -> str:
    """Return what is to be decided: the table's word, unless a binding panel forbids a promotion (R-B2, R-B3).

    A panel that rejects leads to a rejection. One that wants a revision, or that ended without a decision, leads to
    an extension, at the third time to a rejection.
    """
    row, extensions = state.row, state.extensions
    opinion = state.opinion
    if row.decision != PROMOTE or state.say != BINDING or opinion is None or opinion.consents:
        return decision_of(row, extensions)
    return REJECT if opinion.rejects else decision_of(row._replace(decision=EXTEND), extensions)


def decision_figures(state: PromotionState) -> dict[str, Any]:
    """Return the fields of PROMOTION_DECISION that are fixed; `extensions` counts this one too (R-B3).

    The row is the one that the reviews match, also where a panel forbids what it says.
    """
    decision = decided(state)
    return {"decision": decision, "row": state.row.n, "extensions": state.extensions + (decision == EXTEND)}


def notice_figures(state: PromotionState) -> dict[str, Any]:
    """Return the fields of DEPLOY_NOTICE that the decision fixes (R-B3)."""
    to, action = TO[state.decision]
    return {"action": action, "strategy_id": state.strategy_id, "from_": STAGING, "to": to}


def brief(state: PromotionState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Show the proposal, the criteria, the reviews and what the table makes of them."""
    figures: dict[str, Any] = {
        "proposal": state.proposal.model_dump(mode="json"),
        "criteria": {"sharpe_above": SHARPE, "drawdown_above": DRAWDOWN},
        "guardian": plain(state.guardian),
        "trader": plain(state.trader),
    }
    if state.say != OFF:
        opinion = state.opinion
        figures["panel"] = {"say": state.say, **(opinion.plain() if opinion is not None else {})}
    if state.phase == DECIDING:
        figures |= decision_figures(state)
    elif state.phase == MOVING:
        figures |= {"strategy_id": state.strategy_id, "from_": STAGING, "to": TO[state.decision][0]}
    elif state.phase == NOTIFYING:
        figures |= notice_figures(state)
    return {**figures, **shown(state.strategy_id, context)}


def otherwise(state: PromotionState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when an obligation is missed (R-B2, R-B3).

    A missed decision extends where a promotion is to be decided; where a rejection is, it rejects.
    """
    if state.phase == DECIDING and _silent_decision(state) == REJECT:
        return Decision(REJECT, "timeout", "R-B3")
    return MISSED[state.phase]


def _silent_decision(state: PromotionState) -> str:
    decision = decided(state)
    if decision != PROMOTE:
        return decision
    return decision_of(state.row._replace(decision=EXTEND), state.extensions)


def rule(
    state: PromotionState,
    decision: Decision,
    env: Envelope,
    context: RuleContext,
    obligation: Obligation | None,
) -> PromotionState:
    """Apply a ruling: a missed duty, a panel that takes too long, or a human STOP."""
    if decision.outcome == "stop":
        return _end(state, "stopped")
    if state.phase == REVIEWING:
        return _reviewed(state, env, context, obligation)
    if state.phase == CONVENING:
        return _judged(state, Opinion(why="no panel was opened"), env)
    if state.phase == AWAITING:
        return _judged(state, Opinion(state.panel_id, why="the panel took too long"), env)
    if state.phase == DECIDING:
        return _decide(state, _silent_decision(state), env)
    if state.phase == MOVING and state.decision == PROMOTE:
        return _end(state, UNMOVED)
    return _end(state, OUTCOME[state.decision])


PROMOTION: Final = CaseType(
    kind=KIND,
    openers=("PROMOTION_PROPOSAL",),
    open=open_promotion,
    step=step,
    otherwise=otherwise,
    rule=rule,
    discharge=discharge,
    child_ended=child_ended,
    parent_of=session_of,
    brief=brief,
    system="B",
)
