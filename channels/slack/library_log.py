"""What Slack's libraries log, as one calm line each: no traceback, no body, no token."""

from __future__ import annotations

import logging
import re
from typing import Final

from moot.channels.chat.library_lines import LibraryLines

NAME: Final = "moot.slack.library"

_TICKET: Final = re.compile(r"ticket=[^&\s'\"]+")
"""What opens a Socket Mode connection, in the address that the library prints."""


def library_logger() -> logging.Logger:
    """Return the logger that the libraries are given."""
    logger = logging.getLogger(NAME)
    if not logger.handlers:
        logger.addHandler(LibraryLines("slack library", _tidied))
    # The libraries print requests, bodies included, at lower levels.
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    # Its middleware makes loggers of its own that have our handler already.
    logging.getLogger("slack_bolt").propagate = False
    return logger


def _tidied(said: str) -> str:
    return _TICKET.sub("ticket=[redacted]", said)
