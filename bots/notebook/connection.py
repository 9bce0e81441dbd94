"""One connection to a notebook's server, opened, used and closed on the I/O thread (K22).

The SDK's connection is made of task groups, which must be left by the task that entered them: one task owns it, from
connecting to the last wait for a started process. Calls run beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import anyio
from mcp import Client, MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, CallToolResult, Implementation, Tool
from pydantic import ValidationError

from moot.bots.notebook.errors import (
    NotebookError,
    NotebookGarbage,
    NotebookRefused,
    NotebookTimeout,
    NotebookUnavailable,
    one_line,
)
from moot.bots.notebook.reach import Address, Reach
from moot.bots.notebook.transport import Wire, transport

MOST_PAGES: Final = 20
"""How many pages of a server's list of tools are asked for."""
SETTLING_TURNS: Final = 32
"""The end of a process was seen to take 5 to 6 turns of the loop to arrive."""
LAST_WORDS_S: Final = 0.5
"""How long a server that died is waited for, to quote what it said last."""
PARTING_S: Final = 1.0
"""How long a server may take to say good-bye before the connection is cut."""

ENDINGS: Final = frozenset({"Connection closed", "SSE stream ended without a response"})
"""What the SDK says where an HTTP connection ended before its answer."""

OURS: Final = Implementation(name="moot", version="1")


class Connection:
    """A connection; usable between `open` and the first failure. Every method runs on the I/O thread."""

    def __init__(self, reach: Reach, *, is_legacy: bool) -> None:
        """Start connecting; `is_legacy` asks in the older of the protocol's two ways only."""
        self.tools: dict[str, Tool] = {}
        self.server_name = ""
        self._reach = reach
        self._wire = Wire(on_end=self.retire)
        self._client = Client(
            transport(reach, self._wire),
            mode="legacy" if is_legacy else "auto",
            cache=None,
            client_info=OURS,
        )
        self._scope = anyio.CancelScope()
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._calls: set[asyncio.Task[Any]] = set()
        self._is_retired = False
        self._broken: Exception | None = None
        self._task = asyncio.create_task(self._live(), name="notebook session")

    @property
    def is_usable(self) -> bool:
        """Whether it is open and has not failed."""
        return (
            not self._is_retired and not self._task.done() and self._ready.done() and not self._wire.is_over
        )

    async def settle(self) -> None:
        """Let the loop see what has already happened.

        A server that died while nobody asked has closed its pipes, but its end passes through several tasks
        before `is_usable` knows.
        """
        for _turn in range(SETTLING_TURNS):
            await asyncio.sleep(0)

    def on_end(self, told: Callable[[], None]) -> None:
        """Say whom to tell when the connection and a started process are gone."""
        self._task.add_done_callback(lambda _task: told())

    def schema(self, tool: str) -> Mapping[str, Any]:
        """Return the JSON Schema of a tool's parameters; empty where the server lists none."""
        listed = self.tools[tool].input_schema if tool in self.tools else None
        return listed if isinstance(listed, Mapping) else {}

    async def open(self, limit_s: float) -> None:
        """Wait until it is connected and the tools are listed.

        Raises:
            NotebookTimeout: It takes longer than `limit_s` wall seconds.
            NotebookUnavailable: It cannot be started or reached.
            NotebookGarbage: What answers is no notebook.
        """
        try:
            async with asyncio.timeout(limit_s):
                await asyncio.shield(self._ready)
        except TimeoutError as error:
            raise self._late("connecting", limit_s, self._wire.garbage) from error
        except Exception as error:
            raise await self._told(error, "connecting") from error
        finally:
            if not self._ready.done() or self._ready.cancelled() or self._ready.exception() is not None:
                self._is_retired = True
                self._scope.cancel()
        if "notebook_query" not in self.tools:
            self.retire()
            offered = ", ".join(sorted(self.tools)) or "nothing"
            raise NotebookGarbage(f"{self._reach.label} offers no notebook_query, but {offered}")

    async def call(self, name: str, arguments: dict[str, Any], limit_s: float) -> CallToolResult:
        """Call a tool; whatever the server and the library do, it ends after `limit_s` wall seconds.

        Raises:
            NotebookTimeout: The limit passed.
            NotebookUnavailable: The connection ended.
            NotebookRefused: The server refused the call.
            NotebookGarbage: The answer breaks the tool's own promise.
        """
        garbage = self._wire.garbage
        call = asyncio.create_task(self._client.call_tool(name, arguments))
        self._calls.add(call)
        call.add_done_callback(self._ended)
        try:
            # Not `asyncio.timeout`, which would wait for the library to be done with its cancelling.
            await asyncio.wait({call}, timeout=limit_s)
        finally:
            is_late = not call.done()
            # Its cancelling may hang in the library; nobody waits for that.
            self._calls.discard(call)
            call.cancel()
        if is_late:
            self.retire()
            raise self._late(f"calling {name}", limit_s, garbage)
        if call.cancelled():
            raise NotebookUnavailable(f"{self._reach.label} was closed while calling {name}")
        try:
            return call.result()
        except Exception as error:
            raise await self._told(error, f"calling {name}") from error

    def retire(self) -> None:
        """Let the calls under way end, then close; no new call comes here."""
        self._is_retired = True
        if not self._calls or self._wire.is_over:
            self._stop.set()

    async def close(self, limit_s: float) -> None:
        """Close at once and wait until a started process is gone, at most `limit_s` wall seconds."""
        self._is_retired = True
        self._stop.set()
        if not self._ready.done():
            self._scope.cancel()
        _done, rest = await asyncio.wait({self._task}, timeout=min(PARTING_S, limit_s))
        if rest:
            self._scope.cancel()
            await asyncio.wait({self._task}, timeout=limit_s)

    async def _live(self) -> None:
        try:
            with self._scope:
                async with self._client as client:
                    await self._list_tools(client)
                    self._ready.set_result(None)
                    await self._stop.wait()
        except Exception as error:
            self._broken = error
            if not self._ready.done():
                self._ready.set_exception(error)
        finally:
            self._is_retired = True
            for call in self._calls:
                call.cancel()
            if not self._ready.done():
                self._ready.set_exception(
                    NotebookUnavailable(f"{self._reach.label}: closed while connecting")
                )
            # Nobody may be waiting any more.
            self._ready.exception()

    async def _list_tools(self, client: Client) -> None:
        cursor: str | None = None
        for _page in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            self.tools.update((tool.name, tool) for tool in page.tools)
            cursor = page.next_cursor
            if cursor is None:
                break
        self.server_name = one_line(client.server_info.name, 120) if client.server_info else self._reach.label

    def _ended(self, call: asyncio.Task[Any]) -> None:
        self._calls.discard(call)
        if not call.cancelled():
            call.exception()
        if self._is_retired and not self._calls:
            self._stop.set()

    def _late(self, doing: str, limit_s: float, garbage: int) -> NotebookError:
        if self._wire.garbage > garbage or (garbage and doing == "connecting"):
            return NotebookGarbage(f"{self._reach.label}: {doing} met answers that are no MCP messages")
        return NotebookTimeout(f"{self._reach.label}: {doing} took longer than {limit_s:g} s")

    async def _told(self, error: Exception, doing: str) -> NotebookError:
        """Translate what the SDK raises; a failed connection is retired, a refusal leaves it be."""
        what = f"{self._reach.label}: {doing}"
        error = _leaf(error)
        if isinstance(error, NotebookError):
            return error
        if isinstance(error, MCPError) and not self._is_ending(error):
            if self._wire.http_failure:
                self.retire()
                return NotebookUnavailable(f"{what} failed ({self._wire.http_failure}: {error.message})")
            return NotebookRefused(f"{what} was refused ({error.message})")
        self.retire()
        if isinstance(error, MCPError) and error.code == PARSE_ERROR:
            return NotebookGarbage(f"{what} met an answer that is no MCP message")
        if isinstance(error, ValidationError):
            return NotebookGarbage(
                f"{what} met an answer that is no MCP result ({error.error_count()} faults)"
            )
        if isinstance(error, RuntimeError):
            return NotebookGarbage(f"{what} met an answer that its tool does not promise ({error})")
        if isinstance(error, OSError) and error.strerror and not self._wire.is_started:
            return NotebookUnavailable(f"{what}: it cannot be started ({error.strerror})")
        # The task ends when a dead process has been waited for; then it is known what it said last.
        await asyncio.wait({self._task}, timeout=LAST_WORDS_S)
        said = self._wire.last_words
        if self._wire.garbage and not self.tools:
            return NotebookGarbage(f"{what} met answers that are no MCP messages")
        if said:
            return NotebookUnavailable(f"{what}: the connection ended; the server said: {said}")
        cause = _leaf(self._broken) if self._broken is not None else error
        why = "" if isinstance(cause, MCPError) else f" ({str(cause) or type(cause).__name__})"
        return NotebookUnavailable(f"{what}: the connection ended{why}")

    def _is_ending(self, error: MCPError) -> bool:
        """Whether the SDK itself made an error of a failed connection; servers use the same codes for their own."""
        if isinstance(self._reach, Address):
            return error.code == PARSE_ERROR or (error.code == CONNECTION_CLOSED and error.message in ENDINGS)
        return error.code == CONNECTION_CLOSED and self._wire.is_over


def _leaf(error: Exception) -> Exception:
    """Return the first error of a group, as task groups raise them."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
