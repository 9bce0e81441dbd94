"""Instants as Arbiter's files hold them."""

from __future__ import annotations

from datetime import datetime


def instant(now: datetime) -> str:
    """Write an instant as ISO 8601 to the millisecond, ending in Z.

    Args:
        now: UTC.
    """
    return f"{now.isoformat(timespec='milliseconds')[:-6]}Z"
