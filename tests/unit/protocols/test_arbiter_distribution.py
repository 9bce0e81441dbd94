from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.arbiter.distribution import effective_clusters, entropy, js_divergence

COUNTS = st.lists(st.integers(0, 50), max_size=6)


def test_entropy_is_in_nats_and_divergence_in_bits() -> None:
    assert entropy([1, 1]) == pytest.approx(math.log(2))
    assert effective_clusters([5, 5, 5, 0]) == pytest.approx(3)
    assert js_divergence([4], [0, 4]) == 1.0
    assert js_divergence([1], [1, 1]) == pytest.approx(0.31127812445913283)


def test_nothing_has_no_spread() -> None:
    assert (entropy([]), effective_clusters([]), effective_clusters([0])) == (0, 0, 0)


@pytest.mark.parametrize(("prior", "current"), [([], []), ([], [3]), ([0, 0], [0, 1]), ([1], [])])
def test_a_spread_that_does_not_exist_is_not_compared(prior: list[int], current: list[int]) -> None:
    assert js_divergence(prior, current) is None


@given(COUNTS, COUNTS, st.integers(1, 9))
def test_divergence_is_symmetric_bounded_and_blind_to_scale(a: list[int], b: list[int], times: int) -> None:
    found = js_divergence(a, b)
    assert (found is None) == (not sum(a) or not sum(b))
    if found is not None:
        assert 0 <= found <= 1
        assert js_divergence(b, a) == pytest.approx(found, abs=1e-12)
        assert js_divergence([n * times for n in a], [*b, 0]) == pytest.approx(found, abs=1e-12)
        assert js_divergence(a, a) == pytest.approx(0, abs=1e-12)


@given(COUNTS)
def test_clusters_count_for_at_most_their_number_and_at_least_one(counts: list[int]) -> None:
    filled = sum(count > 0 for count in counts)
    assert min(filled, 1) - 1e-9 <= effective_clusters(counts) <= filled + 1e-9
