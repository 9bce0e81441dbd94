"""`auth.*`, `apps.*`, `conversations.*` and `users.*` of the fake Slack server."""

from __future__ import annotations

import base64
import re
from typing import Any

from tests.doubles.slack_chat import bot_scopes, find_channel
from tests.doubles.slack_state import APP, BOT, BOT_NAME, BOT_USER, TEAM, Channel, Message, Refusal, User
from tests.doubles.slack_web import Answer, Args, Desk, check_scopes, is_true, method, need

HISTORY = ("channels:history", "groups:history")
READ = ("channels:read", "groups:read")


@method("auth.test", tier=4)
def auth_test(desk: Desk, args: Args) -> Answer:
    return {
        "url": "https://moot.slack.com/", "team": "Moot", "user": BOT_NAME, "team_id": TEAM, "user_id": BOT_USER,
        "bot_id": BOT, "is_enterprise_install": False,
    }  # fmt: skip


@method("api.test", tier=4)
def api_test(desk: Desk, args: Args) -> Answer:
    if args.get("error"):
        raise Refusal(str(args["error"]), args=dict(args))
    return {"args": dict(args)}


@method("apps.connections.open", "connections:write", is_for_app=True)
def connections_open(desk: Desk, args: Args) -> Answer:
    return {"url": desk.new_ticket()}


@method("team.info", "team:read")
def team_info(desk: Desk, args: Args) -> Answer:
    return {"team": {"id": TEAM, "name": "Moot", "domain": "moot"}}


@method("bots.info", "users:read")
def bots_info(desk: Desk, args: Args) -> Answer:
    if args.get("bot") != BOT:
        raise Refusal("bot_not_found")
    return {"bot": {"id": BOT, "app_id": APP, "name": BOT_NAME, "user_id": BOT_USER, "deleted": False}}


def user_json(user: User) -> dict[str, Any]:
    return {
        "id": user.id, "team_id": TEAM, "name": user.name, "real_name": user.name.capitalize(),
        "deleted": user.deleted, "is_bot": user.is_bot, "is_admin": False, "tz": "Etc/UTC",
        "profile": {"display_name": user.name, "real_name": user.name.capitalize(), "team": TEAM},
    }  # fmt: skip


@method("users.info", "users:read", tier=4)
def users_info(desk: Desk, args: Args) -> Answer:
    user = desk.workspace.users.get(str(need(args, "user")))
    if user is None:
        raise Refusal("user_not_found")
    return {"user": user_json(user)}


@method("users.list", "users:read", tier=2)
def users_list(desk: Desk, args: Args) -> Answer:
    users = sorted(desk.workspace.users.values(), key=lambda user: user.id)
    page, cursor = _page(users, args, lambda user: user.id, 1000)
    return {"members": [user_json(user) for user in page], "response_metadata": {"next_cursor": cursor}}


def channel_json(channel: Channel) -> dict[str, Any]:
    return {
        "id": channel.id, "name": channel.name, "name_normalized": channel.name, "is_channel": True,
        "is_group": False, "is_im": False, "is_mpim": False, "is_private": channel.is_private, "is_general": False,
        "is_archived": channel.is_archived, "is_member": BOT_USER in channel.members,
        "num_members": len(channel.members), "topic": {"value": channel.topic}, "purpose": {"value": channel.purpose},
    }  # fmt: skip


def _page(items: list[Any], args: Args, key: Any, most: int, usual: int = 100) -> tuple[list[Any], str]:
    """Cut a page out of an ordered list, by a cursor of Slack's form."""
    try:
        limit = int(args.get("limit") or usual)
    except ValueError:
        raise Refusal("invalid_limit") from None
    if not 0 < limit <= most:
        raise Refusal("invalid_limit")
    start = 0
    if cursor := args.get("cursor"):
        try:
            name = base64.b64decode(str(cursor), validate=True).decode()
            start = next(n for n, item in enumerate(items) if f"next:{key(item)}" == name)
        except (ValueError, StopIteration):
            raise Refusal("invalid_cursor") from None
    page = items[start : start + limit]
    more = items[start + limit : start + limit + 1]
    return page, base64.b64encode(f"next:{key(more[0])}".encode()).decode() if more else ""


@method("conversations.list", *READ, tier=2)
def conversations_list(desk: Desk, args: Args) -> Answer:
    kinds = set(str(args.get("types") or "public_channel").replace(" ", "").split(","))
    if kinds - {"public_channel", "private_channel", "mpim", "im"}:
        raise Refusal("invalid_types")
    for kind, scope in (("public_channel", "channels:read"), ("private_channel", "groups:read")):
        if kind in kinds:
            check_scopes(bot_scopes(desk), scope)
    found = [
        channel
        for channel in desk.workspace.channels.values()
        if ("private_channel" if channel.is_private else "public_channel") in kinds
        and not channel.is_deleted
        and not (channel.is_archived and is_true(args.get("exclude_archived")))
        and (not channel.is_private or BOT_USER in channel.members)
    ]
    page, cursor = _page(found, args, lambda channel: channel.id, 1000)
    return {"channels": [channel_json(c) for c in page], "response_metadata": {"next_cursor": cursor}}


@method("conversations.info", *READ)
def conversations_info(desk: Desk, args: Args) -> Answer:
    return {"channel": channel_json(find_channel(desk.workspace, args))}


@method("conversations.members", *READ, tier=4)
def conversations_members(desk: Desk, args: Args) -> Answer:
    members = sorted(find_channel(desk.workspace, args).members)
    page, cursor = _page(members, args, str, 1000)
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


@method("conversations.create", "channels:manage", "groups:write", tier=2)
def conversations_create(desk: Desk, args: Args) -> Answer:
    name = str(args.get("name") or "")
    if not name:
        raise Refusal("invalid_name_required")
    if len(name) > 80:
        raise Refusal("invalid_name_maxlength")
    if not re.fullmatch(r"[a-z0-9_\-]+", name):
        raise Refusal("invalid_name_specials")
    if not re.search(r"[a-z0-9]", name):
        raise Refusal("invalid_name_punctuation")
    if any(c.name == name and not c.is_deleted for c in desk.workspace.channels.values()):
        raise Refusal("name_taken")
    private = is_true(args.get("is_private"))
    channel = desk.workspace.add_channel(name, is_private=private, members=(BOT_USER,))
    desk.publish(
        {"type": "channel_created", "channel": {"id": channel.id, "name": name, "creator": BOT_USER}}
    )
    return {"channel": channel_json(channel)}


@method("conversations.join", "channels:join")
def conversations_join(desk: Desk, args: Args) -> Answer:
    channel = find_channel(desk.workspace, args)
    if channel.is_private:
        raise Refusal("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise Refusal("is_archived")
    if BOT_USER in channel.members:
        warning = {"warning": "already_in_channel", "response_metadata": {"warnings": ["already_in_channel"]}}
        return {"channel": channel_json(channel), **warning}
    channel.members.add(BOT_USER)
    return {"channel": channel_json(channel)}


@method("conversations.invite", "channels:manage", "channels:write.invites")
def conversations_invite(desk: Desk, args: Args) -> Answer:
    channel = find_channel(desk.workspace, args)
    if BOT_USER not in channel.members:
        raise Refusal("not_in_channel")
    for user in str(need(args, "users")).split(","):
        if user not in desk.workspace.users:
            raise Refusal("user_not_found")
        channel.members.add(user)
    return {"channel": channel_json(channel)}


@method("conversations.setTopic", "channels:manage", "channels:write.topic", tier=2)
def set_topic(desk: Desk, args: Args) -> Answer:
    return _describe(desk, args, "topic")


@method("conversations.setPurpose", "channels:manage", "channels:write.topic", tier=2)
def set_purpose(desk: Desk, args: Args) -> Answer:
    return _describe(desk, args, "purpose")


def _describe(desk: Desk, args: Args, what: str) -> Answer:
    channel = find_channel(desk.workspace, args)
    if channel.is_private:
        check_scopes(bot_scopes(desk), "groups:write", "groups:write.topic")
    if BOT_USER not in channel.members:
        raise Refusal("not_in_channel")
    if channel.is_archived:
        raise Refusal("is_archived")
    value = str(args.get(what) or "")
    if len(value) > 250:
        raise Refusal("too_long")
    setattr(channel, what, value)
    return {"channel": channel_json(channel)}


def _within(messages: list[Message], args: Args) -> list[Message]:
    """Keep what lies between `oldest` and `latest`."""
    for name in ("oldest", "latest"):
        if args.get(name) and not re.fullmatch(r"\d+(\.\d{1,6})?", str(args[name])):
            raise Refusal(f"invalid_ts_{name}")
    oldest, latest = _ts(args.get("oldest") or "0"), _ts(args.get("latest") or "9" * 10)
    if is_true(args.get("inclusive")):
        return [m for m in messages if oldest <= _ts(m.ts) <= latest]
    return [m for m in messages if oldest < _ts(m.ts) < latest]


def _ts(text: str) -> tuple[int, int]:
    whole, _, rest = str(text).partition(".")
    return int(whole), int(rest.ljust(6, "0") or 0)


def _readable(desk: Desk, args: Args) -> Channel:
    channel = find_channel(desk.workspace, args)
    check_scopes(bot_scopes(desk), "groups:history" if channel.is_private else "channels:history")
    if BOT_USER not in channel.members:
        raise Refusal("not_in_channel")
    return channel


@method("conversations.history", *HISTORY)
def history(desk: Desk, args: Args) -> Answer:
    channel = _readable(desk, args)
    top = [
        m
        for m in desk.workspace.messages[channel.id]
        if not m.is_deleted and (m.thread_ts in (None, m.ts) or m.subtype == "thread_broadcast")
    ]
    found = _within(top, args)[::-1]
    page, cursor = _page(found, args, lambda m: m.ts, 999)
    whole = is_true(args.get("include_all_metadata"))
    answer: Answer = {
        "messages": [desk.workspace.as_json(m, is_whole=whole) for m in page],
        "has_more": bool(cursor),
        "pin_count": 0,
    }
    return answer | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})


@method("conversations.replies", *HISTORY)
def replies(desk: Desk, args: Args) -> Answer:
    channel = _readable(desk, args)
    message = desk.workspace.at(channel.id, str(need(args, "ts")))
    if message is None:
        raise Refusal("thread_not_found")
    root = message.thread_ts or message.ts
    parent = desk.workspace.at(channel.id, root)
    rest = [
        m
        for m in desk.workspace.messages[channel.id]
        if m.thread_ts == root and m.ts != root and not m.is_deleted
    ]
    page, cursor = _page(_within(rest, args), args, lambda m: m.ts, 1000, 1000)
    whole = is_true(args.get("include_all_metadata"))
    # The parent stands at the head of every page.
    both = [*([parent] if parent else []), *page]
    answer: Answer = {
        "messages": [desk.workspace.as_json(m, is_whole=whole) for m in both], "has_more": bool(cursor)
    }  # fmt: skip
    return answer | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})
