"""A notebook's tools for a `Toolbox`, each with its access mode (Arena 3.2, 10.4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from bots.tools.access import Access, Tool
from bots.tools.notebook import McpNotebook, Notebook, OfferedTool

READS: Final = frozenset({"notebook_describe", "notebook_query"})
WRITES: Final = frozenset({"studio_create"})


def access_of(offered: OfferedTool) -> Access:
    """Tell what a server's tool may do.

    The tools of the Arena have the access that the Arena gives them, whatever a server says of them; any other
    tool writes unless its server says that it only reads.
    """
    if offered.name in READS:
        return Access.READ
    if offered.name in WRITES:
        return Access.WRITE
    return Access.READ if offered.is_read_only else Access.WRITE


def notebook_tools(notebook: Notebook) -> tuple[Tool, ...]:
    """Return the Arena's tools on a notebook, without asking its server anything.

    `studio_create` is among them where the server lacks it, too: calling it tells (`StudioUnavailable`).
    """
    return (
        Tool("notebook_describe", Access.READ, notebook.describe),
        Tool("notebook_query", Access.READ, notebook.query),
        Tool("studio_create", Access.WRITE, notebook.studio_create),
    )


async def all_tools(notebook: McpNotebook) -> tuple[Tool, ...]:
    """Return the Arena's tools and whatever else the server offers; the latter answer with text.

    Raises:
        NotebookError: The server cannot be asked.
    """
    own = notebook_tools(notebook)
    known = {tool.name for tool in own}
    others = [offered for offered in await notebook.offered() if offered.name not in known]
    return (
        *own,
        *(Tool(offered.name, access_of(offered), _calling(notebook, offered.name)) for offered in others),
    )


def _calling(notebook: McpNotebook, name: str) -> Callable[..., Awaitable[Any]]:
    call = partial(notebook.call_tool, name)

    async def run(**arguments: Any) -> str:
        return await call(arguments)

    return run
