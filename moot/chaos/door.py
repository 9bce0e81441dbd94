"""The door in a spell: what people post arrives late, or twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from moot.channels.bus import Receipt
from moot.channels.errors import Refused
from moot.chaos.striking import Striking
from moot.ports import Posting
from moot.protocols.kernel.envelope import Draft

T = TypeVar("T")


class StruckDoor(Posting):
    """Hands posts to the door behind it, as its spells let it."""

    def __init__(self, door: Posting, striking: Striking) -> None:
        """Stand before a door."""
        self._door = door
        self._striking = striking
        self._is_over = asyncio.Event()

    async def publish(self, draft: Draft) -> Receipt:
        return await self._post(draft.key, lambda: self._door.publish(draft))

    async def publish_json(self, draft: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        return await self._post(key, lambda: self._door.publish_json(draft, key))

    async def _post(self, key: str, post: Callable[[], Awaitable[T]]) -> T:
        striking = self._striking
        if (spell := striking.strikes("transport.late", "", "late", key)) is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_over.wait(), spell.size * striking.dice(spell, key).share())
        if striking.strikes("transport.twice", "", "twice", key) is not None:
            with suppress(Refused):
                await post()
        return await post()

    def hurry(self) -> None:
        """Let through what is late, and nothing be late any more: the society ends."""
        self._is_over.set()
