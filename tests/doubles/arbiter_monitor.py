"""A second, slow and plain Arbiter monitor: lists and loops, no arrays, all earlier answers compared one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Numbers = Sequence[float]

NOW = "2026-01-01T00:00:00.000Z"


def alike(a: Numbers, b: Numbers) -> float:
    """Return the cosine of two vectors, rounded as the monitor rounds; 0 where one is zero."""
    lengths = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(x * x for x in b))
    if lengths == 0:
        return 0.0
    return max(-1.0, min(1.0, round(math.fsum(x * y for x, y in zip(a, b, strict=True)) / lengths, 12)))


def surprise(shares: Numbers, reference: Numbers) -> float:
    """Return the Kullback–Leibler divergence in bits."""
    return sum(p * math.log(p / q) / math.log(2) for p, q in zip(shares, reference, strict=True) if p > 0)


class PlainMonitor:
    """Takes batches and says what each row and assignment should hold.

    Args:
        measurement: As in a resolved configuration.
        execution: As in a resolved configuration.
    """

    def __init__(self, measurement: Mapping[str, Any], execution: Mapping[str, Any]) -> None:
        self.measurement, self.execution = measurement, execution
        self.seen: list[Numbers] = []
        self.members: list[list[tuple[int, Numbers]]] = []
        self.attempted = self.batch = self.forced = self.quiet = 0

    def measure(self, batch: Mapping[int, Numbers | None]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        eligible = [(trial, batch[trial]) for trial in sorted(batch) if batch[trial] is not None]
        near, before = [], [len(each) for each in self.members]
        forced_before, assignments = self.forced, []
        for trial, vector in eligible:
            assert vector is not None
            near.append(max([0.0, *(alike(vector, other) for other in self.seen)]))
            self.seen.append(vector)
            assignments.append(self.assign(trial, vector))
        self.attempted += len(batch)
        threshold = self.measurement["novelty_threshold"]
        novelty = sum(value < threshold for value in near) / len(near) if near else None
        mean = round(sum(near) / len(near), 12) if near else None
        counts = [len(each) for each in self.members]
        row = {
            "batch_number": self.batch,
            "k_attempted": self.attempted,
            "k_eligible": len(self.seen),
            "has_eligible_in_batch": bool(near),
            "novelty_rate": novelty,
            "mean_max_sim_to_prior": mean,
            "recorded_at": NOW,
            "stop": self.stop(novelty, mean),
            "cluster_count": len(counts),
            "new_clusters_this_batch": len(counts) - len(before),
            "largest_cluster_share": max(counts, default=0) / max(1, sum(counts)),
            "cluster_distribution": counts,
            "js_divergence": self.moved(before, counts),
            "entropy": -sum(n / sum(counts) * math.log(n / sum(counts)) for n in counts),
            "singleton_count": sum(n == 1 for n in counts),
            "cluster_limit_hit": len(counts) == self.measurement["clustering"]["cluster_limit"],
            "forced_assignments_this_batch": self.forced - forced_before,
            "forced_assignments_cumulative": self.forced,
        }
        row["effective_cluster_count"] = math.exp(row["entropy"]) if counts else 0
        self.batch += 1
        return row, assignments

    def assign(self, trial: int, vector: Numbers) -> dict[str, Any]:
        rule = self.measurement["clustering"]
        best, similarity = -1, -2.0
        for number, members in enumerate(self.members):
            found = alike(vector, self.centroid(members))
            if found > similarity:
                best, similarity = number, found
        forced = False
        if similarity < rule["tau"]:
            forced = len(self.members) == rule["cluster_limit"]
            if not forced:
                best, similarity = len(self.members), 1.0
                self.members.append([])
        self.forced += forced
        self.members[best].append((trial, vector))
        return {
            "trial_id": trial,
            "cluster_id": best,
            "similarity": similarity,
            "is_exemplar": len(self.members[best]) == 1,
            "forced": forced,
            "batch_number": self.batch,
        }

    def centroid(self, members: list[tuple[int, Numbers]]) -> Numbers:
        if self.measurement["clustering"]["centroid_update_rule"] == "fixed_leader":
            return members[0][1]
        return [sum(column) / len(members) for column in zip(*(vector for _, vector in members), strict=True)]

    def moved(self, before: list[int], counts: list[int]) -> float | None:
        if not sum(before):
            return None
        p = [n / sum(before) for n in before] + [0.0] * (len(counts) - len(before))
        q = [n / sum(counts) for n in counts]
        middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        return (surprise(p, middle) + surprise(q, middle)) / 2

    def stop(self, novelty: float | None, mean: float | None) -> dict[str, Any]:
        policy, mode = self.execution["stop_policy"], self.execution["stop_mode"]
        met = novelty is not None and mean is not None and len(self.seen) >= self.execution["k_min"]
        met = met and novelty <= policy["novelty_epsilon"] and mean >= policy["similarity_threshold"]
        self.quiet = self.quiet + 1 if met else 0
        would = self.quiet >= policy["patience"]
        stop: dict[str, Any] = {
            "mode": mode,
            "would_stop": would,
            "should_stop": would and mode == "enforcer",
        }
        return {**stop, "stop_reason": "converged"} if stop["should_stop"] else stop
