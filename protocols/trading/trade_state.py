"""The state of a trade, and what its rules have in common (K11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import Exactly, Figures
from moot.protocols.kernel.message import Message
from moot.protocols.trading.messages import Order
from moot.protocols.trading.messages.deployments import OrderType
from moot.protocols.trading.messages.desk import Side

KIND: Final = "trade"

ORDERING, EXECUTING, CANCELLING, FLATTENING = "ordering", "executing", "cancelling", "flattening"
HALTED, STOPPED, NOT_ORDERED, UNANSWERED = "halted", "stopped", "not_ordered", "unanswered"
NO_ORDER: Final = "no_order"
FLATTENED, NOT_FLATTENED = "flattened", "not_flattened"


@dataclass(frozen=True, kw_only=True)
class TradeState(CaseState):
    """State of a trade.

    The session reads of an ended one: `outcome` (filled, cancelled, rejected, no_order, not_ordered, unanswered,
    halted, flattened, not_flattened, stopped), `strategy_id`, `symbol`.

    Attributes:
        strategy_id: Whose signal it was.
        symbol: What is traded.
        side: BUY or SELL, of the signal.
        quantity: Shares that the signal wants; while flattening those to flatten.
        order_type: The signal's.
        limit_price: The signal's price in dollars, if any.
        confidence: The signal's.
        is_shrinking: Whether the signal was to take something off a position, and no more.
        order: The order that is under way; None between orders.
        ordered_seq: Its seq.
        orders: Orders so far.
        executions: EXECUTIONs that were owed so far.
        filled: Shares of the order under way that were filled, as of the last legal EXECUTION.
        after_halt: Shares of the first order that were filled after a halt.
        is_flattening: Whether the first order's late fill is being flattened.
    """

    strategy_id: str
    symbol: str
    side: Side
    quantity: int
    order_type: OrderType
    limit_price: float | None = None
    confidence: float = 1.0
    is_shrinking: bool = False
    order: Order | None = None
    ordered_seq: int = 0
    orders: int = 0
    executions: int = 0
    filled: int = 0
    after_halt: int = 0
    is_flattening: bool = False

    @property
    def client_order_id(self) -> str:
        """Return the id of the order under way, or of the next one."""
        return self.order.client_order_id if self.order else f"{self.case_id}-{self.orders + 1}"


def signed(side: Side, quantity: int) -> int:
    """Return a change of a position in signed shares."""
    return quantity if side == "BUY" else -quantity


def check_price(price: float | None, field: str) -> None:
    """Check a price: more than nothing, at most 4 decimals; the book counts no finer.

    Raises:
        Violation: K11, it is none.
    """
    if price is None:
        return
    if price <= 0:
        raise Violation("K11", "a price is more than nothing", field=field)
    if round(price, 4) != price:
        raise Violation("K11", "a price has at most 4 decimals", field=field)


def here(body: Message | None, **fields: str) -> Figures:
    """Hold fields to what they are in this trade, in words of its own."""
    return {
        name: Exactly(value, f"it is {value} here, not {getattr(body, name, None)}")
        for name, value in fields.items()
    }


def placed(state: TradeState) -> Order:
    """Return the order under way."""
    assert state.order is not None
    return state.order
