"""Signals and orders: what may be asked for, and what is said instead (K11, R-B5, R-B7, R-F4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import Figures
from moot.protocols.kernel.steps import Effect, RuleInput
from moot.protocols.trading.bridge import book_of
from moot.protocols.trading.briefing import desk_brief
from moot.protocols.trading.limits import check_order, may_grow, surely_held
from moot.protocols.trading.messages import Order, Signal
from moot.protocols.trading.no_order import Wish, check_growth, check_reason, facts_of, most, reason_for
from moot.protocols.trading.trade_state import (
    FLATTENED,
    KIND,
    NO_ORDER,
    NOT_FLATTENED,
    NOT_ORDERED,
    ORDERING,
    TradeState,
    check_price,
    here,
    signed,
)

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book


def open_trade(given: RuleInput) -> TradeState:
    """Open a trade: the Trader owes its ORDER.

    Raises:
        Violation: The signal says HOLD or nothing (K11), is of a strategy that is not traded or of a foreign symbol
            (R-B12), or opens or grows a position while the desk is halted (R-B5). What shrinks a position is open to
            every strategy that has one.
    """
    body = given.body
    if body.action == "HOLD":
        raise Violation("K11", "HOLD is not said: what is not to be traded needs no signal", field="action")
    delta = signed(body.action, body.quantity)
    _check_size(body)
    _check_growth(given.context, body.strategy_id, body.symbol, delta)
    return TradeState(
        case_id=body.signal_id,
        kind=KIND,
        phase=ORDERING,
        parent=given.parent.case_id if given.parent is not None else None,
        opened_seq=given.message.seq,
        anchor_at=given.at,
        strategy_id=body.strategy_id,
        symbol=body.symbol,
        side=body.action,
        quantity=body.quantity,
        order_type=body.order_type,
        limit_price=body.limit_price,
        confidence=body.confidence,
        is_shrinking=not may_grow(book_of(given.context).reach(body.strategy_id, body.symbol), delta),
    )


def _check_size(body: Signal | Order) -> None:
    """Check what a signal and an order have in common.

    Raises:
        Violation: K11, it is for nothing, or for a price that is none.
    """
    if body.quantity < 1:
        raise Violation("K11", "nothing is traded: the quantity is at least 1", field="quantity")
    if body.order_type == "limit" and body.limit_price is None:
        raise Violation("K11", "a limit order names its price", field="limit_price")
    check_price(body.limit_price, "limit_price")


def _check_growth(context: RuleContext, strategy_id: str, symbol: str, delta: int) -> None:
    """Check whether a position may be opened or grow at all; orders under way may become what they ask for.

    Raises:
        Violation: The desk is halted (R-B5), or the strategy does not trade this (R-B12).
    """
    book = book_of(context)
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


def order_figures(state: TradeState, given: RuleInput) -> Figures:
    """Return what an ORDER must repeat of its signal (K11)."""
    return here(given.body, client_order_id=state.client_order_id, symbol=state.symbol, side=state.side)


def _wish(state: TradeState, order: Order | None = None) -> Wish:
    """Return what the next order may do, or what one does."""
    asked = state if order is None else order
    return Wish(
        state.strategy_id,
        state.symbol,
        signed(state.side, 1),
        asked.quantity,
        asked.order_type,
        asked.limit_price,
        state.confidence,
        state.is_shrinking or state.is_flattening,
    )


def declined(state: TradeState, given: RuleInput) -> Effect:
    """End a trade that gives no order; where a late fill was to be flattened, it is, or the exchange is closed.

    Raises:
        Violation: R-F4, its reason is not true.
    """
    reason = given.body.reason
    check_reason(reason, _wish(state), given.context, given.at)
    if not state.is_flattening:
        return Effect(outcome=NO_ORDER)
    return Effect(outcome=FLATTENED if reason == "position_gone" else NOT_FLATTENED)


def ordered(state: TradeState, given: RuleInput) -> Effect:
    """Place an order, which the broker answers.

    Raises:
        Violation: It is not the signal's (K11), is too large (R-B7) or grows a position while halted (R-B5), after a
            halving (R-F1), on little confidence or at a session's edge (R-F17).
    """
    body, context = given.body, given.context
    _check_size(body)
    if body.quantity > state.quantity:
        raise Violation("K11", f"at most {state.quantity} are wanted", field="quantity")
    if state.is_flattening and body.quantity != (left := _to_flatten(state, book_of(context))):
        raise Violation("R-B5", f"{left} are to be flattened", field="quantity")
    _check_growth(context, state.strategy_id, state.symbol, signed(body.side, body.quantity))
    check_growth(_wish(state, body), context, given.at)
    check_order(book_of(context), context.fold_named("life"), body, state)
    return Effect(
        {
            "order": body,
            "ordered_seq": given.message.seq,
            "orders": state.orders + 1,
            "filled": 0,
            "executions": state.executions + 1,
        }
    )


def not_ordered(state: TradeState, _given: RuleInput) -> Effect:
    """A missing ORDER ends the trade (K11)."""
    return Effect(outcome=NOT_FLATTENED if state.is_flattening else NOT_ORDERED)


def order_brief(state: TradeState, given: RuleInput) -> dict[str, Any]:
    """Tell the Trader what is to be ordered, and the `facts` for and against it.

    What they come to at the log's last instant: `most` shares, and `no_order`, the reason why none need be given, ""
    for none (R-F4).
    """
    facts = facts_of(_wish(state), given.context)
    return {
        "subject": state.strategy_id,
        "phase": state.phase,
        "desk": desk_brief(given.context, state.strategy_id),
        "quantity": _to_flatten(state, book_of(given.context)) if state.is_flattening else state.quantity,
        "order_type": state.order_type,
        "limit_price": state.limit_price,
        "facts": facts._asdict(),
        "most": most(facts, given.at),
        "no_order": reason_for(facts, given.at) or "",
    }


def _to_flatten(state: TradeState, book: Book) -> int:
    """Return how many shares an order has to flatten: what remains for sure, whatever else is under way (R-B5)."""
    held = -signed(state.side, state.quantity)
    return min(state.quantity, abs(surely_held(held, book.reach(state.strategy_id, state.symbol))))
