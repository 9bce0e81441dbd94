"""A strategy as data: an archetype, its parameters and the symbols it trades. Access: read-only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from moot.bots.tools.errors import StrategyError

MAX_SYMBOLS: Final = 20
MAX_DRAWN_SYMBOLS: Final = 6

LOG_GRID: Final = 24
"""Steps of a logarithmic grid."""

Number = int | float


@dataclass(frozen=True, slots=True)
class Range:
    """Legal values of one parameter, and the grid on which it is drawn.

    Attributes:
        low: Smallest value.
        high: Largest value.
        step: Distance of grid points; a whole number makes the parameter whole.
        is_log: Draw evenly in ratios, not in differences: as many lookbacks from 10 to 20 as from 100 to 200.
    """

    low: Number
    high: Number
    step: Number = 1
    is_log: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether only whole numbers are legal."""
        return isinstance(self.step, int)

    def grid(self) -> tuple[Number, ...]:
        """List the values that are drawn, lowest first."""
        if self.is_log:
            growth = (self.high / self.low) ** (1 / LOG_GRID)
            return tuple(sorted({round(self.low * growth**i) for i in range(LOG_GRID + 1)}))
        count = round((self.high - self.low) / self.step) + 1
        values = (self.low + i * self.step for i in range(count))
        return tuple(int(v) if self.is_whole else round(float(v), 6) for v in values)


_COMMON: Final[Mapping[str, Range]] = {
    "allow_short": Range(0, 1, 1),
    "target_vol": Range(0.06, 0.4, 0.02),
}
"""``allow_short`` 1 also sells short; ``target_vol`` caps exposure at this yearly volatility of a symbol."""

PARAM_SPACE: Final[Mapping[str, Mapping[str, Range]]] = {
    "momentum": {
        "fast": Range(2, 60, is_log=True),
        "slow": Range(10, 250, is_log=True),
        **_COMMON,
    },
    "mean_reversion": {
        "window": Range(5, 60, is_log=True),
        "entry": Range(0.6, 2.6, 0.1),
        "exit": Range(0.0, 1.0, 0.1),
        **_COMMON,
    },
    "breakout": {
        "channel": Range(6, 120, is_log=True),
        "exit_channel": Range(3, 60, is_log=True),
        **_COMMON,
    },
    "multi_factor": {
        "momentum_days": Range(10, 250, is_log=True),
        "reversal_days": Range(2, 20, is_log=True),
        "volatility_days": Range(10, 60, is_log=True),
        "momentum_weight": Range(0.1, 1.0, 0.1),
        "reversal_weight": Range(0.0, 1.0, 0.1),
        "volatility_weight": Range(0.0, 1.0, 0.1),
        "threshold": Range(0.0, 0.5, 0.05),
        **_COMMON,
    },
}
"""Every archetype with its parameters: lookbacks in bars, entry and exit in standard deviations."""

ORDERED: Final[Mapping[str, tuple[str, str]]] = {
    "momentum": ("fast", "slow"),
    "mean_reversion": ("exit", "entry"),
    "breakout": ("exit_channel", "channel"),
}
"""Pairs of parameters of which the first must be below the second."""

ARCHETYPES: Final = tuple(PARAM_SPACE)


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """One strategy.

    Attributes:
        archetype: A key of ``PARAM_SPACE``.
        params: Every parameter of the archetype; read-only and sorted by name once here.
        symbols: What it trades, in equal parts of the capital.

    Specs are values: equal when archetype, parameters and symbols are, and hashable. Nothing is checked here,
    see ``validate``.
    """

    archetype: str
    params: Mapping[str, Number]
    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        """Detach the parameters from the caller's mapping."""
        object.__setattr__(self, "params", MappingProxyType(dict(sorted(self.params.items()))))
        object.__setattr__(self, "symbols", tuple(self.symbols))

    def __hash__(self) -> int:
        """Hash by value: a mapping alone would not be hashable."""
        return hash((self.archetype, tuple(self.params.items()), self.symbols))


def validate(spec: StrategySpec, symbols: Collection[str] | None = None) -> None:
    """Refuse a strategy that is not a legal point of its archetype's space.

    Any value within a range is legal, also between grid points.

    Args:
        spec: The strategy, from anybody.
        symbols: What exists to be traded; None checks only the form.

    Raises:
        StrategyError: Names the field and says what would be legal.
    """
    space = PARAM_SPACE.get(spec.archetype)
    if space is None:
        raise StrategyError("archetype", f"{spec.archetype!r:.60} is none of {', '.join(ARCHETYPES)}")
    for name in spec.params:
        if name not in space:
            raise StrategyError(f"{name:.40}", f"is no parameter of {spec.archetype} ({', '.join(space)})")
    for name, legal in space.items():
        if name not in spec.params:
            raise StrategyError(name, f"is missing; {spec.archetype} needs it in [{legal.low}, {legal.high}]")
        value = spec.params[name]
        kinds = (int,) if legal.is_whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            noun = "a whole number" if legal.is_whole else "a number"
            raise StrategyError(name, f"{value!r:.40} is not {noun}")
        if not legal.low <= value <= legal.high:
            raise StrategyError(name, f"{value!r:.40} is outside [{legal.low}, {legal.high}]")
    if spec.archetype in ORDERED:
        low, high = ORDERED[spec.archetype]
        if spec.params[low] >= spec.params[high]:
            raise StrategyError(low, f"{spec.params[low]} must be below {high} {spec.params[high]}")
    if not 1 <= len(spec.symbols) <= MAX_SYMBOLS or len(set(spec.symbols)) != len(spec.symbols):
        raise StrategyError("symbols", f"1 to {MAX_SYMBOLS} different symbols are needed")
    for symbol in spec.symbols:
        if symbols is not None and symbol not in symbols:
            raise StrategyError("symbols", f"{symbol!r:.40} is not in this universe ({_some(symbols)})")


def draw(archetype: str, rng: np.random.Generator, symbols: Sequence[str]) -> StrategySpec:
    """Draw a strategy evenly from an archetype's grid.

    Args:
        archetype: A key of ``PARAM_SPACE``.
        rng: Source of the choice.
        symbols: What may be traded, at least one; one to ``MAX_DRAWN_SYMBOLS`` of them are chosen.

    Returns:
        A legal strategy; the same for the same state of ``rng``.

    Raises:
        StrategyError: Unknown archetype, or no symbols.
    """
    if archetype not in PARAM_SPACE:
        raise StrategyError("archetype", f"{archetype!r:.60} is none of {', '.join(ARCHETYPES)}")
    if not symbols:
        raise StrategyError("symbols", "at least one is needed")
    params: dict[str, Number] = {}
    for name in PARAM_SPACE[archetype]:
        choices = _choices(archetype, name, params)
        params[name] = choices[int(rng.integers(len(choices)))]
    count = int(rng.integers(1, min(len(symbols), MAX_DRAWN_SYMBOLS) + 1))
    chosen = sorted(int(i) for i in rng.choice(len(symbols), size=count, replace=False))
    return StrategySpec(archetype, params, tuple(symbols[i] for i in chosen))


def mutate(spec: StrategySpec, rng: np.random.Generator, symbols: Sequence[str] = ()) -> StrategySpec:
    """Change a strategy a little: one or two parameters, and now and then a symbol.

    Args:
        spec: A legal strategy, the parent.
        rng: Source of the choice.
        symbols: What may be traded; with it, one child in three gains, loses or swaps a symbol.

    Returns:
        A legal strategy of the same archetype that differs from its parent.

    Raises:
        StrategyError: The parent is not legal.
    """
    validate(spec)
    params = dict(spec.params)
    names = tuple(PARAM_SPACE[spec.archetype])
    for index in rng.permutation(len(names))[: int(rng.integers(1, 3))]:
        name = names[int(index)]
        others = [v for v in _choices(spec.archetype, name, params) if v != params[name]]
        # Near the parent: a sixth of the choices to either side.
        others.sort(key=lambda v: abs(v - params[name]))
        near = others[: max(2, len(others) // 3)]
        params[name] = near[int(rng.integers(len(near)))]
    traded = spec.symbols
    if symbols and int(rng.integers(3)) == 0:
        traded = _other_symbols(traded, rng, symbols)
    return StrategySpec(spec.archetype, params, traded)


def _other_symbols(
    traded: tuple[str, ...], rng: np.random.Generator, symbols: Sequence[str]
) -> tuple[str, ...]:
    fresh = [symbol for symbol in symbols if symbol not in traded]
    may_lose = len(traded) > 1
    may_gain = bool(fresh) and len(traded) < MAX_DRAWN_SYMBOLS
    kept = list(traded)
    if may_lose and (not may_gain or int(rng.integers(2)) == 0):
        del kept[int(rng.integers(len(kept)))]
    if may_gain and len(kept) <= len(traded):
        kept.append(fresh[int(rng.integers(len(fresh)))])
    return tuple(kept)


def _choices(archetype: str, name: str, params: Mapping[str, Number]) -> list[Number]:
    """List the grid values of a parameter that suit those already chosen; never empty for a legal rest."""
    values = list(PARAM_SPACE[archetype][name].grid())
    low, high = ORDERED.get(archetype, ("", ""))
    if name == low and high in params:
        values = [value for value in values if value < params[high]]
    if name == high and low in params:
        values = [value for value in values if value > params[low]]
    return values


def _some(symbols: Collection[str]) -> str:
    names = list(symbols)
    return ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
