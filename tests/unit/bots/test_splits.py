import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.tools.bars import Bars
from moot.bots.tools.errors import TooFewBarsError
from moot.bots.tools.splits import MAX_BARS, Span, splits
from moot.bots.tools.universe import Universe


def universe(days):
    dates = np.datetime64("2000-01-01", "D") + np.arange(days)
    one = np.ones(days)
    return Universe.of([Bars("A", dates, one, one, one, one, one, "file")], "")


def length(span):
    return (span.last - span.first).days + 1


@given(st.integers(3, 4000))
def test_three_spans_cover_the_last_ten_years_without_gap_or_overlap(days):
    whole = universe(days)
    found = splits(whole)
    used = min(days, MAX_BARS)
    assert found.test.last == whole.last_date
    assert length(Span(found.train.first, found.test.last)) == used
    assert length(found.train) + length(found.validation) + length(found.test) == used
    assert (found.validation.first - found.train.last).days == 1
    assert (found.test.first - found.validation.last).days == 1
    assert length(found.train) == pytest.approx(0.6 * used, abs=1.01)
    assert length(found.validation) == pytest.approx(0.2 * used, abs=1.01)
    assert min(map(length, (found.train, found.validation, found.test))) >= 1


def test_evidence_is_train_and_validation():
    found = splits(universe(100))
    assert found.evidence == Span(found.train.first, found.validation.last)


@pytest.mark.parametrize("days", [1, 2])
def test_fewer_than_three_sessions_cannot_be_split(days):
    with pytest.raises(TooFewBarsError, match=f"only {days} bars exist"):
        splits(universe(days))


def test_shares_that_leave_no_test_are_refused():
    with pytest.raises(ValueError, match="leave no"):
        splits(universe(10), 0.8, 0.2)
