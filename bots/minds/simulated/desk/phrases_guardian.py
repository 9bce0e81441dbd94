"""The Guardian's sentences, as data: `str.format` templates, several for each occasion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Variants = tuple[str, ...]

ALERT: Final[Mapping[str, Variants]] = {
    "daily_pnl": (
        "the day stands at {value}, the limit is {threshold}",
        "{value} on the day reaches the limit of {threshold}",
    ),
    "drawdown": (
        "{affected} is {value} under its peak, the limit is {threshold}",
        "drawdown of {affected} at {value}, beyond {threshold}",
    ),
    "var95": (
        "one day in twenty may cost more than {value} of the equity; the limit is {threshold}",
        "value at risk of {value} against a limit of {threshold}",
    ),
    "largest_position": (
        "{symbol} alone is {value} of the equity, the limit is {threshold}",
        "{value} of the equity stands in {symbol}; {threshold} is the limit",
    ),
}
"""What a RISK_ALERT says, by its metric."""

ANY_ALERT: Final[Variants] = ("{metric} is {value}, the limit is {threshold}",)

PROJECTION: Final[Mapping[str, Variants]] = {
    "accelerating": (
        "{metric} went from {first} to {last} in {minutes} minutes, the second half faster than the first; "
        "at this pace {next} is {ahead} minutes away",
        "it speeds up: {first} to {last} within {minutes} minutes, and {next} would be reached in {ahead}",
    ),
    "increasing": (
        "{metric} worsens by {slope} a check, {times} times what its noise explains; in half an hour: {then}",
        "from {first} to {last} in {minutes} minutes; on this path {then} in half an hour",
    ),
    "stable": (
        "{metric} moves between {low} and {high} without direction; {last} now",
        "no trend in the last {count} checks ({first} to {last}), the moves are noise",
    ),
    "unknown": (
        "too few checks to see a direction ({count}); {last} against a limit of {threshold}",
        "{last} is all that {count} checks show so far",
    ),
}
"""What a RISK_PROJECTION rests on."""

CONCERNS: Final[Mapping[str, Variants]] = {
    "max_drawdown": (
        "its backtest fell {value} from a peak, {limit} is what I accept",
        "drawdown of {value} in the past, above {limit}",
    ),
    "tail_loss": (
        "its worst days lose {value} in the mean, more than {limit}",
        "a bad day costs {value} (mean of the worst 5 %), {limit} is my line",
    ),
    "correlation": (
        "it moves with {other} (correlation {value}, from {limit} on I object)",
        "correlation of {value} with {other}: the same bet twice",
    ),
    "concentration": (
        "{value} of its capital stands in one symbol",
        "it depends on one symbol for {value} of its capital",
    ),
    "exposure": (
        "with it the desk could be {value} exposed, {limit} is the limit",
        "its full positions would bring the exposure to {value}, above {limit}",
    ),
}
"""What a review objects to, by the figure."""

UNTESTABLE: Final[Variants] = ("its risk cannot be measured: {why}", "I cannot compute it: {why}")

CONFIRMED: Final[Mapping[str, Variants]] = {
    "orders": ("no order is under way", "every order has its answer"),
    "positions": ("{count} held, as the book has it", "the book shows {count}"),
    "levels": ("nothing is at its halt level: {worst}", "all metrics are below halt ({worst})"),
    "exposure": ("exposure {exposure}, equity {equity}", "equity {equity}, of it {exposure} exposed"),
}
"""What a RESUME_CONFIRMED checked."""
