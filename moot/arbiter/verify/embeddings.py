"""Whether the embeddings of a run are those of its texts, and what is said of them is true."""

from __future__ import annotations

import base64
import binascii
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
import pyarrow as pa

from moot.arbiter.run_files import ARROW, DEBUG, MANIFEST, PARSED, PROVENANCE, TRIALS
from moot.arbiter.vectors import Vector
from moot.arbiter.verify.comparing import differences, told
from moot.arbiter.verify.reading import Files, Line
from moot.arbiter.verify.report import Findings
from moot.arbiter.verify.trials import REDACTION, is_mock
from moot.protocols.arbiter.embed_text import units
from moot.protocols.arbiter.generated import NotGenerated, ResolvedConfiguration, SkipReason
from moot.protocols.arbiter.hashes import sha256_of_text
from moot.protocols.arbiter.mock import DIMENSIONS, mock_vector

SKIP_REASONS: Final = frozenset(get_args(SkipReason))
REASONS: Final = frozenset(get_args(NotGenerated.model_fields["reason"].annotation))
"""What Moot writes; other programs have words of their own."""

CONTRACT_FAILURE: Final = "contract_failure"
"""Skip reason of an answer that broke its form, where the policy is to exclude those."""

Vectors = Mapping[int, Vector]
"""Embeddings by trial_id, ascending, shape (dimensions,) each."""


def check_embeddings(files: Files, config: ResolvedConfiguration, findings: Findings) -> Vectors | None:
    """Hold vectors against the trials that have a text, and the provenance against both.

    Returns:
        The vectors; None when they cannot be known.
    """
    findings.made("embeddings", "vectors belong to the trials with a text, and the provenance says so")
    debug = files.lines.get(DEBUG)
    kept = _debug_vectors(debug, findings) if debug is not None else None
    arrow = _arrow_vectors(files, findings) if files.has(ARROW) else None
    if arrow is not None:
        # Its lines say nothing.
        files.counts[ARROW] = len(arrow)
    if findings.failed("embeddings"):
        return None
    if arrow is not None and kept is not None:
        _check_equal(arrow, kept, findings)
    _check_provenance(files, config, arrow, kept, findings)
    found = arrow if arrow is not None else kept if kept is not None else {}
    trials, parsed = files.lines.get(TRIALS), files.lines.get(PARSED)
    if trials is None or parsed is None:
        return None
    skipped = _skipped(files, trials, parsed)
    for trial_id in found:
        if skipped.get(trial_id) == CONTRACT_FAILURE:
            # Of some programs that policy is a record only.
            why = "embeds answers that policy exclude leaves out"
            findings.note("embeddings", ARROW, why, line=0)
            skipped[trial_id] = None
    could = {trial_id for trial_id, reason in skipped.items() if reason is None}
    for trial_id in found:
        if trial_id not in could:
            findings.fail("embeddings", ARROW, f"has trial {trial_id}, which has no text to embed")
    _check_mock(files, config, found, findings)
    if debug is not None:
        texts = {line.value["trial_id"]: line.value.get("embed_text", "") for line in parsed}
        _check_lines(debug, texts, skipped, config, findings)
    _check_counts(files, len(found), could - found.keys(), skipped, findings)
    return found


def _check_mock(files: Files, config: ResolvedConfiguration, vectors: Vectors, findings: Findings) -> None:
    """In a mock run nobody embeds: the seed draws each vector."""
    told = files.documents.get(PROVENANCE, {})
    dimensions = len(next(iter(vectors.values()), ()))
    if not is_mock(files) or told.get("actual_embedding_model") is not None or dimensions != DIMENSIONS:
        return
    # A run that keeps no request need not be a mock's, unless it says so.
    is_told = any(line.value.get("parser_version") == "mock-v0" for line in files.lines.get(PARSED, ()))
    for trial_id, vector in vectors.items():
        if not np.array_equal(vector, np.array(mock_vector(config.run.seed, trial_id), dtype=np.float32)):
            why = f"trial {trial_id} has not the vector that the seed draws"
            tell = findings.fail if is_told else findings.warn
            tell("embeddings", ARROW, why)


def _skipped(files: Files, trials: list[Line], parsed: list[Line]) -> dict[int, str | None]:
    """Say why the answer of each trial is not embedded; None where it should be."""
    manifest = files.documents.get(MANIFEST)
    excludes = manifest is not None and manifest["policy"]["contract_failure_policy"] == "exclude"
    by_id = {line.value["trial_id"]: line.value for line in parsed}
    found: dict[int, str | None] = {}
    for line in trials:
        read = by_id.get(line.value["trial_id"], {})
        reason = None
        if line.value["status"] != "success":
            reason = "trial_not_success"
        elif not read.get("embed_text"):
            reason = "empty_embed_text"
        elif excludes and read["parse_status"] != "success":
            reason = CONTRACT_FAILURE
        found[line.value["trial_id"]] = reason
    return found


def _arrow_vectors(files: Files, findings: Findings) -> dict[int, Vector] | None:
    """Read the Arrow file: one batch of trial_id int32 and vector fixed_size_list<float32 not null>, ids ascending."""
    try:
        table = _table(files.folder / ARROW)
    except (pa.ArrowException, OSError, ValueError) as error:
        findings.fail("embeddings", ARROW, f"is no Arrow file: {error}")
        return None
    kind = table.schema.field("vector").type if "vector" in table.schema.names else None
    dimensions = kind.list_size if kind is not None and pa.types.is_fixed_size_list(kind) else 0
    item = pa.field("item", pa.float32(), nullable=False)
    wanted = pa.schema({"trial_id": pa.int32(), "vector": pa.list_(item, max(1, dimensions))})
    if [(one.name, one.type) for one in table.schema] != [(one.name, one.type) for one in wanted]:
        columns = ", ".join(f"{one.name} {one.type}" for one in table.schema)
        findings.fail(
            "embeddings", ARROW, f"has the columns {columns}, not trial_id int32 and vector of float32"
        )
        return None
    if table.num_rows == 0:
        findings.fail("embeddings", ARROW, "holds nothing")
        return None
    if table.column("trial_id").null_count or table.column("vector").null_count:
        findings.fail("embeddings", ARROW, "has a row without trial or vector")
        return None
    ids = table.column("trial_id").to_pylist()
    flat = table.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    rows = np.asarray(flat, dtype=np.float32).reshape(-1, dimensions)
    if not np.isfinite(rows).all():
        findings.fail(
            "embeddings", ARROW, f"trial {ids[int(np.argmin(np.isfinite(rows).all(axis=1)))]} has no number"
        )
    for one, following in itertools.pairwise(ids):
        if one >= following:
            findings.fail("embeddings", ARROW, f"has trial {following} after {one}")
    if table.schema.metadata:
        findings.warn("embeddings", ARROW, "holds metadata, which it should not")
    return dict(zip(ids, rows, strict=True))


def _table(path: Path) -> pa.Table:
    with pa.OSFile(str(path)) as opened, pa.ipc.open_file(opened) as reader:
        table = reader.read_all()
        table.validate(full=True)
        return table


def _debug_vectors(lines: list[Line], findings: Findings) -> dict[int, Vector]:
    found: dict[int, Vector] = {}
    seen: set[int] = set()
    for line in lines:
        value, trial_id = line.value, line.value["trial_id"]
        if trial_id in seen:
            findings.fail(
                "embeddings", DEBUG, f"{trial_id} stands there twice", line=line.number, field="trial_id"
            )
        seen.add(trial_id)
        if value["embedding_status"] != "success":
            continue
        try:
            raw = base64.b64decode(value["vector_b64"], validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) != 4 * value["dimensions"]:
            why = f"is not the base64 of {value['dimensions']} numbers"
            findings.fail("embeddings", DEBUG, why, line=line.number, field="vector_b64")
            continue
        vector = np.frombuffer(raw, dtype="<f4").astype(np.float32)
        if not np.isfinite(vector).all():
            findings.fail(
                "embeddings", DEBUG, "holds what is no number", line=line.number, field="vector_b64"
            )
        found[trial_id] = vector
    if len({len(vector) for vector in found.values()}) > 1:
        findings.fail("embeddings", DEBUG, "has vectors of several lengths", field="dimensions")
    return dict(sorted(found.items()))


def _check_equal(arrow: Vectors, kept: Vectors, findings: Findings) -> None:
    for trial_id in sorted({*arrow, *kept}):
        one, other = arrow.get(trial_id), kept.get(trial_id)
        if one is None or other is None:
            lacks, has = (ARROW, DEBUG) if one is None else (DEBUG, ARROW)
            findings.fail("embeddings", lacks, f"lacks trial {trial_id}, which {has} has")
        elif not np.array_equal(one, other):
            findings.fail("embeddings", ARROW, f"trial {trial_id} has another vector than in {DEBUG}")


def _check_lines(
    lines: list[Line],
    texts: Mapping[int, str],
    skipped: Mapping[int, str | None],
    config: ResolvedConfiguration,
    findings: Findings,
) -> None:
    """Hold each line of debug/embeddings.jsonl against the text of its trial."""
    if {line.value["trial_id"] for line in lines} != set(skipped):
        findings.fail("embeddings", DEBUG, f"has not the trials of {TRIALS}", field="trial_id")
    for line in lines:
        value, trial_id = line.value, line.value["trial_id"]
        if trial_id not in skipped:
            continue
        # The text is normalised, trimmed and cut already: what the cut left at its end stays.
        text = texts.get(trial_id, "")
        is_cut = value["embed_text_final_chars"] < value["embed_text_original_chars"]
        expected: dict[str, Any] = {
            "embed_text_final_chars": units(text),
            "embed_text_truncated": is_cut,
            "truncation_reason": "max_chars_exceeded" if is_cut else None,
            "skip_reason": skipped[trial_id],
            "embed_text_sha256": sha256_of_text(text) if text else None,
        }
        for one in differences(expected, {name: value.get(name) for name in expected}):
            is_open = one.is_missing and one.field in ("embed_text_sha256", "truncation_reason")
            is_own = one.field == "skip_reason" and value.get("skip_reason") not in SKIP_REASONS
            is_redacted = REDACTION in text and one.field != "skip_reason"
            if is_redacted:
                why = "is that of the text before it was redacted, and cannot be computed again (R-G7)"
                findings.note("embeddings", DEBUG, why, line=line.number, field=one.field)
                continue
            tell = findings.note if is_open or (is_own and skipped[trial_id]) else findings.fail
            tell("embeddings", DEBUG, f"{one.why} by {PARSED}", line=line.number, field=one.field)


def _check_provenance(
    files: Files,
    config: ResolvedConfiguration,
    arrow: Vectors | None,
    kept: Vectors | None,
    findings: Findings,
) -> None:
    found = files.documents.get(PROVENANCE)
    if found is None:
        return
    expected: dict[str, Any] = {
        "requested_embedding_model": config.measurement.embedding_model,
        "embed_text_strategy": config.measurement.embed_text_strategy,
    }
    manifest = files.documents.get(MANIFEST)
    is_resolved_only = manifest is not None and manifest["stopping_mode"] == "resolve_only"
    if arrow is not None:
        expected["status"] = "arrow_generated"
        expected["dimensions"] = len(next(iter(arrow.values())))
        expected["debug_jsonl_present"] = files.has(DEBUG)
    elif kept:
        expected["status"] = "jsonl_fallback"
    else:
        expected["status"] = "not_generated"
        expected["reason"] = "resolve_only" if is_resolved_only else "no_successful_embeddings"
    for one in differences(expected, {name: found[name] for name in expected if name in found}):
        is_own = one.field == "reason" and found.get("reason", "") not in {"", *REASONS}
        tell = findings.note if is_own else findings.fail
        tell("embeddings", PROVENANCE, one.why, field=one.field)


def _check_counts(
    files: Files, embedded: int, failed: set[int], skipped: Mapping[int, str | None], findings: Findings
) -> None:
    """Hold the provenance's counts against the trials; a text without a vector is one that could not be embedded."""
    counts = files.documents.get(PROVENANCE, {}).get("counts")
    if counts is not None:
        expected = {
            "total_trials": len(skipped),
            "successful_embeddings": embedded,
            "failed_embeddings": len(failed),
            "skipped_embeddings": sum(reason is not None for reason in skipped.values()),
        }
        for one in differences(expected, counts):
            findings.fail("embeddings", PROVENANCE, one.why, field=f"counts.{one.field}")
    manifest = files.documents.get(MANIFEST)
    if manifest is not None and manifest["k_eligible"] != embedded:
        why = f"is {told(manifest['k_eligible'])}, {embedded:,} trials were embedded"
        findings.fail("embeddings", MANIFEST, why, field="k_eligible")
