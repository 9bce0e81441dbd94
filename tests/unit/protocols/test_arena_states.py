"""The nine states and the transition table of section 5.1, row by row."""

import itertools

import pytest

from moot.protocols.arena.states import TABLE, TERMINAL, State, UndefinedTransition, check_transition

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


@pytest.mark.parametrize(("before", "after"), [*itertools.product(State, State)])
def test_every_pair_is_defined_as_the_spec_says_or_refused(before, after):
    if (before, after) in DEFINED:
        check_transition(before, after)
        return
    with pytest.raises(UndefinedTransition) as caught:
        check_transition(before, after)
    assert str(caught.value) == f"{before} does not lead to {after}"


def test_r_a1_a_retry_is_no_transition():
    with pytest.raises(UndefinedTransition):
        check_transition(State.REVIEWING, State.REVIEWING)


def test_terminal_states_absorb_and_every_other_has_a_way_out():
    assert {state for state in State if not TABLE[state]} == TERMINAL
    assert all(State.TERMINATED_ERROR in TABLE[state] for state in State if state not in TERMINAL)


def test_every_state_can_be_reached_and_every_run_can_end_well():
    reached = {State.INIT}
    while new := {after for before in reached for after in TABLE[before]} - reached:
        reached |= new
    assert reached == set(State)
