"""The composition root: with `stores` and `seating`, all that names concrete buses, stores, minds and their like."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Self

import structlog

from moot.bots.bot import Bot
from moot.bots.desk.broker import Broker
from moot.bots.desk.market import Market
from moot.bots.minds.mind import Mind
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.officers import timekeeper
from moot.bots.officers.duty_runner import DutyRunner
from moot.bots.officers.referee import outage, stream_limited
from moot.bots.tools.universe import Universe
from moot.cases.arena.source import opened
from moot.channels.bus import Bus
from moot.channels.errors import BusClosed, StorageError
from moot.channels.log.lease import Lease
from moot.clock import Clock, PacedClock
from moot.host import Host, Listener
from moot.memory.errors import MemoryStoreError
from moot.memory.evidence import Evidence, text_of
from moot.minds.choosing import named
from moot.minds.model_minds import ModelMinds
from moot.minds.seated import OwnMinds
from moot.model_service import ModelService, model_service
from moot.outage import Outage
from moot.plan import Plan, market_of, prices
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.minds import behind_scripts
from moot.protocols.kernel.rules import Gate
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.kernel.times import a_speed
from moot.protocols.rulebook import VERSION, rules
from moot.seating import Seating, source_of
from moot.snapshot import EVERY, collector_off, write_snapshot
from moot.stores import bus_of, catch_up, memory_of
from moot.version import MOOT_VERSION

SNAPSHOT_FROM: Final = 2_000
"""A shorter log is folded faster than it is worth."""

_log = structlog.get_logger("moot.society")


class Society:
    """A society at work: host, bots, duty runner, stores; made by `open`, ended by `close` (K25)."""

    def __init__(
        self,
        plan: Plan,
        clock: Clock,
        bus: Bus,
        host: Host,
        calls: ModelService | None,
        exits: AsyncExitStack,
    ) -> None:
        """Take what `open` prepared."""
        self.plan = plan
        self.calls = calls
        self.clock = clock
        self.bus = bus
        self.host = host
        self.society_id = host.docket.context.society_id or plan.society_id or str(uuid.uuid4())
        self.minds: dict[Seat, Mind] = {}
        self._exits = exits
        self._duty_runner: asyncio.Task[None] | None = None
        self._faulted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._clock_sets = 0
        self._outages = 0
        self._is_closed = False
        self._saving: asyncio.Task[None] | None = None
        self._catching: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls, plan: Plan, clock: Clock, *, lease: Lease | None = None, listener: Listener | None = None
    ) -> Self:
        """Assemble a society, fold what its log holds, and say SOCIETY_STARTED.

        Args:
            plan: What to assemble.
            clock: The running clock.
            lease: The lease on the directory, when it was taken before.
            listener: Called for every message from SOCIETY_STARTED on.

        Raises:
            LeaseHeld: Another society runs on the directory (K3).
            CorruptLog: Its log is not what was written, or is changed by others.
            StoreUnavailable: Its memory cannot be opened; damaged memory is rebuilt from the log.
            OfficerFault: Its log breaks the tables (K5).
            PriceFileError: The prices cannot be used.
            UnusableModel: A model that is to fill a seat cannot be called, or nobody knows its price.
        """
        async with AsyncExitStack() as exits:
            if plan.directory is not None:
                lease = lease or exits.enter_context(Lease.acquire(plan.directory))
            followed = plan.led.folding if plan.led is not None else None
            rulebook = rules(plan.settings.viewers.viewers()) if followed is None else followed.rules
            gate = Gate(rulebook)
            with collector_off():
                store, evidence = await memory_of(plan, clock, exits)
                past = [entry.envelope for entry in plan.past.entries] if plan.past is not None else []
                bus, synced = await bus_of(plan, clock, gate, lease, exits)
                host = Host(rules=rulebook, gate=gate, bus=bus, store=store, clock=clock)
                if followed is not None:
                    host.restore(followed.snapshot())
                if plan.directory is not None and plan.goes_on:
                    catch_up(plan.directory, host)
                host.catch_up(past)
            host.attach()
            universe, data = prices(plan)
            market, intraday = market_of(plan, universe)
            calls = await exits.enter_async_context(
                model_service(
                    plan.model_seats,
                    clock,
                    plan.directory,
                    synced,
                    plan.recording,
                    plan.ports,
                    plan.led,
                )
            )
            self = cls(plan, clock, bus, host, calls, exits.pop_all())
        host.on_fault = self.fail
        host.listeners.append(self._snapshot_now_and_then)
        if listener is not None:
            host.listeners.append(listener)
        try:
            with self._by_cause():
                await self._start({**data, **intraday}, universe, evidence, market)
        except BaseException:
            await self.abandon()
            raise
        return self

    async def _start(
        self, data: Mapping[str, Any], universe: Universe, evidence: Evidence, market: Market
    ) -> None:
        clock, plan = self.clock, self.plan
        # However long the log was read: the gap to the last message is an outage, and this says so (K6).
        clock.catch_up(clock.behind)
        models = ModelMinds(plan.chosen, self.calls, clock, plan.seed, plan.settings.prompts)
        await self.host.publish(self._started(data, models))
        if plan.led is not None and (why := await plan.led.stream_limits(self.bus)):
            _log.warning("stream limited", why=why)
            await self.host.publish(stream_limited(why, str(self.bus.head.seq)))
        clock.on_behind = self._fell_behind
        if self.calls is not None:
            await self.calls.serve(self.host, self.fail)
        if plan.goes_on and clock.kind != "virtual":
            self.host.outage = Outage(self.bus, clock, audit=self._unstored)
        duty_runner = DutyRunner(self.host, clock)
        self.host.duty_runner = duty_runner
        self._duty_runner = asyncio.create_task(duty_runner.run(), name="duty runner")
        self._duty_runner.add_done_callback(self._office_ended)
        market = plan.ports.market(market)
        tools = SimulatedTools(
            universe=universe,
            evidence=evidence,
            seed=plan.seed,
            temper=plan.temper,
            market=market,
            broker=plan.ports.broker(Broker(market)),
        )
        self.host.contents = partial(text_of, evidence)
        notebook = await self._exits.enter_async_context(opened(source_of(plan.settings), clock))
        own = OwnMinds(plan.chosen, clock, plan.seed)
        own.tell = self.host.audit_silence
        self._exits.callback(own.close)
        seating = Seating(
            plan.settings, plan.seed, plan.scripts, tools, notebook, own, models, plan.ports.notebook
        )
        minds = seating.minds(is_admin_simulated=plan.is_admin_simulated)
        self.minds = {seat: plan.ports.mind(seat, mind, clock) for seat, mind in minds.items()}
        for seat, mind in self.minds.items():
            self.host.seat_bot(Bot(seat, mind, self.host, clock))
        duty_runner.wake()

    def _started(self, data: Mapping[str, Any], models: ModelMinds) -> Draft:
        plan, clock = self.plan, self.clock
        minds = behind_scripts(named(plan.chosen), plan.scripts.keys() - {ADMIN})
        config = plan.settings.as_log()
        if self.calls is not None:
            config["models"] |= self.calls.as_log()
            config["prompts"] = models.as_log()
        return timekeeper.started(
            society_id=self.society_id,
            config={**config, "minds": minds},
            rules_version=VERSION,
            moot_version=MOOT_VERSION,
            seed=plan.seed,
            data={**data, **({} if plan.led is None else {"leader": plan.led.as_log()})},
            speed=1.0 if clock.kind == "virtual" else clock.speed,
            paused=clock.paused,
            clock=clock.kind,
            durability=plan.durability
            if plan.bus == "sqlite"
            else plan.bus
            if plan.led is not None
            else "none",
            warm_up=plan.is_warm_up,
            rehearsal=plan.rehearsal,
            after_seq=self.bus.head.seq,
        )

    def _fell_behind(self) -> None:
        """Say what a real clock has lost; one message at a time, each of what is not said yet (K6, K7)."""
        if self._catching is None and not self._is_closed and self.clock.behind:
            self._catching = asyncio.create_task(self._say_held(), name="clock behind")

    async def _say_held(self) -> None:
        clock = self.clock
        try:
            while held := clock.behind:
                _log.info("time was held", held_s=held.total_seconds())
                await self._publish_clock(f"nobody could do anything for {held.total_seconds():.0f} s", held)
        except (BusClosed, StorageError) as fault:
            _log.error("outage unsaid", error=str(fault))
        finally:
            self._catching = None

    async def _publish_clock(self, reason: str, held: timedelta = timedelta(0)) -> None:
        clock = self.clock
        self._clock_sets += 1
        n = self.bus.head.seq * 1000 + self._clock_sets
        await self.host.publish(
            timekeeper.clock_set(clock.now() + held, clock.speed, clock.paused, reason, n, held=held)
        )

    def _unstored(self, why: str) -> Draft:
        self._outages += 1
        return outage(why, f"{self.bus.head.seq}/{self._outages}")

    async def _snapshot(self) -> None:
        """Write a snapshot of all folds, if there is enough to save and memory is on the disk as far (K18)."""
        host, directory = self.host, self.plan.directory
        if directory is None or not self.plan.goes_on or host.docket.seq < SNAPSHOT_FROM:
            return
        try:
            await host.store.flush()
        except MemoryStoreError as fault:
            _log.warning("no snapshot written", why=str(fault))
            return
        head = self.bus.head
        if host.store.stored_seq == host.docket.seq == head.seq:
            write_snapshot(
                directory, seq=head.seq, log_hash=head.hash.hex(), rules=host.rules, state=host.snapshot()
            )

    def _snapshot_now_and_then(self, env: Envelope, _fx: object) -> None:
        if env.seq % EVERY == 0 and not self._is_closed:
            self._saving = asyncio.create_task(self._snapshot(), name="snapshot")

    def fail(self, fault: Exception) -> None:
        """End the society with a fault, as `run_until` raises it."""
        if not self._faulted.done():
            self._faulted.set_exception(fault)

    @contextmanager
    def _by_cause(self) -> Iterator[None]:
        """Raise what stopped the bus, where it is found stopped."""
        try:
            yield
        except BusClosed as closed:
            if self.host.fault is None:
                raise
            raise self.host.fault from closed

    def _office_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.fail(fault if isinstance(fault, Exception) else RuntimeError(repr(fault)))

    async def run_until(self, until: datetime | None = None, stop: asyncio.Event | None = None) -> None:
        """Let the society live until an instant, a stop, or a person's STOP.

        Raises:
            OfficerFault: The host had to stop (K5).
            LeaseHeld: Another process took the log over (K3).
            CorruptLog: Others changed it.
        """
        if self.host.stop_asked and not self._faulted.done():
            return
        waits: list[asyncio.Future[Any]] = [self._faulted]
        tasks: list[asyncio.Task[Any]] = []
        if until is not None:
            tasks.append(asyncio.create_task(self.clock.sleep_until(until), name="until"))
        if stop is not None:
            tasks.append(asyncio.create_task(stop.wait(), name="stop"))
        stopped = asyncio.Event()

        def watch(env: Envelope, _fx: object) -> None:
            if self.host.stop_asked:
                stopped.set()

        self.host.listeners.append(watch)
        tasks.append(asyncio.create_task(stopped.wait(), name="human stop"))
        try:
            await asyncio.wait([*waits, *tasks], return_when=asyncio.FIRST_COMPLETED)
            if self._faulted.done():
                self._faulted.result()
        finally:
            self.host.listeners.remove(watch)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def set_clock(self, *, speed: float | None = None, paused: bool | None = None, reason: str) -> None:
        """Change the pace of time, and say so (K7).

        Raises:
            ValueError: The clock has no pace, or the speed is none.
        """
        clock = self.clock
        if not isinstance(clock, PacedClock):
            raise ValueError(f"a {clock.kind} clock has no pace to set")
        if speed is not None:
            clock.set_speed(a_speed(speed))
        if paused is not None:
            (clock.pause if paused else clock.resume)()
        await self._publish_clock(reason)

    async def close(self, reason: str = "asked to stop") -> None:
        """Say SOCIETY_STOPPED, end all tasks, close all files; safe to call twice (K25).

        Raises:
            LeaseHeld: Another process took the log over, which shows only now (K3).
            CorruptLog: So does that others changed it.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self.host.outage is not None:
                await self.host.outage.close()
            await self._end_tasks(is_settling=self.host.fault is None and not self._faulted.done())
            if self.host.fault is None and not self._faulted.done():
                with self._by_cause():
                    await self.host.settle()
                    await self.host.publish(timekeeper.stopped(reason, self.bus.head.seq))
                await self._snapshot()
        finally:
            await self.abandon()

    async def _end_tasks(self, *, is_settling: bool) -> None:
        await self.host.close_bots()
        if self.calls is not None:
            await (self.calls.settle() if is_settling else self.calls.abandon())
        tasks = [task for task in (self._duty_runner, self._saving, self._catching) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def abandon(self) -> None:
        """Close everything without a word, as a crash does, but for the files."""
        self._is_closed = True
        try:
            if self.host.outage is not None:
                await self.host.outage.close()
            await self._end_tasks(is_settling=False)
        finally:
            if self._faulted.done() and not self._faulted.cancelled():
                self._faulted.exception()
            else:
                self._faulted.cancel()
            await self._exits.aclose()

    async def __aenter__(self) -> Self:
        """Return the society."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()
