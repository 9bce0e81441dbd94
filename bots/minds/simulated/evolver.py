"""The Evolver as judge: extension, verdicts, the request to revise. It never says what a rule forbids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bots.minds.mind import Reply
from bots.minds.simulated import phrases_evolver as phrases
from bots.minds.simulated.casefile import CaseFile, neighbourhood
from bots.minds.simulated.criteria import CRITERIA, spoken
from bots.minds.simulated.points import objection
from bots.minds.simulated.turn import Turn
from bots.minds.simulated.weighing import (
    alpha_argument,
    certainty,
    excesses,
    quality,
    relieved,
    risk_argument,
    stance,
)
from bots.minds.simulated.wording import briefly, counted, paragraph, sentence, two
from protocols.research.debate_table import (
    CONSERVATIVE_CONFIDENCE,
    CYCLE_BUDGET,
    EXTENSION_BAND,
    EXTENSION_COSTS,
    LOW_CONFIDENCE,
)
from protocols.research.judging import is_tie, may_revise
from protocols.research.messages import (
    ExtendDebate,
    FinalVerdict,
    ReviseRequest,
    RiskAssessment,
    Verdict,
)

Decision = Literal["APPROVE", "REJECT", "REVISE"]

NEXT: dict[Decision, Literal["backtest", "archive", "revise"]] = {
    "APPROVE": "backtest",
    "REJECT": "archive",
    "REVISE": "revise",
}


@dataclass(frozen=True, slots=True)
class Weighed:
    """Both arguments as the Evolver hears them.

    Attributes:
        alpha: Score of the argument for the strategy.
        risk: Score of the argument against it.
        confidence: Of a verdict on them.
        excess: Excess by criterion; empty when nothing could be weighed.
        answers: How well each answer holds; None without a rebuttal.
    """

    alpha: float
    risk: float
    confidence: float
    excess: dict[str, float]
    answers: dict[str, float] | None

    @property
    def margin(self) -> float:
        """Return by how much alpha exceeds risk."""
        return round(self.alpha - self.risk, 6)

    @property
    def worst(self) -> str:
        """Return the criterion that speaks against it most, "" when none does."""
        if not self.excess:
            return ""
        name = max(CRITERIA, key=lambda one: self.excess[one])
        return name if self.excess[name] > 0.0 else ""


def weigh(turn: Turn) -> Weighed:
    """Weigh the Critic's stated scores against what the strategy shows and what was answered."""
    file, assessment, temper = turn.file, turn.transcript.assessment, turn.temper
    if file is None:
        return Weighed(0.0, 1.0, 0.95, {}, None)
    answers = turn.strengths(file)
    ground = neighbourhood(file.spec, turn.universe) if turn.transcript.is_extended else None
    conceded = turn.transcript.is_conceded
    given = answers.values() if answers is not None else None
    alpha = alpha_argument(file.report.alpha_strength * file.reach, given, temper, ground, conceded=conceded)
    if assessment is None:
        risk = risk_argument(temper.centre, None, temper)
        return Weighed(alpha, risk, certainty(alpha, risk, temper), {}, answers)
    said = assessment.scores.model_dump()
    attention = turn.attention(said, file.spec.archetype)
    excess = relieved(excesses(said, turn.thresholds, attention, temper), answers, temper)
    found = stance(excess, len(assessment.fatal_flaws), temper, ground)
    risk = risk_argument(found.burden, assessment.risk_rating, temper)
    return Weighed(alpha, risk, certainty(alpha, risk, temper), excess, answers)


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


def decide(turn: Turn, weighed: Weighed, *, may_ask: bool) -> tuple[Decision, tuple[str, ...]]:
    """Find the verdict that the arguments ask for and the rules allow (R-D6 to R-D10, R-B8).

    Args:
        turn: The obligation.
        weighed: The arguments.
        may_ask: Whether a revision can be asked for at all.

    Returns:
        The verdict and the codes of what forced it, if anything did.
    """
    transcript, margin = turn.transcript, weighed.margin
    if turn.view.refused:
        return "REJECT", ("refused",)
    if turn.file is None:
        return "REJECT", ("untestable",)
    if transcript.is_conceded:
        return "REJECT", ("conceded",)
    assessment = transcript.assessment
    if assessment is None:
        return "REJECT", ("no_assessment",)
    if turn.view.is_conservative and weighed.confidence < CONSERVATIVE_CONFIDENCE:
        return "REJECT", ("conservative",)
    wanted: Decision = "APPROVE" if margin > 0.0 else "REJECT"
    codes: tuple[str, ...] = ()
    if is_tie(weighed.alpha, weighed.risk):
        wanted, codes = "REVISE", ("tie",)
    elif weighed.confidence < LOW_CONFIDENCE:
        wanted, codes = "REVISE", ("low_confidence",)
    elif _is_worth_a_revision(turn, margin, assessment.risk_rating):
        wanted = "REVISE"
    if wanted == "REVISE" and not may_ask:
        return "REJECT", codes or ("second",)
    if wanted == "REVISE" and not may_revise(turn.elapsed):
        return "REJECT", (*codes, "budget")
    return wanted, codes


def _is_worth_a_revision(turn: Turn, margin: float, rating: str) -> bool:
    """Say whether arguments that lean one way meet something that could still turn them."""
    temper = turn.temper
    if margin > 0.0:
        return rating == "REJECT" and margin < temper.overrule
    return margin >= -temper.fixable and _is_mendable(turn)


def _is_mendable(turn: Turn) -> bool:
    """Say whether the Explorer has a change on offer that answers an objection."""
    rebuttal = turn.transcript.rebuttal
    return rebuttal is not None and bool(rebuttal.modifications)


def _extension(turn: Turn, weighed: Weighed) -> ExtendDebate:
    voice = turn.voice
    text = voice.say(phrases.EXTEND, alpha=two(weighed.alpha), risk=two(weighed.risk))
    return ExtendDebate(
        extra_rounds=1,
        alpha_argument_score=weighed.alpha,
        risk_argument_score=weighed.risk,
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
        "reasoning": _reasoning(turn, weighed, decision, codes, len(assessments), transcript.responses),
        "alpha_argument_score": weighed.alpha,
        "risk_argument_score": weighed.risk,
        "debate_quality": quality(
            len(assessments), points, transcript.responses, answers, transcript.silences
        ),
        "conditions": kept,
        "next_action": NEXT[decision],
    }


def _reasoning(
    turn: Turn, weighed: Weighed, decision: Decision, codes: tuple[str, ...], rounds: int, answered: int
) -> str:
    voice = turn.voice
    said = [voice.say(phrases.SCALES, alpha=two(weighed.alpha), risk=two(weighed.risk))]
    if rounds > 1:
        said.append(voice.say(phrases.ROUNDS, rounds=str(rounds), answered=counted(answered, "answer")))
    facts = {"confidence": two(weighed.confidence), "why": turn.fault or turn.view.refused}
    said += [voice.say(phrases.REASONS[code], **facts) for code in codes]
    what = briefly(turn.file.spec) if turn.file is not None else "it"
    name = spoken(weighed.worst or "overfitting")
    assessment = turn.transcript.assessment
    if decision == "APPROVE":
        if assessment is not None and assessment.risk_rating == "REJECT":
            said.append(voice.say(phrases.OVERRULE))
        said.append(voice.say(phrases.APPROVE, what=what))
    elif decision == "REVISE":
        said.append(voice.say(phrases.REVISE_OFFER if _is_mendable(turn) else phrases.REVISE, name=name))
    elif not codes:
        said.append(
            voice.say(phrases.REJECT if weighed.worst else phrases.REJECT_PLAIN, what=what, name=name)
        )
    if turn.file is not None and weighed.worst and decision != "APPROVE":
        said.append(objection(weighed.worst, turn.file, voice))
    return paragraph(*said, *_notes(turn))


def _notes(turn: Turn) -> list[str]:
    """Acknowledge what people said."""
    said = []
    for note in turn.notes:
        if note.criteria:
            name = spoken(note.criteria[0])
            said.append(turn.voice.say(phrases.NOTE_SCORE, name=name, **note.facts))
        else:
            said.append(turn.voice.say(phrases.NOTE_OTHER, **note.facts))
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
        issues = [voice.say(phrases.ISSUE_EDGE, validation=validation)]
    aim = (over or ["overfitting"])[0]
    direction = voice.say(phrases.SUGGEST, direction=voice.pick(phrases.DIRECTIONS[aim]))
    return Reply(
        ReviseRequest(
            specific_issues=tuple(sentence(one) for one in issues),
            suggested_direction=paragraph(direction, *_notes(turn)),
        )
    )


def _issue(turn: Turn, file: CaseFile, name: str) -> str:
    return turn.voice.say(
        phrases.ISSUES,
        name=spoken(name),
        score=two(file.scores[name]),
        limit=two(turn.limit(name)),
        basis=objection(name, file, turn.voice),
    )
