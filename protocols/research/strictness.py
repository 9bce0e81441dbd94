"""The Critic's strictness: how a week of verdicts is measured and how thresholds move (spec 2.2, R-D14).

Strictness is a number for each criterion, higher is stricter; to lower a threshold is to loosen it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

Recommendation = Literal["lower", "raise", "keep"]

DIGITS: Final = 6
"""Published floats are rounded to so many digits (K4)."""

FALSE_NEGATIVE_PERCENT: Final = 30
"""Above this share of wrong rejections the Critic should loosen (spec 2.2)."""

FALSE_POSITIVE_PERCENT: Final = 40
"""Above this share of approvals whose backtest failed the Critic should tighten (spec 2.2)."""

FACTORS: Final[Mapping[Recommendation, float]] = {"lower": 0.9, "raise": 1.1, "keep": 1.0}
"""What a recommendation multiplies every strictness by: 10 % down, 10 % up, nothing (R-D14)."""

STRICTNESS_MIN: Final = 0.2
STRICTNESS_MAX: Final = 0.95
"""No strictness leaves these bounds, both included (R-D14)."""

START_THRESHOLDS: Final[Mapping[str, float]] = {
    "tail_risk": 0.6,
    "overfitting": 0.6,
    "execution_risk": 0.6,
    "correlation_risk": 0.6,
    "signal_decay": 0.6,
    "crowding_risk": 0.6,
    "event_window_risk": 0.6,
}
"""The Critic's strictness before the first review, one for each score of RISK_ASSESSMENT (R-D14)."""


class Review(NamedTuple):
    """A week of the Critic's verdicts, measured; the fields of THRESHOLD_REVIEW but its period (spec 2.2)."""

    rejects: int
    wrongly_rejected: int
    approvals: int
    failed_backtests: int
    false_negative_rate: float
    false_positive_rate: float
    recommendation: Recommendation
    factor: float


def threshold_review(*, rejects: int, wrongly_rejected: int, approvals: int, failed_backtests: int) -> Review:
    """Measure a week of verdicts and recommend (spec 2.2, R-D14).

    Compared exactly, in whole numbers, and strictly: 30 % and 40 % themselves change nothing. When both
    rates are exceeded the recommendation is to raise: approving what fails is the dearer error (R-F15).

    Args:
        rejects: REJECT verdicts of the week.
        wrongly_rejected: Those whose lineage was later approved with a passing backtest.
        approvals: APPROVE verdicts of the week.
        failed_backtests: Those whose backtest failed.

    Raises:
        ValueError: A part exceeds its whole, or a number is negative.
    """
    if not (0 <= wrongly_rejected <= rejects and 0 <= failed_backtests <= approvals):
        raise ValueError(
            f"{wrongly_rejected} of {rejects} rejects, {failed_backtests} of {approvals} approvals"
        )
    recommendation: Recommendation = "keep"
    if 100 * failed_backtests > FALSE_POSITIVE_PERCENT * approvals:
        recommendation = "raise"
    elif 100 * wrongly_rejected > FALSE_NEGATIVE_PERCENT * rejects:
        recommendation = "lower"
    return Review(
        rejects,
        wrongly_rejected,
        approvals,
        failed_backtests,
        _rate(wrongly_rejected, rejects),
        _rate(failed_backtests, approvals),
        recommendation,
        FACTORS[recommendation],
    )


def review(*, rejects: int, wrongly_rejected: int, approvals: int, failed_backtests: int) -> dict[str, Any]:
    """Return `threshold_review` as the fields of a THRESHOLD_REVIEW, all but its period."""
    measured = threshold_review(
        rejects=rejects,
        wrongly_rejected=wrongly_rejected,
        approvals=approvals,
        failed_backtests=failed_backtests,
    )
    return measured._asdict()


def clip(strictness: float) -> float:
    """Hold a strictness within [0.2, 0.95], rounded to 6 digits (R-D14)."""
    return round(min(max(strictness, STRICTNESS_MIN), STRICTNESS_MAX), DIGITS)


def adjust(thresholds: Mapping[str, float], factor: float) -> dict[str, float]:
    """Multiply every strictness by the factor of a review, within bounds (R-D14).

    Raises:
        ValueError: The factor is not a positive finite number.
    """
    if not (math.isfinite(factor) and factor > 0):
        raise ValueError(f"a factor of {factor}")
    return {criterion: clip(strictness * factor) for criterion, strictness in thresholds.items()}


def _rate(part: int, whole: int) -> float:
    return round(part / whole, DIGITS) if whole else 0.0
