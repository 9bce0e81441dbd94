import numpy as np
import pytest

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
