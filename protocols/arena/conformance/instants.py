"""Instants of RFC 3339, read by hand so that every digit counts and no date overflows."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from typing import Final, NamedTuple

_FORM: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,100}))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)


class Instant(NamedTuple):
    """An instant that compares as time passes.

    Attributes:
        second: Seconds in UTC since the first day of the calendar.
        fraction: The digits after the point, without closing zeros; digits compare as text does.
    """

    second: int
    fraction: str


def parse_instant(text: str) -> Instant | None:
    """Return the instant that a text names, None when it is no instant of RFC 3339."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction, sign, ahead_h, ahead_m = found.groups()[6:]
    # A leap second is written as second 60.
    if not (year >= 1 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    if hour > 23 or minute > 59 or second > 60:
        return None
    ahead = 0
    if sign is not None:
        if int(ahead_h) > 23 or int(ahead_m) > 59:
            return None
        ahead = (int(ahead_h) * 60 + int(ahead_m)) * (60 if sign == "+" else -60)
    days = date(year, month, day).toordinal()
    return Instant(days * 86_400 + hour * 3600 + minute * 60 + second - ahead, (fraction or "").rstrip("0"))
