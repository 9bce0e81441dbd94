"""What a study looks like: what its pictures say in words, in tables, and that names are escaped."""

from __future__ import annotations

from math import nan

from moot.compare.pictures import Difference, Priced, calibrated, cost_and_quality, forest, found_by_kind
from moot.statistics.calibration import Bin
from moot.statistics.clusters import Estimate
from moot.statistics.shares import Interval


def _of(value: float, low: float, high: float, cases: int = 200) -> Estimate:
    return Estimate(value, Interval(low, high), cases)


def _signed(value: float) -> str:
    return f"{value:+.2f}"


def test_a_forest_says_which_intervals_leave_zero_out() -> None:
    picture = forest(
        "score",
        [
            Difference("debate over single", _of(0.12, 0.05, 0.19), is_primary=True),
            Difference("debate over vote", _of(0.03, -0.04, 0.10), is_primary=False),
            Difference("vote over single", _of(-0.2, -0.3, -0.1), is_primary=False),
        ],
        _signed,
    )
    assert picture.told == (
        "2 of 3 intervals leave zero out: debate over single +0.12 (+0.05 to +0.19); "
        "vote over single -0.20 (-0.30 to -0.10)."
    )
    assert "debate over single (primary)" in picture.html
    assert picture.rows[1] == ("debate over vote", "+0.03", "-0.04 to +0.10", "200")


def test_a_forest_of_many_says_only_how_many_leave_zero_out_and_shows_them_all() -> None:
    many = [Difference(f"arm-{n} over one", _of(0.2, 0.1, 0.3), is_primary=False) for n in range(4)]
    picture = forest("score", many, _signed)
    assert picture.told == "4 of 4 intervals leave zero out."
    assert all(one.name in picture.html for one in many)
    none = [Difference("arm over one", _of(0.0, -0.1, 0.1), is_primary=False)] * 4
    assert forest("score", none, _signed).told == "None of 4 intervals leaves zero out."


def test_a_difference_of_one_case_has_no_interval_and_is_drawn_without_one() -> None:
    picture = forest("score", [Difference("a over b", _of(0.5, nan, nan, 1), is_primary=True)], _signed)
    assert picture.told == "The interval holds zero."
    assert picture.rows == (("a over b", "+0.50", "–", "1"),)
    assert "nan" not in picture.html


def test_cost_and_quality_name_the_arms_at_both_ends() -> None:
    arms = [Priced("one", 1.0, _of(0.3, 0.2, 0.4)), Priced("<five>", 5.0, _of(0.6, 0.5, 0.7))]
    picture = cost_and_quality("F1", "calls", arms, lambda value: f"{value:.1f}")
    assert picture.told == "From 0.3 with one, for 1 call a case, to 0.6 with <five>, for 5."
    assert "<five>" not in picture.html
    assert "&lt;five&gt;" in picture.html


def test_calibration_says_by_how_much_an_arm_is_too_sure() -> None:
    low, high = Bin(0.6, 0.5, Interval(0.4, 0.6), 100), Bin(0.9, 0.5, Interval(0.4, 0.6), 300)
    assert calibrated({"one": [low, high]}).told == "one states 32 percentage points too much on average."
    assert calibrated({"one": []}).told == "No arm states a confidence."


def test_what_is_hardest_to_find_is_what_the_best_arm_finds_least_of() -> None:
    picture = found_by_kind(
        {
            "wrong sum": {"one": _of(0.1, 0.0, 0.2), "five": _of(0.9, 0.8, 1.0)},
            "contradiction": {"one": _of(0.4, 0.3, 0.5), "five": _of(0.5, 0.4, 0.6)},
        }
    )
    assert picture.told == "Hardest to find: contradiction."
    assert picture.heads == ("kind", "one", "95 % interval", "five", "95 % interval")
    assert picture.rows[0] == ("wrong sum", "10 %", "0 % to 20 %", "90 %", "80 % to 100 %")
