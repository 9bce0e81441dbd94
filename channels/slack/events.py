"""What came in from Slack, as an act and where its answer goes. Pure: any JSON gives something heard, or None.

Only people are heard: our own messages, other apps' and Slackbot's are passed over (K21).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from moot.channels.chat.commands import commands
from moot.channels.chat.words import ONLY_EMOJI, is_only_emoji
from moot.channels.inbound import ADMIN_CHANNEL
from moot.channels.slack.identity import Me
from moot.channels.slack.rendering import read_action_id
from moot.channels.surface import InboundAct, PlatformMessageId

ChannelOf = Callable[[str], str | None]
"""From a room's id to the channel of the log that it mirrors."""

SPOKEN: Final = frozenset({"", "file_share", "me_message", "thread_broadcast"})
"""Subtypes of a message that are a person's words; the others are Slack's own remarks."""

SLACKBOT: Final = "USLACKBOT"
EDITED: Final = "The log keeps what was first said here; say it anew to change it."
NO_WORDS: Final = "Files are not taken in; say it in words."

_TS: Final = re.compile(r"[0-9]{1,12}\.[0-9]{1,8}")
_MENTION: Final = re.compile(r"\s*<@([A-Z0-9]{1,30})(?:\|[^>]*)?>[\s:,]*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Where:
    """Where a person is answered.

    Attributes:
        room: Slack's id of the channel.
        user: Slack's id of the person.
        ts: The message they wrote; "" for a button or a command.
        thread_ts: The thread it happened in, "" outside any.
        response_url: Where Slack takes the answer to a button or a command.
    """

    room: str
    user: str
    ts: str = ""
    thread_ts: str = ""
    response_url: str = ""


@dataclass(frozen=True, slots=True)
class Heard:
    """Something a person did.

    Attributes:
        key: The same at every redelivery, and nobody else's.
        where: Where they are answered.
        channel: The log's channel.
        kind: Of the act: `command`, `ack` or `answer`; "" where there is none and `say` is all.
        fields: Of the act; a message's `text` is still in Slack's writing.
        user_name: As far as it is known.
        reply_to: Platform id of what it was said under.
        say: What the person is told without asking the society.
    """

    key: str
    where: Where
    channel: str
    kind: str = ""
    fields: Mapping[str, Any] | None = None
    user_name: str = ""
    reply_to: str | None = None
    say: str = ""

    def act(self, platform: str, text: str | None, user_name: str) -> InboundAct:
        """Return the act, with its text made plain."""
        fields = dict(self.fields or {})
        if self.kind == "command":
            fields["text"] = text
        return InboundAct(
            platform=platform,
            user_id=self.where.user,
            user_name=user_name,
            platform_message_id=self.key,
            channel=self.channel,
            kind=self.kind,
            fields=fields,
            reply_to=None if self.reply_to is None else PlatformMessageId(self.reply_to),
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read what `as_json` gave."""
        return cls(**{**raw, "where": Where(**raw["where"])})


def hear(body: Mapping[str, Any], me: Me, channel_of: ChannelOf) -> Heard | None:
    """Understand what Slack delivered, over either way in.

    Args:
        body: A payload: an event, a command or an interaction; anything else is None.
        me: Who we are.
        channel_of: Which rooms are mirrored.
    """
    if _text(body, "type") == "block_actions":
        return _press(body, channel_of)
    if _text(body, "command"):
        return _command(body, channel_of)
    event = body.get("event")
    if not isinstance(event, Mapping):
        return None
    room = _text(event, "channel")
    match _text(event, "type"), _text(event, "subtype"):
        case "app_mention", _:
            return hear_message(event, room, me, channel_of(room), is_mention=True)
        case "message", "message_changed":
            return _edit(event, room, me, channel_of(room))
        case "message", _:
            return hear_message(event, room, me, channel_of(room))
    return None


def hear_message(
    message: Mapping[str, Any], room: str, me: Me, channel: str | None, *, is_mention: bool = False
) -> Heard | None:
    """Understand a message, delivered or read from history.

    Args:
        message: As Slack writes it.
        room: Where it stands.
        me: Who we are.
        channel: The log's channel; None: not mirrored, where only a mention is heard.
        is_mention: Whether Slack says that we were mentioned.
    """
    ts, user, said = _text(message, "ts"), _text(message, "user"), _text(message, "text").strip()
    if not room or not _TS.fullmatch(ts) or not _is_person(message, me):
        return None
    if _text(message, "subtype") not in SPOKEN or (channel is None and not is_mention):
        return None
    thread = _text(message, "thread_ts")
    thread = thread if _TS.fullmatch(thread) and thread != ts else ""
    where = Where(room, user, ts, thread)
    key = f"{room}/{ts}"
    if not said:
        is_file = bool(message.get("files"))
        return Heard(key, where, channel or ADMIN_CHANNEL, say=NO_WORDS) if is_file else None
    if is_only_emoji(said):
        return Heard(key, where, channel or ADMIN_CHANNEL, say=ONLY_EMOJI)
    return Heard(
        key,
        where,
        channel or ADMIN_CHANNEL,
        "command",
        {"text": _addressed(said, me, is_mirrored=channel is not None)},
        reply_to=f"{room}/{thread}" if thread and channel is not None else None,
    )


def unescape(text: str) -> str:
    """Turn Slack's three entities back into signs."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def is_ours(message: Mapping[str, Any], me: Me) -> bool:
    """Say whether we wrote a message."""
    # A post under a role's name has no user, and a file that was shared has perhaps no bot.
    return _text(message, "bot_id") == me.bot_id or _text(message, "user") == me.user_id


def order(ts: str) -> tuple[int, int]:
    """Return by what Slack's timestamps are ordered."""
    whole, _, rest = ts.partition(".")
    return (int(whole), int(rest.ljust(8, "0"))) if _TS.fullmatch(ts) else (0, 0)


def _addressed(said: str, me: Me, *, is_mirrored: bool) -> str:
    """Turn `@moot status` into `/status`; what is said to us elsewhere is always a command."""
    found = _MENTION.fullmatch(said)
    if found is None or found[1] != me.user_id:
        return said if is_mirrored else "/help"
    rest = found[2].strip()
    first = rest.split(None, 1)[0].lower() if rest else ""
    if not rest:
        return "/help"
    if rest.startswith("/"):
        return rest
    is_command = any(command.name == first for command in commands())
    return f"/{rest}" if is_command or not is_mirrored else rest


def _edit(event: Mapping[str, Any], room: str, me: Me, channel: str | None) -> Heard | None:
    message, before = event.get("message"), event.get("previous_message")
    if channel is None or not isinstance(message, Mapping) or not isinstance(before, Mapping):
        return None
    ts, user = _text(message, "ts"), _text(message, "user")
    # Slack also tells so of a link that it unfolds, and of a parent that is deleted.
    is_same = _text(message, "text") == _text(before, "text")
    if is_same or not user or _text(message, "bot_id") or not _TS.fullmatch(ts):
        return None
    if user in (me.user_id, SLACKBOT) or _text(message, "subtype") not in SPOKEN:
        return None
    edited = message.get("edited")
    at = _text(edited, "ts") if isinstance(edited, Mapping) else _text(event, "ts")
    thread = _text(message, "thread_ts")
    where = Where(room, user, ts, thread if _TS.fullmatch(thread) and thread != ts else "")
    return Heard(f"edit/{room}/{ts}/{at}", where, channel, say=EDITED)


def _command(body: Mapping[str, Any], channel_of: ChannelOf) -> Heard | None:
    trigger, user, room = _text(body, "trigger_id"), _text(body, "user_id"), _text(body, "channel_id")
    if not trigger or not user:
        return None
    # Typed as it stands, but for the three signs that Slack writes as entities.
    said = unescape(_text(body, "text")).strip()
    return Heard(
        f"trigger/{trigger}",
        Where(room, user, response_url=_text(body, "response_url")),
        channel_of(room) or ADMIN_CHANNEL,
        "command",
        {"text": f"/{said.removeprefix('/')}" if said else "/help"},
        _text(body, "user_name"),
    )


def _press(body: Mapping[str, Any], channel_of: ChannelOf) -> Heard | None:
    actions, user = body.get("actions"), _part(body, "user")
    action = actions[0] if isinstance(actions, list) and actions else None
    if not isinstance(action, Mapping):
        return None
    press = read_action_id(_text(action, "action_id")) or read_action_id(_text(action, "value"))
    trigger, user_id = _text(body, "trigger_id"), _text(user, "id")
    if press is None or not trigger or not user_id:
        return None
    container, message = _part(body, "container"), _part(body, "message")
    room = _text(_part(body, "channel"), "id") or _text(container, "channel_id")
    ts = _text(container, "message_ts") or _text(message, "ts")
    thread = _text(container, "thread_ts") or _text(message, "thread_ts")
    return Heard(
        f"trigger/{trigger}",
        Where(room, user_id, thread_ts=thread, response_url=_text(body, "response_url")),
        channel_of(room) or ADMIN_CHANNEL,
        press.kind,
        dict(press.fields),
        _text(user, "username") or _text(user, "name"),
        f"{room}/{ts}" if room and ts else None,
    )


def _is_person(message: Mapping[str, Any], me: Me) -> bool:
    user = _text(message, "user")
    return bool(user) and user not in (me.user_id, SLACKBOT) and not _text(message, "bot_id")


def _part(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = raw.get(name)
    return value if isinstance(value, Mapping) else {}


def _text(raw: Mapping[str, Any], name: str) -> str:
    value = raw.get(name)
    return value if isinstance(value, str) else ""
