"""Rooms: which Slack channel is which channel of the log.

A room that was found once is remembered by its id, so a channel that is renamed in Slack stays the same room.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from moot.channels.showing.wording import clean
from moot.channels.slack.troubles import SlackSaid, trouble
from moot.channels.slack.web import answer, data_of
from moot.channels.surface import Memory, RateLimited, SurfaceConfigError, SurfaceDown
from moot.protocols.rulebook import rulebook

PAGE: Final = 200
TYPES: Final = "public_channel,private_channel"
LOOK_AGAIN_S: Final = 15.0
"""A channel that is not there is looked for again after this time."""

TO_DO: Final = "run: moot slack setup"


@dataclass(frozen=True, slots=True)
class Room:
    """A channel in Slack.

    Attributes:
        id: Slack's id; it stays when the channel is renamed.
        name: What it is called there, without its `#`.
        is_member: Whether the app is in it.
        is_archived: Whether nobody can write there.
        is_private: Whether only those see it who were invited; the app sees those that it is in.
        topic: What stands above it.
        purpose: What its details say it is for.
    """

    id: str
    name: str
    is_member: bool
    is_archived: bool
    is_private: bool = False
    topic: str = ""
    purpose: str = ""


def slack_name(channel: str, prefix: str) -> str:
    """Return what a channel of the log is called in Slack."""
    return prefix + channel.removeprefix("#").lower()


def purpose_of(channel: str, prefix: str) -> str:
    """Return the purpose by which a renamed channel is known again."""
    return f"Moot mirrors {channel} here ({slack_name(channel, prefix)})."


async def survey(client: AsyncWebClient) -> list[Room]:
    """Return all public channels of the workspace, and the private ones that the app was invited to.

    Raises:
        SlackSaid, SurfaceDown, RateLimited: As `web.answer`.
    """
    found: list[Room] = []
    cursor = ""
    while True:
        page = data_of(await answer(client.conversations_list(limit=PAGE, cursor=cursor, types=TYPES)))
        found += _rooms(page)
        meta = page.get("response_metadata")
        cursor = str(meta.get("next_cursor") or "") if isinstance(meta, Mapping) else ""
        if not cursor:
            return found


def match(rooms: list[Room], channel: str, prefix: str, known_id: str | None = None) -> Room | None:
    """Return the room of a channel: the one known before, else by its name, else by its purpose."""
    name, purpose = slack_name(channel, prefix), purpose_of(channel, prefix)
    for is_it in (
        lambda room: room.id == known_id,
        lambda room: room.name == name,
        lambda room: room.purpose == purpose,
    ):
        if (room := next(filter(is_it, rooms), None)) is not None:
            return room
    return None


class Rooms:
    """The rooms of a society, looked up and joined."""

    def __init__(self, client: AsyncWebClient, prefix: str, memory: Memory) -> None:
        """Know none yet; `find` looks."""
        self._client = client
        self._prefix = prefix
        self._memory = memory
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._looked_at = 0.0
        self._looking = asyncio.Lock()
        self._log = structlog.get_logger()

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Go through (channel of the log, id in Slack)."""
        return iter(tuple(self._ids.items()))

    def channel_of(self, room_id: str) -> str | None:
        """Return which channel of the log a room is; None when it is none."""
        return self._names.get(room_id)

    async def find(self) -> None:
        """Look for the room of every channel, join where the app is not in it, and say what is missing.

        Raises:
            SurfaceConfigError: The token is refused, or may not look.
            SurfaceDown, RateLimited: It cannot be looked now.
        """
        try:
            rooms = await survey(self._client)
        except SlackSaid as said:
            raise trouble(said) from None
        missing = []
        for channel in rulebook().public:
            known = await self._memory.get(f"room/{channel.name}")
            room = match(rooms, channel.name, self._prefix, known)
            if room is None:
                missing.append(f"#{slack_name(channel.name, self._prefix)}")
                self._forget(channel.name)
                continue
            if room.id != known:
                await self._memory.put(f"room/{channel.name}", room.id)
            self._ids[channel.name] = room.id
            self._names[room.id] = channel.name
            if not room.is_member and not room.is_archived:
                await self._try_to_join(channel.name, room)
        self._looked_at = asyncio.get_running_loop().time()
        if missing:
            self._log.warning("slack channels missing", channels=", ".join(missing), to_do=TO_DO)

    async def id_of(self, channel: str) -> str:
        """Return the room of a channel, looking for it once more when none was found.

        Raises:
            SurfaceDown: There is none.
            SurfaceConfigError, RateLimited: As `find`.
        """
        if channel not in self._ids:
            await self.look_again()
        if (room_id := self._ids.get(channel)) is not None:
            return room_id
        there = f"#{slack_name(clean(channel, 80), self._prefix)}"
        raise SurfaceDown(f"{there} is not in Slack; {TO_DO}", maybe_posted=False, everywhere=False)

    async def look_again(self) -> None:
        """Look anew, unless that was done a moment ago."""
        async with self._looking:
            if asyncio.get_running_loop().time() - self._looked_at > LOOK_AGAIN_S:
                await self.find()

    async def join(self, channel: str) -> bool:
        """Join the room of a channel; False when Slack does not let us."""
        try:
            await answer(self._client.conversations_join(channel=self._ids[channel]))
        except SlackSaid:
            return False
        return True

    def _forget(self, channel: str) -> None:
        if (room_id := self._ids.pop(channel, None)) is not None:
            self._names.pop(room_id, None)

    async def _try_to_join(self, channel: str, room: Room) -> None:
        try:
            await answer(self._client.conversations_join(channel=room.id))
        except SlackSaid as said:
            found = trouble(said, where=f"#{room.name}")
            if isinstance(found, SurfaceConfigError):
                raise found from None
            self._log.warning("slack channel not joined", channel=channel, why=str(found))
        except (SurfaceDown, RateLimited) as exc:
            self._log.warning("slack channel not joined", channel=channel, why=str(exc))


def _rooms(page: Mapping[str, Any]) -> Iterator[Room]:
    channels = page.get("channels")
    for raw in channels if isinstance(channels, list) else ():
        if isinstance(raw, Mapping) and isinstance(raw.get("id"), str):
            yield Room(
                id=raw["id"],
                name=str(raw.get("name") or ""),
                is_member=raw.get("is_member") is True,
                is_archived=raw.get("is_archived") is True,
                is_private=raw.get("is_private") is True,
                topic=_value(raw.get("topic")),
                purpose=_value(raw.get("purpose")),
            )


def _value(raw: object) -> str:
    return str(raw.get("value") or "") if isinstance(raw, Mapping) else ""
