"""Every figure of every batch and every cluster, measured anew from vectors and configuration."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Any, Final

import numpy as np

from moot.arbiter.monitor import Measured, Monitor
from moot.arbiter.run_files import ASSIGNMENTS, MANIFEST, STATE, TRACE, TRIALS
from moot.arbiter.verify.comparing import Difference, differences, instant
from moot.arbiter.verify.embeddings import Vectors
from moot.arbiter.verify.foreign import OF_CLUSTERS
from moot.arbiter.verify.reading import Files, Line
from moot.arbiter.verify.report import Findings
from moot.protocols.arbiter.generated import Assignment, ResolvedConfiguration

CENTROID: Final = re.compile(r"clusters\[(\d+)\]\.centroid_vector_b64")

EPOCH: Final = "1970-01-01T00:00:00Z"
"""Stands for an instant that a row does not tell."""

OPEN: Final = OF_CLUSTERS | {"recorded_at"}
"""Fields of a row that may be missing: that is noted where it is held against its schema."""


def check_measures(files: Files, config: ResolvedConfiguration, vectors: Vectors, findings: Findings) -> None:
    """Measure the run anew, batch by batch in trial_id order, and compare every row, assignment and cluster."""
    rows, trials = files.lines.get(TRACE), files.lines.get(TRIALS)
    if rows is None or trials is None:
        return
    findings.made("measures", f"{len(rows):,} batches, measured anew from the vectors, give the same figures")
    monitor = Monitor(config.measurement, config.execution)
    measured = list(_measured(monitor, config.execution.batch_size, rows, trials, vectors))
    manifest = files.documents.get(MANIFEST)
    is_error = manifest is not None and manifest["stop_reason"] == "error"
    if len(rows) != len(measured) and not (is_error and len(rows) == len(measured) - 1):
        findings.fail("measures", TRACE, f"has {len(rows):,} rows, {TRIALS} makes {len(measured):,} batches")
    for line, one in zip(rows, measured, strict=False):
        expected = one.row.as_json()
        for found in differences(expected, line.value):
            if found.is_missing and found.field in OPEN:
                continue
            why = _why_open(found, expected, line.value)
            tell = findings.fail if why is None else findings.note
            tell("measures", TRACE, why or found.why, line=line.number, field=found.field)
    _check_times(files, rows, findings)
    state = monitor.cluster_state()
    if state is None:
        for file in (STATE, ASSIGNMENTS):
            if files.has(file):
                findings.fail("clusters", file, "is there, though the run does not cluster")
        return
    if (found_state := files.documents.get(STATE)) is not None:
        findings.made(
            "clusters", f"{len(state.clusters):,} clusters and their members are those of the vectors"
        )
        expected_state = state.as_json()
        for found in differences(expected_state, found_state):
            is_near = found.top == "clusters" and _is_near(found.field, expected_state, found_state)
            tell = findings.note if is_near else findings.fail
            why = "differs by rounding: a mean may be summed up in another order"
            tell("clusters", STATE, why if is_near else found.why, field=found.field)
    _check_assignments(files, [each for one in measured for each in one.assignments], findings)


def _is_near(field: str, expected: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Return whether a field is a centroid that differs by no more than float32 rounds a mean."""
    place = CENTROID.fullmatch(field)
    if place is None:
        return False
    told = [of["clusters"][int(place[1])]["centroid_vector_b64"] for of in (expected, found)]
    try:
        one, other = (np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4") for text in told)
    except ValueError:
        return False
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-6, atol=1e-7))


def _why_open(one: Difference, expected: Mapping[str, Any], found: Mapping[str, Any]) -> str | None:
    """Say why a difference contradicts nothing; None where it does."""
    if one.field == "js_divergence" and "cluster_count" in expected and found.get(one.field) == 0:
        is_open = expected[one.field] is None and found["batch_number"] > 0
        return "is 0 where no answer was assigned before, which is null by R-S3" if is_open else None
    if one.field == "stop.stop_reason" and found["stop"]["would_stop"] and "stop_reason" in found["stop"]:
        is_open = "stop_reason" not in expected["stop"] and found["stop"]["stop_reason"] == "converged"
        return "is there though the run goes on, which no row says by R-S6" if is_open else None
    return None


def _measured(
    monitor: Monitor, size: int, rows: Sequence[Line], trials: Sequence[Line], vectors: Vectors
) -> Iterator[Measured]:
    ran = sorted({line.value["trial_id"] for line in trials})
    for n, (_, batch) in enumerate(groupby(ran, lambda trial_id: trial_id // size)):
        recorded_at = rows[n].value.get("recorded_at", EPOCH) if n < len(rows) else EPOCH
        yield monitor.measure({trial_id: vectors.get(trial_id) for trial_id in batch}, recorded_at)


def _check_assignments(files: Files, expected: Sequence[Assignment], findings: Findings) -> None:
    lines = files.lines.get(ASSIGNMENTS)
    if lines is None:
        return
    if len(lines) != len(expected):
        why = f"has {len(lines):,} lines, {len(expected):,} trials were embedded"
        findings.fail("clusters", ASSIGNMENTS, why)
    for one, line in zip_longest(expected, lines):
        if one is None or line is None:
            break
        for found in differences(one.as_json(), line.value):
            findings.fail("clusters", ASSIGNMENTS, found.why, line=line.number, field=found.field)


def _check_times(files: Files, rows: Sequence[Line], findings: Findings) -> None:
    """No batch was measured before the run began, after it ended, or before the one before it."""
    manifest = files.documents.get(MANIFEST)
    last = instant(manifest["started_at"]) if manifest else None
    for line in rows:
        if "recorded_at" not in line.value:
            continue
        recorded_at = instant(line.value["recorded_at"])
        if recorded_at is None or (last is not None and recorded_at < last):
            why = "is no instant" if recorded_at is None else "is before what came before it"
            findings.fail("measures", TRACE, why, line=line.number, field="recorded_at")
        last = recorded_at or last
    ended = instant(manifest["completed_at"]) if manifest else None
    if rows and ended is not None and last is not None and last > ended:
        findings.fail("measures", TRACE, "is after the run ended", line=rows[-1].number, field="recorded_at")
