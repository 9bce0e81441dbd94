"""One debate over one hypothesis: its state and its rules (spec 1.1 to 1.4); `debate_machine` is their table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from moot.protocols.kernel.case import CaseState, evolve
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import DERIVED
from moot.protocols.kernel.frozen import freeze_object
from moot.protocols.kernel.steps import Effect, Owe, RuleInput, illegal
from moot.protocols.kernel.times import UTC
from moot.protocols.research.debate_table import Phase
from moot.protocols.research.grounds import CLEAR
from moot.protocols.research.judging import (
    check_backtest,
    check_extension,
    check_request,
    judge,
    second_revise,
)
from moot.protocols.research.messages import CausalEntry, Strategy

KIND: Final = "debate"


@dataclass(frozen=True, kw_only=True)
class DebateState(CaseState):
    """State of a debate.

    Attributes:
        lineage_id: Shared by hypotheses that continue each other over cycles (R-D11).
        regime: The market's regime that the hypothesis names, None when it names none (R-F10).
        strategy: The strategy as it stands, changed by a revision or in a rebuttal.
        proposed: The strategy as the hypothesis had it; None in a linked case.
        rounds: Assessments so far, revisions aside.
        assessed: Whether an assessment of the present text stands (R-D10).
        rating: The last assessment's rating.
        scores: The last assessment's scores of the strategy as it stands, by criterion; None before there is one.
        flawed: Whether a fatal flaw stands: one that the last assessment of the present text names (R-F9).
        extended: Whether a third round was opened.
        revised: Whether a REVISE was in effect.
        ended_by: Criterion of 1.4 that ended the exchange: rounds, confidence, concede, timeout; "" before.
        verdict: The verdict in effect, "" before.
        reason: Why it was ruled, when it was.
        alpha: Score of the argument for the strategy, by the last verdict.
        risk: Score of the argument against it.
        confidence: Confidence of the last verdict.
        quality: Debate quality of the last verdict.
        tested: Sharpe ratio, drawdown and trades of the backtest, by these names; None before it.
        passed: Whether the backtest passed.
        linked: The ended case that this one reopens (K23).
    """

    lineage_id: str = ""
    regime: str | None = None
    strategy: Strategy | None = None
    proposed: Strategy | None = None
    rounds: int = 0
    assessed: bool = False
    rating: str = ""
    scores: Mapping[str, float] | None = None
    flawed: bool = False
    extended: bool = False
    revised: bool = False
    ended_by: str = ""
    verdict: str = ""
    reason: str = ""
    alpha: float | None = None
    risk: float | None = None
    confidence: float | None = None
    quality: float | None = None
    tested: Mapping[str, float] | None = None
    passed: bool | None = None
    linked: str | None = None

    @property
    def sharpe(self) -> float | None:
        """Return the Sharpe ratio of the backtest; None before it."""
        return self.tested["sharpe"] if self.tested is not None else None


FIRST: Final = DebateState(
    case_id="", kind=KIND, phase=Phase.ASSESSING_1, anchor_at=datetime(1, 1, 1, tzinfo=UTC)
)
"""What every debate starts from."""


# ---------------------------------------------------------------- how it opens


def opened(given: RuleInput) -> DebateState:
    """A HYPOTHESIS opens it in an open cycle, unless its lineage was retired (K9, R-D11)."""
    body, parent = given.body, given.parent
    if parent is None:
        raise Violation("K9", "a hypothesis belongs to an open cycle", field="cycle_id")
    if body.lineage_id in given.context.fold_named("research").retired:
        raise Violation("R-D11", f"lineage {body.lineage_id} was retired by the admin", field="lineage_id")
    return evolve(
        FIRST,
        case_id=body.hypothesis_id,
        parent=parent.case_id,
        opened_seq=given.message.seq,
        anchor_at=parent.anchor_at,
        lineage_id=body.lineage_id or body.hypothesis_id,
        regime=body.regime,
        strategy=body.strategy,
        proposed=body.strategy,
    )


def reopened(given: RuleInput) -> DebateState:
    """An OVERRIDE of an ended debate opens a linked one (K23)."""
    env, body = given.message, given.body
    if env.case_id != body.case_id:
        raise Violation("K9", f"the envelope names {env.case_id}", field="case_id")
    known = given.context.fold_named("research").strategies.get(body.case_id)
    if known is None:
        raise Violation("K23", f"{body.case_id} is no debate that ever was", field="case_id")
    if known.verdict == body.verdict:
        raise Violation("K23", f"the verdict is {body.verdict} already", field="verdict")
    return DebateState(
        case_id=body.override_id,
        kind=KIND,
        phase=AFTER[body.verdict][0],
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        lineage_id=known.lineage_id,
        regime=known.regime,
        strategy=known.strategy,
        verdict=body.verdict,
        reason="override",
        linked=body.case_id,
    )


AFTER: Final = {"APPROVE": (Phase.BACKTESTING, "backtest"), "REJECT": (Phase.REFLECTING, "reflection")}
"""The phase that follows a verdict, and the step that it opens (spec 1.2)."""


def elapsed(state: DebateState, given: RuleInput) -> timedelta:
    """Return the time since the CYCLE_TRIGGER, outages aside."""
    return given.at - state.anchor_at


# ---------------------------------------------------------------- the exchange


def assessed(_state: DebateState, given: RuleInput) -> Effect:
    """Note what the assessment says of the present text (R-D10, R-F9)."""
    body = given.body
    scores = freeze_object(body.scores.model_dump())
    return Effect(
        {"assessed": True, "rating": body.risk_rating, "scores": scores, "flawed": bool(body.fatal_flaws)}
    )


def first_assessed(state: DebateState, given: RuleInput) -> Effect:
    """A Critic who is sure ends the exchange; else the Explorer answers (spec 1.4, R-D3)."""
    if CLEAR.holds(given.body):
        return round_ended(state, given)
    noted = assessed(state, given)
    return Effect({**noted.changes, "rounds": state.rounds + 1}, Phase.REBUTTING_2)


def answered(_state: DebateState, given: RuleInput) -> Effect:
    """Where the answer changes the strategy, the new one stands, and no assessment of it yet (R-D10)."""
    return revised(_state, given) if given.body.strategy is not None else Effect()


def round_ended(state: DebateState, given: RuleInput) -> Effect:
    """The assessment of the last round ends the exchange (spec 1.4)."""
    ended_by = "confidence" if CLEAR.holds(given.body) else "rounds"
    noted = assessed(state, given)
    return Effect({**noted.changes, "rounds": state.rounds + 1, "ended_by": ended_by}, Phase.JUDGING)


def conceded(_state: DebateState, _given: RuleInput) -> Effect:
    """A concession ends the exchange (spec 1.4)."""
    return Effect({"ended_by": "concede"})


def extended(state: DebateState, given: RuleInput) -> Effect:
    """Open a third round, once (spec 1.3, R-D4 to R-D6)."""
    check_extension(state, given.body, elapsed(state, given))
    return Effect({"extended": True, "ended_by": ""})


def judged(state: DebateState, given: RuleInput) -> Effect:
    """A verdict takes effect, or asks for a revision (spec 1.2, R-D6 to R-D10)."""
    body = given.body
    context = given.context
    phase = judge(
        state,
        body,
        elapsed(state, given),
        conservative=context.conservative_a,
        version=context.version,
    )
    changes = {
        "alpha": body.alpha_argument_score,
        "risk": body.risk_argument_score,
        "confidence": body.confidence,
        "quality": body.debate_quality,
    }
    asked = {"revised": True} if phase is Phase.REQUESTING else {"verdict": body.verdict}
    return Effect({**changes, **asked}, phase)


def finally_judged(state: DebateState, given: RuleInput) -> Effect:
    """The verdict on a revision decides (spec 1.2, R-D9)."""
    if given.body.verdict == "REVISE":
        raise second_revise("a FINAL_VERDICT is APPROVE or REJECT")
    return judged(state, given)


def requested(_state: DebateState, given: RuleInput) -> Effect:
    """A revision is asked for (spec 1.2, R-F8)."""
    check_request(given.body)
    return Effect()


def revised(_state: DebateState, given: RuleInput) -> Effect:
    """The revised text stands, and no assessment of it yet (R-D10)."""
    return Effect({"strategy": given.body.strategy, "assessed": False, "scores": None, "flawed": False})


# ---------------------------------------------------------------- after the verdict


def backtested(_state: DebateState, given: RuleInput) -> Effect:
    """A backtest that passes makes a candidate (R-D15)."""
    body = given.body
    check_backtest(body)
    phase = Phase.MOVING if body.passed else Phase.RECORDING
    found = body.metrics
    tested = {"sharpe": found.sharpe, "drawdown": found.max_drawdown, "trades": found.total_trades}
    return Effect({"passed": body.passed, "tested": freeze_object(tested)}, phase)


def moved(state: DebateState, given: RuleInput) -> Effect:
    """What is moved is what was approved, from where it stands (R-D20)."""
    body = given.body
    if body.hypothesis_id not in ("", state.case_id):
        raise Violation("R-D20", f"it comes from {state.case_id}", field="hypothesis_id")
    if body.strategy is not None and body.strategy != state.strategy:
        raise Violation("R-D20", "it is not the strategy that was approved", field="strategy")
    stands = given.context.fold_named("life").stage_of(body.strategy_id)
    if given.context.version >= DERIVED and body.from_ != stands:
        raise Violation("R-D20", f"{body.strategy_id} stands in {stands or 'no store'}", field="from")
    return Effect()


def recorded(state: DebateState, given: RuleInput) -> Effect:
    """The record says what the backtest said (R-D15)."""
    record = given.body.record
    kind = "success" if state.passed else "failure"
    if record.kind != kind:
        raise Violation("R-D15", f"the backtest was a {kind}", field="record.kind")
    _check_subject(state, record)
    return unrecorded(state, given)


def reflected(state: DebateState, given: RuleInput) -> Effect:
    """A rejection is a failure, whatever it taught (R-D13)."""
    record = given.body.record
    if record.kind != "failure":
        raise Violation("R-D13", "a rejection is a failure, whatever it taught", field="record.kind")
    _check_subject(state, record)
    return Effect(outcome="rejected")


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


# ---------------------------------------------------------------- what is refused


def second_request(_state: DebateState, _given: RuleInput) -> Effect:
    """One revision is the cap (R-D9)."""
    raise second_revise("a second REVISE_REQUEST")


def second_verdict(state: DebateState, given: RuleInput) -> Effect:
    """A verdict of REVISE is the second one, whatever its type; another is no move here (R-D9)."""
    if given.body.verdict == "REVISE":
        raise second_revise(f"a second REVISE, by {given.body.type}")
    raise illegal(state, given.message, "1.1")


def three_rounds(_state: DebateState, _given: RuleInput) -> Effect:
    """A debate is extended once (R-D5)."""
    raise Violation("R-D5", "a debate is extended once; three rounds are the cap")


# ---------------------------------------------------------------- people, silence, rulings


def overridden(state: DebateState, given: RuleInput) -> Effect:
    """An admin's verdict takes effect in any phase (K23)."""
    body = given.body
    if body.case_id != state.case_id:
        raise Violation("K9", f"the envelope names {state.case_id}", field="case_id")
    changes = {"verdict": body.verdict, "reason": "override", "passed": None, "tested": None}
    return Effect(changes, AFTER[body.verdict][0])


def overridden_again(state: DebateState, given: RuleInput) -> Effect:
    """Where a verdict is in effect, an admin's is another one, and what it makes owed is named after it (K23)."""
    effect, verdict = overridden(state, given), given.body.verdict
    if verdict == state.verdict:
        raise Violation("K23", f"the verdict is {verdict} already", field="verdict")
    return replace(effect, owe=(Owe(AFTER[verdict][1], given.message.seq),))


def silent(_state: DebateState, _given: RuleInput) -> Effect:
    """Silence ends the exchange; the Evolver judges what is there (spec 1.4, R-D10)."""
    return Effect({"ended_by": "timeout"})


def unrecorded(state: DebateState, _given: RuleInput) -> Effect:
    """The debate ends as its backtest did."""
    return Effect(outcome="approved" if state.passed else "backtest_failed")


def rejected(_state: DebateState, given: RuleInput) -> Effect:
    """The referee rules REJECT (R-D7 to R-D10, R-D22)."""
    return Effect({"verdict": "REJECT", "reason": given.body.reason}, outcome="rejected")


def stopped(_state: DebateState, given: RuleInput) -> Effect:
    """A human STOP ends it without a verdict (K21)."""
    return Effect({"reason": given.body.reason}, outcome="stopped")
