"""Durations as people write them, 25m, 6h, 90s, 1h30m, 2d, and the time that prices can be moved to."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_UNITS: Final = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_FORM: Final = re.compile(r"(?:\d+(?:\.\d+)?[dhms])+")
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)([dhms])")

FIRST: Final = datetime(1900, 1, 1, tzinfo=UTC)
LAST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""A society lives from the first of them on, before the other."""

MOST: Final = LAST - FIRST


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
