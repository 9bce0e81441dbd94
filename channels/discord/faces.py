"""Faces: pictures of seats, which Discord shows from a public address; application emojis have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.channels.discord.connection import Connection
from moot.channels.discord.endpoints import CDN
from moot.channels.discord.troubles import renamed, strange
from moot.channels.showing.avatars import emoji_name
from moot.channels.showing.looks import looks
from moot.protocols.kernel.seats import Seat


def faces() -> tuple[Seat | None, ...]:
    """Return whose pictures are uploaded; None is the society itself."""
    return (None, *looks())


async def uploaded(client: Connection, place: str = CDN) -> dict[Seat | None, str]:
    """Return the addresses of the pictures that are uploaded, by seat.

    Args:
        client: Logged in.
        place: Where pictures are (`endpoints.pictures`).

    Raises:
        SurfaceDown, RateLimited: Not now.
    """
    with renamed("see the application's emojis"):
        answer: Any = await client.http.get_application_emojis(client.application_id or 0)
    items = answer.get("items") if isinstance(answer, Mapping) else None
    if not isinstance(items, list):
        strange(answer)
    ids = {item.get("name"): item.get("id") for item in items if isinstance(item, Mapping)}
    names = {seat: emoji_name(seat) for seat in faces()}
    return {seat: f"{place}/emojis/{ids[name]}.png" for seat, name in names.items() if ids.get(name)}
