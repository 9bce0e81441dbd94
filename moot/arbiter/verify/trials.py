"""Whether trials are those of the plan, and whether what was read from their texts is what stands in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from moot.arbiter.run_files import CONFIG, MANIFEST, PARSED, PLAN, TRIALS
from moot.arbiter.verify.comparing import differences, instant
from moot.arbiter.verify.parts import MOCK, contradictions
from moot.arbiter.verify.reading import Files, Line
from moot.arbiter.verify.report import CheckName, Findings
from moot.config.arbiter.judging import judge_of
from moot.protocols.arbiter.contract import Judge
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.arbiter.parsing import not_answered, parse_contract, parse_debate, parse_plain

PLAIN: Final = ("mock-v0", "live-v0")
"""What reads an independent answer without a contract; in one run it is always the same."""

UNTOLD: Final = frozenset({"parse_error.message", "trace_summary"})
"""Words beside what was read; nothing rests on them."""

LEDGER: Final = "ledger"
"""The folder of a live run's calls; `moot verify` judges it."""


def check_trials(files: Files, config: ResolvedConfiguration, findings: Findings) -> None:
    """Hold each trial against its line of the plan, and its parts against each other."""
    trials, planned = files.lines.get(TRIALS), files.lines.get(PLAN)
    if trials is None or planned is None:
        return
    findings.made("trials", f"{len(trials):,} trials of {len(planned):,} ran as planned, batch after batch")
    plan = {line.value["trial_id"]: line.value for line in planned}
    _once_each(TRIALS, trials, findings)
    _batch_after_batch(trials, config.execution.batch_size, findings)
    for line in trials:
        expected = plan.get(line.value["trial_id"])
        if expected is None:
            findings.fail("trials", TRIALS, "is no trial of the plan", line=line.number, field="trial_id")
            continue
        found = {name: line.value[name] for name in (*expected, "role_assignments") if name in line.value}
        for one in differences(expected, found):
            findings.fail("trials", TRIALS, f"{one.why} by {PLAN}", line=line.number, field=one.field)
        for field, why in contradictions(line.value, config):
            findings.fail("trials", TRIALS, why, line=line.number, field=field)
    _check_times(files, trials, findings)
    manifest = files.documents.get(MANIFEST)
    ran = {line.value["trial_id"] for line in trials}
    left_out = next((n for n in range(len(ran)) if n not in ran), None)
    reason = manifest["stop_reason"] if manifest else None
    if left_out is not None and (reason not in ("error", "user_interrupt") or is_mock(files)):
        # They begin in order; only an error, or a budget without room for one, may leave it out.
        findings.fail("trials", TRIALS, f"lacks trial {left_out}, and has later ones")
    if manifest is not None and manifest["k_attempted"] != len(trials):
        findings.fail(
            "trials",
            MANIFEST,
            f"is {manifest['k_attempted']}, {TRIALS} has {len(trials):,} lines",
            field="k_attempted",
        )


def check_texts(files: Files, config: ResolvedConfiguration, findings: Findings) -> None:
    """Read each trial's text again, and compare."""
    trials, parsed = files.lines.get(TRIALS), files.lines.get(PARSED)
    if trials is None or parsed is None:
        return
    findings.made("texts", f"{len(parsed):,} texts, read anew, say what {PARSED} says")
    _once_each(PARSED, parsed, findings)
    order = [line.value["trial_id"] for line in trials]
    if [line.value["trial_id"] for line in parsed] != order:
        findings.fail("texts", PARSED, f"has not the trials of {TRIALS} in their order", field="trial_id")
    by_id = {line.value["trial_id"]: line.value for line in trials}
    contract = config.protocol.decision_contract
    if contract is not None and not _is_schema(contract.schema_):
        findings.fail("texts", CONFIG, "is no JSON Schema", field="protocol.decision_contract.schema")
        return
    judge = judge_of(contract)
    ignoring = UNTOLD
    if is_mock(files) and not any("embed_text" in line.value for line in parsed):
        # As ARBITER_MOCK_EMPTY_EMBED asks for.
        ignoring |= {"embed_text"}
    for line in parsed:
        trial = by_id.get(line.value["trial_id"])
        if trial is None:
            continue
        expected = _read(trial, config, judge, line.value["parser_version"])
        found = list(differences(expected, line.value, ignoring=ignoring))
        if found and expected.get("parse_error", {}).get("code") == "ambiguous_decision":
            # Runs of other programs, and those before that rule, take the first decision.
            first = _read(trial, config, judge, line.value["parser_version"], takes_first=True)
            if not list(differences(first, line.value, ignoring=ignoring)):
                continue
        for one in found:
            findings.fail("texts", PARSED, f"{one.why} by {TRIALS}", line=line.number, field=one.field)
    plain = {
        one for line in parsed if (one := line.value["parser_version"]) in PLAIN and "outcome" in line.value
    }
    if len(plain) > 1:
        findings.fail("texts", PARSED, "has lines of a mock run and of a live one", field="parser_version")


def is_mock(files: Files) -> bool:
    """Say whether no trial of a run asked a model."""
    for line in files.lines.get(TRIALS, ()):
        asked = (line.value, *line.value.get("calls", ()))
        if any(one.get("request_payload", MOCK) != MOCK for one in asked):
            return False
    return True


def _is_schema(value: Mapping[str, Any]) -> bool:
    try:
        Draft202012Validator.check_schema(value)
    except SchemaError:
        return False
    return True


def final_text(trial: Mapping[str, Any]) -> str | None:
    """Return what a trial ended with; None when it ended before that."""
    return trial.get("raw_assistant_text", "") if trial["status"] == "success" else None


def _read(
    trial: Mapping[str, Any],
    config: ResolvedConfiguration,
    judge: Judge | None,
    version: str,
    *,
    takes_first: bool = False,
) -> dict[str, Any]:
    """Read the final text of a trial as the spec says.

    Args:
        version: What the line that is there names; of an independent trial without a contract it is believed.
        takes_first: Whether the first of several decisions counts.
    """
    trial_id, text = trial["trial_id"], final_text(trial)
    contract, is_debate = config.protocol.decision_contract, config.protocol.type != "independent"
    most = config.measurement.embedding_max_chars
    plain: Any = version if version in PLAIN else PLAIN[-1]
    if text is None:
        return not_answered(trial_id, "debate-v1" if is_debate else plain).line.as_json()
    if contract is not None and judge is not None:
        held: Any = "debate-v1" if is_debate else "independent-v1"
        read = parse_contract(trial_id, text, contract, judge, held, max_chars=most, takes_first=takes_first)
        return read.line.as_json()
    if is_debate:
        return parse_debate(trial_id, text, max_chars=most, takes_first=takes_first).line.as_json()
    found = parse_plain(trial_id, text, plain, max_chars=most).line.as_json()
    if plain == "mock-v0" and "outcome" in found:
        # The mock's answer ends its line; what it decides does not.
        found["outcome"] = found["outcome"].rstrip("\n")
    return found


def _once_each(file: str, lines: Sequence[Line], findings: Findings) -> None:
    seen: set[int] = set()
    for line in lines:
        if (trial_id := line.value["trial_id"]) in seen:
            check: CheckName = "trials" if file == TRIALS else "texts"
            findings.fail(check, file, f"{trial_id} stands there twice", line=line.number, field="trial_id")
        seen.add(trial_id)


def _batch_after_batch(lines: Sequence[Line], size: int, findings: Findings) -> None:
    """No trial begins before the batch before it ended."""
    last = 0
    for line in lines:
        batch = line.value["trial_id"] // size
        if batch < last:
            why = f"of batch {batch} ended after one of batch {last}"
            findings.fail("trials", TRIALS, why, line=line.number, field="trial_id")
        last = max(last, batch)


def _check_times(files: Files, trials: Sequence[Line], findings: Findings) -> None:
    """No trial began before its run did, or ended after it; one of a resumed run may have begun in an earlier life."""
    manifest = files.documents.get(MANIFEST)
    began, ended = (
        (instant(manifest["started_at"]), instant(manifest["completed_at"])) if manifest else (None, None)
    )
    if (files.folder / LEDGER).exists():
        began = None
    for line in trials:
        attempt = line.value.get("attempt")
        if attempt is None:
            if line.value["status"] == "success":
                findings.warn("trials", TRIALS, "is missing", line=line.number, field="attempt")
            continue
        started, completed = instant(attempt["started_at"]), instant(attempt["completed_at"])
        if began is not None and started is not None and started < began:
            why, field = "is before the run began", "attempt.started_at"
            findings.warn("trials", TRIALS, why, line=line.number, field=field)
        if ended is not None and completed is not None and completed > ended:
            why, field = "is after the run ended", "attempt.completed_at"
            findings.warn("trials", TRIALS, why, line=line.number, field=field)
