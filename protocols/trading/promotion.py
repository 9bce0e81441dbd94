"""Promotion: proposal, two reviews, a decision by the table, then what follows from it (spec 4.3, R-B2, R-B3).

Where the society's configuration wants it, a promotion that the table would allow is put before a panel first. The
panel may only hold a promotion up, never make one; the case knows of it no more than `kernel.opinion`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import DERIVED, SECOND_AUDIT, Exactly, Figures, check, exactly
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Missed, Move, RuleInput, ends
from moot.protocols.opinion import (
    BINDING,
    OFF,
    PLACE,
    Opinion,
    check_contract,
    opinion_of,
    say_in,
    waiting,
)
from moot.protocols.panel.messages import PanelOpened
from moot.protocols.panel.panel import KIND as PANEL
from moot.protocols.trading.briefing import session_of
from moot.protocols.trading.life import EXTENDED, MOST_EXTENSIONS, REJECTED
from moot.protocols.trading.messages import (
    PromotionDecision,
    PromotionProposal,
    PromotionReview,
)
from moot.protocols.trading.moves import check_move, move_figures, standing_of
from moot.protocols.trading.reviewing import (
    OPS,
    check_alone,
    move,
    notice,
    operators,
    plain,
    reviews,
    shown,
)
from moot.protocols.trading.seats import GUARDIAN
from moot.protocols.trading.standing import CANDIDATES, PRODUCTION, STAGING, Standing

KIND: Final = "promotion"

REVIEWING, DECIDING, MOVING, NOTIFYING = "reviewing", "deciding", "moving", "notifying"
CONVENING, AWAITING = "convening", "awaiting"
PROMOTE, EXTEND, REJECT = "PROMOTE", "EXTEND", "REJECT"

CONTRACTS: Final = "strategy"
"""Dossiers of strategies are judged under contracts whose ids begin so (R-P6)."""

SHARPE, DRAWDOWN = 0.30, -0.20
"""What reviewers are shown: a promotion wants a Sharpe ratio above, and a drawdown less deep (R-B3)."""

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
"""What a review that was missed comes to; it counts as objecting (R-B2)."""

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

MEANS: Final[Mapping[int, str]] = {
    1: "a reviewer rejects",
    2: "both reviewers approve",
    3: "neither rejects, not both approve",
}
"""What a row asks for, in words."""


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


def open_promotion(given: RuleInput) -> PromotionState:
    """Open a promotion: Guardian and Trader owe their reviews.

    Raises:
        Violation: The strategy is not traded on paper, not for long enough, or its figures are not the log's.
    """
    env, body, context = given.message, given.body, given.context
    known = standing_of(context, body.strategy_id, STAGING, "4.3")
    if not known.is_deployed:
        raise Violation("R-B12", f"{body.strategy_id} is not traded on paper", field="strategy_id")
    if known.days < known.days_needed:
        noun = "session" if known.days == 1 and context.version >= SECOND_AUDIT else "sessions"
        why = f"{body.strategy_id} was traded on paper for {known.days} {noun} of {known.days_needed}"
        raise Violation("R-B3", why, field="days")
    check_alone(context, KIND, body.strategy_id)
    check(body, exactly(proposal_figures(known, context)), "R-B3")
    return PromotionState(
        case_id=body.promotion_id,
        kind=KIND,
        phase=REVIEWING,
        parent=given.parent.case_id if given.parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        strategy_id=body.strategy_id,
        proposal=body,
        extensions=known.extensions,
    )


def _reviewed(_state: PromotionState, given: RuleInput) -> Effect:
    """Take in a review, under the name of its seat (4.3)."""
    return Effect({given.subject: given.body})


def review_figures(state: PromotionState, given: RuleInput) -> Figures:
    """Return the fields of PROMOTION_REVIEW that the book fixes, as the proposal has them (4.3)."""
    paper = state.proposal.paper_trading_metrics
    if given.subject == GUARDIAN:
        return {"max_drawdown_observed": Exactly(paper["max_drawdown"], since=DERIVED)}
    return exactly({name: paper[name] for name in ("avg_slippage_bps", "fill_rate")}, since=DERIVED)


def _both_in(state: PromotionState, given: RuleInput) -> Effect:
    """Both reviews are in, or missed: the Operator decides, or asks a panel where one has a say (4.3, R-B2)."""
    say = say_in(given.context, "promotions")
    if say == OFF or decided(state) != PROMOTE:
        return Effect(to=DECIDING)
    return Effect({"say": say}, to=CONVENING)


def _convened(_state: PromotionState, given: RuleInput) -> Effect:
    """A panel sits, under a contract for strategies; the decision waits for it (R-B2, R-P6)."""
    check_contract(given.message, CONTRACTS)
    return Effect({"panel_id": given.message.case_id or ""})


def _not_convened(_state: PromotionState, _given: RuleInput) -> Effect:
    """A panel that nobody opens gives no consent (R-B2)."""
    return Effect({"opinion": Opinion(why="no panel was opened")})


def _judged(state: PromotionState, given: RuleInput) -> Effect | None:
    """The panel that the decision waits for has ended; another one changes nothing (R-B2)."""
    if given.child.case_id != state.panel_id:
        return None
    return Effect({"opinion": opinion_of(given.child)})


def _not_judged(state: PromotionState, _given: RuleInput) -> Effect:
    """A panel that takes too long gives no consent (R-B2)."""
    return Effect({"opinion": Opinion(state.panel_id, why="the panel took too long")})


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


def _silent_decision(state: PromotionState) -> str:
    decision = decided(state)
    if decision != PROMOTE:
        return decision
    return decision_of(state.row._replace(decision=EXTEND), state.extensions)


def _ruled_on_silence(state: PromotionState) -> str:
    """Name what a missed decision is ruled: only a rejection is one by itself (R-B3)."""
    return REJECT if _silent_decision(state) == REJECT else "void"


def _decided(_state: PromotionState, given: RuleInput) -> Effect:
    """The decision that the table, or a binding panel, fixes (R-B3)."""
    return _on(given.body.decision)


def _undecided(state: PromotionState, _given: RuleInput) -> Effect:
    """Silence extends where a promotion is to be decided; where a rejection is, it rejects (R-B3)."""
    return _on(_silent_decision(state))


def _on(decision: str) -> Effect:
    changes = {"decision": decision}
    if decision == EXTEND:
        return Effect(changes, to=ENDED, outcome=EXTENDED)
    return Effect(changes, to=MOVING)


def _moved(state: PromotionState, given: RuleInput) -> Effect:
    """To where the decision moves it; System A is told why a rejected one comes back (R-B3, R-D20)."""
    check_move(given.message, given.context, feedback="R-B3" if state.decision == REJECT else "")
    return Effect()


def _unmoved(state: PromotionState, _given: RuleInput) -> Effect:
    """Nobody moved it: what was decided stays a decision only (R-D20)."""
    return Effect(outcome=UNMOVED if state.decision == PROMOTE else OUTCOME[state.decision])


def _closed(state: PromotionState, _given: RuleInput) -> Effect:
    """It ends as it was decided, told or not (R-B12)."""
    return Effect(outcome=OUTCOME[state.decision])


def decision_figures(state: PromotionState, _given: RuleInput) -> Figures:
    """Return the fields of PROMOTION_DECISION that are fixed; `extensions` counts this one too (R-B3).

    The row is the one that the reviews match, also where a panel forbids what it says.
    """
    decision = decided(state)
    return {
        "decision": Exactly(decision),
        "row": Exactly(state.row.n),
        "extensions": Exactly(state.extensions + (decision == EXTEND)),
    }


def moving_figures(state: PromotionState, given: RuleInput) -> Figures:
    """Return the fields of STRATEGY_MOVED that the decision fixes (R-D20)."""
    return move_figures(given.context, state.strategy_id, STAGING, TO[state.decision][0])


def notice_figures(state: PromotionState, _given: RuleInput) -> Figures:
    """Return the fields of DEPLOY_NOTICE that the decision fixes (R-B3)."""
    to, action = TO[state.decision]
    return {
        "action": Exactly(action),
        "strategy_id": Exactly(state.strategy_id),
        "from_": Exactly(STAGING),
        "to": Exactly(to),
        "validation_period_days": Exactly(None, since=DERIVED),
    }


def _brief(state: PromotionState, given: RuleInput) -> dict[str, Any]:
    """Show the proposal, the criteria, the reviews, what a panel says, and the desk."""
    found: dict[str, Any] = {
        "proposal": state.proposal.model_dump(mode="json"),
        "criteria": {"sharpe_above": SHARPE, "drawdown_above": DRAWDOWN},
        "guardian": plain(state.guardian),
        "trader": plain(state.trader),
    }
    if state.say != OFF:
        opinion = state.opinion
        found["panel"] = {"say": state.say, **(opinion.plain() if opinion is not None else {})}
    return {**found, **shown(state.strategy_id, given.context)}


PROMOTION: Final = Machine(
    kind=KIND,
    system="B",
    phases=(REVIEWING, CONVENING, AWAITING, DECIDING, MOVING, NOTIFYING),
    rule="4.3",
    start={PromotionProposal: Start(open_promotion, (REVIEWING,))},
    steps={
        "review": reviews(REVIEWING, PromotionReview, "4.3", _brief, _reviewed, review_figures),
        "panel": operators(
            CONVENING,
            PLACE,
            {PanelOpened: Move((AWAITING,), _convened)},
            Missed("R-B2", "void", Move((DECIDING,), _not_convened)),
            _brief,
        ),
        "panel-limit": waiting(AWAITING, OPS, "R-B2", Move((DECIDING,), _not_judged)),
        "decision": operators(
            DECIDING,
            OPS,
            {PromotionDecision: Move((MOVING, ENDED), _decided)},
            Missed("R-B3", _ruled_on_silence, Move((MOVING, ENDED), _undecided)),
            _brief,
            decision_figures,
        ),
        "move": move(MOVING, Move((NOTIFYING,), _moved), Move((ENDED,), _unmoved), _brief, moving_figures),
        "notice": notice(NOTIFYING, Move((ENDED,), _closed), _brief, notice_figures),
    },
    rulings={STOP: Move((ENDED,), ends("stopped"))},
    children={(AWAITING, PANEL): Move((DECIDING,), _judged)},
    dry={REVIEWING: Move((DECIDING, CONVENING), _both_in)},
    parent_of=session_of,
)
"""Reviews, perhaps a panel, a decision, then the move and its notice; silence never promotes (R-B2, R-B3)."""
