"""Where a society's gateway socket is: in its data directory, or at a short path noted there.

The kernel takes about a hundred characters for a socket's path. A deeper data directory gets a private
directory in the system's temporary one; the file `gateway.addr` says which.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
from pathlib import Path
from typing import Final

MOST_PATH: Final = 100
"""Bytes of a socket's path that every system takes."""

SOCKET: Final = "gateway.sock"
NOTE: Final = "gateway.addr"


def find(data_dir: Path) -> Path:
    """Return where the socket of a society is, whether or not anybody listens there.

    Raises:
        OSError: The note cannot be read.
        UnicodeDecodeError: It is no text.
    """
    try:
        noted = (data_dir / NOTE).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        noted = ""
    return Path(noted) if noted else data_dir / SOCKET


def listen(data_dir: Path) -> tuple[socket.socket, Path]:
    """Bind the socket, readable and writable for its owner only, and note where it is.

    The data directory's lease makes this the only host, so a socket file that is left from a crash goes.

    Raises:
        OSError: The directory cannot be written.
    """
    forget(data_dir)
    path = (data_dir / SOCKET).absolute()
    if len(os.fsencode(path)) > MOST_PATH:
        path = Path(tempfile.mkdtemp(prefix="moot-", dir=_short_directory())) / SOCKET
        (data_dir / NOTE).write_text(f"{path}\n", encoding="utf-8")
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        bound.bind(str(path))
        # Nobody can connect before `listen`, so nobody can slip in before the mode is set.
        path.chmod(0o600)
        bound.listen(64)
    except BaseException:
        bound.close()
        raise
    bound.setblocking(False)
    return bound, path


def mark(path: Path) -> tuple[int, int] | None:
    """Return what tells a socket's file from every other one while the socket is open; None when it is gone."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def forget(data_dir: Path) -> None:
    """Remove socket and note, also those of a crashed host; nothing there is fine."""
    path = find(data_dir)
    if path.parent.name.startswith("moot-") and path.parent != data_dir and _is_ours(path.parent):
        shutil.rmtree(path.parent, ignore_errors=True)
    (data_dir / SOCKET).unlink(missing_ok=True)
    (data_dir / NOTE).unlink(missing_ok=True)


def _short_directory() -> str | None:
    short = tempfile.gettempdir()
    room = MOST_PATH - len(SOCKET) - len("/moot-12345678/")
    return short if len(os.fsencode(short)) <= room else "/tmp"


def _is_ours(directory: Path) -> bool:
    try:
        found = directory.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == 0o700
    )
