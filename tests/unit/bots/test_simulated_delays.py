from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from moot.bots.minds.simulated.delays import delay, is_unwell
from moot.bots.minds.simulated.temper import DEFAULT, Temper
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.research.seats import CRITIC, EVOLVER

NOON = datetime(2026, 2, 23, 12, tzinfo=UTC)
WELL = Temper(spell_chance=0.0)


def obligation(n, minutes=20, seat=CRITIC, opened=NOON):
    return Obligation(
        f"hyp_{n}/assessment-1/{seat}",
        f"hyp_{n}",
        seat,
        ("RISK_ASSESSMENT",),
        "#a-arena",
        opened,
        opened + timedelta(minutes=minutes),
        timedelta(minutes=10),
    )


def drawn(count=4000, minutes=20, temper=WELL):
    return [delay(1, obligation(n, minutes), 0, NOON, temper) for n in range(count)]


def test_the_median_is_a_third_of_the_limit():
    found = [one / timedelta(minutes=20) for one in drawn() if one is not None]
    assert np.median(found) == pytest.approx(1 / 3, rel=0.05)


def test_some_are_late_few_are_too_late_and_fewer_are_silent():
    found = drawn(8000)
    answered = [one for one in found if one is not None]
    late = sum(one > timedelta(minutes=20) for one in answered) / len(found)
    void = sum(one > timedelta(minutes=30) for one in answered) / len(found)
    silent = sum(one is None for one in found) / len(found)
    assert 0.03 <= late <= 0.055
    assert 0.005 <= void <= 0.015
    assert 0.003 <= silent <= 0.008


@pytest.mark.parametrize("minutes", [5, 10, 15, 30])
def test_no_delay_exceeds_three_limits_or_is_negative(minutes):
    found = [one for one in drawn(2000, minutes) if one is not None]
    assert timedelta(0) < min(found) and max(found) <= timedelta(minutes=3 * minutes)


def test_a_delay_belongs_to_seed_obligation_and_attempt():
    assert delay(1, obligation(5), 0, NOON) == delay(1, obligation(5), 0, NOON + timedelta(hours=1))
    assert delay(1, obligation(5), 0, NOON) != delay(2, obligation(5), 0, NOON)
    assert delay(1, obligation(5), 0, NOON) != delay(1, obligation(6), 0, NOON)


def test_a_corrected_answer_comes_soon_after_now_and_is_never_left_out():
    now = NOON + timedelta(minutes=12)
    for n in range(500):
        found = delay(1, obligation(n), 1, now)
        assert found is not None
        assert timedelta(minutes=12) < found < timedelta(minutes=24)


def test_an_outage_does_not_stretch_the_delay():
    """K6 moves `due_at` and leaves `opened_at`: after ten hours of outage a limit looks ten hours longer."""
    stretched = [delay(1, obligation(n, minutes=620), 0, NOON, WELL) for n in range(500)]
    assert max(one for one in stretched if one is not None) <= timedelta(minutes=90)


def test_in_a_spell_a_seat_answers_nothing_and_other_seats_go_on():
    hours = [NOON + timedelta(hours=n) for n in range(24 * 60)]
    ill = {seat: {at for at in hours if is_unwell(1, seat, at)} for seat in (CRITIC, EVOLVER)}
    assert all(0 < len(found) < len(hours) * 0.06 for found in ill.values())
    assert ill[CRITIC] != ill[EVOLVER]
    at = min(ill[CRITIC])
    assert delay(1, obligation(1, opened=at), 0, at, DEFAULT) is None
    later = at + timedelta(hours=1)
    answers_retry = delay(1, obligation(1, opened=at), 1, later, DEFAULT)
    assert answers_retry is not None
