"""The ledger of a run: a small log of its own, where each call is booked before it is sent, and settled before its use.

It lies beside the artifacts, as `ledger/`, and is a data directory as any other: `moot calls`, `moot verify` and
`moot log` read it. The bursar keeps it, so what holds in a society holds here: no call that does not fit into the
budget, none paid twice. A run that goes on after a kill or an interrupt is answered from it what was answered before.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from moot.arbiter.asking import Place, Sent
from moot.arbiter.outcomes import REDACTED
from moot.arbiter.resolving import Prepared
from moot.arbiter.saying import Saying
from moot.bots.minds.mind import View
from moot.bots.models.caller import NoBudget
from moot.bots.models.client import ENDPOINTS
from moot.bots.models.in_use import ModelInUse
from moot.bots.models.key import SECRET_CHARS
from moot.bots.models.prices import price_of
from moot.bots.models.record import answer_in
from moot.bots.models.request import Request
from moot.bots.models.transport import LiveModels
from moot.bots.officers import timekeeper
from moot.bots.officers.bursar import AGAIN
from moot.bots.officers.duty_runner import DutyRunner
from moot.channels.errors import BusClosed, ChannelError
from moot.channels.log.lease import Lease
from moot.channels.log.sqlite import SqliteBus
from moot.clock import Clock, IoThread
from moot.config.budget import BudgetSettings, models_as_log
from moot.config.models import ModelSettings
from moot.host import NOTHING_REMEMBERED, Host
from moot.memory.bodies import Bodies, StoredBodies
from moot.memory.bodies_file import CALLS_NAME, BodiesFile
from moot.memory.inmemory import InMemoryStore
from moot.model_service import ModelService, at_once, closed
from moot.model_start import check_prices, client_of
from moot.place import LOG_NAME
from moot.protocols.calls.messages import CallReserved, CallSettled
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.rules import Gate
from moot.protocols.kernel.seats import LAB
from moot.protocols.lab.messages import ExperimentStarted
from moot.protocols.lab.rights import PLACE
from moot.protocols.rulebook import VERSION, rules
from moot.stored import stored_envelopes
from moot.version import MOOT_VERSION

FOLDER: Final = "ledger"
"""Where it lies in the directory of a run."""

NO_GRACE: Final = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What a run may call.

    Attributes:
        settings: Where each model is, by the name that it has in the ledger.
        names: That name, by what trials ask for.
        budget: What may be spent.
    """

    settings: Mapping[str, ModelSettings]
    names: Mapping[str, str]
    budget: BudgetSettings


class _Past(NamedTuple):
    """A call that was settled: what was asked, what came back, and when."""

    request_sha256: str
    reply_sha256: str
    began: datetime
    ended: datetime


class _Settled:
    """What the log says of calls that were answered, by turn; the last word on each counts."""

    def __init__(self) -> None:
        self.found: dict[int, _Past] = {}
        self.experiments: set[str] = set()
        self._open: dict[str, tuple[CallReserved, datetime]] = {}

    def watching(self, log: Iterator[Envelope]) -> Iterator[Envelope]:
        """Take in a log while somebody else reads it."""
        for env in log:
            self.take(env)
            yield env

    def take(self, env: Envelope, _fx: Effects | None = None) -> None:
        """Take in one message."""
        body = env.body
        if type(body) is ExperimentStarted:
            self.experiments.add(body.experiment_id)
        elif type(body) is CallReserved:
            self._open[body.call_id] = body, env.sent_at
        elif type(body) is CallSettled:
            asked, began = self._open.pop(body.call_id)
            if body.reply_sha256 is not None and body.outcome not in AGAIN:
                self.found[asked.turn] = _Past(asked.request_sha256, body.reply_sha256, began, env.sent_at)


class Ledger:
    """Sends the requests of a run, each through the bursar; made by `ledger_of`.

    Attributes:
        host: Folds its log.
        case: The experiment that calls are booked for.
        hear: Is told the run's events, and says them in the log; never waits.
    """

    def __init__(
        self,
        host: Host,
        calls: ModelService,
        names: Mapping[str, str],
        settled: _Settled,
        saying: Saying,
        clock: Clock,
        spent: Callable[[str], None],
        secrets: Mapping[str, tuple[str, ...]],
    ) -> None:
        """Take what `ledger_of` prepared."""
        self._secrets = secrets
        self.host = host
        self.case = saying.case
        self.hear = saying.hear
        self._calls = calls
        self._names = names
        self._settled = settled
        self._clock = clock
        self._spent = spent

    async def send(self, place: Place, model: str, request: Request, until: datetime) -> Sent:
        """Send a request, or return what it was answered before; as `Post`.

        Raises:
            NoBudget: It does not fit.
            ChannelError: The disk takes no log.
            MemoryStoreError: It takes no bodies, or one is lost.
        """
        name = self._names[model]
        request = self._without_others_keys(name, request)
        in_use = self._calls.models[name]
        past = self._settled.found.get(place.turn)
        if past is not None:
            return _again(past, self._calls.bodies, in_use, request)
        began = self._clock.now()
        body = in_use.written(request)
        view = self._view(began, until)
        try:
            answer = await self._calls.bursar.caller(name).ask(view, place.turn, request)
        except NoBudget as lack:
            why = str(lack).replace("the budget of the society", "the budget of the run")
            self._spent(why)
            raise NoBudget(why) from None
        except BusClosed:
            # What stopped the log says more.
            raise self.host.fault or BusClosed("the ledger is closed") from None
        told = self._settled.found.get(place.turn)
        ended = self._clock.now()
        if told is not None:
            # As the log has it, so that another life of the run says the same.
            began, ended = told.began, told.ended
        return Sent(answer, json.loads(body), began, ended)

    def _without_others_keys(self, name: str, request: Request) -> Request:
        """Return a request that shows no endpoint the key of another one, whatever a model wrote."""
        if request.measured is None:
            return request
        own = self._secrets.get(name, ())
        text = request.measured
        for key in {key for keys in self._secrets.values() for key in keys if key not in own}:
            text = text.replace(key, REDACTED) if len(key) >= SECRET_CHARS else text
        return replace(request, measured=text)

    def learns(self, model: str, sent: Sent) -> bool:
        """Take into account what an endpoint refused; as `Post`."""
        answer = sent.answer
        dialect = self._calls.models[self._names[model]].endpoint.dialect
        return answer.fault == "request" and dialect.learns(answer.why, sent.body)

    def _view(self, now: datetime, until: datetime) -> View:
        """Return what says for whom a call is: the lab asks in the name of the whole experiment."""
        owed = Obligation(self.case, self.case, LAB, (), PLACE, now, until, NO_GRACE)
        return View(owed, LAB, now, 0, "", (), (), {}, NOTHING_REMEMBERED)


@asynccontextmanager
async def ledger_of(
    directory: Path, prepared: Prepared, models: Models, clock: Clock, spent: Callable[[str], None]
) -> AsyncIterator[Ledger]:
    """Open the ledger of a run, new or not; it is whole, and everything closed, when the context ends.

    Args:
        directory: Where it lies.
        prepared: The run.
        models: What it may call.
        clock: The running clock.
        spent: Told which budget has no room left, in a line.

    Raises:
        UnusableModel: A key, a package or a price is missing.
        LeaseHeld: The run goes on elsewhere.
        ChannelError: The log is damaged, or cannot be written.
        MemoryStoreError: So are, or can, the bodies.
    """
    check_prices(models.settings, models.budget, clock.now())
    clients = {name: client_of(name, given, tries_again=False) for name, given in models.settings.items()}
    in_use = {name: _in_use(name, given, clock.now()) for name, given in models.settings.items()}
    async with AsyncExitStack() as exits:
        lease = exits.enter_context(Lease.acquire(directory))
        host, settled = await _host(directory, lease, clock, exits)
        bodies: Bodies = exits.enter_context(BodiesFile(directory / CALLS_NAME))
        io = await exits.enter_async_context(IoThread(clock, name="models"))
        for client in clients.values():
            exits.push_async_callback(closed, client, clock, io)
        transport = LiveModels(
            {name: (client, "prompt") for name, client in clients.items()},
            spawn=io.spawn,
            bodies=bodies,
            synced=at_once,
            waits_for_room=False,
            advises=False,
        )
        calls = ModelService(in_use, clock, bodies, transport)
        exits.push_async_callback(calls.abandon)
        await host.publish(_society(prepared, models, calls, host, clock))
        await calls.serve(host, lambda _fault: None)
        duty_runner = DutyRunner(host, clock)
        host.duty_runner = duty_runner
        duties = asyncio.create_task(duty_runner.run(), name="duty runner")
        exits.push_async_callback(_ended, duties)
        held = _Held(host, clock)
        clock.on_behind = held.told
        exits.push_async_callback(held.close)
        saying = await Saying.begun(host, prepared, len(settled.experiments), clock)
        exits.push_async_callback(saying.abandon)
        await asyncio.gather(*(clock.from_thread(io.spawn(client.open)) for client in clients.values()))
        secrets = {name: client.secrets for name, client in clients.items()}
        yield Ledger(host, calls, models.names, settled, saying, clock, spent, secrets)
        if host.fault is None:
            with suppress(ChannelError):
                await saying.close()
                await calls.settle()
                await host.settle()
                await host.publish(timekeeper.stopped("the run has ended", host.bus.head.seq))


async def _host(directory: Path, lease: Lease, clock: Clock, exits: AsyncExitStack) -> tuple[Host, _Settled]:
    rulebook = rules()
    gate = Gate(rulebook)
    bus = await SqliteBus.open(
        directory / LOG_NAME,
        admission=gate,
        now=clock.now,
        decode=decode_stored,
        lease=lease,
        hold=clock.hold,
    )
    exits.push_async_callback(bus.close)
    host = Host(rules=rulebook, gate=gate, bus=bus, store=InMemoryStore(), clock=clock)
    settled = _Settled()
    host.catch_up(settled.watching(stored_envelopes(directory)))
    host.attach()
    host.listeners.append(settled.take)
    return host, settled


def _in_use(name: str, given: ModelSettings, now: datetime) -> ModelInUse:
    """Return how a model is called: as its settings say, until its endpoint refuses something."""
    endpoint = ENDPOINTS[given.api](given)
    return ModelInUse(name=name, settings=given, rung="prompt", endpoint=endpoint, price=price_of(given, now))


def _society(prepared: Prepared, models: Models, calls: ModelService, host: Host, clock: Clock) -> Draft:
    known = models_as_log(models.settings, models.budget)
    return timekeeper.started(
        society_id=f"arbiter/{prepared.config.run.run_id}",
        config={"schedules": {}, **known, "models": calls.as_log()},
        rules_version=VERSION,
        moot_version=MOOT_VERSION,
        seed=0,
        data={},
        speed=1.0,
        paused=False,
        clock=clock.kind,
        durability="power",
        warm_up=False,
        after_seq=host.bus.head.seq,
    )


def _again(past: _Past, bodies: StoredBodies, in_use: ModelInUse, request: Request) -> Sent:
    """Return what a request was answered before."""
    answer = answer_in(bodies.get(past.reply_sha256), in_use.reader(request))
    return Sent(answer, json.loads(bodies.get(past.request_sha256)), past.began, past.ended)


class _Held:
    """Says in the log when nobody could use the time: the machine slept, or the process stood."""

    def __init__(self, host: Host, clock: Clock) -> None:
        self._host = host
        self._clock = clock
        self._saying: asyncio.Task[None] | None = None

    def told(self) -> None:
        """Be told by the clock; one message at a time."""
        if self._saying is None and self._clock.behind:
            self._saying = asyncio.create_task(self._say(), name="clock behind")

    async def _say(self) -> None:
        clock = self._clock
        try:
            while held := clock.behind:
                reason = f"nobody could do anything for {held.total_seconds():.0f} s"
                n = self._host.bus.head.seq
                await self._host.publish(
                    timekeeper.clock_set(clock.now() + held, 1.0, False, reason, n, held=held)
                )
        finally:
            self._saying = None

    async def close(self) -> None:
        self._clock.on_behind = None
        if self._saying is not None:
            await _ended(self._saying)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
