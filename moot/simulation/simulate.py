"""Days of a whole society in virtual time: `moot simulate`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from moot.clock import VirtualClock
from moot.clock.wall import monotonic_ns
from moot.config.settings import Settings, load_settings
from moot.host import Listener
from moot.minds.choosing import MindSources
from moot.place import free_for_a_log, price_source
from moot.plan import Past, Plan, market_of, prices
from moot.protocols.calls.books import NONE, SOCIETY
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.times import rfc3339
from moot.protocols.rulebook import rules
from moot.recording import Recording
from moot.simulation.durations import DEFAULT_START, check_days
from moot.simulation.summary import SimulationSummary
from moot.society import Society
from moot.stored import stored_entries

Progress = Callable[[float, str], None]

DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """What to simulate.

    Attributes:
        days: Society days, at least a minute's worth.
        start: Society time of the first message.
        seed: Seeds minds, simulated prices and the simulated admin.
        prices: `sample`, `synthetic` or a file; None: as configured.
        out: Data directory; None: nothing is written.
        settings: The configuration; None: the shipped one.
        minds: What fills seats instead of what the configuration says.
        recording: A run that is lived again, of which `again` gives all else; None: none.
        goes_on: Whether `out` holds a run that was broken off, and that goes on from there.
    """

    days: float = 7.0
    start: datetime = DEFAULT_START
    seed: int = 1
    prices: str | None = None
    out: Path | None = None
    settings: Settings | None = None
    minds: MindSources = field(default_factory=dict)
    recording: Recording | None = None
    goes_on: bool = False


def again(recording: Recording, out: Path | None = None) -> SimulateOptions:
    """Return what it takes to live a recorded run again.

    Raises:
        BadInput: It cannot be: a script spoke, or this Moot does not know a setting.
    """
    recording.check_scripts(scripted=False)
    return SimulateOptions(
        days=(recording.until - recording.start) / DAY,
        start=recording.start,
        seed=recording.first.started.seed,
        out=out,
        settings=recording.first.settings,
        minds=recording.first.minds,
        recording=recording,
    )


def gone_on(recording: Recording, days: float) -> SimulateOptions:
    """Return what it takes to go on, in its directory, with a run that was broken off.

    Args:
        recording: The run.
        days: How many days it is to have in all.

    Raises:
        BadInput: It has as many, or was not broken off.
    """
    recording.check_scripts(scripted=False)
    check_days(days, recording.start)
    if recording.is_whole:
        raise BadInput(f"{recording.directory} was not broken off: it came to its end")
    if recording.start + timedelta(days=days) <= recording.until:
        lived = (recording.until - recording.start) / DAY
        raise BadInput(f"days {days:g}: {recording.directory} has lived {lived:.2f} of them already")
    life = recording.lives[-1]
    return SimulateOptions(
        days=days,
        start=recording.start,
        seed=life.started.seed,
        out=recording.directory,
        settings=life.settings,
        minds=life.minds,
        goes_on=True,
    )


def plan_of(options: SimulateOptions) -> Plan:
    """Turn what to simulate into a society's plan.

    Raises:
        UnusableMind: A mind cannot be used.
    """
    settings = options.settings or load_settings()
    if options.prices is not None:
        settings = settings.model_copy(
            update={"prices": settings.prices.model_copy(update={"source": options.prices})}
        )
    return Plan(
        settings=settings,
        seed=options.seed,
        start=options.start,
        society_id=f"simulation/{options.seed}",
        directory=options.out,
        is_admin_simulated=True,
        minds=options.minds,
    )


def check(options: SimulateOptions) -> SimulateOptions:
    """Find out, before anything is written, whether all of it can be used; return it with its minds made.

    Raises:
        UnusableMind: A mind cannot be used.
        BadInput: The days are none, the directory holds a log, or there is no such file of prices.
        PriceFileError: The prices cannot be used.
    """
    if options.recording is None:
        check_days(options.days, options.start)
    if options.out is not None and not options.goes_on:
        free_for_a_log(options.out)
    if options.prices is not None:
        price_source(options.prices)
    plan = plan_of(options)
    check_prices(plan)
    return replace(options, minds=plan.chosen)


def check_prices(plan: Plan) -> None:
    """Find out whether a plan's prices can be used.

    Raises:
        PriceFileError: They cannot.
    """
    universe, _ = prices(plan)
    market_of(plan, universe)


def simulate(
    options: SimulateOptions,
    progress: Progress | None = None,
    *,
    listener: Listener | None = None,
    clock: VirtualClock | None = None,
) -> SimulationSummary:
    """Let a society live for some days of virtual time.

    The same options give the same log, byte for byte (K2, K4).

    Args:
        options: What to simulate; `check` tells whether it can be.
        progress: Called with the share done, in [0, 1], and the society's instant.
        listener: Called with every message and what it changed.
        clock: A new clock that begins at `options.start`, for who wants to end it early.

    Raises:
        BadInput: `out` holds a log already.
        UnusableMind: A mind cannot be used.
        PriceFileError: The prices cannot be used.
    """
    plan = plan_of(options)
    if options.out is not None and not options.goes_on:
        free_for_a_log(options.out)
    summary = SimulationSummary(
        days=options.days,
        seed=options.seed,
        start=rfc3339(options.start),
        prices=plan.settings.prices.source,
        out=str(options.out) if options.out is not None else None,
    )
    length = timedelta(days=options.days)

    def listen(env: Envelope, fx: Effects) -> None:
        summary.take(env, fx)
        if listener is not None:
            listener(env, fx)
        if progress is not None:
            progress(min((env.sent_at - options.start) / length, 1.0), f"{env.sent_at:%a %d %b %H:%M}")

    began = monotonic_ns()
    past = Past()
    if options.goes_on:
        past = _stored(plan)
        docket = Docket(rules())
        for entry in past.entries:
            listen(entry.envelope, docket.fold(entry.envelope))
    for life in (None,) if options.recording is None else options.recording.lives:
        if life is not None:
            plan = replace(plan, settings=life.settings, minds=life.minds, recording=life)
        starts = past.entries[-1].envelope.sent_at if past.entries else options.start
        # Whoever brings a clock can end the first life; those that follow are rare.
        alive = clock or VirtualClock(starts)
        alive.run(partial(_live, replace(plan, past=past), options.start + length, summary, listen))
        clock, past = None, past if plan.directory is None else _stored(plan)
    summary.wall_s = round((monotonic_ns() - began) / 1e9, 3)
    summary.virtual_s = length.total_seconds()
    return summary


def _stored(plan: Plan) -> Past:
    assert plan.directory is not None
    return Past(stored_entries(plan.directory))


async def _live(
    plan: Plan, until: datetime, summary: SimulationSummary, listener: Listener, clock: VirtualClock
) -> None:
    """Live until an instant, or until the log is cut as a kill cuts it."""
    cut = asyncio.Event()
    last_seq = plan.last_seq

    def listen(env: Envelope, fx: Effects) -> None:
        if last_seq is None or env.seq <= last_seq:
            listener(env, fx)
        if env.seq == last_seq:
            cut.set()

    society = await Society.open(plan, clock, listener=listen)
    async with society:
        await society.run_until(until, cut)
        if cut.is_set():
            await society.abandon()
        else:
            await society.close("the simulation is over")
        if society.calls is not None:
            books = society.host.docket.context.fold_named("ledger").books
            summary.calls = {
                "booked": books.booked.get(SOCIETY, NONE)._asdict(),
                "limit": books.limit(SOCIETY)._asdict(),
            }
