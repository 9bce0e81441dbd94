"""What minds of System B are shown of the desk, and what they may compute from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.message import Message
from moot.protocols.trading.book_figures import Curve, exact, measure, units
from moot.protocols.trading.limits import PORTFOLIO, Reach, halving, surely_held

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book
    from moot.protocols.trading.life import Life
    from moot.protocols.trading.standing import Standing


def session_of(body: Message) -> str | None:
    """Return the session that an opener names, None when it stands alone."""
    return getattr(body, "session_id", "") or None


def latest_session(context: RuleContext) -> str | None:
    """Return the session that opened last, None when none is open."""
    sessions = [state for state in context.cases.values() if state.kind == "session"]
    return max(sessions, key=lambda state: state.opened_seq).case_id if sessions else None


def desk_brief(context: RuleContext, subject: str = "") -> dict[str, Any]:
    """Return the desk as plain data: money in dollars with all decimals, shares as fractions.

    Args:
        context: The society's folds.
        subject: What the question is about; a strategy is shown wherever it stands.

    Returns:
        `cash`, `equity`, `opening`, `capital`; `positions` {strategy: {symbol: signed shares}} and `reductions`
        alike, the signed change that halves each, those that orders under way close left out (R-B8); `marks`;
        `halted`; `reduced_until`, until when nothing may grow after a conservative halving, None when there was none
        (R-F1); `trades_today`; `orders_under_way`, those of the day that no final EXECUTION has answered; `reach`
        {strategy: {symbol: (least, most)}}, what these may make of a position, others left out; `exposure`; `limits`
        {`position`, `exposure`, `trades`}; `curves` {strategy: {`allocation`, `cash`, `peak`}}, what drawdowns are
        computed from; `strategies` {id: …}, those that System B holds or that hold something, and the subject.
    """
    book: Book = context.fold_named("book")
    life: Life = context.fold_named("life")
    shown = _SHOWN.get(book)
    if shown is None or shown[:2] != (book.taken_in, life.taken_in):
        shown = _SHOWN[book] = (book.taken_in, life.taken_in, _desk(book, life))
    return {**shown[2], "strategies": _with(shown[2]["strategies"], subject, book, life)}


_SHOWN: Final[WeakKeyDictionary[Book, tuple[int, int, dict[str, Any]]]] = WeakKeyDictionary()
"""By book, what was shown last, and how many messages book and life had taken in then: many ask, little changes."""


def _with(
    strategies: Mapping[str, Mapping[str, Any]], subject: str, book: Book, life: Life
) -> Mapping[str, Mapping[str, Any]]:
    """Return the strategies that everybody is shown, and the one in question besides."""
    known = life.strategies.get(subject)
    if subject in strategies or known is None:
        return strategies
    return {**strategies, subject: _strategy(book, known, None)}


def _desk(book: Book, life: Life) -> dict[str, Any]:
    positions, curves, reaches = book.holdings(), book.curves(), book.reaches()
    owners = {known.strategy_id for known in life.at_desk()}.union(positions) & life.strategies.keys()
    figures = measure(book.cash, book.opening, positions, book.marks, curves)
    return {
        "cash": exact(book.cash),
        "equity": exact(book.equity()),
        "opening": exact(book.opening),
        "capital": exact(book.capital),
        "positions": positions,
        "reductions": {
            strategy_id: found
            for strategy_id, held in positions.items()
            if (found := _reductions(strategy_id, held, reaches))
        },
        "marks": {symbol: exact(mark) for symbol, mark in sorted(book.marks.items())},
        "halted": bool(book.halted),
        "reduced_until": book.reduced_until,
        "trades_today": book.trades_today,
        "orders_under_way": len(book.in_flight),
        "reach": _moving(reaches),
        "exposure": figures["exposure"],
        "limits": PORTFOLIO._asdict(),
        "curves": {
            strategy_id: {name: exact(amount) for name, amount in curve._asdict().items()}
            for strategy_id, curve in curves.items()
        },
        "strategies": {
            strategy_id: _strategy(book, life.strategies[strategy_id], figures["drawdowns"].get(strategy_id))
            for strategy_id in sorted(owners)
        },
    }


def _reductions(
    strategy_id: str, held: Mapping[str, int], reaches: Mapping[tuple[str, str], Reach]
) -> dict[str, int]:
    """Return the signed change that halves what remains of each position for sure, where something does (R-B8)."""
    return {
        symbol: delta
        for symbol, quantity in held.items()
        if (delta := halving(surely_held(quantity, reaches[strategy_id, symbol])))
    }


def _moving(reaches: Mapping[tuple[str, str], Reach]) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the least and the most signed shares that orders under way may make of a position."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for (strategy_id, symbol), reach in sorted(reaches.items()):
        if reach.low != reach.high:
            found.setdefault(strategy_id, {})[symbol] = (reach.low, reach.high)
    return found


def _strategy(book: Book, known: Standing, drawdown: float | None) -> dict[str, Any]:
    """Return one strategy: where it stands, what it trades, how it fares."""
    strategy_id = known.strategy_id
    if not book.has_account(strategy_id):
        return {**known.plain, "sharpe": None, "n": 0, "drawdown": 0.0}
    found = book.ratio(strategy_id)
    return {
        **known.plain,
        "sharpe": found.reported,
        "n": found.n,
        "drawdown": book.drawdown(strategy_id) if drawdown is None else drawdown,
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
