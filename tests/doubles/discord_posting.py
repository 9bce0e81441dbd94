"""Making messages of what was posted: limits checked, mentions resolved, files kept, nonces honoured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tests.doubles import discord_limits as limits
from tests.doubles import discord_text as texts
from tests.doubles.discord_errors import Refusal
from tests.doubles.discord_state import (
    EPHEMERAL,
    PLAIN,
    REPLY,
    SUPPRESS_EMBEDS,
    THREADS,
    World,
    iso,
)

Json = dict[str, Any]
Files = Mapping[str, tuple[str, bytes]]
NO_FILES: Files = MappingProxyType({})

NONCE_LIVES_S = 300.0


def channel_of(world: World, channel_id: str, *needs: str) -> Json:
    """Return a channel that the bot may see and use so, or raise 10003, 50001, 50013."""
    if not channel_id.isdecimal():
        limits.refuse([(("channel_id",), "NUMBER_TYPE_COERCE", f'Value "{channel_id}" is not snowflake.')])
    channel = world.channels.get(channel_id)
    if channel is None:
        raise Refusal(10003)
    if not world.may("VIEW_CHANNEL", channel_id):
        raise Refusal(50001)
    if not all(world.may(need, channel_id) for need in needs):
        raise Refusal(50013)
    return channel


def message_of(world: World, channel_id: str, message_id: str) -> Json:
    message = world.messages.get(message_id)
    if message is None or message["channel_id"] != channel_id:
        raise Refusal(10008)
    return message


def open_for_post(world: World, channel: Json, *, is_hook: bool = False) -> None:
    """Let a post in, as Discord does: it reopens an archived thread, but never a locked one."""
    if channel["type"] not in (0, *THREADS):
        raise Refusal(50008 if channel["type"] != 4 else 50024)
    meta = channel.get("thread_metadata")
    if meta and meta["locked"] and (is_hook or not world.may("MANAGE_THREADS", channel["id"])):
        raise Refusal(50083 if meta["archived"] else 160005)
    if meta and meta["archived"]:
        if world.archived_stays:
            raise Refusal(50083)
        world.set_archived(channel, False)


def checked(payload: Json, files: Files, *, is_edit: bool = False) -> Json:
    """Return the message part of a payload, trimmed, or raise 50035, 50006, 40005."""
    found: limits.Found = []
    clean: Json = {}
    if not is_edit or "content" in payload:
        clean["content"] = limits.text(found, ("content",), payload.get("content"), limits.CONTENT)
    if not is_edit or "embeds" in payload:
        clean["embeds"] = limits.embeds(found, payload.get("embeds"))
    if not is_edit or "components" in payload:
        clean["components"] = limits.components(found, payload.get("components"))
    if payload.get("nonce") is not None:
        limits.text(found, ("nonce",), payload["nonce"], limits.NONCE)
    rule = payload.get("allowed_mentions")
    if rule is not None:
        for kind in ("users", "roles"):
            if kind in (rule.get("parse") or ()) and rule.get(kind):
                message = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
                found.append((("allowed_mentions",), "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", message))
    limits.files(found, files)
    limits.refuse(found)
    if not is_edit and not (clean["content"] or clean["embeds"] or clean["components"] or files):
        raise Refusal(50006)
    return clean


def keep_files(world: World, channel_id: str, payload: Json, files: Files, base: str) -> list[Json]:
    told = {str(item.get("id")): item for item in payload.get("attachments") or []}
    kept = []
    for key, (given, body) in files.items():
        hit = re.fullmatch(r"files?\[?(\d*)\]?", key)
        entry = told.get(hit[1] if hit else "", {})
        id = world.new_id()
        name = re.sub(r"[^\w.\-]", "_", entry.get("filename") or given)
        kind = "application/json" if name.endswith(".json") else "application/octet-stream"
        path = f"/attachments/{channel_id}/{id}/{name}"
        world.files[path] = (kind, body)
        kept.append(
            {"id": id, "filename": name, "size": len(body), "url": base + path, "proxy_url": base + path}
            | {"content_type": kind}
            | ({"description": entry["description"]} if entry.get("description") else {})
        )  # fmt: skip
    return kept


def make_message(
    world: World,
    channel_id: str,
    author: Json,
    payload: Json,
    files: Files = NO_FILES,
    *,
    base: str = "",
    **more: Any,
) -> Json:
    """Build a message from what was posted; it is nowhere yet."""
    clean = checked(payload, files)
    rule = payload.get("allowed_mentions")
    mentioned = re.findall(r"<@!?(\d+)>", clean["content"])
    flags = int(payload.get("flags") or 0) & (EPHEMERAL | SUPPRESS_EMBEDS | 1 << 12)
    woken = texts.pings(clean["content"], rule, may_everyone=more.pop("may_everyone", True))
    message: Json = {
        "id": world.new_id(), "channel_id": channel_id, "author": author, "type": PLAIN,
        "timestamp": iso(world.clock.now()), "edited_timestamp": None, "tts": False, "pinned": False,
        "mention_everyone": any(ping.startswith("@") for ping in woken),
        "mentions": [world.users[id] for id in dict.fromkeys(mentioned) if id in world.users],
        "mention_roles": [], "attachments": keep_files(world, channel_id, payload, files, base), "flags": flags,
        **clean,
    } | more  # fmt: skip
    reference = payload.get("message_reference")
    if reference:
        woken += _refer(world, message, reference, rule)
    if payload.get("nonce") is not None and "webhook_id" not in more:
        message["nonce"] = payload["nonce"]
    if not author.get("bot") and not more.get("webhook_id"):
        return message
    world.pings += [f"{ping} in {channel_id}: {clean['content'][:80]}" for ping in woken]
    return message


def _refer(world: World, message: Json, reference: Json, rule: Json | None) -> list[str]:
    target = world.messages.get(str(reference.get("message_id")))
    if target is None or target["channel_id"] != message["channel_id"]:
        if reference.get("fail_if_not_exists", True):
            found = [(("message_reference",), "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")]
            limits.refuse(found)  # type: ignore[arg-type]
        return []
    message["type"] = REPLY
    message["message_reference"] = {
        "type": 0, "message_id": target["id"], "channel_id": target["channel_id"], "guild_id": world.guild_id,
    }  # fmt: skip
    message["referenced_message"] = target
    is_woken = rule is None or bool(rule.get("replied_user"))
    return [f"reply to {target['author']['username']}"] if is_woken else []


def edit_message(world: World, message: Json, payload: Json, files: Files = NO_FILES, base: str = "") -> Json:
    clean = checked(payload, files, is_edit=True)
    if "components" in payload:
        # A client that has not seen the edit yet can still press them.
        gone = world.removed_buttons.setdefault(message["id"], [])
        gone += [item for row in message["components"] for item in row["components"]]
    message.update(clean)
    if "attachments" in payload or files:
        kept = {str(item.get("id")) for item in payload.get("attachments") or [] if "filename" not in item}
        message["attachments"] = [item for item in message["attachments"] if item["id"] in kept]
        message["attachments"] += keep_files(world, message["channel_id"], payload, files, base)
    message["edited_timestamp"] = iso(world.clock.now())
    if "flags" in payload:
        message["flags"] = message["flags"] & ~SUPPRESS_EMBEDS | int(payload["flags"] or 0) & SUPPRESS_EMBEDS
    return message


def same_nonce(world: World, author_id: str, payload: Json) -> Json | None:
    """Return the message of the last minutes that had this nonce, where the caller asked for that."""
    nonce, now = payload.get("nonce"), world.clock.now()
    if nonce is None or not payload.get("enforce_nonce"):
        return None
    at, id = world.nonces.get((author_id, str(nonce)), (0.0, ""))
    return world.messages.get(id) if at + NONCE_LIVES_S > now else None


def remember_nonce(world: World, message: Json) -> None:
    if message.get("nonce") is not None:
        world.nonces[(message["author"]["id"], str(message["nonce"]))] = (world.clock.now(), message["id"])
