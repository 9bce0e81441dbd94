"""Machines: what follows from a table of steps, and tables that contradict themselves."""

from __future__ import annotations

from typing import Any

import pytest

from moot.protocols.kernel.errors import LocalProtocolError, Violation
from moot.protocols.kernel.machine import Machine, rows
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.steps import ENDED, Effect, Exactly, Move, OneOf, check
from moot.protocols.research.cycle import MACHINE as CYCLE
from moot.protocols.research.messages import CycleTrigger, Hypothesis
from moot.protocols.rulebook import CASE_TYPES
from tests.doubles.copying import replace
from tests.doubles.table import Table

MACHINES = [case.machine for case in CASE_TYPES.values() if case.machine is not None]


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
            CYCLE, children={}, steps=steps(missed=missed._replace(move=Move((ENDED,), missed.move.effect)))
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
    hypothesis = table.last("CYCLE_TRIGGER")._replace(
        author=CYCLE.steps["hypothesis"].seat, body=Hypothesis.model_construct(type="HYPOTHESIS")
    )
    with pytest.raises(LocalProtocolError, match="a move leads to reporting, its row says"):
        machine.case_type().step(state, hypothesis, table.docket.context)


def test_what_the_table_lacks_is_illegal_and_changes_nothing() -> None:
    table = Table()
    (state,) = (state for state in table.docket.cases.values() if state.kind == "cycle")
    trigger = table.last("CYCLE_TRIGGER")
    assert isinstance(trigger.body, CycleTrigger)
    with pytest.raises(Violation, match="is not a move in phase hypothesising; owed is HYPOTHESIS"):
        CYCLE.case_type().step(state, trigger, table.docket.context)
    assert table.docket.cases[state.case_id] is state


@pytest.mark.parametrize(
    ("figure", "given", "why"),
    [
        (Exactly(3), 3, ""),
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
