"""The Operator's sentences, as data: `str.format` templates, several for each occasion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Variants = tuple[str, ...]

PRE_MARKET: Final[Mapping[str, Variants]] = {
    "money": ("equity {equity}, of it {cash} in cash", "cash {cash}, equity {equity}"),
    "positions": ("{count} held, exposure {exposure}", "exposure {exposure} in {count}"),
    "strategies": (
        "{production} in production, {paper} on paper",
        "{paper} traded on paper, {production} in production",
    ),
    "prices": ("prices up to {last}, {symbols}", "{symbols} with prices, the last of {last}"),
    "halted": ("the desk is halted: no position may grow", "halted, so we only close positions today"),
    "open": ("no halt is in force", "trading is open"),
    "exchange": ("the exchange is open {opens} to {closes} UTC",),
    "early": ("early close: the exchange is open {opens} to {closes} UTC",),
}
"""Points of a PRE_MARKET_CHECK by what they are about."""

RUNS: Final[Variants] = (
    "it runs on validation (Sharpe {sharpe}, {trades})",
    "the code runs: Sharpe {sharpe} on validation, {trades}",
)
PASSED: Final[Variants] = (
    "its backtest on unseen data passed with Sharpe {sharpe}",
    "unseen data gave it Sharpe {sharpe}",
)
RISK_SET: Final[Variants] = ("risk parameters are complete", "its risk parameters are set")
INVALID: Final[Mapping[str, Variants]] = {
    "unknown": ("nobody said what it trades",),
    "risk": ("risk parameters are missing: {names}", "it lacks {names}"),
    "fault": ("it does not run: {why}", "running it fails: {why}"),
    "untested": ("there is no backtest of it on unseen data",),
    "failed": ("its backtest on unseen data failed: {why}", "it failed on unseen data ({why})"),
}
"""Reasons not to take a candidate over."""

RETURNED: Final[Mapping[str, Variants]] = {
    "deployment": ("not deployed: {why}", "it goes back to System A: {why}"),
    "rejected": ("not promoted: {why}", "its validation ended in a rejection: {why}"),
    "promoted": (
        "{days} on paper with Sharpe {sharpe} and a drawdown of {drawdown}",
        "it kept its promise on paper: Sharpe {sharpe} in {days}, drawdown {drawdown}",
    ),
    "recall": ("recalled: {why}", "withdrawn for re-evaluation: {why}"),
    "faults": ("{count} in a row, the last: {why}", "it failed {count} running: {why}"),
}
"""Why a strategy moves on."""

SHORTAGE: Final[Variants] = ("too few sessions to measure",)

ROWS: Final[Mapping[str, Variants]] = {
    "DEPLOY": ("both reviews are clear", "nothing speaks against it"),
    "DEPLOY_MODIFIED": ("deployed as the reviews ask: {how}", "yes, with {how}"),
    "REJECT": ("the Guardian calls the risk excessive: {why}", "too risky for the desk: {why}"),
    "ESCALATE": ("the reviews do not agree ({guardian}, {trader}); the admin decides",),
}
"""What a DEPLOY_DECISION says besides its row."""

NOTICES: Final[Mapping[str, Variants]] = {
    "STAGE": ("trades on paper from now on", "paper trading begins"),
    "PROMOTE": ("its paper trading convinced both reviewers", "promoted by both reviews"),
    "WITHDRAW": ("it is traded no longer", "no new positions; what is open is closed"),
}

TENDENCY: Final[Mapping[str, Variants]] = {
    "worse": (
        "{metric} went from {first} to {last} in {count}, so I would cut now",
        "{metric} keeps getting worse ({first}, now {last}): less exposure",
    ),
    "near": (
        "{metric} at {last} is close to the next limit of {next}",
        "from {last} it is not far to {next}; better smaller",
    ),
    "calm": (
        "{metric} at {last} has just passed {threshold} and does not run away",
        "{last} against a limit of {threshold}: watch it before we sell into it",
    ),
}
"""Why a RISK_DISCUSSION proposes what it proposes."""

DECIDED: Final[Mapping[str, Variants]] = {
    "CRITICAL": ("a CRITICAL alert leaves no choice", "CRITICAL: exposure comes down"),
    "increasing": (
        "the Guardian sees it increasing: {projection}",
        "risk is rising ({projection}), so we cut",
    ),
    "accelerating": ("the risk accelerates: {projection}",),
    "decreasing": ("the Guardian sees it go down: {projection}",),
    "stable": ("the Guardian calls it stable: {projection}", "stable, says the Guardian ({projection})"),
}
"""Why a RISK_DECISION decides so, by the projection or the level."""

FEASIBLE: Final[Variants] = ("the Trader can do it at {cost} bp", "it would cost {cost} bp")
INFEASIBLE: Final[Variants] = (
    "the Trader does not find it feasible: {note}",
    "not easy to execute ({note}), but the rule stands",
)

WAITS: Final[Variants] = ("a market that takes the orders", "bids enough to sell into")
"""What a decision waits for where exposure cannot be reduced (R-F16)."""

WORSE: Final[Variants] = (
    "a one-sided test of the two Sharpe ratios (Lo’s standard error {error}, {sessions}) gives z = {z}, p = {p}",
    "live {live} against {promised} promised over {sessions}: z = {z}, p = {p} by Lo’s standard error of {error}",
)
DEEPER: Final[Variants] = (
    "its drawdown of {drawdown} is deeper than the {promised} of its backtest",
    "{drawdown} of drawdown where the backtest showed {promised}",
)
SHORT: Final[Variants] = (
    "{sessions} cannot tell {live} from {promised}: z = {z} and p = {p}, where {level} is asked for",
    "over {sessions} the gap is within chance (z = {z}, p = {p}, standard error {error})",
)
NEEDED: Final[Variants] = (
    "about {needed} would be needed to tell such a difference",
    "a gap of that size takes some {needed} to show",
)
MARKET: Final[Variants] = (
    "holding {symbols} gave {market} over the same time, so the market was against it",
    "the market itself made {market} on {symbols} in these sessions",
)
HELD_UP: Final[Variants] = (
    "its drawdown of {drawdown} is within the {promised} of its backtest",
    "with {drawdown} it lost no more than the {promised} its backtest had shown",
)

RECALLED: Final[Variants] = (
    "realised Sharpe {sharpe} over {sessions}; its backtest promised {promised}",
    "{sessions} with Sharpe {sharpe} against {promised} in the backtest: please look at it again",
)
HALTS: Final[Mapping[str, Variants]] = {
    "silence": ("the Guardian is silent, and nobody measures the risk",),
    "alert": ("a limit that halts the desk is reached, and the Guardian has not said so",),
    "admin": ("the admin wants the desk halted",),
}
"""Reasons of a HALT by its cause."""
ORDERED: Final[Variants] = (
    "the admin wants it, although the day stands at {pnl} with {exposure} exposed: please look closely",
    "asked for by the admin; note {pnl} on the day and exposure {exposure}",
)
OVER: Final[Variants] = (
    "the cause is over: the day stands at {pnl}, exposure {exposure}",
    "{pnl} on the day and {exposure} exposed; nothing is beyond a limit",
)
