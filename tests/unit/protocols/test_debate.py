"""Debates at a table: spec 1.1 to 1.4 with R-D1 to R-D12 and R-D22, each rule at its exact boundary."""

from datetime import timedelta

import pytest

from moot.protocols.kernel.duties import discharge_of, ping_of, void_of
from moot.protocols.kernel.envelope import OFFICER, Draft
from moot.protocols.kernel.errors import Consequential, Forbidden, Late, Malformed, OfficerFault
from moot.protocols.kernel.officers import Ruling, TimeoutPing
from moot.protocols.kernel.people import Override
from moot.protocols.research import messages as m
from moot.protocols.research.debate_table import BUDGETED, Phase
from moot.protocols.trading.seats import OPERATOR
from tests.doubles import bodies
from tests.doubles.copying import replace
from tests.doubles.debating import (
    ADMIN,
    CRITIC,
    EVOLVER,
    EXPLORER,
    REFEREE,
    STEP_OF,
    WAYS,
    assess,
    backtest,
    beside,
    concede,
    cycle_of,
    debate,
    extend,
    hypothesise,
    judge,
    judge_finally,
    move,
    opened,
    outcome,
    reach,
    rebut,
    record,
    reflect,
    report,
    request,
    revise,
    ruling,
    third_round,
    two_rounds,
)
from tests.doubles.table import START, Table

OPEN = [phase for phase in Phase if phase is not Phase.ENDED]
TICK = timedelta(microseconds=1)


def rejected(table, case_id, reason, rule):
    """Assert that the debate was ruled REJECT for a reason, and that the cycle says so."""
    assert ruling(table) == ("REJECT", reason, rule)
    assert outcome(table, case_id) == "rejected"
    assert debate_result(table) == "REJECT"


def debate_result(table):
    state = next(s for s in table.docket.cases.values() if s.kind == "cycle")
    return state.result


# ---------------------------------------------------------------- 1.1: the standard debate


def test_a_standard_debate_takes_two_rounds_a_verdict_a_backtest_and_a_record():
    table, case_id = opened()
    two_rounds(table)
    judge(table)
    backtest(table)
    move(table)
    record(table)
    report(table)
    assert table.kinds()[2:] == [
        "HYPOTHESIS",
        "RISK_ASSESSMENT",
        "REBUTTAL",
        "RISK_ASSESSMENT",
        "VERDICT",
        "BACKTEST_RESULT",
        "STRATEGY_MOVED",
        "CAUSAL_RECORD",
        "MICRO_CYCLE_REPORT",
        "HEALTH_CHECK",
    ]
    assert outcome(table, case_id) == "approved"
    assert not table.docket.cases
    assert not table.docket.open


def test_a_rejected_debate_ends_with_the_evolvers_reflection():
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    assert outcome(table, case_id) == "rejected"
    assert debate_result(table) == "REJECT"


def test_a_failed_backtest_goes_to_the_record_without_a_move():
    table, case_id = reach(Phase.BACKTESTING)
    backtest(table, passed=False)
    assert debate(table, case_id).phase == Phase.RECORDING
    record(table, "failure")
    assert outcome(table, case_id) == "backtest_failed"
    assert debate_result(table) == "APPROVE"


@pytest.mark.parametrize(("passed", "kind"), [(True, "failure"), (False, "success"), (True, "observation")])
def test_the_record_says_what_the_backtest_was(passed, kind):
    table, case_id = reach(Phase.BACKTESTING)
    backtest(table, passed)
    if passed:
        move(table)
    env = record(table, kind)
    assert beside(table, env).field == "record.kind"
    assert debate(table, case_id).phase == Phase.RECORDING


@pytest.mark.rule("R-D13")
@pytest.mark.parametrize("kind", ["success", "timeout", "observation"])
def test_r_d13_the_reflection_on_a_rejection_is_of_a_failure(kind):
    table, case_id = reach(Phase.REFLECTING)
    assert beside(table, reflect(table, kind=kind)).field == "record.kind"
    assert debate(table, case_id).phase == Phase.REFLECTING


@pytest.mark.rule("R-D13")
@pytest.mark.parametrize("field", ["hypothesis_id", "lineage_id"])
@pytest.mark.parametrize(("phase", "write"), [(Phase.RECORDING, record), (Phase.REFLECTING, reflect)])
def test_r_d13_a_record_tells_of_its_own_debate(phase, write, field):
    table, case_id = reach(phase)
    env = write(table, **{field: "hyp_20200101_0000"})
    assert (beside(table, env).rule, beside(table, env).field) == ("R-D13", f"record.{field}")
    assert debate(table, case_id).phase == phase
    write(table, **{field: case_id})


@pytest.mark.rule("R-D13")
@pytest.mark.parametrize(("phase", "write"), [(Phase.RECORDING, record), (Phase.REFLECTING, reflect)])
def test_r_d13_a_record_names_the_archetype_that_was_tried(phase, write):
    table, case_id = reach(phase)
    env = write(table, archetype="nope")
    assert (beside(table, env).rule, beside(table, env).field) == ("R-D13", "record.archetype")
    assert debate(table, case_id).phase == phase
    write(table, archetype=None)
    assert outcome(table, case_id)


@pytest.mark.rule("R-D15")
def test_r_d15_a_record_has_the_sharpe_ratio_of_the_test():
    table, case_id = reach(Phase.RECORDING)
    sharpe = debate(table, case_id).sharpe
    env = record(table, metrics={"test_sharpe": sharpe + 0.01})
    assert (beside(table, env).rule, beside(table, env).field) == ("R-D15", "record.metrics.test_sharpe")
    record(table, metrics={"test_sharpe": sharpe})
    assert outcome(table, case_id)
    assert case_id in table.docket.ended


@pytest.mark.rule("R-D13")
def test_r_d13_a_record_of_a_linked_case_tells_of_either():
    for tells_of_old in (True, False):
        table, case_id = reach(Phase.REFLECTING)
        reflect(table)
        body = Override(case_id=case_id, verdict="APPROVE", why="yes")
        env = table.say(ADMIN, body, channel="#a-verdict", case_id=case_id)
        backtest(table)
        move(table)
        linked = env.body.override_id
        record(table, hypothesis_id=case_id if tells_of_old else linked)
        assert outcome(table, linked) == "approved"


@pytest.mark.rule("R-D20")
def test_r_d20_the_move_names_no_other_debate():
    table, case_id = reach(Phase.MOVING)
    env = move(table, hypothesis_id="hyp_20200101_0000")
    assert (beside(table, env).rule, beside(table, env).field) == ("R-D20", "hypothesis_id")
    assert debate(table, case_id).phase == Phase.MOVING
    move(table, hypothesis_id=case_id)
    assert debate(table, case_id).phase == Phase.RECORDING


@pytest.mark.parametrize("to", ["staging", "production", "withdrawn"])
def test_system_a_moves_a_strategy_to_the_candidates_only(to):
    table, case_id = reach(Phase.MOVING)
    assert beside(table, move(table, to=to)).field == "to"
    assert debate(table, case_id).phase == Phase.MOVING


def test_the_strategy_that_moves_is_the_one_that_was_approved():
    table, case_id = reach(Phase.MOVING)
    other = bodies.strategy(params={"fast": 1, "slow": 2})
    assert beside(table, move(table, strategy=other)).field == "strategy"
    move(table, strategy=debate(table, case_id).strategy)
    assert debate(table, case_id).phase == Phase.RECORDING


def test_an_operator_may_not_move_what_the_evolver_owes():
    table, case_id = reach(Phase.MOVING)
    env = table.post(OPERATOR, bodies.moved(), channel="#bridge", case_id=case_id)
    assert table.effects[-1].violation is not None
    table.officers()
    assert beside(table, env).seat == "operator"
    assert debate(table, case_id).phase == Phase.MOVING


# ---------------------------------------------------------------- 1.2: the revision


def test_a_revision_goes_from_request_to_a_final_verdict_on_the_revised_text():
    table, case_id = reach(Phase.FINAL_JUDGING)
    assert debate(table, case_id).strategy == bodies.revised().strategy
    assert debate(table, case_id).revised
    judge_finally(table)
    assert debate(table, case_id).phase == Phase.BACKTESTING


def test_a_final_reject_ends_with_a_reflection():
    table, case_id = reach(Phase.FINAL_JUDGING)
    judge_finally(table, "REJECT")
    reflect(table)
    assert outcome(table, case_id) == "rejected"


@pytest.mark.parametrize("rounds", [0, 2, 3])
def test_there_is_one_revision_round(rounds):
    table, case_id = reach(Phase.REQUESTING)
    assert beside(table, request(table, max_revision_rounds=rounds)).field == "max_revision_rounds"
    assert debate(table, case_id).phase == Phase.REQUESTING


@pytest.mark.parametrize("form", ["VERDICT", "REVISE_REQUEST", "FINAL_VERDICT"])
@pytest.mark.parametrize("phase", [Phase.REQUESTING, Phase.REVISING, Phase.REASSESSING, Phase.FINAL_JUDGING])
def test_a_second_revise_is_refused_and_rules_reject_whatever_its_form(form, phase):
    table, case_id = reach(phase)
    if form == "REVISE_REQUEST":
        if phase == Phase.REQUESTING:
            request(table)
        body, channel = bodies.revise_request(), "#a-arena"
    else:
        body, channel = bodies.verdict("REVISE", 0.7, final=form == "FINAL_VERDICT"), "#a-verdict"
    env = table.say(EVOLVER, body, channel=channel, case_id=case_id)
    assert beside(table, env).rule == "R-D9"
    assert [e.body.type for e in table.log[env.seq : env.seq + 3]] == ["VIOLATION", "RULING", "REFLECTION"]
    assert table.log[env.seq + 2].body.record.summary == "ruled REJECT: revise cap"
    rejected(table, case_id, "revise_cap", "R-D9")


def test_a_second_revise_by_a_final_verdict_is_the_cap_even_in_conservative_mode():
    table, case_id = reach(Phase.FINAL_JUDGING)
    table.docket.context.conservative_a = True
    judge_finally(table, "REVISE", 0.3)
    rejected(table, case_id, "revise_cap", "R-D9")


def test_a_verdict_of_approve_during_a_revision_is_a_plain_violation():
    table, case_id = reach(Phase.REASSESSING)
    env = table.say(EVOLVER, bodies.verdict(), channel="#a-verdict", case_id=case_id)
    assert beside(table, env).rule == "1.1"
    assert debate(table, case_id).phase == Phase.REASSESSING


@pytest.mark.parametrize(("elapsed_min", "is_allowed"), [(114.999, True), (115, True), (115.001, False)])
def test_a_revise_is_allowed_while_thirty_five_minutes_are_left_of_the_cycle(elapsed_min, is_allowed):
    table, case_id = opened()
    table.until(START + timedelta(minutes=20))
    assess(table)
    table.until(START + timedelta(minutes=45))
    rebut(table)
    table.until(START + timedelta(minutes=70))
    assess(table, 2)
    table.until(START + timedelta(minutes=95))
    extend(table)
    table.until(START + timedelta(minutes=100))
    concede(table, 3)
    table.until(START + timedelta(minutes=elapsed_min))
    env = judge(table, "REVISE", 0.7)
    if is_allowed:
        assert debate(table, case_id).phase == Phase.REQUESTING
    else:
        assert beside(table, env).rule == "R-D6"
        rejected(table, case_id, "cycle_budget", "R-D6")


# ---------------------------------------------------------------- 1.3: the extension


def test_an_extended_debate_has_a_third_round_and_then_a_verdict():
    table, case_id = reach(Phase.ASSESSING_3)
    assert debate(table, case_id).extended
    assess(table, 3)
    state = debate(table, case_id)
    assert (state.phase, state.rounds, state.ended_by) == (Phase.JUDGING, 3, "rounds")
    assert state.owed[0].expects == ("VERDICT",)
    judge(table)
    assert debate(table, case_id).phase == Phase.BACKTESTING


@pytest.mark.parametrize("alpha", [0.55, 0.65, 0.75])
@pytest.mark.parametrize("risk", [0.55, 0.65, 0.75])
def test_both_scores_within_the_band_ends_included_extend(alpha, risk):
    table, case_id = reach(Phase.JUDGING)
    extend(table, alpha, risk)
    assert debate(table, case_id).phase == Phase.REBUTTING_3


@pytest.mark.parametrize(
    ("alpha", "risk", "field"),
    [
        (0.549999, 0.6, "alpha_argument_score"),
        (0.750001, 0.6, "alpha_argument_score"),
        (0.6, 0.549999, "risk_argument_score"),
        (0.6, 0.750001, "risk_argument_score"),
        (0.0, 1.0, "alpha_argument_score"),
    ],
)
def test_a_score_outside_the_band_does_not_extend(alpha, risk, field):
    table, case_id = reach(Phase.JUDGING)
    env = extend(table, alpha, risk)
    assert (beside(table, env).rule, beside(table, env).field) == ("1.3", field)
    assert debate(table, case_id).phase == Phase.JUDGING
    extend(table)
    assert debate(table, case_id).phase == Phase.REBUTTING_3


@pytest.mark.parametrize("rounds", [0, 2])
def test_an_extension_is_one_round(rounds):
    table, case_id = reach(Phase.JUDGING)
    assert beside(table, extend(table, extra_rounds=rounds)).field == "extra_rounds"
    assert debate(table, case_id).phase == Phase.JUDGING


@pytest.mark.parametrize("phase", [Phase.REBUTTING_3, Phase.ASSESSING_3])
def test_a_second_extension_is_a_violation_during_the_third_round(phase):
    table, case_id = reach(phase)
    env = table.say(EVOLVER, bodies.extend(), channel="#a-arena", case_id=case_id)
    assert beside(table, env).rule == "R-D5"
    assert debate(table, case_id).phase == phase


def test_a_second_extension_is_a_violation_after_the_third_round():
    table, case_id = reach(Phase.ASSESSING_3)
    assess(table, 3)
    assert beside(table, extend(table)).rule == "R-D5"
    assert debate(table, case_id).phase == Phase.JUDGING


@pytest.mark.parametrize("phase", [Phase.ASSESSING_1, Phase.REBUTTING_2, Phase.ASSESSING_2])
def test_an_extension_before_two_full_rounds_is_a_violation(phase):
    table, case_id = reach(phase)
    beside(table, table.say(EVOLVER, bodies.extend(), channel="#a-arena", case_id=case_id))
    assert debate(table, case_id).phase == phase


@pytest.mark.parametrize("ending", ["concede", "confidence", "timeout"])
def test_what_ended_before_two_full_rounds_is_not_extended(ending):
    table, case_id = opened()
    if ending == "confidence":
        assess(table, confidence=0.9)
    elif ending == "concede":
        assess(table)
        concede(table)
    else:
        table.wait(minutes=31)
    state = debate(table, case_id)
    assert (state.phase, state.ended_by) == (Phase.JUDGING, ending)
    assert state.owed[0].expects == ("VERDICT",)
    assert beside(table, extend(table)).rule == "R-D5"


@pytest.mark.parametrize(("minute", "is_allowed"), [(130, True), (130.001, False)])
def test_an_extension_is_allowed_while_twenty_minutes_are_left_of_the_cycle(minute, is_allowed):
    table = Table()
    table.until(START + timedelta(minutes=39))
    case_id = hypothesise(table)
    table.until(START + timedelta(minutes=68))
    assess(table)
    table.until(START + timedelta(minutes=97))
    rebut(table)
    table.until(START + timedelta(minutes=126))
    assess(table, 2)
    table.until(START + timedelta(minutes=minute))
    env = extend(table)
    if is_allowed:
        assert debate(table, case_id).phase == Phase.REBUTTING_3
    else:
        assert beside(table, env).rule == "R-D6"
        assert debate(table, case_id).phase == Phase.JUDGING


def test_judging_that_starts_too_late_for_an_extension_does_not_ask_for_one():
    table = Table()
    table.until(START + timedelta(minutes=39))
    case_id = hypothesise(table)
    for minute, say in ((68, assess), (97, rebut)):
        table.until(START + timedelta(minutes=minute))
        say(table)
    table.wait(minutes=26)
    table.until(START + timedelta(minutes=97 + 29))
    table.until(START + timedelta(minutes=126, seconds=59))
    assess(table, 2)
    assert debate(table, case_id).owed[0].expects == ("VERDICT", "EXTEND_DEBATE")
    table.until(START + timedelta(minutes=131))
    assert beside(table, extend(table)).rule == "R-D6"


# ---------------------------------------------------------------- 1.4: convergence


@pytest.mark.parametrize(("confidence", "ends"), [(0.85, False), (0.850001, True), (1.0, True)])
@pytest.mark.parametrize("rating", ["PASS", "REJECT"])
def test_confidence_strictly_above_085_ends_the_debate_in_either_direction(confidence, ends, rating):
    table, case_id = opened()
    assess(table, 1, confidence, risk_rating=rating)
    state = debate(table, case_id)
    assert state.phase == (Phase.JUDGING if ends else Phase.REBUTTING_2)
    assert state.ended_by == ("confidence" if ends else "")


def test_confidence_is_rounded_to_six_digits_before_it_is_compared():
    table, case_id = opened()
    assess(table, 1, 0.8500004)
    assert debate(table, case_id).phase == Phase.REBUTTING_2


def test_a_clear_signal_in_the_second_round_ends_it_by_confidence():
    table, case_id = reach(Phase.ASSESSING_2)
    assess(table, 2, 0.9)
    assert debate(table, case_id).ended_by == "confidence"


def test_a_clear_signal_in_a_revision_changes_nothing():
    table, case_id = reach(Phase.REASSESSING)
    assess(table, "revision", 0.99)
    assert debate(table, case_id).phase == Phase.FINAL_JUDGING


@pytest.mark.parametrize(("phase", "round"), [(Phase.REBUTTING_2, 2), (Phase.REBUTTING_3, 3)])
def test_a_concession_ends_the_debate(phase, round):
    table, case_id = reach(phase)
    concede(table, round)
    state = debate(table, case_id)
    assert (state.phase, state.ended_by) == (Phase.JUDGING, "concede")


@pytest.mark.parametrize("phase", OPEN)
def test_silence_is_pinged_and_then_ruled_on_at_the_exact_instants(phase):
    table, case_id = reach(phase)
    duty, state = STEP_OF[phase], debate(table, case_id)
    owed = state.owed[0]
    table.until(table.now + duty.within - TICK)
    assert "TIMEOUT_PING" not in table.kinds()
    table.until(table.now + TICK)
    ping = table.log[-1]
    assert ping.body == TimeoutPing(
        obligation_id=owed.id, seat=owed.seat, waited_min=duty.within / timedelta(minutes=1)
    )
    assert (ping.sent_at, ping.channel, ping.case_id) == (owed.due_at, owed.channel, case_id)
    table.until(table.now + duty.grace - TICK)
    assert table.log[-1] is ping
    table.until(table.now + TICK)
    env = table.log[ping.seq]
    assert env.sent_at == owed.void_at == owed.opened_at + duty.within + duty.grace
    missed = STEP_OF[phase].missed
    assert (env.body.outcome, env.body.reason, env.body.rule) == missed.decision(state)
    assert env.body.obligation_id == owed.id
    assert table.effects[env.seq - 1].voided.id == owed.id
    if missed.move.to == (Phase.ENDED,):
        assert case_id in table.docket.ended
    else:
        assert (debate(table, case_id).phase,) == missed.move.to


@pytest.mark.parametrize("phase", OPEN)
def test_each_silence_is_written_to_the_reflections_and_to_admin(phase):
    table, case_id = reach(phase)
    seat = STEP_OF[phase].seat
    table.wait(minutes=31)
    entry = table.last("REFLECTION")
    assert (entry.channel, entry.author, entry.body.record.kind) == ("#a-report", REFEREE, "timeout")
    assert (entry.body.record.seat, entry.body.record.hypothesis_id) == (seat, case_id)
    audit = table.last("AUDIT")
    assert (audit.channel, audit.body.event, audit.body.seat) == ("#admin", "timeout", seat)


@pytest.mark.parametrize("phase", OPEN)
def test_an_answer_in_the_grace_period_still_counts(phase):
    table, case_id = reach(phase)
    table.until(table.now + STEP_OF[phase].within + STEP_OF[phase].grace - TICK)
    assert table.log[-1].body.type == "TIMEOUT_PING"
    _answer(table, phase)
    assert "RULING" not in table.kinds()
    assert case_id in table.docket.ended or debate(table, case_id).phase != phase


@pytest.mark.rule("K5")
@pytest.mark.parametrize("phase", OPEN)
def test_k5_an_answer_counts_until_the_ruling_stands(phase):
    table, case_id = reach(phase)
    table.wait(minutes=0)
    table.now += STEP_OF[phase].within
    table.officers()
    table.now += timedelta(hours=1) if phase not in BUDGETED else timedelta(minutes=20)
    drafts = [d for d in table.docket.due(table.now) if isinstance(d.body, Ruling)]
    env = _answer(table, phase, say=table.post)
    assert table.effects[env.seq - 1].violation is None
    assert table.effects[env.seq - 1].settled is not None
    for draft in drafts:  # they were under way when the answer came
        table.publish(draft)
        assert table.effects[-1].superseded
        assert table.effects[-1].decision is None
    assert case_id in table.docket.ended or debate(table, case_id).phase != phase


def _answer(table, phase, say=None):
    round_ = {Phase.REBUTTING_2: 2, Phase.REBUTTING_3: 3}.get(phase)
    body = {
        "critic": lambda: bodies.assessment(
            {Phase.ASSESSING_1: 1, Phase.ASSESSING_2: 2, Phase.ASSESSING_3: 3}.get(phase, "revision")
        ),
        "explorer": lambda: bodies.rebuttal(round_) if round_ else bodies.revised(),
        "evolver": lambda: {
            "VERDICT": bodies.verdict("REJECT"),
            "FINAL_VERDICT": bodies.verdict("REJECT", final=True),
            "REVISE_REQUEST": bodies.revise_request(),
            "BACKTEST_RESULT": bodies.backtest(),
            "STRATEGY_MOVED": bodies.moved(),
            "CAUSAL_RECORD": m.CausalRecord(record=bodies.entry("success")),
            "REFLECTION": m.Reflection(record=bodies.entry()),
        }[STEP_OF[phase].expects[0]],
    }[STEP_OF[phase].seat]()
    return (say or table.say)(STEP_OF[phase].seat, body)


@pytest.mark.parametrize("phase", OPEN)
def test_a_late_answer_is_marked_late_and_changes_nothing(phase):
    table, case_id = reach(phase)
    owed = debate(table, case_id).owed[0]
    table.wait(minutes=31)
    before = table.docket.cases.get(case_id)
    attempts = dict(table.docket.attempts)
    env = _late_answer(table, phase, owed)
    fx = table.effects[env.seq - 1]
    assert isinstance(fx.violation, Late)
    assert fx.retried is None
    assert beside(table, env).rule == "K5"
    assert beside(table, env).why.startswith("late")
    assert table.docket.cases.get(case_id) == before
    assert table.docket.attempts == attempts


def _late_answer(table, phase, owed):
    return _answer(table, phase, say=lambda seat, body: table.say(seat, body, owed=owed))


# ---------------------------------------------------------------- R-D6, R-D1: the budget


@pytest.mark.parametrize("phase", [Phase.REBUTTING_2, Phase.ASSESSING_2, Phase.JUDGING])
def test_at_150_minutes_the_referee_rejects_what_has_no_verdict(phase):
    table, case_id = opened()
    table.now = START + timedelta(minutes=150) - TICK
    WAYS[phase](table)
    table.officers()
    assert debate(table, case_id).phase == phase
    table.until(START + timedelta(minutes=150))
    rejected(table, case_id, "cycle_budget", "R-D1")
    env = table.last("RULING")
    assert env.sent_at == START + timedelta(minutes=150)
    assert table.effects[env.seq - 1].voided is None
    assert table.effects[env.seq - 1].settled.seat == REFEREE


def test_the_budget_counts_from_the_start_of_the_cycle_however_late_the_hypothesis_is():
    table = Table()
    table.until(START + timedelta(minutes=25))
    case_id = hypothesise(table)
    (budget,) = (owed for owed in debate(table, case_id).owed if owed.seat == REFEREE)
    assert budget.due_at == START + timedelta(minutes=150)


def test_the_budget_of_an_extended_debate_is_still_150_minutes():
    table, case_id = opened()
    table.until(START + timedelta(minutes=29))
    assess(table)
    table.until(START + timedelta(minutes=58))
    rebut(table)
    table.until(START + timedelta(minutes=87))
    assess(table, 2)
    table.until(START + timedelta(minutes=116))
    extend(table)
    table.until(START + timedelta(minutes=135))
    rebut(table, 3)
    table.until(START + timedelta(minutes=150))
    rejected(table, case_id, "cycle_budget", "R-D1")


def test_the_budget_does_not_run_over_a_verdict_in_effect():
    table, case_id = reach(Phase.BACKTESTING)
    assert [o.seat for o in debate(table, case_id).owed] == [EVOLVER]


# ---------------------------------------------------------------- R-D7, R-D8, R-D10: verdicts


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize(
    ("over", "reason", "rule"),
    [
        ({"confidence": 0.599999}, "low_confidence", "R-D7"),
        ({"confidence": 0.0}, "low_confidence", "R-D7"),
        ({"alpha_argument_score": 0.7, "risk_argument_score": 0.650001}, "tie", "R-D8"),
        ({"alpha_argument_score": 0.65, "risk_argument_score": 0.699999}, "tie", "R-D8"),
        ({"alpha_argument_score": 0.5, "risk_argument_score": 0.5}, "tie", "R-D8"),
        ({"alpha_argument_score": 0.3, "risk_argument_score": 0.7}, "outweighed", "R-F9"),
        ({"next_action": "archive"}, "next_action", "R-F9"),
    ],
)
def test_an_approve_that_must_not_be_is_a_violation_and_rules_reject(final, over, reason, rule):
    table, case_id = reach(Phase.FINAL_JUDGING if final else Phase.JUDGING)
    env = (judge_finally if final else judge)(table, **over)
    assert beside(table, env).rule == rule
    rejected(table, case_id, reason, rule)


def test_an_approve_while_a_fatal_flaw_stands_is_a_violation_and_rules_reject():
    table, case_id = opened()
    assess(table, fatal_flaws=("it looks ahead",))
    table.until(START + timedelta(minutes=30))
    env = judge(table)
    assert beside(table, env).rule == "R-F9"
    rejected(table, case_id, "fatal_flaw", "R-F9")


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize(
    "over",
    [
        {"confidence": 0.6},
        {"alpha_argument_score": 0.7, "risk_argument_score": 0.65},
    ],
)
def test_an_approve_at_the_boundary_stands(final, over):
    table, case_id = reach(Phase.FINAL_JUDGING if final else Phase.JUDGING)
    (judge_finally if final else judge)(table, **over)
    assert debate(table, case_id).phase == Phase.BACKTESTING


@pytest.mark.parametrize("confidence", [0.0, 0.3, 1.0])
def test_reject_is_always_legal(confidence):
    table, case_id = opened()
    table.wait(minutes=31)
    judge(table, "REJECT", confidence, alpha_argument_score=0.5, risk_argument_score=0.5)
    assert debate(table, case_id).phase == Phase.REFLECTING


def test_a_verdict_below_06_may_be_a_revise():
    table, case_id = reach(Phase.JUDGING)
    judge(table, "REVISE", 0.1)
    assert debate(table, case_id).phase == Phase.REQUESTING


def test_without_any_assessment_approve_is_illegal():
    table, case_id = opened()
    table.wait(minutes=31)
    judge(table)
    rejected(table, case_id, "no_assessment", "R-D10")


def test_after_a_revision_without_its_assessment_approve_is_illegal():
    table, case_id = reach(Phase.REASSESSING)
    table.wait(minutes=21)
    assert debate(table, case_id).phase == Phase.FINAL_JUDGING
    judge_finally(table)
    rejected(table, case_id, "no_assessment", "R-D10")


@pytest.mark.parametrize("round", [2, 3])
def test_a_change_in_a_rebuttal_is_what_is_debated_from_there_on(round):
    table, case_id = reach(Phase.REBUTTING_2 if round == 2 else Phase.REBUTTING_3)
    before, changed = debate(table, case_id).strategy, bodies.strategy(params={"fast": 33, "slow": 60})
    assert before != changed
    rebut(table, round, modifications=("faster",), strategy=changed)
    assert debate(table, case_id).strategy == changed
    assess(table, round)
    judge(table)
    backtest(table)
    assert beside(table, move(table, strategy=before)).field == "strategy"
    move(table, strategy=changed)
    assert debate(table, case_id).phase == Phase.RECORDING


def test_after_a_change_without_its_assessment_approve_is_illegal():
    table, case_id = reach(Phase.REBUTTING_2)
    rebut(table, modifications=("faster",), strategy=bodies.strategy(params={"fast": 33, "slow": 60}))
    table.wait(minutes=31)
    assert debate(table, case_id).phase == Phase.JUDGING
    judge(table)
    rejected(table, case_id, "no_assessment", "R-D10")


def test_a_flaw_of_the_strategy_as_it_was_does_not_stand_after_a_change():
    table, case_id = opened()
    assess(table, fatal_flaws=("it loses",))
    rebut(table, modifications=("faster",), strategy=bodies.strategy(params={"fast": 33, "slow": 60}))
    assess(table, 2)
    judge(table)
    assert debate(table, case_id).phase == Phase.BACKTESTING


TOLD = {
    "alpha": 0.99,
    "risk": 0.99,
    "confidence": 0.99,
    "revised": 1,
    "extended": 1,
    "param.fast": 999,
    "symbol.sp500": 7,
    "score.tail_risk": 0.99,
    "test_sharpe": 9.9,
    "test_drawdown": 0.99,
    "test_trades": 999,
}
"""Figures that the log determines, each with a value that it does not say."""


@pytest.mark.rule("R-D13")
@pytest.mark.parametrize("name", TOLD)
def test_r_d13_a_record_tells_no_other_figure_than_the_log(name):
    table, case_id = reach(Phase.RECORDING)
    env = record(table, metrics={name: TOLD[name]})
    rule = "R-D15" if name.startswith("test_") else "R-D13"
    assert (beside(table, env).rule, beside(table, env).field) == (rule, f"record.metrics.{name}")
    assert debate(table, case_id).phase == Phase.RECORDING
    record(table, metrics={"my_own": TOLD[name]})
    assert outcome(table, case_id) == "approved"


@pytest.mark.rule("R-D13")
def test_r_d13_a_brief_says_what_a_record_must_say():
    table, case_id = reach(Phase.RECORDING)
    (owed,) = debate(table, case_id).owed
    said = table.docket.rules.types["debate"].brief(debate(table, case_id), owed, table.docket.context)
    assert TOLD.keys() <= said["record"]["metrics"].keys()
    record(table, metrics=said["record"]["metrics"])
    assert outcome(table, case_id) == "approved"


def test_with_the_first_assessment_alone_approve_is_legal():
    table, case_id = reach(Phase.ASSESSING_2)
    table.wait(minutes=31)
    judge(table)
    assert debate(table, case_id).phase == Phase.BACKTESTING


def test_without_a_rebuttal_the_debate_goes_to_the_evolver():
    table, case_id = reach(Phase.REBUTTING_2)
    table.wait(minutes=31)
    state = debate(table, case_id)
    assert (state.phase, state.ended_by) == (Phase.JUDGING, "timeout")
    assert ruling(table) == ("void", "timeout", "1.4")


@pytest.mark.parametrize("phase", [Phase.JUDGING, Phase.REVISING, Phase.FINAL_JUDGING, Phase.REQUESTING])
def test_a_silent_evolver_or_a_missing_revision_is_a_reject(phase):
    table, case_id = reach(phase)
    table.wait(minutes=31)
    rejected(table, case_id, "timeout", "R-D10")


# ---------------------------------------------------------------- R-B8: conservative mode


@pytest.mark.parametrize(("confidence", "stands"), [(0.749999, False), (0.75, True)])
@pytest.mark.parametrize("verdict", ["APPROVE", "REVISE"])
def test_conservative_mode_rejects_what_is_below_075(confidence, stands, verdict):
    table, case_id = reach(Phase.JUDGING)
    table.docket.context.conservative_a = True
    judge(table, verdict, confidence)
    if stands:
        assert debate(table, case_id).phase in (Phase.BACKTESTING, Phase.REQUESTING)
    else:
        rejected(table, case_id, "conservative", "R-B8")


def test_conservative_mode_outranks_low_confidence():
    table, case_id = reach(Phase.JUDGING)
    table.docket.context.conservative_a = True
    judge(table, "APPROVE", 0.5)
    rejected(table, case_id, "conservative", "R-B8")


# ---------------------------------------------------------------- K10: consequences


@pytest.mark.rule("K10")
def test_k10_a_violation_changes_nothing_by_itself():
    table, case_id = reach(Phase.JUDGING)
    before = debate(table, case_id)
    env = table.post(CRITIC, bodies.assessment(2), channel="#a-arena", case_id=case_id)
    assert table.effects[-1].violation is not None
    assert debate(table, case_id) is before
    assert [d.body.type for d in table.docket.due(table.now)] == ["VIOLATION"]
    assert env.seq == table.docket.seq


@pytest.mark.rule("K10")
def test_k10_a_case_with_a_consequence_waits_for_the_ruling_and_only_that_ends_it():
    table, case_id = reach(Phase.JUDGING)
    env = table.post(EVOLVER, bodies.verdict(confidence=0.1))
    fx = table.effects[-1]
    assert isinstance(fx.violation, Consequential)
    assert (fx.settled, fx.retried) == (None, None)
    assert [o.seat for o in fx.closed] == [EVOLVER]
    assert debate(table, case_id).phase == Phase.JUDGING
    assert table.docket.waiting == {case_id: ("REJECT", "low_confidence", "R-D7")}
    assert [d.body.type for d in table.docket.due(table.now)] == ["VIOLATION", "RULING"]
    second = table.post(EVOLVER, bodies.verdict(), channel="#a-verdict", case_id=case_id)
    assert table.effects[-1].violation.rule == "K10"
    override = table.post(
        ADMIN, Override(case_id=case_id, verdict="APPROVE", why="no"), channel="#a-verdict", case_id=case_id
    )
    assert table.effects[-1].violation.rule == "K10"
    table.officers()
    rejected(table, case_id, "low_confidence", "R-D7")
    assert {e.body.of_seq for e in table.log if e.body.type == "VIOLATION"} == {
        env.seq,
        second.seq,
        override.seq,
    }
    assert not table.docket.waiting


def test_a_ruled_reject_is_written_to_the_reflections():
    table, case_id = reach(Phase.JUDGING)
    judge(table, confidence=0.1)
    entry = table.last("REFLECTION").body.record
    assert (entry.kind, entry.failure_code, entry.hypothesis_id) == ("failure", "low_confidence", case_id)
    assert "AUDIT" not in table.kinds()


# ---------------------------------------------------------------- K1: attempts


@pytest.mark.rule("K1")
def test_k1_a_corrected_answer_has_the_next_attempt_and_counts():
    table, case_id = opened()
    first = assess(table, 2)
    owed = table.owed(CRITIC, "RISK_ASSESSMENT")
    assert beside(table, first).field == "round"
    assert table.effects[first.seq - 1].retried == owed
    assert table.docket.attempts == {owed.id: 1}
    second = assess(table, 3)
    assert table.docket.attempts == {owed.id: 2}
    third = assess(table, 1)
    assert (first.id, second.id, third.id) == tuple(f"{owed.id}/{n}" for n in range(3))
    assert table.docket.attempts == {}
    assert debate(table, case_id).phase == Phase.REBUTTING_2


@pytest.mark.rule("K1")
def test_k1_an_answer_may_not_be_given_for_another_obligation():
    table, case_id = opened()
    owed = table.owed(CRITIC, "RISK_ASSESSMENT")
    body = bodies.assessment()
    for wrong in ("hyp_20260223_0900/assessment-1/critic", f"{case_id}/assessment-2/critic"):
        env = table.post(CRITIC, body, owed=replace(owed, id=wrong))
        assert table.effects[-1].violation.rule == "K1"
        assert env.obligation_id == wrong
    assert debate(table, case_id).phase == Phase.ASSESSING_1
    table.officers()
    assess(table)
    assert debate(table, case_id).phase == Phase.REBUTTING_2


@pytest.mark.parametrize("wrong", [CRITIC, EVOLVER])
def test_a_wrong_seat_is_refused_at_the_gate(wrong):
    table = Table()
    with pytest.raises(Forbidden):
        table.post(wrong, bodies.hypothesis(cycle_of(table)), channel="#a-arena")


@pytest.mark.parametrize("channel", ["#a-verdict", "#b-ops", "#admin", "#nowhere"])
def test_a_wrong_channel_is_refused_at_the_gate(channel):
    table, _ = opened()
    with pytest.raises(Forbidden):
        table.post(CRITIC, bodies.assessment(), channel=channel)


def test_a_stale_case_is_refused():
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    env = table.say(CRITIC, bodies.assessment(), channel="#a-arena", case_id=case_id)
    assert beside(table, env).rule == "K23"
    env = table.say(CRITIC, bodies.assessment(), channel="#a-arena", case_id="hyp_20200101_0000")
    assert beside(table, env).rule == "K9"


def test_a_second_answer_is_refused():
    table, case_id = opened()
    assess(table)
    env = table.say(CRITIC, bodies.assessment(), channel="#a-arena", case_id=case_id)
    assert beside(table, env).rule == "1.1"
    assert debate(table, case_id).phase == Phase.REBUTTING_2


# ---------------------------------------------------------------- officers' faults


@pytest.mark.rule("K5")
def test_k5_a_ruling_before_the_grace_is_over_is_a_fault():
    table, case_id = opened()
    table.wait(minutes=29)
    early = _void_draft(table, case_id)
    with pytest.raises(OfficerFault, match="before its grace is over"):
        table.publish(early)


@pytest.mark.rule("K5")
@pytest.mark.parametrize("late", [5, 10, 45])
def test_k5_a_late_ping_leaves_the_whole_grace(late):
    table, case_id = opened()
    owed = debate(table, case_id).owed[0]
    table.now = owed.due_at + timedelta(minutes=late)
    table.officers()
    assert (table.log[-1].body.type, table.log[-1].sent_at) == ("TIMEOUT_PING", table.now)
    table.until(table.now + owed.grace - TICK)
    assert debate(table, case_id).phase == Phase.ASSESSING_1
    table.until(table.now + TICK)
    assert debate(table, case_id).phase == Phase.JUDGING
    assert table.docket.deadlines.pinged == {}


@pytest.mark.rule("K5")
def test_k5_a_ruling_of_before_that_took_its_pings_lateness_from_the_grace_counts():
    table, case_id = opened()
    owed = debate(table, case_id).owed[0]
    table.now = owed.due_at + timedelta(minutes=5)
    table.officers()
    table.now = owed.void_at
    table.publish(_void_draft(table, case_id))
    assert debate(table, case_id).phase == Phase.JUDGING


@pytest.mark.rule("K5")
def test_k5_a_ping_before_the_time_is_a_fault():
    table, case_id = opened()
    owed = debate(table, case_id).owed[0]

    table.now = owed.due_at - TICK
    with pytest.raises(OfficerFault, match="before"):
        table.publish(ping_of(owed))


@pytest.mark.rule("K5")
def test_k5_a_second_ping_is_a_fault():

    table, case_id = opened()
    table.wait(minutes=25)
    with pytest.raises(OfficerFault, match="pinged"):
        table.publish(replace(ping_of(debate(table, case_id).owed[0]), key="ping/again"))


@pytest.mark.rule("K5")
def test_k5_a_ruling_without_a_ping_is_a_fault():
    table, case_id = opened()
    table.now += timedelta(minutes=31)
    with pytest.raises(OfficerFault, match="TIMEOUT_PING"):
        table.publish(_void_draft(table, case_id))


@pytest.mark.rule("K5")
@pytest.mark.parametrize(
    "over", [{"outcome": "REJECT"}, {"reason": "revise_cap"}, {"rule": "1.4"}, {"outcome": "conservative"}]
)
def test_k5_a_ruling_that_says_something_else_is_a_fault(over):

    table, case_id = opened()
    table.wait(minutes=25)
    table.now = debate(table, case_id).owed[0].void_at
    draft = _void_draft(table, case_id)
    draft = replace(draft, body=draft.body.model_copy(update=over))
    with pytest.raises(OfficerFault, match="tables derive"):
        table.publish(draft)


@pytest.mark.rule("K5")
def test_k5_a_budget_ruling_before_its_time_is_a_fault():

    table, case_id = opened()
    table.wait(minutes=10)
    with pytest.raises(OfficerFault, match="when it is due"):
        table.publish(discharge_of(table.docket, debate(table, case_id).owed[-1]))


@pytest.mark.rule("K5")
def test_k5_a_ruling_that_nothing_asks_for_is_a_fault():

    table, case_id = opened()
    body = Ruling(obligation_id=None, case_id=case_id, outcome="REJECT", reason="tie", rule="R-D8", of_seq=1)
    draft = Draft(
        channel="#a-arena", author=REFEREE, actor=OFFICER, body=body, case_id=case_id, key="ruling/99"
    )
    with pytest.raises(OfficerFault, match="no table asks"):
        table.publish(draft)


@pytest.mark.rule("K5")
def test_k5_a_ruling_on_an_obligation_that_never_was_is_a_fault():

    table, case_id = opened()
    table.wait(minutes=31)
    owed = debate(table, case_id).owed[0]
    body = table.last("RULING").body.model_copy(update={"obligation_id": f"{case_id}/nothing/critic"})
    draft = replace(_void_draft_of(table, owed), body=body, key=f"ruling/{case_id}/nothing/critic")
    with pytest.raises(OfficerFault, match="no table asks"):
        table.publish(draft)


@pytest.mark.rule("K5")
def test_k5_a_ruling_on_what_was_answered_in_time_is_a_fault_when_it_was_never_due():
    table, case_id = opened()
    draft = _void_draft(table, case_id)
    assess(table)
    with pytest.raises(OfficerFault, match="no table asks"):
        table.publish(draft)


def _void_draft(table, case_id):
    return _void_draft_of(table, debate(table, case_id).owed[0])


def _void_draft_of(table, owed):

    return void_of(table.docket, owed)


# ---------------------------------------------------------------- R-D12, K9: openers


def test_a_second_hypothesis_in_a_cycle_is_refused():
    table, case_id = opened()
    env = table.say(EXPLORER, bodies.hypothesis(cycle_of(table)), channel="#a-arena")
    assert beside(table, env).field == "cycle_id"
    assert env.case_id == f"{case_id}_2"
    assert list(table.docket.cases) == [cycle_of(table), case_id]


def test_a_hypothesis_of_no_cycle_is_refused():
    table = Table()
    env = table.say(EXPLORER, bodies.hypothesis("cycle_20200101_0000"), channel="#a-arena")
    assert beside(table, env).rule == "K9"
    assert table.owed(EXPLORER, "HYPOTHESIS")


def test_two_hypotheses_in_one_minute_have_different_ids():
    table = Table()
    first = table.say(EXPLORER, bodies.hypothesis("cycle_20200101_0000"), channel="#a-arena")
    assert first.case_id == "hyp_20260223_1000"
    assert hypothesise(table) == "hyp_20260223_1000_2"


def test_a_late_hypothesis_is_late_while_the_report_is_owed_and_after_the_cycle_closed():
    table = Table()
    table.wait(minutes=41)
    assert debate_result(table) == "timeout"
    env = table.say(EXPLORER, bodies.hypothesis(cycle_of(table)), channel="#a-arena")
    assert isinstance(table.effects[env.seq - 1].violation, Late)
    report(table)
    assert not table.docket.cases
    env = table.say(EXPLORER, bodies.hypothesis(cycle_of(table)), channel="#a-arena")
    assert isinstance(table.effects[env.seq - 1].violation, Late)
    assert not table.docket.cases


# ---------------------------------------------------------------- K23: overrides


@pytest.mark.parametrize("phase", sorted(BUDGETED))
def test_an_override_approves_over_the_seats_heads_and_drops_the_budget(phase):
    table, case_id = reach(phase)
    table.say(
        ADMIN, Override(case_id=case_id, verdict="APPROVE", why="yes"), channel="#a-verdict", case_id=case_id
    )
    state = debate(table, case_id)
    assert (state.phase, [o.seat for o in state.owed]) == (Phase.BACKTESTING, [EVOLVER])
    assert set(table.docket.open) == {o.id for o in state.owed}
    backtest(table)
    move(table, strategy=state.strategy)
    record(table)
    assert outcome(table, case_id) == "approved"


def test_an_override_must_name_the_case_it_is_posted_to():
    table, case_id = opened()
    body = Override(case_id="hyp_20200101_0000", verdict="REJECT", why="no")
    with pytest.raises(Malformed) as caught:
        table.say(ADMIN, body, channel="#a-arena", case_id=case_id)
    assert caught.value.field == "case_id"
    assert debate(table, case_id).phase == Phase.ASSESSING_1


@pytest.mark.rule("K23")
def test_k23_an_override_of_an_ended_case_opens_a_linked_one_and_leaves_the_old_as_it_was():
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    old = table.docket.ended[case_id]
    env = table.say(
        ADMIN, Override(case_id=case_id, verdict="APPROVE", why="yes"), channel="#a-verdict", case_id=case_id
    )
    linked_id = f"ovr_{table.now:%Y%m%d_%H%M}"
    assert env.body.override_id == linked_id
    linked = debate(table, linked_id)
    assert (linked.linked, linked.phase, linked.verdict) == (case_id, Phase.BACKTESTING, "APPROVE")
    assert linked.strategy == bodies.strategy()
    assert linked.parent is None
    backtest(table)
    move(table)
    record(table)
    assert outcome(table, linked_id) == "approved"
    assert table.docket.ended[case_id] is old
    assert debate_result(table) == "REJECT"


@pytest.mark.rule("K23")
def test_k23_an_override_that_changes_nothing_is_refused():
    table, case_id = reach(Phase.REFLECTING)
    reflect(table)
    body = Override(case_id=case_id, verdict="REJECT", why="no")
    env = table.say(ADMIN, body, channel="#a-verdict", case_id=case_id)
    assert beside(table, env).rule == "K23"
    assert len(table.docket.cases) == 1


@pytest.mark.rule("K23")
def test_k23_an_override_of_a_case_that_never_was_is_refused():
    table = Table()
    body = Override(case_id="hyp_20200101_0000", verdict="REJECT", why="no")
    env = table.say(ADMIN, body, channel="#a-verdict", case_id="hyp_20200101_0000")
    assert beside(table, env).rule == "K23"


def test_an_override_of_a_cycle_is_refused():
    table = Table()
    body = Override(case_id=cycle_of(table), verdict="REJECT", why="no")
    env = table.say(ADMIN, body, channel="#a-arena", case_id=cycle_of(table))
    assert table.effects[env.seq - 1].violation is not None
    assert cycle_of(table) in table.docket.cases


def test_the_third_round_is_the_last():
    table, case_id = opened()
    third_round(table)
    rebut(table, 3)
    assess(table, 3)
    for body in (bodies.rebuttal(3), m.Concede(round=3, reason="x")):
        env = table.say(EXPLORER, body, channel="#a-arena", case_id=case_id)
        beside(table, env)
    assert debate(table, case_id).rounds == 3


def test_revise_after_an_extension_leads_to_the_same_revision():
    table, case_id = reach(Phase.ASSESSING_3)
    assess(table, 3)
    judge(table, "REVISE", 0.7)
    request(table)
    revise(table)
    assess(table, "revision")
    judge_finally(table)
    assert debate(table, case_id).phase == Phase.BACKTESTING
