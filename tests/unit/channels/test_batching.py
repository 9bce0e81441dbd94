import pytest

from moot.channels.log.batching import HALVE_FROM, MAX_ROWS, Batching


def after(sync_s, serve_row_s, rounds=40, rows=32):
    """A batching that has seen a disk and a loop of such a pace."""
    batching = Batching()
    for _ in range(rounds):
        batching.size(rows, 2 * rows, False)
        batching.served(rows * serve_row_s, rows)
        batching.wrote(sync_s + rows * serve_row_s, rows)
    return batching


def test_few_go_together_at_once():
    for waiting in range(1, HALVE_FROM):
        assert Batching().size(waiting, waiting, False) == waiting


def test_many_go_in_two_halves():
    batching = after(0.0001, 0.00001)
    assert batching.size(64, 64, False) == 32
    assert batching.size(32, 64, True) == 32


def test_a_half_waits_until_it_is_one():
    batching = after(0.0001, 0.00001)
    assert batching.size(64, 64, False) == 32
    assert [batching.size(n, 32 + n, True) for n in (1, 16, 31)] == [0, 0, 0]
    assert batching.size(32, 64, True) == 32


def test_whatever_waits_goes_when_nothing_is_on_its_way():
    batching = after(0.0001, 0.00001)
    assert batching.size(5, 5, False) == 5


def test_on_a_slow_disk_everybody_waits_for_one_sync():
    batching = after(0.01, 0.00001)
    assert not batching.is_halving
    assert batching.size(32, 64, True) == 0
    assert batching.size(64, 64, False) == 64


@pytest.mark.parametrize(("first", "then"), [(0.01, 0.0001), (0.0001, 0.01)])
def test_it_follows_a_disk_that_changes_its_pace(first, then):
    batching = after(first, 0.00001)
    before = batching.is_halving
    for _ in range(40):
        batching.served(32 * 0.00001, 32)
        batching.wrote(then, 32)
    assert batching.is_halving is not before


def test_a_crowd_that_left_is_forgotten():
    batching = after(0.0001, 0.00001, rows=256)
    for _ in range(200):
        batching.size(1, 1, False)
    assert batching.size(HALVE_FROM - 1, HALVE_FROM - 1, False) == HALVE_FROM - 1


def test_a_statement_has_its_limit():
    assert after(0.01, 0.00001).size(5000, 5000, False) == MAX_ROWS


def test_a_clock_that_stands_still_makes_halves():
    assert after(0, 0).is_halving
