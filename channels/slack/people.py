"""People's names by id, for the words in which the log keeps what they wrote."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Final

from slack_sdk.web.async_client import AsyncWebClient

from moot.channels.showing.wording import clean
from moot.channels.slack.rendering import plain
from moot.channels.slack.web import answer, data_of
from moot.channels.surface import Memory, SurfaceError

PATIENCE_S: Final = 2.0
"""An act does not wait longer for a name."""

FORGIVING_S: Final = 60.0
"""A name that Slack did not give is asked for again after this time."""

MOST_ASKED: Final = 20
"""Names that one message makes us look up."""

_MENTIONED: Final = re.compile(r"<@([A-Z0-9]{1,30})>")


class People:
    """Looks names up once and remembers them, so that a message reads the same at every redelivery."""

    def __init__(self, client: AsyncWebClient, memory: Memory) -> None:
        """Know nobody."""
        self._client = client
        self._memory = memory
        self._names: dict[str, str] = {}
        self._failed_at: dict[str, float] = {}

    async def name(self, user_id: str) -> str:
        """Return a person's name; their id where Slack does not say."""
        return (await self._look_up([user_id])).get(user_id, user_id)

    async def plain(self, text: str, rooms: Mapping[str, str]) -> str:
        """Return what a person wrote as plain words, mentions as names.

        Args:
            text: As Slack sends it.
            rooms: Names of channels by id, without `#`.
        """
        mentioned = list(dict.fromkeys(_MENTIONED.findall(text)))[:MOST_ASKED]
        return plain(text, users=await self._look_up(mentioned), channels=rooms)

    async def _look_up(self, ids: list[str]) -> dict[str, str]:
        now = asyncio.get_running_loop().time()
        for user_id, at in [*self._failed_at.items()]:
            if now - at > FORGIVING_S:
                del self._failed_at[user_id]
        asked = [user_id for user_id in ids if user_id not in self._failed_at]
        names = await asyncio.gather(*(self._soon(user_id) for user_id in asked))
        return {user_id: name for user_id, name in zip(asked, names, strict=True) if name}

    async def _soon(self, user_id: str) -> str:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._one(user_id)
        except (TimeoutError, SurfaceError):
            self._failed_at[user_id] = asyncio.get_running_loop().time()
            return ""

    async def _one(self, user_id: str) -> str:
        if user_id not in self._names:
            known = await self._memory.get(f"person/{user_id}")
            if known is None:
                user = data_of(await answer(self._client.users_info(user=user_id))).get("user")
                raw = user if isinstance(user, Mapping) else {}
                known = clean(str(raw.get("name") or raw.get("real_name") or user_id), 80)
                await self._memory.put(f"person/{user_id}", known)
            self._names[user_id] = known
        return self._names[user_id]
