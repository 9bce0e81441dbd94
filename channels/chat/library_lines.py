"""Library lines: what a platform's library logs, handed on to our log as one calm line each: no traceback, no body."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from moot.channels.showing.wording import clean
from moot.protocols.kernel.redact import redact

MOST: Final = 300
"""Characters of a line."""


class LibraryLines(logging.Handler):
    """Hands warnings on; the same line several times running is written once, whatever its numbers."""

    def __init__(self, event: str, tidied: Callable[[str], str]) -> None:
        """Set up.

        Args:
            event: What our log calls these lines.
            tidied: Makes what the library says fit to be read; "" leaves the line out.
        """
        super().__init__(logging.WARNING)
        self._event = event
        self._tidied = tidied
        self._last = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        try:
            said = clean(self._tidied(redact(record.getMessage())), MOST)
        except Exception:
            said = "a line that cannot be read"
        if not said:
            return
        if record.exc_info and record.exc_info[1] is not None:
            said = f"{said} ({place_of(record.exc_info[1])})"
        shape = "".join(char for char in said if not char.isdigit())
        if shape != self._last:
            self._last = shape
            structlog.get_logger().warning(self._event, said=said)


def place_of(error: BaseException) -> str:
    """Say what an error is and where it arose: its type and the line of code, never its own text."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
