"""What a verdict may say: the guards of VERDICT and FINAL_VERDICT, of revisions, extensions and backtests.

Each guard returns where the debate goes, or raises; those whose breach the table answers with a ruling
raise `Consequential` (K10). Sources: spec 1.2, 1.3; R-D5 to R-D10, R-D15, R-D22, R-B8, R-F8, R-F9, R-G2.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.errors import Consequential, Violation
from moot.protocols.kernel.figures import NEWEST, SECOND_AUDIT
from moot.protocols.research.debate_table import (
    CONSERVATIVE_CONFIDENCE,
    CYCLE_BUDGET,
    EXTENSION_BAND,
    EXTENSION_COSTS,
    ISSUES,
    LOW_CONFIDENCE,
    NEXT_ACTION,
    REVISION_COSTS,
    TIE,
    Phase,
)
from moot.protocols.research.grounds import LEAD, STRONG, SURE, TESTED
from moot.protocols.research.messages import (
    BacktestMetrics,
    BacktestResult,
    ExtendDebate,
    FinalVerdict,
    ReviseRequest,
    Verdict,
)


class Debated(Protocol):
    """What the guards read of a debate."""

    @property
    def assessed(self) -> bool:
        """Whether an assessment of the present text stands."""
        ...

    @property
    def flawed(self) -> bool:
        """Whether that assessment names a fatal flaw."""
        ...

    @property
    def extended(self) -> bool:
        """Whether the debate was extended."""
        ...

    @property
    def ended_by(self) -> str:
        """Which criterion of 1.4 ended the exchange: rounds, confidence, concede, timeout."""
        ...


def may_revise(elapsed: timedelta) -> bool:
    """Say whether a revision still fits into the cycle's budget (R-D6)."""
    return elapsed + REVISION_COSTS <= CYCLE_BUDGET


def may_extend(extended: bool, ended_by: str, elapsed: timedelta) -> bool:
    """Say whether an extension is possible at all: after round 2, once, within the budget (R-D5, R-D6)."""
    return not extended and ended_by == "rounds" and elapsed + EXTENSION_COSTS <= CYCLE_BUDGET


def is_tie(alpha: float, risk: float) -> bool:
    """Say whether the argument scores are closer than 0.05 (R-D8)."""
    return round(abs(alpha - risk), 6) < TIE


def forbids_approval(flawed: bool, body: Verdict | FinalVerdict) -> tuple[str, str, str, str] | None:
    """Say why a verdict may not approve, whatever its confidence; None when it may (R-D8, R-F9).

    Args:
        flawed: Whether a fatal flaw stands.
        body: The verdict.

    Returns:
        Rule, reason, what is wrong, and the field.
    """
    if is_tie(body.alpha_argument_score, body.risk_argument_score):
        return "R-D8", "tie", f"scores closer than {TIE} lean to the Critic", "alpha_argument_score"
    if not LEAD.holds(body):
        why = f"nothing is approved whose alpha argument does not exceed its risk by {TIE}"
        return "R-F9", "outweighed", why, "alpha_argument_score"
    if flawed:
        return "R-F9", "fatal_flaw", "nothing is approved while a fatal flaw stands", "verdict"
    if body.next_action != NEXT_ACTION[body.verdict]:
        why = f"what is approved goes to the {NEXT_ACTION[body.verdict]}"
        return "R-F9", "next_action", why, "next_action"
    return None


def judge(
    state: Debated,
    body: Verdict | FinalVerdict,
    elapsed: timedelta,
    *,
    conservative: bool,
    version: int = NEWEST,
) -> Phase:
    """Say where a verdict leads.

    Args:
        state: The debate.
        body: The verdict.
        elapsed: Time since the CYCLE_TRIGGER, outages aside.
        conservative: Whether R-B8's mode is on.
        version: The rules version of the log.

    Returns:
        BACKTESTING, REFLECTING or REQUESTING.

    Raises:
        Consequential: It approves or revises where it must not; the referee rules REJECT.
    """
    verdict, confidence = body.verdict, body.confidence
    if verdict == "REJECT":
        return Phase.REFLECTING
    if conservative and confidence < CONSERVATIVE_CONFIDENCE:
        raise _rejects(
            "R-B8", "conservative", f"conservative mode rejects below {CONSERVATIVE_CONFIDENCE}", "confidence"
        )
    if verdict == "REVISE":
        if not may_revise(elapsed):
            raise _rejects("R-D6", "cycle_budget", "a revision would take the cycle past 2.5 h", "verdict")
        return Phase.REQUESTING
    if version >= SECOND_AUDIT and state.ended_by == "concede":
        raise _rejects("R-G2", "conceded", "nothing is approved that its author conceded", "verdict")
    if not state.assessed:
        raise _rejects("R-D10", "no_assessment", "nothing is approved without an assessment of it", "verdict")
    if not SURE.holds(body):
        raise _rejects("R-D7", "low_confidence", f"nothing is approved below {LOW_CONFIDENCE}", "confidence")
    breach = forbids_approval(state.flawed, body)
    if breach is not None:
        raise _rejects(*breach)
    return Phase.BACKTESTING


def second_revise(why: str) -> Consequential:
    """Make the violation of a second REVISE, whatever its form (spec 1.2, R-D9)."""
    return _rejects("R-D9", "revise_cap", f"one revision is the cap: {why}", "verdict")


def _rejects(rule: str, reason: str, why: str, field: str) -> Consequential:
    return Consequential(rule, why, Decision("REJECT", reason, rule), field=field)


def check_request(body: ReviseRequest) -> None:
    """Check a REVISE_REQUEST (spec 1.2, R-F8).

    Raises:
        Violation: It asks for other than one round, names no issue or too many, or leaves one or the direction blank.
    """
    if body.max_revision_rounds != 1:
        raise Violation("1.2", "there is one revision round", field="max_revision_rounds")
    if not 1 <= len(body.specific_issues) <= ISSUES:
        raise Violation("R-F8", f"it names 1 to {ISSUES} issues", field="specific_issues")
    if not all(issue.strip() for issue in body.specific_issues):
        raise Violation("R-F8", "an issue is blank", field="specific_issues")
    if not body.suggested_direction.strip():
        raise Violation("R-F8", "a direction is suggested", field="suggested_direction")


def check_extension(state: Debated, body: ExtendDebate, elapsed: timedelta) -> None:
    """Check an EXTEND_DEBATE (spec 1.3, R-D4, R-D5, R-D6).

    Raises:
        Violation: It is the second, too early, too late, for more than one round, or outside the band.
    """
    if state.extended:
        raise Violation("R-D5", "a debate is extended once; three rounds are the cap")
    if state.ended_by != "rounds":
        raise Violation("R-D5", f"two full rounds come first; this debate ended by {state.ended_by}")
    if body.extra_rounds != 1:
        raise Violation("1.3", "an extension is one round", field="extra_rounds")
    low, high = EXTENSION_BAND
    for bar in STRONG:
        if not bar.holds(body):
            raise Violation(bar.rule, f"both scores must lie between {low} and {high}", field=bar.path)
    if elapsed + EXTENSION_COSTS > CYCLE_BUDGET:
        raise Violation("R-D6", "an extension would take the cycle past 2.5 h")


def passes(metrics: BacktestMetrics) -> bool:
    """Say whether a backtest passes (R-D15)."""
    return all(bar.holds(metrics) for bar in TESTED)


def check_backtest(body: BacktestResult) -> None:
    """Check that `passed` says what the figures say (R-D15).

    Raises:
        Violation: It does not.
    """
    if body.passed != passes(body.metrics):
        said, meant = ("passed", "failed") if body.passed else ("failed", "passed")
        raise Violation("R-D15", f"it says {said}, its figures say {meant}", field="passed")
