"""The Evolver as judge: extension, verdicts, the request to revise. It never says what a rule forbids."""

from __future__ import annotations

from typing import Any, Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.casefile import CaseFile
from moot.bots.minds.simulated.debate.criteria import CRITERIA, spoken
from moot.bots.minds.simulated.debate.judgement import Decision, Weighed, decide, is_mendable, weigh
from moot.bots.minds.simulated.debate.points import WEAK, grounds, objection
from moot.bots.minds.simulated.debate.weighing import LEAST_SHARPE, quality
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import beside, briefly, paragraph, sentence, two
from moot.protocols.research.debate_table import CYCLE_BUDGET, EXTENSION_BAND, EXTENSION_COSTS, NEXT_ACTION
from moot.protocols.research.messages import (
    ExtendDebate,
    FinalVerdict,
    ReviseRequest,
    RiskAssessment,
    Verdict,
)
from moot.protocols.research.seats import EVOLVER

PHRASES: Final = Phrases("debate/evolver")

MATTERS: Final = 0.05
"""A score that falls by so much in a debate is worth a word in the verdict."""

CLOSE: Final = 0.1
"""Arguments that lie no further apart are called close."""


def judge(turn: Turn) -> Reply:
    """Decide the debate, or ask for a third round."""
    weighed = weigh(turn)
    expects = turn.view.obligation.expects
    low, high = EXTENSION_BAND
    is_even = low <= weighed.alpha <= high and low <= weighed.risk <= high
    fits = turn.elapsed + EXTENSION_COSTS <= CYCLE_BUDGET
    must_extend = "EXTEND_DEBATE" in expects and "VERDICT" not in expects
    if must_extend or ("EXTEND_DEBATE" in expects and is_even and fits and not turn.view.refused):
        return Reply(_extension(turn, weighed))
    decision, codes = decide(turn, weighed, may_ask=True)
    return Reply(Verdict(**_verdict(turn, weighed, decision, codes)))


def judge_finally(turn: Turn) -> Reply:
    """Decide the revised hypothesis: APPROVE or REJECT (R-D9)."""
    weighed = weigh(turn)
    decision, codes = decide(turn, weighed, may_ask=False)
    return Reply(FinalVerdict(**_verdict(turn, weighed, decision, codes)))


def _extension(turn: Turn, weighed: Weighed) -> ExtendDebate:
    low, high = EXTENSION_BAND
    # A script may ask for an extension that the figures do not; it stays legal, unless the script says more.
    alpha, risk = (min(max(score, low), high) for score in (weighed.alpha, weighed.risk))
    text = turn.voice.say(PHRASES["extend"], alpha=two(alpha), risk=two(risk))
    return ExtendDebate(
        extra_rounds=1,
        alpha_argument_score=alpha,
        risk_argument_score=risk,
        reason=paragraph(text, *_notes(turn)),
    )


def _verdict(turn: Turn, weighed: Weighed, decision: Decision, codes: tuple[str, ...]) -> dict[str, Any]:
    transcript = turn.transcript
    assessment = transcript.assessment
    assessments = list(transcript.all(RiskAssessment))
    points = sum(1 for value in weighed.excess.values() if value > 0.0)
    answers = list(weighed.answers.values()) if weighed.answers is not None else []
    kept = assessment.conditions if assessment is not None and decision == "APPROVE" else ()
    return {
        "verdict": decision,
        "confidence": weighed.confidence,
        "reasoning": _reasoning(turn, weighed, decision, codes),
        "alpha_argument_score": weighed.alpha,
        "risk_argument_score": weighed.risk,
        "debate_quality": quality(
            len(assessments), points, transcript.responses, answers, transcript.silences
        ),
        "conditions": kept,
        "next_action": NEXT_ACTION[decision],
    }


def _reasoning(turn: Turn, weighed: Weighed, decision: Decision, codes: tuple[str, ...]) -> str:
    """Say what decided it first, then what the exchange changed."""
    voice, file = turn.voice, turn.file
    facts = {
        "confidence": two(weighed.confidence),
        "why": turn.fault or turn.view.refused,
        "what": briefly(file.spec) if file is not None else "it",
        "name": spoken(weighed.worst),
        "basis": objection(weighed.worst, file, voice) if file is not None and weighed.worst else "",
        "train": two(file.train["sharpe"]) if file is not None else "unknown",
        "validation": two(file.validation["sharpe"]) if file is not None else "unknown",
        "alpha": two(weighed.alpha),
        "risk": two(weighed.risk),
    }
    # What a tie comes to, a revision says by itself.
    said = [
        voice.say(PHRASES[f"reasons.{_reason(code, file)}"], **facts)
        for code in codes
        if (decision, code) != ("REVISE", "tie")
    ]
    assessment = turn.transcript.assessment
    if decision == "APPROVE" and assessment is not None and assessment.risk_rating == "REJECT":
        said.append(voice.say(PHRASES["overrule"], **facts))
    if decision != "REJECT" or not codes:
        said.append(voice.say(PHRASES[f"decided.{_deciding(turn, weighed, decision)}"], **facts))
    elif facts["basis"] and "conceded" not in codes:
        said.append(facts["basis"])
    return paragraph(*said, *_exchanged(turn, weighed, decision), *_notes(turn))


def _reason(code: str, file: CaseFile | None) -> str:
    """Name the sentence on a code: who gives up what earns something is told so."""
    earns = file is not None and file.validation["sharpe"] >= LEAST_SHARPE
    return "conceded_early" if code == "conceded" and earns else code


def _deciding(turn: Turn, weighed: Weighed, decision: Decision) -> str:
    """Name the sentence that a decision is told by: by a score, by how close it was, or by what is too little."""
    is_close = abs(weighed.margin) < CLOSE
    if decision == "REVISE":
        if not weighed.worst:
            return "revise_plain"
        return "revise_offer" if is_mendable(turn) else "revise"
    if decision == "APPROVE":
        return "approve_close" if is_close else "approve_against" if weighed.worst else "approve"
    if not weighed.worst:
        return "reject_plain"
    return "reject_close" if is_close else "reject"


def _exchanged(turn: Turn, weighed: Weighed, decision: Decision) -> list[str]:
    """Say what the exchange did: the score that moved most, or else the answer that decided how things stand."""
    file = turn.file
    assessments = [one.scores.model_dump() for one in turn.transcript.all(RiskAssessment)]
    if len(assessments) < 2 or file is None:
        return []
    first, last = assessments[0], assessments[-1]
    name = max(CRITERIA, key=lambda one: first[one] - last[one])
    if first[name] - last[name] >= MATTERS:
        variants = PHRASES["moved"] if decision == "APPROVE" else PHRASES["moved_in_vain"]
        return [turn.voice.say(variants, name=spoken(name), before=two(first[name]), after=two(last[name]))]
    answers = weighed.answers
    if first != last or not answers:
        return []
    pick = max if decision == "APPROVE" else min
    name = pick(answers, key=lambda one: (answers[one], one))
    variants = PHRASES["held"] if answers[name] >= WEAK else PHRASES["failed"]
    facts = {"name": spoken(name), "score": two(last[name]), "grounds": grounds(name, file, turn.voice)}
    return [turn.voice.say(variants, **facts)]


def _notes(turn: Turn) -> list[str]:
    """Acknowledge what people said."""
    said = []
    for note in turn.notes:
        if note.criteria:
            name = spoken(note.criteria[0])
            said.append(turn.voice.say(PHRASES["note_score"], name=name, **note.facts))
        else:
            said.append(turn.voice.say(PHRASES["note_other"], **note.facts))
    return said


def request(turn: Turn) -> Reply:
    """Say what a revision must fix: the worst excesses, else the edge itself."""
    voice, file = turn.voice, turn.file
    weighed = weigh(turn)
    over = sorted(
        (name for name, value in weighed.excess.items() if value > 0.0), key=lambda n: -weighed.excess[n]
    )[:3]
    issues = [_issue(turn, file, name) for name in over] if file is not None else []
    if not issues:
        validation = two(file.validation["sharpe"]) if file is not None else "unknown"
        issues = [voice.say(PHRASES["issue_edge"], validation=validation)]
    aim = (over or ["overfitting"])[0]
    direction = voice.say(PHRASES["suggest"], direction=voice.pick(PHRASES[f"directions.{aim}"]))
    return Reply(
        ReviseRequest(
            specific_issues=tuple(sentence(one) for one in issues),
            suggested_direction=paragraph(direction, *_notes(turn)),
        )
    )


def _issue(turn: Turn, file: CaseFile, name: str) -> str:
    score, limit = beside(file.scores[name], turn.limit(name))
    return turn.voice.say(
        PHRASES["issues"],
        name=spoken(name),
        score=score,
        limit=limit,
        basis=objection(name, file, turn.voice),
    )


ANSWERS: Final[Answers] = {
    (EVOLVER, Verdict): judge,
    (EVOLVER, ExtendDebate): judge,
    (EVOLVER, FinalVerdict): judge_finally,
    (EVOLVER, ReviseRequest): request,
}
