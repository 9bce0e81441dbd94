"""The Evolver's reports of a cycle and a day: figures from the log, directions from evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.criteria import listed, spoken
from moot.bots.minds.simulated.debate.lessons import Trial
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import two
from moot.bots.tools.strategies import ARCHETYPES
from moot.protocols.research.learning import principles_from
from moot.protocols.research.messages import (
    DailyReport,
    DailySummary,
    MicroCycleReport,
    PrincipleSynthesis,
    TopStrategy,
    TradingFeedback,
    Window,
)
from moot.protocols.research.seats import EVOLVER

PHRASES: Final = Phrases("debate/evolver")

ENOUGH: Final = 3
"""Trials or failures from which on a share or a count says anything."""

METRICS_READ: Final = timedelta(days=14)
"""How far back the daily report looks for metrics of a strategy."""


def micro(turn: Turn) -> Reply:
    """Report how a micro-cycle ended."""
    summary = DailySummary(**turn.view.brief["daily_summary"])
    return turn.filled(MicroCycleReport, daily_summary=summary)


def synthesise(turn: Turn) -> Reply:
    """Make principles of what failed alike at least three times, by the ledger's own arithmetic (R-D13)."""
    brief = turn.view.brief
    made = principles_from(
        brief["records"],
        brief["principles"].values(),
        turn.now,
        is_cumulative=brief.get("is_cumulative", False),
    )
    return Reply(PrincipleSynthesis(window=Window(**brief["window"]), principles=made))


def daily(turn: Turn) -> Reply:
    """Sum up a day and point at tomorrow."""
    top = turn.view.brief["top_strategy"]
    return turn.filled(
        DailyReport,
        top_strategy=TopStrategy(**top) if top is not None else None,
        trading_feedback=feedback(turn),
        tomorrow_priority=priority(turn),
    )


def feedback(turn: Turn) -> TradingFeedback:
    """Tell the desk's day as the log has it, and compare System B's last metrics with the backtests.

    A strategy without a ratio yet, for too few sessions, gives no insight (R-F6).
    """
    memory = turn.view.memory
    since = (turn.now - METRICS_READ).date().isoformat()
    latest = {record.strategy_id: record for record in memory.metrics(since=since)}
    said = []
    for strategy_id, record in latest.items():
        known, realised = memory.strategy(strategy_id), record.realised.get("sharpe_30d")
        if known is None or known.backtest is None or not isinstance(realised, int | float):
            continue
        expected = known.backtest.metrics.sharpe
        facts = {"realised": two(realised), "expected": two(expected)}
        said.append(turn.voice.say(PHRASES["insights"], strategy=strategy_id, **facts))
    return TradingFeedback(**turn.view.brief["trading_feedback"], feedback_insights=tuple(said[-5:]))


def priority(turn: Turn) -> str:
    """Give tomorrow's direction: leave what fails, follow what passes, name the commonest weakness."""
    recent = within(turn.trials, turn.now, timedelta(hours=24))
    if turn.view.brief["strategies_approved"] == 0 and recent:
        return turn.voice.say(PHRASES["priority_dry"], failed=worst_archetypes(recent))
    best = best_archetype(recent)
    if best is None:
        return pointed(turn.voice.say(PHRASES["priority_open"]), watch(turn, recent))
    name, passed, tried = best
    said = turn.voice.say(PHRASES["priority_best"], best=spoken(name), passed=str(passed), tried=str(tried))
    return pointed(said, watch(turn, recent))


def pointed(*parts: str) -> str:
    """Join the parts of a direction, the empty ones left out."""
    return "; ".join(filter(None, parts))


def watch(turn: Turn, found: Sequence[Trial]) -> str:
    """Say what the commonest kind of failure asks of the next search, "" when few failed alike or it asks nothing."""
    codes = [trial.record.failure_code or "" for trial in found if trial.record.kind == "failure"]
    counts = Counter(codes)
    for code, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        if count >= ENOUGH and (said := PHRASES.get(f"watch.{code}")):
            return turn.voice.say(said, count=str(count), failed=str(len(codes)))
    return ""


def within(found: Sequence[Trial], now: datetime, span: timedelta) -> tuple[Trial, ...]:
    """Keep the trials of the last hours or days."""
    return tuple(trial for trial in found if now - trial.record.at <= span)


def worst_archetypes(found: Sequence[Trial]) -> str:
    """Name the one or two archetypes that failed most."""
    counts = Counter(t.record.archetype for t in found if t.record.kind == "failure" and t.record.archetype)
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return listed(map(spoken, order[:2])) or "what was tried"


def best_archetype(found: Sequence[Trial]) -> tuple[str, int, int] | None:
    """Find the archetype whose hypotheses passed most often, with passes and tries.

    None when none passed; one that was tried less than `ENOUGH` times is no source yet.
    """
    tries: Counter[str] = Counter()
    passes: Counter[str] = Counter()
    for trial in found:
        if trial.record.archetype in ARCHETYPES and trial.record.kind in ("failure", "success"):
            tries[trial.record.archetype] += 1
            passes[trial.record.archetype] += trial.record.kind == "success"
    passes = +Counter({name: n for name, n in passes.items() if tries[name] >= ENOUGH})
    ranked = sorted(passes, key=lambda name: (-passes[name] / tries[name], -passes[name], name))
    return (ranked[0], passes[ranked[0]], tries[ranked[0]]) if ranked and passes[ranked[0]] else None


ANSWERS: Final[Answers] = {
    (EVOLVER, MicroCycleReport): micro,
    (EVOLVER, PrincipleSynthesis): synthesise,
    (EVOLVER, DailyReport): daily,
}
