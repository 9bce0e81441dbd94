"""What memory teaches: earlier trials with their strategies, near misses, principles, the approved pool."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from moot.bots.minds.simulated.debate.casefile import Pool
from moot.bots.minds.simulated.temper import Temper
from moot.bots.tools.errors import StrategyError
from moot.bots.tools.strategies import ARCHETYPES, StrategySpec, validate
from moot.bots.tools.universe import Universe
from moot.memory.records import Experience, PrincipleRecord
from moot.memory.view import MemoryView
from moot.protocols.research.recorded import FIRST, PARAM, SYMBOL

BEYOND_REPAIR = ("conceded", "correlation_risk")
"""What no small change mends: a case that was given up, a strategy that the book holds already."""

FEW_HELD = 6
"""So many approved strategies at least are what shares of the book are taken of."""

LEAST_ROOM = 0.02
"""What is left of an archetype's weight when the book holds nothing else."""

HELD: tuple[str, ...] = ("candidates", "staging", "production")
"""Stages of strategies that count as approved."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One hypothesis that was tried, as its record tells.

    Attributes:
        record: The record.
        spec: Its strategy; None when the record does not hold it.
        first: The strategy as it was proposed; None when the debate did not change it.
    """

    record: Experience
    spec: StrategySpec | None
    first: StrategySpec | None = None

    @property
    def gap(self) -> float | None:
        """Return by how much the risk argument exceeded the alpha argument; None when unknown."""
        figures = self.record.metrics
        return figures["risk"] - figures["alpha"] if {"risk", "alpha"} <= figures.keys() else None

    @property
    def may_be_revised(self) -> bool:
        """Say whether a REVISE_REQUEST may have been made: only a record with figures can rule it out."""
        return bool(self.record.metrics.get("revised", 1.0))


def trials(memory: MemoryView, since: datetime) -> tuple[Trial, ...]:
    """Return the trials recorded since an instant, oldest first."""
    return tuple(Trial(one, _spec(one), _spec(one, FIRST)) for one in memory.experiences(since=since))


def near_miss(found: Iterable[Trial], now: datetime, universe: Universe, temper: Temper) -> Trial | None:
    """Find the rejected trial that deserves another try most: the narrowest one.

    A lineage is left alone once it was tried too often, succeeded, or may have been revised three times: then
    it is with the admin (R-D11).
    """
    lineages: dict[str, dict[str, Trial]] = {}
    for trial in found:
        record = trial.record
        if record.lineage_id is not None:
            lineages.setdefault(record.lineage_id, {})[record.hypothesis_id or record.record_id] = trial
    misses = []
    for tried in lineages.values():
        last = list(tried.values())[-1]
        gap = last.gap
        if (
            len(tried) < temper.tries
            and sum(trial.may_be_revised for trial in tried.values()) < 3
            and all(trial.record.kind == "failure" for trial in tried.values())
            and now - last.record.at <= temper.near_miss_for
            and last.spec is not None
            and is_legal(last.spec, universe)
            and gap is not None
            and gap <= temper.near_miss
            and "test_sharpe" not in last.record.metrics
            and last.record.failure_code not in BEYOND_REPAIR
        ):
            misses.append((gap, last.record.record_id, last))
    return min(misses)[2] if misses else None


def pool(memory: MemoryView, universe: Universe, most: int, but: str = "") -> dict[str, StrategySpec]:
    """Return the newest approved strategies by id, oldest first.

    Args:
        memory: What the seat reads.
        universe: Strategies that it cannot trade are left out.
        most: How many at most.
        but: The hypothesis whose own strategy is left out.
    """
    held = (r for r in memory.newest_strategies() if r.stage in HELD and r.hypothesis_id != but)
    found = {}
    for record in reversed(list(islice(held, most))):
        if record.strategy is not None:
            strategy = record.strategy
            spec = StrategySpec(strategy.archetype, dict(strategy.params), strategy.symbols)
            if is_legal(spec, universe):
                found[record.strategy_id] = spec
    return found


def against(
    principles: Iterable[PrincipleRecord], archetype: str
) -> tuple[float, tuple[str, ...], tuple[str, ...]]:
    """Gather what principles say against an archetype.

    Returns:
        The highest confidence, the failure codes and the ids, strongest first.
    """
    found = sorted(
        (p for p in principles if p.archetype == archetype), key=lambda p: (-p.confidence, p.principle_id)
    )
    codes = dict.fromkeys(p.failure_code for p in found)
    return (found[0].confidence if found else 0.0), tuple(codes), tuple(p.principle_id for p in found)


def failing(found: Iterable[Trial], now: datetime, within: timedelta) -> dict[str, int]:
    """Count the failures by archetype within some time."""
    counts: dict[str, int] = {}
    for trial in found:
        record = trial.record
        if record.kind == "failure" and record.archetype and now - record.at <= within:
            counts[record.archetype] = counts.get(record.archetype, 0) + 1
    return counts


def record_of(found: Iterable[Trial], archetype: str) -> float:
    """Return the share of an archetype's trials that passed, drawn towards a third while they are few."""
    ended = [t.record.kind for t in found if t.record.archetype == archetype]
    passed, failed = ended.count("success"), ended.count("failure")
    return (passed + 1.0) / (passed + failed + 3.0)


def room_for(pool: Pool, archetype: str) -> float:
    """Say how much the book wants of an archetype, in (0, 1]: 1 up to its even share, the less the more is held."""
    held = [spec.archetype for spec in pool.specs.values()]
    even = 1.0 / len(ARCHETYPES)
    share = held.count(archetype) / max(len(held), FEW_HELD)
    return max(min((1.0 - share) / (1.0 - even), 1.0) ** 2, LEAST_ROOM)


def is_legal(spec: StrategySpec, universe: Universe) -> bool:
    """Say whether a universe can trade a strategy; people and other price files make those that it cannot."""
    try:
        validate(spec, universe.bars)
    except StrategyError:
        return False
    return True


def _spec(record: Experience, prefix: str = "") -> StrategySpec | None:
    param, symbol = prefix + PARAM, prefix + SYMBOL
    figures = record.metrics
    params = {name[len(param) :]: value for name, value in figures.items() if name.startswith(param)}
    symbols = sorted((n, name[len(symbol) :]) for name, n in figures.items() if name.startswith(symbol))
    if record.archetype is None or not params or not symbols:
        return None
    return StrategySpec(record.archetype, params, tuple(name for _, name in symbols))
