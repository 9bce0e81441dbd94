"""Durations as people write them, 25m, 6h, 90s, 1h30m, 2d, and when a simulation may begin and end."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from moot.protocols.kernel.errors import BadInput

_UNITS: Final = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_FORM: Final = re.compile(r"(?:\d+(?:\.\d+)?[dhms])+")
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)([dhms])")

FIRST: Final = datetime(1900, 1, 1, tzinfo=UTC)
LAST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""A society lives from the first of them on, before the other."""

MOST: Final = LAST - FIRST

MOST_DAYS: Final = 36_525
"""A longer simulation is none that anybody waits for."""

DEFAULT_START: Final = datetime(2026, 2, 23, tzinfo=UTC)
"""A Monday; fixed, so that the same seed gives the same bytes on any day."""


def duration(text: object) -> timedelta:
    """Read a duration.

    Raises:
        ValueError: It is none.
    """
    if isinstance(text, str) and _FORM.fullmatch(text.strip()):
        seconds = sum(float(n) * _UNITS[unit] for n, unit in _PART.findall(text))
        if seconds > MOST.total_seconds():
            raise ValueError(f"{text[:40]!r} is too long: {MOST.days}d are the most")
        return timedelta(seconds=seconds)
    raise ValueError(f"{text!r} is no duration: write 25m, 6h, 90s, 1h30m or 2d")


def written(seconds: float) -> str:
    """Write a duration so that `duration` reads it: 1h30m, 12.5s; to the microsecond."""
    left, parts = timedelta(seconds=seconds), ""
    for unit, size in _UNITS.items():
        if unit != "s":
            count, left = divmod(left, timedelta(seconds=size))
            parts += f"{count}{unit}" if count else ""
    if left or not parts:
        parts += f"{left.total_seconds():f}".rstrip("0").rstrip(".") + "s"
    return parts


def first_instant(given: str | date) -> datetime:
    """Return when a simulation begins: a day or an instant, as a text or not; without a zone it is UTC.

    Raises:
        BadInput: It is neither, or a time that no prices can be moved to.
    """
    try:
        instant = datetime.fromisoformat(given if isinstance(given, str) else given.isoformat())
        found = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError, AttributeError):
        raise BadInput(f"start {given}: write a day such as 2026-02-23") from None
    if not FIRST <= found < LAST:
        raise BadInput(f"start {given}: choose a day from {FIRST:%Y} to {LAST.year - 1}")
    return found


def check_days(days: float, start: datetime) -> None:
    """Find out whether a simulation can be so long.

    Args:
        days: Society days.
        start: Where they begin.

    Raises:
        BadInput: It cannot.
    """
    if not 0 < days <= MOST_DAYS:
        raise BadInput(f"days {days:g}: choose a number above 0, up to {MOST_DAYS}")
    if start + timedelta(days=days) > LAST:
        raise BadInput(f"days {days:g} from {start:%Y-%m-%d} on: a simulation ends before {LAST:%Y}")
