"""Which tools an Arena seat has, and which of them it may use: only the Finalizer may write (3.2, 8.3, 10.4)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any, Final, NoReturn

from moot.bots.notebook.access import READ_ONLY, READ_WRITE, Access, Tool, Toolbox
from moot.bots.notebook.client import Notebook
from moot.bots.notebook.errors import NotebookUnavailable, StudioUnavailable
from moot.bots.notebook.tools import notebook_tools
from moot.protocols.arena.seats import FINALIZER, PLANNER, REVIEWER
from moot.protocols.kernel.seats import Seat

ALLOWED: Final[dict[Seat, frozenset[Access]]] = {
    PLANNER: READ_ONLY,
    REVIEWER: READ_ONLY,
    FINALIZER: READ_WRITE,
}
"""What each seat may use; whatever it tries beyond that is blocked before it runs."""


def toolbox_of(seat: Seat, notebook: Notebook | None, listed: Collection[str] | None = None) -> Toolbox:
    """Equip a seat for one obligation.

    Args:
        seat: Planner, Reviewer or Finalizer.
        notebook: The notebook service; without one every question to it fails.
        listed: The tools that the run's NotebookContext lists (4.3); a call of another one fails and does not reach the
            notebook. None: the run has no context.
    """
    tools = notebook_tools(NOWHERE if notebook is None else notebook)
    if listed is not None:
        tools = tuple([tool if tool.name in listed else _unlisted(tool) for tool in tools])
    return Toolbox(tools, ALLOWED[seat])


def _unlisted(tool: Tool) -> Tool:
    return replace(tool, call=partial(_refuse, tool))


async def _refuse(tool: Tool, **_arguments: Any) -> NoReturn:
    """Fail as a server does that lacks the tool: a report that cannot be written ends no run (8.3)."""
    why = f"the run's notebook context does not list {tool.name}"
    raise (StudioUnavailable if tool.access is Access.WRITE else NotebookUnavailable)(why)


class _Nowhere:
    """The notebook of a society that names none: every question to it fails."""

    async def describe(self) -> NoReturn:
        """Fail."""
        raise NotebookUnavailable("no notebook is configured")

    async def query(self, text: str, limit: int = 5) -> NoReturn:
        """Fail."""
        raise NotebookUnavailable("no notebook is configured")

    async def studio_create(self, title: str, text: str) -> NoReturn:
        """Fail."""
        raise StudioUnavailable("no notebook is configured")

    async def close(self) -> None:
        """Hold nothing."""


NOWHERE: Final[Notebook] = _Nowhere()
