"""Runs of the Arena in virtual time, without a society around them: three seats, an Orchestrator, one channel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from bots.bot import Bot
from bots.minds.mind import View
from bots.minds.scripted_arena import ScriptedWriter
from bots.minds.simulated.arena import SimulatedWriter
from bots.minds.simulated.temper import Temper
from bots.officers import timekeeper
from bots.officers.office import Office
from bots.seats.arena import ArenaMind, NotebookOf
from bots.seats.sessions import LostSessions, SessionStore
from bots.tools.notebook import Notebook
from channels.inmemory import InMemoryBus
from memory.inmemory import InMemoryStore
from moot.arena.script import ArenaScript, Behaviour, NotebookScript
from moot.arena.scripted_notebook import ScriptedNotebook
from moot.arena.source import NotebookSource, opened
from moot.clock import VirtualClock
from moot.host import Host
from moot.version import MOOT_VERSION
from protocols.arena.contracts import complaint
from protocols.arena.messages import ArenaTask
from protocols.arena.record import AuditRecord, audit_record
from protocols.kernel.docket import Effects
from protocols.kernel.envelope import Actor, Draft, Envelope
from protocols.kernel.errors import Malformed
from protocols.kernel.rules import Gate
from protocols.kernel.seats import ARENA, Seat
from protocols.rulebook import VERSION, rules

START: Final = datetime(2026, 2, 23, tzinfo=UTC)
"""Where virtual time begins: fixed, so that equal options give equal bytes."""

RELIABLE: Final = Temper(silence=0.0, spell_chance=0.0, delay_cap=0.9)
"""Minds without a society around them are never silent: nobody experiments with one run to wait for a seat."""

PLACE: Final = "#r-arena"
PHASES: Final = {Seat.PLANNER: "before", Seat.REVIEWER: "during", Seat.FINALIZER: "after"}

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """One run.

    Attributes:
        task: A TaskContext as given; the run itself judges it.
        config: A ProtocolConfig as given.
        notebook: A NotebookContext as given, or None.
        script: What the seats say; None: simulated minds.
        source: The notebook service; None: the script's, or none at all.
        seed: Seeds simulated minds.
    """

    task: Any
    config: Any = field(default_factory=dict)
    notebook: Any = None
    script: ArenaScript | None = None
    source: NotebookSource | None = None
    seed: int = 1


def run_offline(options: RunOptions, progress: Progress | None = None) -> AuditRecord:
    """Hold one run and return its audit record.

    Args:
        options: The run.
        progress: Called with a sentence whenever a seat has spoken.

    Raises:
        Malformed: Task, config or notebook are no JSON objects, or larger than a message may be.
    """
    (record,) = run_many([options], progress)
    return record


def run_many(many: list[RunOptions], progress: Progress | None = None) -> list[AuditRecord]:
    """Hold several runs at once, in one society; they share script, source and seed of the first.

    Raises:
        Malformed: As `run_offline`.
    """
    if not many:
        return []
    messages: dict[str, list[Envelope]] = {}
    order: list[str] = []

    def listen(env: Envelope, fx: Effects) -> None:
        for state in fx.started:
            messages[state.case_id] = []
            order.append(state.case_id)
        if env.case_id in messages:
            messages[env.case_id].append(env)
            if progress is not None:
                progress(f"{env.author.value}: {env.body.type}")

    async def main(clock: VirtualClock) -> None:
        await _hold(many, clock, listen)

    VirtualClock(START).run(main)
    return [audit_record(messages[case_id]) for case_id in order]


async def _hold(
    many: list[RunOptions], clock: VirtualClock, listen: Callable[[Envelope, Effects], None]
) -> None:
    """Seat the three, open the runs, and wait until all have ended."""
    rulebook = rules()
    gate = Gate(rulebook)
    bus = InMemoryBus(admission=gate, now=clock.now)
    host = Host(rules=rulebook, gate=gate, bus=bus, store=InMemoryStore(), clock=clock)
    host.attach()
    host.listeners.append(listen)
    done = asyncio.get_running_loop().create_future()
    open_runs = len(many)

    def count(_env: Envelope, fx: Effects) -> None:
        nonlocal open_runs
        open_runs -= sum(state.kind == "run" for state in fx.ended)
        if not open_runs and not done.done():
            done.set_result(None)

    def fail(fault: Exception) -> None:
        if not done.done():
            done.set_exception(fault)

    def office_ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()) is not None:
            fail(fault if isinstance(fault, Exception) else RuntimeError(repr(fault)))

    host.listeners.append(count)
    host.on_fault = fail
    first = many[0]
    async with opened(first.source, clock) as notebook:
        await host.publish(_started(first.seed))
        office = Office(host, clock)
        host.office = office
        task = asyncio.create_task(office.run(), name="office")
        task.add_done_callback(office_ended)
        try:
            sessions = SessionStore()
            for seat in sorted(ARENA):
                host.seat_bot(Bot(seat, _mind(seat, first, notebook, sessions), host, clock))
            for n, options in enumerate(many, 1):
                await host.publish(_opener(options, n))
            await done
        finally:
            await host.close_bots()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await bus.close()


def _started(seed: int) -> Draft:
    return timekeeper.started(
        config={"schedules": {}},
        rules_version=VERSION,
        moot_version=MOOT_VERSION,
        seed=seed,
        data={},
        speed=1.0,
        paused=False,
        clock="virtual",
        durability="none",
        warm_up=False,
        after_seq=0,
    )


def _opener(options: RunOptions, n: int) -> Draft:
    try:
        body = ArenaTask(config=options.config, task=options.task, notebook=options.notebook)
    except ValidationError as error:
        raise Malformed("4", complaint(error)) from None
    actor = Actor("human", "cli", "arena")
    return Draft(channel=PLACE, author=Seat.ADMIN, body=body, actor=actor, key=f"run-{n}")


def _mind(seat: Seat, options: RunOptions, notebook: Notebook | None, sessions: SessionStore) -> ArenaMind:
    simulated = SimulatedWriter(options.seed, RELIABLE)
    script = options.script
    notebook_of: NotebookOf = lambda _view: notebook  # noqa: E731  # one line says it
    if script is None:
        return ArenaMind(simulated, notebook_of, sessions)
    if notebook is None:
        behaviour = getattr(script.notebook or NotebookScript(), PHASES[seat])
        notebook_of = partial(_scripted, behaviour)
    is_reviewer = seat is Seat.REVIEWER
    writer = ScriptedWriter(
        getattr(script, seat.value), simulated, tries_to_write=is_reviewer and script.reviewer_writes
    )
    if is_reviewer and script.resume_token == "missing":
        sessions = LostSessions()
    return ArenaMind(writer, notebook_of, sessions)


def _scripted(behaviour: Behaviour, view: View) -> Notebook:
    return ScriptedNotebook(view.brief["notebook_id"], behaviour)
