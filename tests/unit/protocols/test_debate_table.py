"""The debate's tables, tested as data."""

import copy
from datetime import timedelta
from types import SimpleNamespace

import pytest

from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import ByField
from moot.protocols.kernel.people import Note, Override
from moot.protocols.kernel.seats import ADMIN, REFEREE
from moot.protocols.research import messages as m
from moot.protocols.research.debate_machine import DEBATE, OPEN
from moot.protocols.research.debate_table import AFTER_REVISE, BUDGETED, REVISED, Phase
from moot.protocols.research.seats import CRITIC as CRITIC_SEAT
from moot.protocols.research.seats import EVOLVER as EVOLVER_SEAT
from moot.protocols.research.seats import EXPLORER as EXPLORER_SEAT
from moot.protocols.rulebook import rulebook, rules
from moot.protocols.trading.seats import OPERATOR
from tests.doubles import bodies
from tests.doubles.debating import CRITIC, EVOLVER, EXPLORER, STEP_OF, debate, reach

step = DEBATE.step
MOVES = {
    (phase, str(kind.model_fields["type"].default)): move
    for phase, owed in STEP_OF.items()
    for kind, move in owed.moves.items()
}
ROUND_OF = {
    phase: figures["round"].value
    for phase, owed in STEP_OF.items()
    if not isinstance(owed.figures, ByField) and "round" in (figures := owed.figures(None, None))
}

BODIES = {
    "HYPOTHESIS": lambda round: bodies.hypothesis("cycle_20260223_1000"),
    "RISK_ASSESSMENT": lambda round: bodies.assessment(round or 1),
    "REBUTTAL": lambda round: bodies.rebuttal(round if round == 3 else 2),
    "CONCEDE": lambda round: m.Concede(round=round if round == 3 else 2, reason="true"),
    "EXTEND_DEBATE": lambda round: bodies.extend(),
    "VERDICT": lambda round: bodies.verdict("REJECT"),
    "REVISE_REQUEST": lambda round: bodies.revise_request(),
    "REVISED_HYPOTHESIS": lambda round: bodies.revised(),
    "FINAL_VERDICT": lambda round: bodies.verdict("REJECT", final=True),
    "BACKTEST_RESULT": lambda round: bodies.backtest(),
    "STRATEGY_MOVED": lambda round: bodies.moved(),
    "CAUSAL_RECORD": lambda round: m.CausalRecord(record=bodies.entry("success")),
    "REFLECTION": lambda round: m.Reflection(record=bodies.entry()),
    "MICRO_CYCLE_REPORT": lambda round: m.MicroCycleReport(
        cycle_id="c",
        hypothesis_id=None,
        verdict="REJECT",
        confidence=None,
        backtest_sharpe=None,
        daily_summary=m.DailySummary(cycles_completed=0, strategies_approved=0, strategies_rejected=0),
        next_cycle_trigger=None,
    ),
}
"""A body of every type that a debate might hear, with the round of the row it is tried on."""

AUTHOR = {
    "HYPOTHESIS": EXPLORER,
    "RISK_ASSESSMENT": CRITIC,
    "REBUTTAL": EXPLORER,
    "CONCEDE": EXPLORER,
    "REVISED_HYPOTHESIS": EXPLORER,
}


def said(table, case_id, body, author):
    return SimpleNamespace(
        body=body,
        author=author,
        case_id=case_id,
        seq=table.docket.seq + 1,
        id="x",
        obligation_id=None,
        sent_at=table.now,
        channel=rulebook().channel_of.get(body.type, "#a-arena"),
    )


@pytest.mark.parametrize("kind", sorted(BODIES))
@pytest.mark.parametrize("phase", OPEN)
def test_every_message_in_every_phase_moves_as_the_table_says_or_is_refused_and_changes_nothing(phase, kind):
    table, case_id = reach(phase)
    state = debate(table, case_id)
    before = copy.deepcopy(state)
    move = MOVES.get((phase, kind))
    env = said(table, case_id, BODIES[kind](ROUND_OF.get(phase)), AUTHOR.get(kind, EVOLVER))
    if move is None:
        with pytest.raises(Violation):
            step(state, env, table.docket.context)
    else:
        new = step(state, env, table.docket.context)
        assert new.phase != phase
        assert new.phase in move.to
        assert (new.outcome is None) == (new.phase != Phase.ENDED)
    assert state == before
    assert state.__dict__.keys() == before.__dict__.keys()


@pytest.mark.parametrize("author", [EXPLORER_SEAT, CRITIC_SEAT, EVOLVER_SEAT, OPERATOR, ADMIN])
@pytest.mark.parametrize(("phase", "kind"), sorted(MOVES))
def test_only_the_seat_that_owes_moves_a_debate(phase, kind, author):
    table, case_id = reach(phase)
    state = debate(table, case_id)
    env = said(table, case_id, BODIES[kind](ROUND_OF.get(phase)), author)
    if author == STEP_OF[phase].seat:
        assert step(state, env, table.docket.context).phase != phase
    else:
        with pytest.raises(Violation):
            step(state, env, table.docket.context)


@pytest.mark.parametrize(("phase", "kind"), sorted(key for key in MOVES if key[0] in ROUND_OF))
def test_a_message_of_another_round_is_refused_and_names_its_field(phase, kind):
    table, case_id = reach(phase)
    rounds = [1, 2, 3, "revision"] if kind == "RISK_ASSESSMENT" else [2, 3]
    for wrong in rounds:
        if wrong != ROUND_OF[phase]:
            env = said(table, case_id, BODIES[kind](wrong), STEP_OF[phase].seat)
            with pytest.raises(Violation) as caught:
                step(debate(table, case_id), env, table.docket.context)
            assert caught.value.field == "round"


@pytest.mark.parametrize("phase", OPEN)
def test_every_open_phase_is_reached_by_messages_and_owes_exactly_its_duty(phase):
    table, case_id = reach(phase)
    duty = STEP_OF[phase]
    owed = [o for o in debate(table, case_id).owed if o.seat != REFEREE]
    assert [(o.seat, o.channel, o.due_at - o.opened_at, o.grace) for o in owed] == [
        (duty.seat, duty.channel, duty.within, duty.grace)
    ]
    assert set(owed[0].expects) == set(duty.expects)
    assert owed[0].opened_at == table.now
    assert owed[0].id == f"{case_id}/{owed[0].step}/{duty.seat}"


@pytest.mark.parametrize("phase", OPEN)
def test_the_cycles_budget_runs_over_the_phases_without_a_verdict_in_effect(phase):
    table, case_id = reach(phase)
    budget = [o for o in debate(table, case_id).owed if o.seat == REFEREE]
    assert len(budget) == (phase in BUDGETED)
    for obligation in budget:
        assert obligation.due_at == table.docket.context.started_at + timedelta(minutes=150)


def test_every_open_phase_has_one_duty_of_a_seat_and_an_exit():
    seats = [step for step in DEBATE.steps.values() if step.seat != REFEREE]
    assert [step.phase for step in seats] == list(OPEN)
    for (phase, _), move in MOVES.items():
        assert phase not in move.to


def test_each_duty_may_be_done_by_its_seat_in_a_channel_it_may_write():
    matrix = rules().matrix
    for duty in STEP_OF.values():
        assert any(matrix.may_write(duty.seat, duty.channel, kind) for kind in duty.expects)
        assert all(
            any(matrix.may_write(duty.seat, place, kind) for place in matrix.channels)
            for kind in duty.expects
        )


def test_no_phase_is_a_dead_end_even_when_everybody_is_silent():
    for start in OPEN:
        phase, seen = start, set()
        while phase != Phase.ENDED:
            assert phase not in seen
            seen.add(phase)
            (phase,) = STEP_OF[phase].missed.move.to


@pytest.mark.parametrize(
    ("phase", "within"),
    [
        (Phase.ASSESSING_1, 20),
        (Phase.REBUTTING_2, 20),
        (Phase.ASSESSING_2, 20),
        (Phase.JUDGING, 20),
        (Phase.REBUTTING_3, 10),
        (Phase.ASSESSING_3, 10),
        (Phase.REQUESTING, 5),
        (Phase.REVISING, 15),
        (Phase.REASSESSING, 10),
        (Phase.FINAL_JUDGING, 5),
        (Phase.BACKTESTING, 20),
    ],
)
def test_the_limits_are_those_of_the_spec_each_with_ten_minutes_grace(phase, within):
    assert STEP_OF[phase].within == timedelta(minutes=within)
    assert STEP_OF[phase].grace == timedelta(minutes=10)


def test_the_phases_after_a_revise_follow_it_without_another_verdict_between():
    assert {Phase.REVISING, Phase.REASSESSING, Phase.FINAL_JUDGING} == AFTER_REVISE
    assert AFTER_REVISE | {Phase.REQUESTING} == REVISED
    assert REVISED < BUDGETED


@pytest.mark.parametrize("phase", OPEN)
@pytest.mark.parametrize("verdict", ["APPROVE", "REJECT"])
def test_an_override_works_in_every_phase_unless_the_verdict_is_that_already(phase, verdict):
    table, case_id = reach(phase)
    state = debate(table, case_id)
    env = said(table, case_id, Override(case_id=case_id, verdict=verdict, why="I say so"), ADMIN)
    if phase not in BUDGETED and state.verdict == verdict:
        with pytest.raises(Violation):
            step(state, env, table.docket.context)
        return
    new = step(state, env, table.docket.context)
    assert new.phase == (Phase.BACKTESTING if verdict == "APPROVE" else Phase.REFLECTING)
    assert (new.verdict, new.reason) == (verdict, "override")
    known = {o.id for e in table.effects for o in e.opened}
    assert not known & {o.id for o in new.owed}, "an id repeats within the case"


@pytest.mark.parametrize("phase", OPEN)
def test_a_note_in_a_debate_moves_nothing_and_breaks_nothing(phase):
    table, case_id = reach(phase)
    state = debate(table, case_id)
    note = Note(text="well", about_case_id=case_id)
    env = table.say(ADMIN, note, channel="#a-arena", case_id=case_id)
    assert debate(table, case_id) is state
    assert table.effects[env.seq - 1].violation is None
