"""Which tools an Arena seat has, and which of them it may use: only the Finalizer may write (3.2, 8.3, 10.4)."""

from __future__ import annotations

from typing import Final, NoReturn

from bots.tools.access import READ_ONLY, READ_WRITE, Access, Toolbox
from bots.tools.errors import NotebookUnavailable, StudioUnavailable
from bots.tools.notebook import Notebook
from bots.tools.notebook_tools import notebook_tools
from protocols.kernel.seats import Seat

ALLOWED: Final[dict[Seat, frozenset[Access]]] = {
    Seat.PLANNER: READ_ONLY,
    Seat.REVIEWER: READ_ONLY,
    Seat.FINALIZER: READ_WRITE,
}
"""What each seat may use; whatever it tries beyond that is blocked before it runs."""


def toolbox_of(seat: Seat, notebook: Notebook | None) -> Toolbox:
    """Equip a seat for one obligation.

    Args:
        seat: Planner, Reviewer or Finalizer.
        notebook: The notebook service; without one every question to it fails.
    """
    return Toolbox(notebook_tools(NOWHERE if notebook is None else notebook), ALLOWED[seat])


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
