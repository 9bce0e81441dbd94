"""HTTP mode: Slack delivers to our own small server; what is not signed by Slack just now is refused."""

from __future__ import annotations

import asyncio
import hmac
import re
from contextlib import suppress
from typing import Final

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import Clock, SignatureVerifier

from moot.channels.slack.options import PATH
from moot.channels.surface import SurfaceDown

MOST_BYTES: Final = 1 << 20
MOST_BYTES_OFF: Final = 1 << 16
"""What was not signed just now is not read where it is larger."""

WINDOW_S: Final = 300
"""A signature is good for so long before and after its time."""

TOLD_EVERY_S: Final = 60.0
"""Anybody may knock: why a request was refused is said so often at most, with how many there were."""

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
        self._told_at: float | None = None
        self._untold = 0

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
            if not is_form:
                self._refuse("it is not signed")
                return web.Response(status=401)
            off = round(Clock().now() - int(timestamp))
            is_large = request.content_length is None or request.content_length > MOST_BYTES_OFF
            if abs(off) > WINDOW_S and is_large:
                self._refuse("its time is off, and it is too large to look at")
                return web.Response(status=401)
            if not self._is_signed(await request.text(), timestamp, signature) or self._is_off(off):
                return web.Response(status=401)
            response = await self._app.async_dispatch(await to_bolt_request(request))
            return await to_aiohttp_response(response)
        except web.HTTPException:
            raise
        except Exception as exc:
            self._log.warning("slack request not understood", why=type(exc).__name__)
            return web.Response(status=400)

    def _is_off(self, off: int) -> bool:
        """Check the time of what Slack did sign: it says which way a clock is off."""
        if abs(off) <= WINDOW_S:
            return False
        side = "behind" if off > 0 else "ahead of"
        self._refuse(f"it was signed {abs(off)} s {side} this machine's clock; check this machine's clock")
        return True

    def _is_signed(self, body: str, timestamp: str, signature: str) -> bool:
        """Check as Bolt does after us."""
        made = self._verifier.generate_signature(timestamp=timestamp, body=body) or ""
        if hmac.compare_digest(made, signature):
            return True
        self._refuse("its signature is not Slack's; check the signing secret")
        return False

    def _refuse(self, why: str) -> None:
        """Say why a request is refused, now and then; never what was in it."""
        now = asyncio.get_running_loop().time()
        self._untold += 1
        if self._told_at is not None and now - self._told_at < TOLD_EVERY_S:
            return
        self._log.warning("slack request refused", why=why, requests=self._untold)
        self._told_at, self._untold = now, 0
