"""Instants as text: RFC 3339, UTC, six decimals, `Z`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = [
    "LEAST_SPEED",
    "MOST_SPEED",
    "UTC",
    "a_speed",
    "hours",
    "iso_week",
    "minutes",
    "parse_instant",
    "rfc3339",
    "stamp",
]

LEAST_SPEED: Final = 0.001
"""The slowest: three society seconds an hour; a log keeps six decimals of a speed, and zero is no speed (K7)."""

MOST_SPEED: Final = 100_000
"""The fastest accelerated clock, in society seconds a wall second; beyond it officers cannot keep up (K7)."""


def a_speed(value: object) -> float:
    """Return a speed as the log keeps it, in society seconds a wall second.

    Raises:
        ValueError: A society cannot run at it; one line says what is one (K7).
    """
    if isinstance(value, int | float) and LEAST_SPEED <= value <= MOST_SPEED:
        return round(float(value), 6)
    said = f"{value:g}" if isinstance(value, int | float) else value
    raise ValueError(f"a speed is a number from {LEAST_SPEED:g} to {MOST_SPEED}: not {said}")


def rfc3339(instant: datetime) -> str:
    """Write an aware instant as `YYYY-MM-DDTHH:MM:SS.ffffffZ`.

    Raises:
        ValueError: The instant is naive.
    """
    if instant.tzinfo is not UTC:
        if instant.tzinfo is None:
            raise ValueError(f"naive instant {instant!r}: give it a time zone")
        instant = instant.astimezone(UTC)
    # Half the time of isoformat, and every message has one.
    return "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ" % (  # noqa: UP031
        instant.year,
        instant.month,
        instant.day,
        instant.hour,
        instant.minute,
        instant.second,
        instant.microsecond,
    )


def parse_instant(text: str) -> datetime:
    """Read an RFC 3339 instant with a zone; the result is UTC.

    Raises:
        ValueError: Not an instant, or one without a zone.
    """
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone: end it with Z")
    return instant.astimezone(UTC)


def stamp(instant: datetime) -> str:
    """Write the `YYYYMMDD_HHMM` of ids such as `hyp_20260223_1030` (R-D12)."""
    day = (instant.year * 100 + instant.month) * 100 + instant.day
    return f"{day:08d}_{instant.hour * 100 + instant.minute:04d}"


def iso_week(instant: datetime) -> str:
    """Name the ISO week of an instant as `YYYY-Www`, the `period` of weekly messages."""
    year, week, _ = instant.isocalendar()
    return f"{year}-W{week:02d}"


def minutes(n: float) -> timedelta:
    """Return `n` minutes."""
    return timedelta(minutes=n)


def hours(n: float) -> timedelta:
    """Return `n` hours."""
    return timedelta(hours=n)
