"""What a mock run is answered instead of what models would say: the same for the same trial, without a call.

A third of debates decides in a fenced block, a third in bare JSON, a third in no form at all, so that a mock run passes
through all that a live one does.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from moot.protocols.arbiter.prng import stream

DIMENSIONS: Final = 4

_ANSWER: Final = "A mock answer of kind {}"
_PROPOSAL: Final = "A mock proposal: open on Sundays, for a trial period."
_CRITIQUE: Final = "A mock critique: the proposal does not say who pays."
_FINAL: Final = (
    "Having heard the critique, I decide.\n\n"
    '```json\n{"decision": "yes", "confidence": "medium", "reasoning": "A trial period shows who comes."}\n```\n',
    '{"decision": "no", "confidence": "low", "reasoning": "Nobody has said who pays."}',
    "There is much to be said for both sides, and I would rather not decide.",
)


class MockDebate(NamedTuple):
    """What the roles of a debate say, turn by turn."""

    proposal: str
    critique: str
    final: str


def mock_answer(trial_id: int) -> str:
    """Answer an independent trial; there are three answers, in turn, each ending its line."""
    return _ANSWER.format(trial_id % 3) + "\n"


def mock_debate(trial_id: int) -> MockDebate:
    """Hold a debate; how its last turn is written goes by turns."""
    return MockDebate(_PROPOSAL, _CRITIQUE, _FINAL[trial_id % 3])


def mock_vector(seed: int | str, trial_id: int) -> tuple[float, ...]:
    """Embed a trial, whatever it said.

    Returns:
        Numbers of float32 in [0, 1], shape (4,), drawn from the trial's stream `embedding`.
    """
    draws = stream(seed, "embedding", trial_id)
    form = f"<{DIMENSIONS}f"
    return struct.unpack(form, struct.pack(form, *(draws.draw() for _ in range(DIMENSIONS))))
