"""The guest's end of the gateway socket, across restarts of the society.

The log comes as an endless stream of lines, requests go over a connection of their own, so that a backlog of
lines never holds up a receipt.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import structlog

from moot.channels.backoff import PATIENT, Backoff
from moot.channels.gateway.link import FindAddress, Link, LogReplaced, SocietyAway, knock
from moot.channels.gateway.protocol import Frame, GatewayError, HungUp, decode, encode, envelope_line
from moot.channels.log.lines import seq_of


class LogStream:
    """The log as an outbox reads it: lines from a cursor on, without end, over any number of connections."""

    def __init__(self, find: FindAddress, log_id: str, *, backoff: Backoff = PATIENT) -> None:
        """Follow the log named `log_id`."""
        self._find = find
        self._log_id = log_id
        self._backoff = backoff

    async def __call__(self, cursor: int) -> AsyncGenerator[Sequence[str], None]:
        """Yield batches of the lines after `cursor`.

        Raises:
            LogReplaced: The society restarted with another log, or with less of this one.
        """
        while True:
            link = await knock(self._find, backoff=self._backoff)
            try:
                welcome = link.welcome
                if welcome.log_id != self._log_id or welcome.head < cursor:
                    raise LogReplaced(f"log {welcome.log_id} has {welcome.head} messages, {cursor} were seen")
                await link.send(encode("subscribe", cursor=cursor))
                while True:
                    lines = [line for frame in await link.receive() if (line := envelope_line(frame))]
                    if lines:
                        yield lines
                        cursor = seq_of(lines[-1])
            except HungUp as exc:
                structlog.get_logger().info("lost the society", why=str(exc))
            finally:
                link.close()
            await asyncio.sleep(self._backoff.first_s)


class Requests:
    """Asks a society for things, one connection for all; `run` keeps it.

    Attributes:
        connections: How many there have been; a new one may lead to a society that knows nothing of the last.
    """

    def __init__(self, find: FindAddress, *, backoff: Backoff = PATIENT) -> None:
        """Prepare."""
        self._find = find
        self._backoff = backoff
        self._link: Link | None = None
        self._open: dict[int, asyncio.Future[Frame]] = {}
        self._n = 0
        self.connections = 0
        self._is_there = asyncio.Event()

    async def run(self) -> None:
        """Keep the connection until cancelled, whatever comes over it."""
        log = structlog.get_logger()
        faults = 0
        while True:
            try:
                await self._serve()
            except GatewayError as exc:
                faults = 0
                log.info("lost the society", why=str(exc))
            except Exception as exc:
                faults += 1
                log.exception("the connection to the society failed", why=f"{type(exc).__name__}: {exc}")
            await asyncio.sleep(self._backoff.delay_s(faults))

    async def _serve(self) -> None:
        """Connect, and settle requests until the connection ends."""
        link = await knock(self._find, backoff=self._backoff)
        self._link = link
        self.connections += 1
        self._is_there.set()
        try:
            while True:
                for line in await link.receive():
                    self._settle(decode(line))
        finally:
            self._link = None
            self._is_there.clear()
            link.close()
            self._drop()

    @property
    def is_connected(self) -> bool:
        """Say whether there is a society to ask."""
        return self._is_there.is_set()

    async def connected(self) -> None:
        """Wait until there is a society to ask."""
        await self._is_there.wait()

    async def publish(self, draft: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """Publish a draft and return its receipt: `status`, and `seq` and `id`, or `why`.

        Raises:
            SocietyAway: Not connected, or the connection broke: unknown outcome, try again with the same key.
        """
        receipt: Mapping[str, Any] = await self._request("publish", draft=draft, key=key)
        return receipt

    async def ask(self, question: str, args: Mapping[str, Any]) -> str:
        """Ask a question and return the answer.

        Raises:
            SocietyAway: Not connected, or the connection broke.
        """
        return str((await self._request("ask", question=question, args=args)).get("text", ""))

    async def head(self) -> int:
        """Return the seq of the log's end.

        Raises:
            SocietyAway: Not connected, or the connection broke.
        """
        return int((await self._request("head"))["seq"])

    async def report(self, event: str, **facts: object) -> bool:
        """Tell the society of something, if it is there; nothing comes back.

        Returns:
            Whether it was sent.
        """
        if self._link is None:
            return False
        try:
            await self._link.send(encode("report", event=event, **facts))
        except HungUp:
            return False
        return True

    async def _request(self, op: str, **fields: object) -> Frame:
        link = self._link
        if link is None:
            raise SocietyAway("the society is away")
        self._n += 1
        n = self._n
        future: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._open[n] = future
        try:
            await link.send(encode(op, n=n, **fields))
            return await future
        except HungUp as exc:
            raise SocietyAway(str(exc)) from exc
        finally:
            self._open.pop(n, None)

    def _settle(self, frame: Frame) -> None:
        future = self._open.get(frame.get("n", 0))
        if future is not None and not future.done():
            future.set_result(frame)

    def _drop(self) -> None:
        for future in self._open.values():
            if not future.done():
                future.set_exception(SocietyAway("the society went away"))
