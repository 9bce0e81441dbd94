"""A small society, for cases that need no calendar, no market and no disk: Arena runs, panels, debates as trials."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

from moot.bots.bot import Bot
from moot.bots.minds.mind import Mind
from moot.bots.officers import timekeeper
from moot.bots.officers.duty_runner import DutyRunner
from moot.channels.log.inmemory import InMemoryBus
from moot.channels.log.lease import Lease
from moot.channels.log.sequencer import Entry
from moot.channels.log.write_behind import LogWriter
from moot.clock import Clock
from moot.config.budget import BudgetSettings, models_as_log
from moot.config.models import ModelSettings
from moot.config.prompts import PromptSettings
from moot.host import Contents, Host
from moot.memory.evidence import DirectoryEvidence, Evidence, InMemoryEvidence
from moot.memory.inmemory import InMemoryStore
from moot.minds.choosing import Chosen
from moot.minds.model_minds import ModelMinds
from moot.minds.seated import OwnMinds
from moot.model_service import ModelService, model_service
from moot.model_start import ModelSeats
from moot.place import EVIDENCE, LOG_NAME, free_for_a_log
from moot.protocols.escalation.case import KIND as ESCALATION
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.minds import Minds
from moot.protocols.kernel.rules import Gate
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import VERSION, rules
from moot.recording import Life
from moot.version import MOOT_VERSION

START: Final = datetime(2026, 2, 23, tzinfo=UTC)
"""Where virtual time begins: fixed, so that equal options give equal bytes."""

ASKER: Final = Actor("human", "cli", "workshop")
"""Whoever has a case held, an admin by the log (R-E5)."""


ALL_SIMULATED: Final[Mapping[str, Any]] = MappingProxyType({})

NO_SCHEDULES: Final[Mapping[str, Any]] = MappingProxyType({})


class Options(Protocol):
    """What the options of all that is held in a workshop have in common.

    Attributes:
        seed: Seeds what is simulated.
        directory: Keeps the log; None: nothing is written.
        models: The models that may be called, by name.
        budget: What they may spend.
        prompts: Where what they are told is.
        chosen: What fills seats instead of simulated minds.
        named: The same as the log says it.
        life: A recorded one that is lived again; None: none.
    """

    @property
    def seed(self) -> int: ...
    @property
    def directory(self) -> Path | None: ...
    @property
    def models(self) -> Mapping[str, ModelSettings]: ...
    @property
    def budget(self) -> BudgetSettings: ...
    @property
    def prompts(self) -> PromptSettings: ...
    @property
    def chosen(self) -> Mapping[str, Chosen]: ...
    @property
    def named(self) -> Mapping[str, Any]: ...
    @property
    def life(self) -> Life | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What a workshop is fitted with.

    Attributes:
        options: What it was said to be.
        own: The minds that somebody brings.
        models: The minds of models.
        calls: What calls them; None where none is called.
        on_entry: Takes each entry of the log, to keep it; None: it is in memory only.
    """

    options: Options
    own: OwnMinds
    models: ModelMinds
    calls: ModelService | None
    on_entry: Callable[[Entry], None] | None


@asynccontextmanager
async def fitted(options: Options, clock: Clock) -> AsyncIterator[Fitted]:
    """Fit a workshop; its log is whole, and everything closed, when the context ends.

    Raises:
        BadInput: The directory holds a log.
        ChannelError: It cannot be written.
        UnusableModel: A model cannot be called, or nobody knows its price.
    """
    with ExitStack() as exits:
        writer: LogWriter | None = None
        if options.directory is not None:
            place = free_for_a_log(options.directory)
            lease = exits.enter_context(Lease.acquire(place))
            writer = exits.enter_context(LogWriter(place / LOG_NAME, lease=lease))
        own = exits.enter_context(closing(OwnMinds(options.chosen, clock, options.seed)))
        seats = ModelSeats.of(options.chosen, options.models, options.budget)
        synced = None if writer is None else writer.synced
        async with model_service(seats, clock, options.directory, synced, options.life) as calls:
            yield Fitted(
                options=options,
                own=own,
                models=ModelMinds(options.chosen, calls, clock, options.seed, options.prompts),
                calls=calls,
                on_entry=None if writer is None else writer.write,
            )


def evidence_in(directory: Path | None) -> Evidence:
    """Return where a workshop's works are kept, beside its log."""
    return InMemoryEvidence() if directory is None else DirectoryEvidence(directory / EVIDENCE)


class Workshop:
    """Holds cases of one kind.

    Attributes:
        host: The host, with its bots seated.
        log: Everything logged so far.
    """

    def __init__(self, host: Host, calls: ModelService | None) -> None:
        """Take a host that is attached, and what calls models."""
        self.host = host
        self._calls = calls
        self.log: list[Envelope] = []
        self._fault: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        host.listeners.append(lambda env, _fx: self.log.append(env))
        host.on_fault = self.fail

    @property
    def minds(self) -> Minds:
        """Return who fills the seats, as the log says it."""
        minds: Minds = self.host.docket.context.fold_named("minds")
        return minds

    @property
    def has_failed(self) -> bool:
        """Say whether something has broken."""
        return self._fault.done()

    def fail(self, fault: BaseException) -> None:
        """Note what has broken; whoever waits is told."""
        if not self._fault.done():
            self._fault.set_exception(fault if isinstance(fault, Exception) else RuntimeError(repr(fault)))

    async def hold(self, openers: Sequence[Draft]) -> None:
        """Open cases and wait until as many have ended, and all that models were asked is settled.

        Raises:
            Exception: Whatever stopped the host.
        """
        opened: set[str] = set()
        done = asyncio.Event()
        left = len(openers)

        def count(_env: Envelope, fx: Effects) -> None:
            nonlocal left
            # A spent budget opens an escalation, which is none of these cases and may end before them.
            opened.update(state.case_id for state in fx.started if state.kind != ESCALATION)
            left -= sum(state.case_id in opened for state in fx.ended)
            if left <= 0:
                done.set()

        self.host.listeners.append(count)
        for draft in openers:
            await self.host.publish(draft)
        if not openers:
            done.set()
        try:
            await self.until(done)
        finally:
            self.host.listeners.remove(count)

    async def until(self, done: asyncio.Event) -> None:
        """Wait for something that happens here, and until all that models were asked is settled.

        Raises:
            Exception: Whatever stopped the host.
        """
        waits = asyncio.create_task(done.wait(), name="cases")
        both: list[asyncio.Future[Any]] = [waits, self._fault]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waits.cancel()
        if self._fault.done():
            self._fault.result()
        if self._calls is not None:
            await self._calls.settle()

    def close(self) -> None:
        """Forget a fault that nobody waited for."""
        if self._fault.done() and not self._fault.cancelled():
            self._fault.exception()
        self._fault.cancel()


def _end_where_it_was_cut(shop: Workshop, life: Life, env: Envelope, _fx: Effects) -> None:
    """Stop with the last message of a recorded run that was killed in its middle."""
    # An escalation that nobody answers holds up no end.
    held = (state for state in shop.host.docket.cases.values() if state.kind != ESCALATION)
    if env.seq == life.cut and any(held):
        shop.fail(
            BadInput(
                f"{life.recording.directory} was broken off after message {env.seq}, and is the same up to there:"
                " --then live goes on with the models themselves"
            )
        )


@asynccontextmanager
async def workshop(
    clock: Clock,
    minds: Mapping[Seat, Mind],
    *,
    seed: int,
    contents: Contents | None = None,
    named: Mapping[str, Any] = ALL_SIMULATED,
    fit: Fitted | None = None,
    schedules: Mapping[str, Any] = NO_SCHEDULES,
) -> AsyncIterator[Workshop]:
    """Seat minds in a society on an in-memory bus, and end all of it afterwards.

    Args:
        clock: The running clock.
        minds: Who sits where.
        seed: As the log says it.
        contents: Reads works that obligations may see.
        named: As the log says it of the minds that are not simulated, by seat: a word, or what configuration gives.
        fit: What it is fitted with, as `fitted` gives it; None: no more than it needs.
        schedules: When the timekeeper triggers cycles, for cases that only a cycle opens.
    """
    calls = fit.calls if fit is not None else None
    rulebook = rules()
    gate = Gate(rulebook)
    bus = InMemoryBus(admission=gate, now=clock.now, on_entry=None if fit is None else fit.on_entry)
    host = Host(rules=rulebook, gate=gate, bus=bus, store=InMemoryStore(), clock=clock)
    if contents is not None:
        host.contents = contents
    if fit is not None:
        fit.own.tell = host.audit_silence
    host.attach()
    shop = Workshop(host, calls)
    if fit is not None and fit.options.life is not None:
        host.listeners.append(partial(_end_where_it_was_cut, shop, fit.options.life))

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()) is not None:
            shop.fail(fault)

    await host.publish(
        timekeeper.started(
            society_id=f"workshop/{seed}",
            config={
                "schedules": dict(schedules),
                "admins": {ASKER.platform: [ASKER.user_id]},
                **({"minds": dict(named)} if named else {}),
                **(models_as_log(fit.options.models, fit.options.budget) if fit is not None else {}),
                **({"models": calls.as_log()} if calls is not None else {}),
                **({"prompts": fit.models.as_log()} if fit is not None and calls is not None else {}),
            },
            rules_version=VERSION,
            moot_version=MOOT_VERSION,
            seed=seed,
            data={},
            speed=1.0,
            paused=False,
            clock=clock.kind,
            durability="none",
            warm_up=False,
            after_seq=0,
        )
    )
    if calls is not None:
        await calls.serve(host, shop.fail)
    duty_runner = DutyRunner(host, clock)
    host.duty_runner = duty_runner
    task = asyncio.create_task(duty_runner.run(), name="duty runner")
    task.add_done_callback(ended)
    try:
        for seat, mind in sorted(minds.items()):
            host.seat_bot(Bot(seat, mind, host, clock))
        yield shop
    finally:
        await host.close_bots()
        if calls is not None and not shop.has_failed:
            await calls.settle()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await bus.close()
        shop.close()
