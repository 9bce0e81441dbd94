"""The wire to a notebook's server, watched: when it ends, what on it is no message, what the server said last."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Final, Self

import httpx2
from mcp.client._transport import ReadStream, TransportStreams
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from moot.bots.notebook.errors import NotebookUnavailable, one_line
from moot.bots.notebook.reach import PASSED_ON, Address, Command, Folder, Reach
from moot.channels.network import UnusableNetwork, http_client

TAIL_BYTES: Final = 4_096
HTTP_CONNECT_S: Final = 10.0
HTTP_READ_S: Final = 300.0
"""A server may keep a stream open; what a call may take is limited elsewhere."""

NOISY: Final = ("mcp.client.stdio", "mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher", "client")


class Wire:
    """What was seen on a connection.

    Attributes:
        garbage: How many messages were no MCP messages.
        is_over: Whether the server's side has ended.
        is_started: Whether a process was started, or none is needed.
        http_failure: The HTTP status of the last request, where it tells of a failure; else empty.
    """

    def __init__(self, on_end: Callable[[], None]) -> None:
        self.garbage = 0
        self.is_over = False
        self.is_started = False
        self.http_failure = ""
        self._on_end = on_end
        self._tail = b""

    def end(self) -> None:
        """Note that no further message will come."""
        self.is_over = True
        self._on_end()

    def hear(self, data: bytes) -> None:
        """Take in what a started server writes to its standard error."""
        self._tail = (self._tail + data)[-TAIL_BYTES:]

    @property
    def last_words(self) -> str:
        """The last line that a started server wrote to its standard error."""
        lines = [line for line in self._tail.decode("utf-8", "replace").splitlines() if line.strip()]
        return one_line(lines[-1], 160) if lines else ""


def transport(reach: Reach, wire: Wire) -> AbstractAsyncContextManager[TransportStreams]:
    """Return the transport to a server, not entered yet."""
    _be_quiet()
    if isinstance(reach, Address):
        return _http(reach, wire)
    return _process(reach.command() if isinstance(reach, Folder) else reach, wire)


@asynccontextmanager
async def _process(command: Command, wire: Wire) -> AsyncIterator[TransportStreams]:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    parameters = StdioServerParameters(
        command=command.argv[0],
        args=list(command.argv[1:]),
        env=environment | dict(command.env),
        cwd=command.cwd,
        encoding_error_handler="replace",
    )
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as ear, os.fdopen(writing, "w") as mouth:
        pipe, _protocol = await asyncio.get_running_loop().connect_read_pipe(lambda: _Ear(wire), ear)
        try:
            async with stdio_client(parameters, errlog=mouth) as (read, write):
                # Only the server holds it now, so that its end is seen.
                mouth.close()
                wire.is_started = True
                yield _Watched(read, wire), write
        finally:
            pipe.close()


@asynccontextmanager
async def _http(address: Address, wire: Wire) -> AsyncIterator[TransportStreams]:
    async def note(response: httpx2.Response) -> None:
        # A server may decline the GET for a stream of its own messages; every call is a POST.
        if response.request.method == "POST":
            wire.http_failure = f"HTTP status {response.status_code}" if response.status_code >= 400 else ""

    wire.is_started = True
    timeout = httpx2.Timeout(HTTP_CONNECT_S, read=HTTP_READ_S)
    async with (
        _client(address, timeout=timeout, event_hooks={"response": [note]}) as client,
        streamable_http_client(address.url, http_client=client) as (read, write),
    ):
        yield _Watched(read, wire), write


def _client(address: Address, **options: Any) -> httpx2.AsyncClient:
    """Return the HTTP client for a server.

    Raises:
        NotebookUnavailable: A proxy or a file of authorities that the environment names cannot be used.
    """
    try:
        return http_client(address.url, headers=dict(address.headers), **options)
    except UnusableNetwork as exc:
        raise NotebookUnavailable(f"{address.label}: {exc}") from None


class _Ear(asyncio.Protocol):
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def data_received(self, data: bytes) -> None:
        self._wire.hear(data)


class _Watched:
    """A read stream that tells the wire what comes by."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception], wire: Wire) -> None:
        self._stream = stream
        self._wire = wire

    async def receive(self) -> SessionMessage | Exception:
        try:
            message = await self._stream.receive()
        except Exception:
            self._wire.end()
            raise
        return self._seen(message)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            message = await self._stream.__anext__()
        except Exception:
            self._wire.end()
            raise
        return self._seen(message)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def close(self) -> None:
        """Close without waiting, as the SDK's own streams can."""
        close = getattr(self._stream, "close", None)
        if callable(close):
            close()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)

    def _seen(self, message: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(message, Exception):
            self._wire.garbage += 1
        return message


def _be_quiet() -> None:
    """Keep the SDK's tracebacks out of the society's log: every failure is told once, by an error of ours."""
    for name in NOISY:
        logger = logging.getLogger(name)
        if _has_no_traceback not in logger.filters:
            logger.addFilter(_has_no_traceback)
    # One line for each request would be written otherwise, with its whole address.
    logging.getLogger("httpx2").setLevel(logging.WARNING)


def _has_no_traceback(record: logging.LogRecord) -> bool:
    return not record.exc_info
