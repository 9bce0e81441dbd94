"""Whether the receipt of a run, in words for people, says what its files say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from moot.arbiter.run_files import CONFIG, MANIFEST, PROVENANCE, RECEIPT, TRACE
from moot.arbiter.verify.reading import Files
from moot.arbiter.verify.report import Findings

TITLE: Final = "Arbiter receipt"
"""How one of Moot's begins; what stands in another's is not judged."""

MOST_BYTES: Final = 1_000_000


def check_receipt(files: Files, findings: Findings) -> None:
    """Look for each figure in the line of the receipt that should tell it."""
    manifest, config = files.documents.get(MANIFEST), files.documents.get(CONFIG)
    if manifest is None or config is None or not files.has(RECEIPT):
        return
    try:
        with (files.folder / RECEIPT).open("rb") as opened:
            text = opened.read(MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        findings.fail("ending", RECEIPT, "cannot be read as text")
        return
    title, *lines = text.split("\n")
    if title != TITLE or not any(line.startswith("Run  ") for line in lines):
        findings.warn("ending", RECEIPT, "is not written by Moot, and was not judged")
        return
    said: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, 2):
        name, _, rest = line.partition("  ")
        if line:
            said[name] = (number, rest.strip())
    rows, provenance = files.lines.get(TRACE, []), files.documents.get(PROVENANCE, {})
    for name, part in _wanted(manifest, config, provenance, rows[-1].value if rows else None):
        number, rest = said.get(name, (0, ""))
        if part not in rest or not number:
            findings.fail("ending", RECEIPT, f"does not say {part}", line=number, field=name)


def _wanted(
    manifest: Mapping[str, Any],
    config: Mapping[str, Any],
    provenance: Mapping[str, Any],
    last: Mapping[str, Any] | None,
) -> Iterator[tuple[str, str]]:
    """Yield what each line should hold: its name, and a part of it."""
    yield "Run", manifest["run_id"]
    yield "Status", manifest["stop_reason"] + (" (incomplete)" if manifest["incomplete"] else "")
    yield "Time", f"{manifest['started_at']} to {manifest['completed_at']}"
    yield "Question", " ".join(config["question"]["text"].split())[:119]
    yield "Protocol", config["protocol"]["type"]
    for one in config["sampling"]["models"]:
        yield "Models", f"{one['model']} (weight {one['weight']:g})"
    for count, name in (("k_planned", "planned"), ("k_attempted", "attempted"), ("k_eligible", "eligible")):
        yield "Trials", f"{manifest[count]} {name}"
    for field, value in manifest.get("usage", {}).get("totals", {}).items():
        if field.endswith("_tokens"):
            yield "Tokens", str(value)
    yield "Embeddings", _embeddings(provenance)
    if last is None:
        return
    yield "Last batch", f"novelty {_number(last['novelty_rate'])}"
    yield "Last batch", f"mean similarity {_number(last['mean_max_sim_to_prior'])}"
    if "cluster_count" not in last:
        yield "Clustering", "off"
    else:
        divergence = last["js_divergence"]
        yield "Clustering", f"{last['cluster_count']} clusters"
        yield "Clustering", f"JSD {'null' if divergence is None else f'{divergence:.4f}'}"
        yield "Clustering", f"largest share {last['largest_cluster_share']:.3f}"
        yield "Clustering", f"{last['forced_assignments_cumulative']} forced"


def _embeddings(provenance: Mapping[str, Any]) -> str:
    if "counts" not in provenance:
        return ""
    count = provenance["counts"]["successful_embeddings"]
    return f"{provenance['status']}, {count} vectors of {provenance['dimensions']} dimensions"


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.3f}"
