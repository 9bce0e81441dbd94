"""What minds of System B are shown of the desk, and what they may compute from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from protocols.kernel.house import House
from protocols.kernel.message import Message
from protocols.trading.book_figures import Curve, exact, measure, units
from protocols.trading.limits import PORTFOLIO, halving, position_limit

if TYPE_CHECKING:
    from protocols.trading.book import Book
    from protocols.trading.life import Life, Standing


def session_of(body: Message) -> str | None:
    """Return the session that an opener names, None when it stands alone."""
    return getattr(body, "session_id", "") or None


def desk_brief(house: House) -> dict[str, Any]:
    """Return the desk as plain data: money in dollars with all decimals, shares as fractions.

    Returns:
        `cash`, `equity`, `opening`, `capital`; `positions` {strategy: {symbol: signed shares}} and `reductions`
        alike, the signed change that halves each (R-B8); `marks`; `halted`; `trades_today`; `orders_under_way`, those
        of the day that no final EXECUTION has answered; `exposure`; `limits`
        {`position`, `exposure`, `trades`}; `curves` {strategy: {`allocation`, `cash`, `peak`}}, what drawdowns are
        computed from; `strategies` {id: …}, all but those that were withdrawn and hold nothing.
    """
    book: Book = house.fold_named("book")
    life: Life = house.fold_named("life")
    positions, curves = book.holdings(), book.curves()
    figures = measure(book.cash, book.opening, positions, book.marks, curves)
    return {
        "cash": exact(book.cash),
        "equity": exact(book.equity()),
        "opening": exact(book.opening),
        "capital": exact(book.capital),
        "positions": positions,
        "reductions": {
            strategy_id: {symbol: halving(quantity) for symbol, quantity in held.items()}
            for strategy_id, held in positions.items()
        },
        "marks": {symbol: exact(mark) for symbol, mark in sorted(book.marks.items())},
        "halted": bool(book.halted),
        "trades_today": book.trades_today,
        "orders_under_way": len(book.in_flight),
        "exposure": figures["exposure"],
        "limits": PORTFOLIO._asdict(),
        "curves": {
            strategy_id: {name: exact(amount) for name, amount in curve._asdict().items()}
            for strategy_id, curve in curves.items()
        },
        "strategies": {
            strategy_id: _strategy(book, known, figures["drawdowns"].get(strategy_id))
            for strategy_id, known in sorted(life.strategies.items())
            if known.stage != "withdrawn" or strategy_id in positions
        },
    }


def _strategy(book: Book, known: Standing, drawdown: float | None) -> dict[str, Any]:
    """Return one strategy: where it stands, what it trades, how it fares."""
    strategy = known.strategy
    return {
        "stage": known.stage,
        "is_deployed": known.is_deployed,
        "archetype": strategy.archetype if strategy is not None else None,
        "params": dict(strategy.params) if strategy is not None else {},
        "symbols": list(strategy.symbols) if strategy is not None else [],
        "position_limit": position_limit(known),
        "order_type": known.order_type,
        "days": known.days,
        "backtest": dict(known.backtest),
        "sharpe": book.sharpe(known.strategy_id),
        "drawdown": book.drawdown(known.strategy_id) if drawdown is None else drawdown,
    }


def measured(desk: Mapping[str, Any], marks: Mapping[str, float]) -> dict[str, Any]:
    """Return what `Book.measures` asks of a RISK_CHECK with these marks, from a brief's `desk` alone.

    Args:
        desk: What `desk_brief` returned.
        marks: New prices in dollars by symbol; a price of nothing or less is none.
    """
    prices = {symbol: mark for symbol, price in marks.items() if (mark := units(price)) > 0}
    known = {symbol: units(price) for symbol, price in desk["marks"].items()}
    return measure(
        units(desk["cash"]),
        units(desk["opening"]),
        desk["positions"],
        known | prices,
        {
            strategy_id: Curve(**{name: units(amount) for name, amount in curve.items()})
            for strategy_id, curve in desk["curves"].items()
        },
    )
