"""Where a run's notebook comes from."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from bots.tools.errors import NotebookUnavailable
from bots.tools.notebook import McpNotebook, Notebook
from bots.tools.notebook_reach import Address, Command, Folder, Reach
from moot.clock import Clock
from moot.clock.io_thread import IoThread


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


@asynccontextmanager
async def opened(source: NotebookSource | None, clock: Clock) -> AsyncIterator[Notebook | None]:
    """Connect to a notebook service for as long as it is needed; its I/O runs on a thread of its own (K22).

    Yields:
        The notebook; None without a source. It connects when it is first asked.

    Raises:
        NotebookUnavailable: What names it cannot be read.
    """
    if source is None:
        yield None
        return
    async with IoThread(clock, name="moot-notebook") as io:
        notebook = McpNotebook(reach_of(source), io)
        try:
            yield notebook
        finally:
            await notebook.close()
