"""Executions: what the broker did with an order, and what is undone of it after a halt (K11, R-B5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import Figures
from moot.protocols.kernel.steps import ENDED, Effect, Owe, RuleInput
from moot.protocols.trading.bridge import book_of
from moot.protocols.trading.briefing import desk_brief
from moot.protocols.trading.messages import Execution
from moot.protocols.trading.messages.desk import Side
from moot.protocols.trading.trade_state import (
    FLATTENED,
    FLATTENING,
    NOT_FLATTENED,
    UNANSWERED,
    TradeState,
    check_price,
    here,
    placed,
    signed,
)

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book

FLATTENINGS: Final = 3
"""So many orders try to flatten what was filled after a halt."""


def _same(given: str, wanted: str, field: str) -> None:
    if given != wanted:
        raise Violation("K11", f"it is {wanted} here, not {given}", field=field)


def check_execution(env: Envelope, context: RuleContext) -> None:
    """Check an EXECUTION that no open case asked for: it came late, and is booked all the same (K11).

    Raises:
        Violation: It is told twice, its numbers make no fill, no order was placed that it belongs to, it does not fit
            that order, or it does not say whether it came after a halt.
    """
    body = env.body
    assert isinstance(body, Execution)
    _check_fact(body, context)
    book = book_of(context)
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
    if book_of(context).is_booked(body.execution_id):
        raise Violation("K11", f"{body.execution_id} is booked already", field="execution_id")
    if body.qty_filled:
        check_price(body.avg_price, "avg_price")
    elif body.avg_price:
        raise Violation("K11", "nothing was filled, so there is no price", field="avg_price")
    if body.fee < 0 or round(body.fee, 2) != body.fee:
        raise Violation("K11", "a fee is in cents, not negative", field="fee")
    if body.status == "partial" and not body.qty_filled:
        raise Violation("K11", "partial needs a fill", field="qty_filled")


def execution_figures(state: TradeState, given: RuleInput) -> Figures:
    """Return what an EXECUTION must repeat of its order (K11)."""
    order = placed(state)
    return here(given.body, client_order_id=order.client_order_id, symbol=order.symbol, action=order.side)


def executed(state: TradeState, given: RuleInput) -> Effect:
    """Take in what the broker did: more is owed of what is partial, what was opened after a halt is flattened.

    A violation leaves the trade as it is, but the book has its fill: what the next EXECUTION says is counted on top of
    all that is booked, so that a fact need not, and must not, be told twice.

    Raises:
        Violation: K11, it does not fit its order.
    """
    body, book, order = given.body, book_of(given.context), placed(state)
    _check_fact(body, given.context)
    filled = book.filled(order.client_order_id) + body.qty_filled
    _check_filled(body, filled, order.quantity)
    is_late = _is_late(state, book)
    _check_flag(body, is_late=is_late)
    after_halt = state.after_halt + (filled - state.filled if is_late else 0)
    changes: dict[str, Any] = {"filled": filled, "after_halt": after_halt}
    if body.status == "partial":
        assert given.due is not None
        return Effect({**changes, "executions": state.executions + 1}, owe=(Owe(given.due.rule),))
    if state.is_flattening:
        return _flattened(state, order.quantity - filled, changes)
    held = book.quantity(state.strategy_id, state.symbol) + signed(order.side, body.qty_filled)
    return _undone(state, after_halt, held) or Effect(changes, to=ENDED, outcome=body.status)


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


def _undone(state: TradeState, after_halt: int, held: int) -> Effect | None:
    """Begin to flatten what an order opened after a halt, None when that is nothing (K11).

    Args:
        state: The trade.
        after_halt: Shares that were filled after the halt.
        held: Signed shares that are held now.
    """
    order = placed(state)
    late = min(after_halt, max(signed(order.side, held), 0))
    if not late or state.is_flattening:
        return None
    side: Side = "SELL" if order.side == "BUY" else "BUY"
    return _flatten(late, {"after_halt": after_halt, "side": side, "is_flattening": True})


def _flatten(quantity: int, changes: dict[str, Any]) -> Effect:
    """Make the Trader owe an order that undoes what was opened after the halt (K11)."""
    return Effect({**changes, "order": None, "quantity": quantity, "filled": 0}, to=FLATTENING)


def _flattened(state: TradeState, rest: int, changes: dict[str, Any]) -> Effect:
    """End a trade whose late fill is undone; try again while there is a rest, but not for ever."""
    if rest <= 0:
        return Effect(changes, to=ENDED, outcome=FLATTENED)
    if state.orders > FLATTENINGS:
        return Effect(changes, to=ENDED, outcome=NOT_FLATTENED)
    return _flatten(rest, changes)


def unanswered(state: TradeState, given: RuleInput) -> Effect:
    """A missing EXECUTION ends the trade; a fill that broke a rule, and is booked, is flattened all the same (K11)."""
    book, order = book_of(given.context), placed(state)
    if _is_late(state, book):
        after_halt = state.after_halt + book.filled(order.client_order_id) - state.filled
        held = book.quantity(state.strategy_id, state.symbol)
        if (undone := _undone(state, after_halt, held)) is not None:
            return undone
    return Effect(to=ENDED, outcome=NOT_FLATTENED if state.is_flattening else UNANSWERED)


def execution_brief(state: TradeState, given: RuleInput) -> dict[str, Any]:
    """Tell the Trader which order waits for the broker's answer.

    `filled` shares are booked, `remaining` are not, `is_after_halt`: what fills now must say `fill_after_halt`, and
    phase `cancelling`: the order is to be cancelled.
    """
    book, order = book_of(given.context), placed(state)
    booked = book.filled(order.client_order_id)
    return {
        "subject": state.strategy_id,
        "phase": state.phase,
        "desk": desk_brief(given.context, state.strategy_id),
        "quantity": order.quantity,
        "order_type": order.order_type,
        "limit_price": order.limit_price,
        "filled": booked,
        "remaining": max(order.quantity - booked, 0),
        "is_after_halt": _is_late(state, book),
    }
