"""Escalations: triggers, life, silence; spec 5 with R-E1 to R-E5, R-B8, R-D11, K19."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from moot.protocols.calls.exhaustion import sources as call_sources
from moot.protocols.escalation import triggers
from moot.protocols.escalation.messages import ANSWER_WITHIN, EscalationAck, EscalationAnswer, ModeChanged
from moot.protocols.escalation.mode import Modes
from moot.protocols.escalation.triggers import TRIGGERS, options_of
from moot.protocols.escalation.watch import OCCURRENCES, Watched
from moot.protocols.kernel.deadlines import MAX_REMINDERS, REMINDER_INTERVAL
from moot.protocols.kernel.envelope import OFFICER, Draft
from moot.protocols.kernel.errors import Late, OfficerFault
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.people import Note, Override, SeatTaken, Stop
from moot.protocols.kernel.seats import VIEWER
from moot.protocols.panel.triggers_watch import sources as panel_sources
from moot.protocols.research.seats import EXPLORER
from moot.protocols.research.triggers import sources
from moot.protocols.rulebook import rulebook
from moot.protocols.trading.messages import Halt, Resume
from moot.protocols.trading.seats import OPERATOR
from moot.protocols.trading.triggers import sources as desk_sources
from tests.doubles import bodies
from tests.doubles.answers import Answers
from tests.doubles.copying import replace
from tests.doubles.debating import (
    ADMIN,
    EVOLVER,
    REFEREE,
    assess,
    backtest,
    beside,
    hypothesise,
    judge,
    judge_finally,
    move,
    rebut,
    record,
    reflect,
    report,
    request,
    revise,
    ruling,
)
from tests.doubles.table import START, Table

TICK = timedelta(microseconds=1)
HOUR = timedelta(hours=1)
MICRO = {"micro": {"cron": "0 */2 * * *"}}


def quiet(start=START):
    """Return a society without cycles."""
    return Table(start, schedules={})


def silent_hypotheses(n, table=None):
    """Let the Explorer be silent in n cycles; the Evolver reports."""
    table = table or Table(schedules=MICRO)
    for _ in range(n):
        while not any(o.expects == ("HYPOTHESIS",) for o in table.docket.open.values()):
            table.until(table.docket.next_instant())
        owed = table.owed(EXPLORER, "HYPOTHESIS")
        table.until(owed.void_at)
        report(table)
    return table


def escalations(table):
    return [e for e in table.log if e.body.type == "ESCALATION"]


def resolutions(table):
    return [(e.body.how, e.body.effect, e.body.by) for e in table.log if e.body.type == "ESCALATION_RESOLVED"]


def urgent():
    """Return a society whose Explorer has just been silent for the third time."""
    table = silent_hypotheses(2)
    table.until(START + 4 * HOUR + timedelta(minutes=40))
    (env,) = escalations(table)
    return table, env


def attention():
    """Return a society without a successful APPROVE for 24 hours."""
    table = quiet()
    table.wait(hours=24)
    (env,) = escalations(table)
    return table, env


def answer(table, option=None, text=None, say=None, **how):
    case_id = escalations(table)[-1].case_id
    body = EscalationAnswer(escalation_id=case_id, option=option, text=text)
    return (say or table.say)(ADMIN, body, **({"channel": "#admin", "case_id": case_id} | how))


def ack(table, **how):
    case_id = escalations(table)[-1].case_id
    return table.say(ADMIN, EscalationAck(escalation_id=case_id), **how)


# ---------------------------------------------------------------- the trigger table


CONSERVATIVE = {"A": "conservative", "B": "conservative_b", "panel": "none", "society": "stay_silent"}
"""What R-B8 has silence lead to; what a panel did not decide stays undecided."""


LAST = {"deployment": "reject_deployment", **dict.fromkeys(("budget", "budget_simulated"), "stop_society")}
"""What the last option does, where that is something."""


def test_every_trigger_has_options_of_which_the_first_is_conservative():
    for code, trigger in TRIGGERS.items():
        if code == "faulted":  # nothing is conservative about a rule that is faulty
            continue
        options = options_of(code)
        assert len(options) >= 2
        assert [o.n for o in options] == list(range(1, len(options) + 1))
        first = "simulate" if code == "budget_simulated" else CONSERVATIVE[trigger.system]
        assert options[0].effect == first
        assert options[-1].effect == LAST.get(code, "none")
        assert trigger.source.startswith(
            "sprint contracts" if code == "panel_shrunk" else ("5.1", "R-F16", "R-P2", "K27")
        )


@pytest.mark.rule("R-E1")
def test_the_levels_are_those_of_r_e1():
    assert {code: t.level for code, t in TRIGGERS.items()} == {
        "timeouts": "URGENT",
        "deadlocked": "DECISION_NEEDED",
        "no_approve": "ATTENTION",
        "approve_rate": "ATTENTION",
        "timeouts_b": "URGENT",
        "halt": "URGENT",
        "daily_loss": "URGENT",
        "infeasible": "URGENT",
        "deployment": "DECISION_NEEDED",
        "panel_shrunk": "ATTENTION",
        "panel_undecided": "DECISION_NEEDED",
        "budget": "DECISION_NEEDED",
        "budget_simulated": "DECISION_NEEDED",
        "faulted": "DECISION_NEEDED",
    }


def test_every_code_that_a_source_may_raise_has_a_row():
    found = [sources(), desk_sources(), panel_sources(), call_sources()]
    assert sum(map(len, found)) == len(TRIGGERS) - 2, (
        "a spent budget has two rows, and the kernel raises faulted"
    )


# ---------------------------------------------------------------- triggers of System A


def test_three_timeouts_in_a_row_from_one_seat_are_urgent():
    table, env = urgent()
    body = env.body
    assert env.sent_at == START + 4 * HOUR + timedelta(minutes=40)
    assert (env.channel, env.author, env.case_id) == ("#admin", REFEREE, "esc_20260223_1440")
    assert (body.level, body.system, body.trigger_code, body.subject) == (
        "URGENT",
        "A",
        "timeouts",
        "explorer",
    )
    assert body.trigger == "3 consecutive timeouts from explorer"
    assert body.suggested_actions == tuple(o.label for o in body.options)
    assert [table.log[seq - 1].body.type for seq in body.evidence_seqs] == ["RULING"] * 3
    assert body.auto_resolution_timeout.startswith("4h")


def test_two_timeouts_are_none_of_the_admins_business():
    assert not escalations(silent_hypotheses(2))


def test_timeouts_of_different_seats_do_not_add_up():
    table = Table(schedules=MICRO)
    table.until(START + timedelta(minutes=39))
    hypothesise(table)
    table.until(START + timedelta(minutes=39 + 30))
    table.until(START + 3 * HOUR)
    rulings = [e for e in table.log if e.body.type == "RULING"]
    assert len(rulings) >= 3
    assert not escalations(table)


def test_an_answer_between_them_starts_the_count_anew():
    table = silent_hypotheses(2)
    table.until(START + 4 * HOUR)
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table, "REJECT")
    reflect(table)
    report(table)
    silent_hypotheses(2, table)
    assert not escalations(table)
    table.until(table.now + 2 * HOUR)
    assert len(escalations(table)) == 1


@pytest.mark.parametrize(("breaks", "fires"), [(True, False), (False, True)])
def test_an_answer_that_was_ruled_on_is_no_silence(breaks, fires):
    table = Table(schedules=MICRO)
    hypothesise(table)
    assess(table, confidence=0.9)
    table.until(START + 2 * HOUR)
    hypothesise(table)
    assess(table, confidence=0.9)
    if breaks:
        judge(table, confidence=0.1)
    table.until(START + 3 * HOUR)
    silences = [e.seq for e, fx in zip(table.log, table.effects, strict=True) if fx.voided is not None]
    assert len(silences) == (3 if breaks else 4)
    assert bool(escalations(table)) is fires


@pytest.mark.parametrize("revisions", [2, 3, 4])
def test_the_third_revise_request_of_a_lineage_is_a_deadlock(revisions):
    table = revised_lineage(revisions)
    found = escalations(table)
    assert len(found) == (revisions >= 3)
    for env in found:
        assert (env.body.trigger_code, env.body.subject, env.body.level) == (
            "deadlocked",
            "lin_7",
            "DECISION_NEEDED",
        )
        assert [table.log[seq - 1].body.type for seq in env.body.evidence_seqs] == ["REVISE_REQUEST"] * 3


def revised_lineage(n, lineage="lin_7", *, finish=True):
    table = Table(schedules=MICRO)
    for k in range(n):
        table.until(START + 2 * k * HOUR)
        hypothesise(table, lineage_id=lineage)
        assess(table, confidence=0.9)
        judge(table, "REVISE", 0.7)
        request(table)
        if finish or k < n - 1:
            revise(table)
            assess(table, "revision")
            judge_finally(table, "REJECT")
            reflect(table)
            report(table)
    return table


@pytest.mark.rule("R-D11")
@pytest.mark.parametrize(("passed", "how"), [(True, "withdrawn"), (False, "expired")])
def test_r_d11_a_lineage_whose_approval_passes_its_backtest_is_deadlocked_no_longer(passed, how):
    table = revised_lineage(3, finish=False)
    assert len(escalations(table)) == 1
    revise(table)
    assess(table, "revision")
    judge_finally(table, "APPROVE")
    backtest(table, passed)
    if passed:
        move(table)
    record(table, "success" if passed else "failure")
    report(table)
    table.wait(hours=5)
    resolved = table.last("ESCALATION_RESOLVED").body
    assert (resolved.escalation_id, resolved.how) == (escalations(table)[0].body.escalation_id, how)


def test_revisions_of_different_lineages_do_not_add_up():
    table = Table(schedules=MICRO)
    for k in range(3):
        table.until(START + 2 * k * HOUR)
        hypothesise(table)
        assess(table, confidence=0.9)
        judge(table, "REVISE", 0.7)
        request(table)
        concede_revision(table)
    assert not escalations(table)


def concede_revision(table):
    table.wait(minutes=26)
    report(table)


def test_24_hours_without_a_successful_approve_call_for_attention():
    table = quiet()
    table.until(START + 24 * HOUR - TICK)
    assert not escalations(table)
    table.until(START + 24 * HOUR)
    (env,) = escalations(table)
    assert (env.body.level, env.body.trigger_code, env.body.subject) == ("ATTENTION", "no_approve", "")


def approve(table, passed=True):
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    backtest(table, passed)
    if passed:
        move(table)
    record(table, "success" if passed else "failure")
    report(table)


@pytest.mark.parametrize(("passed", "waits"), [(True, 10), (False, 0)])
def test_only_an_approve_whose_backtest_passed_starts_the_24_hours_anew(passed, waits):
    table = Table(schedules={"micro": {"at": [(START + 10 * HOUR).isoformat()]}})
    table.until(START + 10 * HOUR)
    approve(table, passed)
    table.until(START + (24 + waits) * HOUR - TICK)
    assert not escalations(table)
    table.until(START + (24 + waits) * HOUR)
    assert len(escalations(table)) == 1


@pytest.mark.rule("R-E1")
def test_r_e1_the_24_hours_start_anew_as_the_backtest_passes_not_as_its_debate_ends():
    table = Table(schedules={"micro": {"at": [(START + 23 * HOUR).isoformat()]}})
    table.until(START + 23 * HOUR)
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    table.wait(minutes=25)
    backtest(table)
    table.wait(minutes=10)
    move(table)
    table.until(START + 24 * HOUR)
    assert not escalations(table)
    assert "debate" in [state.kind for state in table.docket.cases.values()]
    record(table)
    report(table)
    table.until(START + 47 * HOUR + timedelta(minutes=25) - TICK)
    assert not escalations(table)
    table.until(START + 47 * HOUR + timedelta(minutes=25))
    assert [env.body.trigger_code for env in escalations(table)] == ["no_approve"]


@pytest.mark.rule("R-E1")
def test_r_e1_a_backtest_that_breaks_a_rule_is_no_success():
    table = Table(schedules={"micro": {"at": [(START + 23 * HOUR).isoformat()]}})
    table.until(START + 23 * HOUR)
    case_id = hypothesise(table)
    early = table.say(EVOLVER, bodies.backtest(), channel="#a-verdict", case_id=case_id)
    assert table.effects[early.seq - 1].violation is not None
    table.until(START + 24 * HOUR)
    assert [env.body.trigger_code for env in escalations(table)] == ["no_approve"]


@pytest.mark.rule("K6")
def test_k6_the_24_hours_are_those_that_the_society_was_up():
    table = quiet()
    table.wait(hours=20)
    table.down(hours=30)
    table.until(START + 54 * HOUR - TICK)
    assert not escalations(table)
    table.until(START + 54 * HOUR)
    assert len(escalations(table)) == 1


SATURDAY = datetime(2026, 2, 28, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    ("approved", "debates", "escalates"), [(0, 4, True), (1, 4, False), (1, 5, False), (1, 6, True)]
)
def test_a_week_with_less_than_a_fifth_approved_calls_for_attention(approved, debates, escalates):
    at = [(SATURDAY + timedelta(minutes=n)).isoformat() for n in range(debates)]
    table = Table(SATURDAY, schedules={"micro": {"at": at}, "architecture": {"cron": "0 15 * * sat"}})
    for n in range(debates):
        table.until(SATURDAY + timedelta(minutes=n))
        if n < approved:
            approve(table)
        else:
            hypothesise(table)
            assess(table, confidence=0.9)
            judge(table, "REJECT")
            reflect(table)
            report(table)
    table.until(SATURDAY + HOUR)
    answer_everything(table)
    found = [e.body.trigger_code for e in escalations(table)]
    assert found == (["approve_rate"] if escalates else [])
    if escalates:
        (env,) = escalations(table)
        assert table.log[env.body.evidence_seqs[0] - 1].body.type == "META_REFLECTION"


def answer_everything(table):

    answers = Answers(1, faults=0)
    while owed := [o for o in table.docket.open.values() if o.seat not in (ADMIN, REFEREE)]:
        body = answers.to(owed[0], table.docket)
        table.say(owed[0].seat, body, owed=owed[0], channel=rulebook().channel_of[body.type])


def test_a_week_without_debates_says_nothing():
    table = Table(SATURDAY + HOUR, schedules={"architecture": {"cron": "0 15 * * sat"}})
    answer_everything(table)
    assert not escalations(table)


# ---------------------------------------------------------------- life


def test_an_escalation_owes_an_answer_in_four_hours_and_its_end():
    table, env = attention()
    owed = {o.step: o for o in table.docket.open.values()}
    assert set(owed) == {"answer", "expire"}
    assert owed["answer"].seat == ADMIN
    assert owed["answer"].due_at == owed["expire"].due_at == env.sent_at + 4 * HOUR


def test_only_an_urgent_one_pages_every_30_minutes_five_times_until_four_hours():
    table, env = urgent()
    table.until(env.sent_at + 4 * HOUR)
    pages = [e for e in table.log if e.body.type == "ESCALATION_PAGED"]
    assert [(p.sent_at - env.sent_at, p.body.n) for p in pages] == [
        (timedelta(minutes=30 * n), n) for n in range(1, 6)
    ]
    table, env = attention()
    table.until(env.sent_at + 4 * HOUR)
    assert "ESCALATION_PAGED" not in table.kinds()


def test_pages_keep_their_half_hours_when_one_is_late():
    table, env = urgent()
    table.now = env.sent_at + timedelta(minutes=42)
    table.officers()
    table.until(env.sent_at + timedelta(minutes=60))
    pages = [e.sent_at - env.sent_at for e in table.log if e.body.type == "ESCALATION_PAGED"]
    assert pages == [timedelta(minutes=42), timedelta(minutes=60)]


@pytest.mark.rule("K1")
def test_k1_acknowledging_ends_the_pages_and_not_the_four_hours():
    table, env = urgent()
    table.until(env.sent_at + timedelta(minutes=45))
    acked = ack(table)
    assert table.effects[acked.seq - 1].settled.step == "answer"
    owed = table.owed(ADMIN, "ESCALATION_ANSWER")
    assert owed.due_at == env.sent_at + 4 * HOUR
    assert (owed.expects, owed.opened_at) == (("ESCALATION_ANSWER",), table.now)
    answered = answer(table, 3, channel=None, case_id=None, owed=owed)
    assert answered.id != acked.id, "the answer would have been taken for a repetition of the ACK"
    assert [e.body.n for e in table.log if e.body.type == "ESCALATION_PAGED"] == [1]
    assert resolutions(table) == [("answered", "none", "ann")]


def test_the_four_hours_end_as_before_after_an_ack():
    table, env = urgent()
    table.until(env.sent_at + 3 * HOUR)
    ack(table)
    table.until(env.sent_at + 4 * HOUR - TICK)
    assert not resolutions(table)
    table.until(env.sent_at + 4 * HOUR)
    assert resolutions(table) == [("expired", "conservative", "referee")]


def test_a_second_ack_is_no_move():
    table, _ = urgent()
    ack(table)
    env = ack(table, channel="#admin", case_id=escalations(table)[-1].case_id)
    assert beside(table, env).rule == "5.2"


@pytest.mark.parametrize("is_acked", [False, True])
@pytest.mark.parametrize(("option", "effect"), [(1, "conservative"), (2, "restart_seat"), (3, "none")])
def test_an_answer_resolves_at_once_with_the_effect_of_its_option(is_acked, option, effect):
    table, _ = urgent()
    if is_acked:
        ack(table)
    env = answer(table, option)
    resolved = table.log[env.seq]
    assert (resolved.body.type, resolved.sent_at) == ("ESCALATION_RESOLVED", table.now)
    assert resolutions(table) == [("answered", effect, "ann")]
    assert not any(o.case_id == env.case_id for o in table.docket.open.values())


def test_a_free_text_resolves_with_no_effect():
    table, _ = urgent()
    answer(table, text="I am looking into it")
    assert resolutions(table) == [("answered", "none", "ann")]


@pytest.mark.parametrize("over", [{"option": 4}, {"option": 0}, {"text": ""}, {}])
def test_an_answer_that_is_none_is_refused_and_owed_again(over):
    table, _ = urgent()
    owed = table.owed(ADMIN, "ESCALATION_ANSWER")
    wrong = answer(table, owed=owed, channel=None, case_id=None, **over)
    assert beside(table, wrong).field == "option"
    assert not resolutions(table)
    answer(table, 3, owed=owed, channel=None, case_id=None)
    assert resolutions(table) == [("answered", "none", "ann")]


def test_a_very_long_user_id_does_not_stop_the_host():
    table, _ = urgent()
    answer(table, 3, user="u" * 500)
    assert resolutions(table) == [("answered", "none", "u" * 200)]


def test_silence_expires_at_exactly_four_hours_with_the_conservative_action():
    table, env = attention()
    table.until(env.sent_at + 4 * HOUR - TICK)
    assert not resolutions(table)
    assert not table.docket.context.conservative_a
    table.until(env.sent_at + 4 * HOUR)
    assert resolutions(table) == [("expired", "conservative", "referee")]
    assert table.docket.context.conservative_a
    assert table.docket.ended[env.case_id].outcome == "expired"


@pytest.mark.rule("K5")
def test_k5_an_answer_at_four_hours_counts_until_the_end_stands():
    table, env = attention()
    table.now = env.sent_at + 5 * HOUR
    under_way = next(iter(table.docket.due(table.now)))
    assert under_way.body.how == "expired"
    answer(table, 3, say=table.post)
    table.publish(under_way)
    assert table.effects[-1].superseded
    table.officers()
    assert [r[0] for r in resolutions(table)] == ["expired", "answered"]
    assert table.docket.ended[env.case_id].outcome == "answered"
    assert not table.docket.context.conservative_a


@pytest.mark.rule("R-E4")
def test_r_e4_a_late_answer_is_marked_late_and_does_not_change_the_outcome():
    table, env = attention()
    table.until(env.sent_at + 4 * HOUR)
    late = answer(table, 3)
    assert isinstance(table.effects[late.seq - 1].violation, Late)
    assert beside(table, late).rule == "R-E4"
    assert beside(table, late).why.startswith("late")
    assert table.docket.ended[env.case_id].outcome == "expired"


@pytest.mark.rule("R-E4")
def test_r_e4_a_second_answer_is_marked_late_before_and_after_the_end():
    table, _ = urgent()
    answer(table, 3, say=table.post)
    second = answer(table, 1, say=table.post)
    assert isinstance(table.effects[second.seq - 1].violation, Late)
    table.officers()
    third = answer(table, 1)
    assert isinstance(table.effects[third.seq - 1].violation, Late)
    assert beside(table, third).rule == "R-E4"
    assert resolutions(table) == [("answered", "none", "ann")]


@pytest.mark.rule("K6")
def test_k6_an_outage_shifts_the_four_hours_and_the_pages():
    table, env = urgent()
    table.until(env.sent_at + timedelta(minutes=10))
    table.down(hours=6)
    table.until(env.sent_at + 10 * HOUR - TICK)
    pages = [e.sent_at - env.sent_at for e in table.log if e.body.type == "ESCALATION_PAGED"]
    assert pages[0] == timedelta(hours=6, minutes=30)
    assert not resolutions(table)
    table.until(env.sent_at + 10 * HOUR)
    assert resolutions(table) == [("expired", "conservative", "referee")]


def stop(table, scope="A", say=None):
    return (say or table.say)(ADMIN, Stop(scope=scope, why="holiday"), channel="#admin")


class TableOfRules3(Table):
    rules_version = "3"


@pytest.mark.rule("R-F12")
def test_r_f12_a_stopped_system_does_not_escalate_until_it_goes_on():
    table = quiet()
    table.until(START + 3 * HOUR)
    stop(table)
    table.until(START + 60 * HOUR)
    assert not escalations(table)
    table.down(hours=2)
    table.until(table.now + 21 * HOUR - TICK)
    assert not escalations(table), "three of the 24 hours had passed before the stop"
    table.until(table.now + TICK)
    assert [e.body.trigger_code for e in escalations(table)] == ["no_approve"]


@pytest.mark.rule("R-F12")
def test_r_f12_a_second_stop_does_not_restart_the_suspension():
    table = quiet()
    table.until(START + 3 * HOUR)
    stop(table)
    table.until(START + 10 * HOUR)
    stop(table)
    stop(table, "B")
    table.down(hours=1)
    table.until(table.now + 21 * HOUR - TICK)
    assert not escalations(table)
    table.until(table.now + TICK)
    assert len(escalations(table)) == 1


@pytest.mark.rule("R-F12")
def test_r_f12_the_triggers_of_the_other_system_stay_in_force():
    table = quiet()
    stop(table, "B")
    table.until(START + 24 * HOUR)
    assert len(escalations(table)) == 1


@pytest.mark.rule("R-F12")
def test_r_f12_a_stop_of_one_case_suspends_nothing():
    table = silent_hypotheses(1)
    stop(table, table.last("CYCLE_TRIGGER").case_id)
    table.until(START + 24 * HOUR)
    assert escalations(table)


@pytest.mark.rule("K5")
@pytest.mark.rule("R-F12")
def test_r_f12_k5_what_became_due_just_before_the_stop_is_superseded():
    table = quiet()
    table.now = START + 24 * HOUR
    (under_way,) = [d for d in table.docket.due(table.now) if d.body.type == "ESCALATION"]
    stop(table, say=table.post)
    table.publish(under_way)
    assert table.effects[-1].superseded
    assert not any(c.kind == "escalation" for c in table.docket.cases.values())
    table.officers()
    table.down(hours=1)
    table.officers()
    assert [table.effects[e.seq - 1].superseded for e in escalations(table)] == [True, False]


@pytest.mark.rule("R-F12")
def test_r_f12_a_condition_that_begins_during_the_stop_escalates_when_the_system_goes_on():
    table = quiet()
    stop(table, "B")
    table.say(ADMIN, Halt(reason="a bad feed", by="admin"), channel="#b-risk")
    table.until(START + 5 * HOUR)
    assert not escalations(table)
    table.down(hours=1)
    assert [e.body.trigger_code for e in escalations(table)] == ["halt"]


@pytest.mark.rule("R-F12")
@pytest.mark.parametrize("scope", ["A", "system A", "a"])
def test_r_f12_logs_of_older_rules_escalate_as_before(scope):
    table = TableOfRules3(START, schedules={})
    stop(table, scope)
    table.until(START + 24 * HOUR)
    assert [e.body.trigger_code for e in escalations(table)] == ["no_approve"]


def test_nobody_pings_or_voids_a_person():
    table, env = attention()
    table.until(env.sent_at + 5 * HOUR)
    assert not {"TIMEOUT_PING", "RULING"} & set(table.kinds())


def test_a_stop_ends_an_escalation_without_effect():
    table, env = urgent()
    table.say(ADMIN, Stop(scope=env.case_id, why="noise"), channel="#admin")
    assert table.docket.ended[env.case_id].outcome == "withdrawn"
    assert not table.docket.context.conservative_a
    table.wait(hours=5)
    assert env.case_id not in {e.case_id for e in table.log if e.body.type == "ESCALATION_RESOLVED"}


# ---------------------------------------------------------------- effects


def expired():
    table, env = attention()
    table.until(env.sent_at + 4 * HOUR)
    assert table.docket.context.conservative_a
    return table


def modes(table):
    return [
        (e.body.system, e.body.mode, e.body.because, e.channel)
        for e in table.log
        if e.body.type == "MODE_CHANGED"
    ]


@pytest.mark.rule("R-F2")
def test_r_f2_the_referee_says_when_the_mode_begins_and_it_holds():
    table = expired()
    assert modes(table) == [("A", "conservative", escalations(table)[0].case_id, "#a-arena")]
    assert table.last("MODE_CHANGED").in_reply_to == table.last("ESCALATION_RESOLVED").id
    table.wait(hours=3)
    assert table.docket.context.conservative_a


@pytest.mark.rule("R-F2")
def test_r_f2_a_late_answer_that_decides_ends_the_mode():
    table = expired()
    said = answer(table, 3)
    assert isinstance(table.effects[said.seq - 1].violation, Late)
    assert not table.docket.context.conservative_a
    assert modes(table)[-1] == ("A", "normal", said.case_id, "#a-arena")
    assert table.last("MODE_CHANGED").in_reply_to == said.id


@pytest.mark.rule("R-F2")
@pytest.mark.parametrize("how", [{"option": 1}, {"option": 9}, {"text": "good morning"}])
def test_r_f2_a_late_answer_that_decides_nothing_else_ends_nothing(how):
    table = expired()
    answer(table, **how)
    assert table.docket.context.conservative_a
    assert len(modes(table)) == 1


@pytest.mark.rule("R-F2")
@pytest.mark.parametrize(
    "body",
    [
        Note(text="good morning"),
        Stop(scope="B", why="holiday"),
        SeatTaken(seat="critic", user_id="ann", reason="me"),
    ],
)
def test_r_f2_what_decides_nothing_ends_nothing(body):
    table = expired()
    table.say(ADMIN, body, channel="#admin")
    assert table.docket.context.conservative_a


@pytest.mark.rule("R-F2")
def test_r_f2_an_override_ends_the_mode_and_one_that_is_refused_does_not():
    table = Table(schedules={"micro": {"at": [START.isoformat()]}})
    case_id = hypothesise(table)
    table.until(START + 29 * HOUR)
    assert table.docket.context.conservative_a
    override = {"channel": "#a-verdict", "case_id": case_id}
    table.say(ADMIN, Override(case_id=case_id, verdict="REJECT", why="again"), **override)
    assert table.docket.context.conservative_a
    said = table.say(ADMIN, Override(case_id=case_id, verdict="APPROVE", why="I like it"), **override)
    assert modes(table)[-1][1:3] == ("normal", case_id)
    assert table.last("MODE_CHANGED").in_reply_to == said.id


def resume(table, halt_id, seat=ADMIN):
    return table.say(seat, Resume(halt_id=halt_id, reason="I am here"), channel="#b-ops", case_id=halt_id)


@pytest.mark.rule("R-F2")
def test_r_f2_a_resume_names_what_led_to_the_mode():
    table = expired()
    case_id = escalations(table)[0].case_id
    assert beside(table, resume(table, "halt_20260223_1000")).rule == "K9"
    assert beside(table, resume(table, case_id, OPERATOR)).rule == "K9"
    assert table.docket.context.conservative_a
    resume(table, case_id)
    assert not table.docket.context.conservative_a
    assert beside(table, resume(table, case_id)).rule == "K9", "it is over"


@pytest.mark.rule("R-F2")
def test_r_f2_each_change_is_said_once():
    table = expired()
    answer(table, 3)
    answer(table, 2)
    assert [mode for _, mode, *_ in modes(table)] == ["conservative", "normal"]
    table.until(START + 53 * HOUR)
    assert [mode for _, mode, *_ in modes(table)] == ["conservative", "normal", "conservative"]


@pytest.mark.rule("R-F2")
def test_r_f2_a_change_that_nothing_leads_to_stops_the_host():
    table = expired()
    body = ModeChanged(system="A", mode="normal", because="esc_20260223_1000")
    with pytest.raises(OfficerFault):
        table.post(REFEREE, body, channel="#a-arena", key="mode/A/1")


def halved(modes_fold, seq, until):
    """Let a ruling halve every position until an instant."""
    body = Ruling(
        obligation_id=None, case_id="session_1", outcome="reduce_exposure", reason="conservative", rule="R-B8"
    )
    env = SimpleNamespace(id=f"ruling/{seq}", seq=seq, body=body, case_id="session_1", author=REFEREE)
    book = SimpleNamespace(reduced_until=until)
    docket = SimpleNamespace(context=SimpleNamespace(fold_named=lambda name: book, conservative_a=False))
    fx = SimpleNamespace(ended=(), decision=("reduce_exposure", "conservative", "R-B8"), violation=None)
    return modes_fold.apply(env, fx, docket), docket


@pytest.mark.rule("R-F2")
def test_r_f2_system_b_is_conservative_until_its_session_ends():
    modes_fold = Modes()
    (began,), docket = halved(modes_fold, 7, START)
    assert (began.channel, began.body.mode, began.key) == ("#b-ops", "conservative", "mode/B/7")
    assert halved(modes_fold, 8, START)[0] is None, "another ruling of that session changes nothing"
    assert modes_fold.alarm(docket) == START
    assert modes_fold.ring(START - TICK, docket) == []
    (over,) = modes_fold.ring(START, docket)
    assert (over.body.mode, over.body.because) == ("normal", "session_1")
    modes_fold.apply(SimpleNamespace(body=over.body, seq=9, author=REFEREE), None, docket)
    assert modes_fold.ring(START + HOUR, docket) == []


@pytest.mark.rule("R-F2", "K5")
def test_r_f2_k5_an_end_that_was_due_when_positions_were_halved_anew_is_superseded():
    modes_fold = Modes()
    _, docket = halved(modes_fold, 7, START)
    (under_way,) = modes_fold.ring(START, docket)
    assert halved(modes_fold, 8, START + 24 * HOUR)[0] is None, "it is conservative still"
    assert modes_fold.ring(START, docket) == []
    assert modes_fold.was_owed(SimpleNamespace(id=under_way.key), docket)
    (over,) = modes_fold.ring(START + 24 * HOUR, docket)
    assert not modes_fold.was_owed(SimpleNamespace(id=over.key), docket)


@pytest.mark.rule("R-B8")
def test_r_b8_a_viewer_is_no_admin():
    table = expired()
    table.say(VIEWER, Note(text="hello"), channel="#a-arena")
    assert table.docket.context.conservative_a


@pytest.mark.rule("R-B8")
def test_r_b8_choosing_the_first_option_turns_it_on():
    table, _ = urgent()
    answer(table, 1)
    assert table.docket.context.conservative_a


def test_retiring_a_lineage_rejects_its_open_debate_and_refuses_its_hypotheses():
    table = revised_lineage(3, finish=False)
    (env,) = escalations(table)
    case_id = next(c for c in table.docket.cases if c.startswith("hyp_"))
    assert options_of("deadlocked")[1].effect == "retire_lineage"
    answer(table, 2)
    assert table.docket.ended[case_id].outcome == "rejected"
    assert ruling(table) == ("REJECT", "deadlocked", "R-D11")
    assert table.last("REFLECTION").body.record.failure_code == "deadlocked"
    report(table)
    table.until(START + 6 * HOUR)
    owed = table.owed(EXPLORER, "HYPOTHESIS")
    refused = table.say(EXPLORER, bodies.hypothesis(owed.case_id, lineage_id="lin_7"), owed=owed)
    assert beside(table, refused).rule == "R-D11"
    hypothesise(table, lineage_id="lin_8")
    assert env.body.subject == "lin_7"


def test_diversify_points_the_next_cycle_elsewhere():
    table, _ = attention()
    assert options_of("no_approve")[1].effect == "diversify"
    answer(table, 2)
    context = table.docket.context.fold_named("research").context()
    assert context.priority_direction.startswith("diversify")


# ---------------------------------------------------------------- R-E3, K19


def watched(table, code="timeouts", subject="explorer"):
    return table.docket.context.fold_named("watch").watched[code, subject]


@pytest.mark.rule("R-E3")
def test_r_e3_the_same_trigger_while_it_is_open_is_an_occurrence():
    table, env = urgent()
    report(table)
    silent_hypotheses(1, table)
    assert len(escalations(table)) == 1
    assert watched(table).occurrences == [table.last("TIMEOUT_PING").seq + 1]
    assert watched(table).recurred == 1
    assert env.case_id == watched(table).open_case


@pytest.mark.rule("R-E3")
def test_r_e3_all_occurrences_are_counted_and_the_latest_are_kept():
    known = Watched()
    for seq in range(1, 101):
        known.recur(seq)
    assert (known.recurred, known.occurrences) == (100, list(range(100 - OCCURRENCES + 1, 101)))


@pytest.mark.rule("K19")
def test_k19_a_condition_that_never_ended_fires_again_only_after_24_hours():
    table, env = urgent()
    report(table)
    answer(table, 3)
    while table.now < env.sent_at + 24 * HOUR - 2 * HOUR:
        silent_hypotheses(1, table)
    assert [e.body.trigger_code for e in escalations(table)].count("timeouts") == 1
    while table.now < env.sent_at + 24 * HOUR:
        silent_hypotheses(1, table)
    assert [e.body.trigger_code for e in escalations(table)].count("timeouts") == 2
    again = [e for e in escalations(table) if e.body.trigger_code == "timeouts"][1]
    assert again.sent_at >= env.sent_at + 24 * HOUR
    assert again.id != env.id


def speak(table):
    """Let the Explorer answer, and end the cycle."""
    while not any(o.expects == ("HYPOTHESIS",) for o in table.docket.open.values()):
        table.until(table.docket.next_instant())
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table, "REJECT")
    reflect(table)
    report(table)


@pytest.mark.rule("K19")
def test_k19_after_its_condition_was_false_it_fires_at_the_next_edge():
    table, env = urgent()
    report(table)
    answer(table, 3)
    speak(table)
    silent_hypotheses(2, table)
    assert len(escalations(table)) == 1
    silent_hypotheses(1, table)
    assert len(escalations(table)) == 2
    assert escalations(table)[1].sent_at < env.sent_at + 24 * HOUR


@pytest.mark.rule("R-E2")
def test_r_e2_an_escalation_whose_condition_ended_is_withdrawn():
    table, env = urgent()
    report(table)
    speak(table)
    assert resolutions(table) == [("withdrawn", "none", "referee")]
    assert table.docket.ended[env.case_id].outcome == "withdrawn"
    assert not table.docket.context.conservative_a
    silent_hypotheses(3, table)
    assert len(escalations(table)) == 2


@pytest.mark.rule("R-E2")
def test_r_e2_a_success_withdraws_the_call_for_one():
    table = Table(schedules={"micro": {"at": [(START + 25 * HOUR).isoformat()]}})
    table.until(START + 25 * HOUR)
    assert len(escalations(table)) == 1
    approve(table)
    assert resolutions(table) == [("withdrawn", "none", "referee")]
    table.until(table.now + 24 * HOUR)
    assert len(escalations(table)) == 2


@pytest.mark.rule("K19")
def test_k19_a_lasting_drought_fires_every_24_hours():
    table = quiet()
    table.until(START + 100 * HOUR)
    assert [(e.sent_at - START) / HOUR for e in escalations(table)] == [24, 48, 72, 96]


@pytest.mark.rule("K5")
def test_k5_an_escalation_under_way_when_its_condition_ends_is_superseded_and_its_id_is_used_up():
    table = Table(schedules={"micro": {"at": [(START + 23 * HOUR).isoformat()]}})
    table.until(START + 23 * HOUR)
    hypothesise(table)
    assess(table, confidence=0.9)
    judge(table)
    table.until(START + 23 * HOUR + timedelta(minutes=19))
    table.now = START + 24 * HOUR
    under_way = [d for d in table.docket.due(table.now) if d.body.type == "ESCALATION"]
    assert len(under_way) == 1
    table.post(EVOLVER, bodies.backtest())
    table.publish(under_way[0])
    assert table.effects[-1].superseded
    assert not any(s.kind == "escalation" for s in table.docket.cases.values())
    move(table)
    record(table)
    report(table)
    table.until(START + 48 * HOUR)
    first, second = escalations(table)
    assert second.id != first.id
    assert second.sent_at == START + 48 * HOUR


@pytest.mark.rule("K5")
def test_k5_a_timeout_escalation_that_was_overtaken_before_it_was_posted_is_not_posted():
    table = silent_hypotheses(2)
    table.until(START + 4 * HOUR + timedelta(minutes=39))
    table.now = START + 4 * HOUR + timedelta(minutes=40)
    (voiding,) = [d for d in table.docket.due(table.now) if d.body.type == "RULING"]
    table.publish(voiding)
    pending = [d for d in table.docket.due(table.now) if d.body.type == "ESCALATION"]
    assert len(pending) == 1
    table.officers()
    assert len(escalations(table)) == 1


@pytest.mark.rule("K5")
def test_k5_an_answer_overtakes_a_withdrawal_that_is_under_way():
    table, env = urgent()
    report(table)
    while not any(o.expects == ("HYPOTHESIS",) for o in table.docket.open.values()):
        table.until(table.docket.next_instant())
    owed = table.owed(EXPLORER, "HYPOTHESIS")
    table.post(EXPLORER, bodies.hypothesis(owed.case_id), owed=owed)
    (under_way,) = [d for d in table.docket.due(table.now) if d.body.type == "ESCALATION_RESOLVED"]
    answer(table, 1, say=table.post)
    table.publish(under_way)
    assert table.effects[-1].superseded
    table.officers()
    assert table.docket.ended[env.case_id].outcome == "answered"
    assert table.docket.context.conservative_a


@pytest.mark.rule("K5")
def test_k5_a_withdrawal_of_what_a_person_has_stopped_is_superseded():
    table, env = urgent()
    report(table)
    while not any(o.expects == ("HYPOTHESIS",) for o in table.docket.open.values()):
        table.until(table.docket.next_instant())
    table.post(ADMIN, Stop(scope=env.case_id, why="noise"), channel="#admin")
    owed = table.owed(EXPLORER, "HYPOTHESIS")
    table.post(EXPLORER, bodies.hypothesis(owed.case_id), owed=owed)
    table.officers()
    assert table.last("ESCALATION_RESOLVED").case_id == env.case_id
    assert table.effects[table.last("ESCALATION_RESOLVED").seq - 1].superseded
    assert table.docket.ended[env.case_id].seq == table.last("RULING").seq


@pytest.mark.rule("K5")
@pytest.mark.parametrize(
    "over",
    [
        {"level": "ATTENTION"},
        {"context": "all is well"},
        {"evidence_seqs": ()},
        {"options": ()},
        {"subject": "critic"},
    ],
)
def test_k5_an_escalation_that_says_something_else_is_a_fault(over):
    table = silent_hypotheses(2)
    table.until(START + 4 * HOUR + timedelta(minutes=39))
    table.now = START + 4 * HOUR + timedelta(minutes=40)
    while table.docket.due(table.now):
        draft = next(iter(table.docket.due(table.now)))
        if draft.body.type == "ESCALATION":
            break
        table.publish(draft)
    with pytest.raises(OfficerFault):
        table.publish(replace(draft, body=draft.body.model_copy(update=over)))


@pytest.mark.rule("K5")
def test_k5_a_second_end_of_an_escalation_is_a_fault():
    table, env = urgent()
    answer(table, 3)
    resolved = table.last("ESCALATION_RESOLVED")

    draft = Draft(
        channel="#admin",
        author=REFEREE,
        actor=OFFICER,
        body=resolved.body,
        case_id=env.case_id,
        key=f"withdrawn/{env.case_id}",
    )
    with pytest.raises(OfficerFault):
        table.publish(draft)


def test_the_figures_of_the_table_are_those_of_the_spec():
    assert timedelta(hours=4) == ANSWER_WITHIN
    assert timedelta(minutes=30) == REMINDER_INTERVAL
    assert MAX_REMINDERS == 5
    assert timedelta(hours=24) == triggers.FIRES_AGAIN_AFTER


def test_rebuttals_and_concessions_of_a_silent_seat_count_as_words():
    table, _ = urgent()
    report(table)
    while not any(o.expects == ("HYPOTHESIS",) for o in table.docket.open.values()):
        table.until(table.docket.next_instant())
    hypothesise(table)
    assess(table)
    rebut(table)
    assess(table, 2)
    assert resolutions(table) == [("withdrawn", "none", "referee")]
