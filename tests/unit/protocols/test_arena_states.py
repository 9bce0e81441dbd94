"""The nine states and the transition table of section 5.1, row by row, against the machine of a run."""

import pytest

from moot.protocols.arena.run import RUN
from moot.protocols.arena.states import TERMINAL, State
from moot.protocols.kernel.machine import rows
from moot.protocols.kernel.steps import ENDED
from tests.doubles.arena_table import TRANSITIONS

SPEC = """
INIT SEEDING
INIT DRAFTING
SEEDING DRAFTING
DRAFTING REVIEWING
REVIEWING FINALIZING
REVIEWING REVISING
REVISING DRAFTING
REVISING TERMINATED_MAX_ROUNDS
FINALIZING TERMINATED_APPROVED
INIT TERMINATED_ERROR
SEEDING TERMINATED_ERROR
DRAFTING TERMINATED_ERROR
REVIEWING TERMINATED_ERROR
REVISING TERMINATED_ERROR
FINALIZING TERMINATED_ERROR
"""
"""The rows of 5.1, with "any non-terminal" written out."""

DEFINED = {tuple(map(State, row.split())) for row in SPEC.split("\n") if row}


def test_the_states_are_the_nine_of_the_spec():
    assert [*State] == [
        "INIT", "SEEDING", "DRAFTING", "REVIEWING", "REVISING", "FINALIZING",
        "TERMINATED_APPROVED", "TERMINATED_MAX_ROUNDS", "TERMINATED_ERROR",
    ]  # fmt: skip


def test_the_machine_of_a_run_has_every_transition_of_the_spec_and_no_other():
    assert TRANSITIONS == DEFINED


@pytest.mark.rule("R-A1")
def test_r_a1_a_retry_is_no_transition():
    (retry,) = [row for row in rows(RUN) if row.event == "REVIEW"]
    assert State.REVIEWING in retry.move.to
    assert (State.REVIEWING, State.REVIEWING) not in TRANSITIONS


def test_terminal_states_absorb_and_every_other_has_a_way_out():
    for state in State:
        afters = {after for before, after in TRANSITIONS if before == state}
        assert (not afters) == (state in TERMINAL)
        assert (State.TERMINATED_ERROR in afters) == (state not in TERMINAL)


def test_5_2_a_terminal_state_leads_to_the_end_alone_and_only_by_the_orchestrators_word():
    leaving = [(row.phase, row.event, row.move.to) for row in rows(RUN) if row.phase in TERMINAL]
    assert sorted(leaving) == sorted(
        row
        for state in TERMINAL
        for row in ((state, "RUN_TERMINATED", (ENDED,)), (state, "any other message unowed", ()))
    )


def test_every_state_can_be_reached_and_every_run_can_end_well():
    reached = {State.INIT}
    while new := {after for before, after in TRANSITIONS if before in reached} - reached:
        reached |= new
    assert reached == set(State)
