"""The connection: login, the gateway, and the guild; events go to whoever listens.

The library resumes a session by itself. Where it cannot, and where an event breaks it, the connection ends with
an error and the whole surface is built anew, with the gateway's pauses: its own grow to a quarter of an hour.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Coroutine
from typing import Any, Final, Protocol
from weakref import WeakSet

import aiohttp
import structlog
import yarl

from moot.channels.discord.library import HTTPClient, KeepAliveHandler, discord
from moot.channels.discord.library_log import place_of
from moot.channels.discord.options import Options
from moot.channels.discord.rights import invite
from moot.channels.discord.troubles import TOKEN, of_connection, renamed, tracing
from moot.channels.network import UnusableNetwork, check_network
from moot.channels.surface import SurfaceConfigError, SurfaceDown, SurfaceError
from moot.channels.turns import settle

CLOSE_S: Final = 1.0
"""How long a connection has to say goodbye."""

CHANNEL_ID: Final = "channel_id"
"""Where an interaction's `extras` say in which channel it was done, whatever the library makes of that channel."""

MOST_HASTY: Final = 5
HASTY_S: Final = 1.0
"""So many connections to the gateway in a row may end within so short a time."""

AGAIN_S: Final = 0.1
"""How long one more try may take to end what did not end."""

INTENTS_OFF: Final = (
    "Discord hides what people write from Moot: in the Developer Portal open your application → Bot, switch on"
    ' "Message Content Intent", and save'
)

CLOSED: Final = {4004: TOKEN, 4013: INTENTS_OFF, 4014: INTENTS_OFF}
"""Why the gateway hangs up for good, by its code."""


class Listener(Protocol):
    """What hears the events; none of these may take long."""

    def on_new_session(self) -> None:
        """Note that events may have been missed; called before the first event of the session."""

    def on_said(self, message: discord.Message) -> None:
        """Take a message."""

    def on_edited(self, message: discord.Message) -> None:
        """Take a message as it reads after an edit."""

    def on_pressed(self, interaction: discord.Interaction) -> None:
        """Take a press of a button or a slash command."""


class Connection(discord.Client):
    """The library's client, for one guild."""

    def __init__(
        self, options: Options, listener: Listener | None, *, heartbeat_timeout_s: float = 60.0
    ) -> None:
        """Prepare; nothing is sent.

        Args:
            options: Which guild, and where.
            listener: Hears the events; None: the gateway is not used.
            heartbeat_timeout_s: Silence of the gateway after which a new connection is made.
        """
        intents = discord.Intents.none()
        intents.guilds = True
        intents.guild_messages = True
        intents.message_content = True
        super().__init__(
            intents=intents,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            allowed_mentions=discord.AllowedMentions.none(),
            http_trace=tracing(),
            heartbeat_timeout=heartbeat_timeout_s,
        )
        self._sockets: WeakSet[aiohttp.ClientWebSocketResponse] = WeakSet()
        self.http.ws_connect = self._open_socket  # type: ignore[method-assign]
        self._opened_at = 0.0
        self._hasty = 0
        self._done_where: dict[int, str] = {}
        self._understand = self._connection.parsers["INTERACTION_CREATE"]
        self._connection.parsers["INTERACTION_CREATE"] = self._note_where
        self._options = options
        self._listener = listener
        self._has_guild = asyncio.Event()
        self._is_ready_without = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._log = structlog.get_logger().bind(surface="discord")

    async def log_in(self, token: str) -> None:
        """Check the token and learn whose it is.

        Raises:
            SurfaceConfigError: Discord does not know it, or the environment names authorities that cannot be used.
            SurfaceDown, RateLimited: Not now.
        """
        try:
            check_network(discord.http.Route.BASE, uses_proxies=False)
        except UnusableNetwork as exc:
            raise SurfaceConfigError(str(exc)) from None
        with renamed("log in"):
            await self.login(token)

    @property
    def may_read(self) -> bool:
        """Say whether the application may read what people write."""
        flags = self.application.flags if self.application is not None else None
        return flags is not None and (flags.gateway_message_content or flags.gateway_message_content_limited)

    async def connect_and_wait(self) -> discord.Guild:
        """Connect to the gateway and wait for the guild.

        Raises:
            SurfaceConfigError: The intent is off, or the bot is not in the guild.
            SurfaceDown: The gateway cannot be reached, or the guild is out of order.
        """
        if not self.may_read:
            raise SurfaceConfigError(INTENTS_OFF)
        self._running = asyncio.create_task(self._run(), name="discord gateway")
        await self._first(self._has_guild.wait(), self._is_ready_without.wait())
        guild = self.get_guild(self._options.guild_id)
        if guild is None:
            link = invite(self.application_id or 0, self._options.guild_id)
            raise SurfaceConfigError(
                f"the bot is not in the server {self._options.guild}: whoever manages it opens {link}"
            )
        if guild.unavailable:
            raise SurfaceDown(f"Discord says that the server {self._options.guild} is out of order now")
        return guild

    async def ended(self) -> None:
        """Wait until the connection ends.

        Raises:
            SurfaceConfigError, SurfaceDown: Why it did.
        """
        assert self._running is not None
        await asyncio.shield(self._running)

    async def shut(self) -> None:
        """End the connection; safe to call twice, and before anything else."""
        while self._running is not None and not self._running.done():
            # More than once: in this version of Python a wait that just ends swallows a cancellation.
            self._running.cancel()
            await asyncio.wait({self._running}, timeout=AGAIN_S)
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)
        # The library's own closing may have been cut short with the connection; then the rest is done by hand.
        await _ended(self.close(), CLOSE_S)
        if self.ws is not None:
            await _ended(self.ws.close(code=1000), AGAIN_S)
        await self._end_half_made()
        await _ended(self.http.close(), CLOSE_S)
        await settle()

    async def _open_socket(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        now = asyncio.get_running_loop().time()
        self._hasty = self._hasty + 1 if now - self._opened_at < HASTY_S else 0
        self._opened_at = now
        if self._hasty >= MOST_HASTY:
            # The library would go on at once, for ever.
            raise SurfaceDown("Discord's gateway hangs up as soon as it is reached", maybe_posted=False)
        socket = await HTTPClient.ws_connect(self.http, url, compress=compress)
        self._sockets.add(socket)
        return socket

    async def _end_half_made(self) -> None:
        """End a connection that was cut off before the client had it: its socket, and the thread that keeps it alive.

        The library loses it until the server has said hello and has been told who is there.
        """
        for socket in list(self._sockets):
            if not socket.closed:
                await _ended(socket.close(code=1000), AGAIN_S)
        heartbeats = [
            one
            for one in threading.enumerate()
            if isinstance(one, KeepAliveHandler) and one.ws._connection is self._connection
        ]
        for one in heartbeats:
            one.stop()
        for one in heartbeats:
            await asyncio.to_thread(one.join, AGAIN_S)

    async def _first(self, *waits: Awaitable[object]) -> None:
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        assert self._running is not None
        try:
            await asyncio.wait([*tasks, self._running], return_when=asyncio.FIRST_COMPLETED)
            if self._running.done():
                await self._running
        finally:
            for task in tasks:
                task.cancel()

    async def _run(self) -> None:
        try:
            await self.connect(reconnect=False)
        except SurfaceError:
            raise
        except discord.ConnectionClosed as exc:
            if exc.code in CLOSED:
                raise SurfaceConfigError(CLOSED[exc.code]) from None
            raise SurfaceDown(f"Discord's gateway hung up (code {exc.code})") from None
        except (aiohttp.ClientError, OSError) as exc:
            raise of_connection(exc, "Discord's gateway") from None
        except Exception as exc:
            if self.ws is None:
                # The library has no name for a connection that ends before its first event.
                raise SurfaceDown(
                    "Discord's gateway hung up before it said hello", maybe_posted=False
                ) from None
            # An event that the library cannot read ends its connection; a new one goes on after it.
            why = f"{type(exc).__name__}: {exc}"[:200]
            raise SurfaceDown(f"an event of Discord could not be read ({why}); connecting anew") from None
        finally:
            # The library waits for more guilds in a task that it would leave behind.
            if (waiting := self._connection._ready_task) is not None:
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
        raise SurfaceDown("Discord's gateway hung up")

    # events, called by the library by their names

    async def on_connect(self) -> None:
        """Note a new session: first of all its handlers, so that the history is read before what is said now."""
        if self._options.gateway and self.ws is not None:
            # A server behind an address of its own may name one for resuming that is not reachable from here.
            self.ws.gateway = yarl.URL(self._options.gateway)
        if self._listener is not None:
            self._listener.on_new_session()

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Note that a guild is known."""
        self._note_guild(guild)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Note that a guild is known."""
        self._note_guild(guild)

    async def on_ready(self) -> None:
        """Note that no more guilds are to come."""
        self._is_ready_without.set()

    async def on_message(self, message: discord.Message) -> None:
        """Pass a message on."""
        if self._listener is not None and self._is_here(message.guild):
            self._listener.on_said(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Pass an edit on."""
        if self._listener is not None and payload.guild_id == self._options.guild_id:
            self._listener.on_edited(payload.message)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Pass a press or a command on."""
        if (where := self._done_where.pop(interaction.id, None)) is not None:
            interaction.extras[CHANNEL_ID] = where
        if self._listener is not None and interaction.guild_id == self._options.guild_id:
            self._listener.on_pressed(interaction)

    async def on_error(self, event_method: str, /, *_args: object, **_more: object) -> None:
        """Log an error in a handler; it ends nothing."""
        error = sys.exception()
        why = "" if error is None else place_of(error)
        self._log.error("event not handled", event_name=event_method, why=why)

    def _note_where(self, data: Any) -> None:
        """Take an interaction's channel by its id alone, where it is not described: the field is optional."""
        if isinstance(data, dict) and (where := data.get("channel_id")) is not None:
            if not isinstance(data.get("channel"), dict):
                data["channel"] = {"id": where}
            if str(data.get("id")).isdecimal():
                self._done_where[int(data["id"])] = str(where)
        self._understand(data)

    def _is_here(self, guild: discord.Guild | None) -> bool:
        return guild is not None and guild.id == self._options.guild_id

    def _note_guild(self, guild: discord.Guild) -> None:
        if guild.id == self._options.guild_id:
            self._has_guild.set()


async def _ended(work: Coroutine[Any, Any, object], within_s: float) -> None:
    """Wait for something to end, however it does, and not for long."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=within_s)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
