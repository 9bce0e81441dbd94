"""The Critic: assessments of every round, and its strictness after a review."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.casefile import CaseFile, Neighbourhood, neighbourhood
from moot.bots.minds.simulated.debate.criteria import CRITERIA, listed, spoken
from moot.bots.minds.simulated.debate.points import WEAK, grounds, objection, point
from moot.bots.minds.simulated.debate.rebuttal import flaw_facts, ground_facts
from moot.bots.minds.simulated.debate.weighing import Stance, excesses, flaws_of, red_lines, relieved, stance
from moot.bots.minds.simulated.phrases import Phrases, Variants
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import beside, paragraph, percent, sentence, two
from moot.protocols.research.messages import RiskAssessment, RiskScores, ThresholdsAdjusted
from moot.protocols.research.seats import CRITIC

PHRASES: Final = Phrases("debate/critic")

RED: Final[Mapping[str, str]] = {"owned": "correlation_risk", "sensitive": "overfitting"}
"""The criterion by which a red line's condition is told."""

MOVES: Final = 0.05
"""A score that a change moves by less hardly moves."""

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
            conditions=_conditions(turn, file, found, limits, red),
            fatal_flaws=tuple(
                sentence(turn.voice.say(PHRASES[f"flaws.{code}"], **flaw_facts(file))) for code in codes
            ),
            reasoning=_reasoning(turn, number, file, found, limits, answers, ground, red),
        )
    )


def _conditions(
    turn: Turn, file: CaseFile, found: Stance, limits: Mapping[str, float], red: Collection[str]
) -> tuple[str, ...]:
    """Say what would make it acceptable; a PASS needs nothing, a REJECT is past conditions."""
    if found.rating != "CONDITIONAL_PASS":
        return ()
    target = percent(file.spec.params["target_vol"], 0)
    said = []
    for name in _to_mend(found, red):
        facts = {"score": two(file.scores[name]), "limit": two(limits[name]), "target": target}
        text = turn.voice.say(PHRASES[f"conditions.{name}"], **facts, **point(name, file).facts)
        said.append(f"{spoken(name)}: {text}")
    return tuple(said)


def _to_mend(found: Stance, red: Collection[str]) -> tuple[str, ...]:
    """Name the criteria that a pass would need conditions on, worst first."""
    return tuple(dict.fromkeys((*found.worst[:3], *(RED[code] for code in red if code in RED))))


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
    said = [_opening(turn, file, found, limits, red)]
    is_revised, changed = number == "revision", turn.transcript.change
    old = turn.transcript.first_strategy if is_revised else changed[0] if changed is not None else None
    before = turn.file_of(old)[0] if old is not None else None
    if before is not None:
        said.append(_compared(turn, file, before, is_revised=is_revised))
    if number in (1, "revision") or answers is None:
        said += [_pointed(turn, PHRASES["over"], file, name, limits) for name in found.worst[:3]]
        if number in (2, 3):
            said.append(voice.say(PHRASES["no_rebuttal"]))
    else:
        said += _answered(turn, file, found, answers, before)
    if ground is not None:
        firm = PHRASES["ground_firm"] if ground.firmness > 0.0 else PHRASES["ground_soft"]
        said.append(voice.say(firm, **ground_facts(ground)))
    if "owned" in red:
        said.append(voice.say(PHRASES["red.owned"], **flaw_facts(file)))
    return paragraph(*said, *_prompted(turn, file, limits))


def _opening(
    turn: Turn, file: CaseFile, found: Stance, limits: Mapping[str, float], red: Collection[str]
) -> str:
    """Say first what the rating rests on: a flaw, a red line, the scores that exceed, or the one that comes closest."""
    facts = flaw_facts(file)
    if found.rating == "PASS":
        closest = max(CRITERIA, key=lambda name: found.excess[name])
        return _pointed(turn, PHRASES["opening.pass"], file, closest, limits)
    if found.rating == "REJECT" and (codes := flaws_of(file)):
        flaw = turn.voice.say(PHRASES[f"stopped_by.{codes[0]}"], **facts)
        return turn.voice.say(PHRASES["opening.reject_fatal"], flaw=flaw)
    if found.rating == "REJECT" and "thin" in red:
        return turn.voice.say(PHRASES["red.thin"], **facts)
    names = _to_mend(found, red)
    kind = "reject" if found.rating == "REJECT" else "conditional"
    variants = PHRASES[f"opening.{kind}"] if names else PHRASES[f"opening.{kind}_plain"]
    return turn.voice.say(variants, names=listed(map(spoken, names)), **facts)


def _pointed(turn: Turn, variants: Variants, file: CaseFile, name: str, limits: Mapping[str, float]) -> str:
    score, limit = beside(file.scores[name], limits[name])
    return turn.voice.say(
        variants,
        name=spoken(name),
        score=score,
        limit=limit,
        basis=objection(name, file, turn.voice),
        validation=two(file.validation["sharpe"]),
    )


def _answered(
    turn: Turn, file: CaseFile, found: Stance, answers: Mapping[str, float], before: CaseFile | None
) -> list[str]:
    """Go through the answers: which held, which did not; then what was passed over, or what a change made worse."""
    said = []
    for name, strength in list(answers.items())[:3]:
        variants, basis = (
            (PHRASES["settled"], grounds) if strength >= WEAK else (PHRASES["unsettled"], objection)
        )
        said.append(turn.voice.say(variants, name=spoken(name), basis=basis(name, file, turn.voice)))
    told = _most_moved(before, file) if before is not None else ""
    silent = [name for name in found.worst if name not in answers and name != told]
    if silent:
        was, now = before.scores[silent[0]] if before is not None else 1.0, file.scores[silent[0]]
        variants = PHRASES["pushed"] if was < now - MOVES else PHRASES["passed_over"]
        said.append(turn.voice.say(variants, name=spoken(silent[0]), before=two(was), score=two(now)))
    return said


def _most_moved(before: CaseFile, file: CaseFile) -> str:
    """Name the score by which two strategies differ most."""
    return max(CRITERIA, key=lambda one: abs(before.scores[one] - file.scores[one]))


def _compared(turn: Turn, file: CaseFile, before: CaseFile, *, is_revised: bool) -> str:
    """Compare a strategy that was changed with what it was, on the point where they differ most."""
    name = _most_moved(before, file)
    if before.spec == file.spec:
        name = max(CRITERIA, key=lambda one: file.scores[one])
        return turn.voice.say(PHRASES["unchanged"], name=spoken(name), after=two(file.scores[name]))
    fell = before.scores[name] - file.scores[name]
    how = "better" if fell > MOVES else "worse" if fell < -MOVES else "same"
    return turn.voice.say(
        PHRASES[f"revision.{how}"] if is_revised else PHRASES[f"change.{how}"],
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
                    archetype=spoken(archetype),
                    name=spoken(principle.failure_code),
                    score=two(file.scores[principle.failure_code]),
                    limit=two(limits[principle.failure_code]),
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
