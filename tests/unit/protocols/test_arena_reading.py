"""What is read out of a review besides its verdict: items, contradictions, evidence, rationale (3.2, 8.2, R-A10)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.arena.messages import NotebookFinding
from moot.protocols.arena.reading import LONGEST, MOST_ITEMS, has_rationale, is_mentioned, issues_of
from moot.protocols.arena.relevance import excess


def found(text, verdict="REVISE", refs=(), findings=()):
    return [(one.id, one.kind, one.text) for one in issues_of(text, verdict, 2, refs, findings)]


def finding(claim="widgets fly", ref="n#2", stance="contradicts"):
    return NotebookFinding(claim=claim, evidence_ref=ref, stance=stance)


@pytest.mark.parametrize("mark", ["-", "*", "+", "1.", "12)", "  -", "\t3."])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_list_items_of_a_revise_are_its_issues_whatever_ends_the_lines(mark, end):
    text = end.join(
        ["Review.", f"{mark} no goal  ", "prose - of a sort", f"{mark} no owner", "VERDICT: REVISE"]
    )
    assert found(text) == [("r2-1", "issue", "no goal"), ("r2-2", "issue", "no owner")]


@pytest.mark.parametrize(
    "text", ["-no blank", "a - b", "1 . x", "1234. x", "-", "- ", "- \n", "-- x", ">- x"]
)
def test_what_is_no_list_item_leaves_a_revise_without_a_named_one(text):
    assert found(text) == [("r2-1", "unnamed", "the review asks for a revision and names no item")]


def test_an_item_ends_with_its_line():
    assert found("- \n\nnot this\n- that") == [("r2-1", "issue", "that")]


def test_items_and_their_texts_are_bounded():
    listed = found("- " + "x" * 5000 + "\n" + "- y\n" * 1000)
    assert len(listed) == MOST_ITEMS
    assert len(listed[0][2]) == LONGEST


def test_an_approval_leaves_no_named_item_open():
    assert found("- nice\nVERDICT: APPROVED", "APPROVED") == []


@pytest.mark.rule("R-A10")
def test_r_a10_a_contradiction_names_claim_and_evidence_whatever_the_verdict():
    for verdict in ("APPROVED", "REVISE"):
        (issue,) = issues_of("n#2 is seen", verdict, 1, ("n#2",), [finding(), finding(stance="supports")])
        assert (issue.kind, issue.claim, issue.evidence_ref) == ("contradiction", "widgets fly", "n#2")
        assert issue.text == "contradiction: widgets fly (n#2)"


def test_8_2_evidence_that_the_review_does_not_mention_is_listed_and_asks_for_nothing():
    issues = issues_of("seen: n#1\nVERDICT: APPROVED", "APPROVED", 1, ("n#1", "n#2"), ())
    assert [(one.kind, one.evidence_ref, one.is_unresolved) for one in issues] == [("evidence", "n#2", False)]


def test_8_2_evidence_is_not_mentioned_by_a_longer_reference():
    (issue,) = issues_of("seen: n#12", "APPROVED", 1, ("n#1", "n#12"), ())
    assert issue.evidence_ref == "n#1"


def test_8_2_contradicting_evidence_is_listed_once():
    assert [kind for _, kind, _ in found("x", "APPROVED", ("n#2",), [finding()])] == ["contradiction"]


@pytest.mark.parametrize(
    ("ref", "text", "is_it"),
    [
        ("n#1", "see n#1.", True),
        ("n#1", "see n#12", False),
        ("n#1", "see n#12 and n#1", True),
        ("n#1", "(n#1)", True),
        ("note.md#ab", "note.md#abc", False),
        ("note.md#", "note.md#abc", False),
        ("notes.md#2", "see my-notes.md#2", False),
        ("notes.md#2", "see old/notes.md#2", False),
        ("notes.md#2", "see old/notes.md#2, and notes.md#2", True),
        ("a#1", "as beta#1.5 says", False),
        ("a#1", "as a#1.5 says", False),
        ("a#1", "as beta#1 says", False),
        ("a#1", "as a#1-2 says", False),
        ("a#1", "as a#1. So it is", True),
        ("a#1", "- a#1: a claim", True),
        ("a#1", "**a#1**, _a#1_ and `a#1`", True),
        ("a#1", "a#1", True),
        ("b", "http://x/a?b&c", False),
        ("n#1", "", False),
        ("a", "a" * 10_000, False),
    ],
)
def test_8_2_a_longer_reference_does_not_mention_a_shorter_one(ref, text, is_it):
    assert is_mentioned(ref, text) is is_it


def test_issues_are_counted_in_one_row_through_all_kinds():
    issues = issues_of("- a\n- b", "REVISE", 3, ("n#1", "n#2"), [finding()])
    assert [(one.id, one.kind) for one in issues] == [
        ("r3-1", "issue"), ("r3-2", "issue"), ("r3-3", "contradiction"), ("r3-4", "evidence")
    ]  # fmt: skip


@pytest.mark.rule("R-A9")
def test_r_a9_a_part_of_a_line_that_is_excluded_on_its_own_is_taken_out_of_the_issue():
    text = "- roll out v2.3.1 to staging " + "a" * 600 + " for the backtest"
    assert not excess(text)
    assert excess(text[2:LONGEST])
    assert not any(excess(said) for _, _, said in found(text))


@pytest.mark.rule("R-A10")
@pytest.mark.parametrize(
    "text", ["RATIONALE: it is fine", "a\nrationale:x", "a\r  Rationale:\tx\r\n", "a\r\nRATIONALE: x"]
)
def test_r_a10_a_rationale_is_a_line_of_its_own_that_says_something(text):
    assert has_rationale(text)


@pytest.mark.rule("R-A10")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "RATIONALE:",
        "RATIONALE: \nx",
        "my RATIONALE: x",
        "RATIONALE x",
        "RAT\u0131ONALE: x",
        "> RATIONALE: x",
    ],
)
def test_r_a10_a_mere_mention_is_no_rationale(text):
    assert not has_rationale(text)


@given(st.text(max_size=200), st.sampled_from(["APPROVED", "REVISE"]))
def test_any_review_can_be_read_and_a_revise_always_leaves_something(text, verdict):
    issues = issues_of(text, verdict, 1, ("n#1",), [finding(stance="supports")])
    assert [one.id for one in issues] == [f"r1-{n}" for n in range(1, len(issues) + 1)]
    assert any(one.is_unresolved for one in issues) is (verdict == "REVISE")
    has_rationale(text)


@pytest.mark.parametrize("unit", ["\n", " ", "- ", "-\t", "RATIONALE:", "\r\n- x", "1", "- x\r"])
def test_a_long_review_is_read_in_a_blink(unit):
    text = unit * (4_000_000 // len(unit))
    issues_of(text, "REVISE", 1, ("n#1",), ())
    has_rationale(text)
