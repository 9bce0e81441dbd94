"""Limits of the desk: levels of risk metrics, and what an order may not exceed (R-B7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.errors import Violation
from moot.protocols.trading.book_figures import units
from moot.protocols.trading.messages import Order, RiskCheck
from moot.protocols.trading.messages.deployments import OrderType

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book
    from moot.protocols.trading.life import Life
    from moot.protocols.trading.standing import Standing


class Limit(NamedTuple):
    """From where on a metric is WARNING, CRITICAL, HALT; `sign` -1: at or below, +1: at or above."""

    warning: float
    critical: float
    halt: float
    sign: int


LIMITS: Final[dict[str, Limit]] = {
    "daily_pnl": Limit(-0.03, -0.05, -0.08, -1),
    "drawdown": Limit(-0.10, -0.15, -0.20, -1),
    "var95": Limit(0.03, 0.05, 0.08, +1),
    "largest_position": Limit(0.08, 0.12, 0.15, +1),
}
"""R-B7's table, as fractions; reaching a number counts (R-B6)."""

NORMAL: Final = ""
LEVELS: Final = (NORMAL, "WARNING", "CRITICAL", "HALT")
"""Levels from harmless to worst."""


class Portfolio(NamedTuple):
    """What an order may not make of the whole: exposure and a position as fractions of the equity, trades a day."""

    exposure: float
    position: float
    trades: int


PORTFOLIO: Final = Portfolio(exposure=0.80, position=0.05, trades=50)
MILLION: Final = 1_000_000
"""Limits are compared as whole millionths, so that exactly at the limit is within it."""


HALVE: Final = Decision("reduce_exposure", "conservative", "R-B8")
"""Halve every position once, ruled on the session; until the end of the session nothing grows (R-F1)."""
ALREADY_REDUCED: Final = Decision("void", "already_reduced", "R-F1")
"""What another silence leads to meanwhile."""


class Reach(NamedTuple):
    """What a position may become: signed shares if only the sales under way are filled, if only the purchases are."""

    low: int
    high: int

    @property
    def furthest(self) -> int:
        """Return the most shares that it may have, long or short."""
        return max(abs(self.low), abs(self.high))


class Priced(Protocol):
    """What the price of an order is made of: the order, or what is wanted before there is one."""

    @property
    def symbol(self) -> str:
        """What is traded."""

    @property
    def order_type(self) -> OrderType:
        """Return market or limit."""

    @property
    def limit_price(self) -> float | None:
        """Its price in dollars, if it names one."""


class Wanted(Protocol):
    """What is looked at of a signal: its body, or the trade that it opened."""

    @property
    def strategy_id(self) -> str:
        """Whose it is."""

    @property
    def limit_price(self) -> float | None:
        """Its price in dollars, if it names one."""


class Sized(Priced, Wanted, Protocol):
    """What is wanted, before there is an order."""


class Breach(NamedTuple):
    """A metric at or beyond a limit; the subject is a strategy, a symbol, or "" for the whole desk."""

    metric: str
    subject: str
    level: str
    value: float
    threshold: float


def level_of(metric: str, value: float) -> str:
    """Return WARNING, CRITICAL or HALT, or "" while a metric is within its limits.

    Raises:
        KeyError: The metric has no limits.
    """
    limit = LIMITS[metric]
    reached = NORMAL
    for level, threshold in zip(LEVELS[1:], limit, strict=False):
        if value * limit.sign >= threshold * limit.sign:
            reached = level
    return reached


def threshold_of(metric: str, level: str) -> float:
    """Return where a level of a metric begins.

    Raises:
        KeyError: The metric has no limits.
        ValueError: There is no such level.
    """
    limit = LIMITS[metric]
    return (limit.warning, limit.critical, limit.halt)[LEVELS.index(level, 1) - 1]


def worst(levels: Iterable[str]) -> str:
    """Return the worst of some levels, "" for none."""
    return max(levels, key=LEVELS.index, default=NORMAL)


def breaches(check: RiskCheck) -> list[Breach]:
    """List every limit that a RISK_CHECK reaches (R-B7)."""
    measured = [
        ("daily_pnl", "", check.daily_pnl_pct),
        *(("drawdown", strategy_id, value) for strategy_id, value in sorted(check.drawdowns.items())),
        ("var95", "", check.var95),
        ("largest_position", check.largest_symbol or "", check.largest_position),
    ]
    found = []
    for metric, subject, value in measured:
        level = level_of(metric, value)
        if level:
            found.append(Breach(metric, subject, level, value, threshold_of(metric, level)))
    return found


def grows(before: int, delta: int) -> bool:
    """Say whether a signed change opens a position or makes it larger; crossing zero opens one (R-B5)."""
    after = before + delta
    return abs(after) > abs(before) or after * before < 0


def may_grow(reach: Reach, delta: int) -> bool:
    """Say whether a signed change may open, grow or turn a position, as orders under way are filled or not (R-B5)."""
    return reach.high + delta > 0 if delta > 0 else reach.low + delta < 0


def surely_held(held: int, reach: Reach) -> int:
    """Return the signed shares of a position that remain whatever is filled of the orders under way."""
    return max(reach.low, 0) if held > 0 else min(reach.high, 0)


def halving(quantity: int) -> int:
    """Return the signed change that halves a position; what remains is rounded towards zero (R-B8)."""
    half = abs(quantity) // 2
    return (half if quantity > 0 else -half) - quantity


def position_limit(standing: Standing | None) -> float:
    """Return which fraction of the equity a position of a strategy may reach.

    Returns:
        5 %, or what its deployment was agreed on when that is less (R-B1, R-B7).
    """
    return PORTFOLIO.position if standing is None else min(standing.position_limit, PORTFOLIO.position)


def price_of(book: Book, order: Priced, signal: Wanted) -> int:
    """Return at which price an order is held against the limits, in units a share.

    A market order counts at the last mark, without one at the signal's price; a limit order at its own price or the
    mark, whichever is higher.

    Raises:
        Violation: R-B7, no price is known.
    """
    mark = book.marks.get(order.symbol, 0)
    if order.order_type == "limit" and order.limit_price is not None:
        mark = max(mark, units(order.limit_price))
    elif not mark and signal.limit_price is not None:
        mark = units(signal.limit_price)
    if mark <= 0:
        raise Violation(
            "R-B7", f"no price of {order.symbol} is known: no mark, no limit price", field="symbol"
        )
    return mark


def check_order(book: Book, life: Life, order: Order, signal: Wanted) -> None:
    """Hold an order against the limits; one that shrinks a position whatever else is filled is always allowed.

    Orders that are under way count as what they may become: otherwise two at once would pass where one may.

    Raises:
        Violation: R-B7, the position, the exposure or the day's trades would exceed their limit, or no price is known.
    """
    strategy_id, symbol = signal.strategy_id, order.symbol
    delta = order.quantity if order.side == "BUY" else -order.quantity
    reach = book.reach(strategy_id, symbol)
    if not may_grow(reach, delta):
        return
    price = price_of(book, order, signal)
    if is_full(book):
        raise Violation("R-B7", f"{PORTFOLIO.trades} trades a day are the limit, orders under way included")
    equity = book.equity()
    limit = position_limit(life.strategies.get(strategy_id))
    position = abs((reach.high if delta > 0 else reach.low) + delta) * price
    if position * MILLION > round(limit * MILLION) * equity:
        most = max(round(limit * MILLION) * equity, 0) // MILLION // price
        why = f"{limit:.2%} of the equity is the limit of a position: {most} shares in all at this price"
        if reach.low != reach.high:
            why += f", and orders under way may make it {reach.low} to {reach.high}"
        raise Violation("R-B7", why, field="quantity")
    gross = position + _others(book, strategy_id, symbol)
    if gross * MILLION > round(PORTFOLIO.exposure * MILLION) * equity:
        why = f"the exposure would be more than {PORTFOLIO.exposure:.0%} of the equity"
        raise Violation("R-B7", why, field="quantity")


def is_full(book: Book) -> bool:
    """Say whether the day has all the trades that it may have, orders under way included (R-B7)."""
    return book.trades_today + book.unfilled >= PORTFOLIO.trades


def _others(book: Book, strategy_id: str, symbol: str) -> int:
    """Return what all other positions may be worth at most, in units."""
    return sum(
        other.furthest * book.marks.get(name, 0)
        for (owner, name), other in book.reaches().items()
        if (owner, name) != (strategy_id, symbol)
    )


def most(book: Book, life: Life, wanted: Sized, sign: int) -> int:
    """Return how many shares an order may have at most: `check_order` takes it, and no more.

    Args:
        book: Money and positions.
        life: Where strategies stand.
        wanted: Whose order it is, of what, at which price.
        sign: 1 to buy, -1 to sell.

    Returns:
        What may be taken off the position whatever else is filled, and what the limits leave beyond that (R-B7).
    """
    reach = book.reach(wanted.strategy_id, wanted.symbol)
    edge = reach.high if sign > 0 else -reach.low
    takes_off = max(-edge, 0)
    if is_full(book):
        return takes_off
    try:
        price = price_of(book, wanted, wanted)
    except Violation:
        return takes_off
    equity = book.equity()
    worth = round(position_limit(life.strategies.get(wanted.strategy_id)) * MILLION) * equity
    free = (
        round(PORTFOLIO.exposure * MILLION) * equity
        - _others(book, wanted.strategy_id, wanted.symbol) * MILLION
    )
    shares = max(min(worth, free), 0) // (MILLION * price)
    return max(shares - edge, takes_off, 0)
