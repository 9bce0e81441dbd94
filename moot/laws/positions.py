"""What the desk holds, by its executions alone."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from moot.laws.law import Findings, Message
from moot.laws.recent import Recent

UNIT: Final = 10_000
"""Units in a dollar: money is exact in them."""

Position = tuple[str, str]
"""Of a strategy, in a symbol."""


class Order(NamedTuple):
    """An order as it was placed."""

    position: Position
    side: str
    quantity: int


class Positions:
    """Follow signals, orders and executions; prices and money are exact, in 1/10,000 dollar."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.strategies: Recent[str, str] = Recent()
        self.orders: Recent[str, Order] = Recent()
        self.booked: Recent[str, int] = Recent()
        self.held: dict[Position, int] = {}
        self.spent = 0

    def signalled(self, message: Message) -> Findings:
        """Note whose a trade is."""
        self.strategies[message["case_id"]] = message["body"]["strategy_id"]
        return ()

    def ordered(self, message: Message) -> Findings:
        """Note an order."""
        body = message["body"]
        self.orders[body["client_order_id"]] = Order(self.position(message), body["side"], body["quantity"])
        return ()

    def executed(self, message: Message) -> Findings:
        """Book an execution; one that is told twice is booked once."""
        body = message["body"]
        if not body["qty_filled"] or body["execution_id"] in self.booked:
            return ()
        self.booked[body["execution_id"]] = message["seq"]
        order = self.orders.get(body["client_order_id"])
        # It is of what it names, also where its order was about something else and a VIOLATION says so.
        position = (order.position[0], body["symbol"]) if order is not None else self.position(message)
        change = signed(body["action"], body["qty_filled"])
        self.held[position] = self.held.get(position, 0) + change
        if not self.held[position]:
            del self.held[position]
        self.spent += change * exact(body["avg_price"]) + exact(body["fee"])
        return ()

    def position(self, message: Message) -> Position:
        """Return the position that a message of a trade is about."""
        body = message["body"]
        strategy = body.get("strategy_id") or self.strategies.get(message["case_id"], "unassigned")
        return strategy, body["symbol"]

    def grows(self, message: Message) -> str:
        """Say which position a SIGNAL or an ORDER opens or makes larger; "" if it makes one smaller."""
        body = message["body"]
        position = self.position(message)
        held = self.held.get(position, 0)
        change = signed(body.get("action") or body["side"], body["quantity"])
        if abs(held + change) <= abs(held) and held * (held + change) >= 0:
            return ""
        return f"changes {held} {position[1]} of {position[0]} by {change}"


def signed(side: str, quantity: int) -> int:
    """Return the change of a position."""
    return quantity if side == "BUY" else -quantity


def exact(dollars: Any) -> int:
    """Return dollars in units of 1/10,000."""
    units: int = round(dollars * UNIT)
    return units
