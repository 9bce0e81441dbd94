"""Turns of the loop: what has been closed lets go of its socket a few of them later."""

from __future__ import annotations

import asyncio
from typing import Final

SETTLING_TURNS: Final = 10


async def settle() -> None:
    """Let the loop end what was closed or cancelled, before it may be closed itself (K25)."""
    for _turn in range(SETTLING_TURNS):
        await asyncio.sleep(0)
