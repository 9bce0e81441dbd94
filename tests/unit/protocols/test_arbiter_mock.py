from __future__ import annotations

import struct

import pytest

from moot.protocols.arbiter.mock import mock_answer, mock_debate, mock_vector
from moot.protocols.arbiter.parsing import parse_debate, parse_plain


def test_vectors_are_drawn_from_the_seed_and_the_trial_alone() -> None:
    expected = (0.34103567455895245, 0.8598208238836378, 0.5217433588113636)
    found = mock_vector(424242, 0)
    assert found[:3] == struct.unpack("<3f", struct.pack("<3f", *expected))
    assert len(found) == 4
    assert found == mock_vector("424242", 0)
    assert len({mock_vector(seed, trial) for seed in (1, 2) for trial in range(50)}) == 100


def test_three_answers_are_given_in_turn() -> None:
    answers = [mock_answer(trial) for trial in range(6)]
    assert len(set(answers)) == 3
    assert answers[:3] == answers[3:]
    parsed = parse_plain(4, answers[4], "mock-v0", max_chars=100)
    assert (parsed.line.parse_status, parsed.line.embed_text) == ("success", answers[1].removesuffix("\n"))


@pytest.mark.parametrize(
    ("trial_id", "ends"),
    [
        (0, ("success", "fenced", "medium")),
        (4, ("success", "unfenced", "low")),
        (8, ("fallback", "raw", None)),
    ],
)
def test_debates_end_in_every_form_that_is_read(trial_id: int, ends: tuple[str, str, str | None]) -> None:
    debate = mock_debate(trial_id)
    line = parse_debate(trial_id, debate.final, max_chars=100).line
    assert (line.parse_status, line.extraction_method, line.confidence) == ends
    assert debate.proposal and debate.critique
