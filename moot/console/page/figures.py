"""Dashboards: System A, System B, the referee, experiments; computed from the last messages of a few types."""

from __future__ import annotations

from moot.console.model.interface import ReadModel
from moot.console.page.figures_a import system_a
from moot.console.page.figures_b import system_b
from moot.console.page.figures_lab import lab
from moot.console.page.figures_parts import Page
from moot.console.page.figures_referee import referee


async def figures_of(model: ReadModel, name: str) -> Page:
    """Return a dashboard: `a`, `b`, `referee` or `lab`."""
    made = {"a": system_a, "b": system_b, "referee": referee, "lab": lab}[name]
    page = await made(model)
    if not (progress := model.index_progress()).is_complete:
        page["note"] = f"{progress}: the figures grow with it."
        page["part"] = True
    return page
