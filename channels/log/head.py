"""The file `head`: where the log ended when it was last written down, so that a cut tail shows (K15)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from moot.channels.bus import Head
from moot.channels.errors import CorruptLog

HEAD_NAME: Final = "head"


def read_head(directory: Path) -> Head | None:
    """Read the head file of a data directory; None when there is none.

    Raises:
        CorruptLog: It cannot be read.
    """
    path = directory / HEAD_NAME
    try:
        data = json.loads(path.read_bytes())
        head = Head(data["seq"], bytes.fromhex(data["hash"]))
        if not isinstance(head.seq, int) or len(head.hash) != 32:
            raise ValueError("not a seq and a hash")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise CorruptLog(f"cannot read {path}; remove it to accept the log as it stands") from exc
    return head


def write_head(directory: Path, head: Head, *, first_sync: Path | None = None) -> None:
    """Replace the head file by a rename, on the disk.

    Args:
        directory: The data directory.
        head: The end of the durable log; the file never runs ahead of it.
        first_sync: A file that must reach the disk before: the write-ahead log, where commits do not wait
            for the disk, so that a power cut leaves no head without its log.

    Raises:
        OSError: The disk did not take it; the old file stands.
    """
    if first_sync is not None and first_sync.exists():
        _sync(first_sync)
    path = directory / HEAD_NAME
    fresh = path.with_name(HEAD_NAME + ".new")
    fresh.write_text(json.dumps({"hash": head.hash.hex(), "seq": head.seq}) + "\n")
    _sync(fresh)
    fresh.replace(path)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
