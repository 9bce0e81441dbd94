"""One guest of the society: a connection, its place in the log, its requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Protocol

import structlog

from moot.channels.errors import Refused
from moot.channels.gateway.protocol import (
    VERSION,
    Frame,
    Frames,
    GatewayError,
    decode,
    encode,
    envelope_frame,
)
from moot.protocols.kernel.errors import Violation

FAREWELL_S: Final = 1.0
"""How long the society has to hear that a guest has left."""

_NUMBERS: Final = count(1)

AT_ONCE: Final = 64
"""Requests of one guest that are under way together; then it is not read from until one has ended."""


class Source(Protocol):
    """The log as guests read it, on the server's loop."""

    @property
    def head(self) -> int:
        """Seq of the last line that can be read."""
        ...

    def subscribe(self, cursor: int) -> AsyncGenerator[Sequence[str], None]:
        """Yield the lines after `cursor` in order, in batches, waiting for what is not there yet."""
        ...


Publish = Callable[[Mapping[str, Any], str], Awaitable[Mapping[str, Any]]]
"""Draft (plain data) and key to a receipt {seq, id, status}, with the case that it `opened`, or a `note` (R-E4).

Raises `Refused` or a `Violation` for "no, for good"; anything else means "try again with the same key".
"""

Ask = Callable[[str, Mapping[str, Any]], Awaitable[str]]
"""A question (`status`, `escalations`) with arguments to a text for people."""

Left = Callable[[str], Awaitable[None]]
"""A guest has hung up, whose questions came with this `guest` among their arguments."""

Report = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Something that a guest wants recorded: {event, …}."""


async def _nobody_answers(_question: str, _args: Mapping[str, Any]) -> str:
    return "nobody answers questions here"


async def _nobody_hears(_event: Mapping[str, Any]) -> None:
    return None


async def _nobody_cares(_guest: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestHost:
    """What a society offers to its guests; everything is called on the server's loop.

    Attributes:
        log_id: Names this log for ever, for example the hash of its first envelope.
        source: The log.
        publish: Takes drafts.
        ask: Answers questions.
        report: Hears what guests report.
        left: Hears that a guest has hung up.
        heartbeat_s: Wall time between two signs of life.
    """

    log_id: str
    source: Source
    publish: Publish
    ask: Ask = _nobody_answers
    report: Report = _nobody_hears
    left: Left = _nobody_cares
    heartbeat_s: float = 5.0

    def welcome(self) -> bytes:
        """Write the answer to a proper `hello`."""
        return encode(
            "welcome",
            version=VERSION,
            log_id=self.log_id,
            head=self.source.head,
            heartbeat_s=self.heartbeat_s,
        )

    async def answer(self, frame: Frame, guest: str = "") -> bytes | None:
        """Carry out a request of a guest and write its answer; an error becomes an answer too."""
        n, op = frame.get("n"), frame["op"]
        try:
            match op:
                case "publish":
                    return encode("receipt", n=n, **await self._take_draft(frame))
                case "ask":
                    args = {**(frame.get("args") or {}), "guest": guest}
                    text = await self.ask(str(frame.get("question")), args)
                    return encode("answer", n=n, text=text)
                case "head":
                    return encode("head", n=n, seq=self.source.head)
                case "report":
                    await self.report({key: frame[key] for key in frame if key not in ("op", "n")})
                    return None
                case _:
                    return encode("answer", n=n, text=f"unknown op {op!r}")
        except Exception as exc:
            why = f"{type(exc).__name__}: {exc}"
            structlog.get_logger().warning("request failed", op=op, why=why)
            if op == "report":
                return None
            return encode(
                "receipt" if op == "publish" else "answer", n=n, status="unavailable", why=why, text=why
            )

    async def _take_draft(self, frame: Frame) -> Mapping[str, Any]:
        draft, key = frame.get("draft"), frame.get("key")
        if not isinstance(draft, dict) or not isinstance(key, str) or not key:
            return {"status": "refused", "why": "no draft, or no key"}
        try:
            return await self.publish(draft, key)
        except Refused as exc:
            return {"status": "refused", "why": exc.violation.why, "rule": exc.violation.rule}
        except Violation as exc:
            return {"status": "refused", "why": str(exc), "rule": exc.rule}


class Guest:
    """One connection; `serve` is its whole life."""

    def __init__(self, host: GuestHost, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take over a connection; the caller closes it."""
        self._host = host
        self._frames = Frames(reader)
        self._writer = writer
        self._room = asyncio.Semaphore(AT_ONCE)
        self._is_subscribed = False
        self._name = f"guest {next(_NUMBERS)}"
        self._has_asked = False

    async def serve(self) -> None:
        """Serve until the guest hangs up.

        Raises:
            HungUp: It did.
            GatewayError: It broke the protocol and was told so.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._converse(tasks)
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            if self._has_asked:
                await self._say_left()

    async def _say_left(self) -> None:
        with suppress(Exception):
            async with asyncio.timeout(FAREWELL_S):
                await self._host.left(self._name)

    async def _converse(self, tasks: asyncio.TaskGroup) -> None:
        is_known = False
        while True:
            for line in await self._frames.some():
                frame = self._read(line)
                if not is_known:
                    self._check_hello(frame)
                    is_known = True
                    self._writer.write(self._host.welcome())
                    tasks.create_task(self._beat())
                elif frame["op"] == "subscribe":
                    tasks.create_task(self._stream(self._cursor(frame)))
                else:
                    await self._room.acquire()
                    work = tasks.create_task(self._respond(frame))
                    work.add_done_callback(lambda _task: self._room.release())

    async def _stream(self, cursor: int) -> None:
        async with aclosing(self._host.source.subscribe(cursor)) as news:
            async for lines in news:
                self._writer.write(b"".join(map(envelope_frame, lines)))
                await self._writer.drain()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._host.heartbeat_s)
            self._writer.write(encode("beat", head=self._host.source.head))
            await self._writer.drain()

    async def _respond(self, frame: Frame) -> None:
        self._has_asked |= frame["op"] == "ask"
        answer = await self._host.answer(frame, self._name)
        if answer is not None:
            self._writer.write(answer)
            await self._writer.drain()

    def _read(self, line: bytes) -> Frame:
        try:
            return decode(line)
        except GatewayError as exc:
            raise self._goodbye(str(exc)) from exc

    def _check_hello(self, frame: Frame) -> None:
        if frame["op"] != "hello":
            raise self._goodbye("say hello first")
        if frame.get("version") != VERSION:
            said = json.dumps(frame.get("version"))[:40]
            raise self._goodbye(f"this society speaks version {VERSION}, not {said}")

    def _cursor(self, frame: Frame) -> int:
        cursor = frame.get("cursor")
        if self._is_subscribed or type(cursor) is not int or cursor < 0:
            raise self._goodbye("subscribe once, with a cursor from 0 on")
        self._is_subscribed = True
        return cursor

    def _goodbye(self, why: str) -> GatewayError:
        self._writer.write(encode("error", why=why))
        return GatewayError(why)
