"""REST routes of the Discord double that are about the application, the guild and its channels."""

from __future__ import annotations

import base64
import re
from typing import Any

from tests.doubles import discord_limits as limits
from tests.doubles.discord_errors import Refusal
from tests.doubles.discord_posting import Files, channel_of
from tests.doubles.discord_state import (
    CATEGORY,
    TEXT,
    THREADS,
    World,
)

Json = dict[str, Any]


class Call:
    """One request, read: who asks, with what."""

    def __init__(self, *, path: Json, query: dict[str, str], body: Json, files: Files, base: str) -> None:
        self.path = path
        self.query = query
        self.body = body
        self.files = files
        self.base = base


# application


def me(world: World, call: Call) -> Json:
    return world.bot | {"verified": True, "mfa_enabled": False, "email": None, "locale": "en-US"}


def open_direct(world: World, call: Call) -> Json:
    """Open the channel of direct messages with a user, always the same one."""
    user = world.users.get(str(call.body.get("recipient_id")))
    if user is None:
        raise Refusal(10013)
    known = next((one for one, whose in world.direct.items() if whose == user["id"]), None)
    channel_id = known or world.new_id()
    world.direct[channel_id] = user["id"]
    return {"id": channel_id, "type": 1, "last_message_id": None, "flags": 0, "recipients": [user]}


def application(world: World, call: Call) -> Json:
    return {
        "id": world.app_id, "name": "moot", "icon": None, "description": "", "summary": "", "verify_key": "0" * 64,
        "bot_public": True, "bot_require_code_grant": False, "owner": world.owner, "flags": world.app_flags,
        "team": None, "interactions_endpoint_url": None, "approximate_guild_count": 1, "bot": world.bot,
    }  # fmt: skip


def user(world: World, call: Call) -> Json:
    if call.path["user_id"] not in world.users:
        raise Refusal(10013)
    return world.users[call.path["user_id"]]


def my_guilds(world: World, call: Call) -> list[Json]:
    shown = {key: world.guild()[key] for key in ("id", "name", "icon", "features")}
    if world.says_permissions:
        shown["permissions"] = str(world.permissions(world.bot))
    return [shown | {"owner": False, "banner": None}]


def emojis(world: World, call: Call) -> Json:
    _own(world, call)
    return {"items": list(world.emojis.values())}


def add_emoji(world: World, call: Call) -> tuple[int, Json]:
    _own(world, call)
    found: limits.Found = []
    name = limits.text(found, ("name",), call.body.get("name"), 32, least=2, required=True)
    if name and not re.fullmatch(r"\w+", name, re.ASCII):
        found.append((("name",), "STRING_TYPE_REGEX", "String value did not match validation regex."))
    if any(emoji["name"] == name for emoji in world.emojis.values()):
        found.append(
            (("name",), "APPLICATION_EMOJI_NAME_ALREADY_TAKEN", "An emoji with that name already exists")
        )
    image = re.fullmatch(
        r"data:image/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/=]+)", call.body.get("image") or ""
    )
    if image is None:
        found.append((("image",), "IMAGE_INVALID", "Invalid image data"))
    elif len(base64.b64decode(image[2])) > 256 * 1024:
        found.append((("image",), "BINARY_TYPE_MAX_SIZE", "File cannot be larger than 256.0 kb."))
    limits.refuse(found)
    if len(world.emojis) >= 2000:
        raise Refusal(30008)
    assert image is not None
    emoji: Json = {
        "id": world.new_id(), "name": name, "roles": [], "user": world.bot, "require_colons": True,
        "managed": False, "animated": False, "available": True,
    }  # fmt: skip
    world.emojis[emoji["id"]] = emoji
    world.images[emoji["id"]] = base64.b64decode(image[2])
    return 201, emoji


def emoji(world: World, call: Call) -> Json:
    _own(world, call)
    if call.path["emoji_id"] not in world.emojis:
        raise Refusal(10014)
    return world.emojis[call.path["emoji_id"]]


def remove_emoji(world: World, call: Call) -> None:
    del world.emojis[emoji(world, call)["id"]]


def _own(world: World, call: Call) -> None:
    if call.path["application_id"] != world.app_id:
        raise Refusal(20012)


# guild and channels


def guild_of(world: World, call: Call) -> None:
    if call.path["guild_id"] != world.guild_id or not world.is_member:
        raise Refusal(10004 if call.path["guild_id"] != world.guild_id else 50001)


def guild(world: World, call: Call) -> Json:
    guild_of(world, call)
    counts = {"approximate_member_count": len(world.users), "approximate_presence_count": 1}
    return world.guild() | (counts if call.query.get("with_counts") in ("true", "1", "True") else {})


def guild_channels(world: World, call: Call) -> list[Json]:
    guild_of(world, call)
    seen = [item for item in world.channels.values() if item["type"] not in THREADS]
    return [item for item in seen if world.may("VIEW_CHANNEL", item["id"])]


def guild_roles(world: World, call: Call) -> list[Json]:
    guild_of(world, call)
    return list(world.roles.values())


def guild_member(world: World, call: Call) -> Json:
    guild_of(world, call)
    who = call.path["user_id"]
    who = world.bot["id"] if who == "@me" else who
    if who not in world.users:
        raise Refusal(10007)
    return world.member(world.users[who])


def active_threads(world: World, call: Call) -> Json:
    guild_of(world, call)
    found = [item for item in world.channels.values() if item["type"] in THREADS]
    found = [item for item in found if not item["thread_metadata"]["archived"]]
    return {"threads": [item for item in found if world.may("VIEW_CHANNEL", item["id"])], "members": []}


def make_channel(world: World, call: Call) -> tuple[int, Json]:
    guild_of(world, call)
    found: limits.Found = []
    name = limits.text(found, ("name",), call.body.get("name"), limits.CHANNEL_NAME, least=1, required=True)
    topic = limits.text(found, ("topic",), call.body.get("topic"), limits.TOPIC) or None
    kind = int(call.body.get("type") or TEXT)
    parent = str(call.body["parent_id"]) if call.body.get("parent_id") else None
    if parent and (parent not in world.channels or world.channels[parent]["type"] != CATEGORY):
        found.append((("parent_id",), "CHANNEL_PARENT_INVALID", "Category does not exist"))
    elif parent and sum(item["parent_id"] == parent for item in world.channels.values()) >= 50:
        message = "Maximum number of channels in category reached (50)"
        found.append((("parent_id",), "CHANNEL_PARENT_MAX_CHANNELS", message))
    limits.refuse(found)
    if not world.may("MANAGE_CHANNELS", parent):
        raise Refusal(50013)
    if sum(item["type"] not in THREADS for item in world.channels.values()) >= 500:
        raise Refusal(30013)
    name = name if kind == CATEGORY else re.sub(r"[\s#@:!?.,;/\\]+", "-", name.lower()).strip("-") or "-"
    more = {} if kind == CATEGORY else {"topic": topic}
    overwrites = [_overwrite(item) for item in call.body.get("permission_overwrites") or []]
    if not overwrites and parent:
        overwrites = list(world.channels[parent]["permission_overwrites"])
    return 201, world.add_channel(name, kind=kind, parent=parent, permission_overwrites=overwrites, **more)


def _overwrite(item: Json) -> Json:
    return {"id": str(item["id"]), "type": int(item.get("type") or 0)} | {
        key: str(item.get(key) or 0) for key in ("allow", "deny")
    }


def channel(world: World, call: Call) -> Json:
    return channel_of(world, call.path["channel_id"])


def change_channel(world: World, call: Call) -> Json:
    it = channel_of(world, call.path["channel_id"])
    body = call.body
    found: limits.Found = []
    if "name" in body:
        limits.text(found, ("name",), body["name"], limits.CHANNEL_NAME, least=1, required=True)
    if "auto_archive_duration" in body and body["auto_archive_duration"] not in limits.ARCHIVE_AFTER:
        found.append(
            (("auto_archive_duration",), "BASE_TYPE_CHOICES", f"Value must be one of {limits.ARCHIVE_AFTER}.")
        )
    limits.refuse(found)
    if it["type"] in THREADS:
        return _change_thread(world, it, body)
    if not world.may("MANAGE_CHANNELS", it["id"]):
        raise Refusal(50013)
    if "permission_overwrites" in body:
        it["permission_overwrites"] = [_overwrite(item) for item in body["permission_overwrites"] or []]
    if "parent_id" in body:
        it["parent_id"] = str(body["parent_id"]) if body["parent_id"] else None
    it.update({key: body[key] for key in ("name", "topic", "position", "nsfw") if key in body})
    world.tell("CHANNEL_UPDATE", it, 1, it["id"])
    return it


def _change_thread(world: World, thread: Json, body: Json) -> Json:
    meta = thread["thread_metadata"]
    may_manage = world.may("MANAGE_THREADS", thread["id"])
    is_reopening = body.get("archived") is False and meta["archived"]
    if meta["archived"] and not is_reopening:
        raise Refusal(50083)
    needs_manage = set(body) - {"archived", "auto_archive_duration"} or (meta["locked"] and is_reopening)
    if (
        needs_manage
        and not may_manage
        and not (thread["owner_id"] == world.bot["id"] and "locked" not in body)
    ):
        raise Refusal(50013)
    if is_reopening and not world.may("SEND_MESSAGES_IN_THREADS", thread["id"]):
        raise Refusal(50013)
    if "name" in body:
        thread["name"] = body["name"]
    if "auto_archive_duration" in body:
        meta["auto_archive_duration"] = body["auto_archive_duration"]
    world.set_archived(thread, bool(body.get("archived", meta["archived"])), locked=body.get("locked"))
    return thread


def remove_channel(world: World, call: Call) -> Json:
    it = channel_of(world, call.path["channel_id"], "MANAGE_CHANNELS")
    world.remove_channel(it["id"])
    return it


def set_overwrite(world: World, call: Call) -> None:
    it = channel_of(world, call.path["channel_id"], "MANAGE_ROLES")
    new = _overwrite(call.body | {"id": call.path["overwrite_id"]})
    it["permission_overwrites"] = [
        item for item in it["permission_overwrites"] if item["id"] != new["id"]
    ] + [new]
    world.tell("CHANNEL_UPDATE", it, 1, it["id"])
