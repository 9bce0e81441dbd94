"""The simulated mind: one for each seat, answering by what an obligation expects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.simulated.debate import (
    aftermath,
    architecture,
    critic,
    evolver,
    explorer,
    live,
    rebuttal,
    reports,
    weekly,
)
from moot.bots.minds.simulated.delays import delay
from moot.bots.minds.simulated.desk import (
    guardian,
    operator,
    operator_strategies,
    trader,
    trader_orders,
    trader_reviews,
)
from moot.bots.minds.simulated.panel import convening
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.minds.simulated.turn import Turn
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER

Answer = Callable[[Turn], Reply | None]


def _move(turn: Turn) -> Reply | None:
    return (operator_strategies.move if turn.view.seat == OPERATOR else aftermath.move)(turn)


def _record(turn: Turn) -> Reply:
    return (live.record if live.is_live(turn) else aftermath.record)(turn)


def _reflect(turn: Turn) -> Reply:
    return (live.reflect if live.is_live(turn) else aftermath.reflect)(turn)


def _review_deployment(turn: Turn) -> Reply:
    reviews = {GUARDIAN: guardian.review_deployment, TRADER: trader_reviews.review_deployment}
    return reviews[turn.view.seat](turn)


def _review_promotion(turn: Turn) -> Reply:
    reviews = {GUARDIAN: guardian.review_promotion, TRADER: trader_reviews.review_promotion}
    return reviews[turn.view.seat](turn)


ANSWERS: Final[Mapping[str, Answer]] = {
    "HYPOTHESIS": explorer.hypothesis,
    "REBUTTAL": rebuttal.rebut,
    "CONCEDE": rebuttal.rebut,
    "REVISED_HYPOTHESIS": rebuttal.revise,
    "RISK_ASSESSMENT": critic.assess,
    "THRESHOLDS_ADJUSTED": critic.adjust,
    "VERDICT": evolver.judge,
    "EXTEND_DEBATE": evolver.judge,
    "FINAL_VERDICT": evolver.judge_finally,
    "REVISE_REQUEST": evolver.request,
    "BACKTEST_RESULT": aftermath.backtest,
    "STRATEGY_MOVED": _move,
    "CAUSAL_RECORD": _record,
    "REFLECTION": _reflect,
    "MICRO_CYCLE_REPORT": reports.micro,
    "PRINCIPLE_SYNTHESIS": reports.synthesise,
    "DAILY_REPORT": reports.daily,
    "THRESHOLD_REVIEW": weekly.review,
    "META_REFLECTION": weekly.meta,
    "WEEKLY_REPORT": weekly.weekly,
    "ARCHITECTURE_PROPOSAL": architecture.propose,
    "ARCHITECTURE_CRITIQUE": architecture.critique,
    "ARCHITECTURE_REBUTTAL": architecture.rebut,
    "ARCHITECTURE_VERDICT": architecture.decide,
    "ARENA_TASK": architecture.refine,
    "PERFORMANCE_FEEDBACK": live.feed_back,
    "PRE_MARKET_CHECK": operator.check_before_open,
    "CHECK_NEW_STRATEGIES": operator.look_for_strategies,
    "DEPLOY_PROPOSAL": operator_strategies.propose_deployment,
    "DEPLOY_DECISION": operator_strategies.decide_deployment,
    "DEPLOY_NOTICE": operator_strategies.notify,
    "PROMOTION_PROPOSAL": operator_strategies.propose_promotion,
    "PANEL_OPENED": convening.convene,
    "PROMOTION_DECISION": operator_strategies.decide_promotion,
    "FEEDBACK_RESPONSE": operator_strategies.respond,
    "RECALL_REQUEST": operator_strategies.request_recall,
    "RISK_DISCUSSION": operator.discuss,
    "RISK_DECISION": operator.decide_risk,
    "HALT": operator.halt,
    "RESUME": operator.resume,
    "MARKET_CLOSE": operator.close_books,
    "TRADING_SUMMARY": operator.summarise,
    "DAILY_TRADING_REPORT": operator.report_day,
    "WEEKLY_TRADING_REPORT": operator.report_week,
    "DEPLOY_REVIEW": _review_deployment,
    "PROMOTION_REVIEW": _review_promotion,
    "RISK_CHECK": guardian.check,
    "RISK_ALERT": guardian.alert,
    "RISK_PROJECTION": guardian.project,
    "RESUME_CONFIRMED": guardian.confirm,
    "METRICS_RECORDED": guardian.record,
    "OVERNIGHT_RISK_CHECK": guardian.check_overnight,
    "RECALL_FLAG": guardian.flag,
    "DESK_CHECK": trader.check,
    "SIGNAL": trader.reduce,
    "ORDER": trader_orders.order,
    "NO_ORDER": trader_orders.order,
    "EXECUTION": trader_orders.execute,
    "FEASIBILITY": trader_reviews.assess,
}
"""Who answers what; a message is of one seat but for moves and reviews, so one table serves all of them."""


class SimulatedMind(Mind):
    """Fills a seat with a seeded, arguing bot.

    It keeps nothing between answers: the same view, seed and prices give the same bytes in any process, so a
    restart changes nothing. Decisions follow from figures; the seed chooses what is searched, how it is said
    and how long it takes.
    """

    def __init__(self, tools: SimulatedTools) -> None:
        """Take the tools that the seats of a society share."""
        self.tools = tools

    def consider(self, view: View) -> timedelta | None:
        if _answer_for(view) is None:
            return None
        own = delay(self.tools.seed, view.obligation, view.attempt, view.now, self.tools.temper)
        if own is None or "EXECUTION" not in view.obligation.expects:
            return own
        ready_at = trader_orders.ready_at(view, self.tools)
        return own if ready_at is None else max(own, ready_at - view.obligation.opened_at)

    async def answer(self, view: View) -> Reply | None:
        answer = _answer_for(view)
        return None if answer is None else answer(Turn(view, self.tools))


def _answer_for(view: View) -> Answer | None:
    return next((ANSWERS[kind] for kind in view.obligation.expects if kind in ANSWERS), None)
