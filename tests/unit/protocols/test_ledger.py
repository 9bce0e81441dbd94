"""The ledger: what reports must equal, over windows, in linear time."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.research import messages as m
from moot.protocols.research.calendar import Calendar
from moot.protocols.research.debate import DebateState
from moot.protocols.research.debate_table import Phase
from moot.protocols.research.ledger import KEPT, Counts, Ledger
from moot.protocols.research.seats import EXPLORER
from moot.protocols.trading.seats import OPERATOR
from tests.doubles import bodies
from tests.doubles.debating import (
    ADMIN,
    assess,
    backtest,
    hypothesise,
    judge,
    judge_finally,
    move,
    opened,
    reach,
    record,
    reflect,
    report,
)
from tests.doubles.table import START, Table

NOON = datetime(2026, 2, 23, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
DOCKET = SimpleNamespace(context=SimpleNamespace(fold_named={"calendar": Calendar()}.get))
"""One without schedules."""


def ended(ledger, at, *, verdict="REJECT", lineage="lin", outcome="rejected", **over):
    """Tell a ledger of a debate that ended."""
    fx = Effects()
    fx.ended = (
        DebateState(
            case_id=f"hyp_{at.timestamp()}",
            kind="debate",
            phase=Phase.ENDED,
            anchor_at=at,
            verdict=verdict,
            outcome=outcome,
            lineage_id=lineage,
            **over,
        ),
    )
    env = SimpleNamespace(sent_at=at, body=SimpleNamespace(type="REFLECTION"), case_id=None)
    ledger.apply(env, fx, DOCKET)


def test_a_window_excludes_its_start_and_includes_its_end():
    ledger = Ledger()
    since, until = NOON, NOON + timedelta(hours=1)
    for at in (since, since + TICK, until, until + TICK):
        ended(ledger, at)
    assert ledger.counts(since, until) == Counts(0, 0, 2, 0)


def test_counts_tell_approvals_rejections_and_revisions_apart():
    ledger = Ledger()
    ended(ledger, NOON, verdict="APPROVE", outcome="approved", passed=True)
    ended(ledger, NOON, verdict="APPROVE", outcome="backtest_failed", passed=False, revised=True)
    ended(ledger, NOON, revised=True)
    ended(ledger, NOON)
    assert ledger.counts(NOON - TICK, NOON) == Counts(0, 2, 2, 2)


def test_a_stopped_debate_does_not_count():
    ledger = Ledger()
    ended(ledger, NOON, verdict="", outcome="stopped")
    assert ledger.counts(NOON - TICK, NOON) == Counts(0, 0, 0, 0)
    assert ledger.day_so_far(NOON) == Counts(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("at", "same_day"),
    [
        (datetime(2026, 2, 23, 22, tzinfo=UTC), True),
        (datetime(2026, 2, 23, 22, tzinfo=UTC) + TICK, False),
        (datetime(2026, 2, 24, 21, tzinfo=UTC), False),
    ],
)
def test_the_day_ends_at_2200_inclusive(at, same_day):
    ledger = Ledger()
    ended(ledger, NOON)
    assert ledger.day_so_far(at).rejected == same_day
    ended(ledger, at)
    assert ledger.day_so_far(at).rejected == 1 + same_day


@pytest.mark.rule("R-D17")
def test_r_d17_the_day_ends_at_the_next_daily_instant_whenever_that_is():
    daily = {"daily": {"cron": "0 10,18 * * *"}}
    table = Table(NOON - timedelta(hours=3), schedules={"micro": {"at": [NOON.isoformat()]}, **daily})
    table.until(NOON)
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table, "REJECT")
    reflect(table)
    ledger = table.docket.context.fold_named("research")
    for at, rejected in ((NOON.replace(hour=18), 1), (NOON.replace(hour=18) + TICK, 0)):
        assert ledger.day_so_far(at).rejected == rejected


@pytest.mark.rule("K16")
def test_k16_what_a_window_to_come_reaches_back_to_is_not_forgotten():
    at = [NOON + timedelta(days=n) for n in (0, 40)]
    micro = [(at[0] + timedelta(hours=5)).isoformat(), (at[1] - timedelta(hours=1)).isoformat()]
    schedules = {"micro": {"at": micro}, "architecture": {"at": [one.isoformat() for one in at]}}
    table = Table(NOON - timedelta(hours=1), schedules=schedules)
    for instant in micro:
        table.until(datetime.fromisoformat(instant))
        hypothesise(table)
        assess(table, confidence=0.9)
        judge(table, "REJECT")
        reflect(table)
        report(table)
    assert at[1] - at[0] > KEPT
    assert table.docket.context.fold_named("research").counts(*at) == Counts(2, 0, 2, 0)


@pytest.mark.rule("R-D14")
def test_r_d14_a_review_leaves_out_what_ended_where_its_window_begins():
    ledger = Ledger()
    for at in (NOON - TICK, NOON, NOON + TICK):
        ended(ledger, at)
        ended(ledger, at, verdict="APPROVE", outcome="backtest_failed", passed=False)
    review = ledger.threshold_review(NOON, NOON + timedelta(days=7))
    assert (review["rejects"], review["approvals"], review["failed_backtests"]) == (1, 1, 1)
    until = ledger.threshold_review(NOON - timedelta(days=7), NOON)
    assert (until["rejects"], until["approvals"]) == (2, 2)


def test_false_negatives_are_rejects_whose_lineage_passed_later():
    ledger = Ledger()
    week = (NOON - timedelta(days=1), NOON + timedelta(days=6))
    ended(ledger, NOON, lineage="a")
    ended(ledger, NOON, lineage="b")
    ended(ledger, NOON + TICK, verdict="APPROVE", outcome="approved", lineage="a", passed=True)
    ended(ledger, NOON + 2 * TICK, lineage="a")
    ended(ledger, NOON + TICK, verdict="APPROVE", outcome="backtest_failed", lineage="b", passed=False)
    review = ledger.threshold_review(*week)
    assert (review["rejects"], review["wrongly_rejected"]) == (3, 1)
    assert (review["approvals"], review["failed_backtests"]) == (2, 1)
    assert (review["false_negative_rate"], review["false_positive_rate"]) == (0.333333, 0.5)
    assert (review["recommendation"], review["factor"]) == ("raise", 1.1)


def test_the_meta_reflection_counts_first_verdicts_wins_and_overrides():
    ledger = Ledger()
    ended(ledger, NOON, verdict="APPROVE", outcome="approved", passed=True, rating="REJECT", quality=0.9)
    ended(ledger, NOON, verdict="APPROVE", outcome="approved", passed=True, revised=True, quality=0.5)
    ended(ledger, NOON, quality=None)
    assert ledger.meta(NOON - TICK, NOON) == {
        "period": "2026-W09",
        "total_debates": 3,
        "verdict_distribution": {"APPROVE": 1, "REJECT": 1, "REVISE": 1},
        "avg_debate_quality": 0.7,
        "explorer_win_rate": 0.666667,
        "critic_override_rate": 0.333333,
    }


def test_an_empty_week_has_no_rates():
    meta = Ledger().meta(NOON, NOON)
    assert (meta["total_debates"], meta["avg_debate_quality"], meta["explorer_win_rate"]) == (0, 0.0, 0.0)


def test_the_best_strategy_is_the_one_that_passed_with_the_highest_sharpe():
    table, _ = reach(Phase.BACKTESTING)
    backtest(table)
    move(table, strategy_id="strat_7")
    ledger = table.docket.context.fold_named("research")
    assert ledger.top_strategy(START - TICK, START) == {"id": "strat_7", "sharpe": 0.9}
    assert ledger.best_sharpe(START - TICK, START) == 0.9
    assert ledger.top_strategy(START, START + timedelta(days=1)) is None


def test_the_context_of_the_next_cycle_carries_verdict_and_parents():
    table, _ = reach(Phase.MOVING)
    move(table, strategy_id="strat_7")
    record(table)
    report(table)
    context = table.docket.context.fold_named("research").context()
    assert (context.last_verdict, context.available_parents) == ("APPROVE", ("strat_7",))


def test_what_system_b_sends_back_is_no_parent():
    table, _ = reach(Phase.MOVING)
    move(table, strategy_id="strat_7")
    back = {"from_": "staging", "to": "candidates", "reason": "not deployed"}
    table.say(ADMIN_SEAT, bodies.moved("strat_7", from_="candidates", to="staging"), channel="#bridge")
    table.say(OPERATOR, bodies.moved("strat_7", **back), channel="#bridge")
    assert not [env for env in table.log if env.body.type == "VIOLATION"]
    assert table.docket.context.fold_named("research").context().available_parents == ("strat_7",)


def test_a_record_keeps_the_instant_of_its_message_whatever_it_says():
    table, _ = reach(Phase.REFLECTING)
    reflect(table, at=datetime(2020, 1, 1, tzinfo=UTC))
    (found,) = table.docket.context.fold_named("research").records(START - TICK, START)
    assert found.at == START


def test_records_and_moves_that_broke_a_rule_are_not_counted():
    table, _ = reach(Phase.RECORDING)
    record(table, "failure")
    assert not table.docket.context.fold_named("research").records(START - TICK, START)


def test_principles_thresholds_and_directions_are_taken_from_messages_in_effect():
    ledger = Ledger()
    body = m.ThresholdsAdjusted(period="2026-W09", before={"a": 0.5}, after={"a": 0.6})
    env = SimpleNamespace(sent_at=NOON, body=body, case_id=None)
    fx = Effects()
    fx.superseded = True
    ledger.apply(env, fx, None)
    assert "a" not in ledger.thresholds
    ledger.apply(env, Effects(), None)
    assert ledger.thresholds == {"a": 0.6}


@pytest.mark.rule("K18")
def test_k18_what_no_window_reaches_is_forgotten():
    ledger = Ledger()
    for day in range(100):
        ended(ledger, NOON + timedelta(days=day))
    assert ledger.counts(NOON - TICK, NOON + timedelta(days=100)).rejected <= KEPT.days + 1


@pytest.mark.rule("K18")
def test_k18_an_ended_debate_leaves_its_strategy_for_a_linked_case_and_no_more():
    table, case_id = opened()
    assess(table, confidence=0.9)
    ledger = table.docket.context.fold_named("research")
    assert case_id not in ledger.strategies
    judge(table, "REJECT")
    reflect(table)
    known = ledger.strategies[case_id]
    assert (known.lineage_id, known.strategy, known.verdict) == (case_id, bodies.strategy(), "REJECT")


def test_a_revised_strategy_is_the_one_that_is_kept():
    table, case_id = reach(Phase.FINAL_JUDGING)
    judge_finally(table, "REJECT")
    reflect(table)
    assert (
        table.docket.context.fold_named("research").strategies[case_id].strategy == bodies.revised().strategy
    )


def test_a_linked_case_that_passes_makes_the_earlier_reject_a_wrong_one():
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    table.now += timedelta(minutes=1)
    body = Override(case_id=case_id, verdict="APPROVE", why="yes")
    table.say(ADMIN, body, channel="#a-verdict", case_id=case_id)
    backtest(table)
    move(table)
    record(table)
    review = table.docket.context.fold_named("research").threshold_review(START - TICK, table.now)
    assert (review["rejects"], review["wrongly_rejected"], review["approvals"]) == (1, 1, 0)


def taken_up(hours):
    """Override a rejected debate so many hours after its end, and see the linked case through."""
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    ended_at = table.now
    table.until(ended_at + timedelta(hours=hours))
    body = Override(case_id=case_id, verdict="APPROVE", why="yes")
    table.say(ADMIN, body, channel="#a-verdict", case_id=case_id)
    backtest(table, passed=False)
    record(table, "failure")
    return table, table.docket.context.fold_named("research"), ended_at


@pytest.mark.rule("R-F13")
@pytest.mark.parametrize(("hours", "is_new"), [(1, False), (24, True)])
def test_r_f13_what_is_taken_up_again_is_no_new_debate_of_its_old_day(hours, is_new):
    table, ledger, _ = taken_up(hours)
    assert ledger.day_so_far(table.now)[1:3] == ((1, 0) if is_new else (0, 1))
    day = table.docket.context.fold_named("calendar").day_end(table.now)
    assert ledger.counts(day - timedelta(days=1), day)[1:3] == ((1, 0) if is_new else (0, 1))


@pytest.mark.rule("R-F13")
def test_r_f13_what_is_taken_up_again_is_no_new_debate_of_its_old_week():
    table, ledger, ended_at = taken_up(24)
    old, new = (START - TICK, table.now), (ended_at, table.now)
    assert ledger.counts(*old)[1:3] == (0, 1)
    assert ledger.meta(*old)["total_debates"] == 1
    assert (ledger.meta(*old)["explorer_win_rate"], ledger.meta(*new)["explorer_win_rate"]) == (0.0, 1.0)
    assert ledger.threshold_review(*old)["false_positive_rate"] == 0.0
    assert ledger.threshold_review(*new)["false_positive_rate"] == 1.0


def test_a_cycle_without_a_hypothesis_counts_as_a_cycle_and_no_debate():
    table = Table()
    table.wait(minutes=40)
    report(table)
    ledger = table.docket.context.fold_named("research")
    assert ledger.counts(START, table.now) == Counts(1, 0, 0, 0)


def test_a_silent_evolver_counts_as_a_reject():
    table = Table()
    hypothesise(table)
    assess(table, confidence=0.9)
    table.wait(minutes=31)
    ledger = table.docket.context.fold_named("research")
    assert ledger.counts(START, table.now) == Counts(1, 0, 1, 0)
    assert ledger.context().last_verdict == "REJECT"


def offered(table):
    """Return what the Explorer's brief offers for re-evaluation."""
    owed = table.owed(EXPLORER, "HYPOTHESIS")
    state = table.docket.cases[owed.case_id]
    return table.docket.rules.types[state.kind].brief(state, owed, table.docket.context)["reevaluate"]


@pytest.mark.rule("R-F11")
def test_r_f11_the_explorer_is_offered_what_was_recalled_until_a_hypothesis_names_it():
    table = Table(schedules={"micro": {"cron": "0 */2 * * *"}})
    ledger = table.docket.context.fold_named("research")
    ledger.reevaluate = {"strat_1": 0, "strat_2": 3}
    assert offered(table) == ["strat_1", "strat_2"]
    hypothesise(table, parent_strategy_id="strat_1")
    assert list(ledger.reevaluate) == ["strat_2"]


@pytest.mark.rule("R-F11")
def test_r_f11_for_ten_cycles():
    table = Table(schedules={"micro": {"cron": "0 */2 * * *"}})
    table.docket.context.fold_named("research").reevaluate = {"strat_1": 0}
    for n in range(10):
        table.until(START + timedelta(hours=2 * n))
        assert offered(table) == ["strat_1"], n
        table.wait(minutes=40)
        report(table)
    table.until(START + timedelta(hours=20))
    assert offered(table) == []
