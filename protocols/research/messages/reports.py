"""Reports and reflections: what a day and a week showed, and the records that memory is folded from."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from moot.protocols.kernel.fields import Day, Minted, Numbers, Several, Week
from moot.protocols.kernel.message import Count, Ident, Instant, Message, Number, Part, Share, Text


class Window(Part):
    """The time a reflection looked at: after `from`, up to and including `to` (K16)."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    from_: Instant = Field(validation_alias="from", serialization_alias="from")
    to: Instant


class Principle(Part):
    """A lesson that at least three similar failures taught (spec 2.1, R-D13)."""

    principle_id: Minted = ""
    statement: Text
    evidence_count: Count
    confidence: Share
    source_reflections: Several[Ident]
    created: Instant
    last_validated: Instant
    change: Literal["created", "updated"]
    archetype: Ident
    failure_code: Ident
    regime: Ident


class PrincipleSynthesis(Message):
    """Publish the principles a day's records taught. Evolver, #a-report (spec 2.1, R-D13)."""

    case_field: ClassVar[str] = "cycle_id"
    type: Literal["PRINCIPLE_SYNTHESIS"] = "PRINCIPLE_SYNTHESIS"
    cycle_id: Minted = ""
    window: Window
    principles: Several[Principle]


class TopStrategy(Part):
    """The best strategy of a day."""

    id: Ident
    sharpe: Number


class TradingFeedback(Part):
    """What System B's metrics say of the strategies in production.

    `daily_pnl_pct` is the desk's day: equity at the close over equity at the close before, less 1; None on days without
    a session (R-F6).
    """

    production_strategies: Count
    daily_pnl_pct: Number | None
    feedback_insights: Several[Text]


class Spending(Part):
    """What language models came to so far, the worst case of what is under way included (K27).

    Attributes:
        calls: How many calls.
        tokens: Of prompts and answers.
        cost: Micro-USD; None: nothing, as far as is known.
        limit: Micro-USD that the society's models may spend in all; None: no limit.
    """

    calls: Count
    tokens: Count
    cost: Count | None
    limit: Count | None


def _is_none(value: object) -> bool:
    return value is None


class DailyReport(Message):
    """Sum up a day of research. Evolver, #a-report (R-D17).

    `models` are what models had come to when the daily cycle opened; it is left out where none was called.
    """

    type: Literal["DAILY_REPORT"] = "DAILY_REPORT"
    date: Day
    cycles_completed: Count
    strategies_approved: Count
    strategies_rejected: Count
    strategies_revised: Count
    top_strategy: TopStrategy | None
    trading_feedback: TradingFeedback
    tomorrow_priority: Text
    models: Spending | None = Field(default=None, exclude_if=_is_none)


class WeeklyReport(Message):
    """Sum up a week of research. Evolver, #a-report (R-D17)."""

    type: Literal["WEEKLY_REPORT"] = "WEEKLY_REPORT"
    week: Week
    total_cycles: Count
    strategies_approved: Count
    best_strategy_sharpe: Number | None
    architecture_improvements: Several[Text]
    next_week_direction: Text


class ThresholdReview(Message):
    """Measure a week of the Critic's verdicts and recommend. Evolver, #a-arena (spec 2.2, R-D14)."""

    type: Literal["THRESHOLD_REVIEW"] = "THRESHOLD_REVIEW"
    period: Week
    rejects: Count
    wrongly_rejected: Count
    approvals: Count
    failed_backtests: Count
    false_negative_rate: Share
    false_positive_rate: Share
    recommendation: Literal["lower", "raise", "keep"]
    factor: Number


class ThresholdsAdjusted(Message):
    """Answer a THRESHOLD_REVIEW with old and new strictness. Critic, #a-arena (spec 2.2, R-D17)."""

    type: Literal["THRESHOLDS_ADJUSTED"] = "THRESHOLDS_ADJUSTED"
    period: Week
    before: Numbers
    after: Numbers


class VerdictDistribution(Part):
    """How many verdicts of each kind."""

    APPROVE: Count
    REJECT: Count
    REVISE: Count


class MetaReflection(Message):
    """Reflect on the debates themselves. Evolver, #a-report (spec 2.3)."""

    type: Literal["META_REFLECTION"] = "META_REFLECTION"
    period: Week
    total_debates: Count
    verdict_distribution: VerdictDistribution
    avg_debate_quality: Share
    explorer_win_rate: Share
    critic_override_rate: Share
    recommendations: Several[Text]


class CausalEntry(Part):
    """One record of memory: what happened to which hypothesis, and why."""

    record_id: Minted = ""
    at: Instant
    kind: Literal["failure", "success", "timeout", "observation"]
    hypothesis_id: Ident | None
    lineage_id: Ident | None
    seat: Ident | None
    archetype: Ident | None
    failure_code: Ident | None
    regime: Ident | None
    summary: Text
    metrics: Numbers


class CausalRecord(Message):
    """Record what caused an outcome; memory/causal is a fold of these. Evolver or Referee, #a-report."""

    type: Literal["CAUSAL_RECORD"] = "CAUSAL_RECORD"
    record: CausalEntry


class Reflection(Message):
    """Record what an outcome taught; memory/reflections is a fold of these. Evolver or Referee, #a-report."""

    type: Literal["REFLECTION"] = "REFLECTION"
    record: CausalEntry
