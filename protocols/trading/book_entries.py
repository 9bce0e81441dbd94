"""Entries of the book: money, positions, marks and the history of each strategy, folded from the log (K11)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

from moot.protocols.kernel.context import Deed, Fold, RuleContext
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import Ruling, SocietyStarted
from moot.protocols.research.messages import StrategyMoved
from moot.protocols.trading import limits
from moot.protocols.trading.book_accounts import KEPT, Account, Day, Placed, Share, StrategySession
from moot.protocols.trading.book_figures import (
    FLAT,
    Position,
    filled,
    units,
    value,
)
from moot.protocols.trading.halt import HaltState
from moot.protocols.trading.hours import trading_ends_at
from moot.protocols.trading.life import DEPLOYED
from moot.protocols.trading.messages import (
    DailyTradingReport,
    Execution,
    MarketClose,
    Order,
    RecallFlag,
    RiskCheck,
    Signal,
    TradingDay,
)

if TYPE_CHECKING:
    from moot.protocols.trading.life import Life
    from moot.protocols.trading.standing import Standing

CAPITAL: Final = 1_000_000.0
"""Dollars that a desk starts with when its configuration does not say."""

UNASSIGNED: Final = "unassigned"
"""Whose a fill is booked as when the log knows neither its order nor its signal."""

REMEMBERED: Final = 4096
"""So many signals, orders and executions are remembered, the latest."""

T = TypeVar("T")


def _remember(memory: dict[str, T], key: str, what: T) -> None:
    """Keep a fact under its key, and forget the oldest when there are too many; the first one stands."""
    memory.setdefault(key, what)
    if len(memory) > REMEMBERED:
        del memory[next(iter(memory))]


def _is_under_way(trade_id: str, fx: Effects, docket: Docket) -> bool:
    """Say whether a trade is open, or was until this message: then it sees to what is filled after a halt itself."""
    return trade_id in docket.cases or any(ended.case_id == trade_id for ended in fx.ended)


def _within(quantity: int, held: int) -> int:
    """Return how many of some signed shares a position consists of."""
    return max(min(quantity, held), 0) if held > 0 else min(max(quantity, held), 0)


class Entries(Fold):
    """Fold money and positions; amounts are units of 1/10,000 dollar, what its figures return are dollars.

    An EXECUTION with a quantity is booked whatever rule it breaks, for a fact cannot be refused (K11); only one whose
    `execution_id` is booked already is the same fact told twice. All else counts when it breaks no rule.

    Attributes:
        capital: What the desk started with.
        cash: What is not in positions.
        gained: P&L of all fills that made a position smaller, before fees.
        fees: What all fills cost.
        positions: Signed shares and their cost by (strategy, symbol), none of which is empty.
        marks: Last known price by symbol, in units a share.
        date: The day of the desk, `YYYY-MM-DD`; "" before the first.
        opening: Equity at the close before its TRADING_DAY, or at that when no close came before it (R-F6).
        trades_today: Orders with a fill since then.
        wins_today: Fills since then that realised a gain.
        losses_today: Fills since then that realised a loss.
        halted: Seq of the halt in force, 0 for none (R-B5).
        halt_id: Case id of the halt in force, "" for none.
        last_halt: Seq of the last halt, be it in force or not, 0 for none.
        reduced_until: Until when the last conservative halving is in force, None before the first (R-F1).
        late: Signed shares by (strategy, symbol) that fills opened after a halt, when their trade was over, as far as
            nothing undid them (K11).
        late_seq: Seq of the EXECUTION that last added to these.
        in_flight: Orders of the day that no final EXECUTION has answered, by `client_order_id`.
        taken_in: How many messages it took in; nothing else changes it.
        level: Worst level that the last RISK_CHECK of the day reached, "" for none.
    """

    name = "book"
    deeds = Deed.ENDED
    types = frozenset(
        {
            "SOCIETY_STARTED",
            "TRADING_DAY",
            "SIGNAL",
            "ORDER",
            "EXECUTION",
            "RISK_CHECK",
            "MARKET_CLOSE",
            "DAILY_TRADING_REPORT",
            "STRATEGY_MOVED",
            "RECALL_FLAG",
            "HALT",
            "RISK_ALERT",
            "RESUME_CONFIRMED",
            "RULING",
        }
    )

    def __init__(self) -> None:
        """Start without money."""
        self.capital = self.cash = self.gained = self.fees = 0
        self.positions: dict[tuple[str, str], Position] = {}
        self.marks: dict[str, int] = {}
        self.date = ""
        self.opening = 0
        self.trades_today = self.wins_today = self.losses_today = 0
        self.halted = 0
        self.halt_id = ""
        self.last_halt = self.late_seq = 0
        self.reduced_until: datetime | None = None
        self.late: dict[tuple[str, str], int] = {}
        self.in_flight: set[str] = set()
        self.level = limits.NORMAL
        self._context: RuleContext | None = None
        self.taken_in = 0
        self._accounts: dict[str, Account] = {}
        self._stirred: set[str] = set()
        self._signals: dict[str, str] = {}
        self._said: deque[datetime] = deque(maxlen=REMEMBERED)
        self._orders: dict[str, Placed] = {}
        self._booked: dict[str, int] = {}
        self._days: deque[Day] = deque(maxlen=KEPT)
        self._takes_place = False
        self._closing: Day | None = None
        self._closes: deque[tuple[datetime, Day]] = deque(maxlen=KEPT)
        self._flags: list[str] = []
        self._is_reported = False
        self._moves: deque[tuple[str, str, str]] = deque(maxlen=REMEMBERED)

    # ---------------------------------------------------------------- folding

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one envelope."""
        self._context = docket.context
        self.taken_in += 1
        body = env.body
        for ended in fx.ended:
            if ended.outcome == DEPLOYED:
                self._synced(getattr(ended, "strategy_id", UNASSIGNED))
        if type(body) is Execution:
            self._executed(body, env, fx, docket)
        elif type(body) is Signal:
            _remember(self._signals, body.signal_id or env.case_id or "", body.strategy_id)
            if env.obligation_id is None:
                self._said.append(env.sent_at)
        elif fx.violation is None and not fx.superseded:
            self._take(body, env, fx, docket)

    def _take(self, body: Message, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in what broke no rule."""
        if type(body) is RiskCheck:
            self._mark(body.marks)
            self._raise_peaks()
            self.level = limits.worst(breach.level for breach in limits.breaches(body))
        elif type(body) is Order:
            self._ordered(body, env, docket)
        elif type(body) is TradingDay:
            self._open_day(body, env.sent_at)
        elif type(body) is MarketClose:
            self._close(body, env.sent_at)
        elif type(body) is SocietyStarted:
            if not self.capital:
                desk = body.config.get("desk") or {}
                self.capital = self.cash = self.opening = units(desk.get("capital", CAPITAL))
        elif type(body) is DailyTradingReport:
            self._is_reported = True
        elif type(body) is RecallFlag:
            if self._is_reported:
                self._flags, self._is_reported = [], False
            self._flags.append(body.strategy_id)
            self._moves.append((self.date, "recall", body.strategy_id))
        elif type(body) is StrategyMoved and body.to == "production":
            self._moves.append((self.date, "promotion", body.strategy_id))
            self._promoted(body.strategy_id)
        elif type(body) is Ruling and fx.decision == limits.HALVE:
            self.reduced_until = trading_ends_at(env.sent_at)
        for started in fx.started:
            if isinstance(started, HaltState) and started.outcome is None:
                self.halted, self.halt_id = env.seq, started.case_id
                self.last_halt = env.seq
        for ended in fx.ended:
            if isinstance(ended, HaltState) and ended.case_id == self.halt_id:
                self.halted, self.halt_id = 0, ""

    def _mark(self, marks: Mapping[str, float]) -> None:
        self.marks = self._marked(marks)

    def _marked(self, marks: Mapping[str, float] | None) -> dict[str, int]:
        """Return the marks with newer ones in dollars; a price of nothing or less is none."""
        if not marks:
            return self.marks
        return {**self.marks, **{name: mark for name, price in marks.items() if (mark := units(price)) > 0}}

    def _open_day(self, body: TradingDay, at: datetime) -> None:
        """Begin a day where the last close left the books; a session that was over by then is none (R-F6)."""
        if self._takes_place:
            self._days.append(self._today())
        before, self._closing = self._closing, None
        self.date, self._takes_place = body.date, at < body.closes_at
        self.opening = self.equity() if before is None else before.opening + before.pnl
        self.trades_today = self.wins_today = self.losses_today = 0
        self.in_flight.clear()
        self.level = limits.NORMAL
        still = set()
        for strategy_id in self._moving():
            account, pnl = self._accounts[strategy_id], self._pnl(strategy_id)
            account.opened = pnl if before is None else account.closed
            account.trades_today = 0
            if pnl != account.closed or self._held(strategy_id):
                still.add(strategy_id)
        self._stirred = still

    def _close(self, body: MarketClose, at: datetime) -> None:
        """Mark at the closing prices, and end the session of every strategy that is traded or was."""
        self._mark(body.closes)
        self._raise_peaks()
        for strategy_id in self._moving():
            account, pnl = self._accounts[strategy_id], self._pnl(strategy_id)
            if self._is_traded(strategy_id) or pnl != account.closed or account.trades_today:
                made = pnl - account.closed
                account.end_session(
                    StrategySession(body.date, at, made, account.trades_today, *account.paper)
                )
            account.closed, account.paper = pnl, (0, 0)
        self._closing = self._day()
        self._closes.append((at, self._closing))

    def _promoted(self, strategy_id: str) -> None:
        """Begin a strategy's sessions as live; what it made of the present one on paper is not (R-F5)."""
        account = self._synced(strategy_id)
        account.paper, account.live = (self._pnl(strategy_id) - account.closed, account.trades_today), 0

    def _raise_peaks(self) -> None:
        """Take in new marks: strategies that were deployed meanwhile start, curves may reach a new peak."""
        traded = self._life().traded() if self._context is not None else ()
        for strategy_id in sorted(self._moving().union(traded)):
            account = self._synced(strategy_id)
            account.peak = max(account.peak, self._pnl(strategy_id) - account.base)

    def _ordered(self, body: Order, env: Envelope, docket: Docket) -> None:
        trade_id = env.case_id or body.signal_id
        strategy_id = self._signals.get(trade_id, UNASSIGNED)
        quantity = body.quantity if body.side == "BUY" else -body.quantity
        is_flattening = getattr(docket.cases.get(trade_id), "is_flattening", False)
        placed = Placed(strategy_id, body.symbol, quantity, env.seq, trade_id, is_flattening)
        _remember(self._orders, body.client_order_id, placed)
        self.in_flight.add(body.client_order_id)
        self._synced(strategy_id).ordered += body.quantity

    def _executed(self, body: Execution, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Book a fact; only one that breaks no rule ends its order."""
        if body.status != "partial" and fx.violation is None:
            self.in_flight.discard(body.client_order_id)
        if not body.qty_filled or self.is_booked(body.execution_id):
            return
        if body.execution_id:
            _remember(self._booked, body.execution_id, env.seq)
        order = self._orders.get(body.client_order_id)
        strategy_id = (
            order.strategy_id
            if order is not None
            else self._signals.get(body.signal_id or env.case_id or "", UNASSIGNED)
        )
        account = self._synced(strategy_id)
        quantity = body.qty_filled if body.action == "BUY" else -body.qty_filled
        if order is None or not order.filled:
            self.trades_today += 1
            account.trades_today += 1
            account.trades += 1
        if order is not None and order.symbol == body.symbol and (order.quantity > 0) == (quantity > 0):
            order.filled += body.qty_filled
        account.slip(body.qty_filled, body.slippage_bps)
        key = (strategy_id, body.symbol)
        self._fill(account, key, quantity, units(body.avg_price), units(body.fee))
        is_over = order is not None and not _is_under_way(order.trade_id, fx, docket)
        self._note_late(key, quantity, env.seq if is_over and self.is_late(body.client_order_id) else 0)

    def _note_late(self, key: tuple[str, str], quantity: int, seq: int) -> None:
        """Note what a booked fill undid of what late ones opened, and what it opened itself after a halt (K11).

        Args:
            key: Strategy and symbol.
            quantity: Signed shares.
            seq: That of a fill that came after a halt when its trade was over; 0 for any other.
        """
        held, late = self.quantity(*key), self.late.pop(key, 0)
        if late * quantity < 0:
            late = late + quantity if abs(quantity) < abs(late) else 0
        late = _within(late, held)
        if seq and (opened := _within(quantity, held)):
            late, self.late_seq = _within(late + opened, held), seq
        if late:
            self.late[key] = late

    def _fill(self, account: Account, key: tuple[str, str], quantity: int, price: int, fee: int) -> None:
        before = self.positions.get(key, FLAT)
        after, gained = filled(before, quantity, price)
        if after.quantity:
            self.positions[key] = after
        else:
            self.positions.pop(key, None)
        paid = quantity * price + fee
        self.cash -= paid
        self.gained += gained
        self.fees += fee
        account.cash -= paid
        account.realised += gained
        account.fees += fee
        won, lost = gained > 0, gained < 0
        self.wins_today += won
        self.losses_today += lost
        account.wins += won
        account.losses += lost
        if price > 0:
            self.marks.setdefault(key[1], price)

    # ---------------------------------------------------------------- strategies

    def _standing(self, strategy_id: str) -> Standing | None:
        """Return where a strategy stands in its life, None when the log does not know it."""
        return self._life().strategies.get(strategy_id) if self._context is not None else None

    def _life(self) -> Life:
        assert self._context is not None
        life: Life = self._context.fold_named("life")
        return life

    def _is_traded(self, strategy_id: str) -> bool:
        return self._context is not None and bool(self._life().is_traded(strategy_id))

    def _moving(self) -> set[str]:
        """Return the strategies whose account may have changed since the last close, or will at the next.

        All others stand as that close left them: nothing of theirs was booked since, they hold nothing, and no
        session of theirs is counted.
        """
        traded = self._life().traded() if self._context is not None else ()
        return self._stirred.union(name for name in traded if name in self._accounts)

    def _synced(self, strategy_id: str) -> Account:
        """Return the account of a strategy, begun anew when it was deployed since; only folding may ask so."""
        account = self._accounts.get(strategy_id)
        if account is None:
            account = self._accounts[strategy_id] = Account()
        self._stirred.add(strategy_id)
        deployed_at = self._deployed_at(strategy_id)
        if deployed_at not in (None, account.since):
            account.begin(deployed_at, self._pnl(strategy_id))
        return account

    def _account(self, strategy_id: str) -> Account:
        """Return the account of a strategy without changing it: a blank one when it was deployed since."""
        account = self._accounts.get(strategy_id)
        if account is not None and self._deployed_at(strategy_id) in (None, account.since):
            return account
        pnl = self._pnl(strategy_id)
        opened = account.opened if account is not None else 0
        return Account(opened=opened, base=pnl, closed=pnl)

    def _deployed_at(self, strategy_id: str) -> datetime | None:
        standing = self._standing(strategy_id)
        return standing.deployed_at if standing is not None else None

    def _held(self, strategy_id: str) -> dict[str, int]:
        return {
            symbol: position.quantity
            for (owner, symbol), position in self.positions.items()
            if owner == strategy_id
        }

    def _pnl(self, strategy_id: str) -> int:
        """Return a strategy's P&L ever, in units."""
        account = self._accounts.get(strategy_id)
        return account.cash + value(self._held(strategy_id), self.marks) if account is not None else 0

    def _today(self) -> Day:
        """Return the day as its close left it, before that as it stands (R-F6)."""
        return self._closing or self._day()

    def _sessions_of_desk(self) -> list[Day]:
        """Return the sessions that took place under this society, the present one included (R-F6)."""
        return [*self._days, self._today()] if self._takes_place else list(self._days)

    def _day(self) -> Day:
        """Return the day as it stands, from its opening equity on."""
        shares = tuple(
            Share(strategy_id, pnl, account.trades_today)
            for strategy_id in sorted(self._moving())
            for account in (self._accounts[strategy_id],)
            if (pnl := self._pnl(strategy_id) - account.opened) or account.trades_today
        )
        return Day(self.date, self.opening, self.equity() - self.opening, self.trades_today, shares)

    # ---------------------------------------------------------------- questions

    def signals_since(self, at: datetime) -> int:
        """Return how many SIGNALs were said since an instant that answer no duty, also those that broke a rule."""
        return sum(1 for said in self._said if said >= at)

    def is_reduced(self, at: datetime) -> bool:
        """Say whether a conservative halving is in force at an instant: nothing grows (R-F1)."""
        return self.reduced_until is not None and at < self.reduced_until

    def quantity(self, strategy_id: str, symbol: str) -> int:
        """Return the signed shares that a strategy holds of a symbol."""
        return self.positions.get((strategy_id, symbol), FLAT).quantity

    def reaches(self) -> dict[tuple[str, str], limits.Reach]:
        """Return what each position may become by the orders under way, by (strategy, symbol); those to open too."""
        found = {key: limits.Reach(held, held) for key, (held, _) in self.positions.items()}
        for client_order_id in sorted(self.in_flight):
            order = self._orders.get(client_order_id)
            if order is not None:
                key = (order.strategy_id, order.symbol)
                low, high = found.get(key, (0, 0))
                found[key] = limits.Reach(low + min(order.rest, 0), high + max(order.rest, 0))
        return found

    def reach(self, strategy_id: str, symbol: str) -> limits.Reach:
        """Return what a position may become by the orders under way."""
        low = high = self.quantity(strategy_id, symbol)
        for client_order_id in self.in_flight:
            order = self._orders.get(client_order_id)
            if order is not None and (order.strategy_id, order.symbol) == (strategy_id, symbol):
                low, high = low + min(order.rest, 0), high + max(order.rest, 0)
        return limits.Reach(low, high)

    def halving(self, strategy_id: str, symbol: str) -> int:
        """Return the signed change that halves what remains of a position whatever is under way; 0 for none (R-B8)."""
        held = self.quantity(strategy_id, symbol)
        return limits.halving(limits.surely_held(held, self.reach(strategy_id, symbol)))

    def flattening(self, strategy_id: str, symbol: str) -> int:
        """Return the signed change that undoes what late fills opened, as far as it remains for sure (K11)."""
        late = self.late.get((strategy_id, symbol), 0)
        sure = limits.surely_held(late, self.reach(strategy_id, symbol))
        return -min(late, sure) if late > 0 else -max(late, sure)

    @property
    def unfilled(self) -> int:
        """Return how many orders under way have no fill yet: those with one are trades of the day already."""
        placed = (self._orders.get(client_order_id) for client_order_id in self.in_flight)
        return sum(1 for order in placed if order is None or not order.filled)

    def placed(self, client_order_id: str) -> Placed | None:
        """Return an order that was placed, None when the log has none of this id."""
        return self._orders.get(client_order_id)

    def is_late(self, client_order_id: str) -> bool:
        """Say whether a fill of an order comes after a halt that the order came before (K11)."""
        order = self._orders.get(client_order_id)
        return order is not None and not order.is_flattening and order.seq < self.last_halt

    def filled(self, client_order_id: str) -> int:
        """Return how many shares of an order's symbol and side are booked, those of illegal messages included."""
        order = self._orders.get(client_order_id)
        return order.filled if order is not None else 0

    def is_booked(self, execution_id: str) -> bool:
        """Say whether a fill with this id is booked: a second one would be the same fact told twice."""
        return bool(execution_id) and execution_id in self._booked

    def equity(self, marks: Mapping[str, float] | None = None) -> int:
        """Return cash and positions in units, at the last marks or newer ones in dollars."""
        prices = self._marked(marks)
        return self.cash + sum(
            p.quantity * prices.get(symbol, 0) for (_, symbol), p in self.positions.items()
        )
