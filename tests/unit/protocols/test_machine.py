"""Machines: what follows from a table of steps, and tables that contradict themselves."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest

from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.errors import LocalProtocolError, Violation
from moot.protocols.kernel.figures import ByField, Exactly, Fields, OneOf, check
from moot.protocols.kernel.machine import Machine, rows
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import NO_GRACE
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Missed, Move, Owe, RuleInput, Step
from moot.protocols.kernel.times import minutes
from moot.protocols.research.cycle import CYCLE
from moot.protocols.research.messages import CycleTrigger, Hypothesis
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from moot.protocols.rulebook import rulebook
from tests.doubles.copying import replace
from tests.doubles.table import Table

MACHINES = list(rulebook().types.values())


def nothing(_state: Any, _given: Any) -> Effect:
    return Effect()


def steps(**changes: Any) -> dict[str, Any]:
    """Return the steps of a cycle with the first one changed."""
    return {**CYCLE.steps, "hypothesis": replace(CYCLE.steps["hypothesis"], **changes)}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"steps": steps(missed=None)}, "the step hypothesis does not say what silence leads to"),
        ({"steps": steps(moves={})}, "the step hypothesis has no legal answer"),
        (
            {"steps": steps(moves={Hypothesis: Move(("nowhere",), nothing)})},
            "hypothesising, HYPOTHESIS: leads to nowhere, which is no phase",
        ),
        ({"phases": CYCLE.phases[:-1]}, "the phase reporting is not listed"),
        ({"phases": (*CYCLE.phases, "lonely")}, "nobody owes in the phase lonely"),
        ({"idle": {}}, "nobody owes in the phase debating, and nothing says what ends it"),
        ({"rulings": {}}, "no row says what a human STOP does"),
        ({"facts": {("gone", Note): Move((), nothing)}}, "a fact comes in the phase gone"),
        ({"children": {("gone", "debate"): Move((ENDED,), nothing)}}, "a debate ends in the phase gone"),
        (
            {"steps": steps(figures=ByField({"mood": lambda _state, _given: Exactly("good")}))},
            "the step hypothesis: the figure mood is no field of HYPOTHESIS",
        ),
        ({"steps": steps(lasts=("gone",))}, "the step hypothesis lasts through gone, which is no phase"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused_by_its_row(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(LocalProtocolError, match="the machine cycle: ") as caught:
        replace(CYCLE, **changes)
    assert why in str(caught.value)


def test_a_phase_that_nothing_leads_to_is_named() -> None:
    missed = CYCLE.steps["hypothesis"].missed
    assert missed is not None
    with pytest.raises(LocalProtocolError, match="nothing leads to the phase reporting"):
        replace(
            CYCLE, children={}, steps=steps(missed=replace(missed, move=Move((ENDED,), missed.move.effect)))
        )


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.kind)
def test_every_row_is_a_rule_that_says_what_it_does(machine: Machine) -> None:
    for row in rows(machine):
        assert row.event
        assert callable(row.move.effect)


def test_a_move_leads_where_its_row_says_and_nowhere_else() -> None:
    def astray(_state: Any, _given: Any) -> Effect:
        return Effect(to="reporting")

    machine = replace(CYCLE, steps=steps(moves={Hypothesis: Move(("debating",), astray)}))
    table = Table()
    (state,) = (state for state in table.docket.cases.values() if state.kind == "cycle")
    hypothesis = replace(
        table.last("CYCLE_TRIGGER"),
        author=CYCLE.steps["hypothesis"].seat,
        body=Hypothesis.model_construct(type="HYPOTHESIS"),
    )
    with pytest.raises(LocalProtocolError, match="a move leads to reporting, its row says"):
        machine.step(state, hypothesis, table.docket.context)


def test_what_comes_too_late_changes_nothing() -> None:
    def too_late(_state: Any, _given: Any) -> None:
        return None

    machine = replace(CYCLE, rulings={**CYCLE.rulings, "late": Move(("reporting",), too_late)})
    table = Table()
    (state,) = (state for state in table.docket.cases.values() if state.kind == "cycle")
    late = Decision("void", "late", "R-X1")
    assert machine.ruled(state, late, table.last("CYCLE_TRIGGER"), table.docket.context, None) is state


def test_what_the_table_lacks_is_illegal_and_changes_nothing() -> None:
    table = Table()
    (state,) = (state for state in table.docket.cases.values() if state.kind == "cycle")
    trigger = table.last("CYCLE_TRIGGER")
    assert isinstance(trigger.body, CycleTrigger)
    with pytest.raises(Violation, match="is not a move in phase hypothesising; owed is HYPOTHESIS"):
        CYCLE.step(state, trigger, table.docket.context)
    assert table.docket.cases[state.case_id] is state


def out_of_time(_state: Any, _given: Any) -> Effect:
    return Effect({"result": "timeout", "day": (1, 2, 3)})


BUDGET = Step(
    phase="hypothesising",
    lasts=("debating",),
    seat=REFEREE,
    channel="#a-arena",
    moves={Ruling: Move(("reporting",), out_of_time)},
    missed=None,
    rule="R-X1",
    within=minutes(90),
    grace=NO_GRACE,
    discharge=lambda state, _given: Ruling(
        obligation_id=None, case_id=state.case_id, outcome="skip", reason="time", rule="R-X1", of_seq=None
    ),
)
"""An officer's step that runs over two phases."""


def debating() -> tuple[Machine, Any, RuleInput]:
    """Return a machine with a budget, and its case after the hypothesis."""
    machine = replace(
        CYCLE,
        steps={**CYCLE.steps, "budget": BUDGET},
        children={("debating", "debate"): Move(("reporting",), out_of_time)},
    )
    table = Table()
    trigger = table.last("CYCLE_TRIGGER")
    given = RuleInput(table.docket.context, trigger)
    state = machine.open(given)
    hypothesis = replace(
        trigger, author=EXPLORER, body=Hypothesis.model_construct(type="HYPOTHESIS"), obligation_id=None
    )
    return machine, machine.step(state, hypothesis, given.context), given


def test_a_step_lasts_through_the_phases_that_it_names_and_is_the_same_obligation() -> None:
    machine, state, given = debating()
    opened = machine.open(given)
    assert [due.id.split("/")[1] for due in opened.owed] == ["hypothesis", "budget"]
    assert state.phase == "debating"
    assert state.owed == opened.owed[1:]
    after = machine.child_ended(state, replace(state, kind="debate"), given.message, given.context)
    assert [due.id.split("/")[1] for due in after.owed] == ["report"]


def test_what_an_officer_rules_moves_as_its_step_says() -> None:
    machine, state, given = debating()
    (budget,) = state.owed
    body = machine.discharge(state, budget, given.context)
    env = replace(given.message, author=REFEREE, body=body)
    decision = Decision("skip", "time", "R-X1")
    after = machine.ruled(state, decision, env, given.context, budget)
    assert (after.phase, after.result) == ("reporting", "timeout")
    stopped = machine.ruled(state, Decision(STOP, "stop", "K13"), env, given.context, budget)
    assert stopped.outcome == "stopped"


def test_an_answer_that_names_another_obligation_than_is_open_is_none() -> None:
    table = Table()
    (state,) = (state for state in table.docket.cases.values() if state.kind == "cycle")
    wrong = replace(
        table.last("CYCLE_TRIGGER"),
        author=EXPLORER,
        body=Hypothesis.model_construct(type="HYPOTHESIS"),
        obligation_id="another/hypothesis/explorer",
    )
    with pytest.raises(Violation, match="another/hypothesis/explorer is not what this answers") as caught:
        CYCLE.step(state, wrong, table.docket.context)
    assert (caught.value.rule, caught.value.field) == ("K1", "obligation_id")


HOUR = timedelta(hours=1)


def hourly(state: Any, at: datetime, last: datetime | None) -> datetime | None:
    """Let it be owed in an hour, then at the next hour, and no more."""
    if last is None:
        return at + HOUR
    return last + HOUR if last < state.anchor_at + 2 * HOUR else None


def ticking(**changes: Any) -> Machine:
    """Return a machine in whose first phase the Critic owes a NOTE besides."""
    tick = Step(
        phase="hypothesising",
        seat=CRITIC,
        channel="#a-arena",
        moves={Note: Move(("hypothesising",), nothing)},
        missed=Missed("R-X1", "skip", Move(("hypothesising",), nothing)),
        rule="R-X1",
        within=minutes(5),
        grace=NO_GRACE,
        **changes,
    )
    return replace(CYCLE, steps={**CYCLE.steps, "tick": tick})


def started(machine: Machine) -> tuple[Any, RuleInput]:
    """Return a case of a machine that has just opened, and what opened it."""
    table = Table()
    given = RuleInput(table.docket.context, table.last("CYCLE_TRIGGER"))
    return machine.open(given), given


def test_what_recurs_is_about_its_instant_and_is_owed_again_after_each_answer() -> None:
    machine = ticking(next_at=hourly, name=lambda _state, instant: f"tick-{instant:%H%M}")
    state, given = started(machine)
    note = replace(given.message, author=CRITIC, body=Note(text="well"), obligation_id=None)
    for n in (1, 2):
        tick = state.owed[-1]
        instant = state.anchor_at + n * HOUR
        assert (tick.opened_at, tick.subject, tick.step) == (instant, instant, f"tick-{instant:%H%M}")
        assert tick.due_at == instant + minutes(5)
        with pytest.raises(Violation, match="it is owed from"):
            machine.step(state, replace(note, sent_at=instant - minutes(1)), given.context)
        state = machine.step(state, replace(note, sent_at=instant), given.context)
    assert [due.rule for due in state.owed] == ["hypothesis"]


def test_what_no_longer_applies_is_withdrawn_but_what_a_move_opens_is_asked_after_the_next_one() -> None:
    machine = ticking(applies=lambda state, _given: not state.result)
    state, given = started(machine)
    note = replace(given.message, author=CRITIC, body=Note(text="well"), obligation_id=None)
    assert [due.rule for due in state.owed] == ["hypothesis", "tick"]

    def over(_state: Any, _given: Any) -> Effect:
        return Effect({"result": "timeout"}, owe=(Owe("tick", "again"),))

    machine = replace(
        machine, facts={**machine.facts, ("hypothesising", Note): Move(("hypothesising",), over)}
    )
    said = replace(note, author=EVOLVER)
    state = machine.step(state, said, given.context)
    assert [(due.rule, due.subject) for due in state.owed] == [("hypothesis", None), ("tick", "again")]
    case = replace(machine, facts={("hypothesising", Note): Move(("hypothesising",), nothing)})
    assert [due.rule for due in case.step(state, said, given.context).owed] == ["hypothesis"]


def test_a_message_may_open_a_kind_through_the_opener_of_another() -> None:
    (kind,) = CYCLE.start
    machine = replace(CYCLE, kind="other", start={kind: replace(CYCLE.start[kind], through="cycle")})
    assert machine.openers == ()
    assert CYCLE.openers == ("CYCLE_TRIGGER",)


def test_a_row_for_any_message_refuses_what_has_no_row_of_its_own() -> None:
    def over(state: Any, _given: Any) -> Effect:
        raise Violation("R-X1", f"{state.phase} is the end")

    facts = {
        ("hypothesising", Message): Move((), over),
        ("hypothesising", Note): Move(("hypothesising",), nothing),
    }
    machine = replace(CYCLE, facts=facts)
    assert ("hypothesising", "any other message unowed") in [row[:2] for row in rows(machine)]
    table = Table()
    (state,) = (state for state in table.docket.cases.values() if state.kind == "cycle")
    trigger = table.last("CYCLE_TRIGGER")
    with pytest.raises(Violation, match="hypothesising is the end"):
        machine.step(state, trigger, table.docket.context)
    note = replace(trigger, body=Note.model_construct(type="NOTE", text="well"))
    assert machine.step(state, note, table.docket.context).owed == state.owed


def test_what_a_move_notes_goes_to_who_keeps_a_record_and_to_nobody_else() -> None:
    def telling(_state: Any, given: RuleInput) -> Effect:
        if given.body.text == "wrong":
            raise Violation("R-X1", "no")
        return Effect(notes=("said", given.body.text))

    kept: list[Any] = []
    silent = replace(CYCLE, facts={("hypothesising", Note): Move(("hypothesising",), telling)})
    recording = replace(silent, note=kept.append)
    table = Table()
    (state,) = (state for state in table.docket.cases.values() if state.kind == "cycle")
    for text in ("well", "wrong"):
        note = replace(table.last("CYCLE_TRIGGER"), body=Note.model_construct(type="NOTE", text=text))
        for machine in (silent, recording):
            with suppress(Violation):
                assert machine.step(state, note, table.docket.context).owed == state.owed
    assert kept == ["said", "well"]


def test_a_figure_holds_only_answers_that_have_its_field() -> None:
    body = Note.model_construct(type="NOTE", text="a")
    check(body, {"text": Exactly("a"), "round": Exactly(3)}, "R-X1")


def test_figures_within_an_object_name_their_path_and_their_own_rule() -> None:
    body = Note.model_construct(type="NOTE", text=Note.model_construct(type="NOTE", text="b"))
    figures = {"text": Fields({"text": Exactly("a", "it is a"), "type": Exactly("NOTE")}, "R-X2")}
    with pytest.raises(Violation, match="it is a") as caught:
        check(body, figures, "R-X1")
    assert (caught.value.rule, caught.value.field) == ("R-X2", "text.text")
    assert figures["text"].shown == {"text": "a", "type": "NOTE"}


@pytest.mark.parametrize(
    ("figure", "given", "why"),
    [
        (Exactly(3), 3, ""),
        (Exactly(3, "three it is"), 4, "three it is"),
        (Exactly(3), 4, "the log says 3, the message 4"),
        (OneOf(("a", "b"), "a trend"), "b", ""),
        (OneOf(("a", "b"), "a trend"), "c", "a trend leads to a or b"),
    ],
)
def test_a_figure_holds_an_answer(figure: Exactly | OneOf, given: Any, why: str) -> None:
    body = Note.model_construct(type="NOTE", text=given)
    if not why:
        check(body, {"text": figure}, "R-X1")
        return
    with pytest.raises(Violation, match=why):
        check(body, {"text": figure}, "R-X1")
