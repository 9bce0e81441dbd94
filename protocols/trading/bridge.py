"""What passes between the systems: feedback on a strategy, and its recall (spec 6, R-B9, R-B10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.table import Duty, check_figures
from moot.protocols.kernel.times import hours, minutes
from moot.protocols.research.messages import CausalRecord, Reflection, StrategyMoved
from moot.protocols.research.seats import EVOLVER, SYSTEM_A
from moot.protocols.trading.book_figures import Ratio
from moot.protocols.trading.briefing import session_of
from moot.protocols.trading.life import (
    PRODUCTION,
    UNANSWERED,
    WITHDRAWN,
    Life,
    Standing,
    check_move,
    standing_of,
)
from moot.protocols.trading.messages import (
    DeployNotice,
    FeedbackResponse,
    PerformanceFeedback,
    RecallFlag,
    RecallRequest,
)
from moot.protocols.trading.reviewing import check_alone, check_known, check_owed, shown, still_owed
from moot.protocols.trading.seats import OPERATOR

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book

FEEDBACK_KIND, RECALL_KIND = "feedback", "recall"
OPS, BRIDGE, REPORTS = "#b-ops", "#bridge", "#a-report"

ASKED, FOLLOWING, ENDED = "asked", "following", "ended"
"""Phases of both: the Operator owes its word; then what follows from it, by both systems at once."""

SESSIONS: Final = 5
"""Sessions in production before a strategy is judged (R-B9, R-B10)."""
SHARE: Final = 0.5
"""A realised Sharpe ratio below this share of the backtest's is worth a feedback (R-B9)."""
ONCE_IN: Final = timedelta(days=7)
"""At most one feedback a strategy in this time (R-B9)."""

RESPONSE: Final = Duty(OPERATOR, ("FEEDBACK_RESPONSE",), BRIDGE, hours(24), hours(1), "response")
REQUEST: Final = Duty(OPERATOR, ("RECALL_REQUEST",), BRIDGE, hours(24), hours(1), "request")
RECORD: Final = Duty(EVOLVER, ("CAUSAL_RECORD",), REPORTS, hours(24), hours(1), "record")
REFLECTION: Final = Duty(EVOLVER, ("REFLECTION",), REPORTS, hours(24), hours(1), "reflection")
MOVE: Final = Duty(OPERATOR, ("STRATEGY_MOVED",), BRIDGE, minutes(30), minutes(30), "withdrawal")
NOTICE: Final = Duty(OPERATOR, ("DEPLOY_NOTICE",), OPS, minutes(30), minutes(30), "notice")

RULES: Final[Mapping[str, str]] = {
    RESPONSE.step: "R-B9",
    REQUEST.step: "R-B10",
    RECORD.step: "R-B9",
    REFLECTION.step: "R-B10",
    MOVE.step: "R-D20",
    NOTICE.step: "R-B12",
}
"""The rule that a missed duty breaks; silence is ruled void everywhere here."""


class Followed(NamedTuple):
    """What a response leads to: how the case ends, and what is owed besides the Evolver's record."""

    outcome: str
    owed: tuple[Duty, ...]


RESPONSES: Final[Mapping[tuple[str, str], Followed]] = {
    ("agree", "withdraw"): Followed("withdrawn", (RECORD, MOVE)),
    ("agree", "adjust"): Followed("adjusted", (RECORD,)),
    ("disagree", "none"): Followed("disputed", (RECORD,)),
}
"""Stance and action of a FEEDBACK_RESPONSE; other pairs are illegal (spec 6.1)."""


@dataclass(frozen=True, kw_only=True)
class BridgeState(CaseState):
    """State of a feedback or a recall.

    Attributes:
        strategy_id: What it is about.
        figures: What the opener says of it: expected and actual, or its Sharpe ratio, and its sessions.
        live: What it did from its promotion to the opener; the lesson that follows quotes it (R-F5).
        answer: The Operator's response or request, once there is one.
        result: How it ends when all that follows is done.
        is_missed: Whether what would have withdrawn the strategy was missed.
    """

    strategy_id: str
    figures: Mapping[str, float]
    live: Mapping[str, float]
    answer: FeedbackResponse | RecallRequest | None = None
    result: str = ""
    is_missed: bool = False


# ---------------------------------------------------------------- when it is due


def is_underperforming(context: RuleContext, strategy_id: str) -> bool:
    """Say whether a strategy's realised Sharpe ratio is worth a feedback now (R-B9).

    It stands in production for at least five sessions, the ratio since its promotion is below half of its
    backtest's, there was no feedback on it within a week, and no recall of it is open (R-F5).
    """
    known = _life(context).strategies.get(strategy_id)
    if known is None or known.stage != PRODUCTION or known.sessions_in_production < SESSIONS:
        return False
    actual, expected = _ratio(context, known).sharpe, known.backtest.get("sharpe")
    if actual is None or expected is None or actual >= SHARE * expected:
        return False
    return not (_is_too_early(known, context.at) or is_recalling(context, strategy_id))


def is_losing(context: RuleContext, strategy_id: str) -> bool:
    """Say whether a strategy is to be recalled now (R-B10).

    It stands in production for at least five sessions, its realised Sharpe ratio is below 0, and no recall of it
    was flagged before.
    """
    known = _life(context).strategies.get(strategy_id)
    if known is None or known.stage != PRODUCTION or known.sessions_in_production < SESSIONS:
        return False
    actual = _ratio(context, known).sharpe
    return actual is not None and actual < 0 and not known.is_flagged


def is_recalling(context: RuleContext, strategy_id: str) -> bool:
    """Say whether a recall of a strategy is open (R-F5)."""
    return any(s.kind == RECALL_KIND and s.strategy_id == strategy_id for s in _open(context))


def feedback_figures(context: RuleContext, strategy_id: str) -> dict[str, Any]:
    """Return the field of PERFORMANCE_FEEDBACK that the log fixes, with the figures that it knows (R-B9, R-F6)."""
    known = _life(context).strategies[strategy_id]
    actual, expected = _ratio(context, known), known.backtest.get("sharpe")
    return {
        "expected_vs_actual": {
            **({"expected_sharpe": expected} if expected is not None else {}),
            **({"actual_sharpe": actual.sharpe} if actual.sharpe is not None else {}),
            "n": actual.n,
        }
    }


def recall_figures(context: RuleContext, strategy_id: str) -> dict[str, Any]:
    """Return the fields of RECALL_FLAG that the log fixes, as far as it knows them (R-B10, R-F6)."""
    actual = _ratio(context, _life(context).strategies[strategy_id])
    return {**({"sharpe": actual.sharpe} if actual.sharpe is not None else {}), "n": actual.n}


def _open(context: RuleContext) -> list[BridgeState]:
    return [state for state in context.cases.values() if isinstance(state, BridgeState)]


def _life(context: RuleContext) -> Life:
    life: Life = context.fold_named("life")
    return life


def _book(context: RuleContext) -> Book:
    book: Book = context.fold_named("book")
    return book


def _ratio(context: RuleContext, known: Standing) -> Ratio:
    return _book(context).ratio(known.strategy_id, "promotion")


def _is_too_early(known: Standing, now: datetime | None) -> bool:
    return known.fed_back_at is not None and now is not None and now < known.fed_back_at + ONCE_IN


# ---------------------------------------------------------------- opening


def open_feedback(env: Envelope, context: RuleContext, parent: CaseState | None) -> BridgeState:
    """Open a feedback, in a session or alone: the Operator owes its response.

    Raises:
        Violation: The strategy is not in production or its recall is open, there was a feedback within a week, a
            figure is not the log's, a ratio stands without its `n`, or R-B9's condition does not hold.
    """
    body = env.body
    assert isinstance(body, PerformanceFeedback)
    known = standing_of(context, body.strategy_id, PRODUCTION, "6.1")
    if _is_too_early(known, env.sent_at):
        raise Violation("R-B9", f"the last feedback on {body.strategy_id} is less than a week old")
    check_alone(context, FEEDBACK_KIND, body.strategy_id)
    if is_recalling(context, body.strategy_id):
        raise Violation("R-F5", f"a recall of {body.strategy_id} is open", field="strategy_id")
    figures = feedback_figures(context, body.strategy_id)["expected_vs_actual"]
    check_known(body.expected_vs_actual, figures, "expected_vs_actual", "R-B9")
    if "actual_sharpe" in body.expected_vs_actual and "n" not in body.expected_vs_actual:
        why = "a ratio is published with the number of sessions that it rests on"
        raise Violation("R-F6", why, field="expected_vs_actual.n")
    if not is_underperforming(context, body.strategy_id):
        raise Violation("R-B9", f"{body.strategy_id} does what it promised, or it is too early to tell")
    live = _book(context).live_figures(body.strategy_id)
    return _opened(env, parent, FEEDBACK_KIND, body.feedback_id, RESPONSE, body.strategy_id, figures, live)


def open_recall(env: Envelope, context: RuleContext, parent: CaseState | None) -> BridgeState:
    """Open a recall, in a session or alone: the Operator owes its request.

    Raises:
        Violation: The strategy is not in production or flagged already, a figure is not the log's, or R-B10's
            condition does not hold.
    """
    body = env.body
    assert isinstance(body, RecallFlag)
    known = standing_of(context, body.strategy_id, PRODUCTION, "6.2")
    if known.is_flagged:
        raise Violation("R-B10", f"{body.strategy_id} is flagged already", field="strategy_id")
    check_alone(context, RECALL_KIND, body.strategy_id)
    check_figures(body, recall_figures(context, body.strategy_id), "R-B10")
    if not is_losing(context, body.strategy_id):
        raise Violation("R-B10", f"{body.strategy_id} does not lose, or it is too early to tell")
    figures, live = {"sharpe": body.sharpe, "n": body.n}, _book(context).live_figures(body.strategy_id)
    return _opened(env, parent, RECALL_KIND, body.recall_id, REQUEST, body.strategy_id, figures, live)


def _opened(
    env: Envelope,
    parent: CaseState | None,
    kind: str,
    case_id: str,
    duty: Duty,
    strategy_id: str,
    figures: Mapping[str, float],
    live: Mapping[str, float],
) -> BridgeState:
    return BridgeState(
        case_id=case_id,
        kind=kind,
        phase=ASKED,
        parent=parent.case_id if parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        owed=(duty.owed(case_id, env),),
        strategy_id=strategy_id,
        figures=figures,
        live=live,
    )


# ---------------------------------------------------------------- moving


def step(state: BridgeState, env: Envelope, context: RuleContext) -> BridgeState:
    """Apply a message of a seat, in a feedback or a recall.

    Raises:
        Violation: Nobody owes it, stance and action do not go together, it is about another strategy, quotes another
            figure than the case's, or moves the strategy elsewhere.
    """
    body = env.body
    check_owed(state, env, "6.1" if state.kind == FEEDBACK_KIND else "6.2")
    if isinstance(body, FeedbackResponse):
        return _responded(state, body, env, context)
    if isinstance(body, RecallRequest):
        _check_subject(state, body.strategy_id, "strategy_id")
        return _follow(state, env, (REFLECTION, MOVE), answer=body, result="recalled")
    if isinstance(body, CausalRecord | Reflection):
        _check_subject(state, body.record.hypothesis_id, "record.hypothesis_id", _subject(state, context))
        _check_live(state, body.record.metrics)
        return _settle(state, env, still_owed(state, env))
    if isinstance(body, StrategyMoved):
        check_move(env, context, strategy_id=state.strategy_id, from_=PRODUCTION, to=WITHDRAWN)
        notice = NOTICE.owed(state.case_id, env)
        return evolve(state, owed=(*still_owed(state, env), notice))
    assert isinstance(body, DeployNotice)
    check_figures(body, notice_figures(state), "R-B12")
    return _settle(state, env, still_owed(state, env))


def _check_live(state: BridgeState, metrics: Mapping[str, float]) -> None:
    """Check that a lesson quotes what the strategy did from its promotion on, and nothing else as live.

    Raises:
        Violation: It does not (R-F5).
    """
    check_known(metrics, state.live, "record.metrics", "R-F5")
    for name in metrics:
        if name.startswith("live_") and name not in state.live:
            raise Violation("R-F5", "the log does not know this figure", field=f"record.metrics.{name}")


def may_dispute(state: BridgeState, context: RuleContext) -> bool:
    """Say whether the Operator may disagree: not once it asked for the recall of the same strategy (R-F5)."""
    known = _life(context).strategies.get(state.strategy_id)
    return known is None or not known.is_recall_requested


def _responded(
    state: BridgeState, body: FeedbackResponse, env: Envelope, context: RuleContext
) -> BridgeState:
    followed = RESPONSES.get((body.stance, body.action))
    if followed is None:
        raise Violation(
            "6.1",
            f"who says {body.stance} does not {body.action}: adjust or withdraw, or disagree",
            field="action",
        )
    if body.stance == "disagree" and not may_dispute(state, context):
        why = f"the recall of {state.strategy_id} was requested for the same figures"
        raise Violation("R-F5", why, field="stance")
    if body.stance == "disagree" and not body.counter_evidence:
        raise Violation("6.1", "who disagrees gives evidence", field="counter_evidence")
    return _follow(state, env, followed.owed, answer=body, result=followed.outcome)


def _follow(state: BridgeState, env: Envelope, duties: tuple[Duty, ...], **changes: Any) -> BridgeState:
    owed = tuple(duty.owed(state.case_id, env) for duty in duties)
    return evolve(state, phase=FOLLOWING, owed=owed, **changes)


def _settle(state: BridgeState, env: Envelope, owed: tuple[Obligation, ...]) -> BridgeState:
    """Go on while something is owed, end when nothing is."""
    if owed:
        return evolve(state, owed=owed)
    return evolve(state, phase=ENDED, owed=(), outcome="unmoved" if state.is_missed else state.result)


def _subject(state: BridgeState, context: RuleContext) -> str:
    """Return what System A's memory calls the strategy: the debate that approved it, else its own id."""
    known = _life(context).strategies.get(state.strategy_id)
    return (known.hypothesis_id if known is not None else "") or state.strategy_id


def _check_subject(state: BridgeState, given: str | None, field: str, subject: str = "") -> None:
    if given not in (state.strategy_id, subject or state.strategy_id):
        raise Violation(
            "6.2" if state.kind == RECALL_KIND else "6.1", f"it is about {state.strategy_id}", field=field
        )


def notice_figures(state: BridgeState) -> dict[str, Any]:
    """Return the fields of DEPLOY_NOTICE that a withdrawal fixes."""
    return {"action": "WITHDRAW", "strategy_id": state.strategy_id, "from_": PRODUCTION, "to": WITHDRAWN}


def brief(state: BridgeState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Show what the opener said and what was answered; to System A nothing of the desk (R-B11)."""
    known = _life(context).strategies.get(state.strategy_id)
    figures: dict[str, Any] = {
        "figures": dict(state.figures),
        "answer": state.answer.model_dump(mode="json") if state.answer is not None else None,
    }
    if obligation.seat in SYSTEM_A:
        spec = known.strategy if known is not None else None
        return {
            **figures,
            "subject": state.strategy_id,
            "hypothesis_id": _subject(state, context),
            "strategy": spec.model_dump(mode="json") if spec is not None else None,
            "backtest": dict(known.backtest) if known is not None else {},
            "live": dict(state.live),
        }
    if obligation.step == RESPONSE.step:
        figures["may_dispute"] = may_dispute(state, context)
    if obligation.step == MOVE.step:
        figures |= {"strategy_id": state.strategy_id, "from_": PRODUCTION, "to": WITHDRAWN}
    elif obligation.step == NOTICE.step:
        figures |= notice_figures(state)
    return {**figures, **shown(state.strategy_id, context)}


def otherwise(state: BridgeState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when an obligation is missed: it is void, by the rule that asked for it."""
    return Decision("void", "timeout", RULES[obligation.step])


def rule(
    state: BridgeState, decision: Decision, env: Envelope, context: RuleContext, obligation: Obligation | None
) -> BridgeState:
    """Apply a ruling: a missed duty, or a human STOP."""
    if decision.outcome == "stop" or obligation is None:
        return evolve(state, phase=ENDED, owed=(), outcome="stopped")
    if state.phase == ASKED:
        return evolve(state, phase=ENDED, owed=(), outcome=UNANSWERED)
    is_missed = state.is_missed or obligation.step == MOVE.step
    return _settle(evolve(state, is_missed=is_missed), env, still_owed(state, env, obligation))


def _case_type(kind: str, opener: str, open_: Any) -> CaseType:
    return CaseType(
        kind=kind,
        openers=(opener,),
        open=open_,
        step=step,
        otherwise=otherwise,
        rule=rule,
        parent_of=session_of,
        brief=brief,
        system="B",
    )


FEEDBACK: Final = _case_type(FEEDBACK_KIND, "PERFORMANCE_FEEDBACK", open_feedback)
RECALL: Final = _case_type(RECALL_KIND, "RECALL_FLAG", open_recall)
