"""Clicks and slash commands at the Discord double: their first answer within 3 s, follow-ups within 15 minutes."""

from __future__ import annotations

import re
import uuid
from typing import Any

from tests.doubles import discord_limits as limits
from tests.doubles.discord_errors import Refusal
from tests.doubles.discord_posting import edit_message, make_message
from tests.doubles.discord_routes import Call
from tests.doubles.discord_state import COMMAND_REPLY, EPHEMERAL, LOADING, REPLY, Interaction, World

Json = dict[str, Any]

COMPONENT, COMMAND = 3, 2
MESSAGE, DEFER, DEFER_UPDATE, UPDATE, MODAL = 4, 5, 6, 7, 9
FOLLOWUP_S = 15 * 60.0


def create(
    world: World, *, kind: int, user: Json, channel_id: str, data: Json, message: Json | None
) -> Interaction:
    """Make an interaction and send it to whoever is connected; it is told once, as Discord does."""
    made = Interaction(
        id=world.new_id(), token=uuid.uuid4().hex, kind=kind, user=user, channel_id=channel_id, message=message,
        made_at=world.clock.now(),
    )  # fmt: skip
    world.interactions[made.id] = made
    member = world.member(user) | {"permissions": str(world.permissions(user, channel_id))}
    channel = {key: value for key, value in world.channels[channel_id].items() if key != "guild_id"}
    told: Json = {
        "id": made.id, "application_id": world.app_id, "type": kind, "token": made.token, "version": 1,
        "guild_id": world.guild_id, "channel_id": channel_id, "member": member, "data": data, "locale": "en-US",
        "channel": channel | {"permissions": str(world.permissions(user, channel_id))},
        "guild": {"id": world.guild_id, "locale": "en-US", "features": []}, "guild_locale": "en-US",
        "app_permissions": str(world.permissions(world.bot, channel_id)), "entitlements": [],
        "authorizing_integration_owners": {"0": world.guild_id}, "context": 0,
        "attachment_size_limit": limits.FILE_BYTES,
    }  # fmt: skip
    if not world.says_channel:
        del told["channel"]
    if message is not None:
        told["message"] = world.seen(message, is_poster=True)
    world.tell("INTERACTION_CREATE", told, 0, None)
    return made


def callback(world: World, call: Call) -> Any:
    it = world.interactions.get(call.path["interaction_id"])
    if it is None or it.token != call.path["token"]:
        raise Refusal(10062)
    if it.is_answered:
        raise Refusal(40060)
    if world.clock.now() - it.made_at > world.callback_s:
        raise Refusal(10062)
    kind = call.body.get("type")
    allowed = (
        (MESSAGE, DEFER, DEFER_UPDATE, UPDATE, MODAL) if it.kind == COMPONENT else (MESSAGE, DEFER, MODAL)
    )
    if kind not in allowed:
        limits.refuse(
            [(("type",), "BASE_TYPE_CHOICES", f"Value must be one of {{{', '.join(map(str, allowed))}}}.")]
        )
    data = call.body.get("data") or {}
    resource: Json = {"type": kind}
    if kind in (MESSAGE, DEFER):
        it.original = _reply(world, it, data, call, is_loading=kind == DEFER)
        resource["message"] = it.original
    elif kind == UPDATE:
        assert it.message is not None
        edit_message(world, it.message, data, call.files, call.base)
        world.tell_message("MESSAGE_UPDATE", it.message)
        it.original = it.message
        resource["message"] = world.seen(it.message, is_poster=True)
    elif kind == DEFER_UPDATE:
        it.original = it.message
    it.is_answered = True
    told: Json = {"id": it.id, "type": it.kind}
    if it.original is not None:
        told |= {
            "response_message_id": it.original["id"], "response_message_loading": kind == DEFER,
            "response_message_ephemeral": bool(it.original["flags"] & EPHEMERAL),
        }  # fmt: skip
    if call.query.get("with_response") in ("1", "true", "True"):
        return {"interaction": told, "resource": resource}
    return None


def _reply(world: World, it: Interaction, data: Json, call: Call, *, is_loading: bool = False) -> Json:
    meta = world.channels[it.channel_id].get("thread_metadata", {})
    if meta.get("archived") and meta["locked"]:
        raise Refusal(50083)
    if is_loading:
        data = {"content": ".", "flags": data.get("flags", 0)}
    made = make_message(
        world, it.channel_id, world.bot, data, call.files, base=call.base,
        application_id=world.app_id, webhook_id=world.app_id,
        type=COMMAND_REPLY if it.kind == COMMAND else REPLY,
        interaction_metadata={
            "id": it.id, "type": it.kind, "user": it.user, "authorizing_integration_owners": {"0": world.guild_id},
        },
    )  # fmt: skip
    if is_loading:
        made["content"] = ""
        made["flags"] |= LOADING
    it.replies.append(made)
    if made["flags"] & EPHEMERAL:
        world.hidden[made["id"]] = made
    else:
        world.keep(made)
    return made


def _of(world: World, call: Call) -> Interaction:
    it = next((one for one in world.interactions.values() if one.token == call.path["webhook_token"]), None)
    if it is None or not it.is_answered:
        raise Refusal(10015)
    if world.clock.now() - it.made_at > FOLLOWUP_S:
        raise Refusal(50027)
    return it


def followup(world: World, call: Call) -> Json:
    """Say more to the person; the first word after a deferral takes the waiting message's place."""
    it = _of(world, call)
    if it.original is not None and it.original["flags"] & LOADING:
        edit_message(world, it.original, call.body, call.files, call.base)
        it.original["flags"] &= ~LOADING
        if it.original["id"] in world.messages:
            world.tell_message("MESSAGE_UPDATE", it.original)
        return it.original
    return _reply(world, it, call.body, call)


def followup_message(world: World, call: Call) -> Json:
    it = _of(world, call)
    if call.path["message_id"] == "@original":
        found = it.original
    else:
        found = next((one for one in it.replies if one["id"] == call.path["message_id"]), None)
    if found is None:
        raise Refusal(10008)
    return found


def followup_removed(world: World, call: Call) -> None:
    found = followup_message(world, call)
    world.hidden.pop(found["id"], None)
    if found["id"] in world.messages:
        world.remove_message(found)
    it = _of(world, call)
    it.replies = [one for one in it.replies if one is not found]


# commands

COMMAND_NAME = r"[-_\w]{1,32}"


def commands(world: World, call: Call) -> list[Json]:
    return world.commands.get(call.path.get("guild_id"), [])


def overwrite_commands(world: World, call: Call) -> list[Json]:
    if call.path["application_id"] != world.app_id:
        raise Refusal(20012)
    if "guild_id" in call.path and call.path["guild_id"] != world.guild_id:
        raise Refusal(50001)
    scope = call.path.get("guild_id")
    old = {item["name"]: item["id"] for item in world.commands.get(scope, [])}
    sent: Any = call.body
    given: list[Json] = sent if isinstance(sent, list) else []
    found: limits.Found = []
    if len(given) > 100:
        found.append(((), "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length."))
    for number, item in enumerate(given):
        _check_command(found, (str(number),), item)
    names = [item.get("name") for item in given]
    if len(set(names)) < len(names):
        found.append(
            (("name",), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
        )
    limits.refuse(found)
    world.commands[scope] = [
        {
            "type": 1, "options": [], "default_member_permissions": None, "dm_permission": True, "nsfw": False,
            **item, "id": old.get(item["name"], world.new_id()), "application_id": world.app_id,
            "version": world.new_id(), "name_localizations": None, "description_localizations": None,
            **({"guild_id": scope} if scope else {}),
        }
        for item in given
    ]  # fmt: skip
    return world.commands[scope]


def _check_command(found: limits.Found, at: tuple[str, ...], item: Json) -> None:
    name = limits.text(found, (*at, "name"), item.get("name"), 32, least=1, required=True)
    if name and (not re.fullmatch(COMMAND_NAME, name) or name != name.lower()):
        message = "Command name is invalid"
        found.append(((*at, "name"), "APPLICATION_COMMAND_INVALID_NAME", message))
    limits.text(found, (*at, "description"), item.get("description"), 100, least=1, required=True)
    options = item.get("options") or []
    if len(options) > 25:
        found.append(((*at, "options"), "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length."))
    is_optional_seen = False
    for number, option in enumerate(options):
        here = (*at, "options", str(number))
        _check_command(found, here, option)
        if option.get("required") and is_optional_seen:
            message = "Required options must be placed before non-required options"
            found.append((here, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", message))
        is_optional_seen |= not option.get("required")
        for place, choice in enumerate(option.get("choices") or []):
            limits.text(found, (*here, "choices", str(place), "name"), choice.get("name"), 100, least=1)
        if len(option.get("choices") or []) > 25:
            found.append(((*here, "choices"), "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length."))
