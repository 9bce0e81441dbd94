"""The receipt of a run: what it was and how it ended, in lines for a person; receipt.txt and the end of a command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moot.protocols.arbiter.generated import ClusteredRow, ConvergenceRow, Manifest, ResolvedConfiguration

QUESTION_CHARS: Final = 120


def receipt(
    manifest: Manifest,
    config: ResolvedConfiguration,
    last: ConvergenceRow | None,
    embeddings: str,
    directory: str,
) -> list[str]:
    """Return the lines of a receipt.

    Args:
        manifest: How the run ended.
        config: What was asked.
        last: What its last batch said; None without any.
        embeddings: What became of its embeddings.
        directory: Where its files are.
    """
    facts = [
        ("Run", manifest.run_id),
        ("Status", f"{manifest.stop_reason}{' (incomplete)' if manifest.incomplete else ''}"),
        ("Time", f"{manifest.started_at} to {manifest.completed_at}"),
        ("Question", _short(config.question.text)),
        ("Protocol", config.protocol.type),
        ("Models", ", ".join(f"{one.model} (weight {one.weight:g})" for one in config.sampling.models)),
        (
            "Trials",
            f"{manifest.k_planned} planned, {manifest.k_attempted} attempted, {manifest.k_eligible} eligible",
        ),
        ("Embeddings", embeddings),
        *_usage(manifest),
        *_measured(last),
        ("Output", directory),
    ]
    if manifest.notes is not None:
        facts.insert(2, ("Notes", " ".join(manifest.notes.split())))
    width = max(len(name) for name, _ in facts) + 2
    return ["Arbiter receipt", *(f"{name:{width}}{text}" for name, text in facts)]


def _usage(manifest: Manifest) -> Iterator[tuple[str, str]]:
    if manifest.usage is None:
        return
    totals = manifest.usage.totals
    cost = f", ${totals.cost:.4f}" if totals.cost is not None else ""
    yield (
        "Tokens",
        f"{totals.prompt_tokens} prompt, {totals.completion_tokens} completion, {totals.total_tokens} in all{cost}",
    )


def _measured(last: ConvergenceRow | None) -> Iterator[tuple[str, str]]:
    if last is None:
        yield "Last batch", "none ended"
        return
    found = f"novelty {_number(last.novelty_rate)}, mean similarity {_number(last.mean_max_sim_to_prior)}"
    if not isinstance(last, ClusteredRow):
        yield "Last batch", found
        yield "Clustering", "off"
        return
    yield "Last batch", f"{found}, clusters {last.cluster_count}"
    divergence = "null" if last.js_divergence is None else f"{last.js_divergence:.4f}"
    limit = ", limit reached" if last.cluster_limit_hit else ""
    yield (
        "Clustering",
        f"{last.cluster_count} clusters, JSD {divergence}, largest share {last.largest_cluster_share:.3f}, "
        f"{last.forced_assignments_cumulative} forced{limit}",
    )


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.3f}"


def _short(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= QUESTION_CHARS else f"{line[: QUESTION_CHARS - 1]}…"
