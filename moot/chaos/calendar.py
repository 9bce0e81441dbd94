"""Days that a society lives through seldom: a change of New York's clock, 29 February, a holiday of the exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final

from moot.protocols.trading.hours import NEW_YORK, new_york, session_on

if TYPE_CHECKING:
    from moot.chaos.dice import Dice
    from moot.chaos.plan import Spell

FIRST: Final = date(2026, 1, 1)
LAST: Final = date(2028, 12, 31)
"""Between them such days are looked for; both are in years of the exchange's calendar, and one has a leap day."""

DAY: Final = timedelta(days=1)


def _days() -> Iterator[date]:
    yield from (FIRST + DAY * n for n in range((LAST - FIRST).days + 1))


def _noons(day: date) -> timedelta | None:
    return new_york(day, 12, 0).astimezone(NEW_YORK).utcoffset()


def _clock_changes() -> Iterator[datetime]:
    yield from (new_york(day, 2, 0) for day in _days() if _noons(day) != _noons(day - DAY))


def _leap_days() -> Iterator[datetime]:
    yield from (datetime(d.year, d.month, d.day, tzinfo=UTC) for d in _days() if (d.month, d.day) == (2, 29))


def _holidays() -> Iterator[datetime]:
    """Yield the midnights, in New York, of days on which the exchange is closed and would be open by their weekday."""
    yield from (new_york(day, 0, 0) for day in _days() if day.weekday() < 5 and session_on(day) is None)


KINDS: Final[Mapping[str, Callable[[], Iterator[datetime]]]] = {
    "time.summer_time": _clock_changes,
    "time.leap_day": _leap_days,
    "time.holiday": _holidays,
}
"""When each begins, by the fault's name."""


@cache
def instants(fault: str) -> tuple[datetime, ...]:
    """Return when days of a kind begin, in order."""
    return tuple(KINDS[fault]())


def started_for(spells: Sequence[Spell], start: datetime, speed: float, dice: Dice) -> datetime:
    """Return when a society starts so that it lives through the first such day that its spells name.

    A clock is changed, or 29 February begins, at the spell's instant; a holiday is the day of the start.

    Args:
        spells: What goes wrong.
        start: When it starts where no spell names such a day.
        speed: Society seconds a wall second.
        dice: Draw which day of its kind.
    """
    named = next((one for one in spells if one.fault in KINDS), None)
    if named is None:
        return start
    instant = dice.pick(instants(named.fault))
    if named.fault == "time.holiday":
        return instant + timedelta(seconds=dice.whole(0, 86_399))
    return instant - timedelta(seconds=round(named.at_s * speed))


def is_lived(fault: str, first: datetime, last: datetime) -> bool:
    """Say whether a society that lived from one instant to another lived through, or started on, such a day."""
    if fault == "time.holiday":
        return any(instant <= first < instant + DAY for instant in instants(fault))
    return any(first < instant < last for instant in instants(fault))
