"""What a person wrote, from an event or from the history, as one record; and what they are told about it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from moot.channels.chat.words import ONLY_EMOJI, is_only_emoji
from moot.channels.discord.library import discord
from moot.channels.discord.rendering import plain

DEFAULT: Final = 0
REPLY: Final = 19
"""Kinds of messages that people write; the others are Discord's own notices."""

EDITED: Final = "The log keeps what was first said; say it anew to change it."
ONLY_STICKER: Final = "A sticker says nothing that the log can keep: write a word, or press a button."
ONLY_FILE: Final = "Files are not read here: say it as a message; Discord takes 2,000 characters."
ONLY_OTHER: Final = "That cannot be read here: say it in words."


@dataclass(frozen=True, slots=True)
class Said:
    """What a person wrote.

    Attributes:
        id: The message.
        channel_id: The channel or thread it stands in.
        user_id: Who wrote it.
        user_name: What they are called there.
        content: The text with Discord's marks.
        answers: Platform id of the message it replies to.
        names: Names of people by id, as the text mentions them.
        objection: What to tell the person when there is no text to hand in; "" when there is.
    """

    id: int
    channel_id: int
    user_id: str
    user_name: str
    content: str
    answers: str | None
    names: Mapping[str, str]
    objection: str = ""

    def text(self, roles: Mapping[str, str], channels: Mapping[str, str]) -> str:
        """Return the text as a person reads it."""
        return plain(self.content, users=self.names, roles=roles, channels=channels)


def of_event(message: discord.Message) -> Said | None:
    """Read an event; None for what no person wrote."""
    if message.author.bot or message.webhook_id or message.type.value not in (DEFAULT, REPLY):
        return None
    reference = message.reference
    return Said(
        id=message.id,
        channel_id=message.channel.id,
        user_id=str(message.author.id),
        user_name=message.author.display_name,
        content=message.content,
        answers=None
        if reference is None or reference.message_id is None
        else f"{reference.channel_id}/{reference.message_id}",
        names={str(user.id): user.display_name for user in message.mentions},
        objection=_objection(message.content, bool(message.attachments), bool(message.stickers)),
    )


def of_history(message: Mapping[str, Any]) -> Said | None:
    """Read a message as the API gives it; None for what no person wrote.

    Raises:
        LookupError, TypeError, ValueError: It is not what the API promises.
    """
    author = message["author"]
    if author.get("bot") or message.get("webhook_id") or message.get("type", DEFAULT) not in (DEFAULT, REPLY):
        return None
    reference = message.get("message_reference") or {}
    content = str(message.get("content") or "")
    return Said(
        id=int(message["id"]),
        channel_id=int(message["channel_id"]),
        user_id=str(author["id"]),
        user_name=_name(author),
        content=content,
        answers=f"{reference.get('channel_id', message['channel_id'])}/{reference['message_id']}"
        if reference.get("message_id")
        else None,
        names={str(user["id"]): _name(user) for user in message.get("mentions") or ()},
        objection=_objection(
            content,
            bool(message.get("attachments")),
            bool(message.get("sticker_items") or message.get("stickers")),
        ),
    )


def _name(user: Mapping[str, Any]) -> str:
    return str(user.get("global_name") or user.get("username") or user["id"])


def _objection(content: str, has_files: bool, has_stickers: bool) -> str:
    if content.strip():
        return ONLY_EMOJI if is_only_emoji(content) else ""
    if has_stickers:
        return ONLY_STICKER
    return ONLY_FILE if has_files else ONLY_OTHER
