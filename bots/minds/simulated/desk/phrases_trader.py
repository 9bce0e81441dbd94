"""The Trader's sentences, as data: `str.format` templates, several for each occasion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Variants = tuple[str, ...]

WANTS: Final[Mapping[str, Variants]] = {
    "open": (
        "{what} wants {target} of its limit in {symbol}, we hold none",
        "{symbol}: {what} turns {side}, {target} of the position limit",
    ),
    "grow": (
        "{what} wants {target} of its limit in {symbol}, we hold {held}",
        "more {symbol}: {target} wanted against {held} shares held",
    ),
    "shrink": (
        "{what} wants {target} of its limit in {symbol}; {held} shares are too many",
        "less {symbol}: the signal is down to {target}, we hold {held}",
    ),
    "close": (
        "{what} no longer wants {symbol}; we hold {held}",
        "out of {symbol}: the signal of {what} is gone",
    ),
    "untraded": (
        "{strategy} is not traded any more, its {held} of {symbol} go",
        "{strategy} left the desk: {symbol} is closed",
    ),
}
"""Why a signal is given."""

REDUCES: Final[Variants] = (
    "half of {symbol} goes: exposure is to be reduced",
    "{strategy} halves {symbol} to bring the exposure down",
)
"""Why a reduction is given."""

FLATTENS: Final[Variants] = (
    "{symbol} was filled after the halt: what that opened goes",
    "{strategy} gives up the {symbol} that came after the halt",
)
"""Why what a late fill opened is closed."""

FEASIBLE: Final[Variants] = (
    "{count} to trade, the largest takes {share} of a 15-minute bar",
    "{count}, at most {share} of what trades in 15 minutes: that goes through",
)
THIN: Final[Variants] = (
    "{symbol} is too thin: our order would be {share} of a 15-minute bar",
    "{share} of a 15-minute bar of {symbol} is more than it bears at once",
)
CLOSED: Final[Variants] = ("the exchange is closed: at the next open", "not before the next open")
NOTHING: Final[Variants] = ("nothing of it is held, so nothing is to be sold", "we hold none of it")

ISSUES: Final[Mapping[str, Variants]] = {
    "untraded": ("it was never traded on paper", "no fill on paper so far"),
    "slippage": (
        "slippage of {value} bp, {limit} bp is what I accept",
        "it pays {value} bp a trade, above {limit}",
    ),
    "fills": ("only {value} of what was ordered was filled", "{value} filled, {limit} is the least"),
}
"""What is wrong with a strategy's execution."""
