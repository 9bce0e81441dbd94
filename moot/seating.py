"""Who sits where: the mind of every seat, as configuration and scripts say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from moot.bots.minds.admin import SimulatedAdmin
from moot.bots.minds.human import HumanMind
from moot.bots.minds.mind import Mind, View
from moot.bots.minds.model.research import ResearchKit
from moot.bots.minds.model.toolkit import Toolkit
from moot.bots.minds.scripted import Entry, ScriptedMind
from moot.bots.minds.simulated.arena.writer import SimulatedWriter
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.minds.simulated.panel.writer import SimulatedPanelWriter
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.notebook.client import Notebook
from moot.bots.seats.arena import ArenaMind
from moot.bots.seats.panel import PanelMind
from moot.bots.seats.sessions import SessionStore
from moot.bots.seats.writer import Writer
from moot.cases.arena.source import NotebookService, NotebookSource
from moot.config.settings import Settings
from moot.minds.model_minds import ModelMinds
from moot.minds.seated import OwnMinds
from moot.minds.writing import OwnPanelWriter, OwnWriter
from moot.protocols.arena.seats import ARENA
from moot.protocols.codec import decode_body
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.panel.seats import PANEL
from moot.protocols.research.seats import SYSTEM_A
from moot.protocols.rulebook import rulebook


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A seat's script and what it does when that is over."""

    entries: tuple[Entry, ...]
    then: Literal["simulated", "silent"] = "simulated"


def seats_of(settings: Settings) -> tuple[Seat, ...]:
    """Return the seats that bots fill, in the order in which they are seated."""
    book = rulebook()
    live = (one for one in book.protocols if settings.switches_on(one))
    return tuple(sorted(book.bots.intersection(info.seat for one in live for info in one.seats)))


def source_of(settings: Settings) -> NotebookSource | None:
    """Return the notebook service that the configuration names; None when it names none."""
    arena = settings.arena
    if arena.notebook:
        return NotebookSource("folder", arena.notebook)
    if arena.mcp:
        return NotebookSource("command", arena.mcp)
    return NotebookSource("url", arena.mcp_url) if arena.mcp_url else None


class Seating:
    """Makes the minds of a society; those of the Arena share a notebook and the Reviewer's sessions."""

    def __init__(
        self,
        settings: Settings,
        seed: int,
        scripts: Mapping[Seat, Script],
        tools: SimulatedTools,
        notebook: Notebook | None,
        own: OwnMinds,
        models: ModelMinds,
        between: Callable[[Notebook | None], Notebook | None] = lambda notebook: notebook,
    ) -> None:
        """Take what minds are made of; `between` stands between them and the notebook of a run."""
        self._settings = settings
        self._seed = seed
        self._scripts = scripts
        self._tools = tools
        self._notebook = notebook
        self._own = own
        self._models = models
        self._between = between
        self._sessions = SessionStore()

    def minds(self, *, is_admin_simulated: bool) -> dict[Seat, Mind]:
        """Return the mind of every seat that bots fill, and the admin's when that is simulated (R-D19)."""
        seats = seats_of(self._settings)
        return {seat: self.mind(seat) for seat in (*seats, *([ADMIN] if is_admin_simulated else ()))}

    def mind(self, seat: Seat) -> Mind:
        """Make the mind of a seat."""
        base = self._base(seat)
        script = self._scripts.get(seat)
        if script is None:
            return base
        is_over = script.then == "silent"
        return ScriptedMind(script.entries, fill=base, then=None if is_over else base, decode=decode_body)

    def _notebook_of(self, view: View) -> Notebook | None:
        """Return the notebook that the view's run names; of a service that has but one, that."""
        notebook = self._notebook
        if isinstance(notebook, NotebookService):
            notebook = notebook.named(view.brief["notebook_id"])
        return self._between(notebook)

    def _base(self, seat: Seat) -> Mind:
        if seat == ADMIN:
            return SimulatedAdmin(self._seed, SimulatedMind(self._tools))
        if self._own.is_silent(seat):
            return HumanMind()
        simulated = self._simulated(seat)
        if self._models.fills(seat):
            return self._models_mind(seat, simulated)
        own = self._own.mind(seat)
        if own is None:
            return simulated
        if seat in ARENA:
            return self._arena(OwnWriter(own))
        return PanelMind(OwnPanelWriter(own)) if seat in PANEL else own

    def _simulated(self, seat: Seat) -> Mind:
        if seat in ARENA:
            return self._arena(SimulatedWriter(self._seed, self._tools.temper))
        if seat in PANEL:
            return PanelMind(SimulatedPanelWriter(self._seed, self._tools.temper))
        return SimulatedMind(self._tools)

    def _models_mind(self, seat: Seat, simulated: Mind) -> Mind:
        models, temper = self._models, self._tools.temper
        if seat in ARENA:
            mind: Mind = self._arena(models.writer(seat, SimulatedWriter(self._seed, temper)))
        elif seat in PANEL:
            mind = PanelMind(models.panel_writer(seat, SimulatedPanelWriter(self._seed, temper)))
        else:
            kit = ResearchKit(self._tools) if seat in SYSTEM_A else Toolkit()
            return models.mind(seat, simulated, measured=simulated, kit=kit)
        return models.or_simulated(seat, mind, simulated)

    def _arena(self, writer: Writer) -> Mind:
        return ArenaMind(writer, self._notebook_of, self._sessions)
