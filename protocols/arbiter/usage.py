"""What the calls of a run came to, in tokens and money."""

from __future__ import annotations

from moot.protocols.arbiter.generated import RunUsage, Trial, Usage


class Spending:
    """Adds up what trials used."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._by_model: dict[str, Usage] = {}

    def add(self, trial: Trial) -> None:
        """Count a trial that ended, and each call of a debate."""
        if trial.usage is not None:
            self._add(trial.actual_model or trial.requested_model_slug, trial.usage)
        for call in trial.calls or ():
            if call.usage is not None:
                self._add(call.model_actual or call.model_requested, call.usage)

    def total(self) -> RunUsage | None:
        """Return what was used so far; None when no reply told it, as in a mock run."""
        if not self._by_model:
            return None
        totals = Usage(prompt_tokens=0, completion_tokens=0, total_tokens=0)
        for usage in self._by_model.values():
            totals = _sum(totals, usage)
        return RunUsage(totals=totals, by_model=dict(sorted(self._by_model.items())))

    def _add(self, model: str, usage: Usage) -> None:
        known = self._by_model.get(model)
        self._by_model[model] = _sum(known, usage) if known else usage


def _sum(one: Usage, other: Usage) -> Usage:
    costs = [cost for cost in (one.cost, other.cost) if cost is not None]
    return Usage(
        prompt_tokens=one.prompt_tokens + other.prompt_tokens,
        completion_tokens=one.completion_tokens + other.completion_tokens,
        total_tokens=one.total_tokens + other.total_tokens,
        cost=sum(costs) if costs else None,
    )
