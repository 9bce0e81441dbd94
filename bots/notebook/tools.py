"""A notebook's tools for a `Toolbox`, each with its access mode (Arena 3.2, 10.4)."""

from __future__ import annotations

from moot.bots.notebook.access import Access, Tool
from moot.bots.notebook.client import Notebook


def notebook_tools(notebook: Notebook) -> tuple[Tool, ...]:
    """Return the Arena's tools on a notebook, without asking its server anything.

    `studio_create` is among them where the server lacks it, too: calling it tells (`StudioUnavailable`).
    """
    return (
        Tool("notebook_describe", Access.READ, notebook.describe),
        Tool("notebook_query", Access.READ, notebook.query),
        Tool("studio_create", Access.WRITE, notebook.studio_create),
    )
