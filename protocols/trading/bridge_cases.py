"""Feedback on a strategy, and its recall: the Operator's word, then what follows in both systems (spec 6, R-F5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import DERIVED, Exactly, Figures, check, exactly
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.steps import (
    ENDED,
    STOP,
    Effect,
    Missed,
    Move,
    Owe,
    RuleInput,
    Step,
    ends,
    nothing,
    passes,
)
from moot.protocols.kernel.times import hours, minutes
from moot.protocols.research.messages import CausalRecord, Reflection
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading import bridge
from moot.protocols.trading.bridge import BridgeState
from moot.protocols.trading.briefing import session_of
from moot.protocols.trading.life import UNANSWERED
from moot.protocols.trading.messages import (
    FeedbackResponse,
    PerformanceFeedback,
    RecallFlag,
    RecallRequest,
)
from moot.protocols.trading.moves import check_move, move_figures, standing_of
from moot.protocols.trading.reviewing import BRIDGE, check_alone, check_known, move, notice, shown
from moot.protocols.trading.seats import OPERATOR
from moot.protocols.trading.standing import PRODUCTION, WITHDRAWN

REPORTS: Final = "#a-report"

ASKED, FOLLOWING = "asked", "following"
"""Phases of both: the Operator owes its word; then what follows from it, by both systems at once."""

WITHDRAWN_WITHIN: Final = minutes(30)
"""Time for each step of a withdrawal, and grace after it."""

UNMOVED: Final = "unmoved"
"""How a case ends that was to withdraw a strategy which nobody moved."""


class Followed(NamedTuple):
    """What a response leads to: how the case ends, and the steps that are owed."""

    outcome: str
    steps: tuple[str, ...]


RESPONSES: Final[Mapping[tuple[str, str], Followed]] = {
    ("agree", "withdraw"): Followed("withdrawn", ("record", "withdrawal")),
    ("agree", "adjust"): Followed("adjusted", ("record",)),
    ("disagree", "none"): Followed("disputed", ("record",)),
}
"""Stance and action of a FEEDBACK_RESPONSE; other pairs are illegal (spec 6.1)."""


# ---------------------------------------------------------------- opening


def open_feedback(given: RuleInput) -> BridgeState:
    """Open a feedback, in a session or alone: the Operator owes its response.

    Raises:
        Violation: The strategy is not in production or its recall is open, there was a feedback within a week, a
            figure is not the log's, a ratio stands without its `n`, or R-B9's condition does not hold.
    """
    context, body = given.context, given.body
    known = standing_of(context, body.strategy_id, PRODUCTION, "6.1")
    if bridge.is_too_early(known, given.at):
        raise Violation("R-B9", f"the last feedback on {body.strategy_id} is less than a week old")
    check_alone(context, bridge.FEEDBACK_KIND, body.strategy_id)
    if bridge.is_recalling(context, body.strategy_id):
        raise Violation("R-F5", f"a recall of {body.strategy_id} is open", field="strategy_id")
    figures = bridge.feedback_figures(context, body.strategy_id)["expected_vs_actual"]
    check_known(body.expected_vs_actual, figures, "expected_vs_actual", "R-B9")
    if "actual_sharpe" in body.expected_vs_actual and "n" not in body.expected_vs_actual:
        why = "a ratio is published with the number of sessions that it rests on"
        raise Violation("R-F6", why, field="expected_vs_actual.n")
    if not bridge.is_underperforming(context, body.strategy_id):
        raise Violation("R-B9", f"{body.strategy_id} does what it promised, or it is too early to tell")
    return _opened(given, bridge.FEEDBACK_KIND, body.feedback_id, figures)


def open_recall(given: RuleInput) -> BridgeState:
    """Open a recall, in a session or alone: the Operator owes its request.

    Raises:
        Violation: The strategy is not in production or flagged already, a figure is not the log's, or R-B10's
            condition does not hold.
    """
    context, body = given.context, given.body
    known = standing_of(context, body.strategy_id, PRODUCTION, "6.2")
    if known.is_flagged:
        raise Violation("R-B10", f"{body.strategy_id} is flagged already", field="strategy_id")
    check_alone(context, bridge.RECALL_KIND, body.strategy_id)
    check(body, exactly(bridge.recall_figures(context, body.strategy_id)), "R-B10")
    if not bridge.is_losing(context, body.strategy_id):
        raise Violation("R-B10", f"{body.strategy_id} does not lose, or it is too early to tell")
    return _opened(given, bridge.RECALL_KIND, body.recall_id, {"sharpe": body.sharpe, "n": body.n})


def _opened(given: RuleInput, kind: str, case_id: str, figures: Mapping[str, float]) -> BridgeState:
    strategy_id = given.body.strategy_id
    return BridgeState(
        case_id=case_id,
        kind=kind,
        phase=ASKED,
        parent=given.parent.case_id if given.parent is not None else None,
        opened_seq=given.message.seq,
        anchor_at=given.at,
        strategy_id=strategy_id,
        figures=figures,
        live=bridge.book_of(given.context).live_figures(strategy_id),
    )


# ---------------------------------------------------------------- what each answer does


def _responded(state: BridgeState, given: RuleInput) -> Effect:
    """The Operator agrees, and says to what, or disagrees with evidence (6.1, R-F5)."""
    body = given.body
    followed = RESPONSES.get((body.stance, body.action))
    if followed is None:
        raise Violation(
            "6.1",
            f"who says {body.stance} does not {body.action}: adjust or withdraw, or disagree",
            field="action",
        )
    if body.stance == "disagree" and not may_dispute(state, given):
        why = f"the recall of {state.strategy_id} was requested for the same figures"
        raise Violation("R-F5", why, field="stance")
    if body.stance == "disagree" and not body.counter_evidence:
        raise Violation("6.1", "who disagrees gives evidence", field="counter_evidence")
    owe = tuple(Owe(step) for step in followed.steps)
    return Effect({"answer": body, "result": followed.outcome}, owe=owe)


def may_dispute(state: BridgeState, given: RuleInput) -> bool:
    """Say whether the Operator may disagree: not once it asked for the recall of the same strategy (R-F5)."""
    known = bridge.life_of(given.context).strategies.get(state.strategy_id)
    return known is None or not known.is_recall_requested


def _requested(_state: BridgeState, given: RuleInput) -> Effect:
    """The Operator asks for a recall: System A reflects on it, and it is withdrawn (6.2)."""
    return Effect({"answer": given.body, "result": "recalled"}, owe=(Owe("reflection"), Owe("withdrawal")))


def _about(rule: str) -> Callable[[BridgeState, RuleInput], Effect]:
    """Return the rule of a lesson, with the spec section that one about something else breaks."""

    def learned(state: BridgeState, given: RuleInput) -> Effect:
        """A lesson is about the strategy, and quotes what it did from its promotion on, nothing else (R-F5)."""
        record = given.body.record
        if record.hypothesis_id not in (state.strategy_id, _subject(state, given)):
            raise Violation(rule, f"it is about {state.strategy_id}", field="record.hypothesis_id")
        check_known(record.metrics, state.live, "record.metrics", "R-F5")
        for name in record.metrics:
            if name.startswith("live_") and name not in state.live:
                raise Violation("R-F5", "the log does not know this figure", field=f"record.metrics.{name}")
        return Effect()

    return learned


def _subject(state: BridgeState, given: RuleInput) -> str:
    """Return what System A's memory calls the strategy: the debate that approved it, else its own id."""
    known = bridge.life_of(given.context).strategies.get(state.strategy_id)
    return (known.hypothesis_id if known is not None else "") or state.strategy_id


def _withdrawn(_state: BridgeState, given: RuleInput) -> Effect:
    """What is withdrawn is told (R-B12, R-D20)."""
    check_move(given.message, given.context)
    return Effect(owe=(Owe("notice"),))


def _not_withdrawn(_state: BridgeState, _given: RuleInput) -> Effect:
    """A strategy that nobody moves is not withdrawn (R-D20)."""
    return Effect({"is_missed": True})


def _done(state: BridgeState, _given: RuleInput) -> Effect:
    """All that follows is said, or missed."""
    return Effect(outcome=UNMOVED if state.is_missed else state.result)


# ---------------------------------------------------------------- figures and briefs


def request_figures(state: BridgeState, _given: RuleInput) -> Figures:
    """Return the field of RECALL_REQUEST that the recall fixes (6.2)."""
    return {"strategy_id": Exactly(state.strategy_id, f"it is about {state.strategy_id}")}


def withdrawal_figures(state: BridgeState, given: RuleInput) -> Figures:
    """Return the fields of STRATEGY_MOVED that a withdrawal fixes (R-D20)."""
    return move_figures(given.context, state.strategy_id, PRODUCTION, WITHDRAWN)


def notice_figures(state: BridgeState, _given: RuleInput) -> Figures:
    """Return the fields of DEPLOY_NOTICE that a withdrawal fixes (R-B12)."""
    return {
        "action": Exactly("WITHDRAW"),
        "strategy_id": Exactly(state.strategy_id),
        "from_": Exactly(PRODUCTION),
        "to": Exactly(WITHDRAWN),
        "validation_period_days": Exactly(None, since=DERIVED),
    }


def _said(state: BridgeState) -> dict[str, Any]:
    return {
        "figures": dict(state.figures),
        "answer": state.answer.model_dump(mode="json") if state.answer is not None else None,
    }


def _brief(state: BridgeState, given: RuleInput) -> dict[str, Any]:
    """Show what the opener said, what was answered, and the desk."""
    return {**_said(state), **shown(state.strategy_id, given.context)}


def _response_brief(state: BridgeState, given: RuleInput) -> dict[str, Any]:
    """Show besides whether the Operator may disagree (R-F5)."""
    return {**_brief(state, given), "may_dispute": may_dispute(state, given)}


def _lesson_brief(state: BridgeState, given: RuleInput) -> dict[str, Any]:
    """Show System A what was said and what the strategy did; of the desk nothing (R-B11)."""
    known = bridge.life_of(given.context).strategies.get(state.strategy_id)
    spec = known.strategy if known is not None else None
    return {
        **_said(state),
        "subject": state.strategy_id,
        "hypothesis_id": _subject(state, given),
        "strategy": spec.model_dump(mode="json") if spec is not None else None,
        "backtest": dict(known.backtest) if known is not None else {},
        "live": dict(state.live),
    }


# ---------------------------------------------------------------- the tables


def _word(
    kind: type[Message],
    follows: Callable[[Any, RuleInput], Effect],
    missed: str,
    rule: str,
    brief: Callable[[Any, RuleInput], dict[str, Any]] = _brief,
    figures: Callable[[Any, RuleInput], Figures] = nothing,
) -> Step:
    """Return the Operator's word, for which it has a day; without it nothing follows."""
    return Step(
        phase=ASKED,
        seat=OPERATOR,
        channel=BRIDGE,
        moves={kind: Move((FOLLOWING,), follows)},
        missed=Missed(missed, "void", Move((ENDED,), ends(UNANSWERED))),
        rule=rule,
        within=hours(24),
        grace=hours(1),
        figures=figures,
        brief=brief,
    )


def _lesson(kind: type[Message], missed: str, rule: str) -> Step:
    """Return the Evolver's lesson, for which it has a day."""
    return Step(
        phase=FOLLOWING,
        seat=EVOLVER,
        channel=REPORTS,
        moves={kind: Move((FOLLOWING,), _about(rule))},
        missed=Missed(missed, "void", Move((FOLLOWING,), passes)),
        rule=rule,
        within=hours(24),
        grace=hours(1),
        brief=_lesson_brief,
    )


WITHDRAWAL: Final[Mapping[str, Step]] = {
    "withdrawal": move(
        FOLLOWING,
        Move((FOLLOWING,), _withdrawn),
        Move((FOLLOWING,), _not_withdrawn),
        _brief,
        withdrawal_figures,
        WITHDRAWN_WITHIN,
    ),
    "notice": notice(FOLLOWING, Move((FOLLOWING,), passes), _brief, notice_figures, WITHDRAWN_WITHIN),
}
"""What a withdrawal takes, in a feedback and in a recall."""


def _machine(kind: str, rule: str, opener: type[Message], start: Start, steps: Mapping[str, Step]) -> Machine:
    return Machine(
        kind=kind,
        system="B",
        phases=(ASKED, FOLLOWING),
        rule=rule,
        start={opener: start},
        steps={**steps, **WITHDRAWAL},
        rulings={STOP: Move((ENDED,), ends("stopped"))},
        dry={FOLLOWING: Move((ENDED,), _done)},
        parent_of=session_of,
    )


FEEDBACK: Final = _machine(
    bridge.FEEDBACK_KIND,
    "6.1",
    PerformanceFeedback,
    Start(open_feedback, (ASKED,)),
    {
        "response": _word(FeedbackResponse, _responded, "R-B9", "6.1", _response_brief),
        "record": _lesson(CausalRecord, "R-B9", "6.1"),
    },
)

RECALL: Final = _machine(
    bridge.RECALL_KIND,
    "6.2",
    RecallFlag,
    Start(open_recall, (ASKED,)),
    {
        "request": _word(RecallRequest, _requested, "R-B10", "6.2", figures=request_figures),
        "reflection": _lesson(Reflection, "R-B10", "6.2"),
    },
)
