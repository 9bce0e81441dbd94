"""The Judge of motions: weighs objections by their number and severity, within what the table allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.answering import Answering
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.wording import quoted, sentence, two
from moot.protocols.motion import messages as m
from moot.protocols.research.debate_table import EXTENSION_BAND, LOW_CONFIDENCE

PHRASES: Final = Phrases("motion/judge")

WEIGHTS: Final[Mapping[m.Severity, float]] = {"minor": 0.06, "major": 0.16, "fatal": 0.22}
"""What an objection that stands adds to the argument against the claim; one that was answered adds a fifth of it."""
ANSWERED: Final = 0.2
STRENGTH: Final = 0.72
"""The argument for a claim that nothing speaks against; half of what speaks against it is taken off."""
DOUBT: Final = 0.38
"""The argument against such a claim."""
SPREAD: Final = 0.08
"""By so much chance moves either argument."""
UNCONVINCED: Final = 0.12
"""How often an answer does not convince, so that its objection stands all the same."""


def judge(asked: Answering) -> Reply:
    """Judge the claim, or ask for a third round where both arguments are strong."""
    brief, rng = asked.view.brief, asked.rng("judgment")
    raised: Sequence[m.Severity] = brief["raised"]
    stands = {*brief["unanswered"], *brief["conceded"]}
    stands |= {n for n in range(1, len(raised) + 1) if float(rng.random()) < UNCONVINCED}
    standing = tuple(sorted(stands))
    burden = sum(WEIGHTS[one] * (1 if n in stands else ANSWERED) for n, one in enumerate(raised, 1))
    for_score = _share(STRENGTH - burden / 2 + float(rng.uniform(-SPREAD, SPREAD)))
    against_score = _share(DOUBT + burden + float(rng.uniform(-SPREAD, SPREAD)))
    facts = {
        "option": quoted(brief["claimed"]),
        "standing": str(len(standing)),
        "raised": str(len(raised)),
        "for_score": two(for_score),
        "against_score": two(against_score),
    }
    if "EXTEND_MOTION" in asked.view.obligation.expects and _are_strong(for_score, against_score):
        reason = sentence(asked.voice.say(PHRASES["extend"], **facts))
        return Reply(m.ExtendMotion(for_score=for_score, against_score=against_score, reason=reason))
    confidence = _share(0.5 + abs(for_score - against_score))
    is_fatal = any(raised[n - 1] == "fatal" for n in standing)
    outcome = _outcome(for_score > against_score, confidence, is_fatal, brief["is_examined"])
    why = outcome.lower() if brief["is_examined"] else "unexamined"
    return Reply(
        m.Judgment(
            outcome=outcome,
            option=_option(outcome, brief["claimed"], brief["options"]),
            confidence=confidence,
            for_score=for_score,
            against_score=against_score,
            standing=standing,
            reasoning=sentence(asked.voice.say(PHRASES[f"outcomes.{why}"], **facts)),
        )
    )


def _are_strong(*scores: float) -> bool:
    """Say whether the arguments of both sides are so strong that a third round is worth it (1.3)."""
    low, high = EXTENSION_BAND
    return all(low <= score <= high for score in scores)


def _outcome(is_stronger: bool, confidence: float, is_fatal: bool, is_examined: bool) -> m.Outcome:
    """Decide as the table allows; a confidence that suffices comes of a difference that does."""
    if not is_examined or confidence < LOW_CONFIDENCE or (is_stronger and is_fatal):
        return "UNDECIDED"
    return "UPHELD" if is_stronger else "REJECTED"


def _option(outcome: m.Outcome, claimed: str, options: Sequence[str]) -> str:
    """Name the answer: the claim that is upheld, or the one that is left where there are two."""
    if outcome == "UPHELD":
        return claimed
    others = [one for one in options if one != claimed]
    return others[0] if outcome == "REJECTED" and len(others) == 1 else ""


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 0.95), 2)
