"""When a request is sent again, and after how long."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import Final

CAP_S: Final = 60.0
"""No request of a call is sent again later than so many wall seconds after the call began."""

FIRST_S: Final = 0.5
MOST_S: Final = 16.0
"""The first wait is drawn from 0 to `FIRST_S` seconds, each further one from twice as much, up to `MOST_S`."""

AGAIN: Final = frozenset({408, 409, 429, *range(500, 600)})
"""Statuses after which the same request may be answered."""


def wait_s(attempt: int, headers: Mapping[str, str], rng: Random) -> float:
    """Return the seconds to wait after an attempt (1 …): what the server asks for, and a drawn one (full jitter)."""
    drawn = rng.uniform(0.0, min(MOST_S, FIRST_S * 2 ** min(attempt - 1, 16)))
    return asked_s(headers) + drawn


def asked_s(headers: Mapping[str, str]) -> float:
    """Return the seconds that a reply asks to wait; 0 when it asks for none or for what cannot be meant.

    Args:
        headers: Those of the reply, names in lower case. A date counts from the server's own (`date`), whose clock
            may be wrong.
    """
    for name, unit in (("retry-after-ms", 1_000.0), ("retry-after", 1.0)):
        try:
            told = float(headers.get(name, ""))
        except ValueError:
            continue
        return told / unit if math.isfinite(told) and told > 0 else 0.0
    until, now = _instant(headers.get("retry-after")), _instant(headers.get("date"))
    if until is None or now is None or (until.tzinfo is None) != (now.tzinfo is None):
        return 0.0
    return max(0.0, (until - now).total_seconds())


def _instant(text: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(text) if text else None
    except (ValueError, IndexError):
        return None
