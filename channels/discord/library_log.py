"""What Discord's library logs, as one calm line each: no traceback, no address of a webhook, no token."""

from __future__ import annotations

import logging
import re
from typing import Final

from moot.channels.chat.library_lines import LibraryLines, place_of

__all__ = ["calm", "place_of"]

NAME: Final = "discord"

QUIET: Final = ("can't keep up", "logging in using static token")
"""How lines begin that say nothing to anybody here: the loop was busy for a moment; where the token came from."""

_WEBHOOK: Final = re.compile(r"(?i)(webhooks/\d+/)[^\s/?'\"]+")
"""An address that is a secret, whichever server it is on."""


def calm() -> None:
    """Have the library's loggers, which are the process's, hand on warnings and nothing else."""
    logger = logging.getLogger(NAME)
    if not any(isinstance(one, LibraryLines) for one in logger.handlers):
        logger.addHandler(LibraryLines("discord library", _tidied))
    # The library prints the addresses of webhooks at lower levels.
    logger.setLevel(logging.WARNING)
    logger.propagate = False


def _tidied(said: str) -> str:
    # What follows the first line is a traceback that the library puts into the text.
    first = _WEBHOOK.sub(r"\1[redacted:webhook]", said.strip().partition("\n")[0])
    return "" if first.casefold().startswith(QUIET) else first
