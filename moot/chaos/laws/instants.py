"""Reckoning with instants as the log writes them."""

from __future__ import annotations

from datetime import datetime, timedelta


def instant(text: str) -> datetime:
    """Read an instant, RFC 3339 in UTC."""
    return datetime.fromisoformat(text)


def minutes(since: str, until: str) -> float:
    """Return how many minutes lie between two instants."""
    return (instant(until) - instant(since)) / timedelta(minutes=1)
