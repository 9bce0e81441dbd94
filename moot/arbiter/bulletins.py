"""What the lab is to say of a run: events turned into the messages of its experiment."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from moot.arbiter.events import BatchEnded, Event, RunEnded, TrialEnded, is_out_of_budget
from moot.arbiter.resolving import Prepared
from moot.protocols.arbiter.embed_text import well_formed
from moot.protocols.arbiter.generated import Assignment, ClusteredRow, ConvergenceRow, ParsedTrial, RunUsage
from moot.protocols.lab.messages import (
    LONGEST_SILENCE_S,
    MOST_CLUSTERS,
    MOST_EXAMPLE,
    MOST_EXAMPLES,
    MOST_LABEL,
    MOST_LABELS,
    OUT_OF_BUDGET,
    Clusters,
    Example,
    ExperimentBatch,
    ExperimentEnded,
    ExperimentStarted,
    LabelCount,
    Told,
)

LEAST_SILENCE_S: Final = 300
MOST_NOTES: Final = 500


def silence_of(prepared: Prepared) -> int:
    """Return after how many seconds of the wall nobody has to wait for a run's next message.

    That is twice as long as a batch takes whose every trial runs into its time limit, and at least five minutes.
    """
    execution, limits = prepared.config.execution, prepared.config.protocol.timeouts
    rounds = math.ceil(execution.batch_size / min(execution.workers, execution.batch_size))
    trial_s = max(limits.total_trial_timeout_ms, limits.per_call_timeout_ms) / 1000
    return min(LONGEST_SILENCE_S, max(LEAST_SILENCE_S, math.ceil(2 * rounds * trial_s)))


class Bulletins:
    """Turns the events of one run into messages.

    Attributes:
        start: How it starts.
        last: The last batch, None before the first.
        obeys: Why the run says that it ends where a person's STOP in the society ends it, which its end names anyway.
    """

    def __init__(self, start: ExperimentStarted, *, has_labels: bool) -> None:
        """Begin.

        Args:
            start: How it starts.
            has_labels: Whether a trial decides on a label; else its outcome is free text.
        """
        self.start = start
        self.obeys = ""
        self.last: ExperimentBatch | None = None
        self._has_labels = has_labels
        self._labels: Counter[str] = Counter()
        self._unsuccessful = 0
        self._unparsed = 0
        self._trials: dict[int, ParsedTrial] = {}

    def heard(self, event: Event) -> Told | None:
        """Return what is to be said of an event; None when that is nothing."""
        if isinstance(event, TrialEnded):
            self._count(event)
        elif isinstance(event, BatchEnded):
            self.last = self._batch(event)
            self._trials.clear()
            return self.last
        elif isinstance(event, RunEnded):
            return self._ended(event)
        return None

    def broken_off(self, why: str) -> ExperimentEnded:
        """Return the end of a run that could not tell its own."""
        return self._end("error", True, why, None)

    def _count(self, event: TrialEnded) -> None:
        self._trials[event.trial.trial_id] = event.parsed
        if event.trial.status != "success":
            self._unsuccessful += 1
        elif event.parsed.parse_status != "success":
            self._unparsed += 1
        elif (label := self._label(event.parsed)) is not None:
            self._labels[label] += 1

    def _label(self, parsed: ParsedTrial) -> str | None:
        if not self._has_labels or parsed.parse_status != "success":
            return None
        return _line(parsed.outcome or "", MOST_LABEL) or None

    def _batch(self, event: BatchEnded) -> ExperimentBatch:
        row = event.row
        most = sorted(self._labels.items(), key=lambda one: (-one[1], one[0]))
        tokens, cost = _spent(event.usage)
        return ExperimentBatch(
            experiment_id=self.start.experiment_id,
            k_attempted=row.k_attempted,
            k_eligible=row.k_eligible,
            novelty_rate=row.novelty_rate,
            mean_max_sim_to_prior=row.mean_max_sim_to_prior,
            labels=tuple(LabelCount(label=label, count=count) for label, count in most[:MOST_LABELS]),
            other_labels=sum(count for _, count in most[MOST_LABELS:]),
            tokens=tokens,
            cost=cost,
            batch_number=row.batch_number,
            unsuccessful=self._unsuccessful,
            unparsed=self._unparsed,
            would_stop=row.stop.would_stop,
            should_stop=row.stop.should_stop,
            clusters=_clusters(row),
            examples=self._examples(event.assignments),
            silence_s=self.start.silence_s,
        )

    def _examples(self, assignments: Sequence[Assignment]) -> tuple[Example, ...]:
        """Choose answers of the batch: first what opened a cluster, then one of each cluster, then what comes next."""
        cluster = {one.trial_id: one.cluster_id for one in assignments}
        first = [one.trial_id for one in assignments if one.is_exemplar]
        of_each = {one.cluster_id: one.trial_id for one in reversed(assignments)}
        ranked = dict.fromkeys([*first, *(of_each[one] for one in sorted(of_each)), *sorted(self._trials)])
        found = []
        for trial_id in ranked:
            parsed = self._trials.get(trial_id)
            text = _line(_text(parsed), MOST_EXAMPLE) if parsed is not None else ""
            if parsed is not None and text:
                found.append(
                    Example(
                        trial_id=trial_id,
                        label=self._label(parsed),
                        cluster_id=cluster.get(trial_id),
                        text=text,
                    )
                )
            if len(found) == MOST_EXAMPLES:
                break
        return tuple(found)

    def _ended(self, event: RunEnded) -> ExperimentEnded:
        notes = event.notes if event.notes != self.obeys else ""
        reason = OUT_OF_BUDGET if is_out_of_budget(event.stop_reason, event.notes) else event.stop_reason
        return self._end(reason, event.incomplete, notes or "", event.usage)

    def _end(self, reason: str, incomplete: bool, notes: str, usage: RunUsage | None) -> ExperimentEnded:
        last = self.last
        tokens, cost = _spent(usage)
        if usage is None and last is not None:
            tokens, cost = last.tokens, last.cost
        return ExperimentEnded(
            experiment_id=self.start.experiment_id,
            k_attempted=last.k_attempted if last else 0,
            k_eligible=last.k_eligible if last else 0,
            novelty_rate=last.novelty_rate if last else None,
            mean_max_sim_to_prior=last.mean_max_sim_to_prior if last else None,
            labels=last.labels if last else (),
            other_labels=last.other_labels if last else 0,
            tokens=tokens,
            cost=cost,
            stop_reason=reason,  # type: ignore[arg-type]
            incomplete=incomplete,
            notes=_line(notes, MOST_NOTES),
            batches=last.batch_number + 1 if last else 0,
            stopped_by=None,
        )


def _spent(usage: RunUsage | None) -> tuple[int, int | None]:
    """Return tokens, and millionths of a dollar as far as they are known; without usage there was nothing to pay."""
    if usage is None:
        return 0, 0
    cost = usage.totals.cost
    return usage.totals.total_tokens, None if cost is None else round(cost * 1_000_000)


def _clusters(row: ConvergenceRow) -> Clusters | None:
    if not isinstance(row, ClusteredRow):
        return None
    sizes = row.cluster_distribution
    if len(sizes) > MOST_CLUSTERS:
        sizes = (*sizes[: MOST_CLUSTERS - 1], sum(sizes[MOST_CLUSTERS - 1 :]))
    fields = {name: getattr(row, name) for name in Clusters.model_fields}
    return Clusters(**{**fields, "cluster_distribution": tuple(sizes)})


def _text(parsed: ParsedTrial) -> str:
    return parsed.rationale or parsed.embed_text or parsed.outcome or parsed.raw_assistant_text or ""


def _line(text: str, most: int) -> str:
    """Write a text as one line of at most so many characters."""
    line = " ".join(well_formed(text[: 8 * most]).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
