"""When a run stops: judged after each batch by how much new it brought; a sign of rest, never of truth.

Source: Arbiter spec, "Baseline convergence-aware stopping"; ruling R-S6.
"""

from __future__ import annotations

from typing import Protocol

from moot.protocols.arbiter.generated import ResolvedExecution, Stop, StopReason


class Threshold(Protocol):
    """When a batch brought nothing new, as a stop policy says it."""

    @property
    def novelty_epsilon(self) -> float:
        """At most this share of its eligible trials is new."""
        ...

    @property
    def similarity_threshold(self) -> float:
        """They come at least this near to what was there before, on average."""
        ...


def is_quiet(
    policy: Threshold, k_min: int, novelty_rate: float | None, mean_max_sim: float | None, k_eligible: int
) -> bool:
    """Say whether a batch brought nothing new; see `Stopping.judge`."""
    return (
        novelty_rate is not None
        and mean_max_sim is not None
        and k_eligible >= k_min
        and novelty_rate <= policy.novelty_epsilon
        and mean_max_sim >= policy.similarity_threshold
    )


class Stopping:
    """Counts the batches in a row that brought nothing new."""

    def __init__(self, execution: ResolvedExecution) -> None:
        """Begin a run.

        Args:
            execution: Its mode, stop policy and k_min; k_min counts eligible trials, whatever `k_min_count_rule`
                says, which is only recorded.
        """
        self._mode = execution.stop_mode
        self._policy = execution.stop_policy
        self._k_min = execution.k_min
        self._quiet = 0

    def judge(self, novelty_rate: float | None, mean_max_sim: float | None, k_eligible: int) -> Stop:
        """Say what a batch that ended means.

        Args:
            novelty_rate: Share of its eligible trials that were new, in [0, 1]; None without any.
            mean_max_sim: How near they came to what was there before, on average, in [0, 1]; None without any.
            k_eligible: Eligible trials so far, this batch among them.
        """
        brings_nothing = is_quiet(self._policy, self._k_min, novelty_rate, mean_max_sim, k_eligible)
        self._quiet = self._quiet + 1 if brings_nothing else 0
        would_stop = self._quiet >= self._policy.patience
        should_stop = would_stop and self._mode == "enforcer"
        return Stop(
            mode=self._mode,
            would_stop=would_stop,
            should_stop=should_stop,
            stop_reason="converged" if should_stop else None,
        )


def why_stopped(*, failed: bool, interrupted: bool, converged: bool, settled: bool) -> StopReason:
    """Say why a run that began its trials ended: an error outranks an interrupt, which outranks convergence.

    A run that was to go on until something was settled, which then was, is `completed`: it did all it was asked for.
    It has not `converged`, for that is what the rule of the specification says, and its rows would not bear it out.

    Args:
        interrupted: Also when the interrupt came after the last trial.
        converged: The last batch said that the run should stop, also when no trial was left.
        settled: So did what the run was to settle, likewise.
    """
    if failed:
        return "error"
    if interrupted:
        return "user_interrupt"
    if converged:
        return "converged"
    return "completed" if settled else "k_max_reached"


def is_incomplete(reason: str) -> bool:
    """Whether a run that ended for this reason is less than what was asked for."""
    return reason in ("error", "user_interrupt")
