"""How the console is served: data that costs nothing to load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

HOST: Final = "127.0.0.1"
PORT: Final = 8420

PLATFORM: Final = "console"
"""What the console is called in `actor.platform` and in `[admins]`."""

OWNER: Final = "owner"
"""User id of whoever has the address that is printed at the start: an admin."""

VIEWER: Final = "viewer"
"""User id of whoever has the viewers' address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleOptions:
    """How the console is served.

    Attributes:
        host: Where it is bound; beyond loopback only with a `token_file`.
        port: Its port; 0 takes a free one.
        public_url: Where people reach it, when that is another address.
        token_file: The tokens; None: `console-token` in the data directory, made at the first start.
        has_page: Serve the page; else only the API.
        is_read_only: Whether nobody can act here.
    """

    host: str = HOST
    port: int = PORT
    public_url: str = ""
    token_file: Path | None = None
    has_page: bool = True
    is_read_only: bool = False
