"""Socket Mode: we connect to Slack, and it delivers over that connection. Reconnects are the library's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import structlog
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from moot.channels.chat.seen import Seen
from moot.channels.slack.library_log import library_logger
from moot.channels.slack.troubles import SlackSaid, trouble
from moot.channels.slack.web import Web, answer, data_of
from moot.channels.surface import RateLimited, SurfaceConfigError, SurfaceDown, SurfaceError

PING_S: Final = 3.0
"""A dead connection is noticed within four of these."""

ATTEMPT_S: Final = 10.0
GREETING_S: Final = 20.0
LOST_S: Final = 60.0
"""A connection that does not come back in this time is given up, and everything built anew."""

LOOK_S: Final = 0.5
CLOSE_S: Final = 2.0

APP_TOKEN: Final = "the app token"
APP_TOKEN_TO_DO: Final = "it needs connections:write (Basic Information, App-Level Tokens)"


async def open_socket_url(client: AsyncWebClient, app_token: str) -> str:
    """Ask Slack for the address of a connection, which is good for one.

    Raises:
        SurfaceConfigError: The app token is refused, or the app has Socket Mode off.
        SurfaceDown, RateLimited: Not now.
    """
    try:
        url = data_of(await answer(client.apps_connections_open(app_token=app_token))).get("url")
    except SlackSaid as said:
        if said.code == "missing_scope":
            raise SurfaceConfigError(f"{APP_TOKEN} lacks a scope: {APP_TOKEN_TO_DO}") from None
        found = trouble(said, token=APP_TOKEN)
        raise found if not isinstance(found, SurfaceDown) or found.everywhere else _refused(said) from None
    if not isinstance(url, str) or not url.startswith(("ws://", "wss://")):
        raise SurfaceDown("Slack named no address for Socket Mode", maybe_posted=False)
    return url


def _refused(said: SlackSaid) -> SurfaceConfigError:
    return SurfaceConfigError(f"Slack refuses Socket Mode ({said.code}): switch it on in the app's settings")


class _Client(SocketModeClient):
    """The library's client, but it says what is wrong for good, and uses no address twice."""

    trouble: SurfaceConfigError | None = None

    async def issue_new_wss_url(self) -> str:
        try:
            return await open_socket_url(self.web_client, self.app_token)
        except SurfaceConfigError as exc:
            self.trouble = exc
            raise
        except RateLimited as exc:
            await asyncio.sleep(exc.retry_after_s)
            raise

    async def connect(self) -> None:
        while not self.closed:
            try:
                async with asyncio.timeout(ATTEMPT_S):
                    await super().connect()  # type: ignore[no-untyped-call]
                return
            except TimeoutError:
                # The library would try the same address for ever.
                self.wss_uri = None


class SocketMode:
    """Keeps the connection."""

    def __init__(self, web: Web, app_token: str, app: AsyncApp, on_hello: Callable[[], None]) -> None:
        """Prepare; needs a running loop.

        Args:
            web: For asking where to connect.
            app_token: The app's token.
            app: Reads what is delivered.
            on_hello: Called at every connection that Slack greets.
        """
        self._app = app
        self._greeted = asyncio.Event()
        self._on_hello = on_hello
        self._seen = Seen(asyncio.get_running_loop().time)
        self._log = structlog.get_logger()
        self._client = _Client(
            app_token=app_token, web_client=web.client, logger=library_logger(), ping_interval=PING_S
        )
        self._client.proxy = web.client.proxy
        self._client.message_listeners.append(self._message)
        self._client.socket_mode_request_listeners.append(self._request)

    async def start(self) -> None:
        """Connect, and return once Slack greeted.

        Raises:
            SurfaceConfigError, SurfaceDown, RateLimited: As `open_socket_url`.
        """
        self._client.wss_uri = await open_socket_url(self._client.web_client, self._client.app_token)
        try:
            async with asyncio.timeout(GREETING_S):
                await self._client.connect()
                await self._greeted.wait()
        except TimeoutError:
            raise self._client.trouble or SurfaceDown(
                "Slack did not greet over Socket Mode; is the way out to wss:// open?", maybe_posted=False
            ) from None

    async def watch(self) -> None:
        """Return never while the connection is kept, or comes back soon.

        Raises:
            SurfaceConfigError: Slack will not take us back until somebody changes something.
            SurfaceDown: It did not come back.
        """
        now = asyncio.get_running_loop().time
        lost_at: float | None = None
        while True:
            await asyncio.sleep(LOOK_S)
            if self._client.trouble is not None:
                raise self._client.trouble
            if await self._client.is_connected():
                lost_at = None
            elif lost_at is None:
                lost_at = now()
                self._log.warning("slack connection lost", to_do="none: it is made anew")
            elif now() - lost_at > LOST_S:
                raise SurfaceDown(f"the connection to Slack was lost and did not come back in {LOST_S:g} s")

    async def close(self) -> None:
        """Hang up."""
        client = self._client
        client.closed = True
        tasks = [client.message_processor, client.current_session_monitor, client.message_receiver]
        for task in tasks:
            if task is not None:
                task.cancel()
        await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)
        try:
            async with asyncio.timeout(CLOSE_S):
                await client.close()  # type: ignore[no-untyped-call]
        except Exception as exc:
            self._log.info("slack connection cut", why=type(exc).__name__)
        finally:
            await client.aiohttp_client_session.close()

    async def _message(
        self, _client: AsyncBaseSocketModeClient, message: dict[str, Any], _raw: str | None
    ) -> None:
        if message.get("type") == "hello":
            self._greeted.set()
            self._on_hello()

    async def _request(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        envelope = str(request.envelope_id)
        if self._seen.first_time(envelope):
            try:
                response = await run_async_bolt_app(self._app, request)
                is_taken = response.status != 500
            except SurfaceError:
                is_taken = False
            except Exception as exc:
                # Bolt trips over shapes it does not expect; delivered again it would be the same.
                self._log.warning(
                    "slack delivery not understood", type=str(request.type)[:40], why=type(exc).__name__
                )
                is_taken = True
            if not is_taken:
                self._seen.forget(envelope)
                return
        try:
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=envelope))
        except Exception as exc:
            # Slack delivers it again, and it is known by its ids then.
            self._log.info("slack not acknowledged", why=type(exc).__name__)
