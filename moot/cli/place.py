"""From what a user names to a log: a data directory, a run's directory, or an exported file (K24)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from moot.cli.errors import Unusable

LOG_NAME: Final = "log.sqlite"
LOCK_NAME: Final = "lock"
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


def data_dir(named: Path) -> Path:
    """Return the directory of a log.

    Raises:
        Unusable: There is none; the text says what to name instead.
    """
    if named.name == LOG_NAME and named.is_file():
        return named.parent
    if (named / LOG_NAME).is_file():
        return named
    if not named.exists():
        raise Unusable(f"there is no {named}: moot up --data {named} starts a society there")
    if not named.is_dir():
        raise Unusable(f"{named} is no data directory: name the directory that holds {LOG_NAME}")
    if not os.access(named, os.R_OK | os.X_OK):
        raise Unusable(f"{named} cannot be read: its owner must let you")
    if (named / LOCK_NAME).exists():
        from moot.channels.log.lease import holder

        if holder(named) is not None:
            raise Unusable(f"the society on {named} keeps no log: it runs with --bus memory")
    runs = sorted(entry.parent.name for entry in named.glob(f"*/{LOG_NAME}"))
    if runs:
        count = "a run: name it" if len(runs) == 1 else f"{len(runs)} runs: name one of them"
        example = named / runs[-1]
        raise Unusable(f"{named} holds {count}{',' if len(runs) == 1 else ', for example'} {example}")
    raise Unusable(
        f"{named} is no data directory, it holds no {LOG_NAME}: moot up --data {named} starts a society there"
    )


def log_path(named: Path) -> Path:
    """Return the file that holds a log: `log.sqlite` of a directory, or a JSON Lines file.

    Raises:
        Unusable: There is none.
    """
    if named.is_file() and named.name != LOG_NAME:
        return named
    return data_dir(named) / LOG_NAME


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
