"""`DiscordSurface`: one server of Discord that mirrors a society."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from moot.channels.chat.ending import Ending
from moot.channels.chat.tokens import read_secret
from moot.channels.discord.connection import Connection
from moot.channels.discord.endpoints import let_go, pictures, point_at
from moot.channels.discord.faces import uploaded
from moot.channels.discord.finding import find
from moot.channels.discord.hearing import Hearing
from moot.channels.discord.library import discord
from moot.channels.discord.options import Options
from moot.channels.discord.places import Places
from moot.channels.discord.posting import Poster
from moot.channels.discord.pressing import Pressing
from moot.channels.discord.troubles import foremost
from moot.channels.outbox.pacing import DISCORD, Pace
from moot.channels.surface import (
    Capabilities,
    Check,
    Memory,
    PlatformMessageId,
    Posting,
    Surface,
    SurfaceConfigError,
    SurfaceDown,
    TakeAct,
)

START_S: Final = 60.0
"""How long a start may take; Discord's gateway answers within seconds or not at all."""

EXAMPLE: Final = "MTA1...Yw.GkX2bR.3vH...8Qs"


class DiscordSurface(Surface):
    """A server of Discord. Options: `Options`."""

    capabilities = Capabilities(supports_nonce=True)
    pace: Pace = DISCORD
    heartbeat_timeout_s: float = 60.0
    """Silence of the gateway after which a new connection is made."""

    def __init__(
        self,
        *,
        name: str = "discord",
        guild: str | int = "",
        token_file: str | None = None,
        api: str = "",
        gateway: str = "",
        cdn: str = "",
        admin_role: str | int = "",
        category: str = "Moot",
        prefix: str = "",
    ) -> None:
        """Check the options; nothing is sent.

        Raises:
            ValueError: One of them is not what it must be.
        """
        self.name = name
        self.options = Options(
            guild=str(guild),
            token_file=token_file,
            api=api.rstrip("/"),
            gateway=gateway,
            cdn=cdn,
            admin_role=str(admin_role),
            category=category,
            prefix=prefix,
        )
        self._client: Connection | None = None
        self._poster: Poster | None = None
        self._places: Places | None = None
        self._hearing: Hearing | None = None
        self._pressing: Pressing | None = None
        self._listening: asyncio.Task[None] | None = None
        self._ending: Ending | None = None

    async def start(self, inbound: TakeAct, memory: Memory) -> None:
        if not self.options.guild:
            raise SurfaceConfigError(
                "[surfaces.discord] names no guild; run: moot discord setup, it lists the servers"
            )
        self._ending = Ending()
        client = await self.log_in(with_events=True)
        self._places = Places(client, self.options, memory)
        # From the first event on: a press that is not heard is lost, what is written is read from the history.
        self._pressing = Pressing(self._places, inbound, self.name)
        try:
            async with asyncio.timeout(START_S):
                await client.connect_and_wait()
                await self._learn()
                self._poster = Poster(
                    client, self._places, await uploaded(client, pictures(self.options.api, self.options.cdn))
                )
                self._hearing = Hearing(client, self._places, memory, inbound, self.name)
                await self._hearing.begin()
        except TimeoutError:
            raise SurfaceDown(f"Discord's gateway did not answer in {START_S:g} s") from None
        self._listening = asyncio.create_task(self._hearing.run(), name="discord hearing")

    async def log_in(self, *, with_events: bool = False) -> Connection:
        """Read the token and log in; `close` ends it.

        Raises:
            SurfaceConfigError: No token, or one that Discord does not know; another surface is on another server.
            SurfaceDown: Discord cannot be reached.
        """
        token = read_secret(self.options.token_file, "MOOT_DISCORD_TOKEN", "the bot's token", EXAMPLE)
        point_at(self, self.options.api, self.options.gateway)
        listener = self if with_events else None
        self._client = Connection(self.options, listener, heartbeat_timeout_s=self.heartbeat_timeout_s)
        await self._client.log_in(token)
        return self._client

    async def post(self, item: Posting) -> PlatformMessageId:
        if self._poster is None or self._ending is None:
            raise SurfaceDown("not connected to Discord", maybe_posted=False)
        with self._ending.over_trouble():
            return await self._poster.post(item)

    async def find(self, item: Posting) -> PlatformMessageId | None:
        if self._client is None or self._places is None or self._ending is None:
            raise SurfaceDown("not connected to Discord")
        with self._ending.over_trouble():
            return await find(self._client, self._places, item)

    async def watch(self) -> None:
        if self._client is None or self._listening is None or self._ending is None:
            raise SurfaceDown("not connected to Discord", maybe_posted=False)
        try:
            await self._ending.wait(self._listening, watching=self._client.ended())
        except BaseExceptionGroup as group:
            raise foremost(group) from None

    async def check(self) -> Sequence[Check]:
        from moot.channels.discord.setup import checks

        # Another one, so that a surface that runs is left alone.
        probe = DiscordSurface(name=self.name, **asdict(self.options))
        try:
            return await checks(probe)
        finally:
            await probe.close()

    async def close(self) -> None:
        try:
            if self._listening is not None:
                self._listening.cancel()
                await asyncio.gather(self._listening, return_exceptions=True)
            if self._pressing is not None:
                await self._pressing.close()
            if self._ending is not None:
                self._ending.close()
        finally:
            if self._poster is not None:
                await self._poster.close()
            try:
                if self._client is not None:
                    await self._client.shut()
            finally:
                let_go(self)

    # what the connection hears

    def on_new_session(self) -> None:
        """Have the history read: no session is as old as what was missed."""
        if self._hearing is not None:
            self._hearing.miss()

    def on_said(self, message: discord.Message) -> None:
        """Take a message."""
        if self._hearing is not None:
            self._hearing.hear(message)

    def on_edited(self, message: discord.Message) -> None:
        """Take an edit."""
        if self._hearing is not None:
            self._hearing.hear_edit(message)

    def on_pressed(self, interaction: discord.Interaction) -> None:
        """Take a press or a command."""
        if self._pressing is not None:
            self._pressing.press(interaction)

    async def _learn(self) -> None:
        assert self._places is not None
        try:
            await self._places.learn()
        except SurfaceDown as exc:
            if exc.everywhere:
                raise
            raise SurfaceConfigError(str(exc)) from None
