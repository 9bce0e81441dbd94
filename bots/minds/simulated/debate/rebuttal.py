"""The Explorer's answers: a rebuttal, a concession, a revised hypothesis."""

from __future__ import annotations

from typing import Final, Literal

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.casefile import CaseFile, Neighbourhood, neighbourhood
from moot.bots.minds.simulated.debate.criteria import CRITERIA, mentioned, spoken
from moot.bots.minds.simulated.debate.points import AGAINST, answer, point
from moot.bots.minds.simulated.debate.repair import changes, repair
from moot.bots.minds.simulated.debate.specs import part_of
from moot.bots.minds.simulated.debate.weighing import excesses, flaws_of
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import paragraph, percent, sentence, two
from moot.bots.tools.risk import RiskReport
from moot.bots.tools.wording import describe
from moot.protocols.research.messages import (
    Addressed,
    Concede,
    Rebuttal,
    RebuttalPoint,
    RevisedHypothesis,
    RiskAssessment,
    Strategy,
)
from moot.protocols.research.seats import EXPLORER

PHRASES: Final = Phrases("debate/explorer")

AnswerRound = Literal[2, 3]

POINTS = 3
"""So many points of the Critic are answered."""


def rebut(turn: Turn) -> Reply:
    """Answer the assessment, or give up where the figures leave nothing to say."""
    expects = turn.view.obligation.expects
    may_concede, must_concede = "CONCEDE" in expects, "REBUTTAL" not in expects
    file, assessment = turn.file, turn.transcript.assessment
    number: AnswerRound = 3 if turn.round == "3" else 2
    if file is None or assessment is None:
        if may_concede:
            why = f"I withdraw it: {turn.fault or 'nothing was assessed'}"
            return Reply(Concede(round=number, reason=sentence(why)))
        return Reply(Rebuttal(round=number, responses=(), modifications=()))
    issues = contested(turn, file, assessment)
    if must_concede or (may_concede and is_hopeless(turn, file, assessment, issues, number)):
        return Reply(Concede(round=number, reason=_give_up(turn, file, number)))
    responses = [_response(turn, file, assessment, name) for name in issues]
    if number == 3:
        responses.append(_ground(turn, file))
    for note in turn.notes:
        quote = note.facts
        reply = f"after {quote['who']}’s note I looked again"
        for name in note.criteria or ((issues[0],) if issues else ()):
            text, figures = answer(name, file, turn.voice)
            responses.append(
                RebuttalPoint(
                    critique_point=f"{quote['who']} on {spoken(name)}: {quote['quote']}",
                    response=sentence(f"{reply}; {text}"),
                    evidence=sentence(figures),
                )
            )
            break
    changed, said = _change(turn, file, issues)
    return Reply(Rebuttal(round=number, responses=tuple(responses), modifications=said, strategy=changed))


def contested(turn: Turn, file: CaseFile, assessment: RiskAssessment) -> tuple[str, ...]:
    """Name the criteria that an assessment holds against the strategy, worst first, at most three.

    The scores said are judged, whoever said them, and what flaws and conditions speak of counts as well.
    """
    said = assessment.scores.model_dump()
    excess = excesses(said, turn.thresholds, turn.attention(said, file.spec.archetype), turn.temper)
    named = mentioned(" ".join((*assessment.fatal_flaws, *assessment.conditions)))
    over = [name for name in CRITERIA if excess[name] > 0.0 or name in named]
    over.sort(key=lambda name: -excess[name])
    return tuple(over[:POINTS]) or (max(CRITERIA, key=lambda name: excess[name]),)


def is_hopeless(
    turn: Turn, file: CaseFile, assessment: RiskAssessment, issues: tuple[str, ...], number: AnswerRound
) -> bool:
    """Say whether there is nothing left to argue with."""
    if number == 3 and neighbourhood(file.spec, turn.universe).firmness <= -1.0:
        return True
    strengths = [point(name, file).strength for name in issues]
    return (
        assessment.risk_rating == "REJECT"
        and bool(assessment.fatal_flaws)
        and file.validation["sharpe"] < 0.0
        and file.report.alpha_strength * file.reach < turn.temper.worthless
        and sum(strengths) / len(strengths) < turn.temper.hopeless
    )


def _give_up(turn: Turn, file: CaseFile, number: AnswerRound) -> str:
    voice = turn.voice
    ground = neighbourhood(file.spec, turn.universe)
    if number == 3 and ground.firmness < 0.0:
        return sentence(voice.say(PHRASES["concedes_ground"], **ground_facts(ground)))
    codes = flaws_of(file)
    flaw = (
        voice.say(AGAINST[f"flaws.{codes[0]}"], **flaw_facts(file))
        if codes
        else "the scores are too high to defend"
    )
    notes = [voice.say(PHRASES["note_read"], **note.facts) for note in turn.notes]
    validation = two(file.validation["sharpe"])
    return paragraph(voice.say(PHRASES["concedes"], flaw=flaw, validation=validation), *notes)


def flaw_facts(file: CaseFile) -> dict[str, str]:
    """Return what every phrase about a fatal flaw may name."""
    return {
        "train": two(file.train["sharpe"]),
        "validation": two(file.validation["sharpe"]),
        "drawdown": percent(file.drawdown),
        "correlation": two(file.scores["correlation_risk"]),
        "partner": file.partner,
        "trades": str(file.trades),
    }


def ground_facts(ground: Neighbourhood) -> dict[str, str]:
    """Return what every phrase about a third round's check may name."""
    return {
        "positive": str(ground.positive),
        "count": str(ground.count),
        "median": two(ground.median_sharpe),
        "own": two(ground.own_sharpe),
    }


def _response(turn: Turn, file: CaseFile, assessment: RiskAssessment, name: str) -> RebuttalPoint:
    text, figures = answer(name, file, turn.voice)
    score = getattr(assessment.scores, name)
    return RebuttalPoint(
        critique_point=f"{spoken(name)} {two(score)}", response=sentence(text), evidence=sentence(figures)
    )


def _ground(turn: Turn, file: CaseFile) -> RebuttalPoint:
    """Bring the third round's evidence: how the closest relatives fare."""
    ground = neighbourhood(file.spec, turn.universe)
    said = PHRASES["ground_holds"] if ground.firmness > 0.0 else PHRASES["ground_thin"]
    facts = ground_facts(ground)
    return RebuttalPoint(
        critique_point="whether overfitting made it: how stable the effect is",
        response=sentence(turn.voice.say(said, **facts)),
        evidence=sentence(
            "validation Sharpe {own}, of {count} relatives {median} at the median".format(**facts)
        ),
    )


def _change(turn: Turn, file: CaseFile, issues: tuple[str, ...]) -> tuple[Strategy | None, tuple[str, ...]]:
    """Change the strategy, when a change was found that brings what is contested down and keeps the edge.

    Returns:
        The strategy as changed, and what was changed, in words; None and nothing where it stays.
    """
    temper = turn.temper
    found = repair(file, issues, turn.universe, turn.pool, turn.rng("repair"), temper.repairs, temper)
    if found is None or found.gain < temper.worth_changing:
        return None, ()
    new = found.report.scores
    name = max(issues, key=lambda one: file.scores[one] - new[one])
    before, after = file.scores[name], new[name]
    if after >= before:
        return None, ()
    text = turn.voice.say(
        PHRASES["modifications"],
        changes=changes(file.spec, found.spec),
        name=spoken(name),
        before=two(before),
        after=two(after),
        validation=two(found.report.validation_metrics["sharpe"]),
    )
    return part_of(found.spec), (sentence(text),)


def revise(turn: Turn) -> Reply:
    """Change the strategy so that it answers the issues named, as far as that can be done."""
    voice, temper, file = turn.voice, turn.temper, turn.file
    request, strategy = turn.transcript.request, turn.transcript.strategy
    issues = request.specific_issues if request is not None else ()
    if file is None:
        return Reply(_unchanged(turn, strategy, issues))
    assessment = turn.transcript.assessment
    named = tuple(dict.fromkeys(name for issue in issues for name in mentioned(issue)[:1]))
    if not named and assessment is not None:
        named = contested(turn, file, assessment)[:1]
    found = repair(file, named, turn.universe, turn.pool, turn.rng("revision"), temper.revisions, temper)
    if found is None:
        return Reply(_unchanged(turn, strategy, issues))
    new = found.report
    changed = changes(file.spec, found.spec)
    facts = {
        "sharpe": two(new.train_metrics["sharpe"]),
        "validation": two(new.validation_metrics["sharpe"]),
    }
    notes = [voice.say(PHRASES["note"], **note.facts) for note in turn.notes]
    why = voice.say(PHRASES["revised_why"], changes=changed, count=str(found.tried))
    return Reply(
        RevisedHypothesis(
            statement=sentence(voice.say(PHRASES["revised"], how=describe(found.spec), **facts)),
            rationale=paragraph(why, *notes),
            strategy=part_of(found.spec),
            addressed=tuple(_addressed(turn, issue, changed, file.report, new) for issue in issues),
        )
    )


def _addressed(turn: Turn, issue: str, changed: str, old: RiskReport, new: RiskReport) -> Addressed:
    """Say honestly what became of one issue."""
    names = mentioned(issue)[:1]
    if not names:
        facts = {
            "was": two(old.validation_metrics["sharpe"]),
            "validation": two(new.validation_metrics["sharpe"]),
        }
        return Addressed(
            issue=issue, change=sentence(turn.voice.say(PHRASES["general"], changes=changed, **facts))
        )
    before, after = old.scores[names[0]], new.scores[names[0]]
    text = turn.voice.say(
        PHRASES["addressed"] if after < before - 0.02 else PHRASES["not_addressed"],
        changes=changed,
        name=spoken(names[0]),
        before=two(before),
        after=two(after),
    )
    return Addressed(issue=issue, change=sentence(text))


def _unchanged(turn: Turn, strategy: Strategy | None, issues: tuple[str, ...]) -> RevisedHypothesis:
    """Stand by a strategy that cannot be tested or changed; the Critic says the rest."""
    assert strategy is not None, "a revision follows a hypothesis"
    why = turn.fault or "no change was found that keeps the edge"
    return RevisedHypothesis(
        statement="I cannot offer anything better.",
        rationale=sentence(why),
        strategy=strategy,
        addressed=tuple(Addressed(issue=issue, change=sentence(why)) for issue in issues),
    )


ANSWERS: Final[Answers] = {
    (EXPLORER, Rebuttal): rebut,
    (EXPLORER, Concede): rebut,
    (EXPLORER, RevisedHypothesis): revise,
}
