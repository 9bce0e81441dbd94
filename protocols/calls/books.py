"""Books: what is booked in each budget, and what still fits (K27).

The ledger and the bursar, who books before the log has a reservation, count with the same class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, NamedTuple, get_args

from moot.protocols.calls.messages import Scope

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
UNITS: Final = ("usd", "tokens", "calls")
"""What a budget counts; `usd` in micro-USD."""


class Amount(NamedTuple):
    """What a call comes to, or several.

    Attributes:
        usd: Micro-USD; None: nobody knows what it costs.
        tokens: Of prompt and output.
        calls: How many calls.
    """

    usd: int | None = 0
    tokens: int = 0
    calls: int = 0

    def plus(self, other: Amount, sign: int = 1) -> Amount:
        """Return the sum, or the difference; a cost that nobody knows counts as none."""
        return Amount(
            (self.usd or 0) + sign * (other.usd or 0),
            self.tokens + sign * other.tokens,
            self.calls + sign * other.calls,
        )


NONE: Final = Amount()


class Limit(NamedTuple):
    """What may be spent; None: any amount. `usd` in micro-USD."""

    usd: int | None = None
    tokens: int | None = None
    calls: int | None = None


UNLIMITED: Final = Limit()


class Place(NamedTuple):
    """A budget's scope, and which day, seat or case it is; "" for the society."""

    scope: Scope
    key: str = ""

    @property
    def shown(self) -> str:
        """Name it for people."""
        return {
            "society": "the society",
            "day": f"{self.key}, UTC",
            "seat": f"the seat {self.key}",
            "case": f"the case {self.key}",
        }[self.scope]


SOCIETY: Final = Place("society")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for: the worst case of a call, and who asks.

    Attributes:
        most: What it may come to.
        seat: Whose mind asks.
        case: The case that it is about, None for none.
    """

    most: Amount
    seat: str
    case: str | None

    def places(self, at: datetime) -> tuple[Place, ...]:
        """Return the places at which it is booked at an instant."""
        return places_of(self.seat, self.case, at)


def places_of(seat: str, case: str | None, at: datetime) -> tuple[Place, ...]:
    """Return the places at which a call of a seat about a case is booked."""
    found = (SOCIETY, Place("day", day_of(at)), Place("seat", seat))
    return found if case is None else (*found, Place("case", case))


def day_of(at: datetime) -> str:
    """Return the day, in UTC."""
    return at.astimezone(UTC).date().isoformat()


OF_A_BUDGET: Final = "the budget of "
"""So begins why a call does not fit."""


@dataclass(frozen=True, slots=True)
class Lack:
    """Why a call does not fit.

    Attributes:
        place: The budget that has no room for it.
        unit: What it counts.
        limit: What may be spent there.
        booked: What is booked there already.
        asked: What the call would add; None: what it costs is not known.
        is_held: Whether it would fit if what is under way came to nothing.
    """

    place: Place
    unit: str
    limit: int
    booked: int
    asked: int | None
    is_held: bool = False

    @property
    def budget(self) -> str:
        """Name the budget, for programs: `society/usd`, `seat/critic/tokens`."""
        return "/".join(filter(None, (self.place.scope, self.place.key, self.unit)))

    @property
    def short(self) -> str:
        """Say it in words that are the same for every call that the budget has no room for."""
        return self.line if self.asked is None else f"{self._limit}, which leaves no room for the call"

    @property
    def line(self) -> str:
        """Say it in one line."""
        limit = self._limit
        if self.asked is None:
            return f"{limit}, and what this model costs is not known: name its price"
        left = max(0, self.limit - self.booked)
        return (
            f"{limit}, {shown(self.unit, self.booked)} booked: {shown(self.unit, left)} left, "
            f"the call may take {shown(self.unit, self.asked)}"
        )

    @property
    def _limit(self) -> str:
        return f"{OF_A_BUDGET}{self.place.shown} is {shown(self.unit, self.limit)}"


def shown(unit: str, amount: int) -> str:
    """Write an amount for people: `$0.0123`, `12,000 tokens`, `1 call`."""
    if unit == "usd":
        cents, rest = divmod(amount, 10_000)
        text = f"${cents // 100:,}.{cents % 100:02d}"
        return text + f"{rest:04d}".rstrip("0") if rest else text
    return f"{amount:,} {unit if amount != 1 else unit.removesuffix('s')}"


def spent(place: Place, booked: Amount, limit: Limit) -> str:
    """Say what is booked, and of how much: `$0.12 of $2.00, 34,000 tokens, 12 calls`.

    Of the society it is everything, money only where there was any; of a day, a seat or a case what is limited.
    """
    told = [
        shown(unit, amount or 0) if most is None else _of(unit, amount or 0, most)
        for unit, amount, most in zip(UNITS, booked, limit, strict=True)
        if most is not None or (place == SOCIETY and (amount or unit != "usd"))
    ]
    return ("" if place == SOCIETY else f"{place.shown}: ") + ", ".join(told)


def _of(unit: str, amount: int, most: int) -> str:
    return f"{shown(unit, amount) if unit == 'usd' else f'{amount:,}'} of {shown(unit, most)}"


class Books:
    """What is booked at each place, and what may be.

    Attributes:
        limits: What may be spent, by scope.
        raised: What was added to the limit of one place.
        booked: What is booked, by place; what is under way with its worst case.
        held: The part of that which is under way.
    """

    def __init__(self) -> None:
        """Start with nothing booked and no limits."""
        self.limits: dict[Scope, Limit] = {}
        self.raised: dict[Place, Amount] = {}
        self.booked: dict[Place, Amount] = {}
        self.held: dict[Place, Amount] = {}

    def limit(self, place: Place) -> Limit:
        """Return what may be spent at a place."""
        limit = self.limits.get(place.scope, UNLIMITED)
        more = self.raised.get(place)
        if more is None:
            return limit
        return Limit(
            *(None if most is None else most + (add or 0) for most, add in zip(limit, more, strict=True))
        )

    def raise_(self, place: Place, unit: str, amount: int) -> None:
        """Add to the limit of one place."""
        self.raised[place] = self.raised.get(place, NONE).plus(NONE._replace(**{unit: amount}))

    def hold(self, places: tuple[Place, ...], most: Amount) -> None:
        """Book the worst case of a call."""
        for place in places:
            self.booked[place] = self.booked.get(place, NONE).plus(most)
            self.held[place] = self.held.get(place, NONE).plus(most)

    def settle(self, places: tuple[Place, ...], most: Amount, came_to: Amount) -> None:
        """Book what a call came to instead of its worst case."""
        for place in places:
            self.booked[place] = self.booked.get(place, NONE).plus(most, -1).plus(came_to)
            held = self.held.get(place, NONE).plus(most, -1)
            if held == NONE:
                self.held.pop(place, None)
            else:
                self.held[place] = held

    def release(self, places: tuple[Place, ...], most: Amount) -> None:
        """Take back a booking, as if it had never been."""
        self.settle(places, most, NONE)
        for place in places:
            if self.booked[place] == NONE:
                del self.booked[place]

    def forget(self, place: Place) -> None:
        """Forget a place at which nothing will be booked any more."""
        self.booked.pop(place, None)
        self.raised.pop(place, None)

    def lack(self, asked: Asked, at: datetime, besides: Books | None = None) -> Lack | None:
        """Say into which budget a call does not fit; None when it fits into all.

        Args:
            asked: The call.
            at: When it is booked: its day counts.
            besides: Books of what is not in these yet.
        """
        for place in asked.places(at):
            limit = self.limit(place)
            if limit == UNLIMITED:
                continue
            booked, held = self.booked.get(place, NONE), self.held.get(place, NONE)
            if besides is not None:
                booked = booked.plus(besides.booked.get(place, NONE))
                held = held.plus(besides.held.get(place, NONE))
            for unit, most, has, open_, adds in zip(UNITS, limit, booked, held, asked.most, strict=True):
                if most is None:
                    continue
                lack = Lack(place, unit, most, has or 0, adds)
                if adds is None:
                    return lack
                if (has or 0) + adds > most:
                    return replace(lack, is_held=(has or 0) - (open_ or 0) + adds <= most)
        return None

    def gauges(self, at: datetime) -> Iterator[tuple[Place, Limit, Amount, Amount]]:
        """List every place that is booked at or limited for itself: its limit, what is booked, what is under way.

        The day is that of the instant.
        """
        today = Place("day", day_of(at))
        places = {SOCIETY: None, today: None} | dict.fromkeys(sorted(self.booked))
        for place in places:
            if place.scope != "day" or place == today:
                yield place, self.limit(place), self.booked.get(place, NONE), self.held.get(place, NONE)
