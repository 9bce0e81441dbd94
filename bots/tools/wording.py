"""Strategies in words, for people. Access: read-only."""

from __future__ import annotations

from dataclasses import dataclass

from moot.bots.tools.strategies import StrategySpec


@dataclass(frozen=True, slots=True)
class Triggers:
    """When a strategy opens and closes a position, one sentence each."""

    entry: str
    exit: str


def describe(spec: StrategySpec) -> str:
    """Say a legal strategy in one human phrase, such as "momentum 20/60 on SP500, long only"."""
    p = spec.params
    match spec.archetype:
        case "momentum":
            how = f"momentum {p['fast']}/{p['slow']}"
        case "mean_reversion":
            how = f"mean reversion over {p['window']} days (in at z {p['entry']:g}, out at z {p['exit']:g})"
        case "breakout":
            how = f"breakout {p['channel']}/{p['exit_channel']}"
        case _:
            parts = (
                f"momentum {p['momentum_days']}d × {p['momentum_weight']:g}",
                f"reversal {p['reversal_days']}d × {p['reversal_weight']:g}",
                f"calm {p['volatility_days']}d × {p['volatility_weight']:g}",
            )
            how = f"multi-factor ({', '.join(parts)}, threshold {p['threshold']:g})"
    sides = "long and short" if p["allow_short"] else "long only"
    return f"{how} on {_listed(spec.symbols)}, {sides}, at most {p['target_vol'] * 100:g} % volatility"


def triggers(spec: StrategySpec) -> Triggers:
    """Say when a legal strategy enters and exits; a short position is the mirror image."""
    p = spec.params
    match spec.archetype:
        case "momentum":
            return Triggers(
                f"the {p['fast']}-day average of closes rises above the {p['slow']}-day average",
                f"the {p['fast']}-day average falls below the {p['slow']}-day average",
            )
        case "mean_reversion":
            return Triggers(
                f"the close is over {p['entry']:g} standard deviations below its {p['window']}-day mean",
                f"the close is back within {p['exit']:g} standard deviations of it"
                if p["exit"]
                else "the close is back at that mean",
            )
        case "breakout":
            return Triggers(
                f"the close exceeds the highest price of the {p['channel']} days before",
                f"the close falls below the lowest price of the {p['exit_channel']} days before",
            )
        case _:
            return Triggers(
                f"the weighted score of momentum, reversal and calm exceeds {p['threshold']:g}",
                "the score falls to 0 or below",
            )


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
