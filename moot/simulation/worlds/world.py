"""A world lived: one life of its society after the other, and what `moot verify` says of the log."""

from __future__ import annotations

import asyncio
import io
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from moot.channels.errors import BusClosed, StorageError
from moot.clock import Clock, VirtualClock
from moot.config.settings import Settings, load_settings
from moot.door import Door
from moot.logs import open_log
from moot.logs.jsonlines import JsonLines
from moot.patience import Patience
from moot.plan import Past, Plan
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import OfficerFault
from moot.simulation.worlds import people
from moot.simulation.worlds.dice import Dice
from moot.simulation.worlds.plan import Event, WorldPlan
from moot.simulation.worlds.wall import AcceleratedWorld, RealWorld, Wall
from moot.society import Society
from moot.stored import last_sent_at
from moot.up import control_clock
from moot.verify.verifier import verify

DOWN_S: Final = 3.0
"""After a kill the society is down for the event's size, at least so many seconds."""
READS: Final = 40
"""A stall comes after at most so many looks at the wall: in the middle of something."""


@dataclass(slots=True)
class Outcome:
    """What came of a world.

    Attributes:
        seed: Its seed.
        findings: What is wrong, a line each: what `moot verify` finds, faults that stopped the host, what failed.
        warnings: What `moot verify` points out.
        messages: How many messages its log holds.
        lives: How many lives it had.
        happened: How often each act and fault came about, acts with what people were told.
        head: The hash of the last message.
    """

    seed: int
    findings: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    messages: int = 0
    lives: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    head: str = ""


def live(plan: WorldPlan, *, evidence: bool = True, directory: Path | None = None) -> Outcome:
    """Live a world and judge its log.

    Args:
        plan: What was drawn.
        evidence: Whether `moot verify` recomputes backtests too.
        directory: Where a world on files keeps them; None: in a directory that is removed.
    """
    if plan.bus == "memory":
        return World(plan, None).live(evidence=evidence)
    if directory is not None:
        return World(plan, directory).live(evidence=evidence)
    with tempfile.TemporaryDirectory(prefix="moot-world-") as made:
        return World(plan, Path(made)).live(evidence=evidence)


class World:
    """A plan that is being lived."""

    def __init__(self, plan: WorldPlan, directory: Path | None) -> None:
        """Prepare the first life."""
        self.plan = plan
        self.outcome = Outcome(plan.seed)
        self.wall = Wall(plan.start)
        self._directory = directory
        self._past = Past() if directory is None else None
        self._log: list[Envelope] = []
        self._next = 0
        events = [*plan.acts, *plan.clock_acts, *plan.faults]
        self._events = sorted(events, key=lambda event: (event.at_s, event.kind, event.n))
        self._down_s = 0.0
        self._is_over = False
        self._life_now: Life | None = None
        self._timers: list[asyncio.TimerHandle] = []

    def live(self, *, evidence: bool) -> Outcome:
        """Live until the plan is over; judge what stands in the log."""
        outcome = self.outcome
        try:
            while not self._is_over and not outcome.findings:
                outcome.lives += 1
                self._clock().run(self._life)
                self.wall.forget()
                self.wall.sleep(self._down_s)
                self._virtual_s += self._down_s
        except OfficerFault as fault:
            outcome.findings.append(f"the host stopped: {fault}")
        self._judge(evidence=evidence)
        return outcome

    # ------------------------------------------------------------ time

    _virtual_s = 0.0

    def _clock(self) -> Clock:
        plan = self.plan
        if plan.clock == "virtual":
            return VirtualClock(plan.start + timedelta(seconds=self._virtual_s))
        if plan.clock == "real":
            return RealWorld(self.wall)
        return AcceleratedWorld(self._last_sent_at() or plan.start, plan.speed, self.wall)

    def _last_sent_at(self) -> Any:
        if self._directory is not None:
            return last_sent_at(self._directory)
        return self._log[-1].sent_at if self._log else None

    def _at(self, clock: Clock, at_s: float, event: Callable[[], None]) -> None:
        """Have something happen at an instant of the world; at once when that is past."""
        if isinstance(clock, VirtualClock):
            after = at_s - self._virtual_s
            self._timers.append(asyncio.get_running_loop().call_later(max(after, 0.0), event))
        else:
            self.wall.at(max(at_s, self.wall.passed_s), event)

    # ------------------------------------------------------------ a life

    def _settings(self) -> Settings:
        plan = self.plan
        settings = load_settings(
            admins=dict(people.ADMINS),
            desk={"enabled": plan.desk},
            log={"durability": "process"},
        )
        return settings

    def _plan(self) -> Plan:
        plan = self.plan
        return Plan(
            settings=self._settings(),
            seed=plan.seed,
            start=plan.start,
            society_id=f"world-{plan.seed}",
            directory=self._directory,
            bus=plan.bus,
            is_admin_simulated=plan.admin,
            past=self._past,
        )

    async def _life(self, clock: Clock) -> None:
        """Open the society, let things happen, and end it as the plan says."""
        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._down_s = DOWN_S
        society = await Society.open(self._plan(), clock, listener=self._hear)
        life = self._life_now = Life(self, society, ended)
        try:
            for n in range(self._next, len(self._events)):
                self._at(clock, self._events[n].at_s, partial(life.happen, n))
            self._at(clock, self.plan.wall_s, partial(life.end, "over"))
            stop = asyncio.Event()
            ended.add_done_callback(lambda _: stop.set())
            await society.run_until(None, stop)
            # The time of day goes on no further while files are being closed.
            while self._timers:
                self._timers.pop().cancel()
            how = ended.result() if ended.done() else "stopped"
            self._is_over = how == "over"
            await life.close()
            if how == "kill":
                await society.abandon()
            else:
                await society.close()
        except OfficerFault:
            await life.close()
            await society.abandon()
            raise
        finally:
            if isinstance(clock, VirtualClock):
                self._virtual_s += clock.elapsed_us() / 1e6

    def _hear(self, env: Envelope, _fx: Effects) -> None:
        self._log.append(env)
        if (env.sent_at - self.plan.start).total_seconds() > self.plan.most_s and self._life_now is not None:
            self._life_now.end("over")

    # ------------------------------------------------------------ the judgement

    def _judge(self, *, evidence: bool) -> None:
        outcome = self.outcome
        if self._directory is not None:
            source: Any = open_log(self._directory)
        else:
            text = "".join(env.line + "\n" for env in self._log)
            source = JsonLines(f"world {self.plan.seed}", "file", io.BytesIO(text.encode()))
        with source:
            report = verify(source, evidence=evidence)
        outcome.messages = report.messages
        outcome.head = self._log[-1].hash if self._log else ""
        outcome.findings += [
            f"seq {one.seq}: {one.invariant} [{one.rule}] {one.why}" for one in report.findings
        ]
        outcome.warnings += [str(one) for one in report.warnings]


class Life:
    """One life: the society with what stands around it in `moot up`, and what happens to it."""

    def __init__(self, world: World, society: Society, ended: asyncio.Future[str]) -> None:
        """Open the door."""
        self._world = world
        self._society = society
        self._ended = ended
        self._dice = Dice("life", world.plan.seed)
        settings = society.plan.settings
        self._patience = Patience(society, wall_s=settings.clock.human_wall_s)
        self._door = Door(society.host, settings)
        self._doing: set[asyncio.Task[None]] = set()

    def end(self, how: str) -> None:
        """End it, once."""
        if not self._ended.done():
            self._ended.set_result(how)

    def happen(self, n: int) -> None:
        """Let the plan's next event happen."""
        world = self._world
        if self._ended.done() or n < world._next:
            return
        world._next = n + 1
        event = world._events[n]
        fault = FAULTS.get(event.kind)
        if fault is not None:
            world.outcome.happened[event.kind] += 1
            fault(world, self, event)
        elif event.kind in people.ACTS:
            self._start(self._act(event))
        else:
            self._start(self._set_clock(event))

    def _start(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(doing)
        self._doing.add(task)
        task.add_done_callback(self._did)

    def _did(self, task: asyncio.Task[None]) -> None:
        self._doing.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._world.outcome.findings.append(f"an act failed: {fault!r}")
            self.end("failed")

    async def _act(self, event: Event) -> None:
        dice = self._dice.of(event.kind, event.n)
        act = people.Act(self._society, dice.pick(people.EVERYBODY), dice, event.n)
        with suppress(BusClosed, StorageError):
            told = await people.do(event.kind, act, self._door)
            self._world.outcome.happened[f"{event.kind} {told}"] += 1

    async def _set_clock(self, event: Event) -> None:
        dice = self._dice.of("clock", event.n)
        if event.kind == "page":
            waiting = [s.case_id for s in self._society.host.docket.cases.values() if s.kind == "escalation"]
            if waiting:
                self._patience.hold_open(dice.pick(waiting), dice.chance(0.6))
            return
        speed = (
            dice.pick((1e-9, 0.001, 1.0, 60.0, 1234.5678901, 100_000.0, 1e9))
            if event.kind == "speed"
            else None
        )
        with suppress(BusClosed, StorageError):
            told = await control_clock(self._society, event.kind, speed, "owner")
            self._world.outcome.happened[f"{event.kind} {'ok' if told['ok'] else 'refused'}"] += 1

    async def close(self) -> None:
        """Let nobody in any more."""
        await self._patience.close()
        for task in list(self._doing):
            task.cancel()
        await asyncio.gather(*self._doing, return_exceptions=True)


Fault = Callable[[World, Life, Event], None]


def _kill(world: World, life: Life, event: Event) -> None:
    world._down_s = max(event.size, DOWN_S)
    life.end("kill")


def _restart(world: World, life: Life, event: Event) -> None:
    world._down_s = max(event.size, DOWN_S)
    life.end("restart")


def _stall(world: World, life: Life, event: Event) -> None:
    world.wall.stall(event.size, reads=life._dice.of("stall", event.n).whole(0, READS))


def _suspend(world: World, life: Life, event: Event) -> None:
    reads = life._dice.of("stall", event.n).whole(0, READS)
    world.wall.stall(event.size, reads=reads, is_suspended=True)


def _set(world: World, life: Life, event: Event) -> None:
    is_back = life._dice.of("set", event.n).chance(0.4)
    world.wall.set_by(-event.size if is_back else event.size)


FAULTS: Final[Mapping[str, Fault]] = {
    "kill": _kill,
    "restart": _restart,
    "stall": _stall,
    "suspend": _suspend,
    "set": _set,
}
"""What goes wrong, by name."""
