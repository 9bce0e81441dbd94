"""Where a run's notebook comes from."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from moot.bots.notebook.answers import Described, Passage
from moot.bots.notebook.client import Io, McpNotebook
from moot.bots.notebook.errors import NotebookUnavailable
from moot.bots.notebook.reach import Address, Command, Folder, Reach
from moot.clock import Clock
from moot.clock.io_thread import IoThread

MOST_OPEN: Final = 8
"""Notebooks of one service that are connected to at a time."""


@dataclass(frozen=True, slots=True)
class NotebookSource:
    """A notebook service.

    Attributes:
        kind: A folder of notes (the bundled server serves it), a command that starts an MCP server, or its URL.
        value: The folder's path, the command line, the URL.
    """

    kind: Literal["folder", "command", "url"]
    value: str


def reach_of(source: NotebookSource) -> Reach:
    """Return where a notebook's server is.

    Raises:
        NotebookUnavailable: The command line cannot be read, or the address is none.
    """
    if source.kind == "folder":
        return Folder(Path(source.value))
    if source.kind == "url":
        if urlsplit(source.value).scheme not in ("http", "https"):
            raise NotebookUnavailable("a notebook's address starts with http:// or https://")
        return Address(source.value)
    try:
        argv = tuple(shlex.split(source.value))
    except ValueError as error:
        raise NotebookUnavailable(f"the notebook's command line cannot be read ({error})") from None
    if not argv:
        raise NotebookUnavailable("the notebook's command line is empty")
    return Command(argv)


class NotebookService:
    """A notebook service: asked itself it is asked for no notebook by name, `named` gives the one that a run names.

    Each name has a connection of its own, made when it is first asked. A folder is one notebook under any name.
    """

    def __init__(self, reach: Reach, io: Io) -> None:
        """Take where the service is; nothing is started yet."""
        self._reach = reach
        self._io = io
        self._by_id: dict[str, McpNotebook] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    def named(self, notebook_id: str) -> McpNotebook:
        """Return a notebook by its id, which is told to every tool that asks for a `notebook_id` (4.3).

        Beyond `MOST_OPEN` the one that was longest not asked for is closed; when it is named again it is opened anew.
        """
        key = "" if isinstance(self._reach, Folder) else notebook_id
        found = self._by_id.pop(key, None)
        if found is None:
            found = McpNotebook(self._reach, self._io, notebook_id=key or None)
        self._by_id[key] = found
        while len(self._by_id) > MOST_OPEN:
            oldest = self._by_id.pop(next(iter(self._by_id)))
            task = asyncio.get_running_loop().create_task(oldest.close(), name="closing a notebook")
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)
        return found

    async def describe(self) -> Described:
        """Describe the notebook that the service has without a name."""
        return await self.named("").describe()

    async def query(self, text: str, limit: int = 5) -> tuple[Passage, ...]:
        """Find passages in the notebook that the service has without a name."""
        return await self.named("").query(text, limit)

    async def studio_create(self, title: str, text: str) -> str:
        """Write a report with the notebook that the service has without a name."""
        return await self.named("").studio_create(title, text)

    async def close(self) -> None:
        """Close every connection."""
        await asyncio.gather(*(one.close() for one in self._by_id.values()), *self._leaving)


@asynccontextmanager
async def opened(source: NotebookSource | None, clock: Clock) -> AsyncIterator[NotebookService | None]:
    """Reach a notebook service for as long as it is needed; its I/O runs on a thread of its own (K22).

    Yields:
        The service; None without a source. It connects when it is first asked.

    Raises:
        NotebookUnavailable: What names it cannot be read.
    """
    if source is None:
        yield None
        return
    async with IoThread(clock, name="moot-notebook") as io:
        service = NotebookService(reach_of(source), io)
        try:
            yield service
        finally:
            await service.close()
