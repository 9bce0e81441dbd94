"""REST routes of the Discord double that are about messages, reactions and threads."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.doubles import discord_limits as limits
from tests.doubles.discord_errors import Refusal
from tests.doubles.discord_posting import (
    channel_of,
    edit_message,
    make_message,
    message_of,
    open_for_post,
    remember_nonce,
    same_nonce,
)
from tests.doubles.discord_routes import Call
from tests.doubles.discord_state import HAS_THREAD, PUBLIC_THREAD, STARTER, TEXT, THREADS, World, iso

Json = dict[str, Any]


def messages(world: World, call: Call) -> list[Json]:
    it = channel_of(world, call.path["channel_id"])
    query = call.query
    try:
        most = int(query.get("limit", "50"))
        bounds = {key: int(query[key]) for key in ("before", "after", "around") if key in query}
    except ValueError:
        most, bounds = 0, {}
    if not 1 <= most <= 100:
        limits.refuse([(("limit",), "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")])
    if not world.may("READ_MESSAGE_HISTORY", it["id"]):
        return []
    if "around" in bounds:
        half = most // 2
        newer = world.page(it["id"], half, after=bounds["around"])
        found = newer + world.page(it["id"], most - half, before=bounds["around"] + 1)
    else:
        found = world.page(it["id"], most, before=bounds.get("before"), after=bounds.get("after"))
    return [world.seen(one) for one in found]


def message(world: World, call: Call) -> Json:
    channel_of(world, call.path["channel_id"], "READ_MESSAGE_HISTORY")
    return world.seen(message_of(world, call.path["channel_id"], call.path["message_id"]))


def post(world: World, call: Call) -> Json:
    if whose := world.direct.get(call.path["channel_id"]):
        return _post_direct(world, call, whose)
    it = channel_of(world, call.path["channel_id"])
    need = "SEND_MESSAGES_IN_THREADS" if it["type"] in THREADS else "SEND_MESSAGES"
    channel_of(world, it["id"], need, *(["ATTACH_FILES"] if call.files else []))
    if call.body.get("message_reference") and not world.may("READ_MESSAGE_HISTORY", it["id"]):
        raise Refusal(50013)
    open_for_post(world, it)
    known = same_nonce(world, world.bot["id"], call.body)
    if known is not None:
        return known
    made = make_message(
        world, it["id"], world.bot, call.body, call.files, base=call.base,
        may_everyone=world.may("MENTION_EVERYONE", it["id"]),
    )  # fmt: skip
    if not world.may("EMBED_LINKS", it["id"]):
        made["embeds"] = []
    world.keep(made)
    remember_nonce(world, made)
    return made


def _post_direct(world: World, call: Call, whose: str) -> Json:
    """Keep a direct message; nobody but its reader is told."""
    if whose in world.takes_no_direct:
        raise Refusal(50007)
    made = make_message(world, call.path["channel_id"], world.bot, call.body, call.files, base=call.base)
    world.messages[made["id"]] = made
    return made


def edit(world: World, call: Call) -> Json:
    it = channel_of(world, call.path["channel_id"])
    made = message_of(world, it["id"], call.path["message_id"])
    if made["author"]["id"] != world.bot["id"] and set(call.body) - {"flags"}:
        raise Refusal(50005)
    _not_archived(it)
    edit_message(world, made, call.body, call.files, call.base)
    world.tell_message("MESSAGE_UPDATE", made)
    return made


def remove(world: World, call: Call) -> None:
    it = channel_of(world, call.path["channel_id"])
    made = message_of(world, it["id"], call.path["message_id"])
    if made["author"]["id"] != world.bot["id"] and not world.may("MANAGE_MESSAGES", it["id"]):
        raise Refusal(50013)
    _not_archived(it)
    world.remove_message(made)


def _not_archived(channel: Json) -> None:
    if channel.get("thread_metadata", {}).get("archived"):
        raise Refusal(50083)


def react(world: World, call: Call) -> None:
    it = channel_of(world, call.path["channel_id"], "READ_MESSAGE_HISTORY")
    made = message_of(world, it["id"], call.path["message_id"])
    _not_archived(it)
    sign = call.path["emoji"]
    name, _, id = sign.partition(":")
    if (id and id not in world.emojis) or (not id and sign.isascii()):
        raise Refusal(10014)
    if not made.get("reactions") and not world.may("ADD_REACTIONS", it["id"]):
        raise Refusal(50013)
    by = made.setdefault("_reacted", {}).setdefault(sign, [])
    if world.bot["id"] not in by:
        by.append(world.bot["id"])
        _reaction_told(world, "MESSAGE_REACTION_ADD", made, name, id)


def unreact(world: World, call: Call) -> None:
    it = channel_of(world, call.path["channel_id"])
    made = message_of(world, it["id"], call.path["message_id"])
    _not_archived(it)
    by = made.get("_reacted", {}).get(call.path["emoji"], [])
    if world.bot["id"] in by:
        by.remove(world.bot["id"])
        _reaction_told(world, "MESSAGE_REACTION_REMOVE", made, *call.path["emoji"].partition(":")[::2])


def _reaction_told(world: World, event: str, made: Json, name: str, id: str) -> None:
    made["reactions"] = [
        {"count": len(by), "me": world.bot["id"] in by, "me_burst": False, "burst_colors": [],
         "count_details": {"burst": 0, "normal": len(by)},
         "emoji": {"id": sign.partition(":")[2] or None, "name": sign.partition(":")[0]}}
        for sign, by in made["_reacted"].items() if by
    ]  # fmt: skip
    data = {
        "user_id": world.bot["id"], "channel_id": made["channel_id"], "message_id": made["id"],
        "guild_id": world.guild_id, "emoji": {"id": id or None, "name": name}, "burst": False, "type": 0,
    }  # fmt: skip
    world.tell(event, data, 1 << 10, made["channel_id"])


# threads


def thread_from_message(world: World, call: Call) -> tuple[int, Json]:
    it = channel_of(world, call.path["channel_id"], "CREATE_PUBLIC_THREADS")
    if it["type"] != TEXT:
        raise Refusal(50024)
    root = message_of(world, it["id"], call.path["message_id"])
    name, minutes = _thread_form(call)
    if root["id"] in world.channels:
        raise Refusal(160004)
    thread = world.add_thread(
        it, name, id=root["id"], owner=world.bot["id"], minutes=minutes, kind=PUBLIC_THREAD
    )
    root["flags"] |= HAS_THREAD
    root["thread"] = thread
    starter = make_message(world, thread["id"], root["author"], {"content": "."})
    starter |= {
        "content": "", "type": STARTER, "timestamp": iso(world.clock.now()),
        "message_reference": {"channel_id": it["id"], "message_id": root["id"], "guild_id": world.guild_id},
    }  # fmt: skip
    world.messages[starter["id"]] = starter
    world.by_channel.setdefault(thread["id"], []).append(starter["id"])
    world.tell_message("MESSAGE_UPDATE", root)
    return 201, thread


def thread_alone(world: World, call: Call) -> tuple[int, Json]:
    it = channel_of(world, call.path["channel_id"], "CREATE_PUBLIC_THREADS")
    name, minutes = _thread_form(call)
    kind = int(call.body.get("type") or 12)
    return 201, world.add_thread(
        it, name, id=world.new_id(), owner=world.bot["id"], minutes=minutes, kind=kind
    )


def _thread_form(call: Call) -> tuple[str, int]:
    found: limits.Found = []
    name = limits.text(found, ("name",), call.body.get("name"), limits.THREAD_NAME, least=1, required=True)
    minutes = call.body.get("auto_archive_duration") or 4320
    if minutes not in limits.ARCHIVE_AFTER:
        found.append(
            (("auto_archive_duration",), "BASE_TYPE_CHOICES", f"Value must be one of {limits.ARCHIVE_AFTER}.")
        )
    limits.refuse(found)
    return name, minutes


def archived_threads(world: World, call: Call) -> Json:
    it = channel_of(world, call.path["channel_id"], "READ_MESSAGE_HISTORY")
    found = [
        item for item in world.channels.values() if item["parent_id"] == it["id"] and item["type"] in THREADS
    ]
    closed = [item for item in found if item["thread_metadata"]["archived"]]
    closed.sort(key=_closed_at, reverse=True)
    if "before" in call.query:
        closed = [item for item in closed if _closed_at(item) < datetime.fromisoformat(call.query["before"])]
    most = int(call.query.get("limit", "50"))
    return {"threads": closed[:most], "members": [], "has_more": len(closed) > most}


def _closed_at(thread: Json) -> datetime:
    return datetime.fromisoformat(thread["thread_metadata"]["archive_timestamp"])


def nothing(world: World, call: Call) -> None:
    channel_of(world, call.path["channel_id"])
