"""How commands take what a user names as a log, and who is at the keyboard; `moot.place` says what it is."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from moot.cli.errors import Unusable
from moot.cli.speaking import note_log

if TYPE_CHECKING:
    from moot.hosts.mirrored import Mirrored

DEFAULT: Final = Path("moot-data")
LASTING: Final = ExitStack()
"""What a command has open until it ends; the program closes it."""


_MIRRORS: Final[dict[Path, Mirrored]] = {}
"""Those that are open, by their directories."""


def _named(text: str) -> Path:
    # Path("") is the directory at hand, which nobody meant who wrote "$UNSET".
    if not str(text):
        raise Unusable("DIR is empty: name a directory, . for the one at hand")
    if "://" in str(text):
        raise Unusable("an address will not do here: name the data directory of a host")
    note_log(Path(text))
    return Path(text)


def read_from(text: str, *, bodies: bool = False, serves: bool = False) -> Path:
    """Return a directory or file; of a society on NATS, a mirror that lasts as long as the command."""
    from moot.channels.nats.address import is_nats

    if not is_nats(str(text)):
        return _named(text)
    from moot.hosts.mirrored import mirrored

    found = LASTING.enter_context(mirrored(text, bodies=bodies, serves=serves))
    LASTING.callback(_MIRRORS.pop, found.directory, None)
    _MIRRORS[found.directory] = found
    note_log(found.directory)
    return found.directory


def mirror_at(directory: Path | None) -> Mirrored | None:
    """Return the mirror of a society that was named by its address."""
    return None if directory is None else _MIRRORS.get(directory)


def shown(directory: Path) -> str:
    """Return what a user may name a directory by: the address where that was named."""
    return str(mirror_at(directory) or directory)


def runner(directory: Path) -> int | None:
    """Return the process that runs a society: 0 when that hides or is on another host, None when nobody does."""
    from moot.channels.log.lease import holder

    mirror = mirror_at(directory)
    if mirror is None:
        return holder(directory)
    return 0 if mirror.ask_who_leads() else None


_SOURCE: Final = "DIR|FILE.jsonl|nats://HOST/NAME"
_SOURCE_HELP: Final = "Directory of a log, a file made by moot export, or a society on NATS."
Dir = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", parser=_named, help="Data directory of a society, or directory of a simulated run."
    ),
]
Living = Annotated[
    Path,
    typer.Argument(
        metavar="DIR|nats://HOST/NAME",
        parser=read_from,
        help="Data directory of a society, or its address on NATS.",
    ),
]
Source = Annotated[Path, typer.Argument(metavar=_SOURCE, parser=read_from, help=_SOURCE_HELP)]
SourceWithBodies = Annotated[
    Path, typer.Argument(metavar=_SOURCE, parser=partial(read_from, bodies=True), help=_SOURCE_HELP)
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
