"""A strategy's risk report, and the market's regime. Access: read-only.

Everything here rests on the first two splits; the test is never read (R-D15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal

import numpy as np

from moot.bots.tools import scores
from moot.bots.tools.backtest import Metrics, backtest
from moot.bots.tools.bars import Floats
from moot.bots.tools.returns import run
from moot.bots.tools.splits import MAX_BARS, splits
from moot.bots.tools.statistics import published, sharpe, tail_loss
from moot.bots.tools.strategies import StrategySpec, validate
from moot.bots.tools.universe import Universe

CACHED_ASSESSMENTS: Final = 512
"""Of about 2 KB each; a day of the society asks for some forty."""
CACHED_SERIES: Final = 256
"""Of up to 20 KB each; a day asks for one of each strategy that is traded or considered."""

COMMON_MOMENTUM: Final = MappingProxyType({"fast": 20, "slow": 120, "allow_short": 1, "target_vol": 0.24})
"""What everybody does, against which crowding is measured."""

REGIME_BARS: Final = 60

Regime = Literal["calm_up", "calm_down", "volatile_up", "volatile_down"]


@dataclass(frozen=True, slots=True)
class RiskReport:
    """What the Critic argues from, and the Explorer against.

    Attributes:
        scores: The seven scores of a RISK_ASSESSMENT, each in [0, 1], higher is riskier.
        train_metrics: Figures over the first split.
        validation_metrics: Figures over the second split.
        alpha_strength: Evidence for the strategy, in [0, 1].
    """

    scores: Mapping[str, float]
    train_metrics: Metrics
    validation_metrics: Metrics
    alpha_strength: float


def assess(spec: StrategySpec, universe: Universe, approved: Sequence[StrategySpec] = ()) -> RiskReport:
    """Assess a strategy on train and validation.

    Equal arguments give the same report, from a cache if it is there.

    Args:
        spec: The strategy.
        universe: What exists at the society's instant (``Universe.until``).
        approved: Strategies that are already approved; one equal to ``spec`` makes its correlation 1.

    Returns:
        Scores and figures, rounded to six digits.

    Raises:
        StrategyError: A strategy is not legal or names a symbol that the universe lacks.
        TooFewBarsError: Fewer than three sessions exist.
    """
    for one in (spec, *approved):
        validate(one, universe.bars)
    own = _alone(spec, universe)
    if not approved:
        return own
    series = [evidence_returns(one, universe) for one in dict.fromkeys(approved)]
    shared = scores.correlation_risk(evidence_returns(spec, universe), series)
    together = MappingProxyType({**own.scores, "correlation_risk": shared})
    return RiskReport(together, own.train_metrics, own.validation_metrics, own.alpha_strength)


def regime(universe: Universe) -> Regime:
    """Label the market by its last 60 sessions.

    The market is the mean daily return of all symbols. It is *up* when it gained over the 60 sessions, and
    *volatile* when their standard deviation is above the median one of all 60-session windows of the last ten
    years.

    Args:
        universe: What exists at the society's instant; with fewer than two bars the market is ``calm_up``.

    Returns:
        One of four labels.
    """
    market = _market_returns(universe)
    if len(market) < 2:
        return "calm_up"
    window = min(REGIME_BARS, len(market))
    spreads = np.lib.stride_tricks.sliding_window_view(market, window).std(axis=1)
    # Rounded, so that a flat market is calm in spite of the last bits.
    is_volatile = published(float(spreads[-1])) > published(float(np.median(spreads)))
    is_up = published(float(market[-window:].sum())) >= 0.0
    if is_volatile:
        return "volatile_up" if is_up else "volatile_down"
    return "calm_up" if is_up else "calm_down"


@lru_cache(maxsize=CACHED_ASSESSMENTS)
def _alone(spec: StrategySpec, universe: Universe) -> RiskReport:
    """Compute everything that does not depend on the approved strategies."""
    parts = splits(universe)
    train, validation = backtest(spec, universe, parts.train), backtest(spec, universe, parts.validation)
    whole = run(spec, universe, parts.evidence)
    late = run(spec, universe, parts.evidence, lag=1)
    common = run(StrategySpec("momentum", COMMON_MOMENTUM, spec.symbols), universe, parts.evidence)
    years = max(len(whole.dates), 1) / 252
    first_half, second_half = scores.halves(validation.returns)
    train_sharpe, validation_sharpe = train.metrics["sharpe"], validation.metrics["sharpe"]
    risks = {
        "tail_risk": scores.tail_risk(tail_loss(whole.returns)),
        "overfitting": scores.overfitting(train_sharpe, validation_sharpe),
        "execution_risk": scores.execution_risk(
            whole.turnover / years, whole.cost / years, float(whole.returns.sum()) / years
        ),
        "correlation_risk": 0.0,
        "signal_decay": scores.signal_decay(
            first_half, second_half, sharpe(whole.returns), sharpe(late.returns)
        ),
        "crowding_risk": scores.crowding_risk(whole.returns, whole.buy_and_hold, common.returns),
        "event_window_risk": scores.event_window_risk(whole.returns, whole.buy_and_hold),
    }
    trades = train.metrics["total_trades"] + validation.metrics["total_trades"]
    strength = scores.alpha_strength(train_sharpe, validation_sharpe, trades)
    return RiskReport(MappingProxyType(risks), train.metrics, validation.metrics, strength)


@lru_cache(maxsize=CACHED_SERIES)
def evidence_returns(spec: StrategySpec, universe: Universe) -> Floats:
    """Let a strategy trade over train and validation, which is all that a seat may argue on (R-D15).

    Args:
        spec: A legal strategy whose symbols are in the universe.
        universe: What exists at the society's instant.

    Returns:
        Net daily returns as fractions, shape (days,), read-only.

    Raises:
        TooFewBarsError: Fewer than three sessions exist.
    """
    return run(spec, universe, splits(universe).evidence).returns


@lru_cache(maxsize=32)
def _market_returns(universe: Universe) -> Floats:
    """Average the symbols' daily returns over the last ten years, shape (days - 1,)."""
    calendar = universe.calendar[-MAX_BARS:]
    total, present = np.zeros(len(calendar)), np.zeros(len(calendar))
    for bars in universe.bars.values():
        recent = bars.between(
            int(np.searchsorted(bars.dates, calendar[0])) if len(calendar) else 0, len(bars)
        )
        if len(recent) < 2:
            continue
        at = np.searchsorted(calendar, recent.dates[1:])
        total[at] += recent.close[1:] / recent.close[:-1] - 1.0
        present[at] += 1.0
    return (total / np.maximum(present, 1.0))[1:]
