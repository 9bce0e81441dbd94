"""The lint of Phase 2 (spec 5, R-P4, R-P5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.panel.lint_phase1 import lint_phase1
from moot.protocols.panel.lint_phase2 import CHECKS, Phase2, lint_phase2
from moot.protocols.panel.triggers import STOP_WORDS, Body, tokens
from tests.doubles.panel_samples import ALL_PASS, FULL, WARNS, phase1, plan_of, report

PLAN = lint_phase1(phase1(), FULL).plan


def lint(text: str) -> Phase2:
    return lint_phase2(text, FULL, PLAN)


def checks(text: str) -> list[str]:
    return [one.check for one in lint(text).findings]


def test_a_whole_phase_2_passes() -> None:
    for text in (
        report(),
        report("da", WARNS),
        report(scores=WARNS, dissent="### D2: domain_accuracy\nToo strict."),
    ):
        found = lint(text)
        assert found.is_clean and found.check is None and not found.may_restart


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("## Dimension Scores", "## Scores", "sections"),
        ("## Failure Condition Checks", "## Checks", "sections"),
        ("## Review Body", "## Body", "review_body"),
        ("## Editorial Decision", "## Decision", "sections"),
        ("## Review Body", "## Review Body\nMore.\n\n## Review Body", "review_body"),
        ("### D4: cross_disciplinary_relevance\nscore: pass", "", "dimension_scores"),
        ("score: pass", "score: good", "dimension_scores"),
        ("### F3\nfired: false", "", "failure_condition_checks"),
        ("fired: false", "fired: maybe", "failure_condition_checks"),
        ("contract_role: eic", "", "role"),
        ("contract_role: eic", "contract_role: banana", "role"),
        ("editorial_decision=accept", "editorial_decision=fine", "decision"),
    ],
)
def test_sections_scores_flags_role_and_decision_are_there(old: str, new: str, check: str) -> None:
    assert old in report()
    found = lint(report().replace(old, new, 1))
    assert found.check == check, found.findings


def test_an_empty_review_body_is_none() -> None:
    head, tail = report().split("## Review Body")
    text = f"{head}## Review Body\n\n## Editorial Decision{tail.split('## Editorial Decision')[1]}"
    assert checks(text) == ["review_body"]


# ---------------------------------------------------------------- dissent


def test_two_dissented_dimensions_restart_the_reviewer() -> None:
    found = lint(report(scores=WARNS, dissent="dimension_id: D1\ndimension_id: D2"))

    assert found.may_restart
    assert found.check == "multi_dissent"
    assert "D1, D2" in found.findings[0].why


def test_one_dissented_dimension_is_allowed_twice_named_or_not() -> None:
    assert lint(report(scores=WARNS, dissent="### D2: x\nFor D2 the plan was too strict.")).is_clean
    assert lint(report(dissent="None.")).is_clean


def test_dissent_comes_before_the_scores_once_and_names_what_the_contract_has() -> None:
    text = report().replace("## Failure", "## Scoring Plan Dissent\n\nD2\n\n## Failure")
    assert "stands after" in lint(text).findings[0].why
    assert checks(report(dissent="dimension_id: D9")) == ["dissent"]
    assert checks(report(dissent="D2\n\n## Scoring Plan Dissent\n\nD2")) == ["dissent"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## Review Body", "## Body"),
        ("## Dimension Scores", "## Scores"),
        ("score: pass", "score: PASS"),
        ("fired: false", "fired: maybe"),
        ("contract_role: eic", "contract_role: banana"),
        ("D1, D2", "D1, D7"),
    ],
)
def test_a_malformed_report_is_restarted_for_its_dissent_all_the_same(old: str, new: str) -> None:
    """Spec 5 knows no fault that goes before two dissents or more."""
    text = report(dissent="D1, D2")
    assert old in text
    found = lint(text.replace(old, new, 1))
    assert found.check == "multi_dissent" and found.may_restart and len(found.findings) > 1


def test_what_a_dissenter_decided_does_not_count_against_its_restart() -> None:
    found = lint(report(scores=WARNS, body="Fine.", dissent="D4, D5", decision="editorial_decision=reject"))
    assert found.may_restart and len(found.findings) == 4


# ---------------------------------------------------------------- R-P4


@pytest.mark.rule("R-P4")
@pytest.mark.parametrize(
    ("scores", "body", "held"),
    [
        ({"D1": "warn"}, "Samples are tiny.", True),
        ({"D1": "warn"}, "THIRTY people were asked.", True),
        ({"D1": "warn"}, "A fine study.", False),
        # The trigger of the score counts, not the other one: control, group, all.
        ({"D1": "warn"}, "There is no control group.", False),
        ({"D1": "block"}, "There is no control group.", True),
        ({"D1": "block"}, "Samples are tiny.", False),
        # Stop words and short words tie to nothing.
        ({"D1": "warn"}, "It falls below what I expect.", False),
        ({"D1": "block"}, "no, all of it at all", False),
        # A word that goes on is the same word, one that only contains it is not.
        ({"D1": "block"}, "A controlled trial.", True),
        ({"D1": "block"}, "An uncontrolled trial.", False),
        ({"D1": "pass"}, "A fine study.", True),
        ({"D1": "warn", "D2": "warn"}, "Samples are tiny.", False),
        ({"D1": "warn", "D2": "warn"}, "Samples are tiny and citations outdated.", True),
    ],
)
def test_r_p4_a_block_or_warn_is_tied_to_its_committed_trigger(
    scores: dict[str, str], body: str, held: bool
) -> None:
    found = lint(report("da", {**ALL_PASS, **scores}, body=body))  # type: ignore[dict-item]
    assert found.is_clean == held, found.findings
    assert held or {one.check for one in found.findings} == {"consistency"}


@pytest.mark.rule("R-P4")
def test_r_p4_a_dissented_dimension_is_not_held_to_its_plan() -> None:
    body = "A fine study."
    assert lint(report(scores={"D1": "warn"}, body=body, dissent="dimension_id: D1")).is_clean
    assert checks(report(scores={"D1": "warn"}, body=body, dissent="dimension_id: D2")) == ["consistency"]


@pytest.mark.rule("R-P4")
def test_r_p4_a_trigger_without_words_binds_to_nothing() -> None:
    vague = plan_of("D1", "x").replace("samples below thirty", "if it is so, or with that score")
    plan = lint_phase1(phase1(D1=vague), FULL).plan

    assert lint_phase2(report(scores={"D1": "warn"}, body="Fine."), FULL, plan).is_clean


@pytest.mark.rule("R-P4")
def test_r_p4_the_word_stands_in_the_review_body() -> None:
    text = report(scores={"D1": "warn"}, body="Fine.").replace(
        "## Dimension", "samples thirty\n\n## Dimension"
    )
    assert checks(text) == ["consistency"]


@pytest.mark.rule("R-P4")
def test_r_p4_words_are_case_folded_and_of_any_alphabet() -> None:
    assert tokens("Größe of the STRASSE, 30 mm, x_tall") == {"grösse", "strasse", "tall"}
    assert Body("Die Straße").holds_one({"strasse"})
    assert all(len(word) >= 4 and word == word.casefold() for word in STOP_WORDS)


# ---------------------------------------------------------------- R-P5


@pytest.mark.rule("R-P5")
def test_r_p5_the_decision_follows_from_the_reviewer_s_own_flags() -> None:
    # F1 (90) and F2 (70) declared: the severer decides, whatever the quantifier of F2.
    both = report(scores=WARNS, fired=["F1", "F2"], decision="editorial_decision=reject_or_major_revision")
    assert lint(both).is_clean
    assert checks(both.replace("editorial_decision=reject_or_", "editorial_decision=")) == ["decision"]


@pytest.mark.rule("R-P5")
def test_r_p5_without_flags_it_accepts() -> None:
    assert lint(report(scores={"D1": "warn"}, fired=[], decision="editorial_decision=accept")).is_clean
    assert checks(report(scores={"D1": "warn"}, fired=[], decision="editorial_decision=minor_revision")) == [
        "decision"
    ]


# ---------------------------------------------------------------- any text


def _with_a_line(text: str, at: int, line: str) -> str:
    lines = text.split("\n")
    lines.insert(at, line)
    return "\n".join(lines)


LINES = [
    "",
    "Some prose.",
    "- an item",
    "score: warn",
    "fired: false",
    "### D9: unknown",
    "## Review Body",
    "```",
]
WHOLE = st.builds(
    lambda scores, at, line: _with_a_line(report("da", dict(zip(ALL_PASS, scores, strict=True))), at, line),
    st.lists(st.sampled_from(["pass", "warn", "block"]), min_size=5, max_size=5),
    st.integers(0, 60),
    st.sampled_from(LINES),
)
"""Whole reports, each with one more line somewhere, which spoils some of them."""


def _is_clean(text: str) -> bool:
    """Say whether the lint passes; then the report is whole, and otherwise the findings are of known checks."""
    found = lint(text)
    assert {one.check for one in found.findings} <= set(CHECKS)
    assert found.may_restart is ("multi_dissent" in {one.check for one in found.findings})
    if found.is_clean:
        reading = found.reading
        assert reading.role and reading.body and reading.decision
        assert list(reading.scores) == list(ALL_PASS) and len(reading.fired) == 4
    return found.is_clean


@given(st.text() | st.lists(st.sampled_from(report(dissent="D1, D2").split("\n"))).map("\n".join) | WHOLE)
def test_any_text_has_findings_or_is_whole(text: str) -> None:
    _is_clean(text)


def test_of_whole_reports_with_one_more_line_some_pass_and_some_do_not() -> None:
    found = [_is_clean(_with_a_line(report(), at, line)) for at in range(40) for line in LINES]
    assert found.count(True) > 50 and found.count(False) > 50


@pytest.mark.parametrize("piece", ["D1, ", "dimension_id: D1\n", "### D1: x\n", "score: pass\n", "control ",
                                   "## Review Body\n", "a b", "```\n", "\t ", "- *_`D1 and "])  # fmt: skip
@pytest.mark.parametrize("place", ["dissent", "body"])
def test_the_lint_takes_time_linear_in_the_text(piece: str, place: str) -> None:
    """A quadratic lint would not be done with it before the suite's limit for a test."""
    more = piece * (500_000 // len(piece))
    text = report(scores=WARNS, dissent=more) if place == "dissent" else report(scores=WARNS, body=more)
    assert {one.check for one in lint(text).findings} <= set(CHECKS)
