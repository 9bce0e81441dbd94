"""What the desk taught: which strategies were recalled or sink there, which thrive (spec 6, R-D20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import Final

from moot.bots.minds.simulated.temper import Temper
from moot.memory.records import StrategyRecord
from moot.memory.tables import natural
from moot.memory.view import MemoryView
from moot.protocols.trading.standing import HELD_BY_B

KEPT: Final = 0.5
"""A strategy in production thrives that keeps this share of its backtest's Sharpe ratio (R-B9)."""
TWICE: Final = 2
"""From so many setbacks on a symbol is left alone."""
LEFT_OVER: Final = 2
"""So many symbols stay whatever the desk says."""


@dataclass(frozen=True, slots=True)
class Live:
    """What memory holds of the desk.

    Attributes:
        setbacks: Traded strategies that the desk withdrew or sent back lately, by id, with their archetypes.
        sinking: Strategies at the desk whose realised Sharpe ratio is negative, likewise.
        thriving: Strategies in production that keep what they promised, by id, likewise.
        unlucky: Symbols of several setbacks that no thriving strategy trades.
    """

    setbacks: Mapping[str, str] = field(default_factory=dict)
    sinking: Mapping[str, str] = field(default_factory=dict)
    thriving: Mapping[str, str] = field(default_factory=dict)
    unlucky: frozenset[str] = frozenset()

    def factor(self, archetype: str, temper: Temper) -> float:
        """Say how much an archetype is wanted for what the desk saw of it; 1 when it saw nothing."""
        factor = 1.0
        for names, each in (
            (self.setbacks, temper.recalls),
            (self.sinking, temper.sinks),
            (self.thriving, temper.thrives),
        ):
            factor *= each ** min(list(names.values()).count(archetype), 3)
        return factor

    def allowed(self, symbols: tuple[str, ...]) -> tuple[str, ...]:
        """Leave out the unlucky symbols, as long as enough are left."""
        left = tuple(symbol for symbol in symbols if symbol not in self.unlucky)
        return left if len(left) >= LEFT_OVER else symbols


def live(memory: MemoryView, now: datetime, temper: Temper) -> Live:
    """Read what memory holds of the desk.

    Args:
        memory: What the seat reads; the desk's figures reach it by METRICS_RECORDED and STRATEGY_MOVED alone.
        now: Society time.
        temper: How far back evidence counts.
    """
    since = now - temper.live_for
    latest = {
        record.strategy_id: record.realised for record in memory.metrics(since=since.date().isoformat())
    }
    setbacks: dict[str, str] = {}
    sinking: dict[str, str] = {}
    thriving: dict[str, str] = {}
    kept: set[str] = set()
    lost: Counter[str] = Counter()
    moved = takewhile(lambda record: record.at > since, memory.newest_strategies())
    concerned = {*latest, *(record.strategy_id for record in moved)}
    for record in map(memory.strategy, sorted(concerned, key=natural)):
        if record is None or record.strategy is None:
            continue
        archetype, symbols = record.strategy.archetype, record.strategy.symbols
        if _was_taken_back(record, since, is_traded=record.strategy_id in latest):
            setbacks[record.strategy_id] = archetype
            lost.update(symbols)
        elif record.stage in HELD_BY_B and record.strategy_id in latest:
            sharpe = latest[record.strategy_id].get("sharpe_30d")
            if not isinstance(sharpe, int | float):
                continue
            promised = record.backtest.metrics.sharpe if record.backtest is not None else 0.0
            if sharpe < 0.0:
                sinking[record.strategy_id] = archetype
            elif record.stage == "production" and sharpe > 0.0 and sharpe >= KEPT * promised:
                thriving[record.strategy_id] = archetype
                kept.update(symbols)
    unlucky = frozenset(symbol for symbol, count in lost.items() if count >= TWICE and symbol not in kept)
    return Live(setbacks, sinking, thriving, unlucky)


def is_gone(memory: MemoryView, strategy_id: str) -> bool:
    """Say whether the desk withdrew a strategy or sent it back, and System A did not approve it anew.

    Nobody breeds from such a one.
    """
    record = memory.strategy(strategy_id)
    if record is None:
        return False
    return record.stage == "withdrawn" or (
        record.stage == "candidates" and bool(record.history) and record.history[-1].from_ in HELD_BY_B
    )


def _was_taken_back(record: StrategyRecord, since: datetime, *, is_traded: bool) -> bool:
    """Say whether the desk gave a strategy up since an instant, after it was traded.

    A failed validation and a deployment that was turned down say nothing of how it fares.
    """
    return any(
        move.at > since
        and move.to not in HELD_BY_B
        and (move.from_ == "production" or (move.from_ == "staging" and is_traded))
        for move in record.history
    )


def named(ids: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """Return the last ids, for a sentence or a list of sources."""
    return tuple(ids)[-most:]
