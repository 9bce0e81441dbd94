"""Avatars: a picture of 128 by 128 for each seat, in `pictures/`.

Bots are on a disc, officers on a rounded square, people on a hexagon; each seat has a sign of its own in white, on the
colour of its look. A seat that brings no picture along shows the society's.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from moot.protocols.kernel.seats import Seat

PLACE: Final = Path(__file__).parent / "pictures"


def avatar(seat: Seat | None) -> bytes:
    """Return a seat's picture, the society's own for None, as PNG."""
    path = PLACE / f"{seat}.png"
    return (path if seat is not None and path.is_file() else PLACE / "society.png").read_bytes()


@cache
def has_picture(seat: Seat) -> bool:
    """Return True if a seat brings a picture of its own; others are told by their declared colour."""
    return (PLACE / f"{seat}.png").is_file()


def emoji_name(seat: Seat | None) -> str:
    """Name the emoji that carries a seat's picture: 2 to 32 of a-z and _."""
    return f"moot_{seat}" if seat is not None else "moot_society"
