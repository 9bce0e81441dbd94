"""One obligation in front of a simulated mind, with all that its answer needs, computed when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cached_property

from moot.bots.minds.mind import Reply, View
from moot.bots.minds.simulated.answering import Answering
from moot.bots.minds.simulated.debate.casefile import CaseFile, Pool, open_file
from moot.bots.minds.simulated.debate.criteria import mentioned
from moot.bots.minds.simulated.debate.evidence import Live, live
from moot.bots.minds.simulated.debate.heed import Heeded, attention, heeded
from moot.bots.minds.simulated.debate.lessons import Trial, against, pool, trials
from moot.bots.minds.simulated.debate.points import point
from moot.bots.minds.simulated.debate.specs import spec_of
from moot.bots.minds.simulated.debate.weighing import excesses, tolerated
from moot.bots.minds.simulated.delays import delay
from moot.bots.minds.simulated.temper import Temper
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.minds.views.debate import Debate
from moot.bots.tools.errors import ToolError
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import Universe
from moot.memory.records import PrincipleRecord
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.messages import Strategy


class Turn(Answering):
    """A view, read with the eyes of the seat that owes.

    Attributes:
        tools: What it may call.
    """

    def __init__(self, view: View, tools: SimulatedTools) -> None:
        """Look at an obligation."""
        super().__init__(view, tools.seed)
        self.tools = tools

    # ------------------------------------------------------------ what is owed

    @property
    def temper(self) -> Temper:
        """Return the constants of behaviour."""
        return self.tools.temper

    @property
    def case_id(self) -> str:
        """Return the case that the answer belongs to."""
        return self.view.obligation.case_id

    @property
    def now(self) -> datetime:
        """Return the society's time."""
        return self.view.now

    @property
    def round(self) -> str:
        """Return the round that the obligation's step names: "1", "2", "3" or "revision"."""
        return self.view.obligation.step.rsplit("-", 1)[-1]

    @cached_property
    def elapsed(self) -> timedelta:
        """Return how much of the cycle's budget is spent when the answer comes.

        A view may be older than the answer by the mind's own delay, and the budget's rules go by the latter.
        """
        obligation = self.view.obligation
        own = delay(self.tools.seed, obligation, self.view.attempt, self.now, self.temper)
        behind = obligation.opened_at + own - self.now if own is not None else timedelta(0)
        return self.view.elapsed + max(behind, timedelta(0)) + timedelta(seconds=30)

    # ------------------------------------------------------------ what is known

    @cached_property
    def universe(self) -> Universe:
        """Return the prices that exist now."""
        return self.tools.bars(self.now)

    @cached_property
    def regime(self) -> str:
        """Return the label of the market."""
        return self.tools.regime(self.universe)

    @cached_property
    def transcript(self) -> Debate:
        """Return the case's messages in effect."""
        return Debate(self.view.in_effect)

    @cached_property
    def thresholds(self) -> Mapping[str, float]:
        """Return the Critic's strictness this week."""
        return self.view.memory.thresholds(self.now)

    @cached_property
    def pool(self) -> Pool:
        """Return the approved strategies, this case's own left out."""
        found = pool(self.view.memory, self.universe, self.temper.pool, but=self.case_id)
        return Pool(found, self.universe)

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """Return what was tried in the last days."""
        return trials(self.view.memory, self.now - self.temper.remembers)

    @cached_property
    def live(self) -> Live:
        """Return what the desk taught."""
        return live(self.view.memory, self.now, self.temper)

    @cached_property
    def principles(self) -> tuple[PrincipleRecord, ...]:
        """Return the principles about this market."""
        return self.view.memory.principles(regime=self.regime)

    @cached_property
    def notes(self) -> tuple[Heeded, ...]:
        """Return the notes of people that concern this case or everybody."""
        cases = {self.case_id, *(env.case_id for env in self.view.transcript if env.case_id is not None)}
        symbols = self.universe.symbols
        return heeded(self.view.notes, cases, symbols, self.now, self.temper.note_hours, self.view.names)

    # ------------------------------------------------------------ the strategy under debate

    @cached_property
    def spec(self) -> StrategySpec | None:
        """Return the strategy as it stands."""
        strategy = self.transcript.strategy
        return None if strategy is None else spec_of(strategy)

    @cached_property
    def _file(self) -> tuple[CaseFile | None, str]:
        strategy = self.transcript.strategy
        if strategy is None:
            return None, "no strategy was put forward"
        return self.file_of(strategy)

    def file_of(self, strategy: Strategy) -> tuple[CaseFile | None, str]:
        """Open the file of a strategy, or say in words why there is none."""
        try:
            return open_file(spec_of(strategy), self.universe, self.pool), ""
        except ToolError as fault:
            return None, str(fault)

    @property
    def file(self) -> CaseFile | None:
        """Return the figures of the strategy as it stands; None when it cannot be tested."""
        return self._file[0]

    @property
    def fault(self) -> str:
        """Say why there are no figures, "" when there are."""
        return self._file[1]

    def attention(self, scores: Mapping[str, float], archetype: str) -> dict[str, float]:
        """Say what notes and principles take off the tolerance of which score."""
        plain = excesses(scores, self.thresholds, {}, self.temper)
        found = attention(
            self.notes, archetype, max(plain, key=lambda name: plain[name]), self.temper.heed_note
        )
        for principle in self.principles:
            if principle.archetype == archetype and principle.failure_code in scores:
                more = self.temper.heed_principle * principle.confidence
                found[principle.failure_code] = max(found.get(principle.failure_code, 0.0), more)
        return found

    def limit(self, name: str, taken_off: Mapping[str, float] | None = None) -> float:
        """Return the score that is tolerated in a criterion."""
        off = taken_off.get(name, 0.0) if taken_off is not None else 0.0
        return tolerated(self.thresholds.get(name, 0.6), self.temper) - off

    def strengths(self, file: CaseFile) -> dict[str, float] | None:
        """Return how well the answers given hold, by criterion; None without a rebuttal."""
        if self.transcript.rebuttal is None:
            return None
        points = [one.critique_point for rebuttal in self.transcript.rebuttals for one in rebuttal.responses]
        return {name: point(name, file).strength for said in points for name in mentioned(said)}

    def said_against(self, archetype: str) -> tuple[float, tuple[str, ...], tuple[str, ...]]:
        """Return what principles say against an archetype in this market, see `lessons.against`."""
        return against(self.principles, archetype)


Answer = Callable[[Turn], Reply | None]
"""Writes an answer; None: it stays silent."""

Answers = Mapping[tuple[Seat, type[Message]], Answer]
"""Who answers what, by the message that an obligation expects."""
