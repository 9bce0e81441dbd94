"""People in seats: K14."""

from datetime import timedelta

import pytest

from moot.protocols.kernel.envelope import Actor
from moot.protocols.kernel.people import SeatReleased, SeatTaken
from moot.protocols.kernel.tenure import MISSES
from moot.protocols.rulebook import rulebook
from tests.doubles.debating import (
    ADMIN,
    CRITIC,
    EVOLVER,
    EXPLORER,
    REFEREE,
    assess,
    beside,
    hypothesise,
    judge,
    reflect,
    report,
)
from tests.doubles.table import START, Table

MICRO = {"micro": {"cron": "0 */2 * * *"}}


def person(user):
    return Actor("human", "test", user)


def take(table, seat=EXPLORER, user="ann", **how):
    body = SeatTaken(seat=seat, user_id=user, reason="mine")
    return table.say(ADMIN, body, channel="#admin", **how)


def release(table, seat=EXPLORER, user="ann", say=None):
    body = SeatReleased(seat=seat, user_id=user, reason="yours")
    return (say or table.say)(ADMIN, body, channel="#admin")


@pytest.mark.rule("K14")
def test_k14_taking_and_releasing_a_seat_gives_a_fencing_token():
    table = Table()
    env = take(table)
    context = table.docket.context
    assert (context.tenures, context.holders) == ({EXPLORER: env.seq}, {EXPLORER: person("ann")})
    env = release(table)
    assert (context.tenures, context.holders) == ({EXPLORER: env.seq}, {})


@pytest.mark.parametrize("seat", sorted(set(rulebook().seats) - rulebook().bots))
def test_only_a_bots_seat_may_be_taken(seat):
    table = Table()
    assert beside(table, take(table, seat)).field == "seat"
    assert not table.docket.context.holders


def test_a_held_seat_is_not_taken_again_and_an_empty_one_not_released():
    table = Table()
    assert beside(table, release(table)).field == "seat"
    take(table)
    assert beside(table, take(table, user="bob")).field == "seat"
    assert table.docket.context.holders == {EXPLORER: person("ann")}


def silent(table, cycles):
    """Let the Explorer miss its hypothesis in some cycles; the Evolver reports."""
    for _ in range(cycles):
        while not any(o.expects == ("HYPOTHESIS",) for o in table.docket.open.values()):
            table.until(table.docket.next_instant())
        table.until(table.owed(EXPLORER, "HYPOTHESIS").void_at)
        report(table)


@pytest.mark.rule("K14")
def test_k14_two_missed_deadlines_in_a_row_release_the_seat():
    table = Table(schedules=MICRO)
    take(table)
    silent(table, MISSES - 1)
    assert table.docket.context.holders == {EXPLORER: person("ann")}
    silent(table, 1)
    env = table.last("SEAT_RELEASED")
    assert (env.author, env.channel, env.body.user_id) == (REFEREE, "#admin", "ann")
    assert table.docket.context.holders == {}
    assert table.docket.context.tenures == {EXPLORER: env.seq}


def test_an_answer_between_them_starts_the_count_anew():
    table = Table(schedules=MICRO)
    take(table)
    silent(table, 1)
    table.until(START + timedelta(hours=2))
    hypothesise(table)
    assess(table, confidence=0.9)
    table.wait(minutes=30)
    report(table)
    silent(table, 1)
    assert table.docket.context.holders == {EXPLORER: person("ann")}
    silent(table, 1)
    assert table.docket.context.holders == {}


def test_an_answer_that_was_ruled_on_is_no_missed_deadline():
    table = Table(schedules=MICRO)
    take(table, EVOLVER)
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table, "REJECT")
    reflect(table)
    table.until(START + timedelta(hours=2))
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table, confidence=0.1)
    table.until(START + timedelta(hours=4))
    assert [e.body.obligation_id for e in table.log if e.body.type == "RULING" and e.body.obligation_id] == [
        "cycle_20260223_1000/report/evolver",
        "cycle_20260223_1200/report/evolver",
    ]
    assert table.docket.context.holders == {EVOLVER: person("ann")}


def test_who_leaves_and_comes_back_starts_without_misses():
    table = Table(schedules=MICRO)
    take(table)
    silent(table, 1)
    release(table)
    take(table)
    silent(table, 1)
    assert table.docket.context.holders == {EXPLORER: person("ann")}


def test_a_bots_silence_releases_nothing():
    table = Table(schedules=MICRO)
    take(table, CRITIC)
    silent(table, 3)
    assert "SEAT_RELEASED" not in table.kinds()
    assert table.docket.context.holders == {CRITIC: person("ann")}


def about_to_be_released():
    table = Table(schedules=MICRO)
    take(table)
    silent(table, 1)
    table.until(START + timedelta(hours=2, minutes=39))
    table.now = START + timedelta(hours=2, minutes=40)
    ruling = next(d for d in table.docket.due(table.now) if d.body.type == "RULING")
    table.publish(ruling)
    (under_way,) = [d for d in table.docket.due(table.now) if d.body.type == "SEAT_RELEASED"]
    return table, under_way


def test_a_holder_who_leaves_in_time_is_not_released_again():
    table, _ = about_to_be_released()
    release(table)
    assert [e.author for e in table.log if e.body.type == "SEAT_RELEASED"] == [ADMIN]


@pytest.mark.rule("K5")
def test_k5_a_release_under_way_does_not_evict_who_comes_next():
    table, under_way = about_to_be_released()
    release(table, say=table.post)
    env = take(table, user="bob")
    table.publish(under_way)
    assert table.effects[-1].superseded
    assert table.docket.context.holders == {EXPLORER: person("bob")}
    assert table.docket.context.tenures == {EXPLORER: env.seq}


@pytest.mark.rule("K14")
def test_k14_a_seat_may_be_taken_again_after_its_release():
    table, _ = about_to_be_released()
    table.officers()
    take(table)
    assert table.docket.context.holders == {EXPLORER: person("ann")}
