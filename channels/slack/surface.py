"""`SlackSurface`: the parts put together as a surface."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

import structlog

from moot.channels.chat.ending import Ending
from moot.channels.outbox.pacing import SLACK
from moot.channels.slack.bolt import bolt_app
from moot.channels.slack.http_mode import HttpMode
from moot.channels.slack.identity import checked
from moot.channels.slack.options import API, SlackOptions
from moot.channels.slack.posting import Poster
from moot.channels.slack.rooms import Rooms
from moot.channels.slack.setting_up import examine
from moot.channels.slack.socket_mode import SocketMode
from moot.channels.slack.taking import Taking
from moot.channels.slack.web import Web
from moot.channels.surface import (
    Capabilities,
    Check,
    Memory,
    PlatformMessageId,
    Posting,
    Surface,
    SurfaceDown,
    TakeAct,
)
from moot.channels.turns import settle


class SlackSurface(Surface):
    """A society in a Slack workspace."""

    capabilities = Capabilities(supports_nonce=True)
    pace = SLACK

    def __init__(
        self,
        *,
        name: str = "slack",
        mode: Literal["socket", "http"] = "socket",
        host: str = "127.0.0.1",
        port: int = 3000,
        api: str = API,
        prefix: str = "",
        bot_token_file: str | None = None,
        app_token_file: str | None = None,
        signing_secret_file: str | None = None,
    ) -> None:
        """Remember the options; nothing is read or sent before `start`.

        Args:
            name: Name of the surface.
            mode, host, port, api, prefix: As `moot.channels.slack.options.SlackOptions` says.
            bot_token_file, app_token_file, signing_secret_file: The same.

        Raises:
            SurfaceConfigError: An option cannot be meant so.
        """
        self.name = name
        self._options = SlackOptions(
            mode=mode,
            host=host,
            port=port,
            api=api,
            prefix=prefix,
            bot_token_file=bot_token_file,
            app_token_file=app_token_file,
            signing_secret_file=signing_secret_file,
        )
        self._web: Web | None = None
        self._poster: Poster | None = None
        self._taking: Taking | None = None
        self._line: SocketMode | HttpMode | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ending: Ending | None = None

    @property
    def port(self) -> int | None:
        """Return where HTTP mode listens; None in socket mode and before `start`."""
        return self._line.port if isinstance(self._line, HttpMode) else None

    @property
    def is_caught_up(self) -> bool:
        """Say whether what was missed while nobody was connected has been read."""
        return self._taking is not None and self._taking.gaps.is_caught_up

    async def start(self, inbound: TakeAct, memory: Memory) -> None:
        options = self._options
        is_http = options.mode == "http"
        token = options.bot_token()
        secret = options.signing_secret() if is_http else options.app_token()
        self._ending = Ending()
        web = self._web = Web(options.api, token)
        me = await checked(web.client)
        rooms = Rooms(web.client, options.prefix, memory)
        await rooms.find()
        self._poster = Poster(web, rooms, me, options.prefix)
        taking = self._taking = Taking(web, rooms, me, memory, inbound, self.name)
        app = bolt_app(web, options.api, me, taking.take, signing_secret=secret if is_http else None)
        if is_http:
            self._line = HttpMode(app, options.host, options.port, secret)
        else:
            self._line = SocketMode(web, secret, app, taking.gaps.want)
        await taking.gaps.begin()
        await self._line.start()
        await taking.resume()
        taking.gaps.want()
        self._reading = asyncio.create_task(taking.gaps.run(), name="slack gaps")
        structlog.get_logger().info("slack connected", team=me.team, bot=me.user, mode=options.mode)

    async def post(self, item: Posting) -> PlatformMessageId:
        if self._poster is None or self._taking is None or self._ending is None:
            raise SurfaceDown("Slack is not connected", maybe_posted=False)
        with self._ending.over_trouble():
            posted = await self._poster.post(item)
        if item.thread is not None:
            root = item.root or posted
            await self._taking.marks.posted(item.channel, root.partition("/")[2])
        return posted

    async def find(self, item: Posting) -> PlatformMessageId | None:
        if self._poster is None or self._ending is None:
            raise SurfaceDown("Slack is not connected", maybe_posted=False)
        with self._ending.over_trouble():
            return await self._poster.find(item)

    async def watch(self) -> None:
        if self._reading is None or self._ending is None:
            raise SurfaceDown("Slack is not connected", maybe_posted=False)
        line = self._line
        await self._ending.wait(
            self._reading, watching=line.watch() if isinstance(line, SocketMode) else None
        )

    async def check(self) -> Sequence[Check]:
        return await examine(self._options)

    async def close(self) -> None:
        line, self._line = self._line, None
        reading, self._reading = self._reading, None
        taking, self._taking = self._taking, None
        web, self._web = self._web, None
        self._poster = None
        if self._ending is not None:
            self._ending.close()
        try:
            if line is not None:
                await line.close()
            if reading is not None:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
            if taking is not None:
                await taking.close()
        finally:
            if web is not None:
                await web.close()
            await settle()
