"""What the simulated minds of a world are like: they think as little as they may, and differ in what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from moot.bots.minds.simulated.temper import DEFAULT, Temper

CHEAP: Final = replace(DEFAULT, candidates=2, shortlist=1, repairs=1, revisions=1)
"""What they say matters less than when."""

TEMPERS: Final[Mapping[str, Temper]] = {
    "cheap": CHEAP,
    "bold": replace(
        CHEAP,
        candidates=4,
        hopeless=0.0,
        worthless=0.0,
        centre=0.5,
        reject_from=0.9,
        alpha_even=0.1,
        risk_even=0.6,
    ),
    "torn": replace(
        CHEAP, hopeless=0.0, worthless=0.0, alpha_even=0.15, alpha_width=0.6, risk_even=-0.3, risk_width=0.6
    ),
    "tardy": replace(
        CHEAP,
        hopeless=0.0,
        worthless=0.0,
        risk_even=0.1,
        centre=0.2,
        fixable=1.0,
    ),
    "dogged": replace(
        CHEAP,
        hopeless=0.0,
        worthless=0.0,
        certainty=10.0,
        delay_median=0.5,
        continues=1.0,
        near_miss=1.0,
        near_miss_for=timedelta(days=7),
        tries=20,
    ),
}
"""By name; those that approve nearly all, that cannot decide, that answer only when they are reminded, and that are
never sure and try the same again and again, slowly."""
