"""HTTP mode: Slack delivers to our own small server; what is not signed by Slack just now is refused."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import Clock, SignatureVerifier

from channels.slack.options import PATH
from channels.surface import SurfaceDown

MOST_BYTES: Final = 1 << 20
WINDOW_S: Final = 300
"""A signature is good for so long before and after its time."""

_SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)
_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}", re.ASCII)


class HttpMode:
    """Serves Slack's deliveries."""

    def __init__(self, app: AsyncApp, host: str, port: int, signing_secret: str) -> None:
        """Prepare.

        Args:
            app: Checks signatures and reads what is delivered.
            host: Where to listen.
            port: The same; 0: any that is free.
            signing_secret: Only to tell a skewed clock from a wrong signature.
        """
        self.port = port
        self._app = app
        self._host = host
        self._verifier = SignatureVerifier(signing_secret)
        self._runner: web.AppRunner | None = None
        self._log = structlog.get_logger()

    async def start(self) -> None:
        """Listen.

        Raises:
            SurfaceDown: The port cannot be had.
        """
        served = web.Application(client_max_size=MOST_BYTES)
        served.router.add_post(PATH, self._serve)
        self._runner = web.AppRunner(served, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self.port)
        try:
            await site.start()
        except OSError as exc:
            await self.close()
            why = exc.strerror or type(exc).__name__
            raise SurfaceDown(
                f"nothing can listen on {self._host}:{self.port} ({why}); choose another host or port",
                maybe_posted=False,
            ) from None
        with suppress(IndexError, AttributeError):
            self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        timestamp = request.headers.get("X-Slack-Request-Timestamp", "")
        signature = request.headers.get("X-Slack-Signature", "")
        try:
            # Bolt trips over either when it is not even written like one.
            is_form = bool(_TIMESTAMP.fullmatch(timestamp) and _SIGNATURE.fullmatch(signature))
            body = await request.text()
            if not is_form or not self._is_signed(body, timestamp, signature):
                return web.Response(status=401)
            response = await self._app.async_dispatch(await to_bolt_request(request))
            return await to_aiohttp_response(response)
        except web.HTTPException:
            raise
        except Exception as exc:
            self._log.warning("slack request not understood", why=type(exc).__name__)
            return web.Response(status=400)

    def _is_signed(self, body: str, timestamp: str, signature: str) -> bool:
        """Check as Bolt does after us, and say why it is refused; never what was in it."""
        made = self._verifier.generate_signature(timestamp=timestamp, body=body) or ""
        off = round(Clock().now() - int(timestamp))
        if made != signature:
            self._log.warning(
                "slack request refused", why="its signature is not Slack's; check the signing secret"
            )
            return False
        if abs(off) > WINDOW_S:
            side = "behind" if off > 0 else "ahead of"
            why = f"it was signed {abs(off)} s {side} this machine's clock; check this machine's clock"
            self._log.warning("slack request refused", why=why)
            return False
        return True
