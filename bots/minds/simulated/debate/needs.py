"""What a week's records ask of the system: needs, and how grave an objection to an idea is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from moot.bots.minds.simulated.debate.catalogue import IDEAS, Grade, Idea
from moot.bots.minds.simulated.debate.criteria import spoken
from moot.bots.minds.simulated.debate.reports import within
from moot.bots.minds.simulated.turn import Turn

WEIGHT: Final[dict[Grade, float]] = {"low": 0.15, "medium": 0.35, "high": 0.6}
"""What an effort has to be outweighed by, as a share of the week's trials."""

SHORT: Final = 0.15
"""By so much less need than effort an objection is no longer a medium one."""


@dataclass(frozen=True, slots=True)
class Need:
    """What the week's records say about an idea.

    Attributes:
        share: Records that ask for it, as a share of the week's trials.
        reason: What most of them have in common, in words.
        count: How many have that in common.
    """

    share: float
    reason: str
    count: int

    @property
    def facts(self) -> dict[str, str]:
        """Return what the phrases name."""
        return {"count": str(self.count), "reason": self.reason}


def causes(turn: Turn) -> Counter[str]:
    """Count what went wrong this week, by cause."""
    week = within(turn.trials, turn.now, timedelta(days=7))
    counts: Counter[str] = Counter()
    for trial in week:
        record = trial.record
        if record.kind == "timeout":
            counts["silence"] += 1
        elif record.kind == "failure" and record.failure_code:
            counts[record.failure_code] += 1
    settings = Counter(
        (t.record.archetype, t.record.failure_code) for t in week if t.record.kind == "failure"
    )
    counts["repeats"] = sum(n - 2 for n in settings.values() if n > 2)
    passed = sum(1 for t in week if t.record.kind == "success")
    counts["few_approvals"] = max(len(week) // 4 - passed, 0)
    counts["trials"] = len(week)
    counts["principles"] = len(turn.view.memory.principles())
    return counts


def need_of(idea: Idea | None, counts: Counter[str]) -> Need:
    """Say how much the week asks for an idea; one that is not in the catalogue is asked for by nothing."""
    if idea is None:
        return Need(0.0, "nothing we count", 0)
    most = max(idea.answers, key=lambda name: counts[name])
    total = sum(counts[name] for name in idea.answers)
    return Need(total / max(counts["trials"], 1), spoken(most), counts[most])


def idea_of(description: str) -> Idea | None:
    """Find an idea by its description; people propose others."""
    return next((idea for idea in IDEAS if idea.description == description), None)


def severity_of(idea: Idea | None, need: Need) -> Grade:
    """Grade an objection: the effort, less what the week's need makes up for."""
    short = WEIGHT[idea.effort if idea is not None else "medium"] - need.share
    return "low" if short <= 0.0 else "medium" if short <= SHORT else "high"
