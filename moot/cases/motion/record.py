"""What a motion came to: the claim, each objection with its reply and whether it stands, the judgment (R-Q1 to Q6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from moot.protocols.authorship import written_by
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import Minds
from moot.protocols.kernel.officers import Violation
from moot.protocols.motion.messages import Judgment, Objections, Replies
from moot.protocols.motion.state import MotionState

MotionRecord = dict[str, Any]
"""JSON data: case_id, question, options, outcome (UPHELD, REJECTED, UNDECIDED, TIMEOUT, STOPPED; "" while it goes on),
claim (the option), answer, confidence, for_score, against_score, reasoning, objections, written_by."""


def motion_record(state: MotionState, messages: Iterable[Envelope], minds: Minds) -> MotionRecord:
    """Say what a motion came to, as far as it has come.

    Args:
        state: Where it is, or how it ended.
        messages: Of its case, in their order; what broke a rule is left out (K10).
        minds: Who filled the seats then.
    """
    said = list(messages)
    broken = {env.body.of_seq for env in said if isinstance(env.body, Violation)}
    bodies = [env.body for env in said if env.seq not in broken]
    judged = next((body for body in bodies if isinstance(body, Judgment)), None)
    return {
        "case_id": state.case_id,
        "question": state.question,
        "options": list(state.options),
        "outcome": (state.outcome or "").upper(),
        "claim": state.option,
        "answer": judged.option if judged is not None else "",
        "confidence": state.confidence,
        "for_score": judged.for_score if judged is not None else None,
        "against_score": judged.against_score if judged is not None else None,
        "reasoning": judged.reasoning if judged is not None else "",
        "objections": list(_objections(state, bodies)),
        "written_by": written_by(said, minds),
    }


def _objections(state: MotionState, bodies: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Tell of every objection what became of it; without a judgment those stand that nobody answered (R-Q5)."""
    replies = {one.number: one for body in bodies if isinstance(body, Replies) for one in body.replies}
    standing = set(state.standing) if state.verdict else {*state.unanswered, *state.conceded}
    for body in bodies:
        for one in body.objections if isinstance(body, Objections) else ():
            reply = replies.get(one.number)
            yield {
                "number": one.number,
                "round": body.round,
                "severity": one.severity,
                "text": one.text,
                "evidence_ref": one.evidence_ref,
                "answer": reply.answer if reply is not None else "",
                "is_conceded": one.number in state.conceded,
                "stands": one.number in standing,
            }
