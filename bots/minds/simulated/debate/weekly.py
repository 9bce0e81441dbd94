"""The Evolver's weekly duties: threshold review, meta-reflection, weekly report (spec 2.2, 2.3)."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.criteria import spoken
from moot.bots.minds.simulated.debate.lessons import Trial
from moot.bots.minds.simulated.debate.reports import (
    ENOUGH,
    best_archetype,
    pointed,
    watch,
    within,
    worst_archetypes,
)
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import percent, sentence, two
from moot.protocols.research.messages import (
    MetaReflection,
    ThresholdReview,
    VerdictDistribution,
    WeeklyReport,
)
from moot.protocols.research.seats import EVOLVER

PHRASES: Final = Phrases("debate/evolver")

FEW, MANY = 0.25, 0.45
"""Shares of approvals outside which a recommendation says so."""

THIN = 0.55
"""Debate quality below which a recommendation says so."""


def review(turn: Turn) -> Reply:
    """Publish how the Critic's week measures up; every figure is the ledger's (R-D14)."""
    return turn.filled(ThresholdReview)


def meta(turn: Turn) -> Reply:
    """Reflect on the week's debates."""
    distribution = VerdictDistribution(**turn.view.brief["verdict_distribution"])
    return turn.filled(
        MetaReflection, verdict_distribution=distribution, recommendations=recommendations(turn)
    )


def recommendations(turn: Turn) -> tuple[str, ...]:
    """Say what the week's figures ask for, at most four things."""
    brief, week = turn.view.brief, within(turn.trials, turn.now, timedelta(days=7))
    total = brief["total_debates"]
    approved = sum(1 for t in week if "test_sharpe" in t.record.metrics)
    failed = sum(1 for t in week if t.record.kind == "failure" and "test_sharpe" in t.record.metrics)
    rate = brief["explorer_win_rate"]
    asked: list[tuple[str, dict[str, str]]] = []
    if total and rate < FEW:
        asked.append(("few_approvals", {"rate": percent(rate, 0)}))
    elif total and rate > MANY:
        asked.append(("many_approvals", {"rate": percent(rate, 0)}))
    if approved and 5 * failed > 2 * approved:
        asked.append(("failed", {"failed": str(failed), "approved": str(approved)}))
    if total and brief["avg_debate_quality"] < THIN:
        asked.append(("quality", {"quality": two(brief["avg_debate_quality"])}))
    asked += [entry for entry in (_commonest(week), _worst(week)) if entry is not None]
    if brief["critic_override_rate"] > 0.05:
        asked.append(("overrides", {"rate": percent(brief["critic_override_rate"], 0)}))
    silent = sum(1 for t in week if t.record.kind == "timeout")
    if silent > 2:
        asked.append(("silences", {"count": str(silent)}))
    if not asked:
        wins = str(brief["verdict_distribution"]["APPROVE"])
        asked.append(("fine", {"approved": wins, "total": str(total)}))
    return tuple(sentence(turn.voice.say(PHRASES[f"recommend.{key}"], **facts)) for key, facts in asked[:4])


def _commonest(week: tuple[Trial, ...]) -> tuple[str, dict[str, str]] | None:
    """Name the reason that most failures share, when at least three do."""
    codes = [t.record.failure_code for t in week if t.record.kind == "failure"]
    counts = Counter(code for code in codes if code is not None)
    name = min(counts, key=lambda one: (-counts[one], one), default=None)
    if name is None or counts[name] < ENOUGH:
        return None
    return "code", {"code": spoken(name), "count": str(counts[name])}


def _worst(week: tuple[Trial, ...]) -> tuple[str, dict[str, str]] | None:
    """Name the archetype that passed least often, when it failed at least three times."""
    fails = Counter(t.record.archetype for t in week if t.record.kind == "failure")
    passes = Counter(t.record.archetype for t in week if t.record.kind == "success")
    best = best_archetype(week)
    found = [
        name
        for name in fails
        if name is not None and fails[name] >= ENOUGH and (best is None or name != best[0])
    ]
    if not found:
        return None
    name = min(found, key=lambda one: (passes[one] / (passes[one] + fails[one]), -fails[one], one))
    tried = str(fails[name] + passes[name])
    return "archetype", {"archetype": spoken(name), "count": str(fails[name]), "tried": tried}


def weekly(turn: Turn) -> Reply:
    """Sum up a week and point at the next one."""
    return turn.filled(
        WeeklyReport,
        architecture_improvements=tuple(turn.view.brief["improvements"]),
        next_week_direction=direction(turn),
    )


def direction(turn: Turn) -> str:
    """Give next week's direction from this week's records."""
    brief, week = turn.view.brief, within(turn.trials, turn.now, timedelta(days=7))
    approved, cycles = brief["strategies_approved"], brief["total_cycles"]
    if week and 8 * approved < cycles:
        facts = {"approved": str(approved), "cycles": str(cycles), "failed": worst_archetypes(week)}
        return turn.voice.say(PHRASES["week_dry"], **facts)
    best = best_archetype(week)
    if best is None:
        return pointed(turn.voice.say(PHRASES["week_open"], cycles=str(cycles)), watch(turn, week))
    name, passed, tried = best
    said = turn.voice.say(PHRASES["week_best"], best=spoken(name), passed=str(passed), tried=str(tried))
    return pointed(said, watch(turn, week))


ANSWERS: Final[Answers] = {
    (EVOLVER, ThresholdReview): review,
    (EVOLVER, MetaReflection): meta,
    (EVOLVER, WeeklyReport): weekly,
}
