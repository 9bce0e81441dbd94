"""What the docket remembers of obligations that are gone (K5, K18)."""

from datetime import timedelta

import pytest

from moot.protocols.kernel.closed import KEPT, LATELY, MOST, ClosedObligations
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat
from tests.doubles.table import START


def closed(count: int, apart: timedelta) -> ClosedObligations:
    """Close so many obligations, one after the other."""
    found = ClosedObligations()
    for n in range(count):
        found.close(obligation(n), START + n * apart)
    return found


def obligation(n: int) -> Obligation:
    return Obligation(f"{n}", "case", Seat("critic"), ("NOTE",), "#a", START, START, LATELY)


@pytest.mark.rule("K18")
def test_k18_of_what_was_closed_long_ago_a_thousand_are_remembered_at_least_and_two_at_most():
    count = 20 * KEPT
    found = closed(count, timedelta(minutes=5))
    assert KEPT <= len(found) <= 2 * KEPT
    for n in range(count - KEPT, count):
        assert found.find(f"{n}") == obligation(n)
    assert found.find(f"{count - 2 * KEPT - 1}") is None


@pytest.mark.rule("K5")
def test_k5_what_was_closed_within_the_hour_is_remembered_however_much_that_is():
    count = 6 * KEPT
    apart = LATELY / (3 * KEPT)
    found = closed(count, apart)
    for n in range(count - 3 * KEPT, count):
        assert found.find(f"{n}") == obligation(n)


@pytest.mark.rule("K18")
def test_k18_a_burst_without_end_is_not_remembered_without_end():
    count = 5 * MOST
    found = closed(count, timedelta(0))
    assert MOST <= len(found) <= 2 * MOST
    assert found.find(f"{count - MOST}") == obligation(count - MOST)
    assert found.find("0") is None
