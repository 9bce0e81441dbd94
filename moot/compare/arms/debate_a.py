"""System A's debate over a given strategy: Explorer, Critic and Evolver, to the verdict."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, Final

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.simulated.debate.explorer import expected
from moot.bots.minds.simulated.debate.specs import part_of, spec_of
from moot.bots.minds.simulated.mind import SimulatedMind
from moot.bots.minds.simulated.temper import RELIABLE
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe
from moot.bots.tools.wording import describe, triggers
from moot.compare.arms.arm import Answer, Trial
from moot.compare.arms.logs import kept
from moot.compare.arms.market import MarketArm, answered, spec_in, universe_in
from moot.memory.evidence import InMemoryEvidence
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.times import rfc3339
from moot.protocols.research.debate import DebateState
from moot.protocols.research.debate_table import BUDGETED
from moot.protocols.research.messages import Hypothesis
from moot.protocols.research.seats import EXPLORER, SYSTEM_A
from moot.workshop import workshop

MOST_CALLS: Final = 11
"""Four assessments, two rebuttals, an extension, a verdict, the request to revise, the revision, the final verdict."""


class ResearchDebate(MarketArm):
    """Has a strategy debated by simulated minds; the hypothesis itself is given, and no call."""

    least = most = MOST_CALLS

    async def run(self, trial: Trial) -> Answer:
        """Debate what is shown."""
        universe = universe_in(trial.case)
        spec = spec_in(trial.case)
        tools = SimulatedTools(
            universe, InMemoryEvidence(), trial.seed, bars_as_of=lambda _now: universe, temper=RELIABLE
        )
        simulated = SimulatedMind(tools)
        minds: dict[Any, Mind] = dict.fromkeys(SYSTEM_A, simulated)
        minds[EXPLORER] = _Given(spec, universe, simulated)
        once = {"micro": {"at": [rfc3339(trial.clock.now() + timedelta(minutes=1))]}}
        judged = asyncio.Event()
        states: list[DebateState] = []
        async with workshop(trial.clock, minds, seed=trial.seed, schedules=once) as shop:

            def heard(env: Envelope, fx: Effects) -> None:
                for state in (shop.host.docket.cases.get(env.case_id or ""), *fx.ended):
                    if isinstance(state, DebateState) and state.verdict and state.phase not in BUDGETED:
                        states.append(state)
                        judged.set()

            shop.host.listeners.append(heard)
            if not states:
                await shop.until(judged)
            said = [
                env for env in shop.log if env.author in SYSTEM_A and not isinstance(env.body, Hypothesis)
            ]
            head = kept(shop.log, trial.log)
        state = states[0]
        assert state.strategy is not None
        return Answer(
            answer=answered(state.verdict, spec_of(state.strategy)),
            confidence=state.confidence,
            calls=len(said),
            head=head,
        )


class _Given(Mind):
    """An Explorer who is given the hypothesis, and argues for it as any."""

    def __init__(self, spec: StrategySpec, universe: Universe, argues: Mind) -> None:
        self._spec = spec
        self._universe = universe
        self._argues = argues

    def consider(self, view: View) -> timedelta | None:
        return timedelta(0) if "HYPOTHESIS" in view.asked else self._argues.consider(view)

    async def answer(self, view: View) -> Reply | None:
        if "HYPOTHESIS" not in view.asked:
            return await self._argues.answer(view)
        spec, said = self._spec, triggers(self._spec)
        return Reply(
            Hypothesis(
                cycle_id=view.obligation.case_id,
                statement=describe(spec),
                rationale="The hypothesis is the case's; nobody chose it.",
                strategy=part_of(spec),
                expected_traits=expected(spec, self._universe),
                signal_sources=tuple(f"daily bars of {symbol}" for symbol in spec.symbols),
                entry_trigger=said.entry,
                exit_trigger=said.exit,
                evidence=(),
            )
        )
