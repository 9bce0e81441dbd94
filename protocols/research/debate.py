"""One debate over one hypothesis: from HYPOTHESIS to its last record (spec 1.1 to 1.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from moot.protocols.kernel.case import CaseState, CaseType, Decision, changed, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import NO_GRACE, Obligation
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.kernel.table import illegal
from moot.protocols.kernel.times import UTC
from moot.protocols.research.debate_table import (
    AFTER_REVISE,
    ARENA,
    BUDGETED,
    CLEAR_SIGNAL,
    CYCLE_BUDGET,
    DUTIES,
    MISSED,
    MOVES,
    REVISED,
    Phase,
)
from moot.protocols.research.judging import (
    check_backtest,
    check_extension,
    check_request,
    judge,
    may_extend,
    second_revise,
)
from moot.protocols.research.messages import (
    BacktestResult,
    CausalEntry,
    CausalRecord,
    ExtendDebate,
    FinalVerdict,
    Hypothesis,
    Reflection,
    RevisedHypothesis,
    ReviseRequest,
    RiskAssessment,
    Strategy,
    StrategyMoved,
    Verdict,
)

KIND: Final = "debate"
BUDGET_TAIL: Final = f"/budget/{REFEREE}"
"""End of the id of the obligation that the cycle's budget is."""


@dataclass(frozen=True, kw_only=True)
class DebateState(CaseState):
    """State of a debate.

    Attributes:
        lineage_id: Shared by hypotheses that continue each other over cycles (R-D11).
        regime: The market's regime that the hypothesis names, None when it names none (R-F10).
        strategy: The strategy as it stands, after a revision the revised one; None in a linked case.
        rounds: Assessments so far, revisions aside.
        assessed: Whether an assessment of the present text stands (R-D10).
        rating: The last assessment's rating.
        flawed: Whether a fatal flaw stands: one that the last assessment of the present text names (R-F9).
        extended: Whether a third round was opened.
        revised: Whether a REVISE was in effect.
        ended_by: Criterion of 1.4 that ended the exchange: rounds, confidence, concede, timeout; "" before.
        verdict: The verdict in effect, "" before.
        reason: Why it was ruled, when it was.
        confidence: Confidence of the last verdict.
        quality: Debate quality of the last verdict.
        sharpe: Sharpe ratio of the backtest.
        passed: Whether the backtest passed.
        linked: The ended case that this one reopens (K23).
    """

    lineage_id: str = ""
    regime: str | None = None
    strategy: Strategy | None = None
    rounds: int = 0
    assessed: bool = False
    rating: str = ""
    flawed: bool = False
    extended: bool = False
    revised: bool = False
    ended_by: str = ""
    verdict: str = ""
    reason: str = ""
    confidence: float | None = None
    quality: float | None = None
    sharpe: float | None = None
    passed: bool | None = None
    linked: str | None = None


FIRST: Final = DebateState(
    case_id="", kind=KIND, phase=Phase.ASSESSING_1, anchor_at=datetime(1, 1, 1, tzinfo=UTC)
)
"""What every debate starts from."""


def open_debate(env: Envelope, context: RuleContext, parent: CaseState | None) -> DebateState:
    """Open a debate with a HYPOTHESIS, or a linked one with an OVERRIDE of an ended case (K23)."""
    body = env.body
    if type(body) is Override:
        return _linked(env, body, context)
    assert isinstance(body, Hypothesis)
    if parent is None:
        raise Violation("K9", "a hypothesis belongs to an open cycle", field="cycle_id")
    if body.lineage_id in context.fold_named("research").retired:
        raise Violation("R-D11", f"lineage {body.lineage_id} was retired by the admin", field="lineage_id")
    case_id = body.hypothesis_id
    budget = Obligation(
        case_id + BUDGET_TAIL,
        case_id,
        REFEREE,
        ("RULING",),
        ARENA,
        env.sent_at,
        parent.anchor_at + CYCLE_BUDGET,
        NO_GRACE,
    )
    return evolve(
        FIRST,
        case_id=case_id,
        parent=parent.case_id,
        opened_seq=env.seq,
        anchor_at=parent.anchor_at,
        owed=(DUTIES[Phase.ASSESSING_1].owed(case_id, env), budget),
        lineage_id=body.lineage_id or case_id,
        regime=body.regime,
        strategy=body.strategy,
    )


def _linked(env: Envelope, body: Override, context: RuleContext) -> DebateState:
    if env.case_id != body.case_id:
        raise Violation("K9", f"the envelope names {env.case_id}", field="case_id")
    known = context.fold_named("research").strategies.get(body.case_id)
    if known is None:
        raise Violation("K23", f"{body.case_id} is no debate that ever was", field="case_id")
    if known.verdict == body.verdict:
        raise Violation("K23", f"the verdict is {body.verdict} already", field="verdict")
    case_id = body.override_id
    phase = Phase.BACKTESTING if body.verdict == "APPROVE" else Phase.REFLECTING
    return DebateState(
        case_id=case_id,
        kind=KIND,
        phase=phase,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        owed=(DUTIES[phase].owed(case_id, env),),
        lineage_id=known.lineage_id,
        regime=known.regime,
        strategy=known.strategy,
        verdict=body.verdict,
        reason="override",
        linked=body.case_id,
    )


def _enter(state: DebateState, phase: str, env: Envelope, **changes: Any) -> DebateState:
    """Move to a phase and owe what its row says."""
    changes["phase"] = phase
    if phase == Phase.ENDED:
        changes["owed"] = ()
    else:
        owed = DUTIES[phase].owed(state.case_id, env)
        changes["owed"] = (owed, state.owed[-1]) if phase in BUDGETED else (owed,)
    return changed(state, changes)


def _enter_judging(state: DebateState, env: Envelope, ended_by: str, **changes: Any) -> DebateState:
    """Owe the verdict; an extension only where R-D5 leaves room for one."""
    is_open = may_extend(state.extended, ended_by, env.sent_at - state.anchor_at)
    duty = DUTIES[Phase.JUDGING].owed(state.case_id, env, None if is_open else ("VERDICT",))
    if state.extended:
        duty = _renamed(duty, "verdict-3")
    changes["phase"] = Phase.JUDGING
    changes["ended_by"] = ended_by
    changes["owed"] = (duty, state.owed[-1])
    return changed(state, changes)


def _renamed(obligation: Obligation, step: str) -> Obligation:
    """Name the second time a phase is entered, so that ids never repeat within a case."""
    return obligation._replace(id=f"{obligation.case_id}/{step}/{obligation.seat}")


def _assess(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    body = env.body
    assert isinstance(body, RiskAssessment)
    rounds = state.rounds + 1
    changes: dict[str, Any] = {**_assessed(body), "rounds": rounds}
    if body.confidence > CLEAR_SIGNAL:
        return _enter_judging(state, env, "confidence", **changes)
    if to == Phase.JUDGING:
        return _enter_judging(state, env, "rounds", **changes)
    return _enter(state, to, env, **changes)


def _assessed(body: RiskAssessment) -> dict[str, Any]:
    return {"assessed": True, "rating": body.risk_rating, "flawed": bool(body.fatal_flaws)}


def _rebut(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    return _enter(state, to, env)


def _concede(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    return _enter_judging(state, env, "concede")


def _extend(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    assert isinstance(env.body, ExtendDebate)
    check_extension(state, env.body, env.sent_at - state.anchor_at)
    return _enter(state, to, env, extended=True, ended_by="")


def _judge(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    body = env.body
    assert isinstance(body, Verdict) or isinstance(body, FinalVerdict)  # noqa: SIM101  # a union costs more
    phase = judge(state, body, env.sent_at - state.anchor_at, conservative=context.conservative_a)
    changes: dict[str, Any] = {"confidence": body.confidence, "quality": body.debate_quality}
    if phase == Phase.REQUESTING:
        return _enter(state, phase, env, revised=True, **changes)
    return _enter(state, phase, env, verdict=body.verdict, **changes)


def _request(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    assert isinstance(env.body, ReviseRequest)
    check_request(env.body)
    return _enter(state, to, env)


def _revise(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    assert isinstance(env.body, RevisedHypothesis)
    return _enter(state, to, env, strategy=env.body.strategy, assessed=False, flawed=False)


def _reassess(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    assert isinstance(env.body, RiskAssessment)
    return _enter(state, to, env, **_assessed(env.body))


def _backtest(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    body = env.body
    assert isinstance(body, BacktestResult)
    check_backtest(body)
    phase = Phase.MOVING if body.passed else Phase.RECORDING
    return _enter(state, phase, env, passed=body.passed, sharpe=body.metrics.sharpe)


def _move(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    body = env.body
    assert isinstance(body, StrategyMoved)
    if body.to != "candidates":
        raise Violation("R-B11", "System A moves strategies to candidates only", field="to")
    if body.hypothesis_id not in ("", state.case_id):
        raise Violation("R-D20", f"it comes from {state.case_id}", field="hypothesis_id")
    if body.strategy is not None and body.strategy != state.strategy:
        raise Violation("R-D20", "it is not the strategy that was approved", field="strategy")
    return _enter(state, to, env)


def _record(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    body = env.body
    assert isinstance(body, CausalRecord)
    kind = "success" if state.passed else "failure"
    if body.record.kind != kind:
        raise Violation("R-D15", f"the backtest was a {kind}", field="record.kind")
    if state.sharpe is not None and body.record.metrics.get("test_sharpe", state.sharpe) != state.sharpe:
        why = f"the Sharpe ratio of the test is {state.sharpe}"
        raise Violation("R-D15", why, field="record.metrics.test_sharpe")
    _check_subject(state, body.record)
    return _enter(state, to, env, outcome="approved" if state.passed else "backtest_failed")


def _reflect(state: DebateState, env: Envelope, context: RuleContext, to: str) -> DebateState:
    body = env.body
    assert isinstance(body, Reflection)
    if body.record.kind != "failure":
        raise Violation("R-D13", "a rejection is a failure, whatever it taught", field="record.kind")
    _check_subject(state, body.record)
    return _enter(state, to, env, outcome="rejected")


def _check_subject(state: DebateState, record: CausalEntry) -> None:
    """Check that a record tells of this debate, or of the one that it reopens, where it says (R-D13).

    Raises:
        Violation: It tells of another.
    """
    if record.hypothesis_id not in (None, state.case_id, state.linked):
        why = f"the record is about {state.linked or state.case_id}"
        raise Violation("R-D13", why, field="record.hypothesis_id")
    if record.lineage_id not in (None, state.lineage_id):
        raise Violation("R-D13", f"its lineage is {state.lineage_id}", field="record.lineage_id")
    strategy = state.strategy
    if strategy is not None and record.archetype not in (None, strategy.archetype):
        raise Violation("R-D13", f"its archetype is {strategy.archetype}", field="record.archetype")


GUARDS: Final[dict[str, Callable[[DebateState, Envelope, RuleContext, str], DebateState]]] = {
    "assess": _assess,
    "rebut": _rebut,
    "concede": _concede,
    "extend": _extend,
    "judge": _judge,
    "request": _request,
    "revise": _revise,
    "reassess": _reassess,
    "backtest": _backtest,
    "move": _move,
    "record": _record,
    "reflect": _reflect,
}


def step(state: DebateState, env: Envelope, context: RuleContext) -> DebateState:
    """Apply a message of a seat or an admin.

    Raises:
        Violation: The table lacks it in this phase, or its guard refuses it.
    """
    body = env.body
    move = MOVES.get((state.phase, body.type))
    if move is None or env.author != DUTIES[state.phase].seat:
        return _off_table(state, env)
    if move.round is not None and body.round != move.round:  # type: ignore[attr-defined]
        raise Violation("1.4", f"this is round {move.round}", field="round")
    return GUARDS[move.guard](state, env, context, move.to)


def _off_table(state: DebateState, env: Envelope) -> DebateState:
    """Handle what no row allows: the overrides of an admin, second revisions, and the rest."""
    body = env.body
    if type(body) is Override:
        return _override(state, env, body)
    if type(body) is ReviseRequest and state.phase in AFTER_REVISE:
        raise second_revise("a second REVISE_REQUEST")
    if (
        (type(body) is Verdict or type(body) is FinalVerdict)
        and body.verdict == "REVISE"
        and state.phase in REVISED
    ):
        raise second_revise(f"a second REVISE, by {body.type}")
    if type(body) is ExtendDebate and state.phase in (Phase.REBUTTING_3, Phase.ASSESSING_3):
        raise Violation("R-D5", "a debate is extended once; three rounds are the cap")
    raise illegal(state, env, "1.1")


def _override(state: DebateState, env: Envelope, body: Override) -> DebateState:
    if body.case_id != state.case_id:
        raise Violation("K9", f"the envelope names {state.case_id}", field="case_id")
    if state.phase not in BUDGETED and body.verdict == state.verdict:
        raise Violation("K23", f"the verdict is {body.verdict} already", field="verdict")
    phase = Phase.BACKTESTING if body.verdict == "APPROVE" else Phase.REFLECTING
    duty = DUTIES[phase].owed(state.case_id, env)
    if state.phase not in BUDGETED:
        duty = _renamed(duty, f"{DUTIES[phase].step}-{env.seq}")
    return evolve(
        state, phase=phase, owed=(duty,), verdict=body.verdict, reason="override", passed=None, sharpe=None
    )


def otherwise(state: DebateState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when an obligation of this debate is missed (R-D10)."""
    return MISSED[state.phase].decision


def rule(
    state: DebateState, decision: Decision, env: Envelope, context: RuleContext, obligation: Obligation | None
) -> DebateState:
    """Apply a ruling: a missed duty, the consequence of a violation, the budget, or a human STOP."""
    if decision.outcome == "stop":
        return _enter(state, Phase.ENDED, env, outcome="stopped", reason=decision.reason)
    if decision.outcome == "REJECT":
        return _enter(state, Phase.ENDED, env, outcome="rejected", verdict="REJECT", reason=decision.reason)
    to = MISSED[state.phase].to
    if to == Phase.JUDGING:
        return _enter_judging(state, env, "timeout")
    if to == Phase.ENDED:
        outcome = {Phase.RECORDING: "approved" if state.passed else "backtest_failed"}.get(
            Phase(state.phase), "rejected"
        )
        return _enter(state, to, env, outcome=outcome)
    return _enter(state, to, env)


def discharge(state: DebateState, obligation: Obligation, context: RuleContext) -> Message:
    """Make the ruling that the cycle's budget asks for (R-D1)."""
    return Ruling(
        obligation_id=None,
        case_id=state.case_id,
        outcome="REJECT",
        reason="cycle_budget",
        rule="R-D1",
        of_seq=None,
    )


def _parent_of(body: Message) -> str | None:
    return body.cycle_id if type(body) is Hypothesis else None


DEBATE: Final = CaseType(
    kind=KIND,
    openers=("HYPOTHESIS", "OVERRIDE"),
    open=open_debate,
    step=step,
    otherwise=otherwise,
    rule=rule,
    discharge=discharge,
    parent_of=_parent_of,
    system="A",
)
