"""One life of a world: the society with what stands around it in `moot up`, and what happens to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from moot.channels.errors import BusClosed, Refused, StorageError
from moot.channels.guests.drafts import draft_to_json
from moot.chaos import people, rogue
from moot.chaos.dice import Dice
from moot.chaos.door import StruckDoor
from moot.chaos.faults import CUT
from moot.chaos.judge import Finding
from moot.chaos.minds import StruckMind, duty_of
from moot.chaos.plan import Spell
from moot.clock import PacedClock
from moot.control import control_clock
from moot.door import Door
from moot.patience import Patience
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import ADMIN, OFFICERS
from moot.protocols.rulebook import rulebook
from moot.society import Society

if TYPE_CHECKING:
    from moot.chaos.happening import Happening
    from moot.chaos.world import World

A_MOMENT: Final = timedelta(seconds=1)
SOON: Final = timedelta(minutes=10)
REMEMBERED: Final = 0.5
"""Share of what bots forget that they say later, unasked."""
AT_ONCE: Final = 0.5
"""Share of interruptions that come within a minute; others come at any time until the ruling."""
BESIDE: Final = 0.4
"""Share of interruptions aimed at a duty that are said in the same instant as what is owed."""
MINUTE: Final = timedelta(minutes=1)

READS: Final = 40
"""A stall comes after at most so many looks at the wall: in the middle of something."""


class Life:
    """One life: its society, and the people and faults of the world in it.

    Attributes:
        door: What takes in what people post.
    """

    def __init__(self, world: World, society: Society, ended: asyncio.Future[str]) -> None:
        """Open the door."""
        self._world = world
        self._society = society
        self._ended = ended
        self._dice = Dice("life", world.plan.seed)
        settings = society.plan.settings
        self._patience = Patience(society, wall_s=settings.clock.human_wall_s)
        self.door = StruckDoor(Door(society.host, settings), world.striking)
        self._doing: set[asyncio.Task[None]] = set()

    @property
    def docket(self) -> Docket:
        """Return the docket of the society."""
        return self._society.host.docket

    def end(self, how: str) -> None:
        """End it, once."""
        if not self._ended.done():
            self._ended.set_result(how)

    def happen(self, n: int) -> None:
        """Let something of the world happen."""
        world = self._world
        if self._ended.done() or n < world.next:
            return
        world.next = n + 1
        one = world.happenings[n]
        kind, _, name = one.kind.partition(".")
        if one.spell is not None and one.kind in ONCE:
            if kind != "store":
                world.outcome.happened[one.kind] += 1
            ONCE[one.kind](world, self, one.spell)
        elif kind in ("people", "life"):
            self._start(self._act(one, kind, name))
        elif kind == "bots":
            self._start(self._rogue(one, name))
        elif kind == "time":
            self._start(self._set_clock(one, name))
        else:
            self._start(self._calm())

    def _start(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(doing)
        self._doing.add(task)
        task.add_done_callback(self._did)

    def _did(self, task: asyncio.Task[None]) -> None:
        self._doing.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._world.outcome.findings.append(Finding("act", self.docket.seq, f"an act failed: {fault!r}"))
            self.end("failed")

    # ------------------------------------------------------------ people and rogue bots

    async def _act(self, one: Happening, kind: str, name: str) -> None:
        dice = self._dice.of(kind, name, one.n)
        who = dice.pick(people.EVERYBODY[:2] if kind == "life" else people.EVERYBODY)
        act = people.Act(self._society, who, dice, one.n)
        with suppress(BusClosed, StorageError):
            told = await people.do(name, act, self._post)
            self._world.outcome.happened[f"{kind}.{name} {told}"] += 1

    async def _post(self, plain: Mapping[str, Any], key: str) -> str:
        """Post as a guest does, who tries again with the same key when the society went down meanwhile."""
        unsure, striking, clock = self._world.unsure, self._world.striking, self._society.clock
        unsure[key] = plain
        for cut in striking.under(CUT):
            striking.happened[CUT] += 1
            await clock.sleep_until(clock.now() + timedelta(seconds=cut.ends_s - self._world.passed_s()))
        try:
            told = str((await self.door.publish_json(plain, key))["status"])
        except Refused:
            told = "refused"
        if not self._ended.done():
            unsure.pop(key, None)
        return told

    def say_again(self) -> None:
        """Let people post again what they never heard of."""
        for key, plain in list(self._world.unsure.items()):
            self._start(self._post_again(plain, key))

    async def _post_again(self, plain: Mapping[str, Any], key: str) -> None:
        with suppress(BusClosed, StorageError):
            told = await self._post(plain, key)
            self._world.outcome.happened[f"posted again {told}"] += 1

    def _turn(self, dice: Dice, key: str, seats: tuple[str, ...] = ()) -> rogue.Turn:
        # What stands in the log of a model's seat had a call (K26), which a rogue bot cannot make up.
        bots = tuple(sorted(rulebook().bots.difference(self._world.plan.models)))
        return rogue.Turn(
            self._society.host, dice, key, bots, tuple(one for one in seats if one in bots) or bots
        )

    async def _rogue(self, one: Happening, name: str) -> None:
        assert one.spell is not None
        turn = self._turn(self._dice.of("rogue", one.n), f"rogue/{one.n}", one.spell.seats)
        with suppress(BusClosed, StorageError):
            is_said = await rogue.ACTS[name](turn)
            self._world.outcome.happened[f"bots.{name}{'' if is_said else ' refused'}"] += 1

    def asked(self, opened: Iterable[Obligation]) -> None:
        """Let others say something in the cases in which somebody has just been asked for something, or be late."""
        striking = self._world.striking
        for due in opened:
            case = self.docket.cases.get(due.case_id)
            duty = duty_of(case.kind if case is not None else "", due)
            if striking.about_to("bots.forgets", due.seat, "forgets", due.rule, duty=duty) is not None:
                self._start(self._remember(due))
            if due.seat == ADMIN and (
                spell := striking.strikes("people.prompt", due.seat, "prompt", due.id, duty=duty)
            ):
                self._start(self._decide(due, striking.dice(spell, due.id, "decided")))
            for kind in ("bots", "people"):
                spell = striking.strikes(f"{kind}.interrupt", due.seat, "interrupt", due.id, duty=duty)
                if spell is not None:
                    self._start(self._say_between(kind, due, spell))

    async def _say_between(self, kind: str, due: Obligation, spell: Spell) -> None:
        dice = self._world.striking.dice(spell, due.id, "between")
        clock, key = self._society.clock, f"between/{kind}/{due.id}"
        mind = self._society.minds.get(due.seat)
        is_beside = bool(spell.duties) and isinstance(mind, StruckMind) and dice.chance(BESIDE)
        if not is_beside and due.seat not in OFFICERS:
            span = due.void_at - due.opened_at
            span = min(span, MINUTE) if dice.chance(AT_ONCE) else span
            await clock.sleep_until(max(due.opened_at, clock.now()) + dice.share() * span)
        turn = self._turn(dice, key)
        with suppress(BusClosed, StorageError):
            if kind == "people":
                act = people.Act(self._society, dice.pick(people.EVERYBODY[:2]), dice, 0)
                said = await people.interruption(act, due.case_id)
            else:
                said = await rogue.interruption(turn, due.case_id)
            if is_beside and isinstance(mind, StruckMind):
                await mind.answers.setdefault(due.id, asyncio.Event()).wait()
            if said is not None:
                await (
                    self._post(json.loads(draft_to_json(said)), key) if kind == "people" else turn.post(said)
                )

    async def _decide(self, due: Obligation, dice: Dice) -> None:
        """Let an admin who is asked for something choose one of its options within minutes."""
        clock = self._society.clock
        await clock.sleep_until(max(due.opened_at, clock.now()) + dice.share() * SOON)
        act = people.Act(self._society, dice.pick(people.EVERYBODY[:2]), dice, 0)
        draft = people.chosen(act, due.case_id)
        if draft is not None:
            with suppress(BusClosed, StorageError):
                await self._post(json.loads(draft_to_json(draft)), f"decided/{due.id}")

    async def _remember(self, due: Obligation) -> None:
        """Let a bot say of itself, half of the times, what it forgot, when its silence was ruled on."""
        clock, mind = self._society.clock, self._society.minds.get(due.seat)
        with suppress(BusClosed, StorageError):
            await clock.sleep_until(due.void_at - A_MOMENT)
            spell = mind.forgotten.pop(due.id, None) if isinstance(mind, StruckMind) else None
            if spell is None:
                return
            turn = self._turn(self._world.striking.dice(spell, due.id, "late"), f"late/{due.id}")
            draft = await rogue.answer(turn, due) if due.seat in turn.bots else None
            if draft is None or not turn.dice.chance(REMEMBERED):
                return
            await clock.sleep_until(due.void_at + timedelta(seconds=turn.dice.share() * spell.size))
            await turn.post(replace(draft, obligation_id=None, attempt=0, key=turn.key))

    # ------------------------------------------------------------ time

    async def _set_clock(self, one: Happening, name: str) -> None:
        dice = self._dice.of("clock", one.n)
        if name == "page":
            waiting = [s.case_id for s in self.docket.cases.values() if s.kind == "escalation"]
            if waiting:
                self._patience.hold_open(dice.pick(waiting), dice.chance(0.6))
                self._world.outcome.happened[one.kind] += 1
            return
        speed = dice.pick((1e-9, 0.001, 1.0, 60.0, 1234.5678901, 100_000.0, 1e9)) if name == "speed" else None
        with suppress(BusClosed, StorageError):
            told = await control_clock(self._society, OPS.get(name, name), speed, "owner")
            self._world.outcome.happened[f"time.{name} {'ok' if told['ok'] else 'refused'}"] += 1

    async def _calm(self) -> None:
        """Let nothing go wrong any more: the clock runs, no page holds anything open."""
        with suppress(BusClosed, StorageError):
            if isinstance(self._society.clock, PacedClock):
                for case_id in list(self.docket.cases):
                    self._patience.hold_open(case_id, False)
                await control_clock(self._society, "resume", None, "owner")
                await control_clock(self._society, "speed", self._world.plan.speed, "owner")
        self._world.begin_calm()

    async def close(self) -> None:
        """Let nobody in any more."""
        await self._patience.close()
        for task in list(self._doing):
            task.cancel()
        await asyncio.gather(*self._doing, return_exceptions=True)


OPS: Final = {"go_on": "resume"}


def _kill(world: World, life: Life, spell: Spell) -> None:
    world.down_s = max(spell.size, world.down_s)
    life.end("kill")


def _restart(world: World, life: Life, spell: Spell) -> None:
    world.down_s = max(spell.size, world.down_s)
    life.end("restart")


def _file(world: World, life: Life, spell: Spell) -> None:
    """Crash, and have a file be broken meanwhile."""
    world.break_later(spell)
    life.end("kill")


def _reads(world: World, spell: Spell) -> int:
    return Dice("stall", world.plan.seed, spell.n).whole(0, READS)


def _stall(world: World, life: Life, spell: Spell) -> None:
    world.wall.stall(spell.size, reads=_reads(world, spell))


def _suspend(world: World, life: Life, spell: Spell) -> None:
    world.wall.stall(spell.size, reads=_reads(world, spell), is_suspended=True)


def _set(world: World, life: Life, spell: Spell) -> None:
    world.wall.set_by(spell.size)


ONCE: Final[Mapping[str, Callable[[World, Life, Spell], None]]] = {
    "crash.kill": _kill,
    "crash.restart": _restart,
    "store.memory_lost": _file,
    "store.memory_torn": _file,
    "store.snapshot_lost": _file,
    "store.snapshot_torn": _file,
    "time.stall": _stall,
    "time.suspend": _suspend,
    "time.set": _set,
}
"""What goes wrong at one instant, by name."""
