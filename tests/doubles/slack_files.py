"""`files.*` of the fake Slack server: the upload in three steps, and reading back."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from tests.doubles.slack_chat import find_channel
from tests.doubles.slack_state import BOT_NAME, BOT_USER, File, Message, Refusal
from tests.doubles.slack_web import Answer, Args, Desk, cut, garbage, html, method, need

LARGEST = 1_000_000_000


def file_json(desk: Desk, file: File) -> dict[str, Any]:
    kind = file.name.rpartition(".")[2]
    return {
        "id": file.id, "name": file.name, "title": file.title or file.name, "size": file.length, "filetype": kind,
        "mimetype": "application/json" if kind == "json" else "text/plain", "user": BOT_USER, "mode": "hosted",
        "permalink": f"https://moot.slack.com/files/{BOT_USER}/{file.id}/{file.name}",
        "url_private": f"{desk.base_url}/files-pri/{file.id}/{file.name}",
        "url_private_download": f"{desk.base_url}/files-pri/{file.id}/download/{file.name}",
        "channels": file.shared_in,
    }  # fmt: skip


@method("files.getUploadURLExternal", "files:write", tier=4)
def upload_url(desk: Desk, args: Args) -> Answer:
    name = str(need(args, "filename"))
    try:
        length = int(need(args, "length"))
    except ValueError:
        raise Refusal("invalid_arguments") from None
    if length < 1:
        raise Refusal("invalid_arguments")
    if length > LARGEST:
        raise Refusal("file_upload_size_restricted")
    file = File(f"F0{next(desk.workspace.numbers):05d}", name, length)
    desk.workspace.files[file.id] = file
    return {"upload_url": f"{desk.base_url}/upload/v1/{file.id}", "file_id": file.id}


async def take_upload(desk: Desk, request: web.Request) -> web.StreamResponse:
    """Take the bytes, as a raw body or as the one file of a multipart form."""
    file = desk.workspace.files.get(request.match_info["file_id"])
    rule = desk.faults.take("upload")
    if rule and rule.action == "drop_before":
        cut(request)
    if rule and rule.action == "status":
        return html(rule.details.get("status", 503))
    if rule and rule.action == "garbage":
        return garbage()
    if file is None or file.content is not None:
        return web.Response(status=404, text="no such upload")
    if request.content_type == "multipart/form-data":
        parts = [part for part in (await request.post()).values() if isinstance(part, web.FileField)]
        content = parts[0].file.read() if parts else b""
    else:
        content = await request.read()
    if len(content) != file.length:
        return web.Response(status=400, text="the length is not what was announced")
    file.content = content
    if rule and rule.action == "drop_after":
        cut(request)
    return web.Response(text=f"OK - {len(content)}")


@method("files.completeUploadExternal", "files:write", tier=4)
def complete(desk: Desk, args: Args) -> Answer:
    workspace = desk.workspace
    raw = need(args, "files")
    try:
        named = json.loads(raw) if isinstance(raw, str) else raw
        files = [(workspace.files[one["id"]], one.get("title")) for one in named]
    except (ValueError, TypeError):
        raise Refusal("invalid_arguments") from None
    except KeyError:
        raise Refusal("file_not_found") from None
    if any(file.content is None or file.is_complete for file, _ in files):
        raise Refusal("file_not_found")
    channel = thread_ts = None
    if args.get("channel_id"):
        channel = find_channel(workspace, {"channel": args["channel_id"]})
        if BOT_USER not in channel.members:
            raise Refusal("not_in_channel")
        thread_ts = args.get("thread_ts") or None
        if thread_ts is not None and workspace.at(channel.id, str(thread_ts)) is None:
            raise Refusal("invalid_thread_ts")
    for file, title in files:
        file.is_complete, file.title = True, title or file.name
        if channel is not None:
            file.shared_in.append(channel.id)
    if channel is not None:
        comment = str(args.get("initial_comment") or "")
        # It is the bot's user that shares a file: such a message names no bot.
        message = Message(
            channel.id, workspace.new_ts(), comment, comment, thread_ts, BOT_USER, None,
            "file_share", BOT_NAME, files=[file for file, _ in files],
        )  # fmt: skip
        workspace.messages[channel.id].append(message)
        body = workspace.as_json(message, with_channel=True)
        desk.publish({**body, "event_ts": message.ts, "channel_type": "channel"})
    return {"files": [file_json(desk, file) for file, _ in files]}


@method("files.info", "files:read", tier=4)
def info(desk: Desk, args: Args) -> Answer:
    file = desk.workspace.files.get(str(need(args, "file")))
    if file is None or not file.is_complete:
        raise Refusal("file_not_found")
    return {"file": file_json(desk, file), "comments": []}


@method("files.delete", "files:write")
def delete(desk: Desk, args: Args) -> Answer:
    if desk.workspace.files.pop(str(need(args, "file")), None) is None:
        raise Refusal("file_not_found")
    return {}


async def download(desk: Desk, request: web.Request) -> web.Response:
    """Give a file's bytes to who has a token for them; others get Slack's sign-in page."""
    _, _, given = request.headers.get("Authorization", "").partition(" ")
    token = desk.workspace.tokens.get(given)
    file = desk.workspace.files.get(request.match_info["file_id"])
    if token is None or token.state != "active" or "files:read" not in token.scopes:
        return web.Response(text="<!DOCTYPE html><title>Sign in to Slack</title>", content_type="text/html")
    if file is None or file.content is None:
        return web.Response(status=404, text="no such file")
    return web.Response(body=file.content, content_type="application/octet-stream")
