"""The formulas behind the Critic's seven scores and the Explorer's strength. Access: read-only.

Each function takes figures and series of the evidence (train and validation, never the test) and returns a
number in [0, 1]; higher is riskier (for ``alpha_strength``: better). ``squash`` brings open scales to [0, 1];
its middles and widths are chosen so that strategies drawn at random on the sample prices spread over the
whole scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from moot.bots.tools.bars import Floats
from moot.bots.tools.statistics import correlation, published, sharpe


@dataclass(frozen=True, slots=True)
class Scale:
    """How a figure becomes a score: 0.5 at ``middle``, 0.73 one ``width`` above it, 0.27 one below."""

    middle: float
    width: float


OVERFITTING: Final = Scale(0.4, 0.5)
"""Of the fall in yearly Sharpe from train to validation."""

TAIL: Final = Scale(0.011, 0.004)
"""Of the mean loss on the worst 5 % of days, as a fraction of the capital."""

TURNOVER: Final = Scale(12.0, 6.0)
"""Of what is bought and sold in a year, in units of the capital."""

DECAY: Final = Scale(0.15, 0.3)
"""Of the yearly Sharpe that is lost with age or delay."""

STRENGTH: Final = Scale(0.2, 0.3)
"""Of the yearly Sharpe that the evidence supports."""

EVENT_SHARE: Final = 0.05
"""Share of days, those with the largest moves, that count as event days."""


def squash(value: float, scale: Scale) -> float:
    """Bring a figure to (0, 1) by the logistic curve 1 ÷ (1 + exp(−(value − middle) ÷ width))."""
    return published(1.0 / (1.0 + math.exp(min(max(-(value - scale.middle) / scale.width, -60.0), 60.0))))


def overfitting(train_sharpe: float, validation_sharpe: float) -> float:
    """Score how much better the strategy was where it was fitted: ``squash(train − validation Sharpe)``."""
    return squash(train_sharpe - validation_sharpe, OVERFITTING)


def tail_risk(cvar: float) -> float:
    """Score the losses of bad days: ``squash(CVaR 95 % of daily returns)``."""
    return squash(cvar, TAIL)


def execution_risk(turnover_a_year: float, cost_a_year: float, return_a_year: float) -> float:
    """Score how much rests on cheap execution: the mean of how much is traded and what it takes of the gain.

    Formula: ``(squash(turnover) + cost ÷ (cost + max(net return, 0))) ÷ 2``; 0 when it never trades.

    Args:
        turnover_a_year: Bought and sold, in units of the capital.
        cost_a_year: Paid, as a fraction of the capital.
        return_a_year: Net, as a fraction of the capital.
    """
    if turnover_a_year <= 0.0:
        return 0.0
    gross = cost_a_year + max(return_a_year, 0.0)
    share = cost_a_year / gross if gross > 0.0 else 0.0
    return published((squash(turnover_a_year, TURNOVER) + share) / 2.0)


def correlation_risk(returns: Floats, approved: Sequence[Floats]) -> float:
    """Score how much of it is already owned: the largest absolute correlation with an approved strategy.

    Args:
        returns: Daily returns of the strategy, shape (days,).
        approved: Those of the approved strategies over the same days; none gives 0.
    """
    return published(max((abs(correlation(returns, other)) for other in approved), default=0.0))


def signal_decay(first_half: float, second_half: float, prompt: float, late: float) -> float:
    """Score how fast the signal loses its worth: the mean of two losses of yearly Sharpe, squashed.

    Args:
        first_half: Sharpe in the first half of the validation.
        second_half: Sharpe in the second half.
        prompt: Sharpe over the evidence, executed at the next open.
        late: The same, executed one session later.
    """
    return published(
        (squash((first_half - second_half) / 2.0, DECAY) + squash(3.0 * (prompt - late), DECAY)) / 2.0
    )


def crowding_risk(returns: Floats, buy_and_hold: Floats, momentum: Floats) -> float:
    """Score how much it does what everybody does: the larger absolute correlation with two common strategies.

    Args:
        returns: Daily returns of the strategy, shape (days,).
        buy_and_hold: Those of holding its symbols.
        momentum: Those of plain momentum on its symbols.
    """
    return published(max(abs(correlation(returns, buy_and_hold)), abs(correlation(returns, momentum))))


def event_window_risk(returns: Floats, buy_and_hold: Floats) -> float:
    """Score how much of the result was made on the days on which its symbols moved most.

    Formula: ``|P| ÷ (|P| + |Q|)`` with P the sum of daily returns on the 5 % of days with the largest
        absolute move
    of its symbols, Q the sum on all other days; 0 when it never earned or lost anything.
    """
    count = math.ceil(len(returns) * EVENT_SHARE)
    largest = np.argsort(-np.abs(buy_and_hold), kind="stable")[:count]
    on_events = float(returns[largest].sum())
    rest = float(returns.sum()) - on_events
    whole = abs(on_events) + abs(rest)
    return published(abs(on_events) / whole) if whole > 1e-12 else 0.0


def alpha_strength(train_sharpe: float, validation_sharpe: float, trades: int) -> float:
    """Score the evidence: ``squash((train + validation Sharpe) ÷ 2 × trades ÷ (trades + 10))``.

    Validation counts as much as train although it is a third as long, since nothing was chosen on it; few
    trades shrink the figure towards none.
    """
    return squash((train_sharpe + validation_sharpe) / 2.0 * trades / (trades + 10.0), STRENGTH)


def halves(returns: Floats) -> tuple[float, float]:
    """Measure the yearly Sharpe of the first and of the second half of a series."""
    middle = len(returns) // 2
    return sharpe(returns[:middle]), sharpe(returns[middle:])
