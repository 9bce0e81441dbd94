"""A model's server over real HTTP on this machine, as its spells let it be: what a world on files calls.

The client is the real one, with its sockets, limits and second tries; it waits real seconds while society time stands
still, so what a spell makes it wait for is short here.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections import Counter
from concurrent.futures import Future
from typing import Any, Final

from aiohttp import web

from moot.chaos.models import HEADERS, REPLIES, fitting, refused, reply
from moot.chaos.plan import Spell
from moot.chaos.striking import Striking

GIVES_UP_S: Final = 3.0
"""Real seconds after which the client gives a request up that is not answered."""
SHORTER: Final = 1_000.0
"""By so much shorter is a wait that the server asks for than the one that its spell says."""
AGAIN: Final = 2
"""A request is sent away so many times at most, to come again: spells are of society time, and waits are real."""
SENT_AWAY: Final = frozenset({*HEADERS, "server"})
PIECES: Final = 8
"""So many pieces a slow reply comes in."""
PAUSE_S: Final = 0.01
"""Between two of them."""
TORN: Final = 10_000
"""Bytes that a reply promises which breaks off."""
MOST_BYTES: Final = 2**26
CLOSED_S: Final = 10.0


class ModelServer:
    """A server on a thread and a port of its own, through all lives of a world.

    Attributes:
        is_struck: Whether its spells strike; they do not while a society finds out how its models are called, for one
            that finds none does not begin.
    """

    def __init__(self, striking: Striking) -> None:
        """Take what says which spells strike."""
        self.is_struck = False
        self._striking = striking
        self._came: Counter[str] = Counter()
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._port: Future[int] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name="model-server", daemon=True
        )

    @property
    def url(self) -> str:
        """Return where its API is, once it listens."""
        return f"http://127.0.0.1:{self._port.result(CLOSED_S)}/v1"

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def close(self) -> None:
        """End it, and what it has not answered."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(CLOSED_S)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_get("/v1/models", self._list)
        app.router.add_post("/v1/chat/completions", self._complete)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.0)
        try:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self._port.set_result(runner.addresses[0][1])
        except OSError as why:
            self._port.set_exception(why)
            return
        try:
            await self._stop.wait()
        finally:
            await runner.cleanup()

    async def _list(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": [{"id": "tiny-1", "object": "model"}]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        sent = await request.read()
        text = _fitting(json.loads(sent))
        if not self.is_struck:
            return _answered(200, reply(text))
        asked = hashlib.sha256(sent).hexdigest()
        self._came[asked] += 1

        def struck(name: str) -> Spell | None:
            if name in SENT_AWAY and self._came[asked] > AGAIN:
                return None
            return self._striking.strikes(f"models.{name}", "", name, asked, self._came[asked])

        if struck("hangs"):
            await self._stop.wait()
        for name, headers in HEADERS.items():
            if (spell := struck(name)) is not None:
                wait = {key: f"{float(value) / SHORTER}" for key, value in headers(spell).items()}
                return _answered(429, refused("slow down"), wait)
        status, body = next(
            (broken(text) for name, broken in REPLIES.items() if struck(name)), (200, reply(text))
        )
        if not body or struck("drip"):
            return await _dripped(request, status, body)
        return _answered(status, body)


def _fitting(asked: dict[str, Any]) -> str:
    """Write the simplest answer that fits what a request asks for."""
    form = asked.get("response_format", {}).get("json_schema")
    return json.dumps(fitting(form["schema"])) if form is not None else "because"


def _answered(status: int, body: bytes, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(status=status, body=body, headers=headers, content_type="application/json")


async def _dripped(request: web.Request, status: int, body: bytes) -> web.StreamResponse:
    """Send a reply in pieces; one that is nothing breaks off after its headers."""
    begun = web.StreamResponse(status=status, headers={"content-type": "application/json"})
    begun.content_length = len(body) or TORN
    await begun.prepare(request)
    if not body and request.transport is not None:
        request.transport.abort()
        return begun
    size = -(-len(body) // PIECES)
    for start in range(0, len(body), size):
        await begun.write(body[start : start + size])
        await asyncio.sleep(PAUSE_S)
    return begun
