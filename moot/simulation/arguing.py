"""How a society argues: whether what is said moves anything. Folded from messages; figures of `moot simulate`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from statistics import median
from typing import Any, Final, Literal

from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.research.debate import DebateState
from moot.protocols.research.messages import Hypothesis, Rebuttal, RevisedHypothesis, RiskAssessment

CORRELATED: Final = 0.7
"""Above this correlation with an approved strategy an approval is counted: what the Critic's red line names."""

Moved = Literal["lower", "higher", "unmoved"]


@dataclass(slots=True)
class _Exchange:
    """A debate under way: what the Critic said last, and whether it was answered since, with a change or without."""

    scores: dict[str, float] | None = None
    answered: Literal["", "with", "without"] = ""


@dataclass(slots=True)
class Arguing:
    """What became of what was said.

    Attributes:
        with_change: Assessments after a rebuttal that offered a change, by where the mean of the seven scores went.
        without_change: The same after a rebuttal that offered none.
        after_extension: Debates that went into a third round, by verdict.
        proposed: Hypotheses by the Monday of their week, ISO 8601, then by archetype.
        approved: Approved strategies by archetype.
        correlations: The Critic's last correlation score of each approval.
    """

    with_change: Counter[Moved] = field(default_factory=Counter)
    without_change: Counter[Moved] = field(default_factory=Counter)
    after_extension: Counter[str] = field(default_factory=Counter)
    proposed: dict[str, Counter[str]] = field(default_factory=dict)
    approved: Counter[str] = field(default_factory=Counter)
    correlations: list[float] = field(default_factory=list)
    _debates: dict[str, _Exchange] = field(default_factory=dict)

    def take(self, env: Envelope, fx: Effects) -> None:
        """Count one message and what it changed."""
        if env.case_id is not None and not fx.superseded and fx.violation is None:
            self._hear(env, self._debates.setdefault(env.case_id, _Exchange()))
        for state in fx.ended:
            if isinstance(state, DebateState):
                self._ended(state)

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "rebuttals_with_change": dict(sorted(self.with_change.items())),
            "rebuttals_without_change": dict(sorted(self.without_change.items())),
            "after_extension": dict(sorted(self.after_extension.items())),
            "proposed_by_week": {week: dict(sorted(n.items())) for week, n in sorted(self.proposed.items())},
            "approved": dict(sorted(self.approved.items())),
            "median_correlation": self.median_correlation,
            "correlated_approvals": self.correlated,
        }

    @property
    def median_correlation(self) -> float | None:
        """Return the median of `correlations`; None without approvals."""
        return round(median(self.correlations), 6) if self.correlations else None

    @property
    def correlated(self) -> int:
        """Count the approvals that resemble an approved strategy by more than `CORRELATED`."""
        return sum(1 for one in self.correlations if one > CORRELATED)

    def _hear(self, env: Envelope, debate: _Exchange) -> None:
        body = env.body
        if isinstance(body, Hypothesis):
            week = _week(env.sent_at.date())
            self.proposed.setdefault(week, Counter())[body.strategy.archetype] += 1
        elif isinstance(body, Rebuttal):
            debate.answered = "with" if body.modifications else "without"
        elif isinstance(body, RevisedHypothesis):
            debate.scores, debate.answered = None, ""
        elif isinstance(body, RiskAssessment):
            scores = body.scores.model_dump()
            if debate.scores is not None and debate.answered:
                counted = self.with_change if debate.answered == "with" else self.without_change
                counted[_moved(debate.scores, scores)] += 1
            debate.scores, debate.answered = scores, ""

    def _ended(self, state: DebateState) -> None:
        debate = self._debates.pop(state.case_id, _Exchange())
        verdict = state.verdict or "none"
        if state.extended:
            self.after_extension[verdict] += 1
        if verdict == "APPROVE" and state.strategy is not None:
            self.approved[state.strategy.archetype] += 1
            if debate.scores is not None:
                self.correlations.append(debate.scores["correlation_risk"])


def _moved(before: dict[str, float], after: dict[str, float]) -> Moved:
    change = sum(after.values()) - sum(before.values())
    return "unmoved" if before == after else "lower" if change < 0.0 else "higher"


def _week(day: date) -> str:
    """Return the Monday of a day's week."""
    return (day - timedelta(days=day.weekday())).isoformat()
