"""What the Operator says at set times: checks, summaries, reports."""

from __future__ import annotations

from typing import ClassVar, Literal

from moot.protocols.kernel.fields import Day, Minted, Numbers, Several, Week
from moot.protocols.kernel.message import Count, Ident, Instant, Message, Number, Part, Share, Text

RiskStatus = Literal["NORMAL", "WARNING", "CRITICAL", "HALTED"]


class PreMarketCheck(Message):
    """Check the desk before the open, 09:15 New York time. Operator, #b-ops."""

    case_field: ClassVar[str] = "session_id"
    type: Literal["PRE_MARKET_CHECK"] = "PRE_MARKET_CHECK"
    session_id: Minted = ""
    checks: Several[Text]


class CheckNewStrategies(Message):
    """Name strategies that were not considered yet. Operator, #b-ops (spec 4.1)."""

    case_field: ClassVar[str] = "session_id"
    type: Literal["CHECK_NEW_STRATEGIES"] = "CHECK_NEW_STRATEGIES"
    session_id: Minted = ""
    nominal_at: Instant
    found: Several[Ident] = ()


class MarketClose(Message):
    """Close the session's books at the closing prices. Operator, #b-ops."""

    case_field: ClassVar[str] = "session_id"
    type: Literal["MARKET_CLOSE"] = "MARKET_CLOSE"
    session_id: Minted = ""
    date: Day
    closes: Numbers
    equity: Number
    pnl_usd: Number
    pnl_pct: Number
    trades: Count


class TradingSummary(Message):
    """Sum up the session so far, every 2 hours. Operator, #b-report."""

    case_field: ClassVar[str] = "session_id"
    type: Literal["TRADING_SUMMARY"] = "TRADING_SUMMARY"
    session_id: Minted = ""
    period: Text
    pnl_usd: Number
    pnl_pct: Number
    trades: Count
    wins: Count
    losses: Count
    active_strategies: Several[Ident]
    risk_status: RiskStatus


class Attribution(Part):
    """What a strategy contributed, as a fraction of the opening equity."""

    id: Ident
    pnl_pct: Number
    trades: Count


class Staged(Part):
    """A strategy that is traded on paper; its Sharpe ratio over `n` sessions is None below 20 (R-F6)."""

    id: Ident
    days_in_staging: Count
    staging_sharpe: Number | None
    n: Count


class DailyTradingReport(Message):
    """Report the day, 30 minutes after the close. Operator, #b-report.

    Ratio and drawdown are those of the last `n` sessions under this society, 30 at most; below 20 there is no ratio
    (R-F6).
    """

    case_field: ClassVar[str] = "session_id"
    type: Literal["DAILY_TRADING_REPORT"] = "DAILY_TRADING_REPORT"
    session_id: Minted = ""
    date: Day
    pnl_usd: Number
    pnl_pct: Number
    cumulative_pnl_pct: Number
    sharpe_30d: Number | None
    max_dd_30d: Number
    n: Count
    total_trades: Count
    win_rate: Share | None
    strategy_attribution: Several[Attribution]
    staging_strategies: Several[Staged]
    recall_flags: Several[Ident]


class WeeklyTradingReport(Message):
    """Report the week, Saturday 10:00 New York time. Operator, #b-report."""

    case_field: ClassVar[str] = "session_id"
    type: Literal["WEEKLY_TRADING_REPORT"] = "WEEKLY_TRADING_REPORT"
    session_id: Minted = ""
    week: Week
    sessions: Count
    pnl_usd: Number
    pnl_pct: Number
    cumulative_pnl_pct: Number
    total_trades: Count
    strategy_attribution: Several[Attribution]
    promotions: Several[Ident]
    recalls: Several[Ident]
