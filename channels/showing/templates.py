"""How each message type reads: one template a type, the colours of the seats. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.wording` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RESEARCH: Final[Mapping[str, str]] = {
    "CYCLE_TRIGGER": "starts the {mode} cycle {cycle_id}[ of {nominal_at|when}]"
    "[, towards {context.priority_direction}]",
    "CYCLE_DEFERRED": "defers the {schedule} cycle of {nominal_at|when}: {reason}",
    "CYCLE_SKIPPED": "skips the {schedule} cycle of {nominal_at|when}: {reason}",
    "RESEARCH_NOTE": "notes {title}[: {findings}]",
    "HYPOTHESIS": "proposes {hypothesis_id}: {statement}"
    "[ ({strategy.archetype|words} on {strategy.symbols})]",
    "RISK_ASSESSMENT": "rates {hypothesis_id} {risk_rating}, confidence {confidence}[: {scores|scores}]"
    "[; fatal: {fatal_flaws}]",
    "REBUTTAL": "answers on {hypothesis_id}[: {responses|each:response}][; changes: {modifications}]",
    "CONCEDE": "concedes {hypothesis_id}: {reason}",
    "EXTEND_DEBATE": "extends the debate on {hypothesis_id} by {extra_rounds|count:round}, alpha argument "
    "{alpha_argument_score}, risk argument {risk_argument_score}[: {reason}]",
    "VERDICT": "decides on {hypothesis_id}: {verdict}, confidence {confidence}, alpha argument "
    "{alpha_argument_score}, risk argument {risk_argument_score}[: {reasoning}]",
    "REVISE_REQUEST": "asks for a revision of {hypothesis_id} in {deadline_min} min[: {specific_issues}]"
    "[; direction: {suggested_direction}]",
    "REVISED_HYPOTHESIS": "revises {hypothesis_id}: {statement}[; addressed: {addressed|each:change}]",
    "FINAL_VERDICT": "decides finally on {hypothesis_id}: {verdict}, confidence {confidence}, alpha argument "
    "{alpha_argument_score}, risk argument {risk_argument_score}[: {reasoning}]",
    "BACKTEST_RESULT": "reports that the backtest of {hypothesis_id} {passed|either:passed,failed}: Sharpe "
    "{metrics.sharpe}, drawdown {metrics.max_drawdown|percent}, {metrics.total_trades|count:trade}"
    "[; {reason|unless:passed}]",
    "STRATEGY_MOVED": "moves {strategy_id}[ from {from}] to {to}[: {reason}]",
    "MICRO_CYCLE_REPORT": "closes {cycle_id}: {verdict}[ for {hypothesis_id}][, confidence {confidence}]"
    "[, backtest Sharpe {backtest_sharpe}][, next cycle {next_cycle_trigger|when}]",
    "PRINCIPLE_SYNTHESIS": "draws {principles|count:principle} from the day until {window.to|when}"
    "[: {principles|each:statement}]",
    "DAILY_REPORT": "reports {date}: {cycles_completed|count:cycle}, {strategies_approved} approved, "
    "{strategies_rejected} rejected, {strategies_revised} revised"
    "[; best {top_strategy.id} with Sharpe {top_strategy.sharpe}][; tomorrow: {tomorrow_priority}]",
    "WEEKLY_REPORT": "reports {week}: {total_cycles|count:cycle}, {strategies_approved} approved"
    "[, best Sharpe {best_strategy_sharpe}][; next week: {next_week_direction}]",
    "THRESHOLD_REVIEW": "reviews the Critic in {period}: wrongly rejected {false_negative_rate|percent}, "
    "approved but failed {false_positive_rate|percent}; recommends to {recommendation} the thresholds",
    "THRESHOLDS_ADJUSTED": "adjusts its thresholds after {period}[: {after}]",
    "META_REFLECTION": "reflects on {period}: {total_debates|count:debate}, "
    "{verdict_distribution.APPROVE} approved, {verdict_distribution.REJECT} rejected, "
    "{verdict_distribution.REVISE} revised, mean quality "
    "{avg_debate_quality}[: {recommendations}]",
    "ARCHITECTURE_PROPOSAL": "proposes {proposals|count:change} for {period}[: {proposals|each:description}]",
    "ARCHITECTURE_CRITIQUE": "objects to {critiques|count:change} in round {round}"
    "[: {critiques|each:objections}]",
    "ARCHITECTURE_REBUTTAL": "answers on {responses|count:change}[: {responses|each:response}]",
    "ARCHITECTURE_VERDICT": "approves {approved_changes|count:change} of {proposals_evaluated}"
    "[: {approved_changes|each:description}][; deferred: {deferred}][; rejected: {rejected}]",
    "CAUSAL_RECORD": "records a {record.kind}[ of {record.hypothesis_id}]: {record.summary}",
    "REFLECTION": "reflects on a {record.kind}[ of {record.hypothesis_id}]: {record.summary}",
}
"""System A."""

TRADING: Final[Mapping[str, str]] = {
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
    "[, liquidity {liquidity_concern|either:a concern,fine}][, slippage about {estimated_slippage_bps} bp]",
    "DEPLOY_DECISION": "decides on {deployment_id}: {decision|words} (row {row})"
    "[, at most {parameters.position_limit|percent} a position][, {parameters.order_type} orders][: {feedback}]",
    "DEPLOY_NOTICE": "gives notice to {action|words} {strategy_id}[ ({from} to {to})]"
    "[ for {validation_period_days|count:day}][: {reason}]",
    "PROMOTION_PROPOSAL": "proposes to promote {strategy_id} after {days|count:day} on paper"
    "[: Sharpe {paper_trading_metrics.sharpe} over {paper_trading_metrics.n|count:session}]"
    "[, drawdown {paper_trading_metrics.max_drawdown|percent}]",
    "PROMOTION_REVIEW": "reviews {promotion_id}: {recommendation|words}[, risk {risk_trend}]"
    "[, drawdown {max_drawdown_observed|percent}][, correlation {correlation_with_existing}]"
    "[, slippage {avg_slippage_bps} bp][, {fill_rate|percent} filled][; issues: {execution_issues}]",
    "PROMOTION_DECISION": "decides on {promotion_id}: {decision|words} (row {row})",
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
    "RESUME": "asks to resume after {halt_id}: {reason}",
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
"""System B."""

OFFICERS: Final[Mapping[str, str]] = {
    "SOCIETY_STARTED": "opens the society on the {clock} clock[ at speed {speed}], seed {seed}, "
    "rules {rules_version}",
    "SOCIETY_STOPPED": "closes the society: {reason}",
    "CONFIG_CHANGED": "changes the configuration: {reason}[ ({changes})]",
    "CLOCK_SET": "sets the clock to {society_at|when}, speed {speed}, {paused|either:paused,running}"
    "[: {reason}]",
    "ANCHOR": "anchors what was said until {nominal_at|when}: message {seq}, hash {hash}",
    "TIMEOUT_PING": "reminds the {seat|seat} of {obligation_id}, due for {waited_min} min",
    "RULING": "rules {outcome|words}[ on {obligation_id}][ in {case_id}]: {reason|words}[ ({rule})]",
    "VIOLATION": "finds a violation by the {seat|seat} in message {of_seq}: {why}[ ({rule})]",
    "AUDIT": "records {event|words}[ by the {seat|seat}][ in {channel}]: {reason}[, {count|count:time}]",
    "PERSON_NAMED": "learns that {user_id} on {platform} is called {display_name}",
}
"""Referee and timekeeper."""

PEOPLE: Final[Mapping[str, str]] = {
    "NOTE": "notes[ on {about_case_id}]: {text}",
    "OVERRIDE": "overrides {case_id}: {verdict}[, because {why}]",
    "SEAT_TAKEN": "puts {user_id} in the seat of the {seat|seat}[: {reason}]",
    "SEAT_RELEASED": "gives the seat of the {seat|seat} back from {user_id}[: {reason}]",
    "STOP": "stops {scope}: {why}",
}
"""Admins and viewers."""

ESCALATION: Final[Mapping[str, str]] = {
    "ESCALATION": "escalates {escalation_id}, {level|words}: {trigger}[ ({context})]"
    "[; options: {options|each:label}]",
    "ESCALATION_PAGED": "pages the admin again about {escalation_id}, time {n}",
    "ESCALATION_ACK": "has seen {escalation_id}",
    "ESCALATION_ANSWER": "answers {escalation_id}[ with option {option}][: {text}]",
    "ESCALATION_RESOLVED": "resolves {escalation_id}: {how|ended}[ by {by}][; {effect|effect}]",
    "MODE_CHANGED": "turns System {system} {mode}, because of {because}",
}
"""The escalations of spec section 5."""

ARENA: Final[Mapping[str, str]] = {
    "ARENA_TASK": "opens {run_id}[ on {task.task_id}][ for {parent_id}][: {task.initial_prompt}]",
    "HOOK_RESULT": "asks the notebook {phase} the loop of {run_id}: {status|words}"
    "[, {evidence_refs|count:passage}][, on {findings|each:claim}][, {why}]",
    "DRAFT": "drafts round {round_index} of {run_id}[: {text}]",
    "REVIEW": "{text|verdict} round {round_index} of {run_id}: {text|open}",
    "RUN_FAULT": "stops work on {run_id}: {fault|words}[ with {tool}], {detail}",
    "FINAL_OUTPUT": "gives the final output of {run_id}[: {text}]",
    "RUN_TERMINATED": "ends {run_id} after {rounds|count:round}: {reason}",
}
"""Runs of the Arena."""

PANEL: Final[Mapping[str, str]] = {
    "PANEL_OPENED": "puts {title} ({field}, {word_count|count:word}) before {panel_id}"
    "[ under {contract.contract_id}][ for {parent_id}]",
    "PHASE1": "commits itself in {panel_id} before it sees the work: {text|planned}",
    "PHASE2": "reviews the work in {panel_id}: {text|judged}",
    "LINT": "{is_passed|either:passes,faults} phase {phase} of the {role|seat} in {panel_id}"
    "[: {findings}][ {tag}]",
    "SYNTHESIS": "concludes {panel_id}: {text|judged}",
    "PANEL_DECIDED": "decides {panel_id}: {decision|action}[, by {fired_conditions}]{tags|notable}",
    "PANEL_ABORTED": "ends {panel_id} without a decision {tag}[: {why}]",
}
"""Review panels under a contract."""

TEMPLATES: Final[Mapping[str, str]] = {
    **RESEARCH,
    **TRADING,
    **OFFICERS,
    **PEOPLE,
    **ESCALATION,
    **ARENA,
    **PANEL,
}
"""All of them by message type; a type without one reads as its name and its first fields."""

UNSHOWN: Final[Mapping[str, frozenset[str]]] = {
    "AUDIT": frozenset({"bytes", "truncated"}),
    "ESCALATION": frozenset({"evidence_seqs", "options", "subject", "suggested_actions", "trigger"}),
    "VIOLATION": frozenset({"bytes", "truncated"}),
}
"""Fields that no card shows: they say again what stands there already, or nothing to people."""
