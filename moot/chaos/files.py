"""Files that are lost or torn while a society is down: its memory and its snapshot, which the log replaces."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moot.chaos.dice import Dice
from moot.chaos.plan import Spell
from moot.snapshot import NAME as SNAPSHOT_NAME

FILES: Final = {"memory": "moot.memory.sqlite", "snapshot": SNAPSHOT_NAME}
TORN: Final = 512
"""Bytes that are overwritten."""


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
