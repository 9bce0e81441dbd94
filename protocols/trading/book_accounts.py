"""What the book keeps of a strategy, of an order and of a day."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from moot.protocols.trading.book_figures import WINDOW, Ratio, divide, ratio

KEPT: Final = 2 * WINDOW
"""So many sessions are kept of a strategy, and of the desk: 30 beyond need."""

NO_RATIO: Final = ratio(())
"""What no session comes to."""

MICRO: Final = 1_000_000
"""Slippage is added up in millionths of a basis point, so that no order of adding matters."""


class StrategySession(NamedTuple):
    """A session of a strategy.

    Attributes:
        date: Its day.
        at: When its books were closed.
        pnl: Its P&L in units.
        trades: Its trades.
        paper_pnl: What of the P&L was made before a promotion on that day (R-F5).
        paper_trades: Likewise of the trades.
    """

    date: str
    at: datetime
    pnl: int
    trades: int
    paper_pnl: int = 0
    paper_trades: int = 0

    @property
    def live(self) -> StrategySession:
        """Return the session without what was made on paper in it."""
        return StrategySession(self.date, self.at, self.pnl - self.paper_pnl, self.trades - self.paper_trades)


class Share(NamedTuple):
    """What a strategy contributed to a day: P&L in units, trades."""

    strategy_id: str
    pnl: int
    trades: int


class Day(NamedTuple):
    """A day of the desk: P&L in units from the close before to its own, and who made it (R-F6)."""

    date: str
    opening: int
    pnl: int
    trades: int
    shares: tuple[Share, ...]


@dataclass(slots=True)
class Placed:
    """An order in the log.

    Attributes:
        strategy_id: Whose it is.
        symbol: What it trades.
        quantity: Signed shares that it asks for.
        seq: Where it stands in the log.
        trade_id: The trade that it belongs to.
        is_flattening: Whether it undoes what was filled after a halt.
        filled: Shares that were filled so far.
    """

    strategy_id: str
    symbol: str
    quantity: int
    seq: int = 0
    trade_id: str = ""
    is_flattening: bool = False
    filled: int = 0

    @property
    def rest(self) -> int:
        """Return the signed shares that may still be filled."""
        left = max(abs(self.quantity) - self.filled, 0)
        return left if self.quantity > 0 else -left


@dataclass(slots=True)
class Account:
    """Money and history of a strategy, in units; all from `base` down counts since its deployment.

    Attributes:
        cash: What its fills paid and earned, fees included; with its shares at the marks that is its P&L.
        realised: P&L of fills that made a position smaller, before fees.
        fees: What its fills cost.
        opened: Its P&L at the close before the last TRADING_DAY, or then when nothing was closed before.
        trades_today: Orders with a fill since then.
        since: When it was deployed; None: never.
        base: Its P&L then.
        peak: Its highest P&L since, less `base`; at least 0.
        closed: Its P&L at the last MARKET_CLOSE.
        paper: What it had made and traded of the present session when it was promoted in it.
        live: Sessions since its promotion, if there was one.
        trades: Orders with a fill.
        wins: Fills that realised a gain.
        losses: Fills that realised a loss.
        ordered: Shares ordered.
        filled: Shares filled.
        slipped: Slippage of those, in millionths of a basis point × shares.
        sessions: The last sessions, oldest first.
        ratio: Their Sharpe ratio, over 30 at most, with their number.
    """

    cash: int = 0
    realised: int = 0
    fees: int = 0
    opened: int = 0
    trades_today: int = 0
    since: datetime | None = None
    base: int = 0
    peak: int = 0
    closed: int = 0
    paper: tuple[int, int] = (0, 0)
    live: int = 0
    trades: int = 0
    wins: int = 0
    losses: int = 0
    ordered: int = 0
    filled: int = 0
    slipped: int = 0
    sessions: deque[StrategySession] = field(default_factory=lambda: deque(maxlen=KEPT))
    ratio: Ratio = NO_RATIO

    def end_session(self, session: StrategySession) -> None:
        """Take in a session."""
        self.sessions.append(session)
        self.live += 1
        self.ratio = ratio([one.pnl for one in self.sessions])

    def begin(self, since: datetime | None, pnl: int) -> None:
        """Start to count anew at a deployment, from the P&L that stands then."""
        self.since, self.base, self.peak, self.closed = since, pnl, 0, pnl
        self.paper, self.live = (0, 0), 0
        self.trades = self.wins = self.losses = self.ordered = self.filled = self.slipped = 0
        self.sessions.clear()
        self.ratio = NO_RATIO

    def slip(self, shares: int, slippage_bps: float) -> None:
        """Take in the slippage of a fill."""
        self.filled += shares
        self.slipped += shares * round(slippage_bps * MICRO)

    @property
    def slippage_bps(self) -> float:
        """Return the mean slippage by share in basis points; 0 without a fill."""
        return divide(self.slipped, self.filled) / MICRO if self.filled else 0.0

    @property
    def fill_rate(self) -> float:
        """Return the fraction of the ordered shares that was filled, at most 1; 1 when nothing was ordered."""
        return min(round(self.filled / self.ordered, 6), 1.0) if self.ordered else 1.0

    @property
    def win_rate(self) -> float | None:
        """Return the fraction of the deciding fills that realised a gain; None without any."""
        decided = self.wins + self.losses
        return round(self.wins / decided, 6) if decided else None
