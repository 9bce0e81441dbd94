"""Every message of System A, the research society (spec sections 1 to 3).

* `debate`: from hypothesis to verdict, with revision and extension.
* `strategies`: what a strategy is, its backtest, its way through the stores.
* `cycles`: the clockwork and what one micro-cycle leaves behind.
* `reports`: daily and weekly reports, threshold reviews, memory's records.
* `architecture`: the weekly architecture debate.

A message admits what a rule must judge (a FINAL_VERDICT of REVISE, two extra rounds); the case judges it.
"""

from moot.protocols.research.messages.architecture import (
    ApprovedChange,
    ArchitectureCritique,
    ArchitectureProposal,
    ArchitectureRebuttal,
    ArchitectureVerdict,
    ChangeCritique,
    ChangeResponse,
    ProposedChange,
)
from moot.protocols.research.messages.cycles import (
    CycleContext,
    CycleDeferred,
    CycleSkipped,
    CycleTrigger,
    DailySummary,
    MicroCycleReport,
    ResearchNote,
)
from moot.protocols.research.messages.debate import (
    Addressed,
    Concede,
    ExpectedTraits,
    ExtendDebate,
    FinalVerdict,
    Hypothesis,
    Rebuttal,
    RebuttalPoint,
    RevisedHypothesis,
    ReviseRequest,
    RiskAssessment,
    RiskScores,
    Verdict,
)
from moot.protocols.research.messages.reports import (
    CausalEntry,
    CausalRecord,
    DailyReport,
    MetaReflection,
    Principle,
    PrincipleSynthesis,
    Reflection,
    Spending,
    ThresholdReview,
    ThresholdsAdjusted,
    TopStrategy,
    TradingFeedback,
    VerdictDistribution,
    WeeklyReport,
    Window,
)
from moot.protocols.research.messages.strategies import (
    BacktestMetrics,
    BacktestResult,
    Split,
    Strategy,
    StrategyMoved,
)

__all__ = [
    "Addressed",
    "ApprovedChange",
    "ArchitectureCritique",
    "ArchitectureProposal",
    "ArchitectureRebuttal",
    "ArchitectureVerdict",
    "BacktestMetrics",
    "BacktestResult",
    "CausalEntry",
    "CausalRecord",
    "ChangeCritique",
    "ChangeResponse",
    "Concede",
    "CycleContext",
    "CycleDeferred",
    "CycleSkipped",
    "CycleTrigger",
    "DailyReport",
    "DailySummary",
    "ExpectedTraits",
    "ExtendDebate",
    "FinalVerdict",
    "Hypothesis",
    "MetaReflection",
    "MicroCycleReport",
    "Principle",
    "PrincipleSynthesis",
    "ProposedChange",
    "Rebuttal",
    "RebuttalPoint",
    "Reflection",
    "ResearchNote",
    "ReviseRequest",
    "RevisedHypothesis",
    "RiskAssessment",
    "RiskScores",
    "Spending",
    "Split",
    "Strategy",
    "StrategyMoved",
    "ThresholdReview",
    "ThresholdsAdjusted",
    "TopStrategy",
    "TradingFeedback",
    "Verdict",
    "VerdictDistribution",
    "WeeklyReport",
    "Window",
]
