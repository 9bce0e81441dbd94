"""Catching up: what people wrote in a channel and its threads after a message, in the order in which they did."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import structlog

from channels.discord.connection import Connection
from channels.discord.finding import history
from channels.discord.library import discord
from channels.discord.places import Places
from channels.discord.troubles import of_answer, renamed, strange
from channels.discord.wording import Said, of_history

PAGE: Final = 100
"""Closed threads that one call of the API gives."""


async def since(client: Connection, places: Places, channel_id: int, after: int) -> tuple[list[Said], int]:
    """Read what people wrote after a message, oldest first, and the id of the last message of all.

    Raises:
        SurfaceDown, RateLimited, PostRefused: It cannot be read now.
        SurfaceConfigError: Discord does not know the token any more.
    """
    said: list[Said] = []
    newest = after
    for id in [channel_id, *[id async for id in _threads(client, places, channel_id, after)]]:
        try:
            async for page in history(client, id, after=after):
                said += filter(None, map(_read, page))
                newest = max([newest, *(int(one["id"]) for one in page)])
        except discord.HTTPException as exc:
            if id == channel_id:
                raise of_answer(exc, "read the history") from None
            structlog.get_logger().info("thread is gone", surface="discord", thread=id)
    return sorted(said, key=lambda one: one.id), newest


async def _threads(client: Connection, places: Places, channel_id: int, after: int) -> AsyncGenerator[int]:
    """Name the channel's threads in which something may have been said after a message, open and closed ones."""
    with renamed("see the threads"):
        found: Any = await client.http.get_active_threads(places.guild_id)
    for thread in _listed(found):
        if str(thread.get("parent_id")) == str(channel_id) and _may_have_news(thread, after):
            places.note_thread(int(thread["id"]), channel_id)
            yield int(thread["id"])
    begin = discord.utils.snowflake_time(after)
    before: str | None = None
    while True:
        with renamed("see the closed threads"):
            page: Any = await client.http.get_public_archived_threads(channel_id, before=before, limit=PAGE)
        closed = [*_listed(page)]
        for thread in closed:
            if _may_have_news(thread, after):
                places.note_thread(int(thread["id"]), channel_id)
                yield int(thread["id"])
        if not closed or not page.get("has_more"):
            return
        before = str(closed[-1]["thread_metadata"]["archive_timestamp"])
        # They come by when they were closed, which is never before the last thing said in them.
        if datetime.fromisoformat(before) < begin:
            return


def _listed(answer: Any) -> Iterable[Mapping[str, Any]]:
    threads = answer.get("threads") if isinstance(answer, Mapping) else None
    if not isinstance(threads, list):
        strange(answer)
    return threads


def _may_have_news(thread: Mapping[str, Any], after: int) -> bool:
    last = thread.get("last_message_id")
    return last is None or int(last) > after


def _read(message: Mapping[str, Any]) -> Said | None:
    try:
        return of_history(message)
    except (LookupError, TypeError, ValueError, AttributeError) as exc:
        structlog.get_logger().warning(
            "message not understood", surface="discord", message=message.get("id"), why=type(exc).__name__
        )
        return None
