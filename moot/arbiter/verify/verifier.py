"""Verify a run: its checks in order, each with what the ones before it found to be sound."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moot.arbiter.run_files import AGGREGATES, CONFIG, MANIFEST
from moot.arbiter.verify.asking import check_asking
from moot.arbiter.verify.certificate import check_certificate
from moot.arbiter.verify.embeddings import check_embeddings
from moot.arbiter.verify.ending import check_ending, check_usage
from moot.arbiter.verify.listing import check_files
from moot.arbiter.verify.measures import check_measures
from moot.arbiter.verify.planning import check_configuration, check_plan
from moot.arbiter.verify.reading import Files, version_of
from moot.arbiter.verify.receipt import check_receipt
from moot.arbiter.verify.report import Findings, Report
from moot.arbiter.verify.trials import check_texts, check_trials
from moot.protocols.arbiter.record import SCHEMA_VERSION


def verify_run(folder: Path) -> Report:
    """Judge the folder of a run; whatever lies in it, there is a report."""
    findings = Findings()
    if why := _no_run(folder):
        findings.fail("readable", "", why)
        return findings.report(str(folder), None)
    files = Files(folder, findings)
    manifest = files.documents.get(MANIFEST)
    if manifest is None:
        return findings.report(str(folder), None)
    run_id = manifest["run_id"]
    if not files.has(AGGREGATES) and _has_not_ended(manifest):
        why = "says that the run has not ended: it goes on, or was killed"
        findings.fail("readable", MANIFEST, why, field="incomplete")
        return findings.report(str(folder), run_id)
    config = check_configuration(files, findings)
    if config is not None:
        check_plan(files, config, findings)
        check_trials(files, config, findings)
        check_asking(files, config, findings)
        check_texts(files, config, findings)
        vectors = check_embeddings(files, config, findings)
        if vectors is not None and not findings.failed("trials", "embeddings"):
            check_measures(files, config, vectors, findings)
        check_certificate(files, config, findings)
    check_ending(files, findings)
    check_receipt(files, findings)
    check_usage(files, findings)
    check_files(files, config, findings)
    return findings.report(str(folder), run_id)


def _has_not_ended(manifest: Mapping[str, Any]) -> bool:
    """Return whether a manifest is that of a run that goes on; other programs begin it as completed (R-S8)."""
    is_begun = manifest["stop_reason"] == "completed" and manifest["stopping_mode"] != "resolve_only"
    return manifest["incomplete"] or (is_begun and not manifest["k_attempted"])


def _no_run(folder: Path) -> str | None:
    """Say why a folder is no run that can be judged."""
    try:
        if not folder.is_dir():
            return "is a file: name the folder of a run" if folder.exists() else "there is no such folder"
        if not (folder / MANIFEST).is_file():
            has_begun = (folder / CONFIG).is_file()
            return f"is no run: it holds no {MANIFEST}" + (", though a run began there" if has_begun else "")
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    version = version_of(folder / MANIFEST)
    if version not in (None, SCHEMA_VERSION):
        return f"{MANIFEST} has schema_version {version}: this Moot judges {SCHEMA_VERSION}"
    return None
