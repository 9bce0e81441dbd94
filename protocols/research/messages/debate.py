"""The debate over one hypothesis: assessment, rebuttal, extension, verdict, revision."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from moot.protocols.kernel.fields import Exact, Minted, Several, Whole
from moot.protocols.kernel.message import Ident, Message, Number, Part, Share, Text
from moot.protocols.research.messages.strategies import Strategy

Decision = Literal["APPROVE", "REJECT", "REVISE"]
"""What a verdict says."""

AssessmentRound = Annotated[Literal[1, 2, 3, "revision"], Exact]
"""The round of a RISK_ASSESSMENT."""

AnswerRound = Annotated[Literal[2, 3], Exact]
"""The round of a REBUTTAL or CONCEDE."""


class ExpectedTraits(Part):
    """What the Explorer expects of a strategy; holding period as (shortest, longest) in days."""

    holding_period_days: tuple[Whole, Whole]
    target_sharpe: Number
    max_drawdown: Number
    win_rate: Share
    asset_class: Ident
    archetype: Ident


class Hypothesis(Message):
    """Open a debate, in the market's regime as the Explorer sees it. Explorer, #a-arena (spec 1.1, R-D2, R-F10)."""

    case_field: ClassVar[str] = "hypothesis_id"
    type: Literal["HYPOTHESIS"] = "HYPOTHESIS"
    hypothesis_id: Minted = ""
    cycle_id: Minted = ""
    lineage_id: Minted = ""
    round: Annotated[Literal[1], Exact] = 1
    statement: Text
    rationale: Text
    strategy: Strategy
    expected_traits: ExpectedTraits
    signal_sources: Several[Text]
    entry_trigger: Text
    exit_trigger: Text
    evidence: Several[Text]
    parent_strategy_id: Ident | None = None
    regime: Ident | None = None


class RiskScores(Part):
    """The Critic's seven scores; 1 is the worst."""

    tail_risk: Share
    overfitting: Share
    execution_risk: Share
    correlation_risk: Share
    signal_decay: Share
    crowding_risk: Share
    event_window_risk: Share


class RiskAssessment(Message):
    """Judge the risk of the hypothesis or of its revision. Critic, #a-arena (spec 1.1, 1.2, R-D3)."""

    case_field: ClassVar[str] = "hypothesis_id"
    type: Literal["RISK_ASSESSMENT"] = "RISK_ASSESSMENT"
    hypothesis_id: Minted = ""
    round: AssessmentRound
    risk_rating: Literal["PASS", "CONDITIONAL_PASS", "REJECT"]
    confidence: Share
    scores: RiskScores
    conditions: Several[Text]
    fatal_flaws: Several[Text]
    reasoning: Text


class RebuttalPoint(Part):
    """One point of the Critic and the answer to it."""

    critique_point: Text
    response: Text
    evidence: Text


class Rebuttal(Message):
    """Answer an assessment point by point. Explorer, #a-arena (spec 1.1, 1.3).

    `strategy` is given when `modifications` are made at once: it is what is debated from here on, and no assessment of
    it stands yet (R-D10). Left out, the strategy stays as it was.
    """

    case_field: ClassVar[str] = "hypothesis_id"
    type: Literal["REBUTTAL"] = "REBUTTAL"
    hypothesis_id: Minted = ""
    round: AnswerRound
    responses: Several[RebuttalPoint]
    modifications: Several[Text]
    strategy: Strategy | None = None


class Concede(Message):
    """Give up the hypothesis instead of rebutting. Explorer, #a-arena (spec 1.4)."""

    case_field: ClassVar[str] = "hypothesis_id"
    type: Literal["CONCEDE"] = "CONCEDE"
    hypothesis_id: Minted = ""
    round: AnswerRound
    reason: Text


class ExtendDebate(Message):
    """Ask for a third round. Evolver, #a-arena (spec 1.3, R-D5)."""

    case_field: ClassVar[str] = "hypothesis_id"
    type: Literal["EXTEND_DEBATE"] = "EXTEND_DEBATE"
    hypothesis_id: Minted = ""
    extra_rounds: Whole
    alpha_argument_score: Share
    risk_argument_score: Share
    reason: Text


class Judgement(Message):
    """What both kinds of verdict say; `debate_quality` is the Evolver's own measure of the exchange."""

    case_field: ClassVar[str] = "hypothesis_id"
    hypothesis_id: Minted = ""
    verdict: Decision
    confidence: Share
    reasoning: Text
    alpha_argument_score: Share
    risk_argument_score: Share
    debate_quality: Share
    conditions: Several[Text]
    next_action: Literal["backtest", "archive", "revise"]

    @property
    def lead(self) -> float:
        """Return by how much the case for it exceeds the one against it, rounded to 6 digits."""
        return round(self.alpha_argument_score - self.risk_argument_score, 6)


class Verdict(Judgement):
    """Decide the debate. Evolver, #a-verdict (spec 1.2, R-D4, R-D7, R-D8)."""

    type: Literal["VERDICT"] = "VERDICT"


class FinalVerdict(Judgement):
    """Decide the revised hypothesis. Evolver, #a-verdict (spec 1.2, R-D9)."""

    type: Literal["FINAL_VERDICT"] = "FINAL_VERDICT"


class ReviseRequest(Message):
    """Say what a revision must fix. Evolver, #a-arena (spec 1.2, R-D22)."""

    case_field: ClassVar[str] = "hypothesis_id"
    type: Literal["REVISE_REQUEST"] = "REVISE_REQUEST"
    hypothesis_id: Minted = ""
    specific_issues: Several[Text]
    suggested_direction: Text
    max_revision_rounds: Whole = 1
    deadline_min: Whole = 15


class Addressed(Part):
    """One issue of a REVISE_REQUEST and what was changed for it."""

    issue: Text
    change: Text


class RevisedHypothesis(Message):
    """Restate the hypothesis after a REVISE. Explorer, #a-arena (spec 1.2)."""

    case_field: ClassVar[str] = "hypothesis_id"
    type: Literal["REVISED_HYPOTHESIS"] = "REVISED_HYPOTHESIS"
    hypothesis_id: Minted = ""
    statement: Text
    rationale: Text
    strategy: Strategy
    addressed: Several[Addressed]
