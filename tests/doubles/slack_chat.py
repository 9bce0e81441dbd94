"""`chat.*` and `reactions.*` of the fake Slack server."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.doubles.slack_limits import TEXT_CUT, UPDATE_TEXT, check_attachments, check_blocks, check_metadata
from tests.doubles.slack_state import (
    BOT,
    BOT_NAME,
    BOT_USER,
    Channel,
    File,
    Message,
    Refusal,
    Reply,
    Workspace,
)
from tests.doubles.slack_text import Seen, mrkdwn, shown
from tests.doubles.slack_web import Answer, Args, Desk, check_scopes, is_true, method, need

TRUNCATED = {
    "warning": "message_truncated",
    "response_metadata": {
        "warnings": ["message_truncated"],
        "messages": [
            "[WARN] Your message was truncated but still posted. The `text` field accepts up to 40,000 characters."
        ],
    },
}


def bot_scopes(desk: Desk) -> set[str]:
    return next(token.scopes for name, token in desk.workspace.tokens.items() if name.startswith("xoxb-"))


def find_channel(workspace: Workspace, args: Args, *, by_name: bool = False) -> Channel:
    """Find the `channel` argument.

    Raises:
        Refusal: It is not there, or private and not ours.
    """
    given = str(args.get("channel", ""))
    for channel in workspace.channels.values():
        is_it = channel.id == given or (by_name and given.lstrip("#") == channel.name)
        if is_it and not channel.is_deleted and (not channel.is_private or BOT_USER in channel.members):
            return channel
    raise Refusal("channel_not_found")


def writable(desk: Desk, args: Args) -> Channel:
    """Find the channel to post into.

    Raises:
        Refusal: It is not there or takes no post of ours.
    """
    channel = find_channel(desk.workspace, args, by_name=True)
    if channel.is_archived:
        raise Refusal("is_archived")
    if BOT_USER not in channel.members and "chat:write.public" not in bot_scopes(desk):
        raise Refusal("not_in_channel")
    if channel.is_read_only:
        raise Refusal("restricted_action")
    return channel


def compose(workspace: Workspace, args: Args) -> tuple[Seen, dict[str, Any]]:
    """Read text, blocks and attachments; what would call somebody or takes effect is noted.

    Raises:
        Refusal: Slack would refuse them.
    """
    text = str(args.get("text") or "")
    blocks = check_blocks(args["blocks"]) if args.get("blocks") else []
    attachments = check_attachments(args["attachments"]) if args.get("attachments") else []
    if not text.strip() and not blocks and not attachments:
        raise Refusal("no_text")
    text = text[:TEXT_CUT]
    calls = args.get("parse") == "full" or is_true(args.get("link_names"))
    is_formatted = is_true(args.get("mrkdwn", True)) and args.get("parse") != "full"
    names = {user.id: user.name for user in workspace.users.values()}
    names |= {channel.id: channel.name for channel in workspace.channels.values()}
    top = mrkdwn(text, names, is_formatted=is_formatted, links_names=calls)
    seen = top
    if blocks:
        # The text is then a fallback: nobody sees its markup, but it may still call people.
        seen = shown(blocks, names, links_names=calls)
        seen.pings += [ping for ping in top.pings if ping not in seen.pings]
    for attachment in attachments:
        one = mrkdwn(
            str(attachment.get("text") or attachment.get("fallback") or ""), names, links_names=calls
        )
        seen.text += ("\n" if seen.text else "") + one.text
        seen.pings += one.pings
        seen.markup += one.markup
    workspace.pings += [f"{ping} in: {seen.text[:200]}" for ping in seen.pings]
    if seen.markup:
        workspace.formatted.append(f"{', '.join(seen.markup)} in: {seen.text[:200]}")
    return seen, {"raw_text": text, "blocks": blocks, "attachments": attachments}


def name_blocks(workspace: Workspace, blocks: list[dict[str, Any]]) -> None:
    """Give blocks and buttons the ids that Slack gives where none are."""
    for block in blocks:
        block.setdefault("block_id", f"b{next(workspace.numbers)}")
        for element in (*block.get("elements", ()), block.get("accessory")):
            if isinstance(element, dict) and element.get("type") == "button":
                element.setdefault("action_id", f"a{next(workspace.numbers)}")


@method("chat.postMessage", "chat:write")
def post_message(desk: Desk, args: Args) -> Answer:
    workspace = desk.workspace
    channel = writable(desk, args)
    has_face = any(args.get(key) for key in ("username", "icon_emoji", "icon_url"))
    if has_face:
        check_scopes(bot_scopes(desk), "chat:write.customize")
    metadata = check_metadata(args["metadata"], desk.metadata_most) if args.get("metadata") else None
    thread_ts = args.get("thread_ts") or None
    if thread_ts is not None and not re.fullmatch(r"\d{10}\.\d{6}", str(thread_ts)):
        raise Refusal("invalid_thread_ts")
    if thread_ts is not None:
        parent = workspace.at(channel.id, thread_ts)
        if parent is None:
            workspace.oddities.append(f"a reply to {thread_ts}, which is not there")
        elif parent.thread_ts not in (None, parent.ts):
            workspace.oddities.append(f"a reply to {thread_ts}, which is a reply itself")
    seen, content = compose(workspace, args)
    name_blocks(workspace, content["blocks"])
    message = Message(
        channel_id=channel.id,
        ts=workspace.new_ts(),
        text=seen.text,
        thread_ts=thread_ts,
        user=None if has_face else BOT_USER,
        bot_id=BOT,
        subtype="bot_message" if has_face else None,
        author_name=str(args.get("username") or BOT_NAME),
        icon_emoji=args.get("icon_emoji") or None,
        icon_url=None if args.get("icon_emoji") else args.get("icon_url") or None,
        metadata=metadata,
        payload_file=_payload_file(workspace, metadata),
        # Slack shares what a post links to, but not where the post is under another name (python-slack-sdk #1351).
        files=[] if has_face else _linked_files(workspace, content),
        **content,
    )
    for file in message.files:
        file.shared_in.append(channel.id)
    workspace.messages[channel.id].append(message)
    event = workspace.as_json(message, with_channel=True)
    event.pop("metadata", None)
    kind = "group" if channel.is_private else "channel"
    desk.publish({**event, "event_ts": message.ts, "channel_type": kind})
    answer = {"channel": channel.id, "ts": message.ts, "message": workspace.as_json(message, is_whole=True)}
    return answer | (TRUNCATED if len(str(args.get("text") or "")) > TEXT_CUT else {})


def _linked_files(workspace: Workspace, content: dict[str, Any]) -> list[File]:
    ids = re.findall(r"/files/\w+/(F\w+)/", json.dumps(content))
    found = [workspace.files[id] for id in dict.fromkeys(ids) if id in workspace.files]
    return [file for file in found if file.is_complete]


def _payload_file(workspace: Workspace, metadata: dict[str, Any] | None) -> Any:
    named = (metadata or {}).get("event_payload", {}).get("file")
    return workspace.files.get(named) if isinstance(named, str) else None


@method("chat.postEphemeral", "chat:write", tier=4)
def post_ephemeral(desk: Desk, args: Args) -> Answer:
    workspace = desk.workspace
    channel = find_channel(workspace, args)
    if channel.is_archived:
        raise Refusal("is_archived")
    if BOT_USER not in channel.members:
        raise Refusal("not_in_channel")
    user = str(need(args, "user"))
    if user not in workspace.users or user not in channel.members:
        raise Refusal("user_not_in_channel")
    if any(args.get(key) for key in ("username", "icon_emoji", "icon_url")):
        check_scopes(bot_scopes(desk), "chat:write.customize")
    seen, content = compose(workspace, args)
    name_blocks(workspace, content["blocks"])
    ts = workspace.new_ts()
    reply = Reply(seen.text, True, "ephemeral", user, tuple(content["blocks"]), args.get("thread_ts") or None)
    workspace.ephemerals.append((channel.id, ts, reply))
    return {"message_ts": ts}


def _own(desk: Desk, args: Args, error: str) -> Message:
    channel = find_channel(desk.workspace, args)
    message = desk.workspace.at(channel.id, str(args.get("ts", "")))
    if message is None:
        raise Refusal("message_not_found")
    if not message.is_ours:
        raise Refusal(error)
    if channel.is_archived:
        raise Refusal("is_archived")
    return message


@method("chat.update", "chat:write")
def update(desk: Desk, args: Args) -> Answer:
    workspace = desk.workspace
    message = _own(desk, args, "cant_update_message")
    if len(str(args.get("text") or "")) > UPDATE_TEXT:
        raise Refusal("msg_too_long")
    if args.get("metadata"):
        message.metadata = check_metadata(args["metadata"], desk.metadata_most)
    before = workspace.as_json(message)
    # A client that has not seen the edit yet can still press them.
    message.removed_buttons += message.buttons
    # Blocks that are not sent again are gone when there is text; sent as an empty list they are gone too.
    seen, content = compose(workspace, args)
    name_blocks(workspace, content["blocks"])
    message.text = seen.text
    for name, value in content.items():
        setattr(message, name, value)
    message.edited = {"user": BOT_USER, "ts": workspace.new_ts()}
    changed(desk, message, before)
    body = workspace.as_json(message, is_whole=True)
    return {"channel": message.channel_id, "ts": message.ts, "text": message.raw_text, "message": body}


def changed(desk: Desk, message: Message, before: dict[str, Any]) -> None:
    """Tell subscribers that a message is not what it was."""
    ts = desk.workspace.new_ts()
    now = desk.workspace.as_json(message)
    for body in (now, before):
        body.pop("metadata", None)
    desk.publish(
        {
            "type": "message", "subtype": "message_changed", "hidden": True, "channel": message.channel_id,
            "message": {**now, "source_team": now["team"], "user_team": now["team"]},
            "previous_message": before, "ts": ts, "event_ts": ts, "channel_type": "channel",
        }
    )  # fmt: skip


def deleted(desk: Desk, message: Message) -> None:
    """Delete a message; where it has replies a tombstone stands for it."""
    workspace = desk.workspace
    before = workspace.as_json(message)
    ts = workspace.new_ts()
    if workspace.replies(message):
        message.subtype, message.user, message.bot_id = "tombstone", "USLACKBOT", None
        message.text = message.raw_text = "This message was deleted."
        message.blocks, message.metadata, message.files = [], None, []
        changed(desk, message, before)
        return
    message.is_deleted = True
    desk.publish(
        {
            "type": "message", "subtype": "message_deleted", "hidden": True, "channel": message.channel_id,
            "previous_message": before, "deleted_ts": message.ts, "ts": ts, "event_ts": ts,
            "channel_type": "channel",
        }
    )  # fmt: skip


@method("chat.delete", "chat:write")
def delete(desk: Desk, args: Args) -> Answer:
    message = _own(desk, args, "cant_delete_message")
    deleted(desk, message)
    return {"channel": message.channel_id, "ts": message.ts}


@method("chat.getPermalink", tier=4)
def permalink(desk: Desk, args: Args) -> Answer:
    channel = find_channel(desk.workspace, args)
    if desk.workspace.at(channel.id, str(args.get("message_ts"))) is None:
        raise Refusal("message_not_found")
    ts = str(args["message_ts"])
    link = f"https://moot.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"
    return {"channel": channel.id, "permalink": link}


def _reacted(desk: Desk, args: Args) -> tuple[Message, list[str]]:
    name = str(args.get("name") or "").strip(":")
    if not re.fullmatch(r"[a-z0-9_+\-]+(::skin-tone-[2-6])?", name):
        raise Refusal("invalid_name")
    channel = find_channel(desk.workspace, args)
    if BOT_USER not in channel.members:
        raise Refusal("not_in_channel")
    message = desk.workspace.at(channel.id, str(args.get("timestamp", "")))
    if message is None:
        raise Refusal("message_not_found")
    if channel.is_archived:
        raise Refusal("is_archived")
    return message, message.reactions.setdefault(name, [])


@method("reactions.add", "reactions:write")
def add_reaction(desk: Desk, args: Args) -> Answer:
    _, users = _reacted(desk, args)
    if BOT_USER in users:
        raise Refusal("already_reacted")
    users.append(BOT_USER)
    return {}


@method("reactions.remove", "reactions:write", tier=2)
def remove_reaction(desk: Desk, args: Args) -> Answer:
    message, users = _reacted(desk, args)
    if BOT_USER not in users:
        raise Refusal("no_reaction")
    users.remove(BOT_USER)
    message.reactions = {name: who for name, who in message.reactions.items() if who}
    return {}
