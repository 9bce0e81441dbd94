"""The guards of verdicts, extensions and backtests, as pure functions."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.kernel.errors import Consequential, Violation
from moot.protocols.kernel.figures import check
from moot.protocols.research.debate_machine import STEPS
from moot.protocols.research.debate_table import Phase
from moot.protocols.research.judging import (
    check_backtest,
    check_extension,
    check_request,
    forbids_approval,
    is_tie,
    judge,
    may_extend,
    may_revise,
    passes,
    second_revise,
)
from tests.doubles import bodies

TICK = timedelta(microseconds=1)
EARLY = timedelta(minutes=60)
SHARES = st.integers(0, 1_000_000).map(lambda n: n / 1_000_000)


def argued(assessed=True, extended=False, ended_by="rounds", flawed=False):
    return SimpleNamespace(assessed=assessed, extended=extended, ended_by=ended_by, flawed=flawed)


def minutes(n):
    return timedelta(minutes=n)


@pytest.mark.rule("R-F8")
@pytest.mark.parametrize(
    ("elapsed", "is_allowed"), [(minutes(0), True), (minutes(115), True), (minutes(115) + TICK, False)]
)
def test_r_f8_a_revision_needs_thirty_five_minutes_of_the_150(elapsed, is_allowed):
    assert may_revise(elapsed) is is_allowed


@pytest.mark.parametrize(
    ("elapsed", "is_allowed"), [(minutes(0), True), (minutes(130), True), (minutes(130) + TICK, False)]
)
def test_an_extension_needs_twenty_minutes_of_the_150(elapsed, is_allowed):
    assert may_extend(False, "rounds", elapsed) is is_allowed
    if is_allowed:
        check_extension(argued(), bodies.extend(), elapsed)
    else:
        with pytest.raises(Violation) as caught:
            check_extension(argued(), bodies.extend(), elapsed)
        assert caught.value.rule == "R-D6"


@pytest.mark.parametrize(
    "state", [argued(extended=True), *(argued(ended_by=e) for e in ("", "confidence", "concede", "timeout"))]
)
def test_an_extension_follows_two_full_rounds_once(state):
    assert not may_extend(state.extended, state.ended_by, EARLY)
    with pytest.raises(Violation) as caught:
        check_extension(state, bodies.extend(), EARLY)
    assert caught.value.rule == "R-D5"
    assert not isinstance(caught.value, Consequential)


@given(SHARES, SHARES)
def test_an_extension_is_allowed_exactly_within_the_band(alpha, risk):
    body = bodies.extend(alpha, risk)
    if 0.55 <= alpha <= 0.75 and 0.55 <= risk <= 0.75:
        check_extension(argued(), body, EARLY)
    else:
        with pytest.raises(Violation) as caught:
            check_extension(argued(), body, EARLY)
        assert caught.value.rule == "1.3"


@pytest.mark.parametrize(
    ("alpha", "risk", "tie"),
    [
        (0.5, 0.5, True),
        (0.5, 0.549999, True),
        (0.5, 0.55, False),
        (0.7, 0.65, False),
        (0.65, 0.7, False),
        (0.1 + 0.2, 0.35, False),
        (0.95, 1.0, False),
        (1.0, 0.950001, True),
    ],
)
def test_scores_closer_than_005_are_a_tie_whatever_binary_fractions_do(alpha, risk, tie):
    assert is_tie(alpha, risk) is tie


@given(st.integers(0, 1_000_000), st.integers(0, 1_000_000))
def test_a_tie_is_decided_as_in_whole_millionths(alpha, risk):
    assert is_tie(alpha / 1_000_000, risk / 1_000_000) is (abs(alpha - risk) < 50_000)


@given(
    st.sampled_from(["APPROVE", "REJECT", "REVISE"]),
    st.booleans(),
    SHARES,
    SHARES,
    SHARES,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["backtest", "archive", "revise"]),
    st.integers(0, 160),
)
def test_a_verdict_leads_where_the_rules_say(
    verdict, final, confidence, alpha, risk, assessed, conservative, flawed, action, elapsed
):
    scores = {"alpha_argument_score": alpha, "risk_argument_score": risk}
    final = final and verdict != "REVISE"
    body = bodies.verdict(verdict, confidence, final=final, next_action=action, **scores)
    reasons = set()
    if verdict == "REVISE":
        reasons |= {"conservative"} if conservative and confidence < 0.75 else set()
        reasons |= {"cycle_budget"} if elapsed > 115 else set()
    elif verdict == "APPROVE":
        reasons |= {"conservative"} if conservative and confidence < 0.75 else set()
        reasons |= {"low_confidence"} if confidence < 0.6 else set()
        reasons |= {"no_assessment"} if not assessed else set()
        margin = round(alpha * 1e6) - round(risk * 1e6)
        reasons |= {"tie"} if abs(margin) < 50_000 else set()
        reasons |= {"outweighed"} if margin <= -50_000 else set()
        reasons |= {"fatal_flaw"} if flawed else set()
        reasons |= {"next_action"} if action != "backtest" else set()
    try:
        phase = judge(argued(assessed, flawed=flawed), body, minutes(elapsed), conservative=conservative)
    except Consequential as breach:
        outcome, reason, rule = breach.decision
        assert (outcome, breach.rule) == ("REJECT", rule)
        assert reason in reasons
        assert reason == "conservative" or "conservative" not in reasons, "R-B8 outranks R-D7"
    else:
        assert not reasons
        wanted = {"APPROVE": Phase.BACKTESTING, "REJECT": Phase.REFLECTING, "REVISE": Phase.REQUESTING}
        assert phase == wanted[verdict]


@pytest.mark.rule("R-F9")
@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize(
    ("over", "flawed", "breach"),
    [
        ({}, False, None),
        ({"alpha_argument_score": 0.45}, False, None),
        ({"alpha_argument_score": 0.449999}, False, ("R-D8", "tie")),
        ({"alpha_argument_score": 0.35}, False, ("R-F9", "outweighed")),
        ({"alpha_argument_score": 0.1}, False, ("R-F9", "outweighed")),
        ({}, True, ("R-F9", "fatal_flaw")),
        ({"next_action": "archive"}, False, ("R-F9", "next_action")),
        ({"next_action": "revise"}, False, ("R-F9", "next_action")),
    ],
)
def test_r_f9_an_approval_is_carried_by_its_scores_and_contradicts_nothing(final, over, flawed, breach):
    body = bodies.verdict("APPROVE", 0.8, final=final, **over)
    found = forbids_approval(flawed, body)
    assert (found and found[:2]) == breach
    if breach is None:
        assert judge(argued(), body, EARLY, conservative=False) == Phase.BACKTESTING
    else:
        with pytest.raises(Consequential) as caught:
            judge(argued(flawed=flawed), body, EARLY, conservative=False)
        assert caught.value.decision == ("REJECT", breach[1], breach[0])


@pytest.mark.rule("R-F8")
@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({}, None),
        ({"specific_issues": ("x",) * 10}, None),
        ({"specific_issues": ("x",) * 11}, "specific_issues"),
        ({"specific_issues": ()}, "specific_issues"),
        ({"specific_issues": ("x", " \t")}, "specific_issues"),
        ({"suggested_direction": ""}, "suggested_direction"),
        ({"suggested_direction": " \n"}, "suggested_direction"),
        ({"deadline_min": 14}, "deadline_min"),
        ({"deadline_min": 90}, "deadline_min"),
        ({"deadline_min": -3}, "deadline_min"),
        ({"max_revision_rounds": 2}, "max_revision_rounds"),
    ],
)
def test_r_f8_a_request_to_revise_says_what_and_until_when(over, field):
    body = bodies.revise_request(**over)
    step = STEPS["revise-request"]
    if field is None:
        check(body, step.figures(None, None), step.rule)
        check_request(body)
    else:
        with pytest.raises(Violation) as caught:
            check(body, step.figures(None, None), step.rule)
            check_request(body)
        assert caught.value.field == field
        assert not isinstance(caught.value, Consequential)


def test_a_second_revise_rules_reject_by_its_cap():
    assert second_revise("x").decision == ("REJECT", "revise_cap", "R-D9")


@pytest.mark.parametrize(
    ("over", "is_pass"),
    [
        ({"sharpe": 0.3}, True),
        ({"sharpe": 0.299999}, False),
        ({"max_drawdown": 0.2}, True),
        ({"max_drawdown": 0.200001}, False),
        ({"total_trades": 20}, True),
        ({"total_trades": 19}, False),
    ],
)
def test_a_backtest_passes_at_its_limits_and_not_beyond(over, is_pass):
    body = bodies.backtest()
    metrics = body.metrics.model_copy(update=over)
    assert passes(metrics) is is_pass
    check_backtest(body.model_copy(update={"metrics": metrics, "passed": is_pass}))
    with pytest.raises(Violation) as caught:
        check_backtest(body.model_copy(update={"metrics": metrics, "passed": not is_pass}))
    assert caught.value.field == "passed"


@pytest.mark.rule("R-G2")
@pytest.mark.parametrize("is_final", [False, True])
def test_r_g2_nothing_is_approved_after_a_concession(is_final):
    body = bodies.verdict("APPROVE", 0.8, final=is_final)
    with pytest.raises(Consequential) as caught:
        judge(argued(ended_by="concede"), body, EARLY, conservative=False)
    assert (caught.value.rule, caught.value.decision.outcome) == ("R-G2", "REJECT")
    for ended_by in ("rounds", "confidence", "timeout"):
        assert judge(argued(ended_by=ended_by), body, EARLY, conservative=False) is Phase.BACKTESTING
    for version in (2, 3):
        found = judge(argued(ended_by="concede"), body, EARLY, conservative=False, version=version)
        assert found is Phase.BACKTESTING


@pytest.mark.rule("R-G2")
def test_r_g2_a_rejection_stays_legal_after_a_concession():
    assert judge(argued(ended_by="concede"), bodies.verdict("REJECT", 0.8), EARLY, conservative=False) is (
        Phase.REFLECTING
    )
