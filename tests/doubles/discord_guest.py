"""The real discord.py client, pointed at the double, with what it heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import yarl

from moot.channels.discord.library import DiscordWebSocket, Route, discord
from tests.doubles.discord_server import DiscordServer
from tests.doubles.waiting import until


class Guest(discord.Client):
    """A client that writes down what happens to it.

    Attributes:
        heard: Texts of messages by others than bots, in the order in which they came.
        clicks: Interactions, unanswered.
        events: Names of connection events: ready, resumed, disconnect.
    """

    def __init__(self, *, may_read: bool = True, **more: Any) -> None:
        intents = discord.Intents.default()
        intents.message_content = may_read
        super().__init__(intents=intents, guild_ready_timeout=0.05, enable_debug_events=True, **more)
        self.heard: list[str] = []
        self.clicks: list[discord.Interaction] = []
        self.events: list[str] = []
        self.connecting: asyncio.Task[None] | None = None

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Do without the library's pause of five seconds before a second IDENTIFY."""

    async def on_ready(self) -> None:
        self.events.append("ready")

    async def on_resumed(self) -> None:
        self.events.append("resumed")

    async def on_disconnect(self) -> None:
        self.events.append("disconnect")

    async def on_message(self, message: discord.Message) -> None:
        if not message.author.bot:
            self.heard.append(message.content)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        self.clicks.append(interaction)

    def room(self, name: str = "a-arena") -> discord.TextChannel:
        return next(item for item in self.guilds[0].text_channels if item.name == name)


@asynccontextmanager
async def guest(server: DiscordServer, *, is_connected: bool = True, **more: Any) -> AsyncIterator[Guest]:
    """Log in, connect, wait until ready; closes everything at the end, and swallows how the connection ended."""
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE = server.api
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(server.gateway)
    client = Guest(**more)
    try:
        await client.login(server.token)
        if is_connected:
            task = client.connecting = asyncio.create_task(client.connect())
            await until(lambda: "ready" in client.events or task.done())
        yield client
    finally:
        await client.close()
        if client.connecting is not None:
            client.connecting.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await client.connecting
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = before
