"""What a society calls its models with, from before its start to its end: clients, their thread, bodies, the bursar."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from moot.bots.minds.mind import View
from moot.bots.models.advice import advice
from moot.bots.models.answer import Answer
from moot.bots.models.calling import Caller
from moot.bots.models.client import ModelClient
from moot.bots.models.errors import NoKey, NoPackage, UnusableModel
from moot.bots.models.in_use import ModelInUse, endpoint_of
from moot.bots.models.key import key_of
from moot.bots.models.outside import LiveModels, Outside
from moot.bots.models.prices import price_of
from moot.bots.models.probing import Probed, find_rung
from moot.bots.models.replaying import RecordedModels
from moot.bots.models.request import Request
from moot.bots.officers.bursar import Bursar
from moot.clock import Clock, IoThread
from moot.clock.wall import monotonic_ns
from moot.config.budget import BudgetSettings
from moot.config.models import ModelSettings
from moot.host import Host
from moot.memory.bodies import Bodies, InMemoryBodies, StoredBodies
from moot.memory.bodies_file import CALLS_NAME, BodiesFile
from moot.minds.choosing import Chosen
from moot.protocols.calls.exhaustion import Exhaustion
from moot.protocols.calls.ledger import Ledger
from moot.protocols.calls.price import cost
from moot.protocols.kernel.minds import SIMULATED
from moot.protocols.kernel.seats import Seat

if TYPE_CHECKING:
    from moot.recording import Life

PROBE_S: Final = 120.0
"""Wall seconds that one probe may take."""

Synced = Callable[[int], Future[None]]
"""Gives what is done when the log is durable up to a seq."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSeats:
    """Which models are to be called, as a configuration has it.

    Attributes:
        models: Those that fill seats, by name.
        temperatures: What they are called with, where a seat says it.
        budget: What they may spend.
    """

    models: Mapping[str, ModelSettings]
    temperatures: Mapping[str, float]
    budget: BudgetSettings

    @classmethod
    def of(
        cls, chosen: Mapping[str, Chosen], models: Mapping[str, ModelSettings], budget: BudgetSettings
    ) -> ModelSeats:
        """Return the models that fill seats.

        Args:
            chosen: What fills the seats.
            models: The models of the configuration.
            budget: What models may spend.

        Raises:
            UnusableModel: There is no model of a name.
        """
        seats = [one.model for one in chosen.values() if one.model is not None]
        for seat in seats:
            if seat.model not in models:
                raise UnusableModel(f"there is no [models.{seat.model}]: write it with url and model")
        return cls(
            models={seat.model: models[seat.model] for seat in sorted(seats, key=lambda one: one.model)},
            temperatures={seat.model: seat.temperature for seat in seats if seat.temperature is not None},
            budget=budget,
        )


class Calls:
    """What a society calls its models with.

    Attributes:
        models: What was found out about them; it stands in SOCIETY_STARTED.
        bodies: What they were asked, and what they answered.
    """

    def __init__(
        self,
        models: Mapping[str, ModelInUse],
        clock: Clock,
        bodies: Bodies,
        outside: Outside,
        recorded: StoredBodies,
    ) -> None:
        """Take what `calling` prepared; `recorded` are the bodies of a run that is lived again, else its own."""
        self.models = models
        self.bodies = bodies
        self._recorded = recorded
        self._clock = clock
        self._outside = outside
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

        def is_owed(obligation_id: str, attempt: int) -> bool:
            return obligation_id in docket.open and docket.attempts.get(obligation_id, 0) == attempt

        self._bursar = Bursar(
            ledger=docket.context.fold_named("ledger"),
            publish=host.publish,
            is_owed=is_owed,
            clock=self._clock,
            bodies=self.bodies,
            outside=self._outside,
            models=self.models,
            fail=fail,
        )
        host.listeners.append(self._bursar.folded)
        if self._recorded is not self.bodies:
            await self._keep_lost(docket.context.fold_named("ledger"))
        await self._bursar.recover()

    async def _keep_lost(self, ledger: Ledger) -> None:
        """Keep the replies that a recorded life had when it was killed before it could settle them."""
        for call_id in ledger.open:
            record = self._recorded.reply_of(call_id)
            if record is not None:
                await self._clock.from_thread(self.bodies.put(record, call_id=call_id))

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

    def __init__(self, calls: Calls, model: str) -> None:
        self._calls = calls
        self._model = model

    async def ask(self, view: View, turn: int, request: Request) -> Answer:
        return await self._calls.bursar.caller(self._model).ask(view, turn, request)


@asynccontextmanager
async def calling(
    seats: ModelSeats,
    clock: Clock,
    directory: Path | None,
    synced: Synced | None,
    life: Life | None = None,
) -> AsyncIterator[Calls | None]:
    """Find out how the models are called, and have everything closed in the end; None when no model fills a seat.

    Args:
        seats: The models.
        clock: The running clock.
        directory: Where bodies are kept; None: in memory.
        synced: Gives what is done when the log is durable up to a seq; None: whatever is published.
        life: A recorded one, whose answers count instead of the models'; None: none.

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
    is_live = life is None or life.goes_on
    clients = {name: _client(name, given) for name, given in seats.models.items()} if is_live else {}
    bodies = InMemoryBodies() if directory is None else BodiesFile(directory / CALLS_NAME)
    with bodies:
        async with AsyncExitStack() as exits:
            io = await exits.enter_async_context(IoThread(clock, name="models"))
            for client in clients.values():
                exits.push_async_callback(_closed, client, clock, io)
            models = life.models if life is not None else await _found(seats, clients, clock, io)
            outside: Outside = LiveModels(
                {name: (client, models[name].rung) for name, client in clients.items()},
                spawn=io.spawn,
                bodies=bodies,
                synced=synced or _at_once,
                waits_for_room=clock.kind != "virtual",
            )
            recorded: StoredBodies = bodies
            if life is not None:
                recorded = exits.enter_context(life.recording.bodies())
                live = outside if life.goes_on else None
                outside = RecordedModels(life.recording.answers(), recorded, bodies, models, live)
            calls = Calls(models, clock, bodies, outside, recorded)
            exits.push_async_callback(calls.abandon)
            yield calls


async def _found(
    seats: ModelSeats, clients: Mapping[str, ModelClient], clock: Clock, io: IoThread
) -> dict[str, ModelInUse]:
    """Find out how the models are called."""
    probes = [io.spawn(_Probe(client, seats.temperatures.get(name))) for name, client in clients.items()]
    return {
        name: _in_use(name, client, await clock.from_thread(probe), clock)
        for (name, client), probe in zip(clients.items(), probes, strict=True)
    }


async def _closed(client: ModelClient, clock: Clock, io: IoThread) -> None:
    await clock.from_thread(io.spawn(client.close))


def check_prices(models: Mapping[str, ModelSettings], budget: BudgetSettings, now: datetime) -> None:
    """Refuse a budget in dollars for what nobody knows the price of.

    Raises:
        UnusableModel: There is such a model.
    """
    if not budget.counts_usd:
        return
    for name, given in models.items():
        if price_of(given, now) is None:
            raise UnusableModel(
                f"models.{name}: a budget in US dollars needs its price, which is not known: write price into"
                f" [models.{name}], in US dollars for a million tokens, or limit tokens or calls in [budget]"
            )


def _client(name: str, given: ModelSettings) -> ModelClient:
    try:
        key = key_of(name, given)
        return ModelClient(given, key, rng=Random(monotonic_ns()), now_s=lambda: monotonic_ns() / 1e9)
    except NoKey as exc:
        raise UnusableModel(str(exc)) from None
    except NoPackage as exc:
        raise UnusableModel(f"models.{name}: {exc}") from None


class _Probe:
    """Asks a model for its list, which costs nothing, and then how it is held to a form."""

    def __init__(self, client: ModelClient, temperature: float | None) -> None:
        self._client = client
        self._temperature = temperature

    async def __call__(self) -> Probed:
        await self._client.open()
        told = await self._client.models()
        if isinstance(told, Answer):
            return Probed(None, (("prompt", told),))
        return await find_rung(self._client, PROBE_S, self._temperature)


def _in_use(name: str, client: ModelClient, found: Probed, clock: Clock) -> ModelInUse:
    answers = [answer for _, answer in found.answers]
    if found.rung is None:
        raise UnusableModel(f"models.{name}: {answers[-1].why}: {advice(answers[-1])}")
    price = price_of(client.settings, clock.now())
    used = [answer.usage for answer in answers if answer.usage is not None]
    is_told = price is not None and all(answer.is_free or answer.usage is not None for answer in answers)
    return ModelInUse(
        name=name,
        settings=client.settings,
        rung=found.rung,
        endpoint=endpoint_of(client.settings, client.dialect.reasons, client.dialect.takes_temperature),
        price=price,
        probe={
            "calls": sum(answer.tries > 0 for answer in answers),
            "tokens": sum(usage.input + usage.output for usage in used),
            "cost": sum(cost(price, usage) for usage in used) if price is not None and is_told else None,
        },
    )


def _at_once(_seq: int) -> Future[None]:
    done: Future[None] = Future()
    done.set_result(None)
    return done
