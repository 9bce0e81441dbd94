"""A desk whose seats are filled by simulated minds, on the synchronous table and the sample prices."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any

from moot.bots.minds.mind import Reply, View
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.minds.simulated.temper import Temper
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.prices import load_universe
from moot.memory.evidence import InMemoryEvidence
from moot.memory.inmemory import InMemoryStore
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.research.messages import Strategy
from moot.protocols.trading.seats import SYSTEM_B
from tests.doubles import bodies
from tests.doubles.desk_table import DeskTable, at
from tests.doubles.views import run

TREND = {"allow_short": 1, "fast": 20, "slow": 60, "target_vol": 0.4}
WELL = Temper(spell_chance=0.0, desk_spell_chance=0.0, silence=0.0, desk_silence=0.0, tick_silence=0.0)


@lru_cache
def tools(seed: int = 7) -> SimulatedTools:
    """Return the tools of a society on the sample prices in which nobody falls silent."""
    universe = load_universe("sample", start=datetime(2026, 2, 23, tzinfo=UTC), seed=seed)
    return SimulatedTools(universe, InMemoryEvidence(), seed, temper=WELL)


def trend(*symbols: str, **params: Any) -> Strategy:
    """Return a momentum strategy on some symbols of the sample."""
    return bodies.strategy(params={**TREND, **params}, symbols=symbols)


class MindedDesk(DeskTable):
    """Seats of System B answer with their own minds, at their own delays."""

    def __init__(self, start: datetime | None = None, seed: int = 7) -> None:
        """Open a desk."""
        self.tools = tools(seed)
        self.mind = SimulatedMind(self.tools)
        super().__init__(start)

    def trade(self, strategy_id: str, strategy: Strategy, to: str = "production") -> None:
        """Put a strategy where it is traded."""
        self.candidate(strategy_id, strategy=strategy)
        way = ["candidates", "staging", "production"]
        for before, after in pairwise(way[: way.index(to) + 1]):
            self.tell(ADMIN, bodies.moved(strategy_id=strategy_id, from_=before, to=after))

    def shown(self, owed: Obligation, **over: Any) -> View:
        """Show an obligation to its mind: the log of its case and of the case above it."""
        state = self.docket.cases[owed.case_id]
        cases = {owed.case_id, state.parent}
        transcript = tuple(env for env in self.log if env.case_id is not None and env.case_id in cases)
        attempt = self.docket.attempts.get(owed.id, 0)
        fields: dict[str, Any] = {
            "obligation": owed,
            "seat": owed.seat,
            "now": self.now,
            "attempt": attempt,
            "refused": "",
            "transcript": transcript,
            "notes": (),
            "memory": InMemoryStore().read(),
            "config": self.docket.context.config,
        }
        if "brief" not in over:
            fields["brief"] = self.brief(owed)
        return View(**{**fields, **over})

    def think(self, owed: Obligation, **over: Any) -> Reply | None:
        """Ask the mind without posting its answer."""
        return run(self.mind.answer(self.shown(owed, **over)))

    def respond(self, owed: Obligation, *, is_legal: bool = True) -> Envelope | None:
        """Let the mind answer now, what it says beside its answer first; no rule may be broken."""
        reply = self.think(owed)
        if reply is None:
            return None
        for aside in reply.asides:
            said = self.post(owed.seat, aside.body, channel=aside.channel)
            assert not self.broke(said), self.effects[said.seq - 1].violation
        said = self.say(owed.seat, reply.body, owed=owed)
        assert not is_legal or not self.broke(said), self.effects[said.seq - 1].violation
        return said

    def live(self, until: datetime, silent: Collection[Seat] = ()) -> None:
        """Let time pass until an instant while all seats of the desk but some do what they owe."""
        while True:
            due = self.docket.next_instant()
            ready = []
            for owed in self.docket.open.values():
                if owed.seat in SYSTEM_B and owed.seat not in silent:
                    delay = self.mind.consider(self.shown(owed))
                    if delay is not None:
                        ready.append((max(self.now, owed.opened_at + delay), owed.id))
            answer = min(ready, default=None)
            if (answer is None or answer[0] > until) and (due is None or due > until):
                break
            if answer is not None and (due is None or answer[0] <= due):
                self.now = answer[0]
                self.respond(self.docket.open[answer[1]])
            else:
                assert due is not None
                self.until(max(due, self.now))
        self.until(until)

    def all(self, kind: str) -> list[Any]:
        """Return the bodies of a type, oldest first."""
        return [env.body for env in self.log if env.body.type == kind]


__all__ = ["WELL", "MindedDesk", "at", "tools", "trend"]
