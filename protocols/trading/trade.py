"""A trade: a signal, its orders, and what the broker did with them (K11, R-B5, R-B7, R-F4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.table import Duty, illegal
from moot.protocols.kernel.times import minutes
from moot.protocols.trading.briefing import desk_brief, session_of
from moot.protocols.trading.limits import check_order, may_grow, surely_held
from moot.protocols.trading.messages import Execution, NoOrder, Order, Signal
from moot.protocols.trading.messages.deployments import OrderType
from moot.protocols.trading.messages.desk import Side
from moot.protocols.trading.no_order import Wish, check_growth, check_reason, facts_of, most, reason_for
from moot.protocols.trading.seats import TRADER

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book

KIND: Final = "trade"
DESK: Final = "#b-desk"

ORDERING, EXECUTING, CANCELLING, FLATTENING, ENDED = (
    "ordering",
    "executing",
    "cancelling",
    "flattening",
    "ended",
)
HALTED, STOPPED, NOT_ORDERED, UNANSWERED = "halted", "stopped", "not_ordered", "unanswered"
NO_ORDER: Final = "no_order"
FLATTENED, NOT_FLATTENED = "flattened", "not_flattened"

ORDERS: Final = ("ORDER", "NO_ORDER")
"""What settles an order that is owed: only silence is silence (R-F4)."""

FLATTENINGS: Final = 3
"""So many orders try to flatten what was filled after a halt."""

ON_HALT: Final = Decision("void", "halt", "R-B5")
"""What the Referee rules on the trades that a halt finds open."""

MISSED: Final[dict[str, tuple[Decision, str]]] = {
    ORDERING: (Decision("void", "timeout", "K11"), NOT_ORDERED),
    EXECUTING: (Decision("void", "timeout", "K11"), UNANSWERED),
    CANCELLING: (Decision("void", "timeout", "R-B5"), UNANSWERED),
    FLATTENING: (Decision("void", "timeout", "R-B5"), NOT_FLATTENED),
}
"""What silence leads to by phase: the ruling, and how the trade ends."""


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


def _owed(
    state: TradeState, env: Envelope, expects: tuple[str, ...], step: str, within: int
) -> tuple[Obligation, ...]:
    duty = Duty(TRADER, expects, DESK, minutes(within), minutes(within), step)
    return (duty.owed(state.case_id, env),)


def _signed(side: Side, quantity: int) -> int:
    return quantity if side == "BUY" else -quantity


def _book(context: RuleContext) -> Book:
    book: Book = context.fold_named("book")
    return book


def _check_price(price: float | None, field: str) -> None:
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


# ---------------------------------------------------------------- the signal


def open_trade(env: Envelope, context: RuleContext, parent: CaseState | None) -> TradeState:
    """Open a trade: the Trader owes its ORDER.

    Raises:
        Violation: The signal says HOLD or nothing (K11), is of a strategy that is not traded or of a foreign symbol
            (R-B12), or opens or grows a position while the desk is halted (R-B5). What shrinks a position is open to
            every strategy that has one.
    """
    body = env.body
    assert isinstance(body, Signal)
    if body.action == "HOLD":
        raise Violation("K11", "HOLD is not said: what is not to be traded needs no signal", field="action")
    _check_size(body)
    _check_growth(context, body.strategy_id, body.symbol, _signed(body.action, body.quantity))
    state = TradeState(
        case_id=body.signal_id,
        kind=KIND,
        phase=ORDERING,
        parent=parent.case_id if parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        strategy_id=body.strategy_id,
        symbol=body.symbol,
        side=body.action,
        quantity=body.quantity,
        order_type=body.order_type,
        limit_price=body.limit_price,
        confidence=body.confidence,
    )
    reach, delta = _book(context).reach(body.strategy_id, body.symbol), _signed(body.action, body.quantity)
    return evolve(state, is_shrinking=not may_grow(reach, delta), owed=_owed(state, env, ORDERS, "order", 5))


def _check_size(body: Signal | Order) -> None:
    """Check what a signal and an order have in common.

    Raises:
        Violation: K11, it is for nothing, or for a price that is none.
    """
    if body.quantity < 1:
        raise Violation("K11", "nothing is traded: the quantity is at least 1", field="quantity")
    if body.order_type == "limit" and body.limit_price is None:
        raise Violation("K11", "a limit order names its price", field="limit_price")
    _check_price(body.limit_price, "limit_price")


def _check_growth(context: RuleContext, strategy_id: str, symbol: str, delta: int) -> None:
    """Check whether a position may be opened or grow at all; orders under way may become what they ask for.

    Raises:
        Violation: The desk is halted (R-B5), or the strategy does not trade this (R-B12).
    """
    book = _book(context)
    reach = book.reach(strategy_id, symbol)
    if not may_grow(reach, delta):
        return
    if book.halted:
        held = f"{book.quantity(strategy_id, symbol)} of {symbol}"
        if reach.low != reach.high:
            held += f", {reach.low} to {reach.high} by the orders under way"
        why = f"the desk is halted: {strategy_id} holds {held}, and {delta:+d} opens or grows that"
        raise Violation("R-B5", why, field="quantity")
    life = context.fold_named("life")
    if not life.is_traded(strategy_id):
        raise Violation("R-B12", f"{strategy_id} is not traded", field="strategy_id")
    strategy = life.strategies[strategy_id].strategy
    if strategy is not None and symbol not in strategy.symbols:
        raise Violation("R-B12", f"{strategy_id} trades {', '.join(strategy.symbols)}", field="symbol")


# ---------------------------------------------------------------- orders and executions


def step(state: TradeState, env: Envelope, context: RuleContext) -> TradeState:
    """Apply an ORDER, a NO_ORDER or an EXECUTION.

    A violation of an EXECUTION leaves the trade as it is, but the book has its fill: what the next EXECUTION says is
    counted on top of all that is booked, so that a fact need not, and must not, be told twice.

    Raises:
        Violation: The phase does not allow it, an order is not the signal's (K11), is too large (R-B7) or grows a
            position while halted (R-B5), after a halving (R-F1), on little confidence or at a session's edge (R-F17),
            the reason of a NO_ORDER is not true (R-F4), or an EXECUTION does not fit its order (K11).
    """
    body = env.body
    if isinstance(body, NoOrder) and state.order is None:
        check_reason(body.reason, _wish(state), context, env.sent_at)
        return _not_ordered(state, body)
    if isinstance(body, Order) and state.order is None:
        return _order(state, env, body, context)
    if isinstance(body, Execution) and state.order is not None:
        return _execution(state, env, body, state.order, context)
    raise illegal(state, env, "K11")


def _wish(state: TradeState, order: Order | None = None) -> Wish:
    """Return what the next order may do, or what one does."""
    asked = state if order is None else order
    return Wish(
        state.strategy_id,
        state.symbol,
        _signed(state.side, 1),
        asked.quantity,
        asked.order_type,
        asked.limit_price,
        state.confidence,
        state.is_shrinking or state.is_flattening,
    )


def _not_ordered(state: TradeState, body: NoOrder) -> TradeState:
    """End a trade that gives no order; where a late fill was to be flattened, it is, or the exchange is closed."""
    outcome = NO_ORDER
    if state.is_flattening:
        outcome = FLATTENED if body.reason == "position_gone" else NOT_FLATTENED
    return evolve(state, phase=ENDED, owed=(), outcome=outcome)


def _order(state: TradeState, env: Envelope, body: Order, context: RuleContext) -> TradeState:
    _same(body.client_order_id, state.client_order_id, "client_order_id")
    _same(body.symbol, state.symbol, "symbol")
    _same(body.side, state.side, "side")
    _check_size(body)
    if body.quantity > state.quantity:
        raise Violation("K11", f"at most {state.quantity} are wanted", field="quantity")
    if state.is_flattening and body.quantity != (left := _to_flatten(state, _book(context))):
        raise Violation("R-B5", f"{left} are to be flattened", field="quantity")
    _check_growth(context, state.strategy_id, state.symbol, _signed(body.side, body.quantity))
    check_growth(_wish(state, body), context, env.sent_at)
    check_order(_book(context), context.fold_named("life"), body, state)
    return evolve(
        state,
        phase=EXECUTING,
        order=body,
        ordered_seq=env.seq,
        orders=state.orders + 1,
        filled=0,
        owed=_executions(state, env, 10),
        executions=state.executions + 1,
    )


def _same(given: str, wanted: str, field: str) -> None:
    if given != wanted:
        raise Violation("K11", f"it is {wanted} here, not {given}", field=field)


def _executions(state: TradeState, env: Envelope, within: int) -> tuple[Obligation, ...]:
    return _owed(state, env, ("EXECUTION",), f"execution-{state.executions + 1}", within)


def check_execution(env: Envelope, context: RuleContext) -> None:
    """Check an EXECUTION that no open case asked for: it came late, and is booked all the same (K11).

    Raises:
        Violation: It is told twice, its numbers make no fill, no order was placed that it belongs to, it does not fit
            that order, or it does not say whether it came after a halt.
    """
    body = env.body
    assert isinstance(body, Execution)
    _check_fact(body, context)
    book = _book(context)
    placed = book.placed(body.client_order_id)
    if placed is None:
        why = f"no ORDER {body.client_order_id} stands in the log"
        raise Violation("K11", why, field="client_order_id")
    _same(body.symbol, placed.symbol, "symbol")
    _same(body.action, "BUY" if placed.quantity > 0 else "SELL", "action")
    _check_filled(body, placed.filled + body.qty_filled, abs(placed.quantity))
    _check_flag(body, is_late=book.is_late(body.client_order_id))


def _check_flag(body: Execution, *, is_late: bool) -> None:
    """Check that a fill says whether a halt came between its order and itself.

    Raises:
        Violation: K11, it does not.
    """
    if body.fill_after_halt != (is_late and body.qty_filled > 0):
        why = "it was filled after the halt" if is_late else "no halt came between the order and this"
        raise Violation("K11", why, field="fill_after_halt")


def _check_fact(body: Execution, context: RuleContext) -> None:
    """Check an EXECUTION by itself.

    Raises:
        Violation: K11, it is told twice, or its numbers make no fill.
    """
    if _book(context).is_booked(body.execution_id):
        raise Violation("K11", f"{body.execution_id} is booked already", field="execution_id")
    if body.qty_filled:
        _check_price(body.avg_price, "avg_price")
    elif body.avg_price:
        raise Violation("K11", "nothing was filled, so there is no price", field="avg_price")
    if body.fee < 0 or round(body.fee, 2) != body.fee:
        raise Violation("K11", "a fee is in cents, not negative", field="fee")
    if body.status == "partial" and not body.qty_filled:
        raise Violation("K11", "partial needs a fill", field="qty_filled")


def _execution(
    state: TradeState, env: Envelope, body: Execution, order: Order, context: RuleContext
) -> TradeState:
    book = _book(context)
    _same(body.client_order_id, order.client_order_id, "client_order_id")
    _same(body.symbol, order.symbol, "symbol")
    _same(body.action, order.side, "action")
    _check_fact(body, context)
    filled = book.filled(order.client_order_id) + body.qty_filled
    _check_filled(body, filled, order.quantity)
    is_late = _is_late(state, book)
    _check_flag(body, is_late=is_late)
    after_halt = state.after_halt + (filled - state.filled if is_late else 0)
    state = evolve(state, filled=filled, after_halt=after_halt)
    if body.status == "partial":
        within = 5 if state.phase == CANCELLING else 10
        return evolve(state, owed=_executions(state, env, within), executions=state.executions + 1)
    if state.is_flattening:
        return _flattened(state, env, order.quantity - filled)
    held = book.quantity(state.strategy_id, state.symbol) + _signed(order.side, body.qty_filled)
    return _undone(state, env, order, held) or evolve(state, phase=ENDED, owed=(), outcome=body.status)


def _is_late(state: TradeState, book: Book) -> bool:
    """Say whether a fill of the order under way comes after a halt that its order came before (K11)."""
    return state.ordered_seq < book.last_halt and not state.is_flattening


def _check_filled(body: Execution, filled: int, ordered: int) -> None:
    """Check a status against what was filled of an order in all.

    Raises:
        Violation: K11, the two do not fit.
    """
    if body.qty_filled and filled > ordered:
        raise Violation("K11", f"{filled} are filled in all, {ordered} were ordered", field="qty_filled")
    if body.status == "filled" and filled < ordered:
        raise Violation("K11", f"{filled} of {ordered} are filled: that is partial", field="status")
    if body.status == "partial" and filled == ordered:
        raise Violation("K11", f"all {ordered} are filled: that is filled", field="status")
    if body.status == "rejected" and filled:
        raise Violation("K11", f"{filled} are filled: that was not rejected", field="status")


def _undone(state: TradeState, env: Envelope, order: Order, held: int) -> TradeState | None:
    """Begin to flatten what an order opened after a halt, None when that is nothing (K11).

    Args:
        state: The trade.
        env: The message that ends the order.
        order: The order.
        held: Signed shares that are held now.
    """
    late = min(state.after_halt, max(_signed(order.side, held), 0))
    if not late or state.is_flattening:
        return None
    side: Side = "SELL" if order.side == "BUY" else "BUY"
    return _flatten(evolve(state, side=side, is_flattening=True), env, late)


def _to_flatten(state: TradeState, book: Book) -> int:
    """Return how many shares an order has to flatten: what remains for sure, whatever else is under way (R-B5)."""
    held = -_signed(state.side, state.quantity)
    return min(state.quantity, abs(surely_held(held, book.reach(state.strategy_id, state.symbol))))


def _flatten(state: TradeState, env: Envelope, quantity: int) -> TradeState:
    """Make the Trader owe an order that undoes what was opened after the halt (K11)."""
    return evolve(
        state,
        phase=FLATTENING,
        order=None,
        quantity=quantity,
        filled=0,
        owed=_owed(state, env, ORDERS, f"flatten-{state.orders}", 5),
    )


def _flattened(state: TradeState, env: Envelope, rest: int) -> TradeState:
    """End a trade whose late fill is undone; try again while there is a rest, but not for ever."""
    if rest <= 0:
        return evolve(state, phase=ENDED, owed=(), outcome=FLATTENED)
    if state.orders > FLATTENINGS:
        return evolve(state, phase=ENDED, owed=(), outcome=NOT_FLATTENED)
    return _flatten(state, env, rest)


# ---------------------------------------------------------------- rulings


def on_halt(state: CaseState) -> Decision | None:
    """Say what the Referee rules on an open case when the desk is halted; None: nothing (R-B5)."""
    if isinstance(state, TradeState) and state.phase in (ORDERING, EXECUTING) and not state.is_flattening:
        return ON_HALT
    return None


def otherwise(state: TradeState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when the Trader is silent."""
    return MISSED[state.phase][0]


def rule(
    state: TradeState, decision: Decision, env: Envelope, context: RuleContext, obligation: Obligation | None
) -> TradeState:
    """Apply a ruling: a silence, a halt, or a human STOP.

    At a halt a trade without an order ends; one with an order owes its cancellation, or the fill that happened; one
    that flattens goes on. Silence after a fill that broke a rule, and is booked, does not keep it from being flattened.
    """
    if decision.outcome == "stop":
        return evolve(state, phase=ENDED, owed=(), outcome=STOPPED)
    if decision == ON_HALT:
        if on_halt(state) is None:
            return state
        if state.order is None:
            return evolve(state, phase=ENDED, owed=(), outcome=HALTED)
        owed = _executions(state, env, 5)
        return evolve(state, phase=CANCELLING, owed=owed, executions=state.executions + 1)
    book, order = _book(context), state.order
    if order is not None and _is_late(state, book):
        after_halt = state.after_halt + book.filled(order.client_order_id) - state.filled
        held = book.quantity(state.strategy_id, state.symbol)
        if (undone := _undone(evolve(state, after_halt=after_halt), env, order, held)) is not None:
            return undone
    outcome = NOT_FLATTENED if state.is_flattening else MISSED[state.phase][1]
    return evolve(state, phase=ENDED, owed=(), outcome=outcome)


def brief(state: TradeState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Tell the Trader what is to be ordered, or which order waits for the broker's answer.

    Of one that is to be given: `facts` for and against it, and what they come to at the log's last instant: `most`
    shares, and `no_order`, the reason why none need be given, "" for none (R-F4). Of an order under way: `filled`
    shares that are booked, `remaining` ones, `is_after_halt`: what fills now must say `fill_after_halt`, and phase
    `cancelling`: the order is to be cancelled.
    """
    book, order = _book(context), state.order
    shown = {
        "subject": state.strategy_id,
        "phase": state.phase,
        "client_order_id": state.client_order_id,
        "symbol": state.symbol,
        "desk": desk_brief(context),
    }
    if order is None:
        facts, at = facts_of(_wish(state), context), context.at or state.anchor_at
        return shown | {
            "side": state.side,
            "quantity": _to_flatten(state, book) if state.is_flattening else state.quantity,
            "order_type": state.order_type,
            "limit_price": state.limit_price,
            "facts": facts._asdict(),
            "most": most(facts, at),
            "no_order": reason_for(facts, at) or "",
        }
    booked = book.filled(order.client_order_id)
    return shown | {
        "action": order.side,
        "quantity": order.quantity,
        "order_type": order.order_type,
        "limit_price": order.limit_price,
        "filled": booked,
        "remaining": max(order.quantity - booked, 0),
        "is_after_halt": _is_late(state, book),
    }


TRADE: Final = CaseType(
    kind=KIND,
    openers=("SIGNAL",),
    open=open_trade,
    step=step,
    otherwise=otherwise,
    rule=rule,
    parent_of=session_of,
    brief=brief,
    system="B",
)
