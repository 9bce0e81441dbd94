"""Trades and halts judged from the raw messages: nothing grows while halted, late fills, limits (R-B5, R-B7, K11)."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from moot.verify.second_money import ZERO, Money, price_of
from moot.verify.second_told import Doubt, Doubts, Told, step_of

EXPOSURE: Final = Decimal("0.80")
TRADES_A_DAY: Final = 50
FLATTEN_WITHIN: Final = timedelta(minutes=10)
FLATTENINGS: Final = 3


class Trade:
    """A signal and its orders.

    Attributes:
        owner: Whose signal it is; `symbol`: of what.
        price: The signal's price, if any.
        ordered_seq: Seq of the order under way, 0 for none; `client_order_id`, `sign`, `quantity`: what it says.
        orders: Orders so far.
        filled: Shares of it that were filled, as of the last EXECUTION that nothing struck out.
        is_cancelling: Whether a halt cancels it.
        late: Shares that were filled after a halt.
        flattening: Shares that are to be flattened, 0 while none are.
    """

    __slots__ = (
        "client_order_id",
        "filled",
        "flattening",
        "is_cancelling",
        "late",
        "ordered_seq",
        "orders",
        "owner",
        "price",
        "quantity",
        "sign",
        "symbol",
    )

    def __init__(self, body: Any) -> None:
        """Start without an order."""
        self.owner: str = body.strategy_id
        self.symbol: str = body.symbol
        self.price: float | None = body.limit_price
        self.ordered_seq = self.quantity = self.sign = self.late = self.flattening = self.orders = 0
        self.filled = 0
        self.client_order_id = ""
        self.is_cancelling = False


def grows(held: int, delta: int) -> bool:
    """Say whether a signed change opens a position or makes it larger."""
    return abs(held + delta) > abs(held) or (held + delta) * held < 0


class Trades:
    """Follows trades and the halt.

    Attributes:
        halted: Seq of the halt in force, 0 for none.
        halt_id: Its case.
        halts: Cases of all halts.
    """

    def __init__(self, money: Money) -> None:
        """Start without a halt."""
        self._money = money
        self._open: dict[str, Trade] = {}
        self._late: dict[str, tuple[Told, datetime]] = {}
        self._is_asked = False
        self.halted = 0
        self.halt_id = ""
        self.halts: set[str] = set()

    def due(self, before: datetime) -> Doubts:
        """Name late fills that nobody flattened in time."""
        for case_id, (told, until) in list(self._late.items()):
            if until >= before:
                return
            del self._late[case_id]
            why = f"filled after the halt, and neither flattened nor ruled on: {case_id}"
            yield Doubt("desk", "K11", why, told.seq, told.line)

    # ------------------------------------------------------------ halts

    def halt(self, told: Told) -> Doubts:
        """Take in a HALT, or an alert of that level."""
        if self.halted:
            yield Doubt("desk", "R-B5", f"the desk is halted already, by {self.halt_id}")
            return
        self.halted, self.halt_id, self._is_asked = told.seq, told.case_id, False
        self.halts.add(told.case_id)

    def resume(self, told: Told) -> Doubts:
        """Take in a RESUME or its confirmation."""
        if not self.halted or told.case_id != self.halt_id:
            yield Doubt("desk", "R-B5", f"{told.case_id or 'nothing'} is not halted")
        elif told.body.type == "RESUME":
            self._is_asked = True
        elif not self._is_asked:
            yield Doubt("desk", "R-B5", "nobody asked to resume")
        else:
            self.halted, self.halt_id = 0, ""

    # ------------------------------------------------------------ trades

    def signal(self, told: Told) -> Doubts:
        """Take in a SIGNAL."""
        body = told.body
        trade = self._open[told.case_id] = Trade(body)
        yield from self._may_grow(trade, body.quantity if body.action == "BUY" else -body.quantity)

    def _may_grow(self, trade: Trade, delta: int) -> Doubts:
        held = self._money.quantity(trade.owner, trade.symbol)
        if not grows(held, delta):
            return
        what = f"{delta:+d} {trade.symbol} opens or grows a position of {trade.owner}"
        if self.halted:
            yield Doubt("desk", "R-B5", f"{what}, but the desk is halted since seq {self.halted}")
        elif trade.owner not in self._money.strategies.traded:
            yield Doubt("desk", "R-B12", f"{what}, which is not traded")

    def order(self, told: Told) -> Doubts:
        """Take in an ORDER."""
        trade = self._open.get(told.case_id)
        if trade is None:
            yield Doubt("desk", "K11", f"no SIGNAL of {told.case_id} stands before this order")
            return
        body = told.body
        delta = body.quantity if body.side == "BUY" else -body.quantity
        yield from self._may_grow(trade, delta)
        yield from self._within_limits(trade, body, delta)
        self._late.pop(told.case_id, None)
        trade.ordered_seq, trade.client_order_id = told.seq, body.client_order_id
        trade.quantity, trade.sign = body.quantity, 1 if delta > 0 else -1
        trade.orders += 1
        trade.filled = 0
        self._money.order(told)

    def _within_limits(self, trade: Trade, body: Any, delta: int) -> Doubts:
        """Hold an order that grows a position against R-B7; what is under way counts as filled."""
        money, pair = self._money, (trade.owner, trade.symbol)
        held = money.quantity(*pair)
        if not grows(held, delta):
            return
        price = money.marks.get(trade.symbol, ZERO)
        if body.order_type == "limit" and body.limit_price is not None:
            price = max(price, price_of(body.limit_price))
        elif not price and trade.price is not None:
            price = price_of(trade.price)
        if len(money.flying) + money.trades >= TRADES_A_DAY:
            yield Doubt("desk", "R-B7", f"more than {TRADES_A_DAY} trades a day")
        now = {(owner, symbol): quantity for owner, symbol, quantity in money.holdings()}
        then = dict(now)
        for client_order_id in money.flying:
            placed = money.placed(client_order_id)
            if placed is not None:
                key = (placed.owner, placed.symbol)
                then[key] = then.get(key, 0) + placed.rest
        then[pair] = then.get(pair, 0) + delta
        equity = money.equity(money.marks)
        position = max(abs(then[pair]), abs(held + delta)) * price
        limit = money.strategies.limit(trade.owner)
        if position > limit * equity:
            why = (
                f"a position of {position:.2f} dollars, {limit:.2%} of an equity of {equity:.2f} is the limit"
            )
            yield Doubt("desk", "R-B7", why)
        gross = position + sum(
            max(abs(quantity), abs(now.get(key, 0))) * money.marks.get(key[1], ZERO)
            for key, quantity in then.items()
            if key != pair
        )
        if gross > EXPOSURE * equity:
            yield Doubt("desk", "R-B7", f"an exposure of {gross:.2f} dollars, of an equity of {equity:.2f}")

    def execute(self, told: Told) -> Doubts:
        """Take in an EXECUTION; it is booked whatever it is (K11)."""
        body, money = told.body, self._money
        trade = self._open.get(told.case_id)
        placed = money.placed(body.client_order_id)
        if money.is_booked(body.execution_id) and not told.is_struck:
            yield Doubt("desk", "K11", f"{body.execution_id} is booked already")
        money.execute(told)
        if trade is None or placed is None or told.is_struck or trade.client_order_id != body.client_order_id:
            return
        is_late = trade.is_cancelling or (0 < trade.ordered_seq < self.halted and not trade.flattening)
        if body.fill_after_halt != (is_late and body.qty_filled > 0):
            halt = f"the desk is halted since seq {self.halted}" if is_late else "no halt came before it"
            yield Doubt("desk", "K11", f"fill_after_halt is {body.fill_after_halt}, but {halt}")
        if is_late:
            trade.late += placed.filled - trade.filled
        trade.filled = placed.filled
        if body.status == "partial":
            return
        self._done(told, trade, placed.filled)

    def _done(self, told: Told, trade: Trade, filled: int) -> None:
        """End an order: what was opened after the halt is to be flattened."""
        if trade.flattening:
            left = trade.quantity - filled
            if left <= 0 or trade.orders > FLATTENINGS:
                del self._open[told.case_id]
                return
        else:
            held = self._money.quantity(trade.owner, trade.symbol)
            left = min(trade.late, max(trade.sign * held, 0))
            if not left:
                del self._open[told.case_id]
                return
        trade.flattening, trade.is_cancelling = left, False
        self._late[told.case_id] = (told, told.up + FLATTEN_WITHIN)

    def ruled(self, told: Told) -> None:
        """Take in a RULING on a trade."""
        trade = self._open.get(told.case_id)
        if trade is None:
            return
        if told.body.reason == "halt" and not step_of(told):
            if trade.flattening:
                return
            if trade.ordered_seq:
                trade.is_cancelling = True
                return
        self._late.pop(told.case_id, None)
        del self._open[told.case_id]
