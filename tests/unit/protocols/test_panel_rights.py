"""Who posts what of a panel, and where: all in `#r-panel`, by hand from the Protocol's roles."""

import pytest

from moot.protocols.kernel.seats import OFFICERS, PEOPLE
from moot.protocols.panel.contract import ROLES
from moot.protocols.panel.seats import PANELISTS, SYNTHESIZER
from moot.protocols.rulebook import rulebook, rules

REVIEWERS = {"eic", "methodology", "domain", "perspective", "da"}
WHO = {
    "PANEL_OPENED": {"admin", "operator", "evolver"},
    "PHASE1": REVIEWERS,
    "PHASE2": REVIEWERS,
    "LINT": {"orchestrator"},
    "SYNTHESIS": {"synthesizer"},
    "PANEL_DECIDED": {"orchestrator"},
    "PANEL_ABORTED": {"orchestrator"},
}


def test_the_types_of_a_panel_are_these_seven():
    assert {
        name
        for name, kind in rulebook().messages.items()
        if kind.__module__ == "moot.protocols.panel.messages"
    } == set(WHO)


@pytest.mark.parametrize("kind", sorted(WHO))
def test_each_is_posted_by_its_seats_in_r_panel_and_nowhere_else(kind):
    matrix = rules().matrix
    may = {
        (seat, c.name)
        for seat in rulebook().seats
        for c in rulebook().channels
        if matrix.may_write(seat, c.name, kind)
    }
    assert may == {(seat, "#r-panel") for seat in WHO[kind]}


def test_the_roles_of_all_contracts_are_seats_that_a_mind_fills():
    assert {role for roles in ROLES.values() for role in roles} == set(PANELISTS)
    assert {*PANELISTS, SYNTHESIZER} <= rulebook().bots
    assert not (PANELISTS | {SYNTHESIZER}) & (OFFICERS | PEOPLE)


def test_2_a_panels_seats_read_no_other_channel():
    matrix = rules().matrix
    assert {name for seat in (*PANELISTS, SYNTHESIZER) for name in matrix.readable(seat)} == {"#r-panel"}
