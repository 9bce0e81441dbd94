"""The desk's money by the executions alone: cash, positions and P&L in exact dollars (K11, R-B7).

Written apart from the book of `moot.protocols.trading` on purpose: a mistake there must not bless itself. Which
strategies are traded, since when and within which limit, it takes from the docket. Dollars are decimals; what messages
report is compared with it to the cent, fractions to half of their last digit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final, NamedTuple

from moot.verify.audit.told import Standings, Told, exact, remember

ZERO: Final = Decimal(0)
CENT: Final = Decimal("0.01")
GRAIN: Final = Decimal("0.0001")
"""Prices and amounts are counted in so many dollars."""
ONE: Final = Decimal(1)
SESSIONS_A_YEAR: Final = 252
WINDOW: Final = 30
KEPT: Final = 60
ENOUGH: Final = 20
CAPITAL: Final = 1_000_000.0
NOBODY: Final = "unassigned"


def price_of(dollars: float) -> Decimal:
    """Return a price as the desk counts it, in ten-thousandths of a dollar."""
    return Decimal(round(dollars * 10_000)).scaleb(-4)


def counted(amount: Decimal) -> Decimal:
    """Return an amount as the desk counts it, in ten-thousandths of a dollar, half to even."""
    return amount.quantize(GRAIN, ROUND_HALF_EVEN)


def cents(amount: Decimal) -> Decimal:
    """Round to cents, half to even."""
    return amount.quantize(CENT, ROUND_HALF_EVEN)


def part(amount: Decimal, whole: Decimal) -> Decimal:
    """Return an amount as a fraction of a whole; nothing or less counts as one dollar."""
    return amount / (whole if whole > 0 else ONE)


class Session(NamedTuple):
    """One session of a strategy: its P&L and trades."""

    pnl: Decimal
    trades: int


class Share(NamedTuple):
    """What a strategy made of a day."""

    strategy_id: str
    pnl: Decimal
    trades: int


class Day(NamedTuple):
    """A day of the desk."""

    date: str
    opening: Decimal
    pnl: Decimal
    trades: int
    shares: tuple[Share, ...]


class Placed:
    """An order: whose, signed shares, shares filled so far."""

    __slots__ = ("filled", "owner", "quantity", "symbol")

    def __init__(self, owner: str, symbol: str, quantity: int) -> None:
        """Start unfilled."""
        self.owner, self.symbol, self.quantity, self.filled = owner, symbol, quantity, 0


class Holding:
    """What a strategy holds of a symbol: signed shares, what they cost."""

    __slots__ = ("cost", "quantity")

    def __init__(self) -> None:
        """Start with nothing."""
        self.quantity = 0
        self.cost = ZERO

    def fill(self, quantity: int, price: Decimal) -> Decimal:
        """Take in a fill; return what it realised."""
        gained = ZERO
        held = self.quantity
        if held * quantity < 0:
            closed = min(abs(held), abs(quantity))
            released = counted(self.cost * closed / abs(held))
            sign = 1 if held > 0 else -1
            gained = sign * closed * price - released
            self.cost -= released
            self.quantity -= sign * closed
            quantity += sign * closed
        self.cost += quantity * price
        self.quantity += quantity
        return gained


class Purse:
    """Money of a strategy.

    Attributes:
        cash: What its fills paid and earned.
        opened: Its P&L when the day began.
        since: When its statistics began.
        base: Its P&L then.
        peak: Its highest P&L since, less `base`.
        closed: Its P&L at the last close.
        trades: Trades of the day.
        sessions: Its last sessions.
        held: Holdings by symbol.
    """

    __slots__ = ("base", "cash", "closed", "held", "opened", "peak", "sessions", "since", "trades")

    def __init__(self) -> None:
        """Start with nothing."""
        self.cash = self.opened = self.base = self.peak = self.closed = ZERO
        self.since: datetime | None = None
        self.trades = 0
        self.sessions: deque[Session] = deque(maxlen=KEPT)
        self.held: dict[str, Holding] = {}

    def pnl(self, marks: Mapping[str, Decimal]) -> Decimal:
        """Return its P&L ever, at some marks."""
        return self.cash + sum((h.quantity * marks.get(s, ZERO) for s, h in self.held.items()), ZERO)


class Money:
    """Books executions and knows what everything is worth.

    Attributes:
        capital: What the desk started with.
        cash: What is not in positions.
        drift: By how much reported equities are off from some message on; it is no longer held against them.
        marks: Last price by symbol.
        opening: Equity at the close before TRADING_DAY, or at that when none came before it.
        trades: Orders with a fill since then; `wins` and `losses`: fills that realised one.
        fills: Seqs of fills since the figures last agreed.
    """

    def __init__(self, strategies: Standings) -> None:
        """Start without money."""
        self.strategies = strategies
        self.capital: Decimal | None = None
        self.cash = self.opening = self.drift = ZERO
        self.marks: dict[str, Decimal] = {}
        self.date = ""
        self.trades = self.wins = self.losses = 0
        self.fills: deque[int] = deque(maxlen=8)
        self.days: deque[Day] = deque(maxlen=KEPT)
        self._takes_place = False
        self._closing: Day | None = None
        self._purses: dict[str, Purse] = {}
        self._stirred: set[str] = set()
        self._orders: dict[str, Placed] = {}
        self._owners: dict[str, str] = {}
        self._booked: dict[str, int] = {}

    # ------------------------------------------------------------ what the log says

    def start(self, config: Mapping[str, Any]) -> None:
        """Take the capital of the first start."""
        if self.capital is None:
            desk = config.get("desk") or {}
            self.capital = self.cash = self.opening = price_of(desk.get("capital", CAPITAL))

    def signal(self, told: Told) -> None:
        """Remember whose a signal is."""
        if told.case_id not in self._owners:
            remember(self._owners, told.case_id, told.body.strategy_id)

    def order(self, told: Told) -> None:
        """Take in an order that is placed."""
        body = told.body
        owner = self._owners.get(told.case_id, NOBODY)
        if body.client_order_id not in self._orders:
            signed = body.quantity if body.side == "BUY" else -body.quantity
            remember(self._orders, body.client_order_id, Placed(owner, body.symbol, signed))
        self._purse(owner)

    def execute(self, told: Told) -> None:
        """Book a fact (K11)."""
        body = told.body
        if not body.qty_filled or body.execution_id in self._booked:
            return
        remember(self._booked, body.execution_id, told.seq)
        order = self._orders.get(body.client_order_id)
        signal_id = body.signal_id or told.case_id
        owner = order.owner if order is not None else self._owners.get(signal_id, NOBODY)
        purse = self._purse(owner)
        quantity = body.qty_filled if body.action == "BUY" else -body.qty_filled
        if order is None or not order.filled:
            self.trades += 1
            purse.trades += 1
        if order is not None and order.symbol == body.symbol and order.quantity * quantity > 0:
            order.filled += body.qty_filled
        price, fee = price_of(body.avg_price), price_of(body.fee)
        holding = purse.held.setdefault(body.symbol, Holding())
        gained = holding.fill(quantity, price)
        if not holding.quantity:
            del purse.held[body.symbol]
        paid = quantity * price + fee
        self.cash -= paid
        purse.cash -= paid
        self.wins += gained > 0
        self.losses += gained < 0
        if price > 0:
            self.marks.setdefault(body.symbol, price)
        self._stirred.add(owner)
        self.fills.append(told.seq)

    def mark(self, prices: Mapping[str, float]) -> None:
        """Take in new marks, and with them new peaks."""
        self.marks = self.marked(prices)
        for owner in self._stirred | self.strategies.traded:
            purse = self._purse(owner)
            purse.peak = max(purse.peak, purse.pnl(self.marks) - purse.base)

    def close(self, told: Told) -> None:
        """End a session at the closing prices."""
        self.mark(told.body.closes)
        for owner in self._stirred | self.strategies.traded:
            purse = self._purse(owner)
            pnl = purse.pnl(self.marks)
            if owner in self.strategies.traded or pnl != purse.closed or purse.trades:
                purse.sessions.append(Session(pnl - purse.closed, purse.trades))
            purse.closed = pnl
        self._closing = self._day()

    def begin(self) -> None:
        """Take in deployments: statistics begin at the P&L that stands then."""
        for owner in self.strategies.traded:
            self._purse(owner)

    def open_day(self, told: Told) -> None:
        """Begin a day where the last close left it (R-F6)."""
        if self._takes_place:
            self.days.append(self.today())
        before, self._closing = self._closing, None
        self.date, self._takes_place = told.body.date, told.env.sent_at < told.body.closes_at
        self.opening = self.equity(self.marks) if before is None else before.opening + before.pnl
        self.trades = self.wins = self.losses = 0
        still = set()
        for owner in self._stirred:
            purse = self._purses[owner]
            pnl = purse.pnl(self.marks)
            purse.opened, purse.trades = pnl if before is None else purse.closed, 0
            if purse.held or pnl != purse.closed:
                still.add(owner)
        self._stirred = still

    def _purse(self, owner: str) -> Purse:
        """Return the purse of a strategy, its statistics begun anew when it was deployed since."""
        purse = self._purses.get(owner)
        if purse is None:
            purse = self._purses[owner] = Purse()
        known = self.strategies.get(owner)
        since = known.deployed_at if known is not None else None
        if since is not None and since != purse.since:
            purse.since = since
            purse.base = purse.closed = purse.pnl(self.marks)
            purse.peak = ZERO
            purse.sessions.clear()
        return purse

    # ------------------------------------------------------------ what it amounts to

    def marked(self, prices: Mapping[str, float]) -> dict[str, Decimal]:
        """Return the marks with newer prices; one of nothing or less is none."""
        return {
            **self.marks,
            **{name: found for name, price in prices.items() if (found := price_of(price)) > 0},
        }

    def holdings(self) -> list[tuple[str, str, int]]:
        """Return (strategy, symbol, signed shares) of everything that is held."""
        return [
            (owner, symbol, holding.quantity)
            for owner in self._stirred
            for symbol, holding in self._purses[owner].held.items()
        ]

    def equity(self, marks: Mapping[str, Decimal]) -> Decimal:
        """Return cash and positions, with what reported equities are off by."""
        worth = sum((quantity * marks.get(symbol, ZERO) for _, symbol, quantity in self.holdings()), ZERO)
        return self.cash + self.drift + worth

    def allocation(self, owner: str) -> Decimal:
        """Return what a strategy's curve starts from."""
        return counted(self.strategies.share(owner) * self.opening)

    def drawdowns(self, marks: Mapping[str, Decimal]) -> dict[str, Decimal]:
        """Return how far each curve stands under its peak."""
        found = {}
        for owner in {owner for owner in self._stirred if self._purses[owner].held} | self.strategies.traded:
            purse = self._purses.get(owner)
            known = self.strategies.get(owner)
            since = known.deployed_at if known is not None else None
            if purse is None or since not in (None, purse.since):
                found[owner] = ZERO if purse is None else self._fallen(owner, purse, marks, fresh=True)
            else:
                found[owner] = self._fallen(owner, purse, marks)
        return found

    def _fallen(
        self, owner: str, purse: Purse, marks: Mapping[str, Decimal], *, fresh: bool = False
    ) -> Decimal:
        base, before = (purse.pnl(self.marks), ZERO) if fresh else (purse.base, purse.peak)
        pnl = purse.pnl(marks) - base
        peak = max(before, pnl)
        return part(min(pnl - peak, ZERO), self.allocation(owner) + peak)

    def today(self) -> Day:
        """Return the day as its close left it, before that as it stands."""
        return self._closing or self._day()

    def _day(self) -> Day:
        shares = tuple(
            Share(owner, pnl, self._purses[owner].trades)
            for owner in sorted(self._stirred)
            if (pnl := self._purses[owner].pnl(self.marks) - self._purses[owner].opened)
            or self._purses[owner].trades
        )
        return Day(self.date, self.opening, self.equity(self.marks) - self.opening, self.trades, shares)

    def window(self) -> list[Day]:
        """Return the last sessions of the desk that took place under this society (R-F6)."""
        return [*self.days, *([self.today()] if self._takes_place else [])][-WINDOW:]

    def pnl(self, owner: str) -> Decimal:
        """Return what a strategy made of the day."""
        return sum((share.pnl for share in self.today().shares if share.strategy_id == owner), ZERO)

    def made(self, owner: str) -> Decimal:
        """Return what a strategy made since its statistics began."""
        purse = self._purses.get(owner)
        return purse.pnl(self.marks) - purse.base if purse is not None else ZERO

    def sessions(self, owner: str) -> list[Session]:
        """Return the kept sessions of a strategy since its deployment."""
        purse, known = self._purses.get(owner), self.strategies.get(owner)
        if purse is None or (known is not None and known.deployed_at not in (None, purse.since)):
            return []
        return list(purse.sessions)

    def deepest(self, owner: str) -> Decimal:
        """Return the deepest fall of a strategy's last sessions, positive."""
        results = [s.pnl for s in self.sessions(owner)]
        before = sum(results[:-WINDOW], ZERO)
        return deepest(self.allocation(owner) + before, results[-WINDOW:])


def reported(results: list[Decimal]) -> Decimal | None:
    """Return the Sharpe ratio as reports show it: None over fewer than 20 sessions (R-F6)."""
    return sharpe(results) if len(results) >= ENOUGH else None


def sharpe(results: list[Decimal]) -> Decimal | None:
    """Return the annual Sharpe ratio of P&L by session; None before two, or when all are equal."""
    n = len(results)
    if n < 2 or all(result == results[0] for result in results):
        return None
    mean = sum(results, ZERO) / n
    spread = sum(((result - mean) ** 2 for result in results), ZERO) / (n - 1)
    return mean / spread.sqrt() * Decimal(SESSIONS_A_YEAR).sqrt()


def deepest(start: Decimal, results: list[Decimal]) -> Decimal:
    """Return the deepest fall under a peak, as a positive fraction."""
    found = pnl = peak = ZERO
    for result in results:
        pnl += result
        peak = max(peak, pnl)
        found = min(found, part(pnl - peak, start + peak))
    return -found


def differs(given: float | None, wanted: Decimal | None) -> bool:
    """Say whether a reported fraction is another than the exact one, rounded to six digits."""
    if given is None or wanted is None:
        return not (given is None and wanted is None)
    return abs(exact(given) - wanted) > Decimal("0.00000050001")
