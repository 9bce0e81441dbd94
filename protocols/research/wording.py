"""How the messages of System A read: one template a type. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.templates` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDING: Final[Mapping[str, str]] = {
    "CYCLE_TRIGGER": "starts the {mode} cycle {cycle_id}[ of {nominal_at|when}]"
    "[; direction: {context.priority_direction}]",
    "CYCLE_DEFERRED": "defers the {schedule} cycle of {nominal_at|when}: {reason}",
    "CYCLE_SKIPPED": "skips the {schedule} cycle of {nominal_at|when}: {reason}",
    "RESEARCH_NOTE": "notes {title}[: {findings}]",
    "HYPOTHESIS": "proposes {hypothesis_id}"
    "[ ({strategy.archetype|words} on {strategy.symbols|unsaid:statement})]: {statement}",
    "RISK_ASSESSMENT": "rates {hypothesis_id} {risk_rating}, confidence {confidence}[: {scores|scores}]"
    "[; fatal: {fatal_flaws}][. {reasoning}]",
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
    "[; best {top_strategy.id} with Sharpe {top_strategy.sharpe}][; tomorrow: {tomorrow_priority}]"
    "[; models so far: {models.calls|count:call}, {models.tokens|count:token}][, {models.cost|micro}]"
    "[ of {models.limit|micro}]",
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
    "CAUSAL_RECORD": "records a {record.kind}[ of {record.hypothesis_id}]: {record.summary|derived}",
    "REFLECTION": "reflects on a {record.kind}[ of {record.hypothesis_id}]: {record.summary|derived}",
}

DUTIES: Final[Mapping[str, str]] = {
    "assessment": "assessment of round {n}",
    "assessment-revision": "assessment of the revision",
    "budget": "ruling when the time is over",
    "critique": "critique of round {n}",
    "cycle/report": "report of the cycle",
    "cycle/synthesis": "synthesis of principles",
    "panel": "opening of the review panel",
    "panel-limit": "ruling when the panel takes too long",
    "proposal": "proposal of changes",
    "rebuttal": "rebuttal of round {n}",
    "record": "record of what came of it",
    "refine": "refinement of {n}",
    "revise-request": "request for a revision",
    "threshold-review": "review of the thresholds",
    "thresholds": "new thresholds",
}
"""What steps are called; `{n}` is the number behind their name."""
