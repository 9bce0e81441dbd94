"""What the simulated minds of a world are like: they think as little as they may, and differ in what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
}
"""By name; those that approve nearly all, that cannot decide, and that answer only when they are reminded."""
