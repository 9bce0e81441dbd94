"""What Discord's library logs, as one calm line each: no traceback, no address of a webhook, no token."""

from __future__ import annotations

import logging
import re
import traceback
from pathlib import Path
from typing import Final

import structlog

from channels.wording import clean
from protocols.kernel.redact import redact

NAME: Final = "discord"
MOST: Final = 300

QUIET: Final = ("can't keep up", "logging in using static token")
"""How lines begin that say nothing to anybody here: the loop was busy for a moment; where the token came from."""

_WEBHOOK: Final = re.compile(r"(?i)(webhooks/\d+/)[^\s/?'\"]+")
"""An address that is a secret, whichever server it is on."""


class _Lines(logging.Handler):
    """Hands warnings on to our log; the same line several times running is written once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._last = ""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            # What follows the first line is a traceback that the library puts into the text.
            first = record.getMessage().strip().partition("\n")[0]
            said = clean(_WEBHOOK.sub(r"\1[redacted:webhook]", redact(first)), MOST)
        except Exception:
            said = "a line that cannot be read"
        if said.casefold().startswith(QUIET):
            return
        if record.exc_info and record.exc_info[1] is not None:
            said = f"{said} ({place_of(record.exc_info[1])})"
        shape = "".join(char for char in said if not char.isdigit())
        if shape != self._last:
            self._last = shape
            structlog.get_logger().warning("discord library", said=said)


def calm() -> None:
    """Have the library's loggers, which are the process's, hand on warnings and nothing else."""
    logger = logging.getLogger(NAME)
    if not any(isinstance(one, _Lines) for one in logger.handlers):
        logger.addHandler(_Lines())
    # The library prints the addresses of webhooks at lower levels.
    logger.setLevel(logging.WARNING)
    logger.propagate = False


def place_of(error: BaseException) -> str:
    """Say what an error is and where it arose: its type and the line of code, never its own text."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
