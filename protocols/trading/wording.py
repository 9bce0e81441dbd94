"""How the messages of System B read: one template a type. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.templates` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDING: Final[Mapping[str, str]] = {
    "TRADING_DAY": "opens the trading day {date}, {is_early_close|either:an early close,a full session}: "
    "the exchange is open {opens_at|when} to {closes_at|when}",
    "PRE_MARKET_CHECK": "checks the desk before the open[: {checks}]",
    "CHECK_NEW_STRATEGIES": "looks for new strategies[: {found|count:candidate}, {found}]",
    "DEPLOY_PROPOSAL": "proposes to deploy {strategy_id} as {deployment_id}"
    "[: backtest Sharpe {backtest_metrics.sharpe}][, drawdown {backtest_metrics.max_drawdown|percent}]"
    "[, {risk_profile.archetype|words}][ on {risk_profile.symbols}]",
    "DEPLOY_REVIEW": "reviews {deployment_id}[: risk {risk_assessment}]"
    "[, at most {recommended_position_limit|percent} a position][; concerns: {concerns}]"
    "[: {executability|words}, {suggested_order_type} orders]"
    "[, liquidity {liquidity_concern|either:a concern,fine}][, slippage about {estimated_slippage_bps|whole} bp]",
    "DEPLOY_DECISION": "decides on {deployment_id}: {decision|words} (row {row|deployment})"
    "[, at most {parameters.position_limit|percent} a position][, {parameters.order_type} orders][: {feedback}]",
    "DEPLOY_NOTICE": "gives notice ({action|words}): {strategy_id} is in {to} from now on"
    "[, for {validation_period_days|count:day} at least][. {reason}]",
    "PROMOTION_PROPOSAL": "proposes to promote {strategy_id} after {days|count:day} on paper"
    "[: Sharpe {paper_trading_metrics.sharpe} over {paper_trading_metrics.n|count:session}]"
    "[, drawdown {paper_trading_metrics.max_drawdown|percent}]",
    "PROMOTION_REVIEW": "reviews {promotion_id}: {recommendation|words}[, risk {risk_trend}]"
    "[, drawdown {max_drawdown_observed|percent}][, correlation {correlation_with_existing}]"
    "[, slippage {avg_slippage_bps} bp][, {fill_rate|percent} filled][; issues: {execution_issues}]",
    "PROMOTION_DECISION": "decides on {promotion_id}: {decision|words} (row {row|promotion})"
    ", {extensions|count:extension} so far",
    "RISK_CHECK": "measures the risk: day {daily_pnl_pct|percent}, exposure {exposure|percent}"
    "[, largest {largest_symbol} {largest_position|percent}], VaR {var95|percent}",
    "RISK_ALERT": "raises {level} {alert_id}: {message} ({metric|words} {current_value}, limit {threshold})"
    "[; about {affected_strategies}]",
    "RISK_DISCUSSION": "suggests on {alert_id} to {proposed_action|words}[: {reason}]",
    "RISK_PROJECTION": "projects on {alert_id}: {trend}[, {projection}]",
    "FEASIBILITY": "finds it {feasible|either:feasible,not feasible} on {alert_id} at {cost_bps} bp[: {note}]",
    "RISK_DECISION": "decides on {alert_id}: {action|words}[, because {reason}]"
    "[; waits for {waits_for}][, reviewed {until|when}]",
    "HALT": "halts trading by {halt_id}: {reason}",
    "RESUME": "asks to resume after {halt_id}: {reason}[ (lifts: {lifts})]",
    "RESUME_CONFIRMED": "confirms that trading may go on after {halt_id}[: {checks}]",
    "OVERNIGHT_RISK_CHECK": "measures the risk overnight: exposure {exposure|percent}, largest "
    "{largest_position|percent}, VaR {var95|percent}",
    "DESK_CHECK": "ends a round of the desk: {strategies|count:strategy,strategies}, {signals|count:signal}"
    "[; faults: {faults|each:strategy_id}]",
    "SIGNAL": "signals {signal_id}: {action} {quantity} {symbol} for {strategy_id}, {order_type}"
    "[ at {limit_price}], confidence {confidence}[: {reason}]",
    "ORDER": "orders {client_order_id}: {side} {quantity} {symbol}, {order_type}[ at {limit_price}]",
    "NO_ORDER": "gives no order for {signal_id}: {reason|words}",
    "EXECUTION": "reports {client_order_id} {status}: {action} {qty_filled} {symbol} at {avg_price}, slippage "
    "{slippage_bps} bp, fee {fee|dollars}{fill_after_halt|either: (after the halt),}",
    "MARKET_CLOSE": "closes the books of {date}: equity {equity|dollars}, day {pnl_usd|dollars} "
    "({pnl_pct|percent}), {trades|count:trade}",
    "TRADING_SUMMARY": "sums up {period}: {pnl_usd|dollars} ({pnl_pct|percent}), {trades|count:trade}, "
    "{wins} won, {losses} lost, risk {risk_status|words}[; active: {active_strategies}]",
    "DAILY_TRADING_REPORT": "reports {date}: {pnl_usd|dollars} ({pnl_pct|percent}), since the start "
    "{cumulative_pnl_pct|percent}, {total_trades|count:trade}[, {win_rate|percent} won]"
    "[, Sharpe {sharpe_30d} over {n|count:session}][, Sharpe: {n|few}]"
    "[; on paper: {staging_strategies|each:id}][; flagged for recall: {recall_flags}]",
    "WEEKLY_TRADING_REPORT": "reports {week}: {pnl_usd|dollars} ({pnl_pct|percent}) in {sessions|count:session}, "
    "{total_trades|count:trade}[; promoted: {promotions}][; recalled: {recalls}]",
    "METRICS_RECORDED": "records {date} of {strategy_id}: {realised.pnl|dollars}"
    "[, Sharpe {realised.sharpe_30d} over {realised.n|count:session}][, Sharpe: {realised.n|few}]"
    ", drawdown {realised.max_drawdown|percent}, {realised.trades|count:trade}",
    "PERFORMANCE_FEEDBACK": "finds that {strategy_id} does not do what it promised"
    "[: Sharpe {expected_vs_actual.actual_sharpe} over {expected_vs_actual.n|count:session} live]"
    "[, {expected_vs_actual.expected_sharpe} expected]"
    "[; {proposed_adjustment}]",
    "FEEDBACK_RESPONSE": "answers {feedback_id}: {stance|words}s, action {action|words}[; {counter_evidence}]",
    "RECALL_FLAG": "flags {strategy_id} for recall: Sharpe {sharpe} over {n|count:session}",
    "RECALL_REQUEST": "asks System A to evaluate {strategy_id} anew[: {reason}]",
    "HEALTH_CHECK": "finds System {system} {status|words}[: {agents|statuses}]",
}

DUTIES: Final[Mapping[str, str]] = {
    "alert": "risk alert",
    "close": "check after the close",
    "confirmation": "confirmation that trading may resume",
    "deploy": "proposal to deploy a strategy",
    "desk": "round of the desk",
    "execution": "report of what the broker did",
    "feasibility": "word on whether it can be carried out",
    "feedback": "feedback on a strategy",
    "flatten": "order that closes a position",
    "halt": "halt of the desk",
    "metrics": "record of a strategy's figures",
    "move": "move of a strategy",
    "order": "order to the broker",
    "overnight": "overnight risk check",
    "panel": "opening of the review panel",
    "panel-limit": "ruling when the panel takes too long",
    "poll": "look for new strategies",
    "pre_market": "check before the open",
    "projection": "projection of the risk",
    "promote": "proposal to promote a strategy",
    "recall": "recall of a strategy",
    "reduce": "signal that reduces a position",
    "report": "report of the trading day",
    "resume": "request to resume trading",
    "return": "return of the strategy to System A",
    "revoke": "withdrawal of a strategy",
    "risk": "risk check",
    "summary": "summary of the session",
    "weekly": "weekly report",
    "withdrawal": "withdrawal of the strategy",
}
"""What steps are called; `{n}` is the number behind their name."""
