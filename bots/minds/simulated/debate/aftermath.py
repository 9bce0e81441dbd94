"""After the verdict: the backtest on unseen data, the move to the candidates, the records of memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.criteria import spoken
from moot.bots.minds.simulated.debate.judgement import weigh
from moot.bots.minds.simulated.debate.points import objection
from moot.bots.minds.simulated.debate.specs import part_of
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import paragraph, percent, sentence, two
from moot.bots.tools.backtest import PROFIT_FACTOR_CAP, judge
from moot.bots.tools.errors import ToolError
from moot.bots.tools.splits import splits
from moot.bots.tools.wording import describe
from moot.protocols.kernel.people import Override
from moot.protocols.research.debate_table import LOW_CONFIDENCE
from moot.protocols.research.judging import passes
from moot.protocols.research.messages import (
    BacktestMetrics,
    BacktestResult,
    CausalEntry,
    CausalRecord,
    Reflection,
    Split,
    StrategyMoved,
)
from moot.protocols.research.seats import EVOLVER

PHRASES: Final = Phrases("debate/evolver")

NOT_THE_MARKET = frozenset({"no_assessment", "override", "untestable"})
"""Reasons that teach nothing about an archetype in a market: their records carry no regime (R-D13)."""

NOTHING = BacktestMetrics(
    sharpe=0.0, max_drawdown=0.0, win_rate=0.0, total_trades=0, profit_factor=0.0, annual_return=0.0
)
"""Figures of a strategy that cannot be run."""


def backtest(turn: Turn) -> Reply | None:
    """Run the approved strategy over the test split; the first time that anybody looks there (R-D15)."""
    spec, universe = turn.spec, turn.universe
    if spec is None:
        return None
    span = splits(universe).test
    split = Split(from_=span.first.isoformat(), to=span.last.isoformat())
    try:
        report = turn.tools.test(spec, universe)
    except ToolError as fault:
        # A person may have approved what cannot be run; that fails like any other backtest.
        body = BacktestResult(
            passed=False, reason=f"untestable: {fault}", metrics=NOTHING, split=split, equity_ref=""
        )
        return Reply(body)
    found = report.metrics
    factor = found["profit_factor"]
    metrics = BacktestMetrics(
        sharpe=found["sharpe"],
        max_drawdown=found["max_drawdown"],
        win_rate=found["win_rate"],
        total_trades=found["total_trades"],
        profit_factor=None if factor >= PROFIT_FACTOR_CAP else factor,
        annual_return=found["annual_return"],
    )
    return Reply(
        BacktestResult(
            passed=passes(metrics),
            reason=judge(report)[1],
            metrics=metrics,
            split=split,
            equity_ref=turn.tools.keep_equity(report),
        )
    )


def move(turn: Turn) -> Reply | None:
    """Move a strategy that passed to the candidates (R-D20)."""
    spec, result = turn.spec, turn.transcript.last(BacktestResult)
    if spec is None or result is None:
        return None
    return Reply(
        StrategyMoved(
            hypothesis_id=turn.case_id,
            strategy_id=strategy_id(turn.case_id),
            from_=None,
            to="candidates",
            reason=sentence(turn.voice.say(PHRASES["staged"], **_test_facts(result))),
            strategy=part_of(spec),
        )
    )


def strategy_id(case_id: str) -> str:
    """Name a strategy after the debate that approved it, or the override that took it up again."""
    return f"strat_{case_id.removeprefix('hyp_')}"


def record(turn: Turn) -> Reply:
    """Write what the backtest showed to memory/causal."""
    result = turn.transcript.last(BacktestResult)
    passed = result is not None and result.passed
    code = None if passed or result is None else result.reason.split(":", 1)[0]
    facts = _facts(turn)
    if result is not None:
        facts |= _test_facts(result)
    said = PHRASES["success"] if passed else PHRASES.get(f"failed_by.{code}", PHRASES["failure"])
    text = turn.voice.say(said, **facts)
    return Reply(
        CausalRecord(record=_entry(turn, "success" if passed else "failure", code, text, _figures(turn)))
    )


def reflect(turn: Turn) -> Reply:
    """Write what a rejection taught to memory/reflections."""
    code = rejected_for(turn)
    weighed = weigh(turn)
    facts = _facts(turn) | {"alpha": two(weighed.alpha), "risk": two(weighed.risk), "why": turn.fault}
    if turn.file is not None and code == weighed.worst:
        basis = objection(code, turn.file, turn.voice)
        text = turn.voice.say(PHRASES["lesson_score"], name=spoken(code), basis=basis, **facts)
    else:
        text = turn.voice.say(PHRASES[f"lesson.{code}"], **facts)
    return Reply(Reflection(record=_entry(turn, "failure", code, text, _figures(turn))))


def rejected_for(turn: Turn) -> str:
    """Name the reason of a rejection: what forced it, else the score that weighed most."""
    transcript = turn.transcript
    if transcript.is_conceded:
        return "conceded"
    if transcript.last(Override) is not None:
        return "override"
    if turn.file is None:
        return "untestable"
    if transcript.assessment is None:
        return "no_assessment"
    weighed, verdict = weigh(turn), transcript.verdict
    if weighed.worst:
        return weighed.worst
    if verdict is not None and verdict.confidence < LOW_CONFIDENCE:
        return "low_confidence"
    return "weak_alpha"


def _entry(
    turn: Turn,
    kind: Literal["failure", "success"],
    code: str | None,
    text: str,
    figures: Mapping[str, float],
) -> CausalEntry:
    hypothesis, override = turn.transcript.hypothesis, turn.transcript.last(Override)
    spec = turn.spec
    return CausalEntry(
        at=turn.now,
        kind=kind,
        hypothesis_id=override.case_id if override is not None else turn.case_id,
        lineage_id=(hypothesis.lineage_id or turn.case_id) if hypothesis is not None else None,
        seat=None,
        archetype=spec.archetype if spec is not None else None,
        failure_code=code,
        regime=None if code in NOT_THE_MARKET else turn.regime,
        summary=paragraph(text, *(turn.voice.say(PHRASES["note_other"], **n.facts) for n in turn.notes)),
        metrics=figures,
    )


def _figures(turn: Turn) -> dict[str, float]:
    """Gather the figures of a record: what the log determines, and how the strategy fared where seats may look."""
    figures: dict[str, float] = dict(turn.view.brief["record"]["metrics"])
    if turn.file is not None:
        figures["train_sharpe"] = turn.file.train["sharpe"]
        figures["validation_sharpe"] = turn.file.validation["sharpe"]
    return figures


def _facts(turn: Turn) -> dict[str, str]:
    """Return what every phrase about an outcome may name."""
    file, verdict = turn.file, turn.transcript.verdict
    return {
        "how": describe(file.spec) if file is not None else "a strategy that cannot be tested",
        "train": two(file.train["sharpe"]) if file is not None else "none",
        "validation": two(file.validation["sharpe"]) if file is not None else "none",
        "confidence": two(verdict.confidence) if verdict is not None else "unknown",
        "test": "unknown",
        "trades": "no",
        "drawdown": "unknown",
    }


def _test_facts(result: BacktestResult) -> dict[str, str]:
    return {
        "test": two(result.metrics.sharpe),
        "trades": str(result.metrics.total_trades),
        "drawdown": percent(result.metrics.max_drawdown),
    }


ANSWERS: Final[Answers] = {
    (EVOLVER, BacktestResult): backtest,
    (EVOLVER, StrategyMoved): move,
}
