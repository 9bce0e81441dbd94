"""What the fake Slack workspace knows: people, channels, messages, files, tokens, and its clock.

Every change happens on the server's own loop; the state survives `stop`, `start` and `restart`.
"""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import dataclass, field
from typing import Any

TEAM = "T0MOOT"
APP = "A0MOOT"
BOT_USER = "U0MOOTBOT"
BOT = "B0MOOT"
BOT_NAME = "moot"
USER_ID = re.compile(r"[UW][A-Z0-9]{4,}")
BOT_SCOPES = (
    "app_mentions:read", "channels:history", "channels:join", "channels:manage", "channels:read", "chat:write",
    "chat:write.customize", "commands", "files:read", "files:write", "groups:history", "groups:read",
    "reactions:write", "users:read",
)  # fmt: skip


class Refusal(Exception):
    """An answer `{"ok": false, "error": …}` with what else stands in it."""

    def __init__(self, error: str, messages: list[str] | None = None, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.body = {"ok": False, "error": error, **more}
        if messages:
            self.body["errors"] = [m.removeprefix("[ERROR] ") for m in messages]
            self.body["response_metadata"] = {"messages": messages}


@dataclass
class User:
    id: str
    name: str
    is_bot: bool = False
    deleted: bool = False


@dataclass
class Channel:
    id: str
    name: str
    is_private: bool = False
    is_archived: bool = False
    is_deleted: bool = False
    is_read_only: bool = False
    members: set[str] = field(default_factory=set)
    topic: str = ""
    purpose: str = ""


@dataclass
class File:
    id: str
    name: str
    length: int
    title: str = ""
    content: bytes | None = None
    is_complete: bool = False
    shared_in: list[str] = field(default_factory=list)


@dataclass
class Message:
    """A message as the workspace keeps it.

    Attributes:
        text: What a person sees.
        raw_text: The `text` argument as it came.
    """

    channel_id: str
    ts: str
    text: str
    raw_text: str
    thread_ts: str | None = None
    user: str | None = None
    bot_id: str | None = None
    subtype: str | None = None
    author_name: str = ""
    icon_emoji: str | None = None
    icon_url: str | None = None
    blocks: list[dict[str, Any]] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, Any] | None = None
    files: list[File] = field(default_factory=list)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    edited: dict[str, str] | None = None
    removed_buttons: list[dict[str, Any]] = field(default_factory=list)
    is_deleted: bool = False
    payload_file: File | None = None

    @property
    def id(self) -> str:
        """Return the message's name in this handle: `<channel id>/<ts>`."""
        return f"{self.channel_id}/{self.ts}"

    @property
    def is_ours(self) -> bool:
        return self.bot_id == BOT

    @property
    def nonce(self) -> str | None:
        payload = (self.metadata or {}).get("event_payload")
        return payload.get("nonce") if isinstance(payload, dict) else None

    @property
    def payload(self) -> str | None:
        """Return the typed JSON that travels along: in the metadata, or in the file that it names."""
        payload = (self.metadata or {}).get("event_payload") or {}
        if "messages" in payload:
            return str(payload["messages"])
        content = self.payload_file.content if self.payload_file is not None else None
        return content.decode() if content is not None else None

    @property
    def buttons(self) -> list[dict[str, Any]]:
        """Return every button of the message, in order; the one of a block has its `block_id` beside it."""
        found = []
        for block in self.blocks:
            for element in (*block.get("elements", ()), block.get("accessory")):
                if isinstance(element, dict) and element.get("type") == "button":
                    found.append({"block_id": block.get("block_id", ""), **element})
        return found


@dataclass(frozen=True)
class Reply:
    """What a person was told.

    Attributes:
        kind: `ephemeral`, `response_url`, `ack`, `message` (in the channel or thread), `reaction`, or `slack` (a
            word of Slack's own, such as `operation_timeout`).
    """

    text: str
    is_ephemeral: bool
    kind: str
    user: str | None = None
    blocks: tuple[dict[str, Any], ...] = ()
    thread_ts: str | None = None


@dataclass(frozen=True)
class Call:
    """A request that came in; `method` is the Web API method, `upload`, `response_url` or `socket`."""

    method: str
    verb: str
    path: str
    status: int
    error: str | None
    at: float
    args: dict[str, Any]


@dataclass
class Token:
    scopes: set[str]
    state: str = "active"
    """`active`, or the error that it earns: `token_revoked`, `account_inactive`, `token_expired`, `invalid_auth`."""


class Workspace:
    """The workspace of one fake server."""

    def __init__(self) -> None:
        self.users: dict[str, User] = {BOT_USER: User(BOT_USER, BOT_NAME, is_bot=True)}
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, list[Message]] = {}
        self.ephemerals: list[tuple[str, str, Reply]] = []
        """(channel id, ts, reply)."""
        self.files: dict[str, File] = {}
        self.tokens: dict[str, Token] = {}
        self.pings: list[str] = []
        self.formatted: list[str] = []
        self.oddities: list[str] = []
        self.numbers = itertools.count(1)
        self.ahead_s = 0.0
        """How far the workspace's clock is ahead of this machine's."""
        self._last_ts = 0.0

    def new_ts(self) -> str:
        """Return a timestamp that nothing else has, later than all before."""
        now = max(round(time.time() + self.ahead_s, 6), self._last_ts + 0.0001)
        self._last_ts = now
        return f"{now:.6f}"

    def user(self, name: str) -> User:
        """Find a person by id or name; a new name is a new person."""
        for user in self.users.values():
            if name in (user.id, user.name):
                return user
        is_id = USER_ID.fullmatch(name) is not None
        user_id = name if is_id else "U0" + re.sub(r"[^A-Z0-9]", "0", name.upper())
        return self.users.setdefault(user_id, User(user_id, name.lower() if is_id else name))

    def add_channel(self, name: str, *, is_private: bool = False, members: tuple[str, ...] = ()) -> Channel:
        channel = Channel(f"C0{next(self.numbers):05d}", name.lstrip("#"), is_private, members=set(members))
        self.channels[channel.id] = channel
        self.messages[channel.id] = []
        return channel

    def channel(self, name: str) -> Channel:
        """Find a channel that is there by id or name.

        Raises:
            LookupError: There is none.
        """
        for channel in self.channels.values():
            if name.lstrip("#") in (channel.id, channel.name) and not channel.is_deleted:
                return channel
        raise LookupError(f"no channel {name!r}; there are {[c.name for c in self.channels.values()]}")

    def message(self, message_id: str) -> Message:
        """Find a message by `<channel id>/<ts>`, also a deleted one.

        Raises:
            LookupError: There is none.
        """
        channel, _, ts = message_id.partition("/")
        for message in self.messages.get(channel, ()):
            if message.ts == ts:
                return message
        raise LookupError(f"no message {message_id!r}")

    def at(self, channel_id: str, ts: str) -> Message | None:
        """Find a message that is there."""
        found = (m for m in self.messages.get(channel_id, ()) if m.ts == ts and not m.is_deleted)
        return next(found, None)

    def replies(self, parent: Message) -> list[Message]:
        here = self.messages[parent.channel_id]
        return [m for m in here if m.thread_ts == parent.ts and m.ts != parent.ts and not m.is_deleted]

    def as_json(
        self, message: Message, *, is_whole: bool = False, with_channel: bool = False
    ) -> dict[str, Any]:
        """Write a message as history and events show it; `is_whole`: with the metadata's payload."""
        body: dict[str, Any] = {"type": "message", "ts": message.ts, "text": message.raw_text, "team": TEAM}
        if message.user is not None:
            body["user"] = message.user
        if message.bot_id is not None:
            body |= {"bot_id": message.bot_id, "app_id": APP}
        if message.subtype == "bot_message":
            body |= {"subtype": "bot_message", "username": message.author_name}
            icons = {"emoji": message.icon_emoji, "image_48": message.icon_url}
            body["icons"] = {key: value for key, value in icons.items() if value}
        elif message.bot_id is not None:
            body["bot_profile"] = {"id": message.bot_id, "app_id": APP, "name": BOT_NAME, "deleted": False}
        elif message.subtype is not None:
            body["subtype"] = message.subtype
        if message.thread_ts is not None:
            body["thread_ts"] = message.thread_ts
            parent = self.at(message.channel_id, message.thread_ts)
            if parent is not None and parent.user and parent is not message:
                body["parent_user_id"] = parent.user
        for name in ("blocks", "attachments", "edited"):
            if value := getattr(message, name):
                body[name] = value
        if message.files:
            body["files"] = [
                {"id": f.id, "name": f.name, "title": f.title, "size": f.length} for f in message.files
            ]
            body["upload"] = True
        if message.reactions:
            body["reactions"] = [
                {"name": name, "users": users, "count": len(users)}
                for name, users in message.reactions.items()
            ]
        if message.metadata is not None:
            kept = message.metadata if is_whole else {"event_type": message.metadata["event_type"]}
            body["metadata"] = kept
        if (answers := self.replies(message)) and message.thread_ts in (None, message.ts):
            body |= {
                "thread_ts": message.ts,
                "reply_count": len(answers),
                "reply_users": sorted({m.user or m.bot_id or "" for m in answers}),
                "latest_reply": answers[-1].ts,
            }
        if with_channel:
            body["channel"] = message.channel_id
        return body
