"""The book: what the desk has, and the figures that its checks and reports must equal (R-B7, K11)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Literal

from moot.protocols.trading import limits
from moot.protocols.trading.book_accounts import Day, StrategySession
from moot.protocols.trading.book_entries import Entries
from moot.protocols.trading.book_figures import (
    WINDOW,
    Curve,
    Ratio,
    divide,
    dollars,
    drawdown,
    max_drawdown,
    measure,
    ratio,
    share,
    value,
)
from moot.protocols.trading.messages import Attribution, Staged

Since = Literal["deployment", "promotion"]


class Book(Entries):
    """Answer what the entries amount to; questions change nothing.

    Methods that take marks or closing prices take them in dollars, as messages carry them.
    """

    # ---------------------------------------------------------------- strategies

    def allocation(self, strategy_id: str) -> int:
        """Return what a strategy's curve starts from: position limit × number of its symbols × opening equity."""
        standing = self._standing(strategy_id)
        strategy = standing.strategy if standing is not None else None
        symbols = len(strategy.symbols) if strategy is not None else 0
        limit = round(limits.position_limit(standing) * limits.MILLION)
        return divide(limit * max(symbols, 1) * self.opening, limits.MILLION)

    def curve(self, strategy_id: str) -> Curve:
        """Return what a strategy's drawdown since its deployment is computed from, in units."""
        account, known = self._account(strategy_id), self._accounts.get(strategy_id)
        cash = (known.cash if known is not None else 0) - account.base
        return Curve(self.allocation(strategy_id), cash, account.peak)

    def curves(self) -> dict[str, Curve]:
        """Return the curves of the strategies that are traded or hold something."""
        shown = {owner for owner, _ in self.positions}
        if self._context is not None:
            shown.update(self._life().traded())
        return {strategy_id: self.curve(strategy_id) for strategy_id in sorted(shown)}

    def drawdown(self, strategy_id: str, marks: Mapping[str, float] | None = None) -> float:
        """Return how far a strategy's curve stands under its peak since deployment: 0 or negative."""
        curve = self.curve(strategy_id)
        pnl = curve.cash + value(self._held(strategy_id), self._marked(marks))
        return drawdown(curve.allocation, pnl, max(curve.peak, pnl))

    def has_account(self, strategy_id: str) -> bool:
        """Say whether anything was ever booked for a strategy, or it was deployed; before, it fares in no way."""
        return strategy_id in self._accounts

    def sessions(self, strategy_id: str, since: Since = "deployment") -> tuple[StrategySession, ...]:
        """Return the sessions of a strategy that are kept since its deployment or promotion, oldest first."""
        account = self._account(strategy_id)
        kept = tuple(account.sessions)
        if since == "deployment":
            return kept
        standing = self._standing(strategy_id)
        if standing is None or standing.promoted_at is None:
            return ()
        return tuple(s.live for s in kept[max(len(kept) - account.live, 0) :])

    def ratio(self, strategy_id: str, since: Since = "deployment") -> Ratio:
        """Return the Sharpe ratio of a strategy's last 30 sessions, with their number (R-B9, R-B10, R-F6)."""
        if since == "deployment":
            return self._account(strategy_id).ratio
        return ratio([s.pnl for s in self.sessions(strategy_id, since)])

    def _max_drawdown(self, strategy_id: str, since: Since = "deployment") -> float:
        """Return the deepest fall at the closes of the last 30 sessions, positive as in backtests."""
        results = [s.pnl for s in self.sessions(strategy_id, since)]
        before = sum(results[:-WINDOW])
        return max_drawdown(self.allocation(strategy_id) + before, results[-WINDOW:])

    def live_figures(self, strategy_id: str) -> dict[str, float]:
        """Return what a strategy did since its promotion, over 30 sessions at most, but for its P&L (R-F5).

        A ratio that does not exist is left out.
        """
        sessions, found = self.sessions(strategy_id, "promotion"), self.ratio(strategy_id, "promotion")
        return {
            **({"live_sharpe": found.sharpe} if found.sharpe is not None else {}),
            "live_n": found.n,
            "live_max_drawdown": self._max_drawdown(strategy_id, "promotion"),
            "live_trades": sum(s.trades for s in sessions[-WINDOW:]),
            "live_pnl": dollars(sum(s.pnl for s in sessions[-WINDOW:])),
        }

    # ---------------------------------------------------------------- reports

    def holdings(self) -> dict[str, dict[str, int]]:
        """Return the signed shares by strategy and symbol, by name."""
        held: dict[str, dict[str, int]] = {}
        for (strategy_id, symbol), position in sorted(self.positions.items()):
            held.setdefault(strategy_id, {})[symbol] = position.quantity
        return held

    def measures(self, marks: Mapping[str, float] | None = None) -> dict[str, Any]:
        """Return RISK_CHECK's figures at some marks in dollars, all but `var95` and `correlation` (R-B7)."""
        return measure(self.cash, self.opening, self.holdings(), self._marked(marks), self.curves())

    def close_figures(self, closes: Mapping[str, float]) -> dict[str, Any]:
        """Return MARKET_CLOSE's figures at the closing prices in dollars."""
        equity = self.equity(closes)
        pnl = equity - self.opening
        return {
            "date": self.date,
            "equity": dollars(equity),
            "pnl_usd": dollars(pnl),
            "pnl_pct": share(pnl, self.opening),
            "trades": self.trades_today,
        }

    def risk_status(self) -> str:
        """Return NORMAL, WARNING, CRITICAL or HALTED, by the halt in force and the last RISK_CHECK of the day."""
        if self.halted:
            return "HALTED"
        return {"": "NORMAL", "HALT": "CRITICAL"}.get(self.level, self.level)

    def summary_figures(self, session: Any) -> dict[str, Any]:
        """Return TRADING_SUMMARY's figures, all but its period."""
        pnl = self.equity() - self.opening
        return {
            "pnl_usd": dollars(pnl),
            "pnl_pct": share(pnl, self.opening),
            "trades": self.trades_today,
            "wins": self.wins_today,
            "losses": self.losses_today,
            "active_strategies": tuple(sorted(self._life().traded())) if self._context is not None else (),
            "risk_status": self.risk_status(),
        }

    def _cumulative(self) -> float:
        return share(self.equity() - self.capital, self.capital)

    def daily_figures(self, session: Any) -> dict[str, Any]:
        """Return DAILY_TRADING_REPORT's figures; its flags are those raised since the last such report."""
        today, window = self._today(), self._sessions_of_desk()[-WINDOW:]
        results = [day.pnl for day in window]
        found = ratio(results)
        decided = self.wins_today + self.losses_today
        held = {standing.strategy_id: standing for standing in self._life().at_desk()}
        staged = [
            (name, standing)
            for name, standing in sorted(held.items())
            if standing.stage == "staging" and standing.is_deployed
        ]
        return {
            "date": session.date,
            "pnl_usd": dollars(today.pnl),
            "pnl_pct": share(today.pnl, today.opening),
            "cumulative_pnl_pct": self._cumulative(),
            "sharpe_30d": found.reported,
            "max_dd_30d": max_drawdown(window[0].opening if window else 0, results),
            "n": found.n,
            "total_trades": self.trades_today,
            "win_rate": round(self.wins_today / decided, 6) if decided else None,
            "strategy_attribution": _attributed((today,)),
            "staging_strategies": tuple(
                Staged(id=name, days_in_staging=standing.days, staging_sharpe=of.reported, n=of.n)
                for name, standing in staged
                for of in (self.ratio(name),)
            ),
            "recall_flags": () if self._is_reported else tuple(sorted(set(self._flags))),
        }

    def weekly_figures(self, session: Any) -> dict[str, Any]:
        """Return WEEKLY_TRADING_REPORT's figures for the ISO week of a session."""
        week = _week(session.date)
        days = [day for day in self._sessions_of_desk() if _week(day.date) == week]
        pnl = sum(day.pnl for day in days)
        moves = [(what, name) for day, what, name in self._moves if day and _week(day) == week]
        return {
            "week": week,
            "sessions": len(days),
            "pnl_usd": dollars(pnl),
            "pnl_pct": share(pnl, days[0].opening) if days else 0.0,
            "cumulative_pnl_pct": self._cumulative(),
            "total_trades": sum(day.trades for day in days),
            "strategy_attribution": _attributed(days),
            "promotions": tuple(sorted({name for what, name in moves if what == "promotion"})),
            "recalls": tuple(sorted({name for what, name in moves if what == "recall"})),
        }

    def day_pnl_pct(self, since: datetime, until: datetime) -> float | None:
        """Return the desk's last day that was closed in (since, until]: equity over the close before, less 1 (R-F6).

        Returns:
            A fraction; None when no session was closed then.
        """
        closed = [day for at, day in self._closes if since < at <= until]
        return share(closed[-1].pnl, closed[-1].opening) if closed else None

    def realised(self, strategy_id: str) -> dict[str, Any]:
        """Return METRICS_RECORDED's `realised` of a strategy: the day's P&L, the rest over 30 sessions at most."""
        found = self.ratio(strategy_id)
        return {
            "pnl": dollars(sum(s.pnl for s in self._today().shares if s.strategy_id == strategy_id)),
            "sharpe_30d": found.reported,
            "n": found.n,
            "max_drawdown": self._max_drawdown(strategy_id),
            "trades": sum(s.trades for s in self.sessions(strategy_id)[-WINDOW:]),
        }

    def paper_metrics(self, strategy_id: str) -> dict[str, float]:
        """Return PROMOTION_PROPOSAL's figures since deployment; those that do not exist yet are left out."""
        account, standing = self._account(strategy_id), self._standing(strategy_id)
        found = self.ratio(strategy_id)
        figures = {
            "sharpe": found.sharpe,
            "n": found.n,
            "max_drawdown": self._max_drawdown(strategy_id),
            "trades": account.trades,
            "pnl_usd": dollars(self._pnl(strategy_id) - account.base),
            "win_rate": account.win_rate,
            "avg_slippage_bps": account.slippage_bps,
            "fill_rate": account.fill_rate,
            "days": standing.days if standing is not None else 0,
        }
        return {name: figure for name, figure in figures.items() if figure is not None}


def _week(day: str) -> str:
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02d}"


def _attributed(days: list[Day] | tuple[Day, ...]) -> tuple[Attribution, ...]:
    """Add up what each strategy contributed to some days, as fractions of the first one's opening equity."""
    made: dict[str, tuple[int, int]] = {}
    for day in days:
        for strategy_id, pnl, trades in day.shares:
            before = made.get(strategy_id, (0, 0))
            made[strategy_id] = (before[0] + pnl, before[1] + trades)
    return tuple(
        Attribution(id=name, pnl_pct=share(pnl, days[0].opening), trades=trades)
        for name, (pnl, trades) in sorted(made.items())
    )
