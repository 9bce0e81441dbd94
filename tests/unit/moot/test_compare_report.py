"""A study's report: what it says in words, what it links to, and that nothing of an answer runs in a browser."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

from moot.compare.markdown import markdown
from moot.compare.page import CASES_A_PAGE, case_pages, report_page
from moot.compare.results import Result
from moot.compare.summary import ArmFound, Differing, Summary
from moot.compare.telling import led, sentences
from moot.statistics.clusters import Estimate
from moot.statistics.shares import Interval

REGISTRATION: dict[str, Any] = {"study": "s", "seed": 1, "hashes": {"minds": "0a" * 32}}


def _of(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, Interval(low, high), 50)


def _arm(name: str, right: Estimate) -> ArmFound:
    return ArmFound(
        arm=name,
        answers=50,
        silent=2,
        calls=3.0,
        usd=0.0,
        scores={"correct": right, "found wrong sum": right},
        brier=None,
        reliability=(),
        effective_votes=None,
        per_correct=None,
    )


def _study(difference: Estimate, score: str = "correct", **changed: Any) -> Summary:
    one = Differing(arm="b", than="a", score=score, calls=(3.0, 1.0), found=difference, is_primary=True)
    found = Summary(
        study="s",
        question="Does <b> help?",
        answers=100,
        planned=100,
        cases=50,
        arms=(_arm("a", _of(0.5, 0.4, 0.6)), _arm("b", _of(0.7, 0.6, 0.8))),
        differences=(one,),
    )
    return replace(found, **changed)


def _result(case: str, answer: Any) -> Result:
    return Result(
        case=case,
        case_sha256="",
        repetition=1,
        arm="a",
        seed=1,
        answer=answer,
        confidence=None,
        calls=1,
        usd=0.0,
        votes=(),
        votes_correct=(),
        scores={"correct": (1.0, 1.0)},
        log="logs/a.jsonl",
        head="",
    )


def test_it_says_which_side_is_higher_only_where_the_interval_leaves_zero_out() -> None:
    cost = "at 3.0 calls a case to 1.0"
    assert led(_study(_of(0.2, 0.1, 0.3))) == (
        f"Share of right answers: higher with b than with a, +0.200 (95 % interval +0.100 to +0.300), {cost}."
    )
    assert led(_study(_of(-0.2, -0.3, -0.1), "false_alarms")) == (
        f"False alarms: lower with b than with a, −0.200 (95 % interval −0.300 to −0.100), {cost}. Less is better."
    )
    assert led(_study(_of(0.2, 0.0, 0.3))).startswith(
        "No difference in share of right answers was shown between b and a: +0.200"
    )
    assert (
        led(_study(_of(0.2, nan, nan)))
        == "There are too few cases to compare b with a in share of right answers."
    )


def test_a_study_that_goes_on_or_registered_no_comparison_decides_nothing() -> None:
    assert led(_study(_of(0.2, 0.1, 0.3), planned=200)) == "It is not over: 100 of 200 answers are there."
    assert led(_study(_of(0.2, 0.1, 0.3), differences=())).startswith("It is over. No primary comparison")


def test_votes_whose_worth_is_unknown_are_not_spoken_of() -> None:
    found = _study(_of(0.2, 0.1, 0.3))
    a, b = (
        replace(arm, silent=0, effective_votes=_of(worth, worth, worth))
        for arm, worth in zip(found.arms, (nan, 2.0), strict=True)
    )
    assert list(sentences(replace(found, arms=(a,)))) == []
    assert list(sentences(replace(found, arms=(a, b)))) == [
        "How many independent votes they are worth: those of b 2.000 (2.000 to 2.000)."
    ]


def test_page_and_markdown_say_the_same_and_escape_what_others_wrote() -> None:
    found = _study(_of(0.2, 0.1, 0.3))
    page, plain = report_page(found, REGISTRATION, ["cases-001.html"]), markdown(found, REGISTRATION)
    assert led(found) in page
    assert f"**{led(found)}**" in plain
    assert "Does <b> help?" not in page
    assert '<a href="cases-001.html">' in page
    assert "Found, by kind of error" in page
    assert (
        "| b over a | share of right answers | +0.200 | +0.100 to +0.300 | 3.0 and 1.0 | primary |" in plain
    )


def test_a_score_that_counts_what_is_bad_says_so_and_what_an_arm_has_not_is_not_listed() -> None:
    registration = {**REGISTRATION, "arms": {"a": {"is": "single", "minds": {}, "model": None, "usd": 0.0}}}
    page = report_page(_study(_of(-0.2, -0.3, -0.1), "regret"), registration, [])
    assert "Differences in regret, less is better" in page
    assert "is: single" in page
    assert not any(f"{name}:" in page for name in ("minds", "model", "usd"))


def test_each_case_stands_on_a_page_with_its_answers_and_their_logs() -> None:
    cases = [_result(f"case-{n}", "<script>") for n in range(CASES_A_PAGE + 1)]
    pages = dict(case_pages(cases, "../study"))
    assert list(pages) == ["cases-001.html", "cases-002.html"]
    assert f"case-{CASES_A_PAGE - 1}</th>" in pages["cases-001.html"]
    assert f"case-{CASES_A_PAGE}</th>" in pages["cases-002.html"]
    assert '<a href="../study/logs/a.jsonl">a.jsonl</a>' in pages["cases-002.html"]
    assert "<script>" not in pages["cases-001.html"]


def test_an_answer_is_told_in_short_whatever_it_is() -> None:
    given = [{"verdict": "APPROVE", "strategy": {}}, [{"lines": [1, 1]}], [], None, "Rome"]
    ((_, page),) = case_pages([_result(f"c{n}", one) for n, one in enumerate(given)], "..")
    for told in ("APPROVE", "1 finding", "0 findings", "none", "Rome"):
        assert f"<td>{told}</td>" in page
