"""The Trader's reviews: whether a thing can be traded, and how it was (spec 4.1, 4.2, 4.3)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from moot.bots.desk.broker import SHARE, cost_bps
from moot.bots.desk.market import Market
from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.desk.deskfile import desk, filled_in, known, spec_of
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import beside, counted, percent, sentence
from moot.bots.tools.backtest import backtest
from moot.bots.tools.errors import ToolError
from moot.bots.tools.returns import BASIS_POINT
from moot.bots.tools.splits import splits
from moot.protocols.trading.messages import DeployReview, Feasibility, PromotionReview
from moot.protocols.trading.messages.deployments import Recommendation
from moot.protocols.trading.seats import TRADER

PHRASES: Final = Phrases("desk/trader")

USUAL_DAYS: Final = 20
"""Days whose volume says what is usual."""
BARS_A_DAY: Final = 26
THIN_DAYS: Final = 60
"""Days of which the thinnest is looked at."""
EATEN: Final = 0.1
"""A strategy whose slippage eats more than this share of its return needs limit orders."""
MOST_BPS: Final = 12.0
"""More slippage on paper than this is an issue."""
LEAST_FILLED: Final = 0.9
HOPELESS_FILLED: Final = 0.5


def _volumes(market: Market, symbol: str, now: datetime) -> tuple[float, float]:
    """Return the usual and the thinnest volume of a 15-minute bar, of days that ended; 0 when nobody counted."""
    bars = market.tail(symbol, now, THIN_DAYS + 1)
    if bars is None or len(bars) < 2:
        return 0.0, 0.0
    ended = bars.volume[:-1] / BARS_A_DAY
    return float(ended[-USUAL_DAYS:].mean()), float(ended.min())


def assess(turn: Turn) -> Reply:
    """Say whether exposure can be reduced at once, and what it costs (spec 4.2, R-B4)."""
    shown, voice, market = desk(turn), turn.voice, turn.tools.market
    affected = turn.view.brief["affected"] or tuple(shown["reductions"])
    orders = [
        (symbol, abs(delta))
        for strategy_id in affected
        for symbol, delta in shown["reductions"].get(strategy_id, {}).items()
    ]
    worth = cost = 0.0
    largest, thinnest = 0.0, ""
    for symbol, quantity in orders:
        usual, _ = _volumes(market, symbol, turn.now)
        share = quantity / usual if usual else 0.0
        value = quantity * (market.price(symbol, turn.now) or 0.0)
        worth, cost = worth + value, cost + value * cost_bps(share)
        if share >= largest:
            largest, thinnest = share, symbol
    if not orders:
        note, is_feasible = voice.say(PHRASES["nothing"]), True
    elif not any(market.is_open(symbol, turn.now) for symbol, _ in orders):
        note, is_feasible = voice.say(PHRASES["closed"]), False
    elif largest > SHARE:
        note, is_feasible = voice.say(PHRASES["thin"], symbol=thinnest, share=percent(largest)), False
    else:
        count = counted(len(orders), "order")
        note, is_feasible = voice.say(PHRASES["feasible"], count=count, share=percent(largest, 2)), True
    bps = round(cost / worth, 4) if worth else 0.0
    return Reply(filled_in(Feasibility, turn, feasible=is_feasible, cost_bps=bps, note=sentence(note)))


def review_deployment(turn: Turn) -> Reply:
    """Review whether a strategy's orders can be executed: full positions against what trades (spec 4.1, R-B1)."""
    shown, entry, market = desk(turn), known(turn), turn.tools.market
    slippage, is_thin = 0.0, False
    for symbol in entry.get("symbols", ()):
        price = market.price(symbol, turn.now)
        usual, thinnest = _volumes(market, symbol, turn.now)
        shares = entry["position_limit"] * shown["equity"] / price if price else 0.0
        slippage = max(slippage, cost_bps(shares / usual if usual else 0.0))
        # Where nobody counts volume nobody knows whether a position can be left again.
        is_thin = is_thin or not thinnest or shares / thinnest > SHARE
    is_ready = _eaten(turn, slippage) <= EATEN
    return Reply(
        filled_in(
            DeployReview,
            turn,
            form="trader",
            executability="ready" if is_ready else "needs_adjustment",
            liquidity_concern=is_thin,
            suggested_order_type="market" if is_ready else "limit",
            estimated_slippage_bps=round(slippage, 4),
        )
    )


def _eaten(turn: Turn, slippage_bps: float) -> float:
    """Return which share of its yearly return a strategy pays for slippage, on train and validation; 1 at most."""
    spec = spec_of(known(turn))
    if spec is None:
        return 1.0
    try:
        report = backtest(spec, turn.universe, splits(turn.universe).evidence)
    except ToolError:
        return 1.0
    paid, gained = report.turnover_a_year * slippage_bps * BASIS_POINT, report.metrics["annual_return"]
    return min(paid / gained, 1.0) if gained > 0.0 else 1.0


def review_promotion(turn: Turn) -> Reply:
    """Review how a strategy's orders were executed on paper (spec 4.3, R-B3)."""
    voice, paper = turn.voice, turn.view.brief["proposal"]["paper_trading_metrics"]
    trades, slippage = paper.get("trades", 0), float(turn.view.brief["avg_slippage_bps"])
    rate = float(turn.view.brief["fill_rate"])
    issues = []
    if not trades:
        issues.append(voice.say(PHRASES["issues.untraded"]))
    else:
        if slippage > MOST_BPS:
            value, limit = beside(slippage, MOST_BPS)
            issues.append(voice.say(PHRASES["issues.slippage"], value=value, limit=limit))
        if rate < LEAST_FILLED:
            value, limit = beside(rate, LEAST_FILLED, 0, percent)
            issues.append(voice.say(PHRASES["issues.fills"], value=value, limit=limit))
    recommendation: Recommendation = "extend_validation" if issues else "approve"
    if trades and (rate < HOPELESS_FILLED or slippage > 2.0 * MOST_BPS):
        recommendation = "reject"
    return Reply(
        filled_in(
            PromotionReview,
            turn,
            form="trader",
            execution_issues=tuple(map(sentence, issues)),
            recommendation=recommendation,
        )
    )


ANSWERS: Final[Answers] = {
    (TRADER, Feasibility): assess,
    (TRADER, DeployReview): review_deployment,
    (TRADER, PromotionReview): review_promotion,
}
