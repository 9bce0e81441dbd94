"""What a society calls its models through, from start to end: clients, their thread, bodies, the bursar."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.bots.minds.mind import View
from moot.bots.models.answer import Answer
from moot.bots.models.caller import Caller
from moot.bots.models.client import ModelClient
from moot.bots.models.in_use import ModelInUse
from moot.bots.models.recorded import RecordedModels
from moot.bots.models.request import Request
from moot.bots.models.transport import LiveModels, Transport
from moot.bots.officers.bursar import Bursar
from moot.clock import Clock, IoThread
from moot.host import Host
from moot.memory.bodies import Bodies, InMemoryBodies
from moot.memory.bodies_file import CALLS_NAME, BodiesFile
from moot.model_start import ModelSeats, check_prices, client_of, find_out
from moot.ports import Ports
from moot.protocols.calls.exhaustion import Exhaustion
from moot.protocols.calls.ledger import is_wanted
from moot.protocols.kernel.minds import SIMULATED
from moot.protocols.kernel.seats import Seat

if TYPE_CHECKING:
    from moot.hosts.leading import Leading
    from moot.recording import Life

Synced = Callable[[int], Future[None]]
"""Gives what is done when the log is durable up to a seq."""


class ModelService:
    """What a society calls its models with.

    Attributes:
        models: What was found out about them; it stands in SOCIETY_STARTED.
        bodies: What they were asked, and what they answered.
    """

    def __init__(
        self, models: Mapping[str, ModelInUse], clock: Clock, bodies: Bodies, transport: Transport
    ) -> None:
        """Take what `model_service` prepared."""
        self.models = models
        self.bodies = bodies
        self._clock = clock
        self._transport = transport
        self._host: Host | None = None
        self._bursar: Bursar | None = None

    @property
    def host(self) -> Host:
        """Return the society's host, which is there once seats wake."""
        assert self._host is not None
        return self._host

    @property
    def _exhaustion(self) -> Exhaustion:
        found: Exhaustion = self.host.docket.context.fold_named("exhaustion")
        return found

    def is_simulated(self, seat: Seat) -> bool:
        """Say whether a simulated mind fills the seat of a model, by the log: a budget is spent."""
        return self._exhaustion.goes_on_with(seat) == SIMULATED

    @property
    def is_changing(self) -> bool:
        """Say whether the log is about to say who fills the seats of models."""
        return self._exhaustion.is_changing(self.host.docket)

    def as_log(self) -> dict[str, Any]:
        """Return what the log's configuration says of the models, by name."""
        return {name: model.as_log() for name, model in self.models.items()}

    def caller(self, model: str) -> Caller:
        """Return what a mind asks a model through, once the bursar is there."""
        return _LateCaller(self, model)

    async def serve(self, host: Host, fail: Callable[[Exception], None]) -> None:
        """Put the bursar into office, and settle what a crash left; after SOCIETY_STARTED, before seats wake.

        Args:
            host: The society's.
            fail: Told what keeps calls from being made or kept.
        """
        self._host, docket = host, host.docket

        self._bursar = Bursar(
            ledger=docket.context.fold_named("ledger"),
            publish=host.publish,
            is_owed=partial(is_wanted, docket),
            clock=self._clock,
            bodies=self.bodies,
            transport=self._transport,
            models=self.models,
            fail=fail,
        )
        host.listeners.append(self._bursar.folded)
        await self._bursar.recover()

    @property
    def bursar(self) -> Bursar:
        """Return the officer."""
        assert self._bursar is not None
        return self._bursar

    async def settle(self) -> None:
        """Have everything settled that is under way; before SOCIETY_STOPPED.

        In virtual time the answers are waited for, so that the log stays the same, unless somebody breaks the run off.
        """
        if self._bursar is not None:
            task = asyncio.current_task()
            is_broken_off = task is not None and task.cancelling() > 0
            await self._bursar.close(gives_up=self._clock.kind != "virtual" or is_broken_off)

    async def abandon(self) -> None:
        """Leave everything as a crash does."""
        if self._bursar is not None:
            await self._bursar.abandon()


class _LateCaller(Caller):
    """Asks through a bursar that comes later."""

    def __init__(self, calls: ModelService, model: str) -> None:
        self._calls = calls
        self._model = model

    async def ask(self, view: View, turn: int, request: Request) -> Answer:
        return await self._calls.bursar.caller(self._model).ask(view, turn, request)


@asynccontextmanager
async def model_service(
    seats: ModelSeats,
    clock: Clock,
    directory: Path | None,
    synced: Synced | None,
    life: Life | None = None,
    ports: Ports | None = None,
    led: Leading | None = None,
) -> AsyncIterator[ModelService | None]:
    """Find out how the models are called, and have everything closed in the end; None when no model fills a seat.

    Args:
        seats: The models.
        clock: The running clock.
        directory: Where bodies are kept; None: in memory.
        synced: Gives what is done when the log is durable up to a seq; None: whatever is published.
        life: A recorded one, whose answers count instead of the models'; None: none.
        ports: What stands between the society and its models; None: nothing.
        led: What this host leads with, of several that could; None: there is but one.

    Raises:
        BadInput: The recording has no bodies.
        UnusableModel: A model cannot be called, or its price is needed and not known.
        CorruptStore: The file of bodies is damaged.
        StoreUnavailable: It cannot be opened.
    """
    if not seats.models:
        yield None
        return
    check_prices(seats.models, seats.budget, clock.now())
    ports = ports or Ports()
    rehearsed = ports.models(seats)
    is_live = rehearsed is None and (life is None or life.goes_on)
    clients = {name: client_of(name, given) for name, given in seats.models.items()} if is_live else {}
    bodies: Bodies = InMemoryBodies() if directory is None else BodiesFile(directory / CALLS_NAME)
    if led is not None:
        bodies = led.bodies(bodies)
    with bodies:
        async with AsyncExitStack() as exits:
            io = await exits.enter_async_context(IoThread(clock, name="models"))
            for client in clients.values():
                exits.push_async_callback(closed, client, clock, io)
            if rehearsed is not None:
                models = rehearsed[0]
            else:
                models = life.models if life is not None else await find_out(seats, clients, clock, io)
            transport: Transport = LiveModels(
                {name: (client, models[name].rung) for name, client in clients.items()},
                spawn=io.spawn,
                bodies=bodies,
                synced=synced or at_once,
                waits_for_room=clock.kind != "virtual",
            )
            if rehearsed is not None:
                transport = rehearsed[1](bodies)
            elif life is not None:
                recorded = exits.enter_context(life.recording.bodies())
                live = transport if life.goes_on else None
                transport = RecordedModels(life.recording.answers(), recorded, bodies, models, live)
            calls = ModelService(models, clock, bodies, ports.calls(transport, models, bodies))
            exits.push_async_callback(calls.abandon)
            yield calls


async def closed(client: ModelClient, clock: Clock, io: IoThread) -> None:
    """Close a client where its sockets are."""
    await clock.from_thread(io.spawn(client.close))


def at_once(_seq: int) -> Future[None]:
    """Return what is done: whatever is published is durable."""
    done: Future[None] = Future()
    done.set_result(None)
    return done
