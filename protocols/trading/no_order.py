"""Why an order is not given: reasons as a table, by which NO_ORDER is judged and ORDER refused (R-F1, R-F4, R-F17)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, get_args

from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.times import minutes
from moot.protocols.trading import limits
from moot.protocols.trading.hours import day_in_new_york, session_on
from moot.protocols.trading.messages.deployments import OrderType
from moot.protocols.trading.messages.desk import NoOrderReason

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book

LEAST_CONFIDENCE: Final = 0.50
"""A signal of less becomes no order (R-F17)."""
EDGE: Final = minutes(15)
"""So long after the open and before the close no market order opens or grows a position (R-F17)."""


class Wish(NamedTuple):
    """What a trade's next order may do.

    Attributes:
        strategy_id: Whose signal it is.
        symbol: What is traded.
        sign: 1 to buy, -1 to sell.
        quantity: Shares that are wanted at most.
        order_type: The order's, or the signal's before there is one.
        limit_price: Likewise, in dollars.
        confidence: The signal's.
        is_shrinking: Whether the signal, or the order that flattens, was to take something off a position, and no more.
    """

    strategy_id: str
    symbol: str
    sign: int
    quantity: int
    order_type: OrderType
    limit_price: float | None
    confidence: float
    is_shrinking: bool


class Facts(NamedTuple):
    """What the log says for and against an order; the rest is a matter of the instant.

    Attributes:
        quantity: Shares that are wanted at most.
        takes_off: Shares that an order takes off a position whatever else is filled; beyond, it may open or grow one.
        room: Shares that the limits leave, those included (R-B7).
        order_type: market or limit.
        confidence: The signal's.
        is_shrinking: Whether no more was wanted than to take something off a position.
        is_halted: Whether the desk is halted (R-B5).
        reduced_until: Until when a conservative halving is in force, None without one (R-F1).
        is_full: Whether the day has all its trades (R-B7).
    """

    quantity: int
    takes_off: int
    room: int
    order_type: OrderType
    confidence: float
    is_shrinking: bool
    is_halted: bool
    reduced_until: datetime | None
    is_full: bool


class Reason(NamedTuple):
    """A row of the table.

    Attributes:
        rule: The rule that speaks against an order.
        why: What it says, as a sentence.
        holds: (facts, instant) -> whether it applies.
        bars: Whether an ORDER that opens or grows a position breaks the rule here; halts and limits are held elsewhere.
        field: What of the order offends.
    """

    rule: str
    why: str
    holds: Callable[[Facts, datetime], bool]
    bars: bool = False
    field: str = "quantity"


def is_open(at: datetime) -> bool:
    """Say whether the exchange is open at an instant (R-D18)."""
    session = session_on(day_in_new_york(at))
    return session is not None and session.opens_at <= at < session.closes_at


def is_edge(at: datetime) -> bool:
    """Say whether an instant is in the first or the last 15 minutes of a session (R-F17)."""
    session = session_on(day_in_new_york(at))
    if session is None or not session.opens_at <= at < session.closes_at:
        return False
    return at < session.opens_at + EDGE or at >= session.closes_at - EDGE


REASONS: Final[Mapping[NoOrderReason, Reason]] = {
    "market_closed": Reason("R-D18", "the exchange is closed", lambda facts, at: not is_open(at)),
    "position_gone": Reason(
        "R-F4", "what it was to take off a position is gone", lambda facts, at: facts.is_shrinking
    ),
    "halted": Reason("R-B5", "the desk is halted", lambda facts, at: facts.is_halted),
    "reduced": Reason(
        "R-F1",
        "every position was halved: until the session's end no order opens or grows one",
        lambda facts, at: facts.reduced_until is not None and at < facts.reduced_until,
        bars=True,
    ),
    "below_confidence": Reason(
        "R-F17",
        f"a signal of less confidence than {LEAST_CONFIDENCE:.2f} becomes no order",
        lambda facts, at: facts.confidence < LEAST_CONFIDENCE,
        bars=True,
    ),
    "session_edge": Reason(
        "R-F17",
        "in the first and last 15 minutes of a session no market order opens or grows a position",
        lambda facts, at: facts.order_type == "market" and is_edge(at),
        bars=True,
        field="order_type",
    ),
    "daily_limit": Reason(
        "R-B7", f"{limits.PORTFOLIO.trades} trades a day are the limit", lambda facts, at: facts.is_full
    ),
    "no_room": Reason("R-B7", "the limits leave not one share", lambda facts, at: facts.room < 1),
}
"""In the order in which they are looked at; all but the first need that nothing is left to take off a position."""

assert tuple(REASONS) == get_args(NoOrderReason)


def facts_of(wish: Wish, context: RuleContext) -> Facts:
    """Return what the log says for and against an order; a strategy that is not traded has no room (R-B12)."""
    book: Book = context.fold_named("book")
    life = context.fold_named("life")
    reach = book.reach(wish.strategy_id, wish.symbol)
    takes_off = max(-reach.high if wish.sign > 0 else reach.low, 0)
    return Facts(
        quantity=wish.quantity,
        takes_off=takes_off,
        room=limits.most(book, life, wish, wish.sign) if life.is_traded(wish.strategy_id) else takes_off,
        order_type=wish.order_type,
        confidence=wish.confidence,
        is_shrinking=wish.is_shrinking,
        is_halted=book.halted > 0,
        reduced_until=book.reduced_until,
        is_full=limits.is_full(book),
    )


def stands(reason: NoOrderReason, facts: Facts, at: datetime) -> bool:
    """Say whether a reason to give no order is true, whoever says it (R-F4).

    While an order would take something off a position for sure, only a closed exchange keeps it from being given.
    """
    if facts.takes_off and reason != "market_closed":
        return False
    return REASONS[reason].holds(facts, at)


def reason_for(facts: Facts, at: datetime) -> NoOrderReason | None:
    """Return the first reason to give no order at an instant; None: one is to be given."""
    return next((reason for reason in REASONS if stands(reason, facts, at)), None)


def most(facts: Facts, at: datetime) -> int:
    """Return how many of the shares that are wanted an order may have at an instant, by all rules.

    What was to take something off a position takes off no more than what remains of it.
    """
    is_barred = facts.is_halted or any(row.bars and row.holds(facts, at) for row in REASONS.values())
    return min(facts.quantity, facts.takes_off if is_barred or facts.is_shrinking else facts.room)


def check_reason(reason: NoOrderReason, wish: Wish, context: RuleContext, at: datetime) -> None:
    """Check a NO_ORDER.

    Raises:
        Violation: R-F4, its reason is not true; what stands against an order, if anything, is named.
    """
    facts = facts_of(wish, context)
    if stands(reason, facts, at):
        return
    other = reason_for(facts, at)
    why = f"{reason} is not so, {other} is" if other is not None else f"{reason} is not so: an order is owed"
    raise Violation("R-F4", why, field="reason")


def check_growth(wish: Wish, context: RuleContext, at: datetime) -> None:
    """Check an order against the reasons that bar what opens or grows a position; what shrinks one is always allowed.

    Raises:
        Violation: R-F1 or R-F17, one of them stands.
    """
    facts = facts_of(wish, context)
    if wish.quantity <= facts.takes_off:
        return
    for row in REASONS.values():
        if row.bars and row.holds(facts, at):
            raise Violation(row.rule, row.why, field=row.field)
