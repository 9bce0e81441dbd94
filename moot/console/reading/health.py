"""Health of the log: whether every message that is stored still is what was written, checked while the console runs."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Final

import structlog

from moot.channels.errors import ChannelError, CorruptLog, EmptyLog
from moot.channels.log.file import LOG_NAME, check_row, reading
from moot.channels.log.reader import PAGE
from moot.protocols.kernel.envelope import GENESIS

CHECK_INTERVAL_S: Final = 2.0
"""Minimum interval between two checks of the log, in seconds of wall time."""

MAX_SHARE: Final = 0.02
"""Largest share of the time that checking may take: a longer log is checked less often."""

PAUSE_S: Final = 0.002
"""Pause after each page of messages, in which other threads get their turn."""

_log = structlog.get_logger("moot.console")


class LogHealth:
    """Checks the log of a data directory again and again.

    Attributes:
        problem: What is wrong with the log, in one line; "" while nothing is known to be.
        checked: Seq up to which the last complete check came.
    """

    def __init__(self, directory: Path) -> None:
        """Prepare; `watch` does the work."""
        self._path = directory / LOG_NAME
        self._first = b""
        self._was_there = False
        self._stops = False
        self.problem = ""
        self.checked = 0

    async def watch(self) -> None:
        """Check until cancelled."""
        try:
            while True:
                began_s = asyncio.get_running_loop().time()
                problem = await asyncio.to_thread(self.check)
                if problem != self.problem:
                    self.problem = problem
                    if problem:
                        _log.error("the log is damaged", why=problem)
                took_s = asyncio.get_running_loop().time() - began_s
                await asyncio.sleep(max(CHECK_INTERVAL_S, took_s / MAX_SHARE))
        finally:
            self._stops = True

    def check(self) -> str:
        """Read the whole log once, and return what is wrong with it; "" for nothing."""
        if not self._path.exists():
            return f"{LOG_NAME} is gone" if self._was_there else ""
        try:
            return self._read()
        except EmptyLog:
            return f"{LOG_NAME} is empty, and held {self.checked} messages" if self.checked else ""
        except CorruptLog as exc:
            why = str(exc).removeprefix(f"seq {exc.seq}: ")
            return self._one_line(f"message {exc.seq} is damaged: {why}" if exc.seq else why)
        except (ChannelError, OSError) as exc:
            return self._one_line(f"the log cannot be read: {exc}")

    def _read(self) -> str:
        previous, expected = GENESIS, 1
        with reading(self._path) as log:
            self._was_there = True
            while rows := log.between(expected, 2**62, limit=PAGE):
                for row in rows:
                    if row.seq != expected:
                        return f"message {expected} is missing"
                    check_row(row, previous)
                    if not _names(row.text, expected):
                        return f"message {expected} is damaged: its text names another place in the log"
                    previous, expected = row.hash, expected + 1
                if rows[0].seq == 1 and rows[0].hash != self._first:
                    # Another log took its place.
                    self._first, self.checked = rows[0].hash, 0
                if self._stops:
                    return self.problem
                time.sleep(PAUSE_S)
            if log.count() != expected - 1:
                return f"the log holds {log.count()} messages, and its numbering has {expected - 1}"
        if expected - 1 < self.checked:
            return f"the log ends at message {expected - 1}, and had {self.checked}"
        self.checked = expected - 1
        return ""

    def _one_line(self, text: str) -> str:
        """Return a reason as everybody may read it: in one line, and without the directory."""
        return " ".join(text.replace(f"{self._path.parent}/", "").split())[:300]


def _names(text: str, seq: int) -> bool:
    try:
        return bool(json.loads(text)["seq"] == seq)
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
