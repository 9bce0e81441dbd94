"""One connection from a guest to a society: greeting, frames, silence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import structlog

from moot.channels.backoff import PATIENT, Backoff
from moot.channels.gateway.protocol import VERSION, Frame, Frames, GatewayError, HungUp, decode, encode

SILENCE: Final = 3
"""Heartbeats that may be missing before a connection counts as dead."""

GREETING_S: Final = 10.0
"""How long a society has to answer a `hello`."""

MOST_HEARTBEAT_S: Final = 3_600.0
"""A society that would show less often that it lives is none."""

FindAddress = Callable[[], Path]
"""Where the socket is now; asked before every attempt, for it may move when the society restarts."""


class SocietyAway(GatewayError):
    """Say that no society answers at the moment."""


class LogReplaced(GatewayError):
    """Say that the society now keeps another log, or lost the end of this one."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """What the society said first.

    Attributes:
        log_id: Which log it keeps.
        head: Seq of its last line then.
        heartbeat_s: How often it shows that it lives.
    """

    log_id: str
    head: int
    heartbeat_s: float


class Link:
    """One connection to a society, after the greeting."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take over a connection."""
        self._frames = Frames(reader)
        self._writer = writer
        self.welcome = Welcome("", 0, GREETING_S)

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Connect and greet.

        Raises:
            SocietyAway: Nobody listens there.
            GatewayError: Who listens there does not speak this protocol.
        """
        try:
            reader, writer = await asyncio.open_unix_connection(str(path))
        except OSError as exc:
            raise SocietyAway(f"no society at {path}: {exc.strerror or exc}") from exc
        link = cls(reader, writer)
        try:
            await link.send(encode("hello", version=VERSION))
            async with asyncio.timeout(GREETING_S):
                frame = decode((await link.receive())[0])
            link.welcome = _welcome(frame)
        except TimeoutError as exc:
            link.close()
            raise SocietyAway(f"the society at {path} does not answer") from exc
        except BaseException:
            link.close()
            raise
        return link

    async def send(self, frame: bytes) -> None:
        """Send a frame.

        Raises:
            HungUp: The connection is gone.
        """
        try:
            self._writer.write(frame)
            await self._writer.drain()
        except OSError as exc:
            raise HungUp(str(exc)) from exc

    async def receive(self) -> list[bytes]:
        """Return the next frames, at least one.

        Raises:
            HungUp: The connection is gone, or silent for longer than a living society is.
        """
        try:
            async with asyncio.timeout(SILENCE * self.welcome.heartbeat_s):
                return await self._frames.some()
        except TimeoutError as exc:
            raise HungUp("the society fell silent") from exc

    def close(self) -> None:
        """Hang up at once."""
        self._writer.transport.abort()


def _welcome(frame: Frame) -> Welcome:
    if frame["op"] != "welcome":
        raise GatewayError(str(frame.get("why", "the society did not say welcome")))
    log_id, head, heartbeat_s = (frame.get(name) for name in ("log_id", "head", "heartbeat_s"))
    if (
        not isinstance(log_id, str)
        or not isinstance(head, int)
        or not isinstance(heartbeat_s, int | float)
        or not 0 < heartbeat_s <= MOST_HEARTBEAT_S
    ):
        raise GatewayError("the society's welcome lacks something, or has it wrong")
    return Welcome(log_id, head, float(heartbeat_s))


async def knock(find: FindAddress, *, backoff: Backoff = PATIENT) -> Link:
    """Connect, trying until a society answers."""
    failures = 0
    while True:
        try:
            return await Link.open(_found(find))
        except GatewayError as exc:
            failures += 1
            if failures in (1, 10, 100):
                structlog.get_logger().info("waiting for the society", why=str(exc))
            await asyncio.sleep(backoff.delay_s(failures))


def _found(find: FindAddress) -> Path:
    try:
        return find()
    except (OSError, UnicodeDecodeError) as exc:
        raise SocietyAway(f"where the society is cannot be read: {exc}") from exc
