"""The simulated minds that suggestions come from: as the society seats them, but that they can write nothing."""

from __future__ import annotations

import asyncio
from typing import Final, NoReturn

from moot.bots.minds.mind import Mind, View
from moot.bots.minds.simulated.arena.writer import SimulatedWriter
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.minds.simulated.panel.writer import SimulatedPanelWriter
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.notebook.answers import Described, Passage
from moot.bots.notebook.client import Notebook
from moot.bots.notebook.errors import StudioUnavailable
from moot.bots.seats.arena import ArenaMind
from moot.bots.seats.panel import PanelMind
from moot.bots.seats.sessions import SessionStore
from moot.cases.arena.source import opened
from moot.clock import RealClock
from moot.memory.evidence import DirectoryEvidence
from moot.plan import Plan, market_of, prices
from moot.protocols.arena.seats import ARENA
from moot.protocols.kernel.message import Message
from moot.protocols.panel.seats import PANEL
from moot.seating import source_of

WRITES_NOTHING: Final = "a suggestion writes no report"


class Minds:
    """Answers for any seat. Prices are loaded at the first question and kept; a notebook is opened for each."""

    def __init__(self, log_id: str) -> None:
        """Prepare for the society of a log."""
        self.log_id = log_id
        self._tools: SimulatedTools | None = None

    def answer(self, plan: Plan, view: View) -> Message | None:
        """Ask the mind of the view's seat; in a thread of its own, for it computes and waits.

        Raises:
            NotebookUnavailable: What names the Arena's notebook cannot be read.
        """
        if view.seat in ARENA:
            return asyncio.run(_of_arena(plan, view))
        return asyncio.run(_said(self._mind(plan, view), view))

    def _mind(self, plan: Plan, view: View) -> Mind:
        if view.seat in PANEL:
            return PanelMind(SimulatedPanelWriter(plan.seed))
        if self._tools is None:
            universe, _ = prices(plan)
            market, _ = market_of(plan, universe)
            assert plan.directory is not None
            evidence = DirectoryEvidence(plan.directory / "evidence")
            self._tools = SimulatedTools(universe, evidence, plan.seed, market=market)
        return SimulatedMind(self._tools)


class Unwritable:
    """A notebook in which nothing can be written: what is only suggested leaves no report behind (Arena 8.3)."""

    def __init__(self, notebook: Notebook) -> None:
        """Take the notebook that is read."""
        self._notebook = notebook

    async def describe(self) -> Described:
        """Tell what the notebook holds."""
        return await self._notebook.describe()

    async def query(self, text: str, limit: int = 5) -> tuple[Passage, ...]:
        """Find passages."""
        return await self._notebook.query(text, limit)

    async def studio_create(self, title: str, text: str) -> NoReturn:
        """Refuse."""
        raise StudioUnavailable(WRITES_NOTHING)

    async def close(self) -> None:
        """Leave it to whoever opened it."""


async def _of_arena(plan: Plan, view: View) -> Message | None:
    # A connection of its own, ended with the answer: the society's notebook works on the society's thread.
    async with opened(source_of(plan.settings), RealClock()) as notebook:
        unwritable = None
        if notebook is not None:
            unwritable = Unwritable(notebook.named(view.brief["notebook_id"]))
        return await _said(
            ArenaMind(SimulatedWriter(plan.seed), lambda _view: unwritable, SessionStore()), view
        )


async def _said(mind: Mind, view: View) -> Message | None:
    reply = await mind.answer(view)
    return None if reply is None else reply.body
