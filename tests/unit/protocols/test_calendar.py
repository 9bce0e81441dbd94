"""Which cycle is due when: K16, K6, R-D16, R-D17, R-D21."""

from datetime import UTC, datetime, timedelta

import pytest
from apscheduler.triggers.cron import CronTrigger
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.kernel.envelope import OFFICER, Draft
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.officers import ConfigChanged, SocietyStarted
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import TIMEKEEPER
from moot.protocols.research import messages as m
from moot.protocols.research.calendar import FIRST, POLICIES, Schedule, schedule_of
from moot.protocols.rulebook import rulebook
from tests.doubles import bodies
from tests.doubles.answers import Answers
from tests.doubles.biglog import Chance
from tests.doubles.copying import replace
from tests.doubles.debating import (
    ADMIN,
    EVOLVER,
    assess,
    hypothesise,
    judge,
    reflect,
    report,
)
from tests.doubles.schedules import SHIPPED
from tests.doubles.table import Table

MONDAY = datetime(2026, 2, 23, tzinfo=UTC)
SATURDAY = datetime(2026, 2, 28, tzinfo=UTC)
SAID = ("CYCLE_TRIGGER", "CYCLE_SKIPPED", "CYCLE_DEFERRED")


def hours(n):
    return timedelta(hours=n)


def society(start, schedules=SHIPPED):
    return Table(start, schedules=dict(schedules))


def slots(table, since=None):
    """Return what was said about slots as (instant, type, schedule, nominal, reason)."""
    found = []
    for env in table.log:
        if env.body.type in SAID and (since is None or env.sent_at >= since):
            name = getattr(env.body, "schedule", None) or env.body.mode
            reason = getattr(env.body, "reason", "")
            found.append(
                (f"{env.sent_at:%d %H:%M}", env.body.type, name, f"{env.body.nominal_at:%d %H:%M}", reason)
            )
    return found


def quick_cycle(table):
    """Live a whole micro-cycle in no time."""
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table, "REJECT")
    reflect(table)
    report(table)


def answer_all(table, seed=1):
    """Let everybody answer at once, by the rules, until nothing is owed."""
    answers = Answers(seed, faults=0)
    while owed := [o for o in table.docket.open.values() if o.seat in ("explorer", "critic", "evolver")]:
        body = answers.to(owed[0], table.docket)
        table.say(owed[0].seat, body, owed=owed[0], **_channel(body, owed[0]))


def _channel(body, owed):
    return {"channel": rulebook().channel_of.get(body.type, owed.channel)}


# ---------------------------------------------------------------- schedules


@pytest.mark.parametrize(
    "spec",
    [{}, {"every": "2h"}, {"cron": "0 */2 * *"}, {"cron": "99 * * * *"}, {"at": ["2026-02-23T10:00:00"]}],
)
def test_what_is_no_schedule_is_refused(spec):
    with pytest.raises(ValueError):  # APScheduler words some of them
        Schedule(spec)


@settings(max_examples=200)
@given(
    st.sampled_from(
        [
            "0 */2 * * *",
            "0 22 * * *",
            "0 15 * * sat",
            "*/15 9-16 * * mon-fri",
            "30 8 1 * *",
            "0 0 29 2 *",
            "7 3 * 6 0",
        ]
    ),
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
    st.booleans(),
)
def test_a_cron_schedule_fires_when_apscheduler_says_so(cron, at, on_the_minute):
    if on_the_minute:
        at = at.replace(minute=0, second=0, microsecond=0)
    trigger = CronTrigger.from_crontab(cron, timezone=UTC)
    schedule = Schedule({"cron": cron})
    assert schedule.first(at, after=False) == trigger.get_next_fire_time(None, at)
    assert schedule.first(at, after=True) == trigger.get_next_fire_time(None, at + timedelta(microseconds=1))


def test_a_schedule_of_instants_ends_after_the_last():
    at = [MONDAY, MONDAY + hours(3)]
    schedule = schedule_of({"at": [instant.isoformat() for instant in reversed(at)]})
    assert schedule.first(MONDAY, after=False) == MONDAY
    assert schedule.first(MONDAY, after=True) == MONDAY + hours(3)
    assert schedule.first(MONDAY + hours(3), after=True) is None


def test_cron_and_instants_together_give_the_earlier():
    schedule = Schedule({"cron": "0 12 * * *", "at": ["2026-02-23T11:30:00Z"]})
    assert schedule.first(MONDAY, after=False) == MONDAY + hours(11.5)
    assert schedule.first(MONDAY + hours(11.5), after=True) == MONDAY + hours(12)


# ---------------------------------------------------------------- slots


@pytest.mark.rule("K16")
def test_k16_a_trigger_has_its_schedule_and_nominal_instant_as_id():
    table = society(MONDAY + hours(9))
    table.until(MONDAY + hours(10))
    env = table.last("CYCLE_TRIGGER")
    assert env.id == "micro/2026-02-23T10:00:00.000000Z"
    assert (env.channel, env.author, env.case_id) == ("#a-arena", TIMEKEEPER, "cycle_20260223_1000")
    assert env.body.nominal_at == env.sent_at == MONDAY + hours(10)
    assert (env.body.trigger, env.body.mode) == ("EXPLORER_START", "micro")


def test_micro_slots_are_the_even_hours():
    table = society(MONDAY + timedelta(minutes=1))
    for hour in range(2, 22, 2):
        table.until(MONDAY + hours(hour))
        quick_cycle(table)
    assert [s[3] for s in slots(table)] == [f"23 {hour:02d}:00" for hour in range(2, 22, 2)]


def test_a_society_that_starts_at_a_slot_starts_with_it():
    assert slots(society(MONDAY + hours(10))) == [("23 10:00", "CYCLE_TRIGGER", "micro", "23 10:00", "")]


def test_a_micro_slot_while_a_cycle_runs_is_skipped_never_deferred():
    table = society(MONDAY + hours(10))
    table.until(MONDAY + hours(10) + timedelta(minutes=39))
    hypothesise(table)
    table.until(MONDAY + hours(12.5))
    assert slots(table)[1:] == [("23 12:00", "CYCLE_SKIPPED", "micro", "23 12:00", "cycle runs")]
    table.until(MONDAY + hours(14))
    assert slots(table)[-1] == ("23 14:00", "CYCLE_TRIGGER", "micro", "23 14:00", "")


def test_at_2200_daily_comes_before_micro_and_both_run():
    table = society(MONDAY + hours(21))
    table.until(MONDAY + hours(22))
    assert slots(table) == [
        ("23 22:00", "CYCLE_TRIGGER", "daily", "23 22:00", ""),
        ("23 22:00", "CYCLE_TRIGGER", "micro", "23 22:00", ""),
    ]
    assert {s.kind for s in table.docket.cases.values()} == {"daily", "cycle"}


def test_at_2200_daily_waits_for_a_running_cycle_and_micro_is_skipped():
    table = society(MONDAY + hours(20))
    table.until(MONDAY + hours(20) + timedelta(minutes=39))
    hypothesise(table)
    table.until(MONDAY + hours(22))
    assert slots(table)[1:] == [
        ("23 22:00", "CYCLE_DEFERRED", "daily", "23 22:00", "cycle runs"),
        ("23 22:00", "CYCLE_SKIPPED", "micro", "23 22:00", "cycle runs"),
    ]
    table.until(MONDAY + hours(22) + timedelta(minutes=5))
    report(table)
    ended = table.now
    assert slots(table)[3] == (f"{ended:%d %H:%M}", "CYCLE_TRIGGER", "daily", "23 22:00", "")
    daily = next(s for s in table.docket.cases.values() if s.kind == "daily")
    assert (daily.since, daily.until) == (MONDAY - hours(2), MONDAY + hours(22))


def test_a_daily_cycle_does_not_block_the_micro_ones():
    table = society(MONDAY + hours(22))
    table.until(MONDAY + hours(22) + timedelta(minutes=50))
    assert "daily" in {s.kind for s in table.docket.cases.values()}
    report(table)
    assert slots(table)[1][1:3] == ("CYCLE_TRIGGER", "micro")


def test_the_weekly_debate_opens_on_saturday_at_1500_and_micro_slots_meanwhile_are_skipped():
    table = society(SATURDAY + hours(14.5))
    table.until(SATURDAY + hours(18))
    assert slots(table) == [
        ("28 15:00", "CYCLE_TRIGGER", "architecture", "28 15:00", ""),
        ("28 16:00", "CYCLE_SKIPPED", "micro", "28 16:00", "architecture runs"),
        ("28 18:00", "CYCLE_TRIGGER", "micro", "28 18:00", ""),
    ]


def test_the_weekly_debate_waits_for_the_micro_cycle_before_it():
    table = society(SATURDAY + hours(14))
    table.until(SATURDAY + hours(15))
    assert slots(table)[-1] == ("28 15:00", "CYCLE_DEFERRED", "architecture", "28 15:00", "cycle runs")
    report(table)
    assert slots(table)[-1] == ("28 15:00", "CYCLE_TRIGGER", "architecture", "28 15:00", "")


def test_the_weekly_debate_goes_before_a_micro_slot_of_the_same_instant():
    table = society(SATURDAY + hours(15), {**SHIPPED, "architecture": {"cron": "0 16 * * sat"}})
    table.until(SATURDAY + hours(16))
    assert [s[1:3] for s in slots(table)] == [("CYCLE_TRIGGER", "architecture"), ("CYCLE_SKIPPED", "micro")]
    assert list(POLICIES) == ["architecture", "daily", "micro"]


def test_a_daily_cycle_waits_for_the_weekly_debate():
    table = society(SATURDAY + hours(14.5), {**SHIPPED, "architecture": {"cron": "0 21 * * sat"}})
    table.until(SATURDAY + hours(22))
    assert ("28 22:00", "CYCLE_DEFERRED", "daily", "28 22:00", "architecture runs") in slots(table)
    answer_all(table)
    assert ("28 22:00", "CYCLE_TRIGGER", "daily", "28 22:00", "") in slots(table)


def test_a_deferral_is_said_once():
    table = society(SATURDAY + hours(14))
    table.until(SATURDAY + hours(15) + timedelta(minutes=9))
    assert [s[1] for s in slots(table)].count("CYCLE_DEFERRED") == 1


def test_every_slot_has_one_message_over_a_whole_week():
    log = []
    society = Chance(log.append, seed=3, start=MONDAY)
    society.live(until=MONDAY + timedelta(days=7))
    said = [
        (e.body.mode if e.body.type == "CYCLE_TRIGGER" else e.body.schedule, e.body.nominal_at)
        for e in log
        if e.body.type in ("CYCLE_TRIGGER", "CYCLE_SKIPPED")
    ]
    assert len(said) == len(set(said))
    assert sorted(at for name, at in said if name == "micro") == [MONDAY + hours(2 * n) for n in range(84)]
    assert [at for name, at in said if name == "daily"] == [MONDAY + hours(22 + 24 * n) for n in range(7)]
    assert [at for name, at in said if name == "architecture"] == [SATURDAY + hours(15)]


# ---------------------------------------------------------------- outages


@pytest.mark.rule("K6")
@pytest.mark.parametrize("crash", [False, True])
def test_k6_after_an_outage_each_missed_micro_slot_is_skipped_and_of_daily_only_the_latest_runs(crash):
    table = society(MONDAY + hours(11))
    table.until(MONDAY + hours(13))
    table.now = MONDAY + hours(13)
    for owed in list(table.docket.open.values()):
        assert owed.seat in (EVOLVER,)
    answer_all(table)
    back = MONDAY + timedelta(days=2, hours=13, minutes=30)
    table.down(crash=crash, seconds=(back - table.now).total_seconds())
    said = slots(table, since=back)
    assert said[:2] == [
        ("25 13:30", "CYCLE_SKIPPED", "daily", "23 22:00", "outage"),
        ("25 13:30", "CYCLE_TRIGGER", "daily", "24 22:00", ""),
    ]
    nominals = [MONDAY + hours(14 + 2 * n) for n in range(24)]
    assert said[2:] == [
        ("25 13:30", "CYCLE_SKIPPED", "micro", f"{nominal:%d %H:%M}", "outage") for nominal in nominals
    ]
    table.until(MONDAY + timedelta(days=2, hours=14))
    assert slots(table)[-1][1:4] == ("CYCLE_TRIGGER", "micro", "25 14:00")


@pytest.mark.rule("K6")
def test_k6_a_slot_at_the_very_instant_of_the_start_is_not_missed():
    table = society(MONDAY + hours(11))
    table.down(hours=1)
    assert slots(table) == [("23 12:00", "CYCLE_TRIGGER", "micro", "23 12:00", "")]


@pytest.mark.rule("K6")
def test_k6_of_the_weekly_cycles_only_the_latest_runs():
    table = society(SATURDAY + hours(12.5), {"architecture": {"cron": "0 15 * * sat"}})
    table.down(days=15)
    assert [s[1:4] for s in slots(table)] == [
        ("CYCLE_SKIPPED", "architecture", "28 15:00"),
        ("CYCLE_SKIPPED", "architecture", "07 15:00"),
        ("CYCLE_TRIGGER", "architecture", "14 15:00"),
    ]


@pytest.mark.rule("R-D21")
@pytest.mark.parametrize("name", ["daily", "architecture"])
def test_r_d21_of_two_that_a_running_cycle_defers_only_the_latest_runs(name):
    noon = MONDAY + hours(12)
    at = [(noon + timedelta(minutes=n)).isoformat() for n in (5, 10)]
    table = society(noon, {"micro": {"at": [noon.isoformat()]}, name: {"at": at}})
    table.until(noon + timedelta(minutes=15))
    quick_cycle(table)
    assert [s for s in slots(table) if s[2] == name] == [
        ("23 12:05", "CYCLE_DEFERRED", name, "23 12:05", "cycle runs"),
        ("23 12:15", "CYCLE_SKIPPED", name, "23 12:05", "a later one is due"),
        ("23 12:15", "CYCLE_DEFERRED", name, "23 12:10", "cycle runs"),
        ("23 12:15", "CYCLE_TRIGGER", name, "23 12:10", ""),
    ]


@pytest.mark.rule("K16")
@pytest.mark.parametrize("name", ["daily", "architecture"])
def test_k16_a_window_begins_at_the_nominal_instant_before_and_the_first_where_it_always_did(name):
    table = society(MONDAY + hours(9), {name: {"cron": "0 10,22 * * *"}})
    table.until(MONDAY + hours(10))
    first = next(iter(table.docket.cases.values()))
    assert (first.since, first.until) == (first.until - FIRST[name], MONDAY + hours(10))
    answer_all(table)
    table.until(MONDAY + hours(22))
    second = next(s for s in table.docket.cases.values() if s.kind == name)
    assert (second.since, second.until) == (MONDAY + hours(10), MONDAY + hours(22))


@pytest.mark.rule("K16")
def test_k16_a_window_begins_at_a_nominal_instant_that_was_skipped():
    table = society(MONDAY + hours(9), {"daily": {"cron": "0 10,22 * * *"}})
    table.down(hours=14)
    assert [s[1:4] for s in slots(table)] == [
        ("CYCLE_SKIPPED", "daily", "23 10:00"),
        ("CYCLE_TRIGGER", "daily", "23 22:00"),
    ]
    (state,) = table.docket.cases.values()
    assert state.since == MONDAY + hours(10)


@pytest.mark.rule("K6")
def test_k6_a_cycle_deferred_before_an_outage_runs_after_it_when_it_is_the_latest():
    table = society(SATURDAY + hours(14))
    table.until(SATURDAY + hours(15))
    table.down(minutes=30)
    assert slots(table)[-1][1] == "CYCLE_DEFERRED"
    report(table)
    assert slots(table)[-1][1:4] == ("CYCLE_TRIGGER", "architecture", "28 15:00")


def test_a_schedule_that_changed_at_a_restart_starts_anew():
    table = society(MONDAY + hours(11))
    table.schedules = {"micro": {"cron": "30 * * * *"}}
    table.down(hours=1)
    table.until(MONDAY + hours(12.5))
    assert slots(table) == [("23 12:30", "CYCLE_TRIGGER", "micro", "23 12:30", "")]


def test_a_changed_configuration_changes_the_schedules_at_once():
    table = society(MONDAY + hours(11))
    body = ConfigChanged(changes={"schedules": {"micro": {"cron": "15 11 * * *"}}}, reason="faster")
    table.post(TIMEKEEPER, body, channel="#admin", key="config/1")
    table.until(MONDAY + hours(22))
    assert slots(table)[0] == ("23 11:15", "CYCLE_TRIGGER", "micro", "23 11:15", "")
    assert len(slots(table)) == 1


@pytest.mark.parametrize(
    "schedules", [{"micro": {"cron": "never"}}, {"micro": 5}, {"daily": {"at": 7}}, [1], {"micro": {}}]
)
def test_a_start_with_schedules_that_are_none_is_an_officers_fault(schedules):
    table = society(MONDAY + hours(11))
    body = SocietyStarted(
        society_id="test",
        config={"schedules": schedules},
        rules_version="1",
        seed=1,
        data={},
        speed=1.0,
        clock="virtual",
        durability="none",
        moot_version="test",
    )
    with pytest.raises(OfficerFault, match="schedules"):
        table.post(TIMEKEEPER, body, channel="#admin", key="started/9")


# ---------------------------------------------------------------- STOP and races


@pytest.mark.rule("K21")
def test_k21_while_a_stop_holds_system_a_its_slots_are_skipped():
    table = society(MONDAY + hours(9))
    table.say(ADMIN, Stop(scope="system A", why="enough"), channel="#admin")
    table.until(MONDAY + hours(14))
    assert slots(table) == [
        (f"23 {h}:00", "CYCLE_SKIPPED", "micro", f"23 {h}:00", "stopped") for h in (10, 12, 14)
    ]
    table.down(hours=2)
    assert slots(table)[-1][1:4] == ("CYCLE_TRIGGER", "micro", "23 16:00")


def due_now(table):
    return [d for d in table.docket.due(table.now) if d.body.type in SAID]


@pytest.mark.rule("K5")
def test_k5_a_trigger_under_way_when_system_a_is_stopped_opens_a_cycle_that_is_stopped_at_once():
    table = society(MONDAY + hours(9))
    table.now = MONDAY + hours(10)
    (under_way,) = due_now(table)
    table.post(ADMIN, Stop(scope="system A", why="enough"), channel="#admin")
    table.publish(under_way)
    table.officers()
    assert not table.docket.cases
    assert table.last("RULING").body.outcome == "stop"
    table.until(MONDAY + hours(12))
    assert slots(table)[-1][1] == "CYCLE_SKIPPED"


@pytest.mark.rule("K5")
def test_k5_a_deferral_under_way_when_the_cycle_ends_is_superseded():
    table = society(SATURDAY + hours(14))
    table.until(SATURDAY + hours(14) + timedelta(minutes=59))
    table.now = SATURDAY + hours(15)
    (under_way,) = due_now(table)
    assert under_way.body.type == "CYCLE_DEFERRED"
    report_without_officers(table)
    table.publish(under_way)
    assert table.effects[-1].superseded
    table.officers()
    assert slots(table)[-1][1:3] == ("CYCLE_TRIGGER", "architecture")


def report_without_officers(table):
    owed = table.owed(EVOLVER, "MICRO_CYCLE_REPORT")
    brief = table.docket.rules.types["cycle"].brief
    figures = brief(table.docket.cases[owed.case_id], owed, table.docket.context)
    table.post(EVOLVER, bodies.report(figures, owed.case_id))


@pytest.mark.rule("K5")
def test_k5_a_skip_under_way_when_the_cycle_ends_stands():
    table = society(MONDAY + hours(10), {"micro": {"cron": "0 * * * *"}})
    table.until(MONDAY + hours(10) + timedelta(minutes=59))
    table.now = MONDAY + hours(11)
    (under_way,) = due_now(table)
    assert under_way.body.type == "CYCLE_SKIPPED"
    report_without_officers(table)
    table.publish(under_way)
    assert not table.effects[-1].superseded
    table.officers()
    assert slots(table)[-1][1:4] == ("CYCLE_SKIPPED", "micro", "23 11:00")


@pytest.mark.rule("K5")
def test_k5_words_about_the_next_slot_stand_when_the_cycle_ends_under_them():
    schedules = {**SHIPPED, "architecture": {"cron": "0 21 * * sat"}}
    for other, said in (("daily", "CYCLE_DEFERRED"), ("micro", "CYCLE_SKIPPED")):
        table = society(
            SATURDAY + hours(20),
            {k: v for k, v in schedules.items() if k in (other, "architecture", "micro")},
        )
        if other == "micro":
            table.schedules.pop("daily", None)
        table.until(SATURDAY + hours(21) + timedelta(minutes=5))
        assert slots(table)[-1] == ("28 21:00", "CYCLE_DEFERRED", "architecture", "28 21:00", "cycle runs")
        table.now = SATURDAY + hours(22)
        under_way = list(table.docket.due(table.now))
        assert [d.body.type for d in under_way] == ["RULING", said]
        for draft in under_way:
            table.publish(draft)
        table.officers()
        assert ("28 22:00", said, other, "28 22:00", "cycle runs") in slots(table)
        assert ("28 22:00", "CYCLE_TRIGGER", "architecture", "28 21:00", "") in slots(table)


@pytest.mark.rule("K5")
def test_k5_a_daily_report_that_moves_the_context_under_a_trigger_is_no_fault():
    table = society(
        MONDAY + hours(21), {"micro": {"at": ["2026-02-23T22:10:00Z"]}, "daily": {"cron": "0 22 * * *"}}
    )
    table.until(MONDAY + hours(22))
    synthesis = table.owed(EVOLVER, "PRINCIPLE_SYNTHESIS")
    table.say(EVOLVER, Answers(1, faults=0).to(synthesis, table.docket), owed=synthesis)
    table.now = MONDAY + hours(22) + timedelta(minutes=10)
    (under_way,) = due_now(table)
    owed = table.owed(EVOLVER, "DAILY_REPORT")
    table.post(EVOLVER, Answers(2, faults=0).to(owed, table.docket), owed=owed)
    assert under_way.body.context != table.docket.context.fold_named("research").context()
    table.publish(under_way)
    assert table.log[-1].body.context == under_way.body.context
    assert "cycle_20260223_2210" in table.docket.cases


@pytest.mark.rule("K5")
@pytest.mark.parametrize(
    "over",
    [
        {"nominal_at": MONDAY + hours(12)},
        {"mode": "daily"},
        {"trigger": "EVOLVER_START"},
        {"context": m.CycleContext(last_verdict="APPROVE", priority_direction=None, available_parents=())},
    ],
)
def test_k5_a_trigger_that_says_something_else_is_a_fault(over):
    table = society(MONDAY + hours(9))
    table.now = MONDAY + hours(10)
    (draft,) = due_now(table)
    with pytest.raises(OfficerFault):
        table.publish(replace(draft, body=draft.body.model_copy(update=over)))


@pytest.mark.rule("K5")
@pytest.mark.parametrize(
    ("body", "key"),
    [
        (
            m.CycleSkipped(schedule="micro", nominal_at=MONDAY + hours(10), reason="cycle runs"),
            "micro/2026-02-23T10:00:00.000000Z",
        ),
        (
            m.CycleSkipped(schedule="micro", nominal_at=MONDAY + hours(12), reason="missed"),
            "micro/2026-02-23T12:00:00.000000Z",
        ),
        (
            m.CycleDeferred(schedule="daily", nominal_at=MONDAY + hours(22), reason="cycle runs"),
            "daily/2026-02-23T22:00:00.000000Z/deferred",
        ),
    ],
)
def test_k5_words_about_a_slot_that_nothing_asks_for_are_a_fault(body, key):
    table = society(MONDAY + hours(9))
    table.now = MONDAY + hours(10)
    draft = Draft(channel="#a-arena", author=TIMEKEEPER, actor=OFFICER, body=body, key=key)
    with pytest.raises(OfficerFault):
        table.publish(draft)


def test_next_instant_is_never_in_the_past_when_nothing_is_due():
    table = society(SATURDAY + hours(14))
    table.until(SATURDAY + hours(15))
    assert not due_now(table)
    assert table.docket.next_instant() > table.now
