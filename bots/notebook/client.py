"""The Notebook: evidence for the Arena, from whatever MCP server the configuration names (Arena 4.3, 8).

`Notebook` is what minds know; `McpNotebook` is the client. Its network and process I/O runs where the injected `Io`
runs it, never on the society's loop, and all its limits are wall time (K22).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

from moot.bots.notebook.answers import Described, Passage, described, passages, report_ref
from moot.bots.notebook.errors import (
    NotebookError,
    NotebookQueryError,
    NotebookRefused,
    NotebookTimeout,
    NotebookUnavailable,
    StudioUnavailable,
)
from moot.bots.notebook.parameters import arguments_for
from moot.bots.notebook.reach import Reach

if TYPE_CHECKING:
    from mcp_types import CallToolResult

    from moot.bots.notebook.connection import Connection

CONNECT_S: Final = 10.0
CALL_S: Final = 20.0
TRIES: Final = 3
"""After so many connections in a row without an answer the notebook is left alone for `REST_S`."""
REST_S: Final = 60.0
CLOSE_S: Final = 12.0
MARGIN_S: Final = 5.0

T = TypeVar("T")
T_io = TypeVar("T_io")


class Io(Protocol):
    """Where network and process I/O runs: the society's I/O thread (K22)."""

    async def call(
        self, coro_factory: Callable[[], Coroutine[Any, Any, T_io]], *, wall_timeout_s: float
    ) -> T_io:
        """Run a coroutine there and await its result; a `TimeoutError` when the wall limit has passed."""


class Notebook(Protocol):
    """Evidence that can be searched and, where there is a studio, a place for reports."""

    async def describe(self) -> Described:
        """Tell what the notebook holds.

        Raises:
            NotebookError: It did not; see the tree in `moot.bots.tools.errors`.
        """

    async def query(self, text: str, limit: int = 5) -> tuple[Passage, ...]:
        """Find at most `limit` passages that bear on a text, best first; none is an answer, too.

        Raises:
            NotebookQueryError: The text is empty, or `limit` is below 1.
            NotebookError: It did not answer; see the tree in `moot.bots.tools.errors`.
        """

    async def studio_create(self, title: str, text: str) -> str:
        """Write a report and return its reference.

        Raises:
            StudioUnavailable: There is no studio, or it refused; the run goes on (Arena 8.3).
            NotebookError: It is unknown whether the report was written.
        """

    async def close(self) -> None:
        """Close the connection and end a server that was started for it; harmless when closed (K25)."""


class McpNotebook:
    """A notebook behind MCP: a started process, an address, or a folder served by the bundled server.

    It connects at the first call and stays connected. Several calls may run at once. A call that meets its limit
    fails alone: the connection is left to the calls still under way and closed after them, and the next call opens
    a new one, once. No call is ever sent twice.
    """

    def __init__(
        self,
        reach: Reach,
        io: Io,
        *,
        notebook_id: str | None = None,
        connect_s: float = CONNECT_S,
        call_s: float = CALL_S,
    ) -> None:
        """Take where the server is; nothing is started yet.

        Args:
            reach: The server.
            io: Runs the I/O.
            notebook_id: Which of a server's notebooks is meant; told to tools that ask for it.
            connect_s: Limit for connecting, in wall seconds.
            call_s: Limit for one call, in wall seconds.
        """
        self.reach = reach
        self._io = io
        self._notebook_id = notebook_id
        self._connect_s = connect_s
        self._call_s = call_s
        # All below is touched on the I/O thread only.
        self._opening = asyncio.Lock()
        self._current: Connection | None = None
        self._sessions: set[Connection] = set()
        self._fruitless = 0
        self._rests_until = 0.0
        self._is_legacy = False
        self._is_closed = False

    async def describe(self) -> Described:
        return await self._run(self._describe)

    async def query(self, text: str, limit: int = 5) -> tuple[Passage, ...]:
        if not text.strip():
            raise NotebookQueryError("the query is empty: it holds no word to look for")
        if limit < 1:
            raise NotebookQueryError(f"a query asks for at least 1 passage, not {limit}")
        return await self._run(lambda: self._query(text, limit))

    async def studio_create(self, title: str, text: str) -> str:
        return await self._run(lambda: self._studio_create(title, text))

    async def close(self) -> None:
        if self._is_closed and not self._sessions:
            return
        await self._limited(self._close, CLOSE_S + MARGIN_S, "closing the notebook")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        # A call may have to wait for another's connection before it makes its own.
        wall_s = 2 * self._connect_s + self._call_s + MARGIN_S
        return await self._limited(work, wall_s, f"{self.reach.label}: the call")

    async def _limited(self, work: Callable[[], Coroutine[Any, Any, T]], wall_s: float, what: str) -> T:
        try:
            return await self._io.call(work, wall_timeout_s=wall_s)
        except NotebookError:
            raise
        except TimeoutError as error:
            raise NotebookTimeout(f"{what} took longer than {wall_s:g} s") from error
        except RuntimeError as error:
            # The I/O thread is closed; bots know no class of its errors.
            raise NotebookUnavailable(f"{what} could not run ({error})") from error

    async def _describe(self) -> Described:
        session = await self._session()
        tools = tuple(sorted(session.tools))
        if "notebook_describe" not in session.tools:
            # Only notebook_query is owed (Arena 4.3); what is known of the server stands in for the rest.
            return Described(
                self._notebook_id or session.server_name, session.server_name, (), None, None, tools
            )
        answer = await self._call(session, "notebook_describe", {})
        return described(answer, self._notebook_id or session.server_name, tools)

    async def _query(self, text: str, limit: int) -> tuple[Passage, ...]:
        session = await self._session()
        return passages(await self._call(session, "notebook_query", {"query": text, "limit": limit}), limit)

    async def _studio_create(self, title: str, text: str) -> str:
        session = await self._session()
        if "studio_create" not in session.tools:
            raise StudioUnavailable(f"{self.reach.label} offers no studio_create")
        try:
            return report_ref(await self._call(session, "studio_create", {"title": title, "text": text}))
        except NotebookRefused as error:
            raise StudioUnavailable(str(error)) from error

    async def _call(self, session: Connection, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        wanted = dict(arguments)
        if self._notebook_id is not None:
            wanted["notebook_id"] = self._notebook_id
        try:
            given = arguments_for(name, session.schema(name), wanted)
        except NotebookRefused as error:
            raise NotebookRefused(f"{self.reach.label}: {error}") from error
        return await self._answer(session, name, given)

    async def _answer(self, session: Connection, name: str, arguments: dict[str, Any]) -> CallToolResult:
        answer = await session.call(name, arguments, self._call_s)
        self._fruitless = 0
        return answer

    async def _session(self) -> Connection:
        """Return the open session, or open one; several calls wait for the same one."""
        async with self._opening:
            if self._current is not None:
                await self._current.settle()
            if self._is_closed:
                raise NotebookUnavailable(f"{self.reach.label} is closed")
            if self._current is not None and self._current.is_usable:
                return self._current
            now = asyncio.get_running_loop().time()
            if self._fruitless >= TRIES and now < self._rests_until:
                wait = self._rests_until - now
                raise NotebookUnavailable(
                    f"{self.reach.label} failed {self._fruitless} times in a row; it is tried again in {wait:.0f} s"
                )
            # Forgotten at the first answer: a server that starts and dies at each call is bounded, too.
            self._fruitless += 1
            self._rests_until = now + REST_S
            # Importing the SDK takes half a second, which only a run with a notebook pays.
            from moot.bots.notebook.connection import Connection

            session = self._current = Connection(self.reach, is_legacy=self._is_legacy)
            self._sessions.add(session)
            session.on_end(lambda: self._sessions.discard(session))
            try:
                await session.open(self._connect_s)
            except NotebookTimeout:
                # A server that keeps silent about the newer protocol's first question is asked the older way next.
                self._is_legacy = not self._is_legacy
                raise
            return session

    async def _close(self) -> None:
        self._is_closed = True
        await asyncio.gather(*(session.close(CLOSE_S) for session in tuple(self._sessions)))
