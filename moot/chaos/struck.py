"""The ports of a world's society, with faults at each of them."""

from __future__ import annotations

from collections.abc import Mapping

from moot.bots.desk.broker import Broker
from moot.bots.desk.market import Market
from moot.bots.minds.mind import Mind
from moot.bots.models.in_use import ModelInUse
from moot.bots.models.transport import Transport
from moot.bots.notebook.client import Notebook
from moot.channels.bus import Bus
from moot.chaos.acked import AckedBus
from moot.chaos.dice import Dice
from moot.chaos.files import Disk
from moot.chaos.judge import Finding
from moot.chaos.market import MarketSpells, StruckBroker, StruckMarket
from moot.chaos.minds import StruckMind
from moot.chaos.model_server import ModelServer
from moot.chaos.models import ScriptedModels, in_use
from moot.chaos.notebook import StruckNotebook
from moot.chaos.plan import WorldPlan
from moot.chaos.striking import Striking
from moot.clock import Clock
from moot.memory.bodies import Bodies
from moot.model_start import ModelSeats
from moot.ports import Ports, Rehearsed
from moot.protocols.kernel.seats import ADMIN, Seat


class StruckPorts(Ports):
    """Stands at the ports of a world's society."""

    def __init__(
        self,
        plan: WorldPlan,
        striking: Striking,
        acked: dict[str, int],
        disk: Disk,
        bodies: list[Bodies],
        findings: list[Finding],
        server: ModelServer | None = None,
    ) -> None:
        self._plan = plan
        self._server = server
        self._bodies = bodies
        self._findings = findings
        self._striking = striking
        self._acked = acked
        self._disk = disk
        self._spells = MarketSpells(plan, striking)
        self._notebooks: dict[Notebook | None, StruckNotebook] = {}

    def bus(self, bus: Bus, clock: Clock) -> Bus:
        waits = self._plan.bus == "sqlite" and clock.kind != "virtual"
        return AckedBus(bus, self._acked, self._striking, self._disk, waits=waits)

    def mind(self, seat: Seat, mind: Mind, clock: Clock) -> Mind:
        # The simulated admin is a person; what goes wrong with people is theirs.
        if seat == ADMIN:
            return mind
        return StruckMind(
            seat,
            mind,
            self._striking,
            is_model=seat in self._plan.models,
            tardy=Dice("tardy", self._plan.seed) if self._plan.temper == "tardy" else None,
            peeking=self._findings,
        )

    def market(self, market: Market) -> Market:
        return StruckMarket(market, self._spells)

    def broker(self, broker: Broker) -> Broker:
        return StruckBroker(broker, self._spells)

    def notebook(self, notebook: Notebook | None) -> Notebook:
        found = self._notebooks.get(notebook)
        if found is None:
            found = self._notebooks[notebook] = StruckNotebook(notebook, self._striking)
        return found

    def models(self, seats: ModelSeats) -> Rehearsed | None:
        models = in_use(seats)
        if any(model.price is None for model in models.values()):
            self._striking.happened["models.no_price"] += 1
        if self._server is not None:
            self._server.is_struck = False
            return None

        def answers(bodies: Bodies) -> ScriptedModels:
            self._bodies.append(bodies)
            return ScriptedModels(models, bodies, self._striking)

        return models, answers

    def calls(self, transport: Transport, models: Mapping[str, ModelInUse], bodies: Bodies) -> Transport:
        if self._server is not None:
            self._server.is_struck = True
        return transport
