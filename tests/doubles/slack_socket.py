"""Socket Mode of the fake Slack server: tickets, hello, envelopes, acknowledgements, disconnects."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web

from tests.doubles.slack_delivery import Courier
from tests.doubles.slack_faults import Faults
from tests.doubles.slack_state import APP, Call
from tests.doubles.slack_web import cut, html

MOST_LINKS = 10


class SocketLink:
    """One WebSocket of the app."""

    def __init__(self, ws: web.WebSocketResponse, request: web.Request, number: int) -> None:
        self.ws = ws
        self.request = request
        self.number = number
        self.pending: dict[str, asyncio.Future[tuple[bool, Any]]] = {}
        self.acks: list[dict[str, Any]] = []

    async def send(self, body: dict[str, Any]) -> None:
        await self.ws.send_str(json.dumps(body))

    async def disconnect(self, reason: str) -> None:
        await self.send({"type": "disconnect", "reason": reason, "debug_info": {"host": "wss-111.slack.com"}})

    def abort(self) -> None:
        """Break it without a close frame."""
        if self.request.transport is not None:
            self.request.transport.abort()

    def lose(self) -> None:
        """What waits for an acknowledgement waits in vain."""
        for waiting in self.pending.values():
            if not waiting.done():
                waiting.set_result((False, None))


class Sockets:
    """The Socket Mode side; a ticket opens one connection and lives for `ticket_ttl_s`."""

    def __init__(self, courier: Courier, faults: Faults, calls: list[Call]) -> None:
        self.courier = courier
        self.faults = faults
        self.calls = calls
        self.base = ""
        self.ticket_ttl_s = 30.0
        self.tickets: dict[str, float] = {}
        self.opened = 0
        self.is_zombie = False
        self.links: list[SocketLink] = []
        self.received: list[str] = []

    def new_ticket(self) -> str:
        ticket = f"ticket-{next(self.courier.workspace.numbers)}"
        self.tickets[ticket] = time.monotonic() + self.ticket_ttl_s
        return f"{self.base}/link/?ticket={ticket}&app_id={APP}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Take a WebSocket for as long as it lives."""
        rule = self.faults.take("socket")
        self.calls.append(Call("socket", "GET", request.path, 0, None, time.time(), {}))
        if rule and rule.action in ("drop_before", "drop_after"):
            cut(request)
        if rule and rule.action == "status":
            return html(rule.details.get("status", 503))
        if rule and rule.action == "delay":
            await asyncio.sleep(rule.details.get("seconds", 1.0))
        if self.tickets.pop(request.query.get("ticket", ""), 0.0) < time.monotonic():
            return html(408)
        # A zombie answers no pings; the client has to notice.
        ws = web.WebSocketResponse(autoping=not self.is_zombie, heartbeat=None if self.is_zombie else 20.0)
        await ws.prepare(request)
        self.opened += 1
        link = SocketLink(ws, request, self.opened)
        self.links.append(link)
        self.courier.links.append(link)
        try:
            if len(self.links) > MOST_LINKS:
                await link.disconnect("too_many_websockets")
                return ws
            await link.send(
                {
                    "type": "hello", "num_connections": len(self.links), "connection_info": {"app_id": APP},
                    "debug_info": {
                        "host": "applink-1", "build_number": 54, "approximate_connection_time": 3600,
                        "started": "2026-01-01 00:00:00.000",
                    },
                }
            )  # fmt: skip
            with suppress(ConnectionError):
                async for message in ws:
                    if message.type is WSMsgType.TEXT:
                        self._take(link, message.data)
        finally:
            self.links.remove(link)
            self.courier.links.remove(link)
            link.lose()
        return ws

    def _take(self, link: SocketLink, text: str) -> None:
        self.received.append(text)
        try:
            body = json.loads(text)
        except ValueError:
            return
        link.acks.append(body)
        waiting = link.pending.get(body.get("envelope_id", ""))
        if waiting is not None and not waiting.done():
            waiting.set_result((True, body.get("payload")))

    async def tell(self, reason: str, *, closes: bool) -> None:
        """Send a disconnect message over every connection."""
        for link in list(self.links):
            await link.disconnect(reason)
            if closes:
                await link.ws.close(code=1000)

    async def raw(self, text: str) -> None:
        for link in list(self.links):
            await link.ws.send_str(text)

    def abort(self) -> None:
        for link in list(self.links):
            link.abort()
