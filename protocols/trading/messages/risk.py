"""Risk: checks, alerts, the deliberation after a WARNING, halts (spec 4.2, R-B4, R-B5)."""

from __future__ import annotations

import operator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from moot.protocols.kernel.fields import Minted, Numbers, Several
from moot.protocols.kernel.message import Count, Ident, Instant, Message, Number, Text

Level = Literal["INFO", "WARNING", "CRITICAL", "HALT"]
Action = Literal["reduce_exposure", "hold", "monitor"]


class RiskCheck(Message):
    """Measure the risk, every 5 minutes in session. Guardian, #b-risk (R-B7).

    Money in dollars; the rest as fractions of the equity, losses and drawdowns negative. All but `marks`,
    `var95` and `correlation` must equal what the book makes of the log and these marks.
    """

    case_field: ClassVar[str] = "session_id"
    type: Literal["RISK_CHECK"] = "RISK_CHECK"
    session_id: Minted = ""
    nominal_at: Instant
    marks: Numbers
    equity: Number
    daily_pnl_usd: Number
    daily_pnl_pct: Number
    exposure: Number
    largest_symbol: Ident | None
    largest_position: Number
    drawdowns: Numbers
    var95: Number
    correlation: Number


class RiskAlert(Message):
    """Raise an alert. Guardian, #b-risk (spec 4.2, R-B7); level HALT halts the desk (R-B5)."""

    case_field: ClassVar[str] = "alert_id"
    type: Literal["RISK_ALERT"] = "RISK_ALERT"
    alert_id: Minted = ""
    session_id: Minted = ""
    level: Level
    metric: Ident
    current_value: Number
    threshold: Number
    message: Text
    action_required: Literal["none", "reduce_exposure", "halt_trading"]
    affected_strategies: Several[Ident] = ()


class RiskDiscussion(Message):
    """Propose what to do about a WARNING. Operator, #b-ops (spec 4.2)."""

    case_field: ClassVar[str] = "alert_id"
    type: Literal["RISK_DISCUSSION"] = "RISK_DISCUSSION"
    alert_id: Minted = ""
    proposed_action: Action
    reason: Text


class RiskProjection(Message):
    """Project where the risk goes. Guardian, #b-ops (spec 4.2, R-B4)."""

    case_field: ClassVar[str] = "alert_id"
    type: Literal["RISK_PROJECTION"] = "RISK_PROJECTION"
    alert_id: Minted = ""
    trend: Literal["increasing", "stable", "accelerating", "decreasing"]
    projection: Text


class Feasibility(Message):
    """Say whether the proposed action can be executed, and what it costs. Trader, #b-ops (spec 4.2)."""

    case_field: ClassVar[str] = "alert_id"
    type: Literal["FEASIBILITY"] = "FEASIBILITY"
    alert_id: Minted = ""
    feasible: bool
    cost_bps: Number
    note: Text


class RiskDecision(Message):
    """Decide what is done about an alert. Operator, #b-ops (spec 4.2, R-B4).

    Who waits says for what and until when; then the risk is discussed anew (R-F16).
    """

    case_field: ClassVar[str] = "alert_id"
    type: Literal["RISK_DECISION"] = "RISK_DECISION"
    alert_id: Minted = ""
    action: Action
    reason: Text
    waits_for: Text | None = None
    until: Instant | None = None


class Halt(Message):
    """Halt the desk. Guardian, admin, or Operator while the Guardian is silent, #b-risk (R-B5, R-B13)."""

    case_field: ClassVar[str] = "halt_id"
    type: Literal["HALT"] = "HALT"
    halt_id: Minted = ""
    session_id: Minted = ""
    reason: Text
    by: Ident


class Resume(Message):
    """Ask to resume trading, or what an escalation made conservative. Operator or admin, #b-ops (R-B5, R-F2).

    `lifts` names every reason that the halt stands on, word for word; a halt with one reason may leave it out (R-G12).
    """

    case_field: ClassVar[str] = "halt_id"
    type: Literal["RESUME"] = "RESUME"
    halt_id: Minted = ""
    reason: Text
    lifts: Annotated[Several[Text], Field(exclude_if=operator.not_)] = ()


class ResumeConfirmed(Message):
    """Confirm that trading may go on. Guardian, or an admin while it is silent, #b-risk (R-B5, R-B13)."""

    case_field: ClassVar[str] = "halt_id"
    type: Literal["RESUME_CONFIRMED"] = "RESUME_CONFIRMED"
    halt_id: Minted = ""
    checks: Several[Text]


class OvernightRiskCheck(Message):
    """Measure the risk while the exchange is closed, every 12 hours. Guardian, #b-risk."""

    case_field: ClassVar[str] = "session_id"
    type: Literal["OVERNIGHT_RISK_CHECK"] = "OVERNIGHT_RISK_CHECK"
    session_id: Minted = ""
    nominal_at: Instant
    exposure: Number
    largest_position: Number
    var95: Number


class RecallFlag(Message):
    """Flag a production strategy whose realised Sharpe ratio is negative. Guardian, #b-risk (R-B10).

    The ratio is that of its last `n` sessions in production, 30 at most (R-F6).
    """

    case_field: ClassVar[str] = "recall_id"
    type: Literal["RECALL_FLAG"] = "RECALL_FLAG"
    recall_id: Minted = ""
    session_id: Minted = ""
    strategy_id: Ident
    sharpe: Number
    n: Count
