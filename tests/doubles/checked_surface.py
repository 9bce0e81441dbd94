"""A surface for `moot doctor`: it can say what is missing there, in several ways."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from moot.channels.surface import (
    Check,
    Memory,
    PlatformMessageId,
    Posting,
    Surface,
    SurfaceConfigError,
    SurfaceDown,
    TakeAct,
)


class CheckedSurface(Surface):
    """`how` is what happens when it is checked."""

    name = "checked"

    def __init__(self, *, how: str = "", token_file: str = "") -> None:
        self.how = how
        self.token_file = token_file

    async def start(self, inbound: TakeAct, memory: Memory) -> None:
        raise AssertionError("a check starts nothing")

    async def post(self, item: Posting) -> PlatformMessageId:
        raise AssertionError("a check posts nothing")

    async def check(self) -> Sequence[Check]:
        match self.how:
            case "down":
                raise SurfaceDown("nobody answers")
            case "wrong":
                raise SurfaceConfigError("the token is wrong")
            case "bug":
                raise LookupError("a bug")
            case "mute":
                await asyncio.Event().wait()
        return (
            Check("token", True, Path(self.token_file).read_text(encoding="utf-8")),
            Check("intents", False, "no message content", "switch it on under Bot, Message Content Intent"),
        )

    async def close(self) -> None:
        return None
