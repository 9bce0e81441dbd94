"""What a seat said in a debate, as plain text without names and numbers of messages."""

from __future__ import annotations

from moot.protocols.kernel.message import Message
from moot.protocols.motion.messages import Claim, ExtendMotion, Judgment, Objections, Replies


def spoken(body: Message) -> str | None:
    """Return what a message of a seat says, a line for each ground, objection or reply; None for any other."""
    match body:
        case Claim():
            return "\n".join([f"{body.option}: {body.claim}", *(f"- {one.text}" for one in body.grounds)])
        case Objections():
            told = [f"{one.number}. {one.severity}: {one.text}" for one in body.objections]
            return "\n".join(told) or "no objections"
        case Replies():
            told = [f"{one.number}. {'conceded' if one.concede else one.answer}" for one in body.replies]
            return "\n".join(told) or "no replies"
        case ExtendMotion():
            return f"one more round: {body.reason}"
        case Judgment():
            return body.reasoning
    return None
