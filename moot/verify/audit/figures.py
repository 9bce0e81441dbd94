"""Figures that messages report, held to the money that the executions amount to (K11, R-B7, R-D18, R-D20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final, NamedTuple

from moot.verify.audit.money import (
    WINDOW,
    ZERO,
    Day,
    Money,
    cents,
    deepest,
    differs,
    part,
    reported,
)
from moot.verify.audit.told import Doubt, Told, exact


class Off(NamedTuple):
    """A figure that is another than the executions make it."""

    field: str
    given: object
    wanted: object


Offs = Iterator[Off]


class Figures:
    """Compares what is reported with the money.

    Attributes:
        agreed: The last message whose figures agreed.
    """

    def __init__(self, money: Money) -> None:
        """Start with nothing reported."""
        self._money = money
        self.agreed = 0
        self._hint = ZERO

    def check(self, told: Told) -> Iterator[Doubt]:
        """Compare the figures of a message that nothing struck out; yield the first that is off."""
        judge, rule = _JUDGES[told.body.type]
        off = next(judge(self, told.body), None)
        if off is None:
            self.agreed = told.seq
            self._money.fills.clear()
            return
        why = f"{off.field}: says {off.given}, the executions make it {off.wanted}"
        fills = ", ".join(map(str, self._money.fills))
        since = f"seq {self.agreed}" if self.agreed else "the start"
        why += f"; figures agreed last at {since}, fills since then: {f'seq {fills}' if fills else 'none'}"
        self._money.fills.clear()
        yield Doubt(rule, why)

    # ------------------------------------------------------------ money

    def _equity(self, given: float, prices: Mapping[str, Decimal]) -> tuple[Decimal, bool]:
        """Return the equity by the executions, and whether the reported one is it.

        What is off twice by the same amount is off from there on, so that one error is one finding.
        """
        money = self._money
        equity, said = money.equity(prices), exact(given)
        if cents(equity) == said:
            self._hint = ZERO
            return equity, True
        for more in (self._hint, -money.drift):
            if more and cents(equity + more) == said:
                money.drift += more
                self._hint = ZERO
                return equity + more, True
        self._hint = said - cents(equity)
        return equity, False

    def _pnl(self, field: str, given: float, pnl: Decimal) -> Offs:
        """Compare a P&L of the day."""
        if exact(given) not in (cents(pnl), cents(pnl + self._hint)):
            yield Off(field, given, cents(pnl))

    def _day(self, body: Any, equity: Decimal) -> Offs:
        """Compare the day's P&L."""
        pnl = equity - self._money.opening
        yield from self._pnl("pnl_usd", body.pnl_usd, pnl)
        yield from _share("pnl_pct", body.pnl_pct, part(pnl, self._money.opening))

    def _risk(self, body: Any) -> Offs:
        money = self._money
        prices = money.marked(body.marks)
        equity, is_right = self._equity(body.equity, prices)
        if not is_right:
            yield Off("equity", body.equity, cents(equity))
        pnl = equity - money.opening
        yield from self._pnl("daily_pnl_usd", body.daily_pnl_usd, pnl)
        yield from _share("daily_pnl_pct", body.daily_pnl_pct, part(pnl, money.opening))
        yield from self._positions(body, prices, equity)
        drawdowns = money.drawdowns(prices)
        if body.drawdowns.keys() != drawdowns.keys():
            yield Off("drawdowns", ", ".join(sorted(body.drawdowns)), ", ".join(sorted(drawdowns)))
        for name, wanted in drawdowns.items():
            yield from _share(f"drawdowns.{name}", body.drawdowns[name], wanted)

    def _positions(self, body: Any, prices: Mapping[str, Decimal], equity: Decimal) -> Offs:
        gross, worth = ZERO, dict[str, Decimal]()
        for _, symbol, quantity in self._money.holdings():
            value = quantity * prices.get(symbol, ZERO)
            gross += abs(value)
            worth[symbol] = worth.get(symbol, ZERO) + value
        yield from _share("exposure", body.exposure, part(gross, equity))
        most = max((abs(value) for value in worth.values()), default=ZERO)
        yield from _share("largest_position", body.largest_position, part(most, equity))
        if body.type == "RISK_CHECK":
            largest = sorted(symbol for symbol, value in worth.items() if abs(value) == most)
            if body.largest_symbol not in largest and not (body.largest_symbol is None and not largest):
                yield Off("largest_symbol", body.largest_symbol, largest[0] if largest else None)

    def _overnight(self, body: Any) -> Offs:
        money = self._money
        yield from self._positions(body, money.marks, money.equity(money.marks))

    def _close(self, body: Any) -> Offs:
        money = self._money
        equity, is_right = self._equity(body.equity, money.marked(body.closes))
        if not is_right:
            yield Off("equity", body.equity, cents(equity))
        yield from self._day(body, equity)
        yield from _count("trades", body.trades, money.trades)

    # ------------------------------------------------------------ reports

    def _summary(self, body: Any) -> Offs:
        money = self._money
        yield from self._day(body, money.equity(money.marks))
        yield from _count("trades", body.trades, money.trades)
        yield from _count("wins", body.wins, money.wins)
        yield from _count("losses", body.losses, money.losses)

    def _cumulative(self, body: Any) -> Offs:
        money = self._money
        capital = money.capital or ZERO
        wanted = part(money.equity(money.marks) - capital, capital)
        yield from _share("cumulative_pnl_pct", body.cumulative_pnl_pct, wanted)

    def _daily(self, body: Any) -> Offs:
        money = self._money
        window = money.window()
        results = [day.pnl for day in window]
        today = money.today()
        yield from self._day(body, today.opening + today.pnl)
        yield from self._cumulative(body)
        yield from _share("sharpe_30d", body.sharpe_30d, reported(results))
        yield from _count("n", body.n, len(results))
        start = window[0].opening if window else ZERO
        yield from _share("max_dd_30d", body.max_dd_30d, deepest(start, results))
        yield from _count("total_trades", body.total_trades, money.trades)
        decided = money.wins + money.losses
        yield from _share("win_rate", body.win_rate, Decimal(money.wins) / decided if decided else None)
        yield from _attributed(body, [today])
        yield from self._staged(body)

    def _staged(self, body: Any) -> Offs:
        for staged in body.staging_strategies:
            results = [s.pnl for s in self._money.sessions(staged.id)[-WINDOW:]]
            yield from _share(f"{staged.id}.staging_sharpe", staged.staging_sharpe, reported(results))
            yield from _count(f"{staged.id}.n", staged.n, len(results))

    def _weekly(self, body: Any) -> Offs:
        money = self._money
        week = _week(money.date)
        days = [day for day in money.window() if _week(day.date) == week]
        pnl = sum((day.pnl for day in days), ZERO)
        if body.week != week:
            yield Off("week", body.week, week)
        yield from _count("sessions", body.sessions, len(days))
        if exact(body.pnl_usd) != cents(pnl):
            yield Off("pnl_usd", body.pnl_usd, cents(pnl))
        yield from _share("pnl_pct", body.pnl_pct, part(pnl, days[0].opening) if days else ZERO)
        yield from self._cumulative(body)
        yield from _count("total_trades", body.total_trades, sum(day.trades for day in days))
        yield from _attributed(body, days)

    def _realised(self, body: Any) -> Offs:
        money, name, said = self._money, body.strategy_id, body.realised
        if exact(said.pnl) != cents(money.pnl(name)):
            yield Off("realised.pnl", said.pnl, cents(money.pnl(name)))
        sessions = money.sessions(name)[-WINDOW:]
        yield from _share("realised.sharpe_30d", said.sharpe_30d, reported([s.pnl for s in sessions]))
        yield from _count("realised.n", said.n, len(sessions))
        yield from _share("realised.max_drawdown", said.max_drawdown, money.deepest(name))
        yield from _count("realised.trades", said.trades, sum(s.trades for s in sessions))

    def _promised(self, body: Any) -> Offs:
        given, made = body.paper_trading_metrics.get("pnl_usd"), cents(self._money.made(body.strategy_id))
        if given is None or exact(given) != made:
            yield Off("paper_trading_metrics.pnl_usd", given, made)


def _share(field: str, given: float | None, wanted: Decimal | None) -> Offs:
    if differs(given, wanted):
        yield Off(field, given, None if wanted is None else round(wanted, 6))


def _count(field: str, given: int, wanted: int) -> Offs:
    if given != wanted:
        yield Off(field, given, wanted)


def _attributed(body: Any, days: Sequence[Day]) -> Offs:
    """Compare what each strategy is said to have contributed to some days."""
    made: dict[str, tuple[Decimal, int]] = {}
    for day in days:
        for share in day.shares:
            pnl, trades = made.get(share.strategy_id, (ZERO, 0))
            made[share.strategy_id] = (pnl + share.pnl, trades + share.trades)
    names = [said.id for said in body.strategy_attribution]
    if names != sorted(made):
        yield Off("strategy_attribution", ", ".join(names), ", ".join(sorted(made)))
    for said in body.strategy_attribution:
        pnl, trades = made[said.id]
        yield from _share(f"{said.id}.pnl_pct", said.pnl_pct, part(pnl, days[0].opening))
        yield from _count(f"{said.id}.trades", said.trades, trades)


def _week(day: str) -> str:
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02d}"


_JUDGES: Final[Mapping[str, tuple[Callable[[Figures, Any], Offs], str]]] = {
    "RISK_CHECK": (Figures._risk, "R-B7"),
    "OVERNIGHT_RISK_CHECK": (Figures._overnight, "R-B7"),
    "MARKET_CLOSE": (Figures._close, "R-D18"),
    "TRADING_SUMMARY": (Figures._summary, "R-D18"),
    "DAILY_TRADING_REPORT": (Figures._daily, "R-D18"),
    "WEEKLY_TRADING_REPORT": (Figures._weekly, "R-D18"),
    "METRICS_RECORDED": (Figures._realised, "R-D20"),
    "PROMOTION_PROPOSAL": (Figures._promised, "R-B3"),
}

REPORTS: Final = frozenset(_JUDGES)
"""Types whose figures are compared."""
