"""What a motion came to: the claim, each objection with its reply and whether it stands, the judgment (R-Q1 to Q6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from moot.protocols.authorship import written_by
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import Minds
from moot.protocols.kernel.officers import Violation
from moot.protocols.motion.messages import Claim, Judgment, Motion, Objections, Replies
from moot.protocols.motion.state import YES_OR_NO

MotionRecord = dict[str, Any]
"""JSON data: case_id, question, options, outcome (UPHELD, REJECTED, UNDECIDED, TIMEOUT, STOPPED; "" while it goes on),
claim (the option), answer, confidence, for_score, against_score, reasoning, objections, written_by. One that is held
without a society has warnings, too: why minds of one's own gave no answer, each reason in one line."""


def motion_record(messages: Iterable[Envelope], outcome: str | None, minds: Minds) -> MotionRecord:
    """Say what a motion came to, as far as it has come.

    Args:
        messages: Of its case from MOTION on, in their order; what broke a rule is left out (K10).
        outcome: How its case ended, None while it goes on.
        minds: Who filled the seats then.

    Raises:
        ValueError: They do not begin with a MOTION.
    """
    said = list(messages)
    if not said or not isinstance(asked := said[0].body, Motion):
        raise ValueError("a motion begins with MOTION")
    broken = {env.body.of_seq for env in said if isinstance(env.body, Violation)}
    bodies = [env.body for env in said if env.seq not in broken]
    judged = next((body for body in bodies if isinstance(body, Judgment)), None)
    claim = next((body for body in bodies if isinstance(body, Claim)), None)
    return {
        "case_id": said[0].case_id or "",
        "question": asked.question,
        "options": list(asked.options or YES_OR_NO),
        "outcome": (outcome or "").upper(),
        "claim": claim.option if claim is not None else "",
        "answer": judged.option if judged is not None else "",
        "confidence": judged.confidence if judged is not None else None,
        "for_score": judged.for_score if judged is not None else None,
        "against_score": judged.against_score if judged is not None else None,
        "reasoning": judged.reasoning if judged is not None else "",
        "objections": list(_objections(bodies, judged)),
        "written_by": written_by(said, minds),
    }


def _objections(bodies: Sequence[Any], judged: Judgment | None) -> Iterator[dict[str, Any]]:
    """Tell of every objection what became of it; without a judgment those stand that nobody answered (R-Q5)."""
    replies = {one.number: one for body in bodies if isinstance(body, Replies) for one in body.replies}
    for body in bodies:
        for one in body.objections if isinstance(body, Objections) else ():
            reply = replies.get(one.number)
            is_open = reply is None or reply.concede
            yield {
                "number": one.number,
                "round": body.round,
                "severity": one.severity,
                "text": one.text,
                "evidence_ref": one.evidence_ref,
                "answer": reply.answer if reply is not None else "",
                "is_conceded": reply is not None and reply.concede,
                "stands": one.number in judged.standing if judged is not None else is_open,
            }
