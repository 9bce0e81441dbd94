"""Durations as people write them: 25m, 6h, 90s, 1h30m, 2d."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

_UNITS: Final = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_FORM: Final = re.compile(r"(?:\d+(?:\.\d+)?[dhms])+")
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)([dhms])")


def duration(text: object) -> timedelta:
    """Read a duration.

    Raises:
        ValueError: It is none.
    """
    if isinstance(text, str) and _FORM.fullmatch(text.strip()):
        seconds = sum(float(n) * _UNITS[unit] for n, unit in _PART.findall(text))
        return timedelta(seconds=seconds)
    raise ValueError(f"{text!r} is no duration: write 25m, 6h, 90s, 1h30m or 2d")
