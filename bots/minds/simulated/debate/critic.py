"""The Critic: assessments of every round, and its strictness after a review."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.casefile import CaseFile, Neighbourhood, neighbourhood
from moot.bots.minds.simulated.debate.criteria import CRITERIA, spoken
from moot.bots.minds.simulated.debate.points import WEAK, grounds, objection
from moot.bots.minds.simulated.debate.rebuttal import flaw_facts, ground_facts
from moot.bots.minds.simulated.debate.weighing import Stance, excesses, flaws_of, red_lines, relieved, stance
from moot.bots.minds.simulated.phrases import Phrases, Variants
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import paragraph, sentence, two
from moot.protocols.research.messages import RiskAssessment, RiskScores, Strategy, ThresholdsAdjusted
from moot.protocols.research.seats import CRITIC

PHRASES: Final = Phrases("debate/critic")

RED: Final[Mapping[str, str]] = {"owned": "correlation_risk", "sensitive": "overfitting"}
"""The criterion by which a red line's condition is told."""

Round = Literal[1, 2, 3, "revision"]

ROUNDS: Mapping[str, Round] = {"1": 1, "2": 2, "3": 3, "revision": "revision"}
"""Rounds by the step of their obligation."""


def assess(turn: Turn) -> Reply:
    """Assess the strategy as it stands, the answers given so far taken into account."""
    number = ROUNDS.get(turn.round, 1)
    file = turn.file
    if file is None:
        return Reply(_untestable(turn, number))
    attention = turn.attention(file.scores, file.spec.archetype)
    answers = None if number in (1, "revision") else turn.strengths(file)
    ground = neighbourhood(file.spec, turn.universe) if number == 3 else None
    excess = relieved(excesses(file.scores, turn.thresholds, attention, turn.temper), answers, turn.temper)
    codes = flaws_of(file)
    red = red_lines(file, ground)
    found = stance(excess, len(codes), turn.temper, ground, red)
    limits = {name: turn.limit(name, attention) for name in CRITERIA}
    return Reply(
        RiskAssessment(
            round=number,
            risk_rating=found.rating,
            confidence=found.confidence,
            scores=RiskScores(**file.scores),
            conditions=_conditions(turn, found, limits, red),
            fatal_flaws=tuple(
                sentence(turn.voice.say(PHRASES[f"flaws.{code}"], **flaw_facts(file))) for code in codes
            ),
            reasoning=_reasoning(turn, number, file, found, limits, answers, ground, red),
        )
    )


def _conditions(
    turn: Turn, found: Stance, limits: Mapping[str, float], red: Collection[str]
) -> tuple[str, ...]:
    """Say what would make it acceptable; a PASS needs nothing, a REJECT is past conditions."""
    if found.rating != "CONDITIONAL_PASS":
        return ()
    said = []
    named = [RED[code] for code in red if code in RED]
    for name in dict.fromkeys((*found.worst[:3], *named)):
        text = turn.voice.say(PHRASES[f"conditions.{name}"], name=spoken(name), limit=two(limits[name]))
        said.append(f"{spoken(name)}: {text}")
    return tuple(said)


def _reasoning(
    turn: Turn,
    number: Round,
    file: CaseFile,
    found: Stance,
    limits: Mapping[str, float],
    answers: Mapping[str, float] | None,
    ground: Neighbourhood | None,
    red: Collection[str],
) -> str:
    voice = turn.voice
    openings = {
        "REJECT": PHRASES["first_reject"],
        "CONDITIONAL_PASS": PHRASES["first_conditional"],
        "PASS": PHRASES["first_pass"],
    }
    said = [voice.say(openings[found.rating])]
    if number == "revision":
        better, same = PHRASES["revision_better"], PHRASES["revision_same"]
        said.append(_compared(turn, file, turn.transcript.first_strategy, better, same))
    elif turn.transcript.change is not None:
        better, same = PHRASES["change_better"], PHRASES["change_same"]
        said.append(_compared(turn, file, turn.transcript.change[0], better, same))
    if number in (1, "revision") or answers is None:
        said += [_pointed(turn, PHRASES["over"], file, name, limits) for name in found.worst[:3]]
        if number in (2, 3):
            said.append(voice.say(PHRASES["no_rebuttal"]))
    else:
        said += _answered(turn, file, found, answers)
    if ground is not None:
        firm = PHRASES["ground_firm"] if ground.firmness > 0.0 else PHRASES["ground_soft"]
        said.append(voice.say(firm, **ground_facts(ground)))
    said += [
        voice.say(PHRASES[f"red.{code}"], **flaw_facts(file)) for code in red if code in ("thin", "owned")
    ]
    if not found.worst:
        closest = max(CRITERIA, key=lambda name: found.excess[name])
        said.append(_pointed(turn, PHRASES["highest"], file, closest, limits))
    said += _prompted(turn, file, limits)
    if found.confidence > 0.85:
        said.append(voice.say(PHRASES["sure"]))
    elif found.confidence < 0.6:
        said.append(voice.say(PHRASES["unsure"]))
    return paragraph(*said)


def _pointed(turn: Turn, variants: Variants, file: CaseFile, name: str, limits: Mapping[str, float]) -> str:
    return turn.voice.say(
        variants,
        name=spoken(name),
        score=two(file.scores[name]),
        limit=two(limits[name]),
        basis=objection(name, file, turn.voice),
    )


def _answered(turn: Turn, file: CaseFile, found: Stance, answers: Mapping[str, float]) -> list[str]:
    """Go through the answers: which held, which did not, which points were passed over."""
    said = []
    for name, strength in list(answers.items())[:3]:
        variants, basis = (
            (PHRASES["settled"], grounds) if strength >= WEAK else (PHRASES["unsettled"], objection)
        )
        said.append(turn.voice.say(variants, name=spoken(name), basis=basis(name, file, turn.voice)))
    silent = [name for name in found.worst if name not in answers]
    if silent:
        said.append(turn.voice.say(PHRASES["passed_over"], name=spoken(silent[0])))
    return said


def _compared(turn: Turn, file: CaseFile, old: Strategy | None, better: Variants, same: Variants) -> str:
    """Compare a strategy that was changed with what it was, on the point where they differ most."""
    before = turn.file_of(old)[0] if old is not None else None
    if before is None:
        return ""
    name = max(CRITERIA, key=lambda one: abs(before.scores[one] - file.scores[one]))
    fell = before.scores[name] - file.scores[name]
    return turn.voice.say(
        better if fell > 0.05 else same,
        name=spoken(name),
        before=two(before.scores[name]),
        after=two(file.scores[name]),
    )


def _prompted(turn: Turn, file: CaseFile, limits: Mapping[str, float]) -> list[str]:
    """Say which principles and notes changed what is tolerated."""
    voice, said = turn.voice, []
    archetype = file.spec.archetype
    for principle in turn.principles:
        if principle.archetype == archetype and principle.failure_code in CRITERIA:
            said.append(
                voice.say(
                    PHRASES["principle"],
                    id=principle.principle_id,
                    statement=principle.statement,
                    confidence=two(principle.confidence),
                    name=spoken(principle.failure_code),
                    evidence=str(principle.evidence_count),
                )
            )
            break
    plain = excesses(file.scores, turn.thresholds, {}, turn.temper)
    worst = max(plain, key=lambda one: plain[one])
    for note in turn.notes:
        names = note.criteria or ((worst,) if archetype in note.archetypes else ())
        if names:
            facts = {"name": spoken(names[0]), "limit": two(limits[names[0]])}
            said.append(voice.say(PHRASES["note_score"], **note.facts, **facts))
        else:
            said.append(voice.say(PHRASES["note_other"], **note.facts))
    return said


def _untestable(turn: Turn, number: Round) -> RiskAssessment:
    """Reject what cannot be computed; every score is the worst, and there is nothing to discuss."""
    text = sentence(turn.voice.say(PHRASES["untestable"], why=turn.fault))
    return RiskAssessment(
        round=number,
        risk_rating="REJECT",
        confidence=0.95,
        scores=RiskScores(**dict.fromkeys(CRITERIA, 1.0)),
        conditions=(),
        fatal_flaws=(sentence(turn.fault),),
        reasoning=text,
    )


def adjust(turn: Turn) -> Reply:
    """Answer a THRESHOLD_REVIEW with what its factor makes of the strictness (R-D14, R-D17)."""
    brief: Mapping[str, Any] = turn.view.brief
    return Reply(
        ThresholdsAdjusted(period=brief["period"], before=dict(brief["before"]), after=dict(brief["after"]))
    )


ANSWERS: Final[Answers] = {
    (CRITIC, RiskAssessment): assess,
    (CRITIC, ThresholdsAdjusted): adjust,
}
