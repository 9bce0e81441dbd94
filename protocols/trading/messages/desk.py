"""The desk: the trading day, the Trader's rounds, signals, orders, executions."""

from __future__ import annotations

from typing import ClassVar, Literal

from moot.protocols.kernel.fields import Day, Minted, Several
from moot.protocols.kernel.message import Count, Ident, Instant, Message, Number, Part, Share, Text
from moot.protocols.trading.messages.deployments import OrderType

Side = Literal["BUY", "SELL"]
NoOrderReason = Literal[
    "market_closed",
    "position_gone",
    "halted",
    "reduced",
    "below_confidence",
    "session_edge",
    "daily_limit",
    "no_room",
]
"""Why an order is not given (R-F4)."""


class TradingDay(Message):
    """Open a day of the desk, from 09:15 New York time to 09:15 of the next session. Timekeeper, #b-ops (R-D18)."""

    case_field: ClassVar[str] = "session_id"
    type: Literal["TRADING_DAY"] = "TRADING_DAY"
    session_id: Minted = ""
    date: Day
    nominal_at: Instant
    opens_at: Instant
    closes_at: Instant
    ends_at: Instant
    is_early_close: bool


class StrategyFault(Part):
    """A strategy that raised when it was asked for a signal."""

    strategy_id: Ident
    error: Text


class DeskCheck(Message):
    """End a round of the desk, every 15 minutes in session. Trader, #b-desk."""

    case_field: ClassVar[str] = "session_id"
    type: Literal["DESK_CHECK"] = "DESK_CHECK"
    session_id: Minted = ""
    nominal_at: Instant
    strategies: Count
    signals: Count
    faults: Several[StrategyFault] = ()


class RiskParams(Part):
    """How a position is protected; percentages as fractions."""

    stop_loss_pct: Number
    take_profit_pct: Number
    trailing_stop_trigger_pct: Number
    trailing_stop_distance_pct: Number
    max_position_pct: Number
    max_holding_days: Count | None = None
    exit_before_event: bool | None = None


class Signal(Message):
    """Say what a strategy wants traded; opens a trade. Trader, #b-desk.

    `quantity` in whole shares; BUY and SELL change the strategy's signed position by it.
    """

    case_field: ClassVar[str] = "signal_id"
    type: Literal["SIGNAL"] = "SIGNAL"
    signal_id: Minted = ""
    session_id: Minted = ""
    strategy_id: Ident
    symbol: Ident
    action: Literal["BUY", "SELL", "HOLD"]
    quantity: Count
    order_type: OrderType
    limit_price: Number | None = None
    confidence: Share
    reason: Text
    signal_sources: Several[Text] = ()
    risk_params: RiskParams | None = None


class Order(Message):
    """Place an order; logged before the broker is called. Trader, #b-desk (K11)."""

    case_field: ClassVar[str] = "signal_id"
    type: Literal["ORDER"] = "ORDER"
    signal_id: Minted = ""
    client_order_id: Ident
    symbol: Ident
    side: Side
    quantity: Count
    order_type: OrderType
    limit_price: Number | None = None


class NoOrder(Message):
    """Give no order where none need be given, and say why. Trader, #b-desk (R-F4)."""

    case_field: ClassVar[str] = "signal_id"
    type: Literal["NO_ORDER"] = "NO_ORDER"
    signal_id: Minted = ""
    reason: NoOrderReason


class Execution(Message):
    """Book what the broker did: a fact, never refused. Trader, #b-desk (K11).

    `avg_price` in dollars a share, with at most 4 decimals, `fee` in dollars with at most 2; both 0 when nothing
    was filled.
    """

    case_field: ClassVar[str] = "signal_id"
    type: Literal["EXECUTION"] = "EXECUTION"
    signal_id: Minted = ""
    execution_id: Minted = ""
    client_order_id: Ident
    symbol: Ident
    action: Side
    qty_filled: Count
    avg_price: Number
    slippage_bps: Number
    status: Literal["filled", "partial", "cancelled", "rejected"]
    fee: Number = 0.0
    fill_after_halt: bool = False
    alpaca_order_id: Ident | None = None
