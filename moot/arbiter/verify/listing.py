"""Whether the folder of a run holds what its manifest lists, and all that a run of its kind leaves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Final

from moot.arbiter.run_files import (
    AGGREGATES,
    ARROW,
    ASSIGNMENTS,
    CERTIFICATE,
    CONFIG,
    DEBUG,
    MANIFEST,
    PARSED,
    PLAN,
    PROVENANCE,
    RECEIPT,
    STATE,
    TRACE,
    TRIALS,
)
from moot.arbiter.verify.reading import Files
from moot.arbiter.verify.report import Findings
from moot.arbiter.verify.trials import LEDGER
from moot.protocols.arbiter.generated import ResolvedConfiguration

ALWAYS: Final = (CONFIG, MANIFEST, PLAN, TRIALS, PARSED, TRACE, PROVENANCE, AGGREGATES)

BESIDE: Final = frozenset({DEBUG, CERTIFICATE})
"""Files that a run may leave besides those that it lists: the specification knows no certificate."""


def check_files(files: Files, config: ResolvedConfiguration | None, findings: Findings) -> None:
    """Hold the manifest's list against the folder, both ways, and count the records of each file."""
    manifest = files.documents.get(MANIFEST)
    if manifest is None:
        return
    entries = manifest["artifacts"]["entries"]
    findings.made(
        "files", f"the {len(entries)} files that the manifest lists are there, with as many records"
    )
    listed = Counter(entry["path"] for entry in entries)
    for n, entry in enumerate(entries):
        path, field = entry["path"], f"artifacts.entries[{n}]"
        if listed[path] > 1:
            findings.fail("files", MANIFEST, f"{path} is listed twice", field=field)
        elif not _lies_inside(path):
            findings.fail("files", MANIFEST, f"{path} lies outside the folder", field=f"{field}.path")
        elif not files.has(path):
            findings.fail("files", path, "is listed, and not there")
        elif "record_count" in entry and entry["record_count"] != (count := files.counts.get(path)):
            there = f"{count:,} records" if count is not None else "no count"
            findings.fail(
                "files",
                MANIFEST,
                f"is {entry['record_count']}, {path} has {there}",
                field=f"{field}.record_count",
            )
    for file in wanted(files, config):
        if not files.has(file):
            is_open = file == PLAN and manifest["stopping_mode"] == "resolve_only" and file not in listed
            tell = findings.note if is_open else findings.fail
            tell("files", file, "is missing")
        elif file not in listed:
            findings.fail("files", file, "is not listed in the manifest")
    if manifest["stopping_mode"] != "resolve_only" and not files.has(RECEIPT):
        findings.warn("files", RECEIPT, "is missing: the run could not write it")
    for file in _present(files.folder):
        if file not in listed and file not in wanted(files, config) and file not in BESIDE:
            findings.warn("files", file, "is not listed in the manifest")


def wanted(files: Files, config: ResolvedConfiguration | None) -> list[str]:
    """Name the files that a run of its kind leaves, whatever happened in it."""
    manifest = files.documents.get(MANIFEST)
    is_resolved_only = manifest is not None and manifest["stopping_mode"] == "resolve_only"
    found = [*ALWAYS]
    if files.documents.get(PROVENANCE, {}).get("status") == "arrow_generated":
        found.append(ARROW)
    if config is not None and not is_resolved_only:
        clustering = config.measurement.clustering
        if clustering.enabled and clustering.stop_mode != "disabled":
            found += [STATE, ASSIGNMENTS]
    return found


def _lies_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts and "\0" not in path


def _present(folder: Path) -> list[str]:
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = (path.relative_to(folder) for path in found)
    return [name.as_posix() for name in names if name.parts[0] != LEDGER]
