"""What people do and see at the Discord double: they write, edit, delete, click, command, and read what came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.doubles import discord_text as texts
from tests.doubles.discord_interactions import COMMAND, COMPONENT, create
from tests.doubles.discord_posting import make_message
from tests.doubles.discord_rights import PERMISSIONS
from tests.doubles.discord_state import EPHEMERAL, LOADING, STARTER, TEXT, THREAD_MADE, THREADS, World, iso

Json = dict[str, Any]

TYPED_MOST = 4000
"""What a person may type at most (2,000 without a subscription); Discord's app sends more as `message.txt`."""


@dataclass(frozen=True)
class Message:
    """A message as a person sees it.

    Attributes:
        thread_id: Id of the thread it stands in, None at the top of its channel.
        text: Content, then embeds, with markup resolved.
        payload: Bytes of the attached `payload.json`, None without one.
        components: Buttons and selects, flat.
        raw: The whole JSON object.
    """

    id: str
    channel_id: str
    thread_id: str | None
    thread_name: str | None
    author_id: str
    author_name: str
    avatar_url: str | None
    text: str
    payload: bytes | None
    files: dict[str, bytes]
    components: list[Json]
    nonce: str | None
    is_edited: bool
    reply_to: str | None
    reactions: list[str]
    raw: Json


@dataclass(frozen=True)
class Reply:
    """What a person was told."""

    text: str
    is_ephemeral: bool = False
    is_reaction: bool = False
    components: tuple[str, ...] = ()


class People:
    """The people's hands and eyes; called on the server's loop."""

    def __init__(self, world: World, base: Callable[[], str]) -> None:
        self.world = world
        self.base = base

    def channel(self, name_or_id: str) -> Json:
        """Return a text channel by name, or a channel or thread by id."""
        wanted = name_or_id.removeprefix("#")
        if wanted in self.world.channels:
            return self.world.channels[wanted]
        found = [
            item for item in self.world.channels.values() if item["name"] == wanted and item["type"] == TEXT
        ]
        if not found:
            raise LookupError(
                f"no channel {name_or_id!r}; there are {[c['name'] for c in self.world.channels.values()]}"
            )
        return found[0]

    def writes(
        self,
        user: str,
        channel: str,
        text: str,
        reply_to: str | None,
        thread: str | None,
        files: dict[str, bytes] | None,
    ) -> str:
        world = self.world
        where = self.channel(thread or channel)
        who = world.add_user(user)
        if where.get("thread_metadata", {}).get("archived"):
            world.set_archived(where, False)
        body: Json = {"content": text}
        if reply_to is not None:
            body["message_reference"] = {"message_id": reply_to}
        sent = {f"files[{number}]": item for number, item in enumerate((files or {}).items())}
        if len(text) > TYPED_MOST:
            sent["files[9]"] = ("message.txt", text.encode())
            text = ""
        made = make_message(
            world, where["id"], who, {**body, "content": text[:2000] or "."}, sent, base=self.base()
        )
        made["content"] = text
        world.keep(made)
        return str(made["id"])

    def edits(self, id: str, text: str) -> None:
        message = self.world.messages[id]
        message["content"] = text
        message["edited_timestamp"] = iso(self.world.clock.now())
        self.world.tell_message("MESSAGE_UPDATE", message)

    def unfurls(self, id: str) -> None:
        """Let Discord add a preview of a link: an update of the message that nobody made."""
        message = self.world.messages[id]
        message["embeds"].append({"type": "link", "url": "https://example.org", "title": "Example"})
        self.world.tell_message("MESSAGE_UPDATE", message)

    def deletes(self, id: str) -> None:
        self.world.remove_message(self.world.messages[id])

    def clicks(self, user: str, message_id: str, button: str) -> str:
        world = self.world
        message = world.messages.get(message_id) or world.hidden[message_id]
        items = [item for row in message["components"] for item in row["components"]]
        items += world.removed_buttons.get(message_id, [])
        wanted = [item for item in items if button in (item.get("custom_id"), item.get("label"))]
        if not wanted:
            raise LookupError(f"no button {button!r}; there are {[item.get('label') for item in items]}")
        if wanted[0].get("disabled"):
            raise LookupError(f"button {button!r} is greyed out")
        data = {"component_type": 2, "custom_id": wanted[0]["custom_id"], "id": 1}
        where = message["channel_id"]
        return create(
            world, kind=COMPONENT, user=world.add_user(user), channel_id=where, data=data, message=message
        ).id

    def commands(self, user: str, channel: str, name: str, options: dict[str, Any]) -> str:
        world = self.world
        known = [item for scope in (world.guild_id, None) for item in world.commands.get(scope, [])]
        command = next((item for item in known if item["name"] == name), None)
        if command is None:
            raise LookupError(f"no command /{name}; there are {[item['name'] for item in known]}")
        kinds = {item["name"]: item for item in command["options"]}
        for option in kinds.values():
            if option.get("required") and option["name"] not in options:
                raise LookupError(f"/{name} needs {option['name']}")
        given = []
        for key, value in options.items():
            if key not in kinds:
                raise LookupError(f"/{name} has no option {key}")
            longest = kinds[key].get("max_length") or 6000
            if isinstance(value, str) and len(value) > longest:
                raise LookupError(f"/{name} {key} takes at most {longest} characters")
            given.append({"name": key, "type": kinds[key]["type"], "value": value})
        data = {"id": command["id"], "name": name, "type": 1, "options": given}
        if command.get("guild_id"):
            data["guild_id"] = command["guild_id"]
        where = self.channel(channel)["id"]
        needed = ("VIEW_CHANNEL", "SEND_MESSAGES", "USE_APPLICATION_COMMANDS")
        may = world.permissions(world.add_user(user), where)
        if lacking := [right for right in needed if not may & PERMISSIONS[right]]:
            # discord-api-docs #2696, #3801: without Send Messages nobody can use a command there.
            raise PermissionError(f"{user} lacks {', '.join(lacking)} in {channel}")
        return create(
            world, kind=COMMAND, user=world.add_user(user), channel_id=where, data=data, message=None
        ).id

    # eyes

    def messages(self, channel: str | None) -> list[Message]:
        world = self.world
        if channel is None:
            ids = list(world.channels)
        else:
            top = self.channel(channel)
            ids = [top["id"]] + [
                item["id"] for item in world.channels.values() if item["parent_id"] == top["id"]
            ]
        found = [message for id in ids for message in world.history(id)]
        found = [message for message in found if message["type"] not in (STARTER, THREAD_MADE)]
        return [self.read(message) for message in sorted(found, key=lambda one: int(one["id"]))]

    def read(self, message: Json) -> Message:
        world = self.world
        channel = world.channels[message["channel_id"]]
        is_in_thread = channel["type"] in THREADS
        files = {}
        for item in message["attachments"]:
            files[item["filename"]] = world.files["/attachments/" + item["url"].split("/attachments/")[1]][1]
        return Message(
            id=message["id"], channel_id=message["channel_id"], thread_id=channel["id"] if is_in_thread else None,
            thread_name=channel["name"] if is_in_thread else None,
            author_id=message["author"]["id"],
            author_name=message["author"]["global_name"] or message["author"]["username"],
            avatar_url=message.get("_avatar_url"), text=texts.message_text(message),
            payload=files.get("payload.json"), files=files,
            components=[item for row in message["components"] for item in row["components"]],
            nonce=message.get("nonce"), is_edited=message["edited_timestamp"] is not None,
            reply_to=(message.get("message_reference") or {}).get("message_id"),
            reactions=list(message.get("_reacted", {})), raw=message,
        )  # fmt: skip

    def replies(self, id: str) -> list[Reply]:
        """Return what came back to an interaction, or to a message: replies and reactions of the bot."""
        world = self.world
        if id in world.interactions:
            said = [one for one in world.interactions[id].replies if not one["flags"] & LOADING]
            return [self._reply(one) for one in said]
        found = [
            self._reply(message)
            for message in world.messages.values()
            if (message.get("message_reference") or {}).get("message_id") == id and message["type"] != STARTER
        ]
        reacted = world.messages[id].get("_reacted", {}) if id in world.messages else {}
        return found + [Reply(sign, is_reaction=True) for sign, by in reacted.items() if by]

    def _reply(self, message: Json) -> Reply:
        labels = [item.get("label", "") for row in message["components"] for item in row["components"]]
        text = texts.message_text(message)
        return Reply(text, is_ephemeral=bool(message["flags"] & EPHEMERAL), components=tuple(labels))

    def formatted(self) -> list[tuple[str, str]]:
        """Return every bit of text by bots in which markup took effect, as (kind, source)."""
        marks: texts.Marks = []
        for message in (*self.world.messages.values(), *self.world.hidden.values()):
            if message["author"].get("bot"):
                texts.message_text(message, marks)
        return marks
