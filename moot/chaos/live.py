"""A rehearsal: what is made to go wrong in a society that people watch, each time told in its log."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Final

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.models.in_use import ModelInUse
from moot.bots.models.transport import Transport
from moot.bots.officers.referee import rehearsed
from moot.channels.bus import Bus
from moot.channels.errors import BusClosed, Refused, StorageError
from moot.chaos import rogue
from moot.chaos.acked import StruckBus
from moot.chaos.dice import Dice
from moot.chaos.door import StruckDoor
from moot.chaos.faults import CUT, FAULTS, HOUR, fault
from moot.chaos.minds import Died, StruckMind
from moot.chaos.models import StruckModels
from moot.chaos.plan import Spell
from moot.chaos.striking import Striking
from moot.clock import Clock
from moot.host import Host
from moot.memory.bodies import Bodies
from moot.ports import Ports, Posting
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.rulebook import rulebook

TURN_S: Final = 600.0
"""So often, in society time, what happens of itself may happen."""
LONGEST_S: Final = HOUR
"""So long the gateway is cut off at most, in society time: people wait for it."""
LASTS_TURNS: Final = int(LONGEST_S / TURN_S) + 1
"""A cut that is on began at most so many turns ago: it is told a little after its turn has come."""
EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Turns are counted from here, so that those of a society that was killed go on as they were."""


def standing(rate: float) -> Iterator[Spell]:
    """Yield the spells of a rehearsal, which last for ever: each occasion is struck at one rate.

    The faults of a class that meet the same occasions share it by their weights.

    Args:
        rate: The share of occasions, in [0, 1].
    """
    n = 0
    for kind, rows in FAULTS.items():
        told = {name: row for name, row in rows.items() if row.live}
        for is_unasked in (False, True):
            group = {
                name: row for name, row in told.items() if happens_of_itself(f"{kind}.{name}") == is_unasked
            }
            whole = sum(row.weight for row in group.values())
            for name, row in group.items():
                n += 1
                yield Spell(n=n, fault=f"{kind}.{name}", at_s=0.0, for_s=inf, rate=rate * row.weight / whole)


def happens_of_itself(named: str) -> bool:
    """Say whether a fault needs no occasion: nobody does anything that it strikes."""
    return fault(named).is_act or named == CUT


class _Standing(Striking):
    """Spells of a rehearsal: what they strike is told, and each strike has a size of its own."""

    def __init__(self, seed: int, rate: float, tell: Callable[..., None]) -> None:
        super().__init__(seed, standing(rate), lambda: 0.0)
        self._tell = tell

    def strikes(self, fault_: str, seat: str, *occasion: object, duty: str = "") -> Spell | None:
        spell = super().strikes(fault_, seat, *occasion, duty=duty)
        if spell is None:
            return None
        if not happens_of_itself(fault_):
            self._tell(fault_, seat, *occasion)
        share = self.dice(spell, *occasion, "size").share()
        return spell.model_copy(update={"size": fault(fault_).size(share)})


class _Mortal(StruckMind):
    """A mind whose death is told in the log, and is no error of anybody's."""

    async def answer(self, view: View) -> Reply | None:
        try:
            return await super().answer(view)
        except Died:
            return None


class Rehearsal(Ports):
    """Stands at the ports of a society and makes things go wrong, at a share of occasions that a seed draws."""

    def __init__(self, seed: int, rate: float, modelled: Collection[str] = ()) -> None:
        """Take the seed, the share of occasions, in [0, 1], and the seats that models fill."""
        self._seed = seed
        self._rate = rate
        self._striking = _Standing(seed, rate, self._tell)
        self._modelled = frozenset(modelled)
        self._untold: deque[Draft] = deque()
        self._news = asyncio.Event()
        self._doors: list[StruckDoor] = []
        self._before: datetime | None = None

    def _tell(self, named: str, seat: str, *occasion: object) -> None:
        """Have the log say what is made to go wrong."""
        self._say(_told(named, seat, *occasion))

    def _say(self, draft: Draft) -> None:
        self._untold.append(draft)
        self._news.set()

    # ------------------------------------------------------------ the ports

    def bus(self, bus: Bus, clock: Clock) -> Bus:
        self._before = bus.last_sent_at
        return StruckBus(bus, self._striking)

    def mind(self, seat: Seat, mind: Mind, clock: Clock) -> Mind:
        if seat == ADMIN:
            return mind
        return _Mortal(seat, mind, self._striking, is_model=seat in self._modelled)

    def calls(self, transport: Transport, models: Mapping[str, ModelInUse], bodies: Bodies) -> Transport:
        return StruckModels(transport, models, bodies, self._striking)

    def door(self, door: Posting, clock: Clock) -> Posting:
        struck = StruckDoor(door, self._striking)
        self._doors.append(struck)
        return struck

    # ------------------------------------------------------------ what happens of itself

    async def beside(self, host: Host, cut_off: Callable[[bool], None]) -> None:
        telling = asyncio.create_task(self._keep_telling(host), name="rehearsal")
        try:
            with suppress(BusClosed):
                await self._end_cut(host)
                await self._turns(host, cut_off)
        finally:
            for door in self._doors:
                door.hurry()
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _keep_telling(self, host: Host) -> None:
        with suppress(BusClosed):
            while True:
                await self._news.wait()
                self._news.clear()
                while self._untold:
                    with suppress(Refused, StorageError):
                        await host.publish(self._untold[0])
                    self._untold.popleft()

    async def _turns(self, host: Host, cut_off: Callable[[bool], None]) -> None:
        """Let happen what nobody waits for: bots speak out of turn, the gateway is cut off."""
        clock, turn = host.clock, timedelta(seconds=TURN_S)
        named = [one.fault for one in standing(self._rate) if happens_of_itself(one.fault)]
        while True:
            n = _turn(clock.now()) + 1
            await clock.sleep_until(EPOCH + n * turn)
            for one in named:
                if (spell := self._striking.strikes(one, "", n)) is None:
                    continue
                if one == CUT:
                    await self._cut(clock, spell, n, cut_off)
                else:
                    await self._rogue(host, spell, n)

    async def _cut(self, clock: Clock, spell: Spell, n: int, cut_off: Callable[[bool], None]) -> None:
        lasts_s = self._striking.dice(spell, n, "lasts").between(fault(CUT).lasts_s[0], LONGEST_S)
        cut_off(True)
        self._tell(CUT, "", n)
        try:
            await clock.sleep_until(clock.now() + timedelta(seconds=lasts_s))
        finally:
            cut_off(False)
            self._say(_let_in(n))

    async def _end_cut(self, host: Host) -> None:
        """Say that a cut is over which the society did not live to see the end of; what was said is not said again."""
        if self._before is not None:
            last = _turn(self._before)
            for n in range(last - LASTS_TURNS, last + 1):
                if await host.bus.seq_of(_told(CUT, "", n).identity()) is not None:
                    self._say(_let_in(n))

    async def _rogue(self, host: Host, spell: Spell, n: int) -> None:
        # What stands in the log of a model's seat had a call (K26), which a rogue bot cannot make up.
        bots = tuple(sorted(rulebook().bots.difference(self._modelled)))
        kind, _, name = spell.fault.partition(".")
        rogues = tuple(one for one in spell.seats if one in bots) or bots
        turn = rogue.Turn(host, Dice(kind, self._seed, name, n), f"rehearsal/{name}/{n}", bots, rogues)
        with suppress(StorageError):
            if await rogue.ACTS[name](turn):
                self._tell(spell.fault, "", n)


def _turn(now: datetime) -> int:
    """Return the turn that has come last."""
    return (now - EPOCH) // timedelta(seconds=TURN_S)


def _told(named: str, seat: str, *occasion: object) -> Draft:
    """Return what the log says of a fault that struck."""
    # What a bot owes and what a model is asked have names that people can look up.
    is_about = named.partition(".")[0] in ("bots", "models") and not happens_of_itself(named)
    about = f": {occasion[1]}" if is_about else ""
    which = "/".join(map(str, (named, seat, *occasion)))
    return rehearsed(f"{fault(named).live}{about}", seat, which)


def _let_in(n: int) -> Draft:
    """Return what the log says of the end of a turn's cut."""
    return rehearsed("it is over: the gateway is let in again", "", f"{CUT}/{n}/over")
