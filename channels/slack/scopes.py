"""What the Slack app may do and what it is for: scopes and events as data, read by manifest, setup, doctor and docs."""

from __future__ import annotations

from typing import Final, NamedTuple


class Scope(NamedTuple):
    """A permission of the bot's token.

    Attributes:
        name: As Slack calls it.
        why: What Moot does with it.
    """

    name: str
    why: str


BOT_SCOPES: Final = (
    Scope("app_mentions:read", "hear @moot in any channel it was invited to"),
    Scope("channels:history", "hear what people write in the mirrored channels, and read what it missed"),
    Scope("channels:join", "join the mirrored channels by itself"),
    Scope("channels:manage", "make the channels, with their topics"),
    Scope("channels:read", "find the channels by name"),
    Scope("chat:write", "post messages, and answer one person alone"),
    Scope("chat:write.customize", "speak under each role's own name and icon"),
    Scope("commands", "offer /moot"),
    Scope("files:read", "link to the payload of a message that is too long for its metadata"),
    Scope("files:write", "upload that payload, and share it where the message stands"),
    Scope("groups:history", "the same in private channels that it was invited to"),
    Scope("groups:read", "find those by name"),
    Scope("reactions:write", "mark a note that stands in the log with ✅"),
    Scope("users:read", "write people's names instead of their ids"),
)
"""Every scope that is needed."""

EVENTS: Final = ("app_mention", "message.channels", "message.groups")
"""The events that the app subscribes to."""

COMMAND: Final = "/moot"

APPS_PAGE: Final = "https://api.slack.com/apps"
"""Where an app is set up."""

NEEDED: Final = tuple(scope.name for scope in BOT_SCOPES)


def missing(granted: str | None) -> tuple[str, ...] | None:
    """Return the scopes that a token lacks; None where nobody knows.

    Args:
        granted: The header `x-oauth-scopes`; None where Slack did not send it.
    """
    if granted is None:
        return None
    have = {scope.strip() for scope in granted.split(",")}
    return tuple(name for name in NEEDED if name not in have)


def reinstall(names: tuple[str, ...]) -> str:
    """Say how scopes are added."""
    return f"add {', '.join(names)} under OAuth & Permissions at {APPS_PAGE}, then Reinstall to Workspace"
