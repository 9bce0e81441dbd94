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
STRAY_WITHIN: Final = timedelta(minutes=1)
FLATTENINGS: Final = 3


class Trade:
    """A signal and its orders.

    Attributes:
        owner: Whose signal it is; `symbol`: of what.
        price: The signal's price, if any.
        ordered_seq: Seq of the order under way, 0 for none; `client_order_id`, `sign`, `quantity`: what it says.
        orders: Orders so far.
        filled: Shares of it that were filled, as of the last EXECUTION that nothing struck out.
        late: Shares that were filled after a halt.
        flattening: Shares that are to be flattened, 0 while none are.
    """

    __slots__ = (
        "client_order_id",
        "filled",
        "flattening",
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


def grows(held: int, delta: int) -> bool:
    """Say whether a signed change opens a position or makes it larger."""
    return abs(held + delta) > abs(held) or (held + delta) * held < 0


def may_grow(span: tuple[int, int], delta: int) -> bool:
    """Say whether a signed change opens or grows any of what a position may become."""
    return grows(span[0], delta) or grows(span[1], delta)


class Trades:
    """Follows trades and the halt.

    Attributes:
        halted: Seq of the halt in force, 0 for none.
        halt_id: Its case.
        halts: Cases of all halts.
        last_halt: Seq of the last halt, be it in force or not, 0 for none.
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
        self.last_halt = 0
        self._stray: Told | None = None

    def due(self, before: datetime) -> Doubts:
        """Name late fills that nobody flattened in time."""
        for case_id, (told, until) in list(self._late.items()):
            if until >= before:
                return
            del self._late[case_id]
            why = f"filled after the halt, and neither flattened nor ruled on: {case_id}"
            yield Doubt("desk", "K11", why, told.seq, told.line)

    def checked(self, told: Told) -> Doubts:
        """Name a fill that opened something after a halt, in no trade, and that no ruling has made owed to flatten.

        A RISK_CHECK shows that there is a session to be ruled on.
        """
        stray = self._stray
        if stray is not None and told.up > stray.up + STRAY_WITHIN:
            self._stray = None
            why = "filled after the halt, in no open trade, and nobody ruled that it is to be flattened"
            yield Doubt("desk", "K11", why, stray.seq, stray.line)

    # ------------------------------------------------------------ halts

    def halt(self, told: Told) -> Doubts:
        """Take in a HALT, or an alert of that level."""
        if self.halted:
            yield Doubt("desk", "R-B5", f"the desk is halted already, by {self.halt_id}")
            return
        self.halted, self.halt_id, self._is_asked = told.seq, told.case_id, False
        self.last_halt = told.seq
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
        if not may_grow(self._money.span(trade.owner, trade.symbol), delta):
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
        self._money.order(told, is_flattening=trade.flattening > 0)

    def decline(self, told: Told) -> None:
        """Take in a NO_ORDER, which ends its trade."""
        self._late.pop(told.case_id, None)
        self._open.pop(told.case_id, None)

    def _within_limits(self, trade: Trade, body: Any, delta: int) -> Doubts:
        """Hold an order that grows a position against R-B7; what is under way counts as what it may become."""
        money, pair = self._money, (trade.owner, trade.symbol)
        least, most = money.span(*pair)
        if not may_grow((least, most), delta):
            return
        price = money.marks.get(trade.symbol, ZERO)
        if body.order_type == "limit" and body.limit_price is not None:
            price = max(price, price_of(body.limit_price))
        elif not price and trade.price is not None:
            price = price_of(trade.price)
        under_way = money.under_way()
        if sum(not placed.filled for placed in under_way) + money.trades >= TRADES_A_DAY:
            yield Doubt("desk", "R-B7", f"more than {TRADES_A_DAY} trades a day")
        others = {(owner, symbol) for owner, symbol, _ in money.holdings()}
        others |= {(placed.owner, placed.symbol) for placed in under_way}
        equity = money.equity(money.marks)
        position = abs(most + delta if delta > 0 else least + delta) * price
        limit = money.strategies.limit(trade.owner)
        if position > limit * equity:
            why = (
                f"a position of {position:.2f} dollars, {limit:.2%} of an equity of {equity:.2f} is the limit"
            )
            yield Doubt("desk", "R-B7", why)
        gross = position + sum(
            max(map(abs, money.span(*other))) * money.marks.get(other[1], ZERO) for other in others - {pair}
        )
        if gross > EXPOSURE * equity:
            yield Doubt("desk", "R-B7", f"an exposure of {gross:.2f} dollars, of an equity of {equity:.2f}")

    def execute(self, told: Told) -> Doubts:
        """Take in an EXECUTION; it is booked whatever it is (K11)."""
        body, money = told.body, self._money
        trade = self._open.get(told.case_id)
        placed = money.placed(body.client_order_id)
        is_booked = money.is_booked(body.execution_id)
        if is_booked and not told.is_struck:
            yield Doubt("desk", "K11", f"{body.execution_id} is booked already")
        money.execute(told)
        if placed is None:
            if not told.is_struck:
                yield Doubt("desk", "K11", f"no ORDER {body.client_order_id} was placed before this")
            return
        is_late = placed.seq < self.last_halt and not placed.is_flattening
        if not told.is_struck and body.fill_after_halt != (is_late and body.qty_filled > 0):
            halt = f"a halt came before it, at seq {self.last_halt}" if is_late else "no halt came before it"
            yield Doubt("desk", "K11", f"fill_after_halt is {body.fill_after_halt}, but {halt}")
        if is_late and not is_booked and placed.trade_id not in self._open:
            bought = 1 if body.action == "BUY" else -1
            if body.qty_filled and bought * money.quantity(placed.owner, body.symbol) > 0:
                self._stray = told
        if trade is None or told.is_struck or trade.client_order_id != body.client_order_id:
            return
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
        trade.flattening = left
        self._late[told.case_id] = (told, told.up + FLATTEN_WITHIN)

    def ruled(self, told: Told) -> None:
        """Take in a RULING on a trade, or that something is to be flattened."""
        if told.body.reason == "late_fill":
            self._stray = None
        trade = self._open.get(told.case_id)
        if trade is None:
            return
        if told.body.reason == "halt" and not step_of(told) and (trade.flattening or trade.ordered_seq):
            return
        self._late.pop(told.case_id, None)
        placed = self._money.placed(trade.client_order_id)
        if placed is not None and not trade.flattening and told.body.outcome != "stop":
            # What was told wrongly is booked all the same, and nobody set it right.
            trade.late += placed.filled - trade.filled if placed.seq < self.last_halt else 0
            self._done(told, trade, placed.filled)
            return
        del self._open[told.case_id]
