from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.minds.simulated.debate.casefile import Neighbourhood
from moot.bots.minds.simulated.debate.criteria import CRITERIA
from moot.bots.minds.simulated.debate.weighing import (
    alpha_argument,
    certainty,
    excesses,
    quality,
    red_lines,
    relieved,
    risk_argument,
    stance,
    tolerated,
)
from moot.bots.minds.simulated.temper import DEFAULT
from moot.protocols.research.debate_table import CLEAR_SIGNAL, LOW_CONFIDENCE, TIE
from moot.protocols.research.strictness import START_THRESHOLDS

FINE = dict.fromkeys(CRITERIA, 0.3)
share = st.floats(0, 1)
scores = st.fixed_dictionaries(dict.fromkeys(CRITERIA, share))


def stand(said, flaws=0, attention=(), thresholds=START_THRESHOLDS, ground=None, red=()):
    return stance(excesses(said, thresholds, dict(attention), DEFAULT), flaws, DEFAULT, ground, red)


@pytest.mark.parametrize(("strictness", "limit"), [(0.2, 0.85), (0.6, 0.65), (0.66, 0.62), (0.95, 0.475)])
def test_a_higher_strictness_tolerates_less(strictness, limit):
    assert tolerated(strictness, DEFAULT) == limit


def test_scores_within_their_limits_pass_and_high_ones_are_rejected():
    assert stand(FINE).rating == "PASS"
    assert stand({**FINE, "overfitting": 0.7}).rating == "CONDITIONAL_PASS"
    assert stand(dict.fromkeys(CRITERIA, 0.9)).rating == "REJECT"


@pytest.mark.parametrize(
    ("red", "rating"), [("thin", "REJECT"), ("owned", "CONDITIONAL_PASS"), ("sensitive", "CONDITIONAL_PASS")]
)
def test_a_red_line_is_passed_by_nothing(red, rating):
    plain, found = stand(FINE), stand(FINE, red=[red])
    assert (plain.rating, found.rating) == ("PASS", rating)
    assert (found.burden > plain.burden) == (red == "owned")


@pytest.mark.parametrize(
    ("sharpe", "correlation", "median", "crossed"),
    [
        (0.30, 0.70, 0.21, ()),
        (0.29, 0.70, 0.29, ("thin",)),
        (0.30, 0.71, 0.30, ("owned",)),
        (1.00, 0.00, 0.69, ("sensitive",)),
        (-0.1, 0.99, -0.1, ("thin", "owned", "sensitive")),
    ],
)
def test_the_critics_red_lines_stand_where_they_are_said_to(sharpe, correlation, median, crossed):
    file = SimpleNamespace(validation={"sharpe": sharpe}, scores={"correlation_risk": correlation})
    assert red_lines(file, Neighbourhood(9, 9, median, sharpe)) == crossed


@pytest.mark.parametrize(
    ("median", "own", "sensitivity", "firmness"),
    [
        (1.2, 1.0, 0.0, 1.0),
        (0.8, 1.0, 0.2, 0.0),
        (0.9, 1.0, 0.1, 0.5),
        (0.3, 1.0, 0.7, -1.0),
        (0.5, -0.1, 1.0, -1.0),
    ],
)
def test_relatives_that_lose_a_fifth_say_nothing_and_more_of_it_speaks_against(
    median, own, sensitivity, firmness
):
    ground = Neighbourhood(9, 9, median, own)
    assert (ground.sensitivity, ground.firmness) == pytest.approx((sensitivity, firmness))


def test_a_fatal_flaw_rejects_whatever_the_scores_say():
    assert stand(FINE, flaws=1).rating == "REJECT"


def test_one_score_far_beyond_its_limit_does_not_drown_in_six_good_ones():
    assert stand({**FINE, "correlation_risk": 1.0}).burden > stand({**FINE, "correlation_risk": 0.6}).burden
    assert stand({**dict.fromkeys(CRITERIA, 0.6), "correlation_risk": 1.0}).rating == "REJECT"


def test_only_clear_cases_are_confident_enough_to_end_the_debate():
    assert stand(dict.fromkeys(CRITERIA, 0.95)).confidence > CLEAR_SIGNAL
    assert stand(dict.fromkeys(CRITERIA, 0.1)).confidence > CLEAR_SIGNAL
    assert stand({**FINE, "overfitting": 0.75, "tail_risk": 0.7}).confidence <= CLEAR_SIGNAL


@given(scores, st.integers(0, 3))
def test_confidence_is_a_share_and_a_conditional_pass_never_a_clear_signal(said, flaws):
    found = stand(said, flaws)
    assert 0.5 <= found.confidence < 1.0
    assert found.rating != "CONDITIONAL_PASS" or found.confidence <= CLEAR_SIGNAL


@given(scores, scores)
def test_a_stricter_critic_never_rates_milder(said, more):
    order = ["PASS", "CONDITIONAL_PASS", "REJECT"]
    strict = {name: min(START_THRESHOLDS[name] + 0.35 * more[name], 0.95) for name in CRITERIA}
    mild, hard = stand(said), stand(said, thresholds=strict)
    assert order.index(hard.rating) >= order.index(mild.rating)
    assert hard.burden >= mild.burden


def test_attention_takes_off_the_tolerance_of_the_score_that_was_named():
    said = {**FINE, "tail_risk": 0.6}
    assert stand(said).worst == ()
    assert stand(said, attention={"tail_risk": 0.12}).worst == ("tail_risk",)


def test_good_answers_relieve_missing_ones_burden_and_none_at_all_changes_nothing():
    excess = {**dict.fromkeys(CRITERIA, -0.3), "overfitting": 0.2, "tail_risk": 0.1}
    assert relieved(excess, None, DEFAULT) == excess
    good = relieved(excess, {"overfitting": 1.0}, DEFAULT)
    assert good["overfitting"] < excess["overfitting"] and good["tail_risk"] > excess["tail_risk"]
    assert good["signal_decay"] == excess["signal_decay"]
    assert relieved(excess, {"overfitting": 0.0}, DEFAULT)["overfitting"] == excess["overfitting"]


def test_firm_ground_moves_both_sides_the_right_way():
    firm, soft = Neighbourhood(9, 9, 0.8, 0.85), Neighbourhood(9, 0, -0.8, 0.85)
    said = {**FINE, "overfitting": 0.72}
    assert stand(said, ground=firm).burden < stand(said).burden < stand(said, ground=soft).burden
    plain = alpha_argument(0.6, None, DEFAULT)
    assert alpha_argument(0.6, None, DEFAULT, firm) > plain > alpha_argument(0.6, None, DEFAULT, soft)


def test_a_concession_halves_the_alpha_argument():
    assert alpha_argument(0.8, None, DEFAULT, conceded=True) == pytest.approx(
        alpha_argument(0.8, None, DEFAULT) / 2, abs=1e-6
    )


@given(share, share, st.lists(share, max_size=7))
def test_argument_scores_and_confidence_are_shares(strength, burden, answers):
    alpha = alpha_argument(strength, answers, DEFAULT)
    risk = risk_argument(burden - 0.5, "REJECT", DEFAULT)
    assert 0.0 <= alpha <= 1.0 and 0.0 <= risk <= 1.0
    assert 0.5 <= certainty(alpha, risk, DEFAULT) < 1.0


def test_a_verdict_that_is_no_tie_is_confident_enough_to_approve():
    """So the Evolver never wants an APPROVE that R-D7 forbids."""
    assert certainty(0.6 + TIE, 0.6, DEFAULT) >= LOW_CONFIDENCE


def test_quality_rises_with_answers_and_falls_with_silences():
    assert quality(2, 3, 3, [0.8, 0.9, 0.7], 0) > quality(2, 3, 1, [0.8], 0) > quality(2, 3, 0, [], 1)
    assert 0.0 <= quality(0, 7, 0, [], 9) <= quality(3, 1, 9, [1.0], 0) <= 1.0
