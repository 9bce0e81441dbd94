"""The permissions that the bot asks for, each with its reason, and the link that invites it. Data."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import urlencode


class Right(NamedTuple):
    """A permission of Discord.

    Attributes:
        name: What Discord calls it.
        bit: Its value in a permission number.
        why: What it is needed for.
    """

    name: str
    bit: int
    why: str


RIGHTS: Final = (
    Right("View Channels", 1 << 10, "to hear what is said in the mirrored channels"),
    Right("Read Message History", 1 << 16, "to catch up after an interruption, and to post nothing twice"),
    Right("Manage Channels", 1 << 4, "to make the category and the channels"),
    Right("Manage Webhooks", 1 << 29, "to let every role speak under its own name and picture"),
    Right("Send Messages", 1 << 11, "to answer a person whose message was refused"),
    Right("Send Messages in Threads", 1 << 38, "to answer them in a case's thread"),
    Right("Create Public Threads", 1 << 35, "to give every case a thread"),
    Right("Manage Threads", 1 << 34, "to open a thread again that somebody closed"),
    Right("Embed Links", 1 << 14, "to show figures and fields under a message"),
    Right("Attach Files", 1 << 15, "to attach the typed message, payload.json"),
    Right("Add Reactions", 1 << 6, "to mark a note that stands in the log with ✅"),
)
"""Every permission that is asked for."""

ALL: Final = sum(right.bit for right in RIGHTS)

ADMINISTRATOR: Final = 1 << 3
VIEW: Final = 1 << 10
SEND: Final = 1 << 11
WRITE: Final = SEND | 1 << 38 | 1 << 35
"""Writing: messages, messages in threads, new threads."""

SCOPES: Final = ("bot", "applications.commands")


def missing(permissions: int) -> tuple[Right, ...]:
    """Return the permissions that a permission number lacks."""
    if permissions & ADMINISTRATOR:
        return ()
    return tuple(right for right in RIGHTS if not permissions & right.bit)


def invite(application_id: int, guild_id: int = 0) -> str:
    """Return the link with which somebody who manages a server lets the bot in, or gives it what it lacks."""
    asked = {"client_id": application_id, "permissions": ALL, "scope": " ".join(SCOPES)}
    if guild_id:
        asked["guild_id"] = guild_id
    return f"https://discord.com/oauth2/authorize?{urlencode(asked)}"
