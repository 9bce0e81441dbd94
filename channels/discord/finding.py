"""Finding: whether a message is there already, by the mark in the footer of its embed."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

from channels.discord.connection import Connection
from channels.discord.library import discord
from channels.discord.places import Places
from channels.discord.posting import thread_of
from channels.discord.rendering import footer_mark
from channels.discord.troubles import UNKNOWN_CHANNEL, renamed, strange
from channels.layout import mark
from channels.pacing import URGENT
from channels.surface import PlatformMessageId, Posting

PAGE: Final = 100
"""Messages that one call of the API gives."""

MOST_READ: Final = 1_000
"""Messages of a history that are read; what we post in doubt was posted just now."""

MOST_OLDER: Final = 60
"""Own messages with smaller numbers after which no routine message follows; urgent ones may overtake any number."""

_SEQ: Final = re.compile(r"message (\d+) ")


async def find(client: Connection, places: Places, item: Posting) -> PlatformMessageId | None:
    """Look for a message in its thread and in its channel, newest first.

    Raises:
        SurfaceDown, RateLimited: It cannot be looked up now.
    """
    place = await places.place(item.channel)
    thread = thread_of(item)
    for channel_id in (place.channel_id,) if thread is None else (thread, place.channel_id):
        found = await _look(client, places, item, channel_id, is_thread=channel_id == thread)
        if found is not None:
            return found
    return None


async def history(
    client: Connection, channel_id: int, *, after: int | None = None
) -> AsyncGenerator[list[Mapping[str, Any]]]:
    """Read a channel's messages in pages: newest first, or oldest first after a message.

    Raises:
        SurfaceDown, RateLimited: It cannot be read now.
        discord.HTTPException: There is no such channel (code `UNKNOWN_CHANNEL`).
    """
    before = None
    while True:
        with renamed("read the history", passing={UNKNOWN_CHANNEL}):
            page: Any = await client.http.logs_from(channel_id, PAGE, before=before, after=after)
        if not isinstance(page, list) or not all(isinstance(one, Mapping) and "id" in one for one in page):
            strange(page)
        page = sorted(page, key=lambda one: int(one["id"]), reverse=after is None)
        yield page
        if len(page) < PAGE:
            return
        last = int(page[-1]["id"])
        before, after = (last, None) if after is None else (None, last)


async def _look(
    client: Connection, places: Places, item: Posting, channel_id: int, *, is_thread: bool
) -> PlatformMessageId | None:
    wanted, may_overtake = mark(item.nonce), item.envelope.body.type in URGENT
    read = older = 0
    try:
        async for page in history(client, channel_id):
            for message in page:
                embeds = message.get("embeds") or ()
                found = footer_mark(embeds) if places.is_own(message) else None
                if found == wanted:
                    return PlatformMessageId(f"{channel_id}/{message['id']}")
                older += found is not None and _seq(embeds) < item.seq
            read += len(page)
            if read >= MOST_READ or (older >= MOST_OLDER and not may_overtake):
                return None
    except discord.HTTPException:
        if not is_thread:
            places.forget(item.channel, await places.place(item.channel))
    return None


def _seq(embeds: Any) -> int:
    found = _SEQ.match(str(embeds[0]["footer"]["text"]))
    return int(found[1]) if found else 0
