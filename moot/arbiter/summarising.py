"""What the folder of a run says is put together into its summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from moot.arbiter.events import is_out_of_budget
from moot.arbiter.reading import ReadRun, TrialFacts
from moot.arbiter.summary import (
    ALPHA,
    ClusterFacts,
    Clusters,
    Decisions,
    Example,
    Label,
    Measured,
    ModelFacts,
    State,
    Summary,
    Trend,
)
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

FLAT: Final = 0.01
"""A change of the novelty rate below it is none."""

MOST_LABELS: Final = 12
"""Decisions that are told apart where no contract lists them; the rarer ones are one."""

OTHER: Final = "{} other decisions"
"""What the rarer decisions are called together."""


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
    is_debate = config.protocol.type != "independent"
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
        decisions=_decisions(run) if run.trials and (contract or is_debate) else None,
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
    if is_out_of_budget(manifest.stop_reason, manifest.notes):
        return "spent"
    if manifest.stop_reason == "user_interrupt":
        # A signal gives no reason.
        return "stopped" if manifest.notes else "interrupted"
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
