"""The messages of a motion, all in `#motions`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, Field

from moot.protocols.kernel.fields import VISIBLE, Exact, Minted, Several, Whole
from moot.protocols.kernel.message import Message, Part, Share

MOST_OPTIONS: Final = 20
"""So many answers can be chosen from."""
MOST_QUESTION: Final = 20_000
"""Longest question, in characters; what is longer is context."""

Severity = Literal["minor", "major", "fatal"]
"""How much an objection weighs; nothing is upheld while a fatal one stands."""

Outcome = Literal["UPHELD", "REJECTED", "UNDECIDED"]
"""What a judgment says of the claim."""


def _choice(options: tuple[str, ...]) -> tuple[str, ...]:
    if len(options) == 1:
        raise ValueError("one option is no choice: give two or more, or none for yes and no")
    seen: dict[str, str] = {}
    for option in options:
        plain = " ".join(option.casefold().split())
        if seen.get(plain) == option:
            raise ValueError(f"the option {option[:60]!r} is given twice")
        if plain in seen:
            raise ValueError(f"two options are the same: {seen[plain][:60]!r} and {option[:60]!r}")
        seen[plain] = option
    return options


Question = Annotated[str, Field(min_length=1, max_length=MOST_QUESTION, pattern=VISIBLE)]
Option = Annotated[str, Field(min_length=1, max_length=200, pattern=VISIBLE)]
Options = Annotated[tuple[Option, ...], Field(max_length=MOST_OPTIONS), AfterValidator(_choice)]
Said = Annotated[str, Field(min_length=1, max_length=20_000, pattern=VISIBLE)]
"""A text that is not blank."""
Ref = Annotated[str, Field(max_length=1000)]
"""Names evidence: a work that is kept, a page, a message; "" for none."""
Number = Annotated[Whole, Field(ge=1)]
"""The number of an objection, counted from 1 over all rounds of a motion."""
Round = Annotated[Literal[1, 2, 3], Exact]


ROUNDS: Final = 2
"""Rounds of objections and replies where a motion does not say; an extension adds one (1.3)."""


def _is_usual(rounds: int) -> bool:
    return rounds == ROUNDS


class _OfMotion(Message):
    case_field: ClassVar[str] = "motion_id"
    motion_id: Minted = ""


class Motion(_OfMotion):
    """Have a question debated. Admin, and viewers where the configuration lets them write (R-Q1).

    Attributes:
        question: What is asked.
        options: The answers to choose from; none: yes or no.
        context_ref: A work that is kept as evidence and that all three seats are shown, "" for none.
        rounds: Rounds of objections and replies before the judgment; of 3 the last is the short one that the Judge may
            else add.
    """

    type: Literal["MOTION"] = "MOTION"
    question: Question
    options: Options = ()
    context_ref: Ref = ""
    rounds: Annotated[Round, Field(exclude_if=_is_usual)] = ROUNDS


class _Written(_OfMotion):
    is_free_text: ClassVar[bool] = True


class Ground(Part):
    """What a claim rests on."""

    text: Said
    evidence_ref: Ref = ""


class Claim(_Written):
    """Claim one of the options, and say why. Advocate (R-Q1)."""

    type: Literal["CLAIM"] = "CLAIM"
    option: Option
    claim: Said
    grounds: Several[Ground]


class Objection(Part):
    """What speaks against the claim."""

    number: Number
    text: Said
    severity: Severity
    evidence_ref: Ref = ""


class Objections(_Written):
    """Object to the claim; no objections end the exchange. Critic (R-Q3)."""

    type: Literal["OBJECTIONS"] = "OBJECTIONS"
    round: Round
    objections: Several[Objection]
    confidence: Share


class Reply(Part):
    """An objection answered, or conceded; the table holds it to one of both."""

    number: Number
    answer: Annotated[str, Field(max_length=20_000)] = ""
    concede: bool = False


class Replies(_Written):
    """Answer or concede objections; what is left out stands. Advocate (R-Q4)."""

    type: Literal["REPLIES"] = "REPLIES"
    round: Round
    replies: Several[Reply]


class ExtendMotion(_Written):
    """Add a third round where both sides are strong. Judge (1.3, R-D5)."""

    type: Literal["EXTEND_MOTION"] = "EXTEND_MOTION"
    for_score: Share
    against_score: Share
    reason: Said


class Judgment(_Written):
    """Judge the claim by what was said. Judge (R-Q5, R-Q6).

    Attributes:
        option: The answer that is right, "" where the judgment names none.
        standing: The numbers of the objections that stand.
    """

    type: Literal["JUDGMENT"] = "JUDGMENT"
    outcome: Outcome
    option: Annotated[str, Field(max_length=200)] = ""
    confidence: Share
    for_score: Share
    against_score: Share
    standing: Several[Number]
    reasoning: Said

    @property
    def lead(self) -> float:
        """Return by how much the case for the claim exceeds the one against it, rounded to 6 digits."""
        return round(self.for_score - self.against_score, 6)
