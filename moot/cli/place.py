"""How commands take what a user names as a log, and who is at the keyboard; `moot.place` says what it is."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Final

import typer

from moot.cli.errors import Unusable

DEFAULT: Final = Path("moot-data")
LASTING: Final = ExitStack()
"""What a command has open until it ends; the program closes it."""


def _named(text: str) -> Path:
    # Path("") is the directory at hand, which nobody meant who wrote "$UNSET".
    if not str(text):
        raise Unusable("DIR is empty: name a directory, . for the one at hand")
    return Path(text)


def read_from(text: str) -> Path:
    """Return a directory or file; of a society on NATS, a mirror that lasts as long as the command."""
    from moot.channels.nats.address import is_nats

    if not is_nats(text):
        return _named(text)
    from moot.hosts.mirrored import mirrored

    return LASTING.enter_context(mirrored(text))


Dir = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", parser=_named, help="Data directory of a society, or directory of a simulated run."
    ),
]
Here = Annotated[
    Path,
    typer.Argument(
        metavar="DIR|FILE.jsonl", parser=_named, help="Directory of a log, or a file made by moot export."
    ),
]
Source = Annotated[
    Path,
    typer.Argument(
        metavar="DIR|FILE.jsonl|nats://HOST/NAME",
        parser=read_from,
        help="Directory of a log, a file made by moot export, or a society on NATS.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def owner_of(directory: Path) -> str:
    """Return the login name that owns a data directory; its number where it has no name."""
    import pwd

    uid = directory.stat().st_uid
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def login_name() -> str:
    """Return who is at the keyboard, by the account that runs this process."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
