"""Whether a run asked what its configuration says: hashes, texts of prompts, and the plan drawn anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from moot.arbiter.run_files import CONFIG, MANIFEST, PLAN
from moot.arbiter.verify.comparing import differences
from moot.arbiter.verify.foreign import hashes_elsewhere
from moot.arbiter.verify.reading import Files
from moot.arbiter.verify.report import Findings
from moot.config.arbiter.bank import load_bank
from moot.config.arbiter.reading import Faulty, record
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.arbiter.hashes import config_sha256, plan_sha256, sha256_of_text
from moot.protocols.arbiter.plan import plan


def check_configuration(files: Files, findings: Findings) -> ResolvedConfiguration | None:
    """Hold the configuration against its hashes and against what the manifest repeats of it.

    Returns:
        It; None when it cannot be used.
    """
    found = files.documents.get(CONFIG)
    if found is None:
        return None
    findings.made("configuration", "hashes of configuration and prompts are those of the texts")
    try:
        config = record(found, ResolvedConfiguration, CONFIG)
    except Faulty as error:
        for line in error.lines:
            findings.fail("configuration", CONFIG, line.removeprefix(f"{CONFIG}: "))
        return None
    for field, text, sha256 in _texts(found):
        if sha256 != (right := sha256_of_text(text)):
            findings.fail("configuration", CONFIG, f"is {sha256}, its text has {right}", field=field)
    _check_contract(found, findings)
    manifest = files.documents.get(MANIFEST)
    if manifest is not None:
        for field, expected in _repeated(found, manifest["stopping_mode"]).items():
            for one in differences(expected, manifest[field]):
                place = f"{field}.{one.field}" if one.field else field
                findings.fail("configuration", MANIFEST, f"{one.why} by {CONFIG}", field=place)
        _check_hash(manifest, found, files.raw[CONFIG], findings)
        told = {name: one for name, one in manifest.get("provenance", {}).items() if name in manifest}
        for one in differences({name: manifest[name] for name in told}, told):
            findings.fail("configuration", MANIFEST, one.why, field=f"provenance.{one.field}")
    return config


def _check_hash(
    manifest: dict[str, Any], config: dict[str, Any], raw: dict[str, Any], findings: Findings
) -> None:
    """Hold the hash of the configuration against it: without run_id, or with it, as before R-S7."""
    told, right = manifest["config_sha256"], config_sha256(config)
    run = {name: one for name, one in raw["run"].items() if name != "run_id"}
    if told == right or told in hashes_elsewhere({**raw, "run": run}):
        return
    if told in hashes_elsewhere(raw) | hashes_elsewhere(config):
        why = "covers the run_id, as other programs do (R-S7)"
        findings.note("configuration", MANIFEST, why, field="config_sha256")
        return
    why = f"is {told}, should be {right} by {CONFIG}"
    findings.fail("configuration", MANIFEST, why, field="config_sha256")


def check_plan(files: Files, config: ResolvedConfiguration, findings: Findings) -> None:
    """Draw the plan anew and hold it against the one that is there."""
    lines = files.lines.get(PLAN)
    if lines is None:
        return
    findings.made("plan", f"{len(lines):,} trials, drawn anew from seed {config.run.seed}, are those planned")
    try:
        drawn = (
            [one.as_json() for one in plan(config)] if config.execution.k_max <= 10 * len(lines) + 10 else []
        )
    except ValueError as error:
        findings.fail("plan", CONFIG, str(error), field="sampling")
        return
    if len(lines) != config.execution.k_max:
        findings.fail("plan", PLAN, f"has {len(lines):,} lines, k_max is {config.execution.k_max:,}")
    for expected, line in zip_longest(drawn, lines):
        if expected is None or line is None:
            break
        wanted = _as_written(expected, line.value, findings, line.number)
        for one in differences(wanted, line.value):
            findings.fail("plan", PLAN, one.why, line=line.number, field=one.field)
    manifest = files.documents.get(MANIFEST)
    if manifest is None:
        return
    right = plan_sha256([line.value for line in lines])
    if manifest["plan_sha256"] not in {right, *hashes_elsewhere([line.raw for line in lines])}:
        findings.fail(
            "plan", MANIFEST, f"is {manifest['plan_sha256']}, {PLAN} has {right}", field="plan_sha256"
        )
    if manifest["k_planned"] != len(lines):
        findings.fail(
            "plan",
            MANIFEST,
            f"is {manifest['k_planned']}, {PLAN} has {len(lines):,} lines",
            field="k_planned",
        )


def _as_written(
    expected: dict[str, Any], found: dict[str, Any], findings: Findings, line: int
) -> dict[str, Any]:
    """Return a drawn line, for a debate without persona and protocol in the form of earlier versions (R-G5)."""
    assigned = found["assigned_config"]
    if found["protocol"] != "debate_v1" or (assigned["persona"], assigned["protocol"]) != (None, None):
        return expected
    why = "names no persona and no protocol, as Moot wrote debates before R-G5"
    findings.warn("plan", PLAN, why, line=line, field="assigned_config")
    return {**expected, "assigned_config": {**expected["assigned_config"], "persona": None, "protocol": None}}


def _texts(config: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each text that a hash stands beside: field of the hash, text, hash."""
    sampling = config["sampling"]
    for kind in ("personas", "protocols", "instruments"):
        for n, one in enumerate(sampling.get(kind, ())):
            yield f"sampling.{kind}[{n}].sha256", one["text"], one["sha256"]
    for role, one in config["protocol"].get("prompts", {}).items():
        yield f"protocol.prompts.{role}.sha256", one["text"], one["sha256"]


def _check_contract(config: dict[str, Any], findings: Findings) -> None:
    """Hold a contract of Moot's against Moot's; the file of another is not in the run's folder."""
    found = config["protocol"].get("decision_contract")
    if found is None:
        return
    for ours in load_bank().contracts.values():
        if ours.sha256 == found["sha256"]:
            for one in differences(ours.as_json(), found):
                place = f"protocol.decision_contract.{one.field}"
                findings.fail("configuration", CONFIG, f"{one.why} by its sha256", field=place)


def _repeated(config: dict[str, Any], stopping_mode: str) -> dict[str, Any]:
    """Return what the manifest says again of the configuration."""
    execution = config["execution"]
    is_resolved_only = stopping_mode == "resolve_only"
    return {
        "run_id": config["run"]["run_id"],
        "stopping_mode": "resolve_only" if is_resolved_only else execution["stop_mode"],
        "k_min": execution["k_min"],
        "k_min_count_rule": execution["k_min_count_rule"],
        "stop_policy": {**execution["stop_policy"], "k_min_eligible": execution["k_min"]},
    }
