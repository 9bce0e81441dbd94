"""What the Discord double knows: one guild with its channels, members, messages, webhooks, emojis and commands.

Everything is kept as the JSON objects that Discord's API shows (the shapes of its published reference), in
plain dictionaries by id. Nothing here knows sockets; `World.tell` is where gateway events leave.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.doubles.discord_rights import BOT_MAY, EVERYBODY_MAY, PERMISSIONS, permitted

Json = dict[str, Any]

EPOCH_MS = 1_420_070_400_000
TEXT, CATEGORY, PUBLIC_THREAD, PRIVATE_THREAD = 0, 4, 11, 12
THREADS = (10, PUBLIC_THREAD, PRIVATE_THREAD)
STARTER, THREAD_MADE, REPLY, COMMAND_REPLY, PLAIN = 21, 18, 19, 20, 0
MAY_READ = 1 << 18 | 1 << 19
EPHEMERAL, HAS_THREAD, LOADING, SUPPRESS_EMBEDS = 64, 32, 128, 4


class Clock:
    """The server's clock: wall time that tests may push forward."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def now(self) -> float:
        return time.time() + self.ahead_s


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


@dataclass
class Interaction:
    """A click or a command, and how far the bot has answered it."""

    id: str
    token: str
    kind: int
    user: Json
    channel_id: str
    message: Json | None
    made_at: float
    is_answered: bool = False
    original: Json | None = None
    replies: list[Json] = field(default_factory=list)


class World:
    """The platform's memory.

    Attributes:
        tell: Takes every gateway event as (name, data, intent bit or 0, channel id or None).
    """

    def __init__(self, *, token: str, clock: Clock) -> None:
        self.clock = clock
        self.token = token
        self._last_id = 0
        self.tell: Callable[[str, Json, int, str | None], None] = lambda *_: None
        self.users: dict[str, Json] = {}
        self.channels: dict[str, Json] = {}
        self.messages: dict[str, Json] = {}
        self.by_channel: dict[str, list[str]] = {}
        self.webhooks: dict[str, Json] = {}
        self.emojis: dict[str, Json] = {}
        self.images: dict[str, bytes] = {}
        self.files: dict[str, tuple[str, bytes]] = {}
        self.commands: dict[str | None, list[Json]] = {}
        self.interactions: dict[str, Interaction] = {}
        self.hidden: dict[str, Json] = {}
        self.removed_buttons: dict[str, list[Json]] = {}
        self.nonces: dict[tuple[str, str], tuple[float, str]] = {}
        self.pings: list[str] = []
        self.given_roles: dict[str, list[str]] = {}
        self.says_channel = True
        self.says_permissions = True
        self.archived_stays = False
        self.direct: dict[str, str] = {}
        """Users by the ids of their channels of direct messages."""
        self.takes_no_direct: set[str] = set()
        self.is_member = True
        self.callback_s = 3.0
        self.guild_id: str = self.new_id()
        self.bot = self._new_user("moot", is_bot=True)
        self.app_id: str = self.bot["id"]
        self.app_flags = 1 << 19 | 1 << 23
        self.owner = self.add_user("owner")
        self.roles = {
            self.guild_id: self._role(self.guild_id, "@everyone", EVERYBODY_MAY, 0),
        }
        bot_role = self.new_id()
        self.roles[bot_role] = self._role(bot_role, "moot", BOT_MAY, 1, managed=True)
        self.bot_role = bot_role

    # ids

    def new_id(self) -> str:
        fresh = int(self.clock.now() * 1000 - EPOCH_MS) << 22
        self._last_id = max(self._last_id + 1, fresh)
        return str(self._last_id)

    # people

    def _new_user(self, name: str, *, is_bot: bool = False) -> Json:
        user: Json = {
            "id": self.new_id(), "username": name, "global_name": None if is_bot else name.capitalize(),
            "discriminator": "0", "avatar": None, "bot": is_bot, "public_flags": 0, "flags": 0,
        }  # fmt: skip
        self.users[user["id"]] = user
        return user

    def add_user(self, name: str) -> Json:
        """Return the person called that, who joins when not yet here; an id is taken for the one who has it."""
        if name in self.users:
            return self.users[name]
        for user in self.users.values():
            if user["username"] == name and not user["bot"]:
                return user
        return self._new_user(name)

    def member(self, user: Json, *, with_user: bool = True) -> Json:
        roles = [self.bot_role] if user["id"] == self.bot["id"] else self.given_roles.get(user["id"], [])
        member = {
            "roles": roles, "joined_at": iso(self.clock.now()), "deaf": False, "mute": False, "flags": 0,
            "nick": None, "avatar": None, "premium_since": None, "pending": False,
            "communication_disabled_until": None,
        }  # fmt: skip
        return member | ({"user": user} if with_user else {})

    def give_role(self, user: Json, name: str) -> str:
        """Give somebody a role that allows nothing by itself; returns its id."""
        found = next((id for id, role in self.roles.items() if role["name"] == name), None)
        if found is None:
            found = self.new_id()
            self.roles[found] = self._role(found, name, 0, 1)
        self.given_roles.setdefault(user["id"], []).append(found)
        return found

    def _role(self, id: str, name: str, allow: int, position: int, *, managed: bool = False) -> Json:
        return {
            "id": id, "name": name, "color": 0, "hoist": False, "position": position, "permissions": str(allow),
            "managed": managed, "mentionable": False, "flags": 0, "icon": None, "unicode_emoji": None,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "tags": {"bot_id": self.bot["id"]} if managed else {},
        }  # fmt: skip

    # permissions

    def permissions(self, user: Json, channel_id: str | None = None) -> int:
        """Return what somebody may do, in the guild or in a channel; threads have their parent's overwrites."""
        roles = self.member(user)["roles"]
        channel = self.channels.get(channel_id or "")
        if channel is not None and channel["type"] in THREADS:
            channel = self.channels.get(channel["parent_id"])
        overwrites = channel["permission_overwrites"] if channel is not None else []
        if user["id"] == self.owner["id"]:
            return sum(PERMISSIONS.values())
        held = [int(self.roles[id]["permissions"]) for id in (self.guild_id, *roles)]
        return permitted(held, overwrites, everybody=self.guild_id, roles=roles, user=user["id"])

    def may(self, name: str, channel_id: str | None = None) -> bool:
        """Tell whether the bot may do that there."""
        return bool(self.permissions(self.bot, channel_id) & PERMISSIONS[name])

    def visible(self, channel: Json) -> Json:
        """Return a channel as the gateway shows it: its name hidden from a bot that may not view it (since 2026)."""
        if channel["type"] in THREADS or self.may("VIEW_CHANNEL", channel["id"]):
            return channel
        hide = {"id": self.guild_id, "type": 0, "allow": "0", "deny": str(PERMISSIONS["VIEW_CHANNEL"])}
        hidden = {
            "name": "___hidden___",
            "flags": channel["flags"] | 1 << 17,
            "permission_overwrites": [hide],
        }
        return channel | hidden | ({"topic": None, "last_message_id": None} if "topic" in channel else {})

    # channels

    def add_channel(self, name: str, *, kind: int = TEXT, parent: str | None = None, **more: Any) -> Json:
        channel: Json = {
            "id": self.new_id(), "type": kind, "guild_id": self.guild_id, "name": name, "position": len(self.channels),
            "permission_overwrites": [], "parent_id": parent, "nsfw": False, "flags": 0,
        }  # fmt: skip
        if kind != CATEGORY:
            channel |= {"topic": None, "last_message_id": None, "rate_limit_per_user": 0}
        channel |= more
        self.channels[channel["id"]] = channel
        self.tell("CHANNEL_CREATE", channel, 1, channel["id"])
        return channel

    def remove_channel(self, channel_id: str) -> None:
        channel = self.channels[channel_id]
        is_thread = channel["type"] in THREADS
        shown = (
            {key: channel.get(key) for key in ("id", "guild_id", "parent_id", "type")}
            if is_thread
            else channel
        )
        self.tell("THREAD_DELETE" if is_thread else "CHANNEL_DELETE", shown, 1, channel_id)
        for child in [one["id"] for one in self.channels.values() if one["parent_id"] == channel_id]:
            if self.channels[child]["type"] in THREADS:
                self.remove_channel(child)
            else:
                self.channels[child]["parent_id"] = None
        for hook in [hook["id"] for hook in self.webhooks.values() if hook["channel_id"] == channel_id]:
            del self.webhooks[hook]
        for message in self.by_channel.pop(channel_id, []):
            self.messages.pop(message, None)
        del self.channels[channel_id]

    def add_thread(self, parent: Json, name: str, *, id: str, owner: str, minutes: int, kind: int) -> Json:
        at = iso(self.clock.now())
        thread = {
            "id": id, "type": kind, "guild_id": self.guild_id, "parent_id": parent["id"], "owner_id": owner,
            "name": name, "last_message_id": None, "message_count": 0, "member_count": 1, "total_message_sent": 0,
            "rate_limit_per_user": 0, "flags": 0,
            "thread_metadata": {
                "archived": False, "auto_archive_duration": minutes, "archive_timestamp": at, "locked": False,
                "create_timestamp": at,
            },
        }  # fmt: skip
        self.channels[id] = thread
        self.tell("THREAD_CREATE", thread | {"newly_created": True}, 1, id)
        return thread

    def set_archived(self, thread: Json, archived: bool, *, locked: bool | None = None) -> None:
        meta = thread["thread_metadata"]
        meta["archived"] = archived
        meta["archive_timestamp"] = iso(self.clock.now())
        meta["locked"] = meta["locked"] if locked is None else locked
        self.tell("THREAD_UPDATE", thread, 1, thread["id"])

    # messages

    def history(self, channel_id: str) -> Iterable[Json]:
        return (self.messages[id] for id in self.by_channel.get(channel_id, ()))

    def page(
        self, channel_id: str, most: int, *, before: int | None = None, after: int | None = None
    ) -> list[Json]:
        """Return a page of a channel's history, newest first: the newest before an id, or the oldest after one."""
        ids = self.by_channel.get(channel_id, [])
        if after is not None:
            start = bisect_right(ids, after, key=int)
            chosen = ids[start : start + most]
        else:
            end = len(ids) if before is None else bisect_left(ids, before, key=int)
            chosen = ids[max(end - most, 0) : end]
        return [self.messages[id] for id in reversed(chosen)]

    def seen(self, message: Json, *, has_content: bool = True, is_poster: bool = False) -> Json:
        """Return a message as the bot may see it: without its content where that intent is missing."""
        shown = {key: value for key, value in message.items() if not key.startswith("_")}
        is_own = message["author"]["id"] == self.bot["id"]
        is_named = any(user["id"] == self.bot["id"] for user in message["mentions"])
        may_read = has_content and self.app_flags & MAY_READ
        if not (may_read or is_own or is_named or is_poster):
            shown |= {"content": "", "embeds": [], "attachments": [], "components": []}
        return shown

    def keep(self, message: Json) -> None:
        """Take a message into its channel's history and tell everybody."""
        channel = self.channels[message["channel_id"]]
        self.messages[message["id"]] = message
        self.by_channel.setdefault(channel["id"], []).append(message["id"])
        channel["last_message_id"] = message["id"]
        if channel["type"] in THREADS:
            channel["message_count"] += 1
            channel["total_message_sent"] += 1
        self.tell_message("MESSAGE_CREATE", message)

    def tell_message(self, event: str, message: Json) -> None:
        shown = message | {"guild_id": self.guild_id}
        author = self.users.get(message["author"]["id"])
        if author is not None:
            shown["member"] = self.member(author, with_user=False)
        self.tell(event, shown, 1 << 9, message["channel_id"])

    def remove_message(self, message: Json) -> None:
        self.messages.pop(message["id"], None)
        ids = self.by_channel.get(message["channel_id"], [])
        if message["id"] in ids:
            ids.remove(message["id"])
        gone = {key: message[key] for key in ("id", "channel_id")} | {"guild_id": self.guild_id}
        self.tell("MESSAGE_DELETE", gone, 1 << 9, message["channel_id"])

    # the whole, as GUILD_CREATE and GET /guilds/{id} show it

    def guild(self, *, is_full: bool = False) -> Json:
        shown: Json = {
            "id": self.guild_id, "name": "Test guild", "icon": None, "splash": None, "discovery_splash": None,
            "owner_id": self.owner["id"], "region": "deprecated", "afk_channel_id": None, "afk_timeout": 300,
            "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
            "roles": list(self.roles.values()), "emojis": [], "stickers": [], "features": [], "mfa_level": 0,
            "application_id": None, "system_channel_id": None, "system_channel_flags": 0, "rules_channel_id": None,
            "vanity_url_code": None, "description": None, "banner": None, "premium_tier": 0, "nsfw_level": 0,
            "preferred_locale": "en-US", "public_updates_channel_id": None, "incidents_data": None,
        }  # fmt: skip
        if is_full:
            seen = [item for item in self.channels.values() if self.may("VIEW_CHANNEL", item["id"])]
            shown |= {
                "joined_at": iso(self.clock.now()), "large": False, "unavailable": False,
                "member_count": len(self.users), "voice_states": [], "presences": [], "stage_instances": [],
                "guild_scheduled_events": [], "soundboard_sounds": [],
                "members": [self.member(user) for user in self.users.values()],
                "channels": [self.visible(item) for item in self.channels.values() if item["type"] not in THREADS],
                "threads": [
                    item for item in seen if item["type"] in THREADS and not item["thread_metadata"]["archived"]
                ],
            }  # fmt: skip
        return shown
