"""A world lived: one life of its society after the other, until its plan is over; then it is judged."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from moot.channels.errors import StorageError
from moot.chaos import people
from moot.chaos.calendar import KINDS, is_lived
from moot.chaos.coverage import Coverage
from moot.chaos.dice import Dice
from moot.chaos.faults import CUT
from moot.chaos.files import Disk, break_file
from moot.chaos.happening import happenings
from moot.chaos.judge import Finding, judge
from moot.chaos.life import Life
from moot.chaos.liveness import Bounds, unended
from moot.chaos.model_server import GIVES_UP_S, ModelServer
from moot.chaos.notebook import write_notes
from moot.chaos.plan import Spell, WorldPlan
from moot.chaos.platform import Gateway, Platform
from moot.chaos.remains import left, overgrown, told_in_memory
from moot.chaos.striking import Striking
from moot.chaos.struck import StruckPorts
from moot.chaos.tempers import TEMPERS
from moot.chaos.wall import AcceleratedWorld, RealWorld, Wall
from moot.clock import Clock, VirtualClock
from moot.config.settings import Settings, load_settings
from moot.guests import serve_guests
from moot.laws import LAWS, Broken, Watch
from moot.logs import open_log
from moot.memory.bodies import Bodies
from moot.plan import Past, Plan
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.rulebook import rulebook
from moot.reception import Reception
from moot.society import Society
from moot.stored import last_sent_at

DOWN_S: Final = 3.0
"""After a kill the society is down for the spell's size, at least so many seconds."""

MILLION: Final = 1_000_000
"""A prompt's tokens cost a dollar for so many."""

MODEL: Final = "tiny"
"""How the one model of a world is called, where it has one."""


@dataclass(slots=True)
class Outcome:
    """What came of a world.

    Attributes:
        seed: Its seed.
        findings: What is wrong.
        warnings: What `moot verify` points out.
        messages: How many messages its log holds.
        lives: How many lives it had.
        happened: How often each fault struck and each act came about, acts with what people were told.
        rows: How often each row of the machines' tables was taken.
        head: The hash of the last message.
        log: The log, where it was asked for.
    """

    seed: int
    findings: list[Finding] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    messages: int = 0
    lives: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    head: str = ""
    log: list[Envelope] = field(default_factory=list)


def live(plan: WorldPlan, *, evidence: bool = False, directory: Path | None = None) -> Outcome:
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
    """A plan that is being lived.

    Attributes:
        plan: What was drawn.
        outcome: What came of it so far.
        wall: Its wall.
        happenings: What happens at an instant, in order; `next` is the first that has not.
        down_s: How long the society is down after this life.
        unsure: What people posted and never heard of, with its key: the society crashed meanwhile.
    """

    def __init__(self, plan: WorldPlan, directory: Path | None) -> None:
        """Prepare the first life."""
        self.plan = plan
        self.outcome = Outcome(plan.seed)
        self.wall = Wall(plan.start)
        self.happenings = happenings(plan)
        self.next = 0
        self.down_s = 0.0
        self.unsure: dict[str, Mapping[str, Any]] = {}
        self.striking = Striking(plan.seed, plan.spells, self.passed_s)
        self._directory = directory
        self._past = Past() if directory is None else None
        self._log: list[Envelope] = []
        self._acked: dict[str, int] = {}
        self._cuts = sorted({round(one.size) for one in plan.spells if one.fault == "crash.cut"})
        self._disk = Disk()
        self._model_server = ModelServer(self.striking) if directory is not None and _calls(plan) else None
        self._gateway = self._mirrored(directory) if directory is not None else None
        self._cut_off: Callable[[bool], None] = lambda _is_cut: None
        self._shown_until = 0
        self._is_cut = False
        self._cut_at: int | None = None
        self._is_over = False
        self._life: Life | None = None
        self._clock: Clock | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._virtual_s = 0.0
        self._coverage = Coverage()
        self._broken_files: list[Spell] = []
        self._watch = Watch(LAWS)
        self._bounds = Bounds()
        self._bodies: list[Bodies] = []
        self._calm_at: datetime | None = None

    def live(self, *, evidence: bool) -> Outcome:
        """Live until the plan is over; judge what stands in the log."""
        outcome, servers = self.outcome, (self._model_server, self._gateway)
        for server in servers:
            if server is not None:
                server.start()
        try:
            while not self._is_over and not outcome.findings:
                outcome.lives += 1
                self._new_clock().run(self._live)
                self._break_files()
                self.wall.forget()
                self.wall.sleep(self.down_s)
                self._virtual_s += self.down_s
        except OfficerFault as fault:
            outcome.findings.append(
                Finding("host", fault.seq or len(self._log), f"the host stopped: {fault}")
            )
        finally:
            for server in servers:
                if server is not None:
                    server.close()
        self._judge(evidence=evidence)
        outcome.happened.update(self.striking.happened)
        outcome.happened.update(self._days())
        outcome.rows = self._coverage.rows
        return outcome

    def _days(self) -> Iterator[str]:
        """Yield which of the seldom days that its plan names it lived through."""
        named = {spell.fault for spell in self.plan.spells}.intersection(KINDS) if self._log else ()
        yield from (one for one in named if is_lived(one, self._log[0].sent_at, self._log[-1].sent_at))

    # ------------------------------------------------------------ time

    def passed_s(self) -> float:
        """Return the seconds of the world's wall that have passed."""
        if self.plan.clock != "virtual":
            return self.wall.passed_s
        return self._virtual_s + (self._clock.elapsed_us() / 1e6 if self._clock is not None else 0.0)

    def _new_clock(self) -> Clock:
        plan = self.plan
        if plan.clock == "virtual":
            return VirtualClock(plan.start + timedelta(seconds=self._virtual_s))
        if plan.clock == "real":
            return RealWorld(self.wall)
        return AcceleratedWorld(self._last_sent_at() or plan.start, plan.speed, self.wall)

    def _last_sent_at(self) -> datetime | None:
        if self._directory is not None:
            return last_sent_at(self._directory)
        return self._log[-1].sent_at if self._log else None

    def _at(self, at_s: float, event: Callable[[], None]) -> None:
        """Have something happen at an instant of the world; at once when that is past."""
        if self.plan.clock == "virtual":
            after = at_s - self._virtual_s
            self._timers.append(asyncio.get_running_loop().call_later(max(after, 0.0), event))
        else:
            self.wall.at(max(at_s, self.wall.passed_s), event)

    # ------------------------------------------------------------ a life

    def _mirrored(self, directory: Path) -> Gateway:
        """Make the gateway of a world on files."""
        return Gateway(
            directory, Platform(self.plan, self.striking), load_settings(admins=dict(people.ADMINS)).seat_of
        )

    def _settings(self) -> Settings:
        plan = self.plan
        hours = f"0 */{plan.cycle_h} * * *"
        base = {name: one.spec() for name, one in load_settings().schedules.items()}
        schedules = {**base, "micro": {"cron": hours}} if "A" in plan.systems else {}
        return load_settings(
            admins=dict(people.ADMINS),
            schedules=schedules,
            desk={"enabled": "B" in plan.systems},
            log={"durability": "process"},
            arena={"notebook": str(write_notes(self._directory))} if self._directory is not None else {},
            panel={"promotions": plan.panels, "architecture": plan.panels},
            **self._models(),
        )

    def _models(self) -> dict[str, Any]:
        plan = self.plan
        if not plan.models:
            return {}
        settings: dict[str, Any] = {"url": "http://127.0.0.1:9/v1", "model": "tiny-1"}
        if self._model_server is not None:
            settings |= {"url": self._model_server.url, "timeout_s": GIVES_UP_S}
        spent: dict[str, Any] = {"tokens": round(plan.budget_usd * MILLION)}
        if not any(spell.fault == "models.no_price" for spell in plan.spells):
            settings["price"] = {"input": 1.0, "output": 2.0}
            spent = {"usd": plan.budget_usd}
        budget = {"day": spent, "on_exhausted": "simulated"} if plan.budget_usd else {}
        minds = {
            str(seat): {"model": MODEL} if seat in plan.models else "simulated" for seat in rulebook().bots
        }
        return {"models": {MODEL: settings}, "minds": minds, "budget": budget}

    def _plan(self) -> Plan:
        plan = self.plan
        return Plan(
            settings=self._settings(),
            seed=plan.seed,
            start=plan.start,
            society_id=f"chaos/{plan.seed}",
            directory=self._directory,
            bus=plan.bus,
            is_admin_simulated=plan.admin,
            past=self._past,
            temper=TEMPERS[plan.temper],
            ports=StruckPorts(
                plan,
                self.striking,
                self._acked,
                self._disk,
                self._bodies,
                self.outcome.findings,
                self._model_server,
            ),
        )

    async def _live(self, clock: Clock) -> None:
        """Open the society, let things happen, and end it as the plan says."""
        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.down_s = DOWN_S
        self._clock = clock
        society = await Society.open(self._plan(), clock, listener=self._hear)
        life = self._life = Life(self, society, ended)
        guests = AsyncExitStack()
        if self._is_cut:
            life.end("cut")
        try:
            if self._directory is not None:
                await self._serve(guests, self._directory, clock, society, life)
            for n in range(self.next, len(self.happenings)):
                self._at(self.happenings[n].at_s, partial(life.happen, n))
            self._at(self.plan.wall_s, partial(life.end, "over"))
            stop = asyncio.Event()
            ended.add_done_callback(lambda _: stop.set())
            life.say_again()
            await society.run_until(None, stop)
            # The time of day goes on no further while files are being closed.
            while self._timers:
                self._timers.pop().cancel()
            how = ended.result() if ended.done() else "stopped"
            self._is_over = how == "over"
            if self._is_over:
                self._judge_living(society)
                await self._drain(clock)
            await life.close()
            await guests.aclose()
            if how in ("kill", "cut"):
                await society.abandon()
            else:
                # What a full disk does not take at the end is a crash.
                with suppress(StorageError):
                    await society.close()
        except OfficerFault:
            await life.close()
            await guests.aclose()
            await society.abandon()
            raise
        finally:
            self._disk.be_full(False)
            if self.plan.clock == "virtual":
                self._virtual_s += clock.elapsed_us() / 1e6
            self._clock = self._life = None
            self._cut()

    async def _serve(
        self, guests: AsyncExitStack, directory: Path, clock: Clock, society: Society, life: Life
    ) -> None:
        """Let guests in, and cut them off while spells say so."""
        reception = Reception(society.host)
        self._cut_off = await serve_guests(guests, directory, clock, society, life.door, reception)
        under: set[int] = set()
        for spell in self.plan.spells:
            if spell.fault == CUT and self.passed_s() < spell.ends_s:
                self._at(spell.at_s, partial(self._cut_guests, under, spell.n, True))
                self._at(spell.ends_s, partial(self._cut_guests, under, spell.n, False))

    def _cut_guests(self, under: set[int], n: int, begins: bool) -> None:
        """Begin or end a cut; guests are let in again when the last of those that they are under is over."""
        if begins:
            under.add(n)
            self.striking.happened[CUT] += 1
        else:
            under.discard(n)
        self._cut_off(bool(under))

    async def _drain(self, clock: Clock) -> None:
        """Give the gateway time to show what was said."""
        if self._gateway is not None:
            log = list(self._log)
            # The gateway keeps what it shows on the same disk.
            self._disk.be_full(False)
            self._cut_off(False)
            with clock.hold():
                await asyncio.to_thread(self._gateway.drain, log)
            self._shown_until = len(log)

    def _hear(self, env: Envelope, fx: Effects) -> None:
        if self._cut_at is not None:
            return
        self._log.append(env)
        self._broken(self._watch.see(json.loads(env.line)))
        life = self._life
        if life is not None:
            self._coverage.take(env, fx, life.docket)
            self._bounds.take(env, fx, life.docket)
        if self._cuts and env.seq >= self._cuts[0] and not self._calm_at:
            self._cuts = [cut for cut in self._cuts if cut > env.seq]
            self.outcome.happened["crash.cut"] += 1
            self._is_cut = True
            if self.plan.bus == "memory":
                self._cut_at = env.seq
        if life is None:
            return
        life.asked(fx.opened)
        if self._is_cut:
            life.end("cut")
        elif (env.sent_at - self.plan.start).total_seconds() > self.plan.most_s:
            life.end("over")

    def _broken(self, found: Iterable[Broken]) -> None:
        """Note what breaks a law."""
        self.outcome.findings += [Finding(one.law.name, one.seq, one.says) for one in found]

    def _cut(self) -> None:
        """Let what came after a cut never have been; nobody heard of it."""
        seq, self._cut_at, self._is_cut = self._cut_at, None, False
        if seq is not None and self._past is not None:
            del self._past.entries[seq:]
            for key in [key for key, at in self._acked.items() if at > seq]:
                del self._acked[key]

    def begin_calm(self) -> None:
        """Note that nothing goes wrong from now on."""
        assert self._clock is not None
        self._calm_at = self._clock.now()

    def break_later(self, spell: Spell) -> None:
        """Have a file be lost or torn while the society is down."""
        self._broken_files.append(spell)

    def _break_files(self) -> None:
        while self._broken_files and self._directory is not None:
            spell = self._broken_files.pop()
            if break_file(self._directory, spell, Dice("files", self.plan.seed, spell.n)):
                self.outcome.happened[spell.fault] += 1

    # ------------------------------------------------------------ the judgement

    def _judge_living(self, society: Society) -> None:
        """Judge what the society has come to, and what it holds, before it is closed."""
        host, found = society.host, self.outcome.findings
        if self._calm_at is not None:
            found += unended(host.docket, self._log, self._bounds, self._calm_at, society.clock.now())
        found += overgrown(host, len(self._log))
        if self._past is not None:
            found += told_in_memory(host, self._past.evidence, self._bodies)

    def _judge(self, *, evidence: bool) -> None:
        outcome, log = self.outcome, self._log
        self._broken(self._watch.end())
        outcome.log, outcome.messages = log, len(log)
        outcome.head = log[-1].hash if log else ""
        if self._directory is None:
            found, outcome.warnings = judge(log, self._acked, evidence=evidence)
        else:
            with open_log(self._directory) as source:
                log = list(source.envelopes())
                found, outcome.warnings = judge(log, self._acked, evidence=evidence, source=source)
            if self._gateway is not None:
                outcome.findings += self._gateway.platform.wrong(log, self._shown_until)
        outcome.findings += [*found, *left(log, self._directory, self._bodies)]


def _calls(plan: WorldPlan) -> bool:
    """Say whether a world's models are called over HTTP, where its files are.

    Not where the disk is full for a while: society time stands still while a call is waited for, and so it stayed full.
    """
    return bool(plan.models) and not any(spell.fault == "store.full" for spell in plan.spells)
