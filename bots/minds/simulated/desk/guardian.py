"""The Guardian: checks, alerts and projections, reviews of risk, what is recorded of the day (spec 4, R-B7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any, Final, Literal, NamedTuple

from moot.bots.desk.risk import mean_correlation, profile, var95
from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.criteria import spoken
from moot.bots.minds.simulated.desk.deskfile import desk, filled_in, known, spec_of, subject
from moot.bots.minds.simulated.desk.operator import metric_path
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import beside, counted, percent, sentence, two
from moot.bots.tools.errors import ToolError
from moot.bots.tools.strategies import StrategySpec
from moot.protocols.trading.briefing import measured
from moot.protocols.trading.limits import LEVELS, LIMITS, PORTFOLIO, Limit, level_of, threshold_of
from moot.protocols.trading.messages import (
    DeployReview,
    OvernightRiskCheck,
    PromotionReview,
    RecallFlag,
    ResumeConfirmed,
    RiskAlert,
    RiskCheck,
    RiskProjection,
)
from moot.protocols.trading.messages.deployments import Recommendation
from moot.protocols.trading.seats import GUARDIAN

PHRASES: Final = Phrases("desk/guardian")

Trend = Literal["increasing", "stable", "accelerating"]
Assessment = Literal["acceptable", "elevated", "excessive"]

CHECK_MINUTES: Final = 5
"""From one RISK_CHECK to the next."""
LOOKED_BACK: Final = 9
"""So many checks show where a metric goes."""
AHEAD: Final = 6
"""So many checks ahead a projection looks: half an hour."""
LEAST_CHECKS: Final = 3
NOISE: Final = 1.3
"""A drift is a trend from this multiple of its standard error on; a single jump has 1.1 and is none."""
FASTER: Final = 1.5
"""It accelerates when its second half goes so many times as fast as the first, and reaches the next limit in time."""

# ---------------------------------------------------------------- checks


def check(turn: Turn) -> Reply:
    """Measure the risk at the prices of this instant (R-B7)."""
    shown = desk(turn)
    marks = turn.tools.market.marks(_watched(shown), turn.now)
    figures = measured(shown, marks)
    weights = _weights(shown, {**shown["marks"], **marks}, figures["equity"])
    return Reply(
        filled_in(
            RiskCheck,
            turn,
            marks=marks,
            **figures,
            var95=var95(weights, turn.universe),
            correlation=mean_correlation(weights, turn.universe),
        )
    )


def check_overnight(turn: Turn) -> Reply:
    """Measure the risk of what is held over night."""
    shown = desk(turn)
    weights = _weights(shown, shown["marks"], shown["equity"])
    return Reply(filled_in(OvernightRiskCheck, turn, var95=var95(weights, turn.universe)))


def _watched(shown: Mapping[str, Any]) -> set[str]:
    """Name what is held, has a mark, or may be traded today."""
    symbols = set(shown["marks"]).union(*shown["positions"].values())
    return symbols.union(
        *(entry["symbols"] for entry in shown["strategies"].values() if entry["is_deployed"])
    )


def _weights(shown: Mapping[str, Any], marks: Mapping[str, float], equity: float) -> dict[str, float]:
    """Return the signed value of what is held by symbol, as fractions of the equity."""
    weights: dict[str, float] = {}
    for held in shown["positions"].values():
        for symbol, quantity in held.items():
            weights[symbol] = weights.get(symbol, 0.0) + quantity * marks.get(symbol, 0.0) / max(equity, 1.0)
    return {symbol: weight for symbol, weight in weights.items() if weight}


# ---------------------------------------------------------------- alerts


def alert(turn: Turn) -> Reply:
    """Raise the alert that a check asks for (spec 4.2, R-B7)."""
    brief = turn.view.brief
    metric = str(brief["metric"])
    last = turn.transcript.last(RiskCheck)
    value, threshold = beside(abs(brief["current_value"]), abs(brief["threshold"]), 2, percent)
    said = turn.voice.say(
        PHRASES.get(f"alert.{metric}", PHRASES["any_alert"]),
        metric=metric.replace("_", " "),
        value=value,
        threshold=threshold,
        affected=", ".join(brief["affected_strategies"]) or "the desk",
        symbol=(last.largest_symbol if last is not None else None) or "one symbol",
    )
    return Reply(filled_in(RiskAlert, turn, session_id=turn.case_id, message=sentence(said)))


class Path(NamedTuple):
    """Where a metric went: its values with a sign that makes more of it worse, oldest first, and what follows.

    Attributes:
        values: Values, worse when higher.
        slope: Mean change from check to check.
        times: That change as a multiple of its standard error.
        trend: What it comes to.
        ahead: Checks until the next limit at the pace of the second half; None when it is not approached.
    """

    values: tuple[float, ...]
    slope: float
    times: float
    trend: Trend
    ahead: float | None


def path_of(values: Sequence[float], following: float) -> Path:
    """Judge where a metric goes.

    It increases when its drift is more than its own noise explains, and accelerates when besides it still moves, its
    second half goes clearly faster than its first and would reach the next limit within half an hour.

    Args:
        values: Worse when higher, oldest first.
        following: The next limit.
    """
    moves = [after - before for before, after in pairwise(values)]
    if len(values) < LEAST_CHECKS:
        return Path(tuple(values), 0.0, 0.0, "stable", None)
    slope, spread = fmean(moves), pstdev(moves)
    error = spread / len(moves) ** 0.5
    times = slope / error if error > 0.0 else (99.0 if slope > 0.0 else 0.0)
    first, second = fmean(moves[: len(moves) // 2]), fmean(moves[len(moves) // 2 :])
    ahead = max(following - values[-1], 0.0) / second if second > 0.0 else None
    trend: Trend = "increasing" if slope > 0.0 and times > NOISE else "stable"
    is_faster = moves[-1] > 0.0 and second > FASTER * max(first, 0.0)
    if trend == "increasing" and is_faster and ahead is not None and ahead <= AHEAD:
        trend = "accelerating"
    return Path(tuple(values), slope, times, trend, ahead)


def project(turn: Turn) -> Reply:
    """Say where a risk goes, by its path over the last checks and their noise (R-B4)."""
    brief = turn.view.brief
    metric, value, threshold = subject(turn), float(brief["value"]), float(brief["threshold"])
    limit = LIMITS.get(metric)
    sign = limit.sign if limit is not None else 1
    values = [sign * one for one in (metric_path(turn, metric) or [value])[-LOOKED_BACK:]]
    following = _following(limit, values[-1])
    found = path_of(values, following)
    few = len(values) < LEAST_CHECKS
    said = turn.voice.say(
        PHRASES[f"projection.{'unknown' if few else found.trend}"],
        metric=metric.replace("_", " "),
        first=percent(sign * values[0], 2),
        last=percent(sign * values[-1], 2),
        low=percent(sign * min(values), 2),
        high=percent(sign * max(values), 2),
        next=percent(sign * following, 0),
        then=percent(sign * (values[-1] + AHEAD * found.slope), 2),
        slope=percent(found.slope, 2),
        times=two(min(found.times, 99.0)),
        minutes=str(CHECK_MINUTES * (len(values) - 1)),
        ahead=str(round(CHECK_MINUTES * found.ahead)) if found.ahead is not None else "many",
        count=str(len(values)),
        threshold=percent(threshold, 2),
    )
    return Reply(filled_in(RiskProjection, turn, trend=found.trend, projection=sentence(said)))


def _following(limit: Limit | None, value: float) -> float:
    """Return the next limit above a value, both with the sign that makes more worse; the last one stands for none."""
    if limit is None:
        return value
    levels = [limit.sign * level for level in (limit.warning, limit.critical, limit.halt)]
    return next((level for level in levels if level > value), levels[-1])


# ---------------------------------------------------------------- reviews


class Line(NamedTuple):
    """From where on a figure of a strategy is elevated, and from where on excessive."""

    elevated: float
    excessive: float


LINES: Final[Mapping[str, Line]] = {
    "max_drawdown": Line(0.15, 0.25),
    "tail_loss": Line(0.02, 0.035),
    "correlation": Line(0.8, 0.95),
    "concentration": Line(0.75, 1.01),
    "exposure": Line(PORTFOLIO.exposure, 1.2),
    "sameness": Line(0.5, 0.75),
}
"""What a review holds a strategy to; the drawdown is the desk's own 15 % and what the Critic calls fatal."""

FEW: Final = 4
"""Of fewer strategies no share is taken: a book must begin somewhere."""

SCORES: Final[tuple[Assessment, ...]] = ("acceptable", "elevated", "excessive")
SMALLEST_LIMIT: Final = 0.01
STEP: Final = 0.005
"""Recommended limits are multiples of this share of the equity."""


def review_deployment(turn: Turn) -> Reply:
    """Review what a strategy would add to the desk's risk (spec 4.1, R-B1)."""
    voice, entry = turn.voice, known(turn)
    spec = spec_of(entry)
    figures, other, why = _figures(turn, spec)
    if spec is None or why:
        said = sentence(voice.say(PHRASES["untestable"], why=why or "nobody said what it trades"))
        return _review(turn, "excessive", (said,), SMALLEST_LIMIT)
    levels = {name: _score(name, value) for name, value in figures.items()}
    worst = max(levels.values())
    concerns = tuple(
        sentence(
            voice.say(
                PHRASES[f"concerns.{name}"],
                **_held(name, figures[name], level),
                other=other,
                archetype=spoken(spec.archetype),
            )
        )
        for name, level in levels.items()
        if level
    )
    return _review(turn, SCORES[worst], concerns, _recommended(figures))


def _review(turn: Turn, assessment: Assessment, concerns: tuple[str, ...], limit: float) -> Reply:
    return Reply(
        filled_in(
            DeployReview,
            turn,
            form="guardian",
            risk_assessment=assessment,
            concerns=concerns,
            recommended_position_limit=limit,
        )
    )


def _figures(turn: Turn, spec: StrategySpec | None) -> tuple[dict[str, float], str, str]:
    """Measure a strategy; return its figures, what it is closest to, and why it could not be measured, "" if it was."""
    if spec is None:
        return {}, "", ""
    shown = desk(turn)
    try:
        found = profile(spec, turn.universe, _traded(shown, but=subject(turn), symbols=turn.universe.symbols))
    except ToolError as fault:
        return {}, "", str(fault)
    tested = known(turn).get("backtest", {}).get("max_drawdown", 0.0)
    added = known(turn).get("position_limit", PORTFOLIO.position) * len(spec.symbols)
    figures = {
        "max_drawdown": max(found.max_drawdown, tested),
        "tail_loss": found.tail_loss,
        "correlation": found.correlation,
        "concentration": found.concentration,
        "exposure": round(shown["exposure"] + added, 6),
        "sameness": _sameness(shown, spec, but=subject(turn), where="is_deployed"),
    }
    return figures, found.with_strategy, ""


def _sameness(shown: Mapping[str, Any], spec: StrategySpec, *, but: str, where: str) -> float:
    """Return the share of strategies at work that would be of one archetype, itself among them, in [0, 1].

    Args:
        shown: The desk.
        spec: The strategy.
        but: Its id.
        where: Which ones are at work: `is_deployed`, or a stage.
    """
    held = [
        entry["archetype"]
        for strategy_id, entry in shown["strategies"].items()
        if strategy_id != but
        and (entry["is_deployed"] if where == "is_deployed" else entry["stage"] == where)
    ]
    if len(held) + 1 < FEW:
        return 0.0
    return round((held.count(spec.archetype) + 1) / (len(held) + 1), 6)


def _traded(shown: Mapping[str, Any], but: str, symbols: Sequence[str]) -> dict[str, StrategySpec]:
    """Return what the desk trades besides a strategy, as far as it can be computed here."""
    specs = {
        strategy_id: spec_of(entry)
        for strategy_id, entry in shown["strategies"].items()
        if entry["is_deployed"] and strategy_id != but
    }
    return {
        name: spec for name, spec in specs.items() if spec is not None and set(spec.symbols) <= set(symbols)
    }


DIGITS: Final[Mapping[str, int]] = {"sameness": 0, "concentration": 0, "exposure": 0}
"""Decimals of a share in per cent, where they are fewer than usual."""


def _score(name: str, value: float) -> int:
    line = LINES[name]
    return (value >= line.elevated) + (value >= line.excessive)


def _held(name: str, value: float, level: int) -> dict[str, str]:
    """Write a figure and the line that it is held to."""
    line = LINES[name][level - 1]
    told = beside(value, line) if name == "correlation" else beside(value, line, DIGITS.get(name, 1), percent)
    return dict(zip(("value", "limit"), told, strict=True))


def _recommended(figures: Mapping[str, float]) -> float:
    """Scale the position limit down by how far the worst figure is beyond its line."""
    excess = max(value / LINES[name].elevated for name, value in figures.items())
    steps = int(PORTFOLIO.position / max(excess, 1.0) / STEP + 1e-9)
    return max(round(steps * STEP, 6), SMALLEST_LIMIT)


DEEP: Final = 0.8
"""A strategy that stands so near its deepest fall deteriorates."""
HOPELESS: Final = -2.0
"""A Sharpe ratio on paper below this is a strong objection: a few days cannot hide it."""


def review_promotion(turn: Turn) -> Reply:
    """Review how a strategy's risk went on paper (spec 4.3, R-B3)."""
    brief, entry = turn.view.brief, known(turn)
    paper, criteria = brief["proposal"]["paper_trading_metrics"], brief["criteria"]
    sharpe, fallen = paper.get("sharpe"), abs(float(paper.get("max_drawdown", 0.0)))
    standing = abs(float(entry.get("drawdown", 0.0)))
    spec = spec_of(entry)
    figures, _, _ = _figures(turn, spec)
    recommendation: Recommendation = "extend_validation"
    if fallen >= abs(criteria["drawdown_above"]) or (sharpe is not None and sharpe < HOPELESS):
        recommendation = "reject"
    elif sharpe is not None and sharpe > criteria["sharpe_above"] and paper.get("trades", 0):
        same = _sameness(desk(turn), spec, but=subject(turn), where="production") if spec is not None else 0.0
        # It may wait: what production holds already is not bettered by more of the same.
        recommendation = "extend_validation" if same > LINES["sameness"].elevated else "approve"
    trend: Literal["improving", "stable", "deteriorating"] = "stable"
    if not standing and sharpe is not None and sharpe > 0.0:
        trend = "improving"
    elif fallen and standing >= DEEP * fallen:
        trend = "deteriorating"
    return Reply(
        filled_in(
            PromotionReview,
            turn,
            form="guardian",
            risk_trend=trend,
            correlation_with_existing=figures.get("correlation", 0.0),
            recommendation=recommendation,
        )
    )


# ---------------------------------------------------------------- halts, records


def confirm(turn: Turn) -> Reply | None:
    """Confirm that trading may go on; stay silent while an order is open or a metric at its halt (R-B5, R-B13)."""
    shown, voice = desk(turn), turn.voice
    if shown["orders_under_way"]:
        return None
    marks = turn.tools.market.marks(_watched(shown), turn.now)
    figures = measured(shown, marks)
    weights = _weights(shown, {**shown["marks"], **marks}, figures["equity"])
    metrics = {
        "daily_pnl": figures["daily_pnl_pct"],
        "drawdown": min(figures["drawdowns"].values(), default=0.0),
        "var95": var95(weights, turn.universe),
        "largest_position": figures["largest_position"],
    }
    if any(level_of(metric, value) == LEVELS[-1] for metric, value in metrics.items()):
        return None
    worst = max(metrics, key=lambda name: metrics[name] / threshold_of(name, LEVELS[-1]))
    held = sum(len(symbols) for symbols in shown["positions"].values())
    checks = [
        voice.say(PHRASES["confirmed.orders"]),
        voice.say(PHRASES["confirmed.positions"], count=counted(held, "position")),
        voice.say(
            PHRASES["confirmed.levels"], worst=f"{worst.replace('_', ' ')} at {percent(metrics[worst])}"
        ),
        voice.say(
            PHRASES["confirmed.exposure"],
            exposure=percent(figures["exposure"]),
            equity=f"${figures['equity']:,.0f}",
        ),
    ]
    return Reply(filled_in(ResumeConfirmed, turn, checks=tuple(map(sentence, checks))))


def flag(turn: Turn) -> Reply:
    """Flag a strategy that loses in production (R-B10)."""
    return Reply(filled_in(RecallFlag, turn, session_id=turn.case_id))


ANSWERS: Final[Answers] = {
    (GUARDIAN, RiskCheck): check,
    (GUARDIAN, OvernightRiskCheck): check_overnight,
    (GUARDIAN, RiskAlert): alert,
    (GUARDIAN, RiskProjection): project,
    (GUARDIAN, DeployReview): review_deployment,
    (GUARDIAN, PromotionReview): review_promotion,
    (GUARDIAN, ResumeConfirmed): confirm,
    (GUARDIAN, RecallFlag): flag,
}
