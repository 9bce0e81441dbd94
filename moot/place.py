"""What a user names: a data directory, a run's directory, an exported file (K24), a source of prices."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from moot.protocols.kernel.errors import BadInput

LOG_NAME: Final = "log.sqlite"
LOCK_NAME: Final = "lock"
EVIDENCE: Final = "evidence"
"""The folder of works and equity curves that messages name."""

SHIPPED_PRICES: Final = ("sample", "synthetic")
"""Prices that need no file."""


def data_dir(named: Path) -> Path:
    """Return the directory of a log.

    Raises:
        BadInput: There is none; the text says what to name instead.
    """
    if named.name == LOG_NAME and named.is_file():
        return named.parent
    if (named / LOG_NAME).is_file():
        return named
    if not named.exists():
        raise BadInput(f"there is no {named}: moot up --data {named} starts a society there")
    if not named.is_dir():
        raise BadInput(f"{named} is no data directory: name the directory that holds {LOG_NAME}")
    if not os.access(named, os.R_OK | os.X_OK):
        raise BadInput(f"{named} cannot be read: its owner must let you")
    if (named / LOCK_NAME).exists():
        from moot.channels.log.lease import holder

        if holder(named) is not None:
            raise BadInput(f"the society on {named} keeps no log: it runs with --bus memory")
    runs = sorted(entry.parent.name for entry in named.glob(f"*/{LOG_NAME}"))
    if runs:
        count = "a run: name it" if len(runs) == 1 else f"{len(runs)} runs: name one of them"
        example = named / runs[-1]
        raise BadInput(f"{named} holds {count}{',' if len(runs) == 1 else ', for example'} {example}")
    raise BadInput(
        f"{named} is no data directory, it holds no {LOG_NAME}: moot up --data {named} starts a society there"
    )


def log_path(named: Path) -> Path:
    """Return the file that holds a log: `log.sqlite` of a directory, or a JSON Lines file.

    Raises:
        BadInput: There is none.
    """
    if named.is_file() and named.name != LOG_NAME:
        return named
    return data_dir(named) / LOG_NAME


def price_source(named: str) -> str:
    """Return a source of prices: one that is shipped, or a file that is there.

    Raises:
        BadInput: It is neither.
    """
    if named not in SHIPPED_PRICES and not Path(named).is_file():
        why = "it is a directory" if Path(named).is_dir() else "there is no such file"
        raise BadInput(f"prices {named}: {why}: choose {', '.join(SHIPPED_PRICES)}, or a CSV or Parquet file")
    return named


def free_for_a_log(named: Path) -> Path:
    """Return a directory that a log can be kept in: none is in it yet, or one in which nothing was ever said.

    Raises:
        BadInput: There is one, or the name is a file's.
    """
    if (named / LOG_NAME).exists() and not _says_nothing(named):
        raise BadInput(f"{named} holds a log already: name another directory")
    if named.exists() and not named.is_dir():
        raise BadInput(f"{named} is no directory: name another one")
    return named


def _says_nothing(directory: Path) -> bool:
    """Say whether a log is empty: its society could not be started."""
    from moot.channels.errors import ChannelError
    from moot.stored import last_envelope

    try:
        return last_envelope(directory) is None
    except ChannelError:
        return False
