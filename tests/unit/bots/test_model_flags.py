"""Flags on answers that are valid in form and of no use."""

from __future__ import annotations

import pytest

from moot.bots.minds.model.flags import flag_of
from moot.protocols.arena.messages import ArenaDraft
from moot.protocols.motion.messages import Claim

TEXT = (
    "The plan has three parts. First, positions are closed before the weekend when their stop is nearer than the "
    "average gap. Second, what stays open is hedged with an index future. Third, the desk reports every Monday "
    "what the gaps cost, so that the limit can be moved by evidence and not by the last bad week."
)
TABLE = "| day | limit |\n|---|---|\n" + "".join(f"| {n} | {n * 7} % of the book |\n" for n in range(40))
CLAIM = Claim.model_validate(
    {"motion_id": "m", "option": "Oslo", "claim": "It is nearer.", "grounds": ({"text": "The map says so."},)}
)
SAME = {"option": "Oslo", "claim": " it is  nearer. ", "grounds": [{"text": "The map says so."}]}


@pytest.mark.parametrize(
    "found",
    [
        "the the " * 30,
        "I must think about the limits again and again " * 5,
        "The limit is too high for this book. " * 6,
        TEXT + " " + TEXT,
        TEXT + "\n\n" + "So the answer is clear and nothing else is to be said here.\n" * 20,
        "好的好的" * 30,
        "!" * 300,
        {"claim": "The limit is too high for this book. " * 6},
        {"grounds": [{"text": "Fine."}, {"text": "no " * 80}]},
        {"answer": {"type": "CLAIM", "claim": "no " * 80}},
    ],
)
def test_a_text_that_repeats_itself_is_flagged(found: object) -> None:
    assert "repeats itself" in flag_of(found)


@pytest.mark.parametrize(
    "found",
    [
        "",
        "no",
        "no, no, no",
        "A text for claim",
        TEXT,
        TABLE,
        "-" * 40,
        "1. Buy.\n2. Sell.\n3. Buy.\n4. Sell.\n5. Buy.\n",
        {"scores": [0.3] * 40, "names": ["same"] * 40},
        {"conditions": ["The window of the fit overlaps."] * 3},
    ],
)
def test_a_text_that_does_not_is_none(found: object) -> None:
    assert flag_of(found) == ""


@pytest.mark.parametrize(
    ("found", "is_flagged"),
    [
        ({"confidence": 0, "severity": "fatal"}, True),
        ({"confidence": 0.0, "objections": [{"severity": "minor"}, {"severity": "FATAL"}]}, True),
        ({"confidence": 0, "fatal_flaws": ["It peeks."]}, True),
        ({"objections": [{"severity": "fatal", "confidence": 0}]}, True),
        ({"answer": {"type": "CLAIM", "confidence": 0, "severity": "fatal"}}, True),
        ({"confidence": 0, "severity": "major"}, False),
        ({"confidence": 0, "fatal_flaws": []}, False),
        ({"confidence": 0.01, "severity": "fatal"}, False),
        ({"confidence": False, "severity": "fatal"}, False),
        ({"severity": "fatal"}, False),
    ],
)
def test_something_fatal_that_nobody_is_sure_of_is_flagged(found: object, is_flagged: bool) -> None:
    assert bool(flag_of(found)) == is_flagged


@pytest.mark.parametrize(
    ("found", "is_flagged"),
    [
        (SAME, True),
        ({"answer": {"type": "CLAIM", **SAME}}, True),
        ({**SAME, "option": "Rome"}, False),
        ({**SAME, "grounds": []}, False),
        ({"option": "Oslo"}, False),
    ],
)
def test_the_fields_of_the_round_before_are_flagged(found: object, is_flagged: bool) -> None:
    assert ("identical" in flag_of(found, CLAIM)) == is_flagged
    assert "identical" not in flag_of(found, None)


def test_the_text_of_the_round_before_is_flagged() -> None:
    draft = ArenaDraft.model_construct(text=TEXT)
    assert "identical" in flag_of(TEXT.replace(" ", "\n"), draft)
    assert flag_of(TEXT[:-1] + ", and not by feeling.", draft) == ""
