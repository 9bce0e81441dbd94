"""What Slack's libraries log, as one calm line each: no traceback, no body, no token."""

from __future__ import annotations

import logging
import re
from typing import Final

import structlog

from channels.wording import clean
from protocols.kernel.redact import redact

NAME: Final = "moot.slack.library"
MOST: Final = 300

_TICKET: Final = re.compile(r"ticket=[^&\s'\"]+")
"""What opens a Socket Mode connection, in the address that the library prints."""


class _Lines(logging.Handler):
    """Hands warnings on to our log; the same line several times running is written once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._last = ""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            said = clean(_TICKET.sub("ticket=[redacted]", redact(record.getMessage())), MOST)
        except Exception:
            said = "a line that cannot be read"
        shape = "".join(char for char in said if not char.isdigit())
        if shape != self._last:
            self._last = shape
            structlog.get_logger().warning("slack library", said=said)


def library_logger() -> logging.Logger:
    """Return the logger that the libraries are given."""
    logger = logging.getLogger(NAME)
    if not logger.handlers:
        logger.addHandler(_Lines())
    # The libraries print requests, bodies included, at lower levels.
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    # Its middleware makes loggers of its own that have our handler already.
    logging.getLogger("slack_bolt").propagate = False
    return logger
