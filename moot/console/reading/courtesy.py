"""Courtesy: work in the background steps back while somebody waits for an answer.

Reading a long log keeps a processor and the interpreter busy for minutes. A page that is opened meanwhile
would wait for its turn at every step, so the readers look here between two slices of their work.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

LINGER_S: Final = 0.3
"""So long after an answer the next question is awaited: a page is one file after another."""

MOST_S: Final = 1.5
"""So long a reader steps back at once; a page has been painted by then."""

SLICES: Final = 100
"""Slices that a reader works, after it has stepped back so long in vain, before it looks again."""

LONG_SLICES: Final = 5
"""The same for one whose slices take tenths of a second."""

LOOK_S: Final = 0.01
"""How often a reader on the loop looks whether it may go on."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Courtesy:
    """Knows whether somebody waits for an answer; told on the loop, asked from anywhere."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._waiting = 0
        self._free = threading.Event()
        self._free.set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_ended = False

    @property
    def is_free(self) -> bool:
        """Say whether nobody waits."""
        return self._free.is_set()

    def come(self) -> None:
        """Note that somebody waits for an answer."""
        self._waiting += 1
        self._hush()
        if not self._is_ended:
            self._free.clear()

    def go(self) -> None:
        """Note that somebody has one; the next question may follow at once."""
        self._waiting -= 1
        self._hush()
        if not self._waiting:
            self._timer = asyncio.get_running_loop().call_later(LINGER_S, self._free.set)

    def touch(self) -> None:
        """Note that somebody does something on an open page."""
        self.come()
        self.go()

    def end(self) -> None:
        """Hold up nobody from now on: who works is to finish."""
        self._is_ended = True
        self._hush()
        self._free.set()

    def wait_free(self, timeout_s: float) -> bool:
        """Wait until nobody waits; returns whether that is so. Not for the loop."""
        return self._free.wait(timeout_s)

    def _hush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Worker:
    """One who works in slices and steps back between them; never for good, however many people come."""

    def __init__(self, courtesy: Courtesy, *, most_s: float = MOST_S, slices: int = SLICES) -> None:
        """Work beside others.

        Args:
            courtesy: Knows of them.
            most_s: Wall time that it waits for them at once.
            slices: How much it works, when it has waited so long in vain, before it looks again.
        """
        self._courtesy = courtesy
        self._most_s = most_s
        self._most_slices = slices
        self._slices = 0

    def step_back(self) -> None:
        """Wait while somebody waits for an answer; in a thread."""
        if self._may_work():
            return
        if not self._courtesy.wait_free(self._most_s):
            self._slices = self._most_slices

    async def step_back_on_loop(self) -> None:
        """Do the same on the loop."""
        if self._may_work():
            return
        loop = asyncio.get_running_loop()
        end = loop.time() + self._most_s
        while not self._courtesy.is_free:
            if loop.time() >= end:
                self._slices = self._most_slices
                return
            await asyncio.sleep(LOOK_S)

    def _may_work(self) -> bool:
        if self._courtesy.is_free:
            self._slices = 0
            return True
        self._slices -= self._slices > 0
        return self._slices > 0


class Attending:
    """An ASGI middleware that notes who waits for an answer.

    A stream of events is answered once it begins; on a socket only what comes in counts.
    """

    def __init__(self, app: App, courtesy: Courtesy) -> None:
        """Stand before an application."""
        self._app = app
        self._courtesy = courtesy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve."""
        if scope["type"] == "websocket":
            await self._app(scope, self._heard(receive), send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        courtesy = self._courtesy
        courtesy.come()
        is_here = True

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal is_here
            await send(message)
            if is_here and message["type"] == "http.response.start" and _is_stream(message):
                is_here = False
                courtesy.go()

        try:
            await self._app(scope, receive, watched)
        finally:
            if is_here:
                courtesy.go()

    def _heard(self, receive: Receive) -> Receive:
        async def heard() -> MutableMapping[str, Any]:
            message = await receive()
            if message["type"] != "websocket.disconnect":
                self._courtesy.touch()
            return message

        return heard


def _is_stream(message: MutableMapping[str, Any]) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in message.get("headers", ())
    )
