"""Strategies as messages carry them, and as the tools take them."""

from __future__ import annotations

from moot.bots.tools.strategies import StrategySpec
from moot.protocols.research.messages import Strategy


def spec_of(strategy: Strategy) -> StrategySpec:
    """Turn the part of a message into a strategy; nothing is checked."""
    return StrategySpec(strategy.archetype, dict(strategy.params), tuple(strategy.symbols))


def part_of(spec: StrategySpec) -> Strategy:
    """Turn a strategy into the part of a message."""
    return Strategy(archetype=spec.archetype, params=dict(spec.params), symbols=spec.symbols)
