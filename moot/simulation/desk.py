"""What the desk did in a stretch of a society's life: the second half of `moot simulate`'s figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.times import rfc3339
from moot.protocols.research.messages import StrategyMoved
from moot.protocols.trading.alert import ALERT
from moot.protocols.trading.book_entries import CAPITAL
from moot.protocols.trading.book_figures import dollars, share, units, value
from moot.protocols.trading.messages import (
    Execution,
    MarketClose,
    Order,
    RiskAlert,
    RiskCheck,
    Signal,
    TradingDay,
)
from moot.protocols.trading.protocol import PROTOCOL as TRADING

KINDS: Final = frozenset(machine.kind for machine in TRADING.cases if machine is not ALERT)
"""Kinds of cases that are counted when they open; alerts are counted by their level instead."""

DECIDED_BY: Final[Mapping[str, str]] = {
    "admin": "the admin",
    "admin_modified": "the admin",
    "expired": "the admin's silence",
}
"""Who decided a deployment, by the reason of the ruling on it; without one of these it was the table."""

UNKNOWN: Final = "unassigned"
"""Whose fills are counted as when the log knows no signal for them."""


class Day(NamedTuple):
    """A day of the desk: money in dollars, P&L against its opening equity.

    Where its books were not closed (`is_closed`), the last measured risk stands for the close.
    """

    date: str
    equity: float
    pnl_usd: float
    pnl_pct: float
    trades: int
    is_closed: bool


class Point(NamedTuple):
    """The equity at an instant, in dollars."""

    at: datetime
    equity: float


class Event(NamedTuple):
    """A halt, a resume or a promotion: when, which, of what."""

    at: datetime
    what: str
    subject: str


@dataclass(slots=True)
class DeskSummary:
    """Figures of the desk, from message bodies and from cases that opened and ended.

    Attributes:
        capital: Dollars at the start.
        cases: Cases that opened, by kind.
        orders: Orders that broke no rule.
        executions: What the broker did, by status; facts count whatever rule they break (K11).
        fills: Executions with a quantity, each fact once.
        trades_ended: How trades ended.
        deployments: How deployments were decided: decision and by whom.
        promotions: How promotions ended; `extended` are extensions.
        feedbacks: How feedbacks ended.
        recalls: How recalls ended.
        withdrawn: Strategies that were moved to withdrawn.
        alerts: Alerts by level; HALT opens a halt.
        halted_by: Who halted the desk.
        resumed: Halts that were lifted.
        days: The days of the desk that are over and were measured.
        curve: Equity at every measured risk and at every close.
        events: Halts, resumes and promotions in their order.
    """

    capital: float = 0.0
    cases: Counter[str] = field(default_factory=Counter)
    orders: int = 0
    executions: Counter[str] = field(default_factory=Counter)
    fills: int = 0
    trades_ended: Counter[str] = field(default_factory=Counter)
    deployments: Counter[str] = field(default_factory=Counter)
    promotions: Counter[str] = field(default_factory=Counter)
    feedbacks: Counter[str] = field(default_factory=Counter)
    recalls: Counter[str] = field(default_factory=Counter)
    withdrawn: list[str] = field(default_factory=list)
    alerts: Counter[str] = field(default_factory=Counter)
    halted_by: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    days: list[Day] = field(default_factory=list)
    curve: list[Point] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    _date: str = ""
    _trades: int = 0
    _today: Day | None = None
    _signals: dict[str, str] = field(default_factory=dict)
    _booked: set[str] = field(default_factory=set)
    _filled: set[str] = field(default_factory=set)
    _cash: Counter[str] = field(default_factory=Counter)
    _fills: Counter[str] = field(default_factory=Counter)
    _held: dict[str, Counter[str]] = field(default_factory=dict)
    _marks: dict[str, int] = field(default_factory=dict)
    _ruled: dict[str, str] = field(default_factory=dict)

    # ---------------------------------------------------------------- counting

    def take(self, env: Envelope, fx: Effects) -> None:
        """Count one message and what it changed."""
        body = env.body
        if isinstance(body, Execution):
            self._executed(body, env)
        elif isinstance(body, Signal):
            self._signals.setdefault(body.signal_id or env.case_id or "", body.strategy_id)
        elif fx.violation is None and not fx.superseded:
            self._said(env)
        decision = fx.decision
        if decision is not None and decision.rule == "R-B1" and decision.reason in DECIDED_BY:
            self._ruled[env.case_id or ""] = DECIDED_BY[decision.reason]
        for state in fx.started:
            if state.outcome == "joined":
                continue
            if state.kind in KINDS:
                self.cases[state.kind] += 1
            if state.kind == "halt":
                self.halted_by[env.author] += 1
                self.events.append(Event(env.sent_at, "halt", state.case_id))
        for state in fx.ended:
            self._ended(state, env)

    def _said(self, env: Envelope) -> None:
        body = env.body
        if isinstance(body, RiskCheck):
            self._measured(env.sent_at, body.equity, body.marks)
            self._today = Day(
                self._date, body.equity, body.daily_pnl_usd, body.daily_pnl_pct, self._trades, False
            )
        elif isinstance(body, Order):
            self.orders += 1
        elif isinstance(body, MarketClose):
            self._measured(env.sent_at, body.equity, body.closes)
            self.days.append(Day(body.date, body.equity, body.pnl_usd, body.pnl_pct, body.trades, True))
            self._today = None
        elif isinstance(body, TradingDay):
            self.days, self._today = self.measured_days(), None
            self._date, self._trades = body.date, 0
        elif isinstance(body, RiskAlert):
            self.alerts[body.level] += 1
        elif isinstance(body, StrategyMoved):
            if body.to == "withdrawn":
                self.withdrawn.append(body.strategy_id)
            elif body.to == "production":
                self.events.append(Event(env.sent_at, "promotion", body.strategy_id))
        elif isinstance(body, SocietyStarted) and not self.capital:
            self.capital = float((body.config.get("desk") or {}).get("capital", CAPITAL))
            self.curve.append(Point(env.sent_at, self.capital))

    def _measured(self, at: datetime, equity: float, marks: Mapping[str, float]) -> None:
        self.curve.append(Point(at, equity))
        self._marks.update((symbol, units(price)) for symbol, price in marks.items() if price > 0)

    def _executed(self, body: Execution, env: Envelope) -> None:
        self.executions[body.status] += 1
        if not body.qty_filled or body.execution_id in self._booked:
            return
        if body.execution_id:
            self._booked.add(body.execution_id)
        self.fills += 1
        self._trades += body.client_order_id not in self._filled
        self._filled.add(body.client_order_id)
        strategy_id = self._signals.get(body.signal_id or env.case_id or "", UNKNOWN)
        quantity = body.qty_filled if body.action == "BUY" else -body.qty_filled
        price = units(body.avg_price)
        self._fills[strategy_id] += 1
        self._cash[strategy_id] -= quantity * price + units(body.fee)
        self._held.setdefault(strategy_id, Counter())[body.symbol] += quantity
        if price > 0:
            self._marks.setdefault(body.symbol, price)

    def _ended(self, state: Any, env: Envelope) -> None:
        outcome = state.outcome or ""
        if state.kind == "deployment":
            by = self._ruled.pop(state.case_id, "the table")
            is_decided = outcome in ("deployed", "rejected")
            self.deployments[f"{state.decision} by {by}" if is_decided else outcome] += 1
        elif state.kind == "halt":
            if outcome == "resumed":
                self.resumed += 1
                self.events.append(Event(env.sent_at, "resume", state.case_id))
        elif state.kind in _ENDINGS:
            getattr(self, _ENDINGS[state.kind])[outcome] += 1

    # ---------------------------------------------------------------- figures

    @property
    def equity(self) -> float:
        """Return the last measured equity in dollars."""
        return self.curve[-1].equity if self.curve else self.capital

    @property
    def pnl_usd(self) -> float:
        """Return what the period earned, in dollars."""
        return dollars(units(self.equity) - units(self.capital))

    @property
    def pnl_pct(self) -> float:
        """Return that as a fraction of the capital."""
        return share(units(self.equity) - units(self.capital), units(self.capital)) if self.capital else 0.0

    @property
    def max_drawdown(self) -> float:
        """Return the deepest fall of the measured equity under a peak before it, a fraction from 0."""
        return max((-fall for fall in self.drawdowns()), default=0.0) + 0.0

    def drawdowns(self) -> list[float]:
        """Return for each point of the curve how far it stands under the peak so far: 0 or negative."""
        found, peak = [], 0.0
        for point in self.curve:
            peak = max(peak, point.equity)
            found.append(round(point.equity / peak - 1.0, 6) + 0.0 if peak > 0 else 0.0)
        return found

    def attribution(self) -> dict[str, dict[str, float]]:
        """Return for each strategy that traded its P&L in dollars, fees included, and its fills."""
        return {
            strategy_id: {
                "pnl_usd": dollars(self._cash[strategy_id] + value(held, self._marks)),
                "fills": self._fills[strategy_id],
            }
            for strategy_id, held in sorted(self._held.items())
        }

    def measured_days(self) -> list[Day]:
        """Return the days of the desk that were measured, the one that is still running included.

        One whose books nobody closed stands as its last measured risk left it.
        """
        today = self._today
        return [*self.days, *([today._replace(trades=self._trades)] if today is not None else [])]

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain data: money in dollars, shares as fractions, counters sorted by name."""
        counts = {
            name: dict(sorted(counter.items()))
            for name in self.__slots__
            if not name.startswith("_") and isinstance(counter := getattr(self, name), Counter)
        }
        return {
            "capital": self.capital,
            "equity": self.equity,
            "pnl_usd": self.pnl_usd,
            "pnl_pct": self.pnl_pct,
            "max_drawdown": self.max_drawdown,
            "orders": self.orders,
            "fills": self.fills,
            **counts,
            "resumed": self.resumed,
            "withdrawn": self.withdrawn,
            "attribution": self.attribution(),
            "days": [day._asdict() for day in self.measured_days()],
            "events": [{**event._asdict(), "at": rfc3339(event.at)} for event in self.events],
        }


_ENDINGS: Final[Mapping[str, str]] = {
    "trade": "trades_ended",
    "promotion": "promotions",
    "feedback": "feedbacks",
    "recall": "recalls",
}
"""Which counter takes how a kind of case ended."""
