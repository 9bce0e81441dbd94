"""The notebook in a spell: it is gone, or does not answer in time."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from moot.bots.notebook.answers import Described, Passage
from moot.bots.notebook.client import Notebook
from moot.bots.notebook.errors import NotebookTimeout, NotebookUnavailable
from moot.cases.arena.scripted_notebook import ScriptedNotebook
from moot.chaos.striking import Striking

NOTES: Final = {
    "costs.md": "# Costs\n\nA trade costs what the market gives way, and a fee.\n",
    "reviews.md": "# Reviews\n\nA plan that nobody reviewed was wrong more often.\n",
}
"""The notes of a world on files, by name; the bundled server serves them."""


def write_notes(directory: Path) -> Path:
    """Write the notes of a world on files; return their folder."""
    folder = directory / "notes"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


class StruckNotebook(Notebook):
    """A notebook as its spells let it be."""

    def __init__(self, within: Notebook | None, striking: Striking) -> None:
        """Stand before a notebook; None: before one in memory, which knows what it is asked."""
        self._within = ScriptedNotebook("notes", "ok") if within is None else within
        self._striking = striking
        self._asked = 0

    async def describe(self) -> Described:
        self._check()
        return await self._within.describe()

    async def query(self, text: str, limit: int = 5) -> tuple[Passage, ...]:
        self._check()
        return await self._within.query(text, limit)

    async def studio_create(self, title: str, text: str) -> str:
        self._check()
        return await self._within.studio_create(title, text)

    async def close(self) -> None:
        await self._within.close()

    def _check(self) -> None:
        self._asked += 1
        if self._striking.strikes("transport.notebook_gone", "", "notebook", self._asked):
            raise NotebookUnavailable("the notebook is gone, on purpose")
        if self._striking.strikes("transport.notebook_hangs", "", "notebook", self._asked):
            raise NotebookTimeout("the notebook does not answer in time, on purpose")
