"""Reckoning with instants as the log writes them."""

from __future__ import annotations

from datetime import datetime, timedelta

from moot.laws.law import Message


def instant(text: str) -> datetime:
    """Read an instant, RFC 3339 in UTC."""
    return datetime.fromisoformat(text)


def minutes(since: str, until: str) -> float:
    """Return how many minutes lie between two instants."""
    return (instant(until) - instant(since)) / timedelta(minutes=1)


class Uptime:
    """Tells time as those who act have it: time in which the society could do nothing does not pass (K6)."""

    def __init__(self) -> None:
        """Begin before the first message."""
        self._down = 0.0
        self._last = ""

    def take(self, message: Message) -> None:
        """Take in the next message of the log, of whatever type."""
        body, at = message["body"], message["sent_at"]
        if body["type"] == "SOCIETY_STARTED" and self._last:
            self._down += minutes(self._last, at)
        elif body["type"] == "CLOCK_SET":
            self._down += body.get("held_s", 0.0) / 60
        self._last = at

    def at(self, message: Message) -> float:
        """Return when a message that was taken in was sent, in minutes of such time."""
        return instant(message["sent_at"]).timestamp() / 60 - self._down
