"""REST routes of the Discord double that are about webhooks, and what is posted through them."""

from __future__ import annotations

import uuid
from typing import Any

from tests.doubles import discord_limits as limits
from tests.doubles.discord_errors import Refusal
from tests.doubles.discord_interactions import followup, followup_message, followup_removed
from tests.doubles.discord_posting import channel_of, edit_message, make_message, message_of, open_for_post
from tests.doubles.discord_routes import Call, guild_of
from tests.doubles.discord_state import TEXT, THREADS, World

Json = dict[str, Any]


def channel_hooks(world: World, call: Call) -> list[Json]:
    it = channel_of(world, call.path["channel_id"], "MANAGE_WEBHOOKS")
    return [hook for hook in world.webhooks.values() if hook["channel_id"] == it["id"]]


def guild_hooks(world: World, call: Call) -> list[Json]:
    guild_of(world, call)
    if not world.may("MANAGE_WEBHOOKS"):
        raise Refusal(50013)
    return list(world.webhooks.values())


def make_hook(world: World, call: Call) -> Json:
    it = channel_of(world, call.path["channel_id"], "MANAGE_WEBHOOKS")
    if it["type"] != TEXT:
        raise Refusal(50024)
    found: limits.Found = []
    name = limits.username(found, call.body.get("name"), ("name",))
    limits.refuse(found)
    if sum(hook["channel_id"] == it["id"] for hook in world.webhooks.values()) >= 15:
        raise Refusal(30007)
    return add_hook(world, it["id"], name, world.bot, app_id=world.app_id)


def add_hook(world: World, channel_id: str, name: str, user: Json, *, app_id: str | None) -> Json:
    hook: Json = {
        "id": world.new_id(), "type": 1, "guild_id": world.guild_id, "channel_id": channel_id, "name": name,
        "avatar": None, "token": uuid.uuid4().hex + uuid.uuid4().hex, "application_id": app_id, "user": user,
    }  # fmt: skip
    world.webhooks[hook["id"]] = hook
    told = {"guild_id": world.guild_id, "channel_id": channel_id}
    world.tell("WEBHOOKS_UPDATE", told, 1 << 5, channel_id)
    return hook


def hook_of(world: World, call: Call) -> Json:
    """Return the webhook by its id, and by its token where the address has one."""
    id = call.path["webhook_id"]
    if not id.isdecimal():
        limits.refuse([(("webhook_id",), "NUMBER_TYPE_COERCE", f'Value "{id}" is not snowflake.')])
    hook = world.webhooks.get(id)
    if hook is None:
        raise Refusal(10015)
    token = call.path.get("webhook_token")
    if token is None and not world.may("MANAGE_WEBHOOKS", hook["channel_id"]):
        raise Refusal(50013)
    if token is not None and token != hook["token"]:
        raise Refusal(50027)
    return hook


def hook(world: World, call: Call) -> Json:
    found = hook_of(world, call)
    return found if "webhook_token" not in call.path else {k: v for k, v in found.items() if k != "user"}


def change_hook(world: World, call: Call) -> Json:
    it = hook_of(world, call)
    found: limits.Found = []
    if "name" in call.body:
        it["name"] = limits.username(found, call.body["name"], ("name",)) if call.body["name"] else it["name"]
    limits.refuse(found)
    if call.body.get("channel_id") and "webhook_token" not in call.path:
        it["channel_id"] = channel_of(world, str(call.body["channel_id"]), "MANAGE_WEBHOOKS")["id"]
    told = {"guild_id": world.guild_id, "channel_id": it["channel_id"]}
    world.tell("WEBHOOKS_UPDATE", told, 1 << 5, it["channel_id"])
    return it


def remove_hook(world: World, call: Call) -> None:
    it = hook_of(world, call)
    del world.webhooks[it["id"]]
    told = {"guild_id": world.guild_id, "channel_id": it["channel_id"]}
    world.tell("WEBHOOKS_UPDATE", told, 1 << 5, it["channel_id"])


def execute(world: World, call: Call) -> Any:
    """Post through a webhook, or follow up an interaction under the application's id."""
    if call.path["webhook_id"] == world.app_id:
        return followup(world, call)
    it = hook_of(world, call)
    where = _thread_or_channel(world, it, call)
    body = call.body
    found: limits.Found = []
    if body.get("username"):
        limits.username(found, body["username"])
    if body.get("avatar_url") and not limits.URL.fullmatch(str(body["avatar_url"])):
        found.append((("avatar_url",), "URL_TYPE_INVALID_URL", "Not a well formed URL."))
    limits.refuse(found)
    if body.get("components") and it["application_id"] != world.app_id:
        body = {**body, "components": []}
    author = {
        "id": it["id"], "username": (body.get("username") or it["name"]).strip(), "avatar": it["avatar"],
        "discriminator": "0000", "bot": True, "global_name": None, "public_flags": 0, "flags": 0,
    }  # fmt: skip
    made = make_message(
        world, where["id"], author, body, call.files, base=call.base,
        webhook_id=it["id"], application_id=it["application_id"], _avatar_url=body.get("avatar_url"),
    )  # fmt: skip
    open_for_post(world, where, is_hook=True)
    world.keep(made)
    return world.seen(made, is_poster=True) if call.query.get("wait") in ("1", "true", "True") else None


def _thread_or_channel(world: World, it: Json, call: Call) -> Json:
    thread = call.query.get("thread_id")
    if thread is None:
        if it["channel_id"] not in world.channels:
            raise Refusal(10015)
        return world.channels[it["channel_id"]]
    if not thread.isdecimal():
        limits.refuse([(("thread_id",), "NUMBER_TYPE_COERCE", f'Value "{thread}" is not snowflake.')])
    where = world.channels.get(thread)
    if where is None or where["type"] not in THREADS or where["parent_id"] != it["channel_id"]:
        raise Refusal(10003)
    return where


def hook_message(world: World, call: Call) -> Json:
    if call.path["webhook_id"] == world.app_id:
        return followup_message(world, call)
    return world.seen(_posted(world, call), is_poster=True)


def edit_hook_message(world: World, call: Call) -> Json:
    if call.path["webhook_id"] == world.app_id:
        made = followup_message(world, call)
        edit_message(world, made, call.body, call.files, call.base)
        made["flags"] &= ~128
        if made["id"] in world.messages:
            world.tell_message("MESSAGE_UPDATE", made)
        return made
    made = _posted(world, call)
    if world.channels[made["channel_id"]].get("thread_metadata", {}).get("archived"):
        raise Refusal(50083)
    edit_message(world, made, call.body, call.files, call.base)
    world.tell_message("MESSAGE_UPDATE", made)
    return world.seen(made, is_poster=True)


def remove_hook_message(world: World, call: Call) -> None:
    if call.path["webhook_id"] == world.app_id:
        return followup_removed(world, call)
    world.remove_message(_posted(world, call))
    return None


def _posted(world: World, call: Call) -> Json:
    it = hook_of(world, call)
    made = message_of(world, _thread_or_channel(world, it, call)["id"], call.path["message_id"])
    if made.get("webhook_id") != it["id"]:
        raise Refusal(50005)
    return made
