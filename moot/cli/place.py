"""How commands take what a user names as a log, and who is at the keyboard; `moot.place` says what it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from moot.cli.errors import Unusable

DEFAULT: Final = Path("moot-data")


def _named(text: str) -> Path:
    # Path("") is the directory at hand, which nobody meant who wrote "$UNSET".
    if not str(text):
        raise Unusable("DIR is empty: name a directory, . for the one at hand")
    return Path(text)


Dir = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", parser=_named, help="Data directory of a society, or directory of a simulated run."
    ),
]
Source = Annotated[
    Path,
    typer.Argument(
        metavar="DIR|FILE.jsonl", parser=_named, help="Directory of a log, or a file made by moot export."
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
