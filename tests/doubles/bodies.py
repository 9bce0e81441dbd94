"""Plausible bodies of System A for tests; every field may be overridden."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from moot.protocols.research import messages as m


def strategy(**over: Any) -> m.Strategy:
    """Return a momentum strategy."""
    return m.Strategy(
        **{"archetype": "momentum", "params": {"fast": 20, "slow": 60}, "symbols": ("sp500",), **over}
    )


def hypothesis(cycle_id: str, **over: Any) -> m.Hypothesis:
    """Return a hypothesis for a cycle."""
    fields: dict[str, Any] = {
        "cycle_id": cycle_id,
        "statement": "Momentum 20/60 earns on sp500",
        "rationale": "trends persist",
        "strategy": strategy(),
        "expected_traits": m.ExpectedTraits(
            holding_period_days=(5, 40),
            target_sharpe=0.6,
            max_drawdown=0.15,
            win_rate=0.5,
            asset_class="equity",
            archetype="momentum",
        ),
        "signal_sources": ("close",),
        "entry_trigger": "fast over slow",
        "exit_trigger": "fast under slow",
        "evidence": (),
    }
    return m.Hypothesis(**{**fields, **over})


SCORES = m.RiskScores(
    tail_risk=0.3,
    overfitting=0.4,
    execution_risk=0.1,
    correlation_risk=0.1,
    signal_decay=0.2,
    crowding_risk=0.2,
    event_window_risk=0.1,
)


def assessment(round: Any = 1, confidence: float = 0.6, **over: Any) -> m.RiskAssessment:
    """Return an assessment."""
    fields: dict[str, Any] = {
        "round": round,
        "risk_rating": "CONDITIONAL_PASS",
        "confidence": confidence,
        "scores": SCORES,
        "conditions": (),
        "fatal_flaws": (),
        "reasoning": "some overfitting",
    }
    return m.RiskAssessment(**{**fields, **over})


def rebuttal(round: int = 2, **over: Any) -> m.Rebuttal:
    """Return a rebuttal."""
    point = m.RebuttalPoint(critique_point="overfitting", response="the gap is small", evidence="validation")
    return m.Rebuttal(**{"round": round, "responses": (point,), "modifications": (), **over})


def verdict(verdict: str = "APPROVE", confidence: float = 0.8, *, final: bool = False, **over: Any) -> Any:
    """Return a VERDICT or FINAL_VERDICT."""
    fields: dict[str, Any] = {
        "verdict": verdict,
        "confidence": confidence,
        "reasoning": "weighed",
        "alpha_argument_score": 0.7,
        "risk_argument_score": 0.4,
        "debate_quality": 0.7,
        "conditions": (),
        "next_action": {"APPROVE": "backtest", "REJECT": "archive", "REVISE": "revise"}[verdict],
    }
    return (m.FinalVerdict if final else m.Verdict)(**{**fields, **over})


def revise_request(**over: Any) -> m.ReviseRequest:
    """Return a request to revise."""
    return m.ReviseRequest(**{"specific_issues": ("x",), "suggested_direction": "y", **over})


def revised(**over: Any) -> m.RevisedHypothesis:
    """Return a revised hypothesis."""
    fields: dict[str, Any] = {
        "statement": "slower",
        "rationale": "less noise",
        "strategy": strategy(params={"fast": 30, "slow": 90}),
        "addressed": (m.Addressed(issue="x", change="slower"),),
    }
    return m.RevisedHypothesis(**{**fields, **over})


def extend(alpha: float = 0.6, risk: float = 0.65, extra_rounds: int = 1) -> m.ExtendDebate:
    """Ask for another round."""
    return m.ExtendDebate(
        extra_rounds=extra_rounds, alpha_argument_score=alpha, risk_argument_score=risk, reason="close"
    )


def backtest(passed: bool = True, **over: Any) -> m.BacktestResult:
    """Return a backtest that passes or fails by its Sharpe ratio."""
    metrics = m.BacktestMetrics(
        sharpe=0.9 if passed else -0.2,
        max_drawdown=0.1,
        win_rate=0.5,
        total_trades=40,
        profit_factor=1.4,
        annual_return=0.1,
    )
    fields: dict[str, Any] = {
        "passed": passed,
        "reason": "passed" if passed else "low_sharpe",
        "metrics": metrics,
        "split": m.Split(from_="2025-01-01", to="2025-12-31"),
        "equity_ref": "",
    }
    return m.BacktestResult(**{**fields, **over})


def moved(strategy_id: str = "strat_1", **over: Any) -> m.StrategyMoved:
    """Return a move to the candidates."""
    return m.StrategyMoved(
        **{"strategy_id": strategy_id, "from_": None, "to": "candidates", "reason": "passed", **over}
    )


def entry(kind: str = "failure", **over: Any) -> m.CausalEntry:
    """Return one record of memory."""
    fields: dict[str, Any] = {
        "at": datetime(2026, 2, 23, 12, tzinfo=UTC),
        "kind": kind,
        "hypothesis_id": None,
        "lineage_id": None,
        "seat": None,
        "archetype": "momentum",
        "failure_code": "low_sharpe" if kind == "failure" else None,
        "regime": "calm_up",
        "summary": "it failed",
        "metrics": {},
    }
    return m.CausalEntry(**{**fields, **over})


def report(brief: dict[str, Any], cycle_id: str) -> m.MicroCycleReport:
    """Return the report that the log asks for."""
    return m.MicroCycleReport(
        cycle_id=cycle_id,
        **{**brief, "daily_summary": m.DailySummary(**brief["daily_summary"])},
    )
