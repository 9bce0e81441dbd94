import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.tools.errors import StrategyError
from moot.bots.tools.strategies import ARCHETYPES, ORDERED, PARAM_SPACE, StrategySpec, draw, mutate, validate

SYMBOLS = ("A", "B", "C", "D", "E", "F", "G", "H")
MOMENTUM = {"fast": 20, "slow": 60, "allow_short": 0, "target_vol": 0.2}
SEEDS = st.integers(0, 2**32)


def spec(archetype="momentum", symbols=("A",), **changes):
    return StrategySpec(archetype, MOMENTUM | changes, symbols)


def test_the_archetypes_of_the_design_are_there():
    assert set(ARCHETYPES) >= {"momentum", "mean_reversion", "breakout", "multi_factor"}


@given(st.sampled_from(ARCHETYPES), SEEDS, st.integers(1, 8))
def test_every_drawn_strategy_is_legal(archetype, seed, count):
    drawn = draw(archetype, np.random.default_rng(seed), SYMBOLS[:count])
    validate(drawn, SYMBOLS[:count])
    assert drawn.archetype == archetype


@given(st.sampled_from(ARCHETYPES), SEEDS, st.booleans())
def test_every_mutation_is_legal_and_differs_from_its_parent(archetype, seed, with_symbols):
    rng = np.random.default_rng(seed)
    parent = draw(archetype, rng, SYMBOLS)
    for _ in range(5):
        child = mutate(parent, rng, SYMBOLS if with_symbols else ())
        validate(child, SYMBOLS)
        assert child != parent
        assert child.archetype == parent.archetype
        changed = [name for name in child.params if child.params[name] != parent.params[name]]
        assert 1 <= len(changed) <= 2
        if not with_symbols:
            assert child.symbols == parent.symbols
        parent = child


def test_the_same_generator_state_draws_the_same():
    def one(seed):
        rng = np.random.default_rng(seed)
        return mutate(draw("breakout", rng, SYMBOLS), rng, SYMBOLS)

    assert one(3) == one(3)
    assert one(3) != one(4)


def test_drawing_reaches_the_whole_grid():
    rng = np.random.default_rng(1)
    drawn = [draw("mean_reversion", rng, SYMBOLS) for _ in range(2000)]
    for name, legal in PARAM_SPACE["mean_reversion"].items():
        assert {one.params[name] for one in drawn} == set(legal.grid())


@pytest.mark.parametrize("archetype", ARCHETYPES)
def test_every_grid_lies_within_its_range_and_holds_both_ends(archetype):
    for legal in PARAM_SPACE[archetype].values():
        grid = legal.grid()
        assert (grid[0], grid[-1]) == (legal.low, legal.high)
        assert list(grid) == sorted(set(grid))
        assert all(isinstance(value, int) for value in grid) == legal.is_whole


def test_ordered_pairs_name_parameters_that_exist():
    for archetype, pair in ORDERED.items():
        assert set(pair) <= set(PARAM_SPACE[archetype])


@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        (spec("astrology"), "archetype", "'astrology' is none of momentum"),
        (spec(fast=20.0), "fast", "20.0 is not a whole number"),
        (spec(fast=True), "fast", "True is not a whole number"),
        (spec(fast="20"), "fast", "'20' is not a whole number"),
        (spec(fast=1), "fast", "1 is outside [2, 60]"),
        (spec(target_vol=float("nan")), "target_vol", "nan is outside"),
        (spec(target_vol=None), "target_vol", "None is not a number"),
        (spec(fast=60, slow=60), "fast", "60 must be below slow 60"),
        (spec(colour=3), "colour", "is no parameter of momentum"),
        (
            StrategySpec("momentum", {"fast": 20}, ("A",)),
            "slow",
            "is missing; momentum needs it in [10, 250]",
        ),
        (spec(symbols=()), "symbols", "1 to 20 different symbols"),
        (spec(symbols=("A", "A")), "symbols", "1 to 20 different symbols"),
        (spec(symbols=tuple(map(str, range(21)))), "symbols", "1 to 20 different symbols"),
        (spec(symbols=("Z",)), "symbols", "'Z' is not in this universe (A, B"),
    ],
)
def test_what_is_not_legal_is_refused_by_field(wrong, field, says):
    with pytest.raises(StrategyError) as caught:
        validate(wrong, SYMBOLS)
    assert caught.value.field == field
    assert says in caught.value.problem


def test_values_between_grid_points_and_whole_numbers_for_fractions_are_legal():
    validate(spec(fast=21, slow=77, target_vol=0.123))
    params = {"window": 20, "entry": 2, "exit": 0, "allow_short": 1, "target_vol": 0.2}
    validate(StrategySpec("mean_reversion", params, ("A",)))


def test_specs_are_values():
    reordered = StrategySpec("momentum", dict(reversed(MOMENTUM.items())), ("A",))
    assert spec() == reordered
    assert hash(spec()) == hash(reordered)
    assert spec() != spec(fast=21)
    assert list(spec().params) == sorted(MOMENTUM)


def test_a_spec_is_detached_from_the_callers_mapping():
    params = dict(MOMENTUM)
    made = StrategySpec("momentum", params, ("A",))
    params["fast"] = 5
    assert made.params["fast"] == 20
    with pytest.raises(TypeError):
        made.params["fast"] = 5


def test_drawing_from_nothing_is_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(StrategyError, match="archetype"):
        draw("astrology", rng, SYMBOLS)
    with pytest.raises(StrategyError, match="symbols"):
        draw("momentum", rng, ())
    with pytest.raises(StrategyError):
        mutate(spec(fast=0), rng)
