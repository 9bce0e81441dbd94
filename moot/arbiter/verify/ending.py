"""Whether what a run says of its end follows from what happened in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from moot.arbiter.run_files import AGGREGATES, CERTIFICATE, CONFIG, MANIFEST, PARSED, TRACE, TRIALS
from moot.arbiter.verify.comparing import differences, instant
from moot.arbiter.verify.reading import Files, Line
from moot.arbiter.verify.report import Findings
from moot.protocols.arbiter.stopping import is_incomplete

OF_CLUSTERS: Final = ("cluster_count", "entropy")
OF_BATCHES: Final = ("k_attempted", "k_eligible")
OPEN: Final = frozenset({*OF_CLUSTERS, "incomplete"})
"""What may be missing: that is noted where it is held against its schema."""

OF_NOVELTY: Final = ("novelty_rate", "mean_max_sim_to_prior")


def check_ending(files: Files, findings: Findings) -> None:
    """Hold stop reason, aggregates and instants against trials and rows."""
    manifest, rows = files.documents.get(MANIFEST), files.lines.get(TRACE)
    if manifest is None or rows is None:
        return
    findings.made("ending", f"it ended as it says: {_how(manifest)}")
    for field, why in (*_times(manifest), *_reasons(manifest, rows, files)):
        findings.fail("ending", MANIFEST, why, field=field)
    for line in rows[:-1]:
        if line.value["stop"]["should_stop"]:
            findings.fail("ending", TRACE, "should stop, and the run goes on", line=line.number, field="stop")
    found = files.documents.get(AGGREGATES)
    if found is not None:
        last: Mapping[str, Any] = rows[-1].value if rows else {}
        expected = {
            **{name: last.get(name, 0) for name in OF_BATCHES},
            **{name: last.get(name) for name in (*OF_NOVELTY, *OF_CLUSTERS)},
            "incomplete": manifest["incomplete"],
        }
        if _fails_by_policy(manifest, files):
            # All was measured; it is the policy that does not take the answers.
            del expected["incomplete"]
        for one in differences(expected, {name: found.get(name) for name in expected}):
            if not (one.is_missing and one.field in OPEN):
                findings.fail("ending", AGGREGATES, f"{one.why} by the last batch", field=one.field)


def check_usage(files: Files, findings: Findings) -> None:
    """Add up what trials and their calls used."""
    manifest, trials = files.documents.get(MANIFEST), files.lines.get(TRIALS)
    if manifest is None or trials is None:
        return
    by_model: dict[str, dict[str, Any]] = {}
    for line in trials:
        trial = line.value
        _add(by_model, trial["actual_model"] or trial["requested_model_slug"], trial.get("usage"))
        for call in trial.get("calls", ()):
            _add(by_model, call["model_actual"] or call["model_requested"], call.get("usage"))
    totals: dict[str, dict[str, Any]] = {}
    for usage in by_model.values():
        _add(totals, "totals", usage)
    expected = {**totals, "by_model": by_model} if by_model else None
    told = f"{totals['totals']['total_tokens']:,} tokens" if totals else "no reply told any"
    findings.made("usage", f"what trials used adds up: {told}")
    if (expected is None) is not ("usage" not in manifest):
        is_there = "usage" in manifest
        tell = findings.fail if is_there else findings.note
        tell("usage", MANIFEST, f"is {'there' if is_there else 'missing'}, {told}", field="usage")
        return
    for one in differences(expected, manifest.get("usage")):
        findings.fail("usage", MANIFEST, f"{one.why} by {TRIALS}", field=f"usage.{one.field}")


def _add(sums: dict[str, dict[str, Any]], name: str, usage: Mapping[str, Any] | None) -> None:
    if usage is not None:
        known = sums.setdefault(name, {})
        for field, value in usage.items():
            known[field] = known.get(field, 0) + value


def _how(manifest: Mapping[str, Any]) -> str:
    part = ", incomplete" if manifest["incomplete"] else ""
    return f"{manifest['stop_reason']}{part}, {manifest['k_attempted']:,} of {manifest['k_planned']:,} trials"


def _times(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in ("started_at", "completed_at"):
        if instant(manifest[field]) is None:
            yield field, "is no instant"
        if manifest.get("timestamps", manifest)[field] != manifest[field]:
            yield f"timestamps.{field}", f"is not {field}, {manifest[field]}"
    started, completed = instant(manifest["started_at"]), instant(manifest["completed_at"])
    if started and completed and completed < started:
        yield "completed_at", "is before started_at"


def _reasons(manifest: Mapping[str, Any], rows: list[Line], files: Files) -> Iterator[tuple[str, str]]:
    reason, attempted, planned = manifest["stop_reason"], manifest["k_attempted"], manifest["k_planned"]
    if manifest["incomplete"] is not is_incomplete(reason):
        yield "incomplete", f"is {str(manifest['incomplete']).lower()}, beside stop_reason {reason}"
    if manifest["stopping_mode"] == "resolve_only":
        if reason != "completed" or attempted or rows:
            yield "stop_reason", "of a run that was resolved only is completed, without trials"
        return
    has_converged = bool(rows) and rows[-1].value["stop"]["should_stop"]
    is_settled = (files.documents.get(CERTIFICATE) or {}).get("mode") is not None
    if reason == "completed" and (has_converged or not is_settled or "notes" not in manifest):
        yield (
            "stop_reason",
            f"is completed, which a run is that was to certify a mode, and {CERTIFICATE} has none",
        )
    elif reason == "converged" and not has_converged:
        yield "stop_reason", "is converged, and the last batch does not say so"
    elif reason == "k_max_reached" and has_converged:
        yield "stop_reason", "is k_max_reached, and the last batch says converged"
    elif reason == "k_max_reached" and attempted != planned:
        yield "stop_reason", f"is k_max_reached after {attempted} of {planned} trials"
    if reason == "error" and "notes" not in manifest:
        yield "notes", "is missing: an error says what it was"
    if _fails_by_policy(manifest, files, of_answers=True) and reason != "error":
        yield "stop_reason", f"is {reason}, though answers broke their form and the policy is fail"


def _fails_by_policy(manifest: Mapping[str, Any], files: Files, *, of_answers: bool = False) -> bool:
    """Return whether a policy takes answers of a run for an error.

    Args:
        manifest: The run's.
        files: The run's.
        of_answers: Count only answers that should have had the form of a contract; programs differ in the others.
    """
    if manifest["policy"]["contract_failure_policy"] != "fail":
        return False
    answered = {
        line.value["trial_id"] for line in files.lines.get(TRIALS, ()) if line.value["status"] == "success"
    }
    has_contract = "decision_contract" in files.documents.get(CONFIG, {}).get("protocol", {})
    return any(
        line.value["parse_status"] != "success"
        and (not of_answers or (has_contract and line.value["trial_id"] in answered))
        for line in files.lines.get(PARSED, ())
    )
