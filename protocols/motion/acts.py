"""What people may do with motions: have a question debated."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.acts import Act, Blank
from moot.protocols.motion.messages import Motion

ACTS: Final = (
    Act(
        name="debate",
        does="have a question debated in #motions",
        message=Motion,
        asks=(
            Blank("question", "what is asked", is_loose=True),
            Blank(
                "options",
                "two or more answers to choose from; without them yes or no",
                sign="|",
            ),
            Blank("rounds", "rounds of objections and replies, 1 to 3", sign="--rounds", is_option=True),
            Blank("context", "a text that all seats are shown", field="context_ref", is_kept=True),
        ),
    ),
)
