"""What passes between the systems: metrics, feedback, recalls (spec 6, R-B9, R-B10, R-D20)."""

from __future__ import annotations

from typing import ClassVar, Literal

from moot.protocols.kernel.fields import Day, Minted, Numbers, Several
from moot.protocols.kernel.message import Count, Ident, Message, Number, Part, Text


class Realised(Part):
    """How a strategy fared: P&L of the day in dollars, the rest over its last `n` sessions, 30 at most.

    Below 20 sessions there is no ratio (R-F6).
    """

    pnl: Number
    sharpe_30d: Number | None
    n: Count
    max_drawdown: Number
    trades: Count


class MetricsRecorded(Message):
    """Record a day of a strategy, 15 minutes after the close. Guardian, #bridge (R-D20)."""

    case_field: ClassVar[str] = "session_id"
    type: Literal["METRICS_RECORDED"] = "METRICS_RECORDED"
    session_id: Minted = ""
    date: Day
    strategy_id: Ident
    realised: Realised


class PerformanceFeedback(Message):
    """Say that a strategy does not do what it promised. Evolver, #bridge (spec 6.1, R-B9)."""

    case_field: ClassVar[str] = "feedback_id"
    type: Literal["PERFORMANCE_FEEDBACK"] = "PERFORMANCE_FEEDBACK"
    feedback_id: Minted = ""
    session_id: Minted = ""
    strategy_id: Ident
    expected_vs_actual: Numbers
    proposed_adjustment: Text


class FeedbackResponse(Message):
    """Agree and act, or disagree with evidence. Operator, #bridge (spec 6.1, R-B9)."""

    case_field: ClassVar[str] = "feedback_id"
    type: Literal["FEEDBACK_RESPONSE"] = "FEEDBACK_RESPONSE"
    feedback_id: Minted = ""
    stance: Literal["agree", "disagree"]
    action: Literal["adjust", "withdraw", "none"]
    counter_evidence: Several[Text] = ()


class RecallRequest(Message):
    """Ask System A to evaluate a production strategy anew. Operator, #bridge (spec 6.2, R-B10)."""

    case_field: ClassVar[str] = "recall_id"
    type: Literal["RECALL_REQUEST"] = "RECALL_REQUEST"
    recall_id: Minted = ""
    strategy_id: Ident
    reason: Text
