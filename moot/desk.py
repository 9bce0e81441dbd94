"""The trading desk as people look at it: money, positions, strategies, the exchange's hours (R-B7)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.times import rfc3339
from moot.protocols.trading.book_figures import ENOUGH, dollars, exact, share, too_few
from moot.protocols.trading.hours import day_in_new_york
from moot.protocols.trading.limits import PORTFOLIO
from moot.protocols.trading.messages import TradingDay

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book
    from moot.protocols.trading.life import Life
    from moot.protocols.trading.standing import Standing

STAGES: Final = ("production", "staging", "candidates", "withdrawn")
"""Where strategies stand, in the order in which they are listed."""


class Market(NamedTuple):
    """Whether the exchange is open, and until when it stays so; None: the log does not say."""

    is_open: bool
    until: datetime | None


class Holding(NamedTuple):
    """A position: money in dollars, `quantity` in signed shares.

    Attributes:
        strategy_id: Whose it is.
        symbol: What it is of.
        quantity: Signed shares.
        average_cost: What a share of it cost, before fees.
        mark: The last known price of a share; 0 when none is known.
        value: What it is worth at the mark; negative when it was sold short.
        unrealised_usd: Its value less its cost.
    """

    strategy_id: str
    symbol: str
    quantity: int
    average_cost: float
    mark: float
    value: float
    unrealised_usd: float


def market(day: TradingDay | None, now: datetime | None) -> Market:
    """Say whether the exchange is open, by the desk day that was opened last (R-D18).

    A desk day ends as long before the next open as it began before its own.
    """
    if day is None or now is None:
        return Market(False, None)
    if now < day.opens_at:
        return Market(False, day.opens_at)
    if now < day.closes_at:
        return Market(True, day.closes_at)
    following = day.ends_at + (day.opens_at - day.nominal_at)
    return Market(False, following if now < following else None)


def day_told(day: str | None, now: datetime | None) -> str:
    """Say of which day the desk's P&L is: "today", or "on Friday, 20 February" until the next desk day is opened."""
    if day is None or now is None or day == day_in_new_york(now).isoformat():
        return "today"
    date = datetime.fromisoformat(day)
    return f"on {date:%A}, {date.day} {date:%B}"


def holdings(context: RuleContext) -> list[Holding]:
    """Return every position, by strategy and symbol."""
    book: Book = context.fold_named("book")
    found = []
    for (strategy_id, symbol), position in sorted(book.positions.items()):
        mark = book.marks.get(symbol, 0)
        worth = position.quantity * mark
        found.append(
            Holding(
                strategy_id=strategy_id,
                symbol=symbol,
                quantity=position.quantity,
                average_cost=round(exact(position.cost) / position.quantity, 4),
                mark=exact(mark),
                value=dollars(worth),
                unrealised_usd=dollars(worth - position.cost),
            )
        )
    return found


def totals(context: RuleContext) -> dict[str, float]:
    """Return what all positions together are worth, and their unrealised P&L, in dollars."""
    book: Book = context.fold_named("book")
    worth = sum(p.quantity * book.marks.get(symbol, 0) for (_, symbol), p in book.positions.items())
    cost = sum(position.cost for position in book.positions.values())
    return {"value": dollars(worth), "unrealised_usd": dollars(worth - cost)}


def money(context: RuleContext) -> dict[str, Any]:
    """Return the desk's money and risk at the last marks: dollars, and shares of the equity as fractions."""
    book: Book = context.fold_named("book")
    equity, measured = book.equity(), book.measures()
    return {
        "date": book.date or None,
        "capital": dollars(book.capital),
        "cash": dollars(book.cash),
        "equity": dollars(equity),
        "opening": dollars(book.opening),
        "pnl_usd": measured["daily_pnl_usd"],
        "pnl_pct": measured["daily_pnl_pct"],
        "total_pnl_usd": dollars(equity - book.capital),
        "total_pnl_pct": share(equity - book.capital, book.capital),
        "exposure": measured["exposure"],
        "largest_symbol": measured["largest_symbol"],
        "largest_position": measured["largest_position"],
        "trades_today": book.trades_today,
        "limits": PORTFOLIO._asdict(),
        "risk_status": book.risk_status(),
        "halted": bool(book.halted),
    }


def strategies(context: RuleContext) -> list[dict[str, Any]]:
    """Return where every strategy stands and how it fares: those in production first, then by id."""
    life: Life = context.fold_named("life")
    known = sorted(life.strategies.values(), key=lambda s: (STAGES.index(s.stage), s.strategy_id))
    return [_strategy(context, standing) for standing in known]


def _strategy(context: RuleContext, known: Standing) -> dict[str, Any]:
    book: Book = context.fold_named("book")
    metrics = book.paper_metrics(known.strategy_id)
    strategy, found = known.strategy, book.ratio(known.strategy_id)
    return {
        "strategy_id": known.strategy_id,
        "stage": known.stage,
        "is_deployed": known.is_deployed,
        "archetype": strategy.archetype if strategy is not None else None,
        "symbols": list(strategy.symbols) if strategy is not None else [],
        "days": known.days,
        "days_needed": known.days_needed,
        "extensions": known.extensions,
        "sharpe": found.reported,
        "sharpe_n": found.n,
        "backtest_sharpe": known.backtest.get("sharpe"),
        "pnl_usd": metrics["pnl_usd"],
        "drawdown": book.drawdown(known.strategy_id),
        "trades": metrics["trades"],
        "position_limit": known.position_limit,
        "order_type": known.order_type,
        "deployed_at": _text(known.deployed_at),
        "promoted_at": _text(known.promoted_at),
        "is_flagged": known.is_flagged,
    }


def ratio_text(one: Mapping[str, Any]) -> str:
    """Write a traded strategy's Sharpe ratio, or why there is none; "" where nothing says (R-F6).

    Args:
        one: What `strategies` returned of it.
    """
    if one["sharpe"] is not None:
        return f"{one['sharpe']:.2f}"
    return too_few(one["sharpe_n"]) if one["is_deployed"] and one["sharpe_n"] < ENOUGH else ""


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else rfc3339(instant)
