"""Answering: what a person is told about a message, in the channel, with no ping and not twice."""

from __future__ import annotations

from typing import Any, Final

import structlog

from moot.channels.discord.connection import Connection
from moot.channels.discord.library import MultipartParameters
from moot.channels.discord.rendering import MOST_CONTENT, escape, weight
from moot.channels.discord.troubles import renamed
from moot.channels.showing.layout import cut
from moot.channels.surface import ActReply, SurfaceError

STANDS: Final = "✅"
"""The mark of a message that stands in the log."""

_NOTHING_PINGS: Final = {"parse": [], "replied_user": False}


async def answer(
    client: Connection, channel_id: int, message_id: int, reply: ActReply, *, user_id: str = ""
) -> None:
    """Mark a message that stands; tell in a reply what else became of it. What cannot be told is logged.

    What is for one person alone goes to them as a direct message; into the channel where they take none.
    """
    try:
        if reply.is_private and await _told_alone(client, user_id, message_id, reply.text):
            return
        if reply.ok and reply.seq is not None:
            with renamed("add a reaction"):
                await client.http.add_reaction(channel_id, message_id, STANDS)
        else:
            await tell(client, channel_id, message_id, reply.text)
    except SurfaceError as exc:
        structlog.get_logger().warning("person not told", surface="discord", message=message_id, why=str(exc))


async def _told_alone(client: Connection, user_id: str, message_id: int, text: str) -> bool:
    """Send a person a direct message; False where they take none from this server's bot."""
    if not user_id.isdecimal():
        return False
    payload = {"content": shown(text), "nonce": f"dm{message_id}", "enforce_nonce": True}
    try:
        with renamed("send a direct message"):
            opened = await client.http.start_private_message(int(user_id))
            await client.http.send_message(
                int(opened["id"]),
                params=MultipartParameters({**payload, "allowed_mentions": _NOTHING_PINGS}, None, None),
            )
    except SurfaceError:
        return False
    return True


async def tell(client: Connection, channel_id: int, message_id: int, text: str, *, about: str = "re") -> None:
    """Reply to a message.

    Args:
        client: Logged in.
        channel_id: Where the message stands.
        message_id: The message.
        text: Plain text.
        about: With the message's id the nonce, under which Discord takes a reply once in some minutes.

    Raises:
        SurfaceError: It could not be told.
    """
    payload: dict[str, Any] = {
        "content": shown(text),
        "nonce": f"{about}{message_id}",
        "enforce_nonce": True,
        "allowed_mentions": _NOTHING_PINGS,
        "message_reference": {"message_id": str(message_id), "fail_if_not_exists": False},
    }
    with renamed("answer a person"):
        await client.http.send_message(channel_id, params=MultipartParameters(payload, None, None))


def shown(text: str) -> str:
    """Return plain text as Discord shows it unchanged: several lines in a block, so that columns stand."""
    if "\n" not in text.strip():
        return escape(cut(text.strip() or "…", MOST_CONTENT, weight))
    # A zero-width blank keeps three backticks from ending the block.
    quoted = text.strip("\n").replace("```", "`\u200b`\u200b`")
    return f"```\n{cut(quoted, MOST_CONTENT - 8)}\n```"
