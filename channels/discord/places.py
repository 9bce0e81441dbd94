"""Places: the log's channels in the guild, and the webhooks that roles speak through.

A channel is found by its webhook, whose id is remembered, so a renamed channel stays what it is; where none is
remembered, by what the webhook's name says, or by the name of the channel that it stands in. What the guild looks like
is the library's cache, which follows every change.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from moot.channels.discord.connection import Connection
from moot.channels.discord.library import discord
from moot.channels.discord.options import Options
from moot.channels.discord.troubles import SETUP, renamed
from moot.channels.surface import Memory, SurfaceDown
from moot.protocols.rulebook import rulebook

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

_KEY: Final = "webhook/"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a channel of the log is posted to.

    Attributes:
        channel_id: The text channel.
        webhook_id: Its webhook.
        webhook_token: The webhook's secret.
    """

    channel_id: int
    webhook_id: int
    webhook_token: str

    def __repr__(self) -> str:
        """Show all but the secret."""
        return f"Place(channel_id={self.channel_id}, webhook_id={self.webhook_id})"


@dataclass(frozen=True, slots=True)
class Home:
    """Where in the log something was said.

    Attributes:
        channel: The log's channel.
        root: Platform id of the thread's first message; None outside threads.
    """

    channel: str
    root: str | None = None


class Places:
    """The places of one guild."""

    def __init__(self, client: Connection, options: Options, memory: Memory) -> None:
        """Know nothing yet; `learn` asks.

        Args:
            client: Connected.
            options: Which server, and the names in it.
            memory: Keeps which webhook serves which channel.
        """
        self._memory = memory
        self._client = client
        self._options = options
        self._places: dict[str, Place] = {}
        self._made: set[int] = set()
        self._ids: Mapping[str, int] = {}
        self._parents: dict[int, int] = {}
        self._making: dict[str, asyncio.Lock] = {}

    async def learn(self) -> None:
        """Read the webhooks; a guild that does not show them is posted to where each channel shows its own.

        Raises:
            SurfaceDown, RateLimited: Not now, or not permitted.
        """
        with renamed("see the webhooks"):
            hooks = await self._client.http.guild_webhooks(self._options.guild_id)
        kept = await self._memory.under(_KEY)
        known = {id: key.removeprefix(_KEY) for key, id in kept.items()}
        self._places = own_places(
            hooks, self._options, self._client.application_id or 0, known=known, rooms=self._rooms()
        )
        for channel, place in self._places.items():
            await self._keep(channel, place)
        self._made.update(place.webhook_id for place in self._places.values())

    def is_own(self, message: Mapping[str, Any]) -> bool:
        """Say whether a message was posted by us, through any webhook that we ever had."""
        hook = message.get("webhook_id")
        own = str(self._client.application_id)
        return hook is not None and (str(message.get("application_id")) == own or int(hook) in self._made)

    async def place(self, channel: str) -> Place:
        """Return where a channel is posted to; a webhook is made where there is none.

        Raises:
            SurfaceDown: There is no such channel, or no webhook can be made; says what to do.
            RateLimited: Not now.
        """
        found = self._places.get(channel)
        if found is not None:
            return found
        async with self._making.setdefault(channel, asyncio.Lock()):
            if channel not in self._places:
                self._places[channel] = await self._make(channel)
                await self._keep(channel, self._places[channel])
            return self._places[channel]

    def forget(self, channel: str, place: Place) -> None:
        """Drop a place whose webhook is gone; the next look makes a new one."""
        if self._places.get(channel) == place:
            del self._places[channel]

    @property
    def guild_id(self) -> int:
        """Return the server's id."""
        return self._options.guild_id

    def channel_ids(self) -> Mapping[str, int]:
        """Return the text channels of the log's channels, by the log's name; those that are missing are not in it."""
        guild = self._client.get_guild(self._options.guild_id)
        # At the start of a session the library knows nothing for a moment; the channels are where they were.
        if guild is not None and not guild.unavailable:
            ids = {name: one.id for name, one in self._named(guild).items()}
            for name, place in self._places.items():
                if guild.get_channel(place.channel_id) is not None:
                    ids[name] = place.channel_id
            self._ids = ids
        return self._ids

    def home(self, channel_id: int | None) -> Home | None:
        """Say which channel of the log a channel or thread belongs to; None when to none."""
        names = {id: name for name, id in self.channel_ids().items()}
        if channel_id in names:
            return Home(names[channel_id])
        parent = self._parent(channel_id)
        if channel_id is None or parent not in names:
            return None
        return Home(names[parent], f"{parent}/{channel_id}")

    def newest(self, channel_id: int) -> int:
        """Return the id of the last message of a channel and its open threads, of the channel where there is none."""
        guild = self._client.get_guild(self._options.guild_id)
        channel = guild.get_channel(channel_id) if guild is not None else None
        if not isinstance(channel, discord.TextChannel):
            return channel_id
        ids = [channel_id, channel.last_message_id, *(thread.last_message_id for thread in channel.threads)]
        return max(id for id in ids if id is not None)

    def names(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return the names of the guild's roles and of its channels, by id."""
        guild = self._client.get_guild(self._options.guild_id)
        if guild is None:
            return {}, {}
        places = [*guild.channels, *guild.threads]
        return {str(one.id): one.name for one in guild.roles}, {str(one.id): one.name for one in places}

    def note_thread(self, thread_id: int, parent_id: int) -> None:
        """Remember whose thread it is; the library's cache knows open ones only."""
        self._parents[thread_id] = parent_id
        while len(self._parents) > 10_000:
            del self._parents[next(iter(self._parents))]

    def _parent(self, thread_id: int | None) -> int | None:
        guild = self._client.get_guild(self._options.guild_id)
        if guild is None or thread_id is None:
            return None
        thread = guild.get_thread(thread_id)
        return thread.parent_id if thread is not None else self._parents.get(thread_id)

    def _named(self, guild: discord.Guild) -> dict[str, discord.TextChannel]:
        names = {self._options.name_of(one.name): one.name for one in rulebook().public}
        found: dict[str, discord.TextChannel] = {}
        for one in guild.text_channels:
            channel = names.get(one.name)
            if channel is None:
                continue
            is_at_home = one.category is not None and one.category.name == self._options.category
            if is_at_home or channel not in found:
                found[channel] = one
        return found

    def _rooms(self) -> dict[str, str]:
        guild = self._client.get_guild(self._options.guild_id)
        return {} if guild is None else {str(one.id): name for name, one in self._named(guild).items()}

    async def _keep(self, channel: str, place: Place) -> None:
        await self._memory.put(_KEY + channel, str(place.webhook_id))

    async def _make(self, channel: str) -> Place:
        guild = self._client.get_guild(self._options.guild_id)
        text = self._named(guild).get(channel) if guild is not None else None
        shown = self._options.name_of(channel)
        if text is None:
            why = f"the server has no channel #{shown} that Moot can see; run: moot discord setup"
            raise SurfaceDown(why, maybe_posted=False, everywhere=False)
        with renamed(f"see the webhooks of #{shown}"):
            hooks: Sequence[Any] = await self._client.http.channel_webhooks(text.id)
        found = own_places(
            hooks, self._options, self._client.application_id or 0, rooms={str(text.id): channel}
        )
        if (there := found.get(channel)) is not None and there.channel_id == text.id:
            self._made.add(there.webhook_id)
            return there
        with renamed(f"make a webhook in #{shown}"):
            made: Any = await self._client.http.create_webhook(
                text.id, name=self._options.webhook_of(channel)
            )
        if not isinstance(made, Mapping) or not made.get("token"):
            raise SurfaceDown(f"#{shown}: Discord made a webhook without a token; {SETUP}", everywhere=False)
        self._made.add(int(made["id"]))
        return Place(text.id, int(made["id"]), str(made["token"]))


def own_places(
    hooks: Iterable[Mapping[str, Any]],
    options: Options,
    application_id: int,
    *,
    known: Mapping[str, str] = NOTHING,
    rooms: Mapping[str, str] = NOTHING,
) -> dict[str, Place]:
    """Return the places of our own webhooks, by the log's channel.

    One that is known by its id comes before one whose name fits, and that before one that merely stands in the
    channel; of several, the oldest counts.

    Args:
        hooks: As the API gives them.
        options: The names in the server.
        application_id: Whose webhooks are ours.
        known: From the id of a webhook to the log's channel that it serves.
        rooms: From the id of a text channel to the log's channel by its name.
    """
    names = {_core(options.webhook_of(one.name)): one.name for one in rulebook().public}
    ranked: list[tuple[int, int, str, Place]] = []
    for hook in hooks:
        is_ours = str(hook.get("application_id")) == str(application_id)
        if not is_ours or not hook.get("token") or not hook.get("channel_id"):
            continue
        place = Place(int(hook["channel_id"]), int(hook["id"]), str(hook["token"]))
        told = (
            known.get(str(place.webhook_id)),
            names.get(_core(str(hook.get("name")))),
            rooms.get(str(place.channel_id)),
        )
        rank, channel = next(((n, one) for n, one in enumerate(told) if one is not None), (0, ""))
        if channel:
            ranked.append((rank, place.webhook_id, channel, place))
    found: dict[str, Place] = {}
    for _, _, channel, place in sorted(ranked, key=lambda one: one[:2]):
        found.setdefault(channel, place)
    return found


def _core(name: str) -> str:
    """Return what is left of a name on any server: some drop its signs, or write it their own way."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")
