"""The desk's books, by the log alone, in exact decimals (K11, R-B7, R-F6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final, NamedTuple

from tests.independent.said import ZERO, Said, instant, part
from tests.independent.standings import Standings

UNIT: Final = Decimal("0.0001")
"""Prices have at most 4 decimals, and what a shrinking position gives up of its cost is rounded to them."""


class Session(NamedTuple):
    """A strategy's session: what it made and traded, all in all and since a promotion on that day."""

    seq: int
    pnl: Decimal
    trades: int
    live_pnl: Decimal
    live_trades: int


class Day(NamedTuple):
    """A session of the desk: equity at the close before, P&L from there to its own close, who made it."""

    date: str
    opening: Decimal
    pnl: Decimal
    trades: int
    shares: dict[str, tuple[Decimal, int]]


@dataclass
class Account:
    """A strategy's money; from `base` down since its deployment."""

    cash: Decimal = ZERO
    opened: Decimal = ZERO
    closed: Decimal = ZERO
    today: int = 0
    since: datetime | None = None
    base: Decimal = ZERO
    peak: Decimal = ZERO
    trades: int = 0
    wins: int = 0
    losses: int = 0
    ordered: int = 0
    filled: int = 0
    slipped: Decimal = ZERO
    sessions: list[Session] = field(default_factory=list)
    promoted: tuple[Decimal, int] | None = None
    """What the present session had made and traded when the strategy was promoted in it."""


@dataclass
class Order:
    """An order: whose, and what was filled of it."""

    strategy: str
    symbol: str
    side: str
    filled: int = 0


class Money:
    """Fold the books."""

    def __init__(self, standings: Standings) -> None:
        self.standings = standings
        self.capital: Decimal | None = None
        self.cash = ZERO
        self.held: dict[tuple[str, str], tuple[int, Decimal]] = {}
        self.marks: dict[str, Decimal] = {}
        self.accounts: dict[str, Account] = {}
        self.signals: dict[str, str] = {}
        self.orders: dict[str, Order] = {}
        self.booked: set[str] = set()
        self.date = ""
        self.takes_place = False
        self.opening = ZERO
        self.trades = self.wins = self.losses = 0
        self.closing: Day | None = None
        """The present day as its close left it; None before."""
        self.days: list[Day] = []
        self.closes: list[tuple[datetime, Decimal, Decimal]] = []
        """Of each MARKET_CLOSE: when, the equity, and the equity at the close before it."""

    # ------------------------------------------------------------ folding

    def take(self, said: Said) -> None:
        """Take in a message."""
        body = said.body
        if said.kind == "SOCIETY_STARTED" and self.capital is None:
            desk = body["config"].get("desk") or {}
            self.capital = self.cash = self.opening = Decimal(str(desk.get("capital", 1_000_000)))
        elif said.kind == "SIGNAL":
            self.signals.setdefault(said.case, body["strategy_id"])
        elif said.kind == "ORDER":
            self._ordered(said)
        elif said.kind == "EXECUTION":
            self._executed(said)
        elif said.kind == "RISK_CHECK":
            self._mark(body["marks"])
        elif said.kind == "MARKET_CLOSE":
            self._close(said)
        elif said.kind == "TRADING_DAY":
            self._open(said)
        elif said.kind == "STRATEGY_MOVED" and body["to"] == "production":
            account = self.account(body["strategy_id"])
            account.promoted = (self.pnl(body["strategy_id"]) - account.closed, account.today)

    def _open(self, said: Said) -> None:
        equity = self.closing.opening + self.closing.pnl if self.closing is not None else self.equity()
        if self.takes_place:
            self.days.append(self.day())
        for name, account in self.accounts.items():
            account.opened = account.closed if self.closing is not None else self.pnl(name)
            account.today = 0
        self.date, self.opening, self.closing = said.body["date"], equity, None
        self.takes_place = said.at < instant(said.body["closes_at"])
        self.trades = self.wins = self.losses = 0

    def _close(self, said: Said) -> None:
        self._mark(said.body["closes"])
        for name, account in self.accounts.items():
            pnl = self.pnl(name)
            if self.standings.of(name).is_traded or pnl != account.closed or account.today:
                made = pnl - account.closed
                before = account.promoted or (ZERO, 0)
                account.sessions.append(
                    Session(said.seq, made, account.today, made - before[0], account.today - before[1])
                )
            account.closed, account.promoted = pnl, None
        equity = self.equity()
        self.closing = self._day(equity)
        self.closes.append((said.at, equity, self.opening))

    def day(self) -> Day:
        """Return the present day, up to its close once that was."""
        return self.closing or self._day(self.equity())

    def _day(self, equity: Decimal) -> Day:
        made = {name: (self.pnl(name) - one.opened, one.today) for name, one in self.accounts.items()}
        shares = {name: one for name, one in sorted(made.items()) if one[0] or one[1]}
        return Day(self.date, self.opening, equity - self.opening, self.trades, shares)

    def _mark(self, marks: dict[str, Any]) -> None:
        self.marks = self.marked(marks)
        for name in sorted({*self.accounts, *self.standings.traded()}):
            account = self.account(name)
            account.peak = max(account.peak, self.pnl(name) - account.base)

    def marked(self, marks: dict[str, Any] | None = None) -> dict[str, Decimal]:
        """Return the last prices with newer ones; one of nothing or less is none."""
        newer = {name: priced(price) for name, price in (marks or {}).items()}
        return {**self.marks, **{name: price for name, price in newer.items() if price > 0}}

    def _ordered(self, said: Said) -> None:
        strategy = self.signals.get(said.case, "unassigned")
        body = said.body
        self.orders.setdefault(body["client_order_id"], Order(strategy, body["symbol"], body["side"]))
        self.account(strategy).ordered += body["quantity"]

    def _executed(self, said: Said) -> None:
        body = said.body
        filled, name = body["qty_filled"], body["execution_id"]
        if not filled or name in self.booked:
            return
        self.booked.add(name)
        order = self.orders.get(body["client_order_id"])
        strategy = order.strategy if order is not None else self.signals.get(said.case, "unassigned")
        account = self.account(strategy)
        if order is None or not order.filled:
            self.trades += 1
            account.today += 1
            account.trades += 1
        if order is not None and (order.symbol, order.side) == (body["symbol"], body["action"]):
            order.filled += filled
        account.filled += filled
        account.slipped += filled * Decimal(body["slippage_bps"])
        quantity = filled if body["action"] == "BUY" else -filled
        price = priced(body["avg_price"])
        gained = self._fill((strategy, body["symbol"]), quantity, price)
        paid = quantity * price + Decimal(body["fee"])
        self.cash -= paid
        account.cash -= paid
        for counts in (self, account):
            counts.wins += gained > 0
            counts.losses += gained < 0
        if price > 0:
            self.marks.setdefault(body["symbol"], price)

    def _fill(self, key: tuple[str, str], quantity: int, price: Decimal) -> Decimal:
        """Book a fill and return what it realised."""
        held, cost = self.held.pop(key, (0, ZERO))
        closed, released = 0, ZERO
        if held * quantity < 0:
            closed = -held if abs(quantity) > abs(held) else quantity
            released = (cost * abs(closed) / abs(held)).quantize(UNIT, ROUND_HALF_EVEN)
        if held + quantity:
            self.held[key] = (held + quantity, cost - released + (quantity - closed) * price)
        return -closed * price - released if closed else ZERO

    # ------------------------------------------------------------ questions

    def account(self, strategy: str) -> Account:
        """Return a strategy's account; it begins anew with each deployment."""
        account = self.accounts.setdefault(strategy, Account())
        since = self.standings.of(strategy).deployed_at
        if since is not None and since != account.since:
            pnl = self.pnl(strategy)
            self.accounts[strategy] = account = Account(
                account.cash, account.opened, pnl, account.today, since, pnl
            )
        return account

    def equity(self, marks: dict[str, Any] | None = None) -> Decimal:
        """Return what the desk is worth at the last prices or newer ones."""
        prices = self.marked(marks)
        return self.cash + sum(
            (n * prices.get(symbol, ZERO) for (_, symbol), (n, _) in self.held.items()), ZERO
        )

    def pnl(self, strategy: str, prices: dict[str, Decimal] | None = None) -> Decimal:
        """Return what a strategy made ever."""
        account, prices = self.accounts.get(strategy), self.marks if prices is None else prices
        worth = (
            n * prices.get(symbol, ZERO) for (owner, symbol), (n, _) in self.held.items() if owner == strategy
        )
        return account.cash + sum(worth, ZERO) if account is not None else ZERO

    def allocation(self, strategy: str) -> Decimal:
        """Return what a strategy's curve starts from: its limit, by symbol, of the day's opening equity."""
        known = self.standings.of(strategy)
        return (known.position * max(known.symbols, 1) * self.opening).quantize(UNIT, ROUND_HALF_EVEN)

    def drawdowns(self, prices: dict[str, Decimal]) -> dict[str, Decimal]:
        """Return how far the strategies that are traded or hold something stand under their peaks."""
        found = {}
        for name in {*self.standings.traded(), *(owner for owner, _ in self.held)}:
            account = self.account(name)
            pnl = self.pnl(name, prices) - account.base
            peak = max(account.peak, pnl)
            found[name] = part(pnl - peak, self.allocation(name) + peak)
        return found

    def sessions(self, strategy: str) -> list[Session]:
        """Return a strategy's sessions since its deployment."""
        return self.account(strategy).sessions

    def live(self, strategy: str) -> list[Session]:
        """Return its sessions since its promotion."""
        since = self.standings.of(strategy).promoted
        return [one for one in self.sessions(strategy) if since is not None and one.seq > since]


def priced(price: Any) -> Decimal:
    """Read a price."""
    return Decimal(price).quantize(UNIT, ROUND_HALF_EVEN)
