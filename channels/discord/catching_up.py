"""Catching up: what was said in a channel and its threads after a message, in the order in which it was said.

However much that is, little of it is held at a time: the channel and each thread are read a page at a time, and
what was said first goes on.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import Any, Final

import structlog

from moot.channels.discord.connection import Connection
from moot.channels.discord.history import PAGE, page
from moot.channels.discord.library import discord
from moot.channels.discord.places import Places
from moot.channels.discord.troubles import of_answer, renamed, strange
from moot.channels.discord.wording import Said, of_history

MOST_HELD: Final = 5_000
"""Messages that are held of a channel and its threads together, about; with many threads their pages are smaller."""

LEAST_PAGE: Final = 10


async def since(
    client: Connection, places: Places, channel_id: int, after: int
) -> AsyncGenerator[tuple[int, Said | None]]:
    """Go through what was said after a message, oldest first.

    Yields:
        A message up to which all has been yielded by now, and what a person said; None for what nobody said.

    Raises:
        SurfaceDown, RateLimited, PostRefused: It cannot be read now.
        SurfaceConfigError: Discord does not know the token any more.
    """
    end, ids = after, [channel_id]
    async with aclosing(_threads(client, places, channel_id, after)) as threads:
        async for thread in threads:
            ids.append(int(thread["id"]))
            end = max(end, _last(thread) or 0)
    end = max(end, places.newest(channel_id))
    most = max(LEAST_PAGE, min(PAGE, MOST_HELD // len(ids)))
    strands = [_Strand(client, id, after, most, is_thread=id != channel_id) for id in dict.fromkeys(ids)]
    heads = [(id, n) for n, strand in enumerate(strands) if (id := await strand.next_id()) is not None]
    heapq.heapify(heads)
    while heads:
        _, n = heads[0]
        id, said = strands[n].take()
        # What is said while this is read may be missed in a thread that was read to its end before.
        yield min(id, end), said
        if (following := await strands[n].next_id()) is None:
            heapq.heappop(heads)
        else:
            heapq.heapreplace(heads, (following, n))


class _Strand:
    """What was said in the channel, or in one thread of it."""

    def __init__(self, client: Connection, id: int, after: int, most: int, *, is_thread: bool) -> None:
        self._client = client
        self._id = id
        self._after = after
        self._most = most
        self._is_thread = is_thread
        self._is_read = False
        self._held: deque[tuple[int, Said | None]] = deque()

    async def next_id(self) -> int | None:
        """Return the id of the next message; None after the last."""
        if not self._held and not self._is_read:
            await self._read()
        return self._held[0][0] if self._held else None

    def take(self) -> tuple[int, Said | None]:
        """Return the next message, which is there."""
        return self._held.popleft()

    async def _read(self) -> None:
        try:
            found = await page(self._client, self._id, after=self._after, most=self._most)
        except discord.HTTPException as exc:
            if not self._is_thread:
                raise of_answer(exc, "read the history") from None
            structlog.get_logger().info("thread is gone", surface="discord", thread=self._id)
            found = []
        self._held.extend((int(one["id"]), _read(one)) for one in found)
        self._is_read = len(found) < self._most
        if self._held:
            self._after = self._held[-1][0]


async def _threads(
    client: Connection, places: Places, channel_id: int, after: int
) -> AsyncGenerator[Mapping[str, Any]]:
    """Name the channel's threads in which something may have been said after a message, open and closed ones."""
    with renamed("see the threads"):
        found: Any = await client.http.get_active_threads(places.guild_id)
    for thread in _listed(found):
        if str(thread.get("parent_id")) == str(channel_id) and _may_have_news(thread, after):
            places.note_thread(int(thread["id"]), channel_id)
            yield thread
    begin = discord.utils.snowflake_time(after)
    before: str | None = None
    while True:
        with renamed("see the closed threads"):
            some: Any = await client.http.get_public_archived_threads(channel_id, before=before, limit=PAGE)
        closed = [*_listed(some)]
        for thread in closed:
            if _may_have_news(thread, after):
                places.note_thread(int(thread["id"]), channel_id)
                yield thread
        if not closed or not some.get("has_more"):
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
    last = _last(thread)
    return last is None or last > after


def _last(thread: Mapping[str, Any]) -> int | None:
    last = thread.get("last_message_id")
    return None if last is None else int(last)


def _read(message: Mapping[str, Any]) -> Said | None:
    try:
        return of_history(message)
    except (LookupError, TypeError, ValueError, AttributeError) as exc:
        structlog.get_logger().warning(
            "message not understood", surface="discord", message=message.get("id"), why=type(exc).__name__
        )
        return None
