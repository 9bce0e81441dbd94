"""What a passage says about a claim: words, negations, numbers; plain, bounded, and never an error (8.2, R-A10)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.seats.weighing import DISPUTED, MOST_CLAIMS, MOST_TEXT, claims_of, is_beyond, sentences, weigh

CLAIM = "The cache lowers the latency of every request"


def stance(claim, passage):
    found = weigh((claim,), [("n#1", passage)])
    return found[0].stance if found else None


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        (f"{CLAIM}.", "supports"),
        (f"It is not true that {CLAIM}.", "contradicts"),
        ("The cache never lowers the latency of a request.", "contradicts"),
        ("Bananas are yellow and grow in bunches.", None),
        (f"Bananas are yellow. It is false: {CLAIM}.", "contradicts"),
        ("", None),
    ],
)
def test_a_passage_supports_contradicts_or_says_nothing(passage, expected):
    assert stance(CLAIM, passage) == expected


def test_two_negations_cancel_out():
    claim = "The cache never lowers the latency of requests"
    assert stance(claim, f"It is not true that {claim}.") == "contradicts"
    assert stance(claim, f"{claim}.") == "supports"


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        ("The cache lowers latency by 40 %.", "supports"),
        ("The cache lowers latency by 42 %.", "supports"),
        ("The cache lowers latency by 12 %.", "contradicts"),
        ("The cache lowers latency by -40 %.", "contradicts"),
        ("The cache lowers latency by 12 ms.", "supports"),
    ],
)
def test_numbers_of_one_unit_that_are_far_apart_contradict(passage, expected):
    assert stance("The cache lowers latency by 40 %", passage) == expected


def test_a_contradiction_wins_over_support_and_every_passage_is_heard():
    found = weigh((CLAIM,), [("n#1", f"{CLAIM}. It is not true that {CLAIM}."), ("n#2", f"{CLAIM}.")])
    assert [(one.evidence_ref, one.stance) for one in found] == [("n#1", "contradicts"), ("n#2", "supports")]


def test_claims_are_sentences_that_say_something_without_their_markdown():
    draft = f"# Plan\n\n> quoted: {CLAIM} too\n\n- {CLAIM}.\n* Fine.\n\nIt costs 1.5 dollars per thousand requests! Ok?"
    assert claims_of(draft) == (CLAIM, "It costs 1.5 dollars per thousand requests")


def test_a_claim_that_is_marked_as_disputed_is_made_no_more():
    assert claims_of(f"{CLAIM} {DISPUTED}n#1: to be measured first).\nThe second claim stands alone.") == (
        "The second claim stands alone",
    )


def test_a_draft_without_claims_offers_its_first_words_and_an_empty_one_nothing():
    assert claims_of("Yes. No.") == ("Yes",)
    assert claims_of(" \n .!? \n") == ()


def test_claims_are_bounded():
    draft = "\n".join(
        f"The widget number{chr(97 + n % 26)}{chr(97 + n // 26)} serves users well." for n in range(300)
    )
    assert len(claims_of(draft)) == MOST_CLAIMS == 200
    assert is_beyond(draft)
    assert not is_beyond("\n".join(claims_of(draft)))
    assert is_beyond("x " * MOST_TEXT)


def test_a_sentence_is_told_once():
    assert sentences("A b. A b. C d.") == ("A b", "C d")


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_draft_can_be_held_against_any_passage(draft, passage):
    claims = claims_of(draft)
    for one in weigh(claims, [("n#1", passage)]):
        assert one.claim in claims
        assert one.stance in ("supports", "contradicts")


@pytest.mark.parametrize("unit", ["a", "a ", "1", "1.", "a.", "-", "\n", "not ", "5 %"])
def test_long_texts_are_weighed_in_a_blink(unit):
    text = unit * (2_000_000 // len(unit))
    weigh(claims_of(text), [(f"n#{n}", text) for n in range(5)])
