import numpy as np
import pytest

from moot.bots.minds.simulated.wording import beside, percent
from moot.bots.tools.strategies import ARCHETYPES, StrategySpec, draw
from moot.bots.tools.wording import describe, triggers

COMMON = {"allow_short": 0, "target_vol": 0.2}


@pytest.mark.parametrize(
    ("archetype", "params", "symbols", "words"),
    [
        (
            "momentum",
            {"fast": 20, "slow": 60},
            ("SP500",),
            "momentum 20/60 on SP500, long only",
        ),
        (
            "mean_reversion",
            {"window": 10, "entry": 1.5, "exit": 0.0, "allow_short": 1},
            ("A", "B"),
            "mean reversion over 10 days (in at z 1.5, out at z 0) on A and B, long and short",
        ),
        (
            "breakout",
            {"channel": 55, "exit_channel": 20},
            ("A", "B", "C"),
            "breakout 55/20 on A, B and C, long only",
        ),
    ],
)
def test_a_strategy_reads_as_a_phrase(archetype, params, symbols, words):
    assert describe(StrategySpec(archetype, COMMON | params, symbols)) == words + ", at most 20 % volatility"


@pytest.mark.parametrize("archetype", ARCHETYPES)
def test_every_archetype_has_words_of_its_own(archetype):
    spec = draw(archetype, np.random.default_rng(1), ("A", "B"))
    assert describe(spec).startswith(archetype.split("_")[0])
    said = triggers(spec)
    others = [
        triggers(draw(other, np.random.default_rng(1), ("A",))) for other in ARCHETYPES if other != archetype
    ]
    assert said.entry not in [other.entry for other in others]
    assert said.exit not in [other.exit for other in others]


@pytest.mark.parametrize(
    ("value", "limit", "digits", "told"),
    [
        (0.8004, 0.8, 0, ("80.04 %", "80.00 %")),
        (0.79996, 0.8, 0, ("79.996 %", "80.000 %")),
        (0.75, 0.75, 0, ("75 %", "75 %")),
        (0.91, 0.8, 0, ("91 %", "80 %")),
    ],
)
def test_a_figure_that_differs_from_its_limit_is_told_apart_from_it(value, limit, digits, told):
    assert beside(value, limit, digits, percent) == told


def test_two_decimals_tell_a_score_from_its_limit_where_they_can():
    assert beside(0.654, 0.65) == ("0.654", "0.650")
    assert beside(0.66, 0.65) == ("0.66", "0.65")
