"""What a run found, in one record, from which its report is told as text, as JSON and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from moot.arbiter.reading import ReadRun, TrialFacts
from moot.protocols.arbiter.certificate import closed_labels
from moot.protocols.arbiter.generated import (
    Assignment,
    Certificate,
    ClusteredRow,
    ConvergenceRow,
    ParsedTrial,
)
from moot.statistics.shares import Interval
from moot.statistics.wilson import wilson_interval

ALPHA: Final = 0.05
"""How often Wilson's interval may miss the share."""

FLAT: Final = 0.01
"""A change of the novelty rate below it is none."""

MOST_LABELS: Final = 12
"""Decisions that are told apart where no contract lists them; the rarer ones are one."""

State = Literal["resolved", "done", "converged", "settled", "interrupted", "failed", "unfinished"]
Trend = Literal["rising", "falling", "flat"]


@dataclass(frozen=True, slots=True)
class Label:
    """How often trials ended in a decision, or in none.

    Attributes:
        label: None for no decision.
        share: Of the trials counted, in [0, 1].
        wilson: Its interval, for a number of trials that was fixed beforehand; it misses in `ALPHA` of runs.
        anytime: The certificate's, which holds whenever the run was stopped; None without one.
    """

    label: str | None
    trials: int
    share: float
    wilson: Interval
    anytime: Interval | None


@dataclass(frozen=True, slots=True)
class Decisions:
    """What trials decided.

    Attributes:
        is_closed: A contract lists the labels.
        trials: Trials counted; those that the end of the run cut short are not.
        mode: What the certificate calls the most frequent; None for no decision, and while `mode_at` is None.
        mode_at: How many trials it needed to be certain of that; None without a certificate, or while it is not.
        alpha: How often the certificate may err; None without one.
    """

    is_closed: bool
    trials: int
    labels: tuple[Label, ...]
    mode: str | None
    mode_at: int | None
    alpha: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """How settled the answers are, by the last batch.

    Attributes:
        trend: Of the novelty rate between the last two batches; None without two that were measured.
        delta: By how much it changed.
        would_stop_at: How many trials had ended when answers first counted as settled; None when they never did.
    """

    novelty_rate: float | None
    mean_max_sim_to_prior: float | None
    trend: Trend | None
    delta: float | None
    would_stop_at: int | None


@dataclass(frozen=True, slots=True)
class Example:
    """A text of a trial.

    Attributes:
        label: What it decided; None without a decision.
    """

    trial_id: int
    label: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """A cluster, with the texts that are nearest to its centre, the exemplar's first.

    Attributes:
        discovered_at_batch: None where no assignments were kept.
    """

    cluster_id: int
    size: int
    share: float
    discovered_at_batch: int | None
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Clusters:
    """How answers group.

    Attributes:
        effective: So many clusters of equal size would have the same entropy.
        largest: The largest ones, at most as many as were asked for.
    """

    count: int
    effective: float
    entropy: float
    singletons: int
    limit: int
    is_full: bool
    forced: int
    largest: tuple[ClusterFacts, ...]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model: its weight in the configuration, trials that ended with it, and what they used.

    Attributes:
        weight: None for a model that answered in place of the one that was asked.
        tokens: None when no reply told it; so is cost, in US dollars.
    """

    model: str
    weight: float | None
    trials: int
    successes: int
    tokens: int | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run found.

    Attributes:
        state: How it stands; `settled` is a run that was to go on until something was certain, and then was.
        stop_reason: The manifest's.
        embedded_by: None when no reply named a model.
        planned: Trials of the plan.
        attempted: Trials that ended.
        eligible: Trials whose answer was embedded.
        statuses: Trials by status; `parse_statuses` by what was read from them.
        errors: What went wrong, with how often, the most frequent first.
        measured: None for a run without batches.
        decisions: None for a run whose answers are no decisions.
        clusters: None for a run that does not cluster, or has no answers.
        rationales: Of as many labels as possible.
        examples: Texts of a run without clusters.
        artifacts: Files that the manifest lists, each with its number of records where it has one.
        remarks: What is missing or cut off.
    """

    run_id: str
    directory: str
    state: State
    stop_reason: str
    incomplete: bool
    notes: str | None
    started_at: str
    completed_at: str
    question: str
    protocol: str
    contract: str | None
    seed: int | str
    personas: tuple[str, ...]
    templates: tuple[str, ...]
    embedding_model: str
    embedded_by: str | None
    models: tuple[ModelFacts, ...]
    policy: Mapping[str, object]
    stop_mode: str
    stop_policy: Mapping[str, float]
    planned: int
    attempted: int
    eligible: int
    statuses: Mapping[str, int]
    parse_statuses: Mapping[str, int]
    errors: tuple[tuple[str, int], ...]
    prompt_tokens: int | None
    completion_tokens: int | None
    total_tokens: int | None
    cost: float | None
    measured: Measured | None
    decisions: Decisions | None
    clusters: Clusters | None
    rationales: tuple[Example, ...]
    examples: tuple[Example, ...]
    hashes: Mapping[str, str]
    artifacts: tuple[tuple[str, int | None], ...]
    remarks: tuple[str, ...]


def summarise(run: ReadRun, *, top: int) -> Summary:
    """Say what a run found.

    Args:
        run: As its folder tells it.
        top: How many rationales, clusters and texts of each are given at most, at least 0.
    """
    manifest, config = run.manifest, run.config
    last = run.rows[-1] if run.rows else None
    usage = run.usage.totals if run.usage else None
    state = _state(run)
    is_debate = config.protocol.type == "debate_v1"
    contract = config.protocol.decision_contract
    clusters = _clusters(run, last, top) if isinstance(last, ClusteredRow) and last.cluster_count else None
    return Summary(
        run_id=manifest.run_id,
        directory=str(run.directory),
        state=state,
        stop_reason=manifest.stop_reason,
        incomplete=manifest.incomplete,
        notes=manifest.notes,
        started_at=manifest.started_at,
        completed_at=manifest.completed_at,
        question=config.question.text,
        protocol=config.protocol.type,
        contract=contract.id if contract else None,
        seed=config.run.seed,
        personas=tuple(one.persona for one in config.sampling.personas),
        templates=() if is_debate else tuple(one.protocol for one in config.sampling.protocols),
        embedded_by=run.embedded_by,
        embedding_model=config.measurement.embedding_model,
        models=tuple(_models(run)),
        policy=manifest.policy.as_json(),
        stop_mode=manifest.stopping_mode,
        stop_policy=manifest.stop_policy.as_json(),
        planned=manifest.k_planned,
        attempted=len(run.trials),
        eligible=last.k_eligible if last else manifest.k_eligible,
        statuses=_counted(one.status for one in run.trials),
        parse_statuses=_counted(one.parse_status for one in run.parsed.values()),
        errors=tuple(Counter(one.error for one in run.trials if one.error).most_common(top)),
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage else None,
        total_tokens=usage.total_tokens if usage else None,
        cost=usage.cost if usage else None,
        measured=_measured(run.rows),
        decisions=_decisions(run) if contract or is_debate else None,
        clusters=clusters,
        rationales=_rationales(run, top),
        examples=() if clusters else tuple(_texts(run, sorted(run.parsed), top)),
        hashes={
            **{
                name: value
                for name, value in manifest.provenance.as_json().items()
                if name.endswith("sha256")
            },
            "model_catalog_version": manifest.model_catalog_version,
        },
        # What the manifest of a run that goes on counts was so at its start.
        artifacts=tuple(
            (one.path, None if state == "unfinished" else one.record_count)
            for one in manifest.artifacts.entries
        ),
        remarks=run.remarks,
    )


def decision(line: ParsedTrial | None) -> str | None:
    """Return what a trial decided; None when that is no decision."""
    if line is None or line.parse_status != "success" or line.extraction_method not in ("fenced", "unfenced"):
        return None
    return line.outcome


def _state(run: ReadRun) -> State:
    manifest = run.manifest
    if manifest.stopping_mode == "resolve_only":
        return "resolved"
    if manifest.stop_reason == "error":
        return "failed"
    if manifest.stop_reason == "user_interrupt":
        return "interrupted"
    if manifest.incomplete:
        return "unfinished"
    if manifest.stop_reason == "converged":
        return "converged"
    return "settled" if manifest.stop_reason == "completed" else "done"


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def _models(run: ReadRun) -> Iterator[ModelFacts]:
    weights = {one.model: one.weight for one in run.config.sampling.models}
    used = run.usage.by_model if run.usage else {}
    trials = Counter(one.model for one in run.trials)
    successes = Counter(one.model for one in run.trials if one.status == "success")
    for model in dict.fromkeys((*weights, *sorted(trials), *sorted(used))):
        usage = used.get(model)
        yield ModelFacts(
            model=model,
            weight=weights.get(model),
            trials=trials[model],
            successes=successes[model],
            tokens=usage.total_tokens if usage else None,
            cost=usage.cost if usage else None,
        )


def _measured(rows: Sequence[ConvergenceRow]) -> Measured | None:
    if not rows:
        return None
    now = rows[-1].novelty_rate
    before = rows[-2].novelty_rate if len(rows) > 1 else None
    delta = now - before if now is not None and before is not None else None
    trend: Trend | None = None
    if delta is not None:
        trend = "flat" if abs(delta) < FLAT else "rising" if delta > 0 else "falling"
    return Measured(
        novelty_rate=now,
        mean_max_sim_to_prior=rows[-1].mean_max_sim_to_prior,
        trend=trend,
        delta=delta,
        would_stop_at=next((row.k_attempted for row in rows if row.stop.would_stop), None),
    )


def _decisions(run: ReadRun) -> Decisions:
    counted = [one for one in run.trials if not _is_cut_short(one)]
    found = Counter(decision(run.parsed.get(one.trial_id)) for one in counted)
    closed = closed_labels(run.config.protocol.decision_contract)
    none = found.pop(None, 0)
    ranked = [label for label, _ in found.most_common() if label is not None]
    kept = [*closed, *(one for one in ranked if one not in closed)][: max(MOST_LABELS, len(closed))]
    kept.sort(key=lambda label: -found[label])
    rest = sum(found.values()) - sum(found[label] for label in kept)
    certificate, anytime = run.certificate, _anytime(run.certificate)
    mode = certificate.mode if certificate else None
    labels: list[tuple[str | None, int]] = [(label, found[label]) for label in kept]
    if rest:
        labels.append((OTHER.format(len(ranked) - len(kept)), rest))
    return Decisions(
        is_closed=bool(closed),
        trials=len(counted),
        labels=tuple(
            Label(
                label=label,
                trials=count,
                share=count / len(counted) if counted else 0.0,
                wilson=wilson_interval(count, len(counted), ALPHA),
                anytime=anytime.get(label),
            )
            for label, count in (*labels, (None, none))
        ),
        mode=mode.label if mode else None,
        mode_at=mode.at_trial if mode else None,
        alpha=certificate.alpha if certificate else None,
    )


OTHER: Final = "{} other decisions"
"""What the rarer decisions are called together."""


def _anytime(certificate: Certificate | None) -> dict[str | None, Interval]:
    if certificate is None:
        return {}
    shares: dict[str | None, Interval] = {
        one.label: Interval(one.low, one.high) for one in certificate.labels
    }
    shares[None] = Interval(certificate.no_decision.low, certificate.no_decision.high)
    return shares


def _is_cut_short(trial: TrialFacts) -> bool:
    """Say whether the end of the run cut a trial short: what it would have decided nobody knows."""
    return trial.error_code == "shutdown_abort"


def _clusters(run: ReadRun, last: ClusteredRow, top: int) -> Clusters:
    sizes = last.cluster_distribution
    members: dict[int, list[Assignment]] = {}
    for one in run.assignments.values():
        members.setdefault(one.cluster_id, []).append(one)
    ranked = sorted(range(len(sizes)), key=lambda one: (-sizes[one], one))[:top]
    found = []
    for cluster_id in ranked:
        near = sorted(
            members.get(cluster_id, ()), key=lambda one: (not one.is_exemplar, -one.similarity, one.trial_id)
        )
        found.append(
            ClusterFacts(
                cluster_id=cluster_id,
                size=sizes[cluster_id],
                share=sizes[cluster_id] / sum(sizes),
                discovered_at_batch=min((one.batch_number for one in near), default=None),
                examples=tuple(_texts(run, (one.trial_id for one in near), top)),
            )
        )
    return Clusters(
        count=last.cluster_count,
        effective=last.effective_cluster_count,
        entropy=last.entropy,
        singletons=last.singleton_count,
        limit=run.config.measurement.clustering.cluster_limit,
        is_full=last.cluster_limit_hit,
        forced=last.forced_assignments_cumulative,
        largest=tuple(found),
    )


def _texts(run: ReadRun, trial_ids: Iterable[int], top: int) -> Iterator[Example]:
    """Return texts that differ, at most `top`."""
    seen: set[str] = set()
    for trial_id in trial_ids:
        if len(seen) >= top:
            return
        line = run.parsed.get(trial_id)
        text = (line.embed_text or line.outcome or "").strip() if line else ""
        if text and text not in seen:
            seen.add(text)
            yield Example(trial_id, decision(line), text)


def _rationales(run: ReadRun, top: int) -> tuple[Example, ...]:
    """Return rationales that differ, of each label in turn."""
    by_label: dict[str | None, list[Example]] = {}
    seen: set[str] = set()
    for trial_id in sorted(run.parsed):
        line = run.parsed[trial_id]
        text = (line.rationale or "").strip()
        if text and text not in seen:
            seen.add(text)
            by_label.setdefault(decision(line), []).append(Example(trial_id, decision(line), text))
    queues = sorted(by_label.values(), key=lambda found: -len(found))
    turns = (queue[n] for n in range(max(map(len, queues), default=0)) for queue in queues if n < len(queue))
    return tuple(one for one, _ in zip(turns, range(top), strict=False))
