"""What happens to a society's files: memory and snapshot lost or torn while it is down, a disk that is full."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Final

from moot.chaos.dice import Dice
from moot.chaos.plan import Spell
from moot.snapshot import NAME as SNAPSHOT_NAME

FILES: Final = {"memory": "moot.memory.sqlite", "snapshot": SNAPSHOT_NAME}
TORN: Final = 512
"""Bytes that are overwritten."""


class Disk:
    """The disk of a world that lives on files, which takes nothing while it is full.

    No file of this process takes a byte then (`RLIMIT_FSIZE`), so that it is the store itself that fails.

    Attributes:
        is_full: Whether it is.
    """

    def __init__(self) -> None:
        """Have room."""
        self._room = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.is_full = False

    def be_full(self, is_full: bool) -> None:
        """Be full from now on, or have room again."""
        if is_full != self.is_full:
            self.is_full = is_full
            room, most = self._room
            resource.setrlimit(resource.RLIMIT_FSIZE, (0 if is_full else room, most))


def break_file(directory: Path, spell: Spell, dice: Dice) -> bool:
    """Lose or tear a file; return whether it was there."""
    what, _, how = spell.name.partition("_")
    file = directory / FILES[what]
    if not file.is_file():
        return False
    if how == "lost":
        for one in directory.glob(f"{FILES[what]}*"):
            one.unlink()
        return True
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(dice.whole(0, max(size - TORN, 0)))
        opened.write(bytes(dice.whole(0, 255) for _ in range(min(TORN, size))))
    return True
