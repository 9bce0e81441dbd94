"""System A's debate over a given strategy: Explorer, Critic and Evolver, to the verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from moot.api.options import seated
from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.simulated.debate.explorer import expected
from moot.bots.minds.simulated.debate.specs import part_of, spec_of
from moot.bots.minds.simulated.temper import RELIABLE
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe
from moot.bots.tools.wording import describe, triggers
from moot.compare.arms.arm import Answer, Trial
from moot.compare.arms.logs import held, kept, spent
from moot.compare.arms.market import MarketArm, answered, spec_in, universe_in
from moot.config.budget import BudgetSettings
from moot.config.models import ModelSettings
from moot.config.prompts import PromptSettings
from moot.memory.evidence import text_of
from moot.minds.choosing import Chosen, MindSources, chosen, named
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import SIMULATED, behind_scripts
from moot.protocols.kernel.times import rfc3339
from moot.protocols.research.debate import DebateState
from moot.protocols.research.debate_table import BUDGETED
from moot.protocols.research.messages import Hypothesis
from moot.protocols.research.seats import EXPLORER, SYSTEM_A
from moot.recording import Life
from moot.seating import Seating
from moot.workshop import evidence_in, fitted, workshop

MOST_CALLS: Final = 11
"""Four assessments, two rebuttals, an extension, a verdict, the request to revise, the revision, the final verdict."""


class ResearchDebate(MarketArm):
    """Has a strategy debated; the hypothesis itself is given, and no call."""

    least = most = MOST_CALLS
    """Models may be asked again besides, and look things up."""

    def __init__(
        self,
        minds: Mapping[str, Any] | None = None,
        model: str | Mapping[str, Any] | None = None,
        usd: float = 0.0,
    ) -> None:
        """Take who sits where.

        Args:
            minds: What fills a seat; the others are the model's, or simulated.
            model: URL#NAME, or what a configuration says of one.
            usd: US dollars that an answer may cost, where a model sits somewhere; 0: as configured.

        Raises:
            UnusableMind: A seat is none of System A's, or what is to fill it cannot be used.
        """
        self._filled = seated(minds or {}, SYSTEM_A, model=model, seats=None, budget=usd or None)
        chosen(self._filled.minds, SYSTEM_A)

    async def run(self, trial: Trial) -> Answer:
        """Debate what is shown."""
        options = held(
            trial,
            filled=self._filled,
            # The verdict ends its log, and leaves the case open: nothing was broken off there.
            again=lambda past, directory: self._options(trial, directory, replace(past.first, cut=None)),
            anew=partial(self._options, trial),
        )
        universe = universe_in(trial.case)
        evidence = evidence_in(options.directory)
        tools = SimulatedTools(
            universe, evidence, trial.seed, bars_as_of=lambda _now: universe, temper=RELIABLE
        )
        once = {"micro": {"at": [rfc3339(trial.clock.now() + timedelta(minutes=1))]}}
        judged = asyncio.Event()
        states: list[DebateState] = []
        async with fitted(options, trial.clock) as fit:
            seating = Seating(self._filled.settings, trial.seed, {}, tools, None, fit.own, fit.models)
            minds: dict[Any, Mind] = {
                seat: _Debating(seating.mind(seat), is_over=judged.is_set) for seat in SYSTEM_A
            }
            minds[EXPLORER] = _Given(spec_in(trial.case), universe, minds[EXPLORER])
            async with workshop(
                trial.clock,
                minds,
                seed=trial.seed,
                contents=partial(text_of, evidence),
                named=options.named,
                fit=fit,
                schedules=once,
            ) as shop:

                def heard(env: Envelope, fx: Effects) -> None:
                    for state in (shop.host.docket.cases.get(env.case_id or ""), *fx.ended):
                        if isinstance(state, DebateState) and state.verdict and state.phase not in BUDGETED:
                            states.append(state)
                            judged.set()

                shop.host.listeners.append(heard)
                if not states:
                    await shop.until(judged)
                log = list(shop.log)
        debated = [env for env in log if not isinstance(env.body, Hypothesis)]
        calls, usd = spent(debated, SYSTEM_A)
        state = states[0]
        assert state.strategy is not None
        return Answer(
            answer=answered(state.verdict, spec_of(state.strategy)),
            confidence=state.confidence,
            calls=calls,
            usd=usd,
            head=kept(log, None if options.directory is not None else trial.log),
        )

    def _options(self, trial: Trial, directory: Path | None, life: Life | None = None) -> DebateOptions:
        filled = self._filled
        return DebateOptions(
            seed=trial.seed,
            minds=filled.minds,
            models=filled.models,
            budget=filled.budget,
            prompts=filled.settings.prompts,
            directory=directory,
            life=life,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateOptions:
    """What a debate is fitted with (`workshop.Options`)."""

    seed: int
    minds: MindSources
    models: Mapping[str, ModelSettings]
    budget: BudgetSettings
    prompts: PromptSettings
    directory: Path | None
    life: Life | None
    chosen: Mapping[str, Chosen] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chosen", chosen(self.minds, SYSTEM_A))

    @property
    def named(self) -> Mapping[str, Any]:
        """Return it as the log says it: the case speaks for the Explorer, as a script does, and only then its mind."""
        minds = {seat: name for seat, name in named(self.chosen).items() if name != SIMULATED}
        return behind_scripts(minds, minds.keys() & {EXPLORER})


class _Debating(Mind):
    """Debates as another mind does, up to the verdict: nobody is asked, and paid, for what comes after it."""

    def __init__(self, mind: Mind, *, is_over: Callable[[], bool]) -> None:
        self._mind = mind
        self._is_over = is_over

    def begins_at_once(self, view: View) -> bool:
        return self._mind.begins_at_once(view)

    def consider(self, view: View) -> timedelta | None:
        return None if self._is_over() else self._mind.consider(view)

    async def answer(self, view: View) -> Reply | None:
        return await self._mind.answer(view)


class _Given(Mind):
    """An Explorer who is given the hypothesis, and argues for it as any."""

    def __init__(self, spec: StrategySpec, universe: Universe, argues: Mind) -> None:
        self._spec = spec
        self._universe = universe
        self._argues = argues

    def begins_at_once(self, view: View) -> bool:
        return "HYPOTHESIS" not in view.asked and self._argues.begins_at_once(view)

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
