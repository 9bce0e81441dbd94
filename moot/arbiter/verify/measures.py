"""Every figure of every batch and every cluster, measured anew from vectors and configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from moot.arbiter.monitor import Measured, Monitor
from moot.arbiter.run_files import ASSIGNMENTS, MANIFEST, STATE, TRACE, TRIALS
from moot.arbiter.verify.comparing import differences, instant
from moot.arbiter.verify.embeddings import Vectors
from moot.arbiter.verify.reading import Files, Line
from moot.arbiter.verify.report import Findings
from moot.protocols.arbiter.generated import Assignment, ResolvedConfiguration


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
        for found in differences(one.row.as_json(), line.value):
            findings.fail("measures", TRACE, found.why, line=line.number, field=found.field)
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
        for found in differences(state.as_json(), found_state):
            findings.fail("clusters", STATE, found.why, field=found.field)
    _check_assignments(files, [each for one in measured for each in one.assignments], findings)


def _measured(
    monitor: Monitor, size: int, rows: Sequence[Line], trials: Sequence[Line], vectors: Vectors
) -> Iterator[Measured]:
    ran = sorted({line.value["trial_id"] for line in trials})
    for n, (_, batch) in enumerate(groupby(ran, lambda trial_id: trial_id // size)):
        recorded_at = rows[n].value["recorded_at"] if n < len(rows) else "1970-01-01T00:00:00Z"
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
        recorded_at = instant(line.value["recorded_at"])
        if recorded_at is None or (last is not None and recorded_at < last):
            why = "is no instant" if recorded_at is None else "is before what came before it"
            findings.fail("measures", TRACE, why, line=line.number, field="recorded_at")
        last = recorded_at or last
    ended = instant(manifest["completed_at"]) if manifest else None
    if rows and ended is not None and last is not None and last > ended:
        findings.fail("measures", TRACE, "is after the run ended", line=rows[-1].number, field="recorded_at")
