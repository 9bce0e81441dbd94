"""Duties are named to people in words, never by the id that programs use."""

from __future__ import annotations

import re

import pytest

from moot.channels.showing.duties import duty, owed, position
from moot.channels.showing.rendering import sentence
from moot.protocols.rulebook import rulebook
from moot.protocols.trading.session_state import Subject
from tests.doubles.full_life import full_life


@pytest.mark.parametrize(
    ("obligation", "told"),
    [
        ("hyp_1/rebuttal-2/explorer", "the rebuttal of round 2 in hyp_1"),
        ("hyp_1/assessment-revision/critic", "the assessment of the revision in hyp_1"),
        ("hyp_1/final-verdict/evolver", "the final verdict in hyp_1"),
        ("hyp_1/move-311/evolver", "the move of a strategy in hyp_1"),
        ("cycle_1/rebuttal/explorer", "the rebuttal in cycle_1"),
        ("cycle_1/refine-arch_002/evolver", "the refinement of arch_002 in cycle_1"),
        ("arena_1/review-4-1/reviewer", "the review of round 4 in arena_1"),
        ("motion_1/replies-2/advocate", "the replies of round 2 in motion_1"),
        ("panel_1/phase1-1-2/eic", "the Phase 1 report in panel_1"),
        ("panel_1/lint-eic-1-2-1/orchestrator", "the check of the EIC's report in panel_1"),
        ("session_1/poll-1600/operator", "the look for new strategies of 16:00 New York time in session_1"),
        (
            "session_1/overnight-20260303-0400/guardian",
            "the overnight risk check of 3 March, 04:00 New York time in session_1",
        ),
        ("cycle_1/report/evolver", "the report of the cycle in cycle_1"),
        (
            "session_1/report-1630/operator",
            "the report of the trading day of 16:30 New York time in session_1",
        ),
        ("esc_1/answer-acked/admin", "the answer to the escalation in esc_1"),
        ("esc_1/expire/referee", "the end of the escalation if nobody answers in esc_1"),
        ("question_1/forecast/forecaster", "the forecast in question_1"),
        ("what is no id", "what is no id"),
    ],
)
def test_a_duty_reads_as_people_say_it(obligation: str, told: str) -> None:
    assert duty(obligation) == told


def test_duties_about_several_positions_are_told_apart() -> None:
    said = [
        owed(f"session_1/reduce-{n}/trader", position(Subject("strat_1", symbol)))
        for n, symbol in enumerate(("DAX", "SP500"), 1)
    ]
    assert said == [f"signal that reduces a position, {symbol} of strat_1" for symbol in ("DAX", "SP500")]
    assert position(Subject("var95", level="WARNING")) == position("critic") == position(None) == ""


def test_no_line_of_a_log_names_a_duty_by_its_id() -> None:
    named = {e.body.obligation_id for e in full_life() if e.body.type in ("TIMEOUT_PING", "RULING")} - {None}
    assert named, "the life has reminders and rulings"
    for envelope in full_life():
        assert not [one for one in named if one in sentence(envelope)]


def test_what_protocols_call_is_a_step_of_their_cases() -> None:
    steps = {re.sub(r"/.*", "", name) for machine in rulebook().types.values() for name in machine.steps}
    assert [
        n
        for n in (name.rpartition("/")[2] for name in rulebook().duties)
        if not any(s == n or s.startswith(f"{n}-") for s in steps)
    ] == []
