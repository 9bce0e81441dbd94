"""The paper broker: what becomes of an order, as a pure function of order, market and seed (K11). Access: read-only.

An order is filled in parts, each a few seconds after the one before. How many seconds and with how much slippage is
drawn from the order's `client_order_id`, so a restart, or asking again, tells the same fills and cannot draw better
ones. What was told before is passed in, from the log; the broker remembers nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from moot.bots.desk.market import Market
from moot.bots.tools.seeding import generator

Status = Literal["filled", "partial", "cancelled", "rejected"]

FIRST_AFTER_S: Final = (0.5, 4.0)
"""Seconds from the order to its first part, at least and at most."""

NEXT_AFTER_S: Final = (15.0, 60.0)
"""Seconds from one part to the next."""

PARTS: Final = 6
"""So many parts are tried; what is left then is cancelled, as at the close."""

SHARE: Final = 0.1
"""Most of a 15-minute bar's volume that one part takes."""

SPREAD_BPS: Final = 1.0
"""Half the spread, in basis points: what the smallest order pays."""

IMPACT_BPS: Final = 30.0
"""What an order as large as the 15-minute bar's volume would pay besides; it grows with the root of the share.

Source: Almgren et al. (2005), Direct Estimation of Equity Market Impact: cost grows with about the root of size.
"""

LUCK: Final = (0.6, 1.4)
"""Slippage is drawn between these multiples of that."""

FEE_RATE: Final = 1e-4
FEE_LEAST: Final = 0.35
"""A part costs one basis point of its worth, at least 0.35 dollars."""

DECIMALS: Final = 4
BASIS_POINT: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Ticket:
    """An order as the broker got it.

    Attributes:
        client_order_id: Its id; it decides what is drawn.
        symbol: What is traded.
        side: BUY or SELL.
        quantity: Whole shares.
        placed_at: When it came, aware.
        limit_price: The worst price in dollars; None for a market order.
    """

    client_order_id: str
    symbol: str
    side: Literal["BUY", "SELL"]
    quantity: int
    placed_at: datetime
    limit_price: float | None = None


class Fill(NamedTuple):
    """A part: when, how many shares, at which price in dollars, how much worse than the market, for which fee."""

    at: datetime
    quantity: int
    price: float
    slippage_bps: float
    fee: float


class Answer(NamedTuple):
    """What the broker says: one EXECUTION's figures; `quantity` is what is new, `reason` says why nothing is."""

    status: Status
    quantity: int = 0
    price: float = 0.0
    slippage_bps: float = 0.0
    fee: float = 0.0
    reason: str = ""


class Broker:
    """The paper broker of a market, as who orders knows it.

    Attributes:
        market: Where it trades.
    """

    def __init__(self, market: Market) -> None:
        """Trade on a market."""
        self.market = market

    def ends_at(self, ticket: Ticket, filled: int = 0) -> datetime:
        """Return when there is something to tell; see `ends_at`."""
        return ends_at(ticket, self.market, self.market.seed, filled)

    def answer(self, ticket: Ticket, instant: datetime, filled: int = 0) -> Answer | None:
        """Say what became of an order next; see `answer`."""
        return answer(ticket, self.market, instant, self.market.seed, filled)

    def cancel(self, ticket: Ticket, cancelled_at: datetime, filled: int = 0) -> Answer:
        """Cancel an order; see `cancel`."""
        return cancel(ticket, self.market, cancelled_at, self.market.seed, filled)


def cost_bps(share: float) -> float:
    """Return what an order costs in the mean, in basis points.

    Args:
        share: Its size as a share of the 15-minute bar's volume; 0 where nobody counts.
    """
    return SPREAD_BPS + IMPACT_BPS * math.sqrt(share)


def refusal(ticket: Ticket, market: Market) -> str:
    """Return why an order is rejected at once, "" when it is not."""
    if ticket.symbol not in market.symbols:
        return f"{ticket.symbol} is not traded here"
    if ticket.quantity < 1:
        return "the quantity is at least 1"
    if ticket.limit_price is not None and not ticket.limit_price > 0.0:
        return "a limit price is above 0"
    hours = market.hours(ticket.placed_at)
    if hours is None or not hours.opens_at <= ticket.placed_at < hours.closes_at:
        return "the exchange is closed"
    if not market.is_open(ticket.symbol, ticket.placed_at):
        return f"there is no price of {ticket.symbol} today"
    return ""


def fills(ticket: Ticket, market: Market, seed: int) -> tuple[Fill, ...]:
    """Return everything that becomes of an order on its day, oldest first; nothing for one that is rejected.

    A limit order's part is filled at its limit or better, or not at all.

    Args:
        ticket: The order.
        market: Where it is traded.
        seed: The society's seed.
    """
    if refusal(ticket, market):
        return ()
    rng = generator("broker", seed, ticket.client_order_id)
    left, at, made = ticket.quantity, ticket.placed_at, []
    for part in range(PARTS):
        wait, luck = rng.uniform(*(NEXT_AFTER_S if part else FIRST_AFTER_S)), float(rng.uniform(*LUCK))
        at += timedelta(milliseconds=round(wait * 1000.0))
        if not market.is_open(ticket.symbol, at):
            break
        fill = _part(ticket, market, at, left, luck)
        if fill is not None:
            made.append(fill)
            left -= fill.quantity
        if not left:
            break
    return tuple(made)


def _part(ticket: Ticket, market: Market, at: datetime, left: int, luck: float) -> Fill | None:
    """Fill a part, or nothing when the price is beyond the limit."""
    price = market.price(ticket.symbol, at)
    if price is None:
        return None
    limit, sign = ticket.limit_price, 1 if ticket.side == "BUY" else -1
    if limit is not None and (price - limit) * sign > 0.0:
        return None
    volume = market.liquidity(ticket.symbol, at)
    quantity = left if volume is None else min(left, max(int(volume * SHARE), 1))
    # Where nobody counts volume, an order is taken to be small.
    share = 0.0 if volume is None else quantity / volume
    slippage = cost_bps(share) * luck
    paid = max(round(price * (1.0 + sign * slippage * BASIS_POINT), DECIMALS), 10.0**-DECIMALS)
    if limit is not None and (paid - limit) * sign > 0.0:
        paid = limit
    # In tenths of a cent first: a fee is rounded as it is written, not by the last bits of a product.
    fee = max(round(round(paid * quantity * FEE_RATE, 3), 2), FEE_LEAST)
    return Fill(at, quantity, paid, round((paid / price - 1.0) * sign / BASIS_POINT, 4) + 0.0, fee)


def answer(ticket: Ticket, market: Market, instant: datetime, seed: int, filled: int = 0) -> Answer | None:
    """Say what became of an order next.

    Args:
        ticket: The order.
        market: Where it is traded.
        instant: When it is asked; what comes later is not told.
        seed: The society's seed.
        filled: Shares of it that were told before.

    Returns:
        One part (`filled` when nothing is left, else `partial`), `cancelled` when no more parts come, `rejected` when
        none could; None while the next part is still to come.
    """
    if why := refusal(ticket, market):
        return Answer("rejected", reason=why)
    if filled >= ticket.quantity:
        return Answer("filled", reason="all of it was told before")
    told = 0
    for fill in fills(ticket, market, seed):
        told += fill.quantity
        if told <= filled:
            continue
        if fill.at > instant:
            return None
        status: Status = "filled" if told == ticket.quantity else "partial"
        return _told(status, fill, told - filled)
    if instant < ends_at(ticket, market, seed, filled):
        return None
    why = (
        "the limit was not reached" if ticket.limit_price is not None and not told else "no more could be had"
    )
    return Answer("cancelled", reason=why)


def _told(status: Status, fill: Fill, quantity: int) -> Answer:
    return Answer(status, quantity, fill.price, fill.slippage_bps, fill.fee)


def cancel(ticket: Ticket, market: Market, cancelled_at: datetime, seed: int, filled: int = 0) -> Answer:
    """Cancel an order; what was filled until then stays a fact and is told together (K11).

    Args:
        ticket: The order.
        market: Where it is traded.
        cancelled_at: When the broker was told.
        seed: The society's seed.
        filled: Shares of it that were told before.
    """
    if why := refusal(ticket, market):
        return Answer("rejected" if not filled else "cancelled", reason=why)
    happened = [fill for fill in fills(ticket, market, seed) if fill.at <= cancelled_at]
    new: list[Fill] = []
    told = 0
    for fill in happened:
        told += fill.quantity
        if told > filled:
            new.append(fill._replace(quantity=min(fill.quantity, told - filled)))
    quantity = sum(fill.quantity for fill in new)
    if not quantity:
        return Answer("cancelled", reason="cancelled before more was filled")
    status: Status = "filled" if filled + quantity >= ticket.quantity else "cancelled"
    price = round(sum(fill.price * fill.quantity for fill in new) / quantity, DECIMALS)
    slippage = round(sum(fill.slippage_bps * fill.quantity for fill in new) / quantity, DECIMALS)
    return Answer(status, quantity, price, slippage, round(sum(fill.fee for fill in new), 2))


def ends_at(ticket: Ticket, market: Market, seed: int, filled: int = 0) -> datetime:
    """Return when the next part comes, or when it is clear that none will; of a rejected order when it was placed.

    Args:
        ticket: The order.
        market: Where it is traded.
        seed: The society's seed.
        filled: Shares of it that were told before.
    """
    if refusal(ticket, market):
        return ticket.placed_at
    told = 0
    for fill in fills(ticket, market, seed):
        told += fill.quantity
        if told > filled:
            return fill.at
    hours = market.hours(ticket.placed_at)
    longest = FIRST_AFTER_S[1] + (PARTS - 1) * NEXT_AFTER_S[1]
    over = ticket.placed_at + timedelta(seconds=longest)
    return over if hours is None else min(over, hours.closes_at)
