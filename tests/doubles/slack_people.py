"""What people do in the fake Slack workspace, and where the app's answers to it arrive."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.doubles.slack_chat import changed, deleted
from tests.doubles.slack_delivery import Courier, Delivery
from tests.doubles.slack_limits import check_blocks
from tests.doubles.slack_state import APP, BOT_USER, TEAM, File, Message, Refusal, Reply
from tests.doubles.slack_text import mrkdwn, shown, typed
from tests.doubles.slack_web import Desk, cut, html

RESPONSE_USES = 5
RESPONSE_TTL_S = 1800.0


@dataclass
class ResponseUrl:
    delivery: Delivery
    thread_ts: str | None
    expires_at: float
    message: Message | None = None
    uses: int = 0


class People:
    """Acts of people; every method runs on the server's loop."""

    def __init__(self, desk: Desk, courier: Courier) -> None:
        self.desk = desk
        self.workspace = desk.workspace
        self.courier = courier
        self.commands = {"/moot"}
        self.escapes_commands = True
        """`should_escape` of the app's manifest: calls and links in a command are ids."""
        self.response_urls: dict[str, ResponseUrl] = {}

    def writes(
        self,
        user: str,
        channel: str,
        text: str,
        thread: str | None = None,
        *,
        is_raw: bool = False,
        subtype: str | None = None,
        files: tuple[str, ...] = (),
        is_bot: bool = False,
    ) -> Message:
        """Write a message; the text is what was typed, or with `is_raw` what Slack makes of that."""
        workspace = self.workspace
        who, where = workspace.user(user), workspace.channel(channel)
        where.members.add(who.id)
        raw = text if is_raw else self._typed(text)
        thread_ts = None
        if thread is not None:
            parent = workspace.message(thread if "/" in thread else f"{where.id}/{thread}")
            thread_ts = parent.thread_ts or parent.ts
        ts = workspace.new_ts()
        names = {u.id: u.name for u in workspace.users.values()} | {
            c.id: c.name for c in workspace.channels.values()
        }
        attached = [
            File(f"F0{next(workspace.numbers):05d}", name, 100, name, b"x" * 100, True) for name in files
        ]
        message = Message(
            where.id, ts, mrkdwn(raw, names).text, raw, thread_ts, None if is_bot else who.id,
            "B0OTHER" if is_bot else None, subtype or ("file_share" if files else None), who.name, files=attached,
        )  # fmt: skip
        workspace.messages[where.id].append(message)
        event = workspace.as_json(message, with_channel=True)
        kind = "group" if where.is_private else "channel"
        event |= {"event_ts": ts, "channel_type": kind, "client_msg_id": f"msg-{ts}"}
        self.courier.publish(event)
        if f"<@{BOT_USER}" in raw and not is_bot and subtype is None:
            keep = ("user", "text", "ts", "thread_ts", "team", "channel", "event_ts", "blocks", "files")
            self.courier.publish({"type": "app_mention", **{k: event[k] for k in keep if k in event}})
        return message

    def _typed(self, text: str, *, has_names: bool = False) -> str:
        everybody = self.workspace.users.values()
        users = {user.name: f"{user.id}|{user.name}" if has_names else user.id for user in everybody}
        return typed(
            text, users, {c.name: c.id for c in self.workspace.channels.values() if not c.is_deleted}
        )

    def edits(self, message_id: str, text: str) -> None:
        message = self.workspace.message(message_id)
        before = self.workspace.as_json(message)
        message.raw_text, message.text = self._typed(text), text
        message.edited = {"user": message.user or "", "ts": self.workspace.new_ts()}
        changed(self.desk, message, before)

    def unfurls(self, message_id: str) -> None:
        """Attach a link's preview: Slack itself changes the message, nobody edited it."""
        message = self.workspace.message(message_id)
        before = self.workspace.as_json(message)
        message.attachments.append({"from_url": "https://example.org", "title": "Example", "id": 1})
        changed(self.desk, message, before)

    def deletes(self, message_id: str) -> None:
        deleted(self.desk, self.workspace.message(message_id))

    def _person(self, user: str) -> tuple[str, str]:
        who = self.workspace.user(user)
        return who.id, who.name

    def _trigger(self) -> str:
        number = next(self.workspace.numbers)
        return f"{number}.{int(time.time())}.{number:032x}"

    def _response_url(self, delivery: Delivery, thread_ts: str | None, message: Message | None = None) -> str:
        key = f"{next(self.workspace.numbers)}"
        expires_at = time.monotonic() + RESPONSE_TTL_S
        self.response_urls[key] = ResponseUrl(delivery, thread_ts, expires_at, message)
        return f"{self.desk.base_url}/response/{key}"

    def clicks(self, user: str, message_id: str, button: str) -> Delivery:
        """Press a button, named by action_id, block_id or label; also one of a message that is gone from sight.

        Raises:
            LookupError: No such message or button.
        """
        message = self.workspace.message(message_id)
        found = [
            b
            for b in (*message.buttons, *message.removed_buttons)
            if button in (b["action_id"], b["block_id"], b["text"]["text"])
        ]
        if not found:
            raise LookupError(
                f"no button {button!r}; there are {[b['text']['text'] for b in message.buttons]}"
            )
        user_id, user_name = self._person(user)
        channel = self.workspace.channels[message.channel_id]
        trigger = self._trigger()
        action = {k: v for k, v in found[0].items() if k != "style"} | {"action_ts": self.workspace.new_ts()}
        payload: dict[str, Any] = {
            "type": "block_actions", "api_app_id": APP, "token": "verification-token", "trigger_id": trigger,
            "team": {"id": TEAM, "domain": "moot"}, "enterprise": None, "is_enterprise_install": False,
            "user": {"id": user_id, "username": user_name, "name": user_name, "team_id": TEAM},
            "container": {
                "type": "message", "message_ts": message.ts, "channel_id": channel.id, "is_ephemeral": False,
                **({"thread_ts": message.thread_ts} if message.thread_ts else {}),
            },
            "channel": {"id": channel.id, "name": channel.name},
            "message": self.workspace.as_json(message, is_whole=True), "state": {"values": {}}, "actions": [action],
        }  # fmt: skip
        delivery = Delivery("interactive", payload, trigger, user_id, channel.id)
        payload["response_url"] = self._response_url(delivery, message.thread_ts, message)
        self.courier.deliver(delivery)
        return delivery

    def gives_command(self, user: str, channel: str, command: str, text: str) -> Delivery:
        """Give a slash command; the text is as typed.

        Raises:
            LookupError: The app has no such command.
        """
        command = "/" + command.lstrip("/")
        if command not in self.commands:
            raise LookupError(f"{command} is not a valid command; there are {sorted(self.commands)}")
        user_id, user_name = self._person(user)
        where = self.workspace.channel(channel)
        said = self._typed(text, has_names=True) if self.escapes_commands else text
        trigger = self._trigger()
        payload = {
            "token": "verification-token", "team_id": TEAM, "team_domain": "moot", "channel_id": where.id,
            "channel_name": where.name, "user_id": user_id, "user_name": user_name, "command": command,
            "text": said, "api_app_id": APP, "is_enterprise_install": "false", "trigger_id": trigger,
        }  # fmt: skip
        delivery = Delivery("slash_commands", payload, trigger, user_id, where.id)
        payload["response_url"] = self._response_url(delivery, None)
        self.courier.deliver(delivery)
        return delivery

    async def take_response(self, request: web.Request) -> web.StreamResponse:
        """Take a reply by response_url: five of them, for thirty minutes."""
        rule = self.desk.faults.take("response_url")
        if rule and rule.action == "drop_before":
            cut(request)
        if rule and rule.action == "status":
            return html(rule.details.get("status", 503))
        url = self.response_urls.get(request.match_info["key"])
        if url is None or time.monotonic() > url.expires_at:
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if url.uses >= RESPONSE_USES:
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        body = await request.json()
        try:
            reply = self._reply(url, body)
        except Refusal as refusal:
            return web.json_response(refusal.body, status=400)
        url.uses += 1
        if reply is not None:
            url.delivery.replies.append(reply)
        if rule and rule.action == "drop_after":
            cut(request)
        return web.Response(text="ok")

    def _reply(self, url: ResponseUrl, body: dict[str, Any]) -> Reply | None:
        names = {u.id: u.name for u in self.workspace.users.values()}
        if body.get("delete_original") and url.message is not None:
            deleted(self.desk, url.message)
            return None
        text, blocks = str(body.get("text") or ""), check_blocks(body.get("blocks") or [])
        if not text.strip() and not blocks:
            raise Refusal("no_text")
        seen = shown(blocks, names) if blocks else mrkdwn(text, names)
        self.workspace.pings += [f"{ping} in: {seen.text[:200]}" for ping in seen.pings]
        if seen.markup:
            self.workspace.formatted.append(f"{', '.join(seen.markup)} in: {seen.text[:200]}")
        # Without `replace_original: false` an answer to a click that is not ephemeral stands in the message's place.
        is_private = body.get("response_type", "ephemeral") == "ephemeral" and not body.get(
            "replace_original"
        )
        if body.get("replace_original") and url.message is not None:
            before = self.workspace.as_json(url.message)
            url.message.text, url.message.raw_text, url.message.blocks = seen.text, text, blocks
            changed(self.desk, url.message, before)
        return Reply(
            seen.text,
            is_private,
            "response_url",
            url.delivery.user,
            tuple(blocks),
            body.get("thread_ts") or url.thread_ts,
        )

    def replies(self, name: str) -> list[Reply]:
        """Return what a person was told after a message, click or command of theirs, in order."""
        if "/" not in name:
            delivery = self.courier.find(name)
            if delivery is None:
                raise LookupError(f"no interaction {name!r}")
            at = next((a["action_ts"] for a in delivery.payload.get("actions", ())), None)
            private = self._private(delivery.channel_id, delivery.user, at) if at else []
            return [*delivery.replies, *private]
        message = self.workspace.message(name)
        root = message.thread_ts or message.ts
        said = [
            (m.ts, Reply(m.text, False, "message", None, tuple(m.blocks), m.thread_ts))
            for m in self.workspace.messages[message.channel_id]
            if m.is_ours and m.ts > message.ts and m.metadata is None and m.thread_ts in (None, root)
        ]
        told = [
            (ts, reply)
            for channel, ts, reply in self.workspace.ephemerals
            if channel == message.channel_id and reply.user == message.user and ts > message.ts
        ]
        reactions = [
            Reply(f":{emoji}:", False, "reaction")
            for emoji, users in message.reactions.items()
            if BOT_USER in users
        ]
        return reactions + [reply for _, reply in sorted(said + told, key=lambda one: one[0])]

    def _private(self, channel_id: str, user: str, after: str) -> list[Reply]:
        return [
            r for c, ts, r in self.workspace.ephemerals if c == channel_id and r.user == user and ts > after
        ]
