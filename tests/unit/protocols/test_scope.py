"""What is out of the architecture debate's scope: a single strategy's parameter (spec 3.1, R-D16)."""

import time

import pytest

from moot.bots.tools.strategies import PARAM_SPACE
from moot.protocols.research.scope import ALSO, PARAMETERS, names_a_parameter


def test_the_parameters_are_those_of_all_archetypes():
    assert {name for space in PARAM_SPACE.values() for name in space} == PARAMETERS
    assert len(PARAMETERS) == 16


@pytest.mark.parametrize("name", sorted({*PARAMETERS, *ALSO}))
@pytest.mark.parametrize(
    "said",
    [
        "{} = 5",
        "set {} to 5 for momentum",
        "lower {} from 9 to 5",
        "the {} of the breakout strategy",
        "the mean-reversion strategy's {}",
        "the {} of the hypothesis to 0.5",
    ],
)
def test_every_parameter_is_known_by_its_name_however_its_parts_are_joined(name, said):
    for written in (name, name.replace("_", " "), name.replace("_", "-").upper()):
        assert names_a_parameter("data", said.format(written)), written


@pytest.mark.parametrize(
    "said",
    [
        "raise the lookback of the momentum strategy from 20 to 40",
        "lower the entry threshold of the breakout strategy to 1.5 sigma",
        "momentum should exit at 0.3 standard deviations",
        "double the fast average of strategy sp500_momentum",
        "widen the window to 40 for mean reversion",
        "Set the target_vol to .2",
        "the breakout strategy’s entry should come later",
        "set stop_loss = 0.05 in hyp_20260223_1000",
    ],
)
def test_a_name_is_bound_to_a_value_or_to_a_strategy(said):
    assert names_a_parameter(said)


@pytest.mark.parametrize(
    "said",
    [
        "Open a Slack channel at 3 desks",
        "expand the risk channel to 2 readers",
        "Move the poll from slow to 5 minutes",
        "raise the Critic's threshold to 0.6",
        "shorten the debate window from 20 to 15 minutes",
        "the entry of a strategy into production takes 5 days",
        "a window of 5 days for every strategy",
        "widen the window of the strategy review to 5 days",
        "Open an exit channel for momentum traders",
        "risk channel: 2 readers",
        "make the verdict fast: 5 minutes",
        "upgrade the risk model to CVaR",
    ],
)
def test_everyday_words_name_no_parameter(said):
    assert not names_a_parameter(said)


def test_the_longest_text_is_read_at_once():
    before = time.perf_counter()
    for text in ("fast to 1 ", "strategy a", "the a a ", "momentum b ", "fast of the a "):
        assert names_a_parameter((text * 20_000)[:20_000]) in (True, False)
    assert time.perf_counter() - before < 5
