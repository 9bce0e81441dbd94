"""History: what stands in a channel or thread, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.channels.discord.connection import Connection
from moot.channels.discord.troubles import UNKNOWN_CHANNEL, renamed, strange

PAGE: Final = 100
"""Messages that one call of the API gives at the most."""


async def page(
    client: Connection,
    channel_id: int,
    *,
    before: int | None = None,
    after: int | None = None,
    most: int = PAGE,
) -> list[Mapping[str, Any]]:
    """Read some messages: the newest before a message, newest first, or the oldest after one, oldest first.

    Args:
        client: Logged in.
        channel_id: The channel or thread.
        before: A message; None: from the newest on.
        after: A message; with it `before` is not used.
        most: Messages to read; fewer come only where no more are there.

    Raises:
        SurfaceDown, RateLimited: It cannot be read now.
        discord.HTTPException: There is no such channel (code `UNKNOWN_CHANNEL`).
    """
    with renamed("read the history", passing={UNKNOWN_CHANNEL}):
        found: Any = await client.http.logs_from(channel_id, most, before=before, after=after)
    if not isinstance(found, list) or not all(isinstance(one, Mapping) and "id" in one for one in found):
        strange(found)
    return sorted(found, key=lambda one: int(one["id"]), reverse=after is None)
