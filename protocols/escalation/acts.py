"""What people may do with an escalation: say that they have seen it, and answer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.escalation.messages import EscalationAck, EscalationAnswer
from moot.protocols.kernel.acts import Act, Blank, Words

_ID: Final = Blank(
    "id",
    "id of the escalation, as the message shows it",
    "escalation_id",
    aliases=("escalation", "case", "case_id"),
)


def is_option(said: str) -> bool:
    """Say whether somebody wrote the number of an option."""
    return said.isascii() and said.isdigit() and len(said) <= 4


def _answer(words: Words) -> Mapping[str, Any]:
    said = words["option_or_text"]
    return {
        "escalation_id": words["id"],
        "option": int(said) if is_option(said) else None,
        "text": None if is_option(said) else said,
    }


ACTS: Final = (
    Act(
        name="ack",
        does="say that you have seen an escalation",
        message=EscalationAck,
        asks=(_ID,),
        about="escalation_id",
    ),
    Act(
        name="answer",
        command="reply",
        does="answer an escalation",
        message=EscalationAnswer,
        asks=(
            _ID,
            Blank(
                "option_or_text",
                "number of an option, or your answer in words",
                aliases=("option", "text", "answer"),
            ),
        ),
        about="escalation_id",
        read=_answer,
    ),
)
