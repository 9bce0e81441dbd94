"""Finding: whether a message is there already, by the mark in the footer of its embed."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Any, Final

from moot.channels.chat.looking_back import Own, look_back
from moot.channels.discord.connection import Connection
from moot.channels.discord.history import PAGE, page
from moot.channels.discord.library import discord
from moot.channels.discord.places import Places
from moot.channels.discord.posting import thread_of
from moot.channels.discord.rendering import footer_mark
from moot.channels.showing.layout import mark
from moot.channels.surface import PlatformMessageId, Posting

_SEQ: Final = re.compile(r"message (\d+) ")


async def find(client: Connection, places: Places, item: Posting) -> PlatformMessageId | None:
    """Look for a message in its thread and in its channel, newest first.

    Raises:
        SurfaceDown, RateLimited: It cannot be looked up now.
    """
    place = await places.place(item.channel)
    thread = thread_of(item)
    for channel_id in (place.channel_id,) if thread is None else (thread, place.channel_id):
        try:
            found = await look_back(item, _history(client, places, item, channel_id))
        except discord.HTTPException:
            if channel_id == place.channel_id:
                places.forget(item.channel, place)
            continue
        if found is not None:
            return found
    return None


async def _history(
    client: Connection, places: Places, item: Posting, channel_id: int
) -> AsyncGenerator[Own | None]:
    wanted = mark(item.nonce)
    before = None
    while True:
        found = await page(client, channel_id, before=before)
        for message in found:
            embeds = message.get("embeds") or ()
            there = footer_mark(embeds) if places.is_own(message) else None
            if there is None:
                yield None
            else:
                id = PlatformMessageId(f"{channel_id}/{message['id']}")
                yield Own(id, is_it=there == wanted, is_older=_seq(embeds) < item.seq)
        if len(found) < PAGE:
            return
        before = int(found[-1]["id"])


def _seq(embeds: Any) -> int:
    found = _SEQ.match(str(embeds[0]["footer"]["text"]))
    return int(found[1]) if found else 0
