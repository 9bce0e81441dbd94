"""A motion as one of its three seats sees it: the question, the claim, the objections, what became of them."""

from __future__ import annotations

from typing import NamedTuple

from moot.bots.minds.mind import View
from moot.protocols.motion.messages import Claim, Objection, Objections, Replies, Reply


class DebatedMotion(NamedTuple):
    """A question under debate.

    Attributes:
        question: What is asked.
        options: The answers to choose from.
        context: A text that all seats are shown, "" for none.
        round: The round of an answer that belongs to one, else None.
        claim: What the Advocate claims, None before.
        objections: All objections, in the order of their numbers.
        replies: What was replied to them, oldest first.
        unanswered: Numbers of the objections that were neither answered nor conceded.
        must_stand: Numbers of the objections that a judgment has to let stand: those, and what was conceded.
        next_number: The number that the next objection bears.
        may_extend: Whether the Judge may ask for a third round.
    """

    question: str
    options: tuple[str, ...]
    context: str
    round: int | None
    claim: Claim | None
    objections: tuple[Objection, ...]
    replies: tuple[Reply, ...]
    unanswered: tuple[int, ...]
    must_stand: tuple[int, ...]
    next_number: int
    may_extend: bool

    @classmethod
    def of(cls, view: View) -> DebatedMotion:
        """Read the motion that an obligation belongs to."""
        brief, said = view.brief, [env.body for env in view.in_effect]
        return cls(
            question=brief["question"],
            options=tuple(brief["options"]),
            context=view.content,
            round=brief.get("round"),
            claim=next((one for one in said if isinstance(one, Claim)), None),
            objections=tuple(
                [one for body in said if isinstance(body, Objections) for one in body.objections]
            ),
            replies=tuple([one for body in said if isinstance(body, Replies) for one in body.replies]),
            unanswered=tuple(brief["unanswered"]),
            must_stand=tuple(sorted({*brief["unanswered"], *brief["conceded"]})),
            next_number=brief["next_number"],
            may_extend=brief["may_extend"],
        )
