"""Whether trials are those of the plan, and whether what was read from their texts is what stands in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final, Literal, NamedTuple, get_args

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from moot.arbiter.run_files import CONFIG, MANIFEST, PARSED, PLAN, TRIALS
from moot.arbiter.verify.comparing import differences, instant, told
from moot.arbiter.verify.parts import contradictions, is_mocked, left_open
from moot.arbiter.verify.reading import Files, Line
from moot.arbiter.verify.report import CheckName, Findings
from moot.config.arbiter.judging import judge_of
from moot.protocols.arbiter.contract import Judge
from moot.protocols.arbiter.embed_text import is_blank
from moot.protocols.arbiter.generated import ParseError, ParserVersion, ResolvedConfiguration
from moot.protocols.arbiter.parsing import not_answered, parse_contract, parse_debate, parse_plain

PLAIN: Final = ("mock-v0", "live-v0")
"""What reads an independent answer without a contract; in one run it is always the same."""

VERSIONS: Final = frozenset(get_args(ParserVersion))
CODES: Final = frozenset(get_args(ParseError.model_fields["code"].annotation))
"""What Moot writes; what another program writes instead is its own."""

UNTOLD: Final = frozenset({"trace_summary"})
"""Words beside what was read; nothing rests on them."""

NEEDED: Final = frozenset({"outcome", "embed_text"})
"""What of a text may not be missing where there is any; all else may be (R-G6)."""

REDACTION: Final = "[redacted"
"""How what stands for a secret begins; what stood there was measured, and nobody can compute that again."""

_ANY: Final = object()
"""Stands for an embed_text that may be any, or none."""

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
        for field, why in left_open(line.value):
            findings.note("trials", TRIALS, why, line=line.number, field=field)
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
    is_untold = is_mock(files) and not any(line.value.get("embed_text") for line in parsed)
    for line in parsed:
        trial = by_id.get(line.value["trial_id"])
        if trial is None:
            continue
        # Of a mock run without any text, as ARBITER_MOCK_EMPTY_EMBED asks for, none is wanted.
        found = {**line.value, "embed_text": _ANY} if is_untold else line.value
        for differing in _judged(trial, found, config, judge):
            tell = findings.note if differing.level == "WARN" else findings.fail
            tell("texts", PARSED, differing.why, line=line.number, field=differing.field)
    plain = {
        one
        for line in parsed
        if (one := line.value.get("parser_version")) in PLAIN and "outcome" in line.value
    }
    if len(plain) > 1:
        findings.fail("texts", PARSED, "has lines of a mock run and of a live one", field="parser_version")


def is_mock(files: Files) -> bool:
    """Say whether no trial of a run asked a model."""
    for line in files.lines.get(TRIALS, ()):
        asked = (line.value, *line.value.get("calls", ()))
        if not all(is_mocked(one.get("request_payload")) for one in asked):
            return False
    return True


def _is_schema(value: Mapping[str, Any]) -> bool:
    try:
        Draft202012Validator.check_schema(value)
    except SchemaError:
        return False
    return True


def final_text(trial: Mapping[str, Any], parsed: Mapping[str, Any] | None = None) -> str | None:
    """Return what a trial ended with; None when it ended before that.

    Args:
        trial: The trial; it need not repeat what its last turn says.
        parsed: What was read from its text: told where no other record tells the text.
    """
    if trial["status"] != "success":
        return None
    if "raw_assistant_text" in trial:
        return str(trial["raw_assistant_text"])
    if trial.get("transcript"):
        return str(trial["transcript"][-1]["content"])
    match trial.get("response_payload"):
        case {"choices": [{"message": {"content": str(text)}}, *_]}:
            return text
    return str((parsed or {}).get("raw_assistant_text", ""))


class Dialect(NamedTuple):
    """How a program reads texts where Moot reads them otherwise; the arguments of `parse_contract`.

    Attributes:
        takes_first: The first decision of several counts, and keys may stand twice (before R-G9).
        trims: A raw text that stands for an outcome loses the blanks around it.
        splits_pairs: A cut may split a surrogate pair.
    """

    takes_first: bool = False
    trims: bool = False
    splits_pairs: bool = False

    def notes(self) -> Iterator[str]:
        """Yield in what it differs from Moot's."""
        if self.takes_first:
            yield "takes the first of several decisions, where R-G9 takes none (ambiguous_decision)"
        if self.trims:
            yield "has a raw text without the blanks around it"
        if self.splits_pairs:
            yield "is cut within a surrogate pair, which Moot never splits"


DIALECTS: Final = tuple(sorted((Dialect(*one) for one in product((False, True), repeat=3)), key=sum))
"""All of them, those nearest to Moot's first."""


class _Judged(NamedTuple):
    """A field of a record of parsed.jsonl that is not what its text gives."""

    level: Literal["WARN", "FAIL"]
    field: str
    why: str


def _judged(
    trial: Mapping[str, Any], found: Mapping[str, Any], config: ResolvedConfiguration, judge: Judge | None
) -> list[_Judged]:
    """Return in what a record differs from what is read in the text of its trial, read as near to Moot as it goes."""
    ours: list[_Judged] | None = None
    for dialect in DIALECTS:
        expected = _read(trial, found, config, judge, dialect)
        judged = list(_against(expected, found))
        if not any(one.level == "FAIL" for one in judged):
            return [*judged, *(_Judged("WARN", "", note) for note in dialect.notes())]
        ours = judged if ours is None else ours
    if REDACTION in (final_text(trial, found) or ""):
        return [_open(one) for one in ours or ()]
    return ours or []


def _open(one: _Judged) -> _Judged:
    """Return a difference in a text that holds what was redacted: it was read before that (R-G7)."""
    if one.field.split(".")[0] in ("trial_id", "raw_assistant_text", "parser_version"):
        return one
    return _Judged("WARN", one.field, f"{one.why}; the text was read before it was redacted (R-G7)")


def _against(expected: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[_Judged]:
    """Yield in what a record differs from the one that is expected; WARN where the specification leaves it open."""
    is_failed = expected["parse_status"] == "failed"
    if is_failed and found["parse_status"] != "failed" and not found.get("embed_text"):
        text = expected.get("raw_assistant_text")
        if text is not None and is_blank(found.get("outcome", "")):
            why = f"is {found['parse_status']} for a blank text, which is failed by R-S5"
            yield _Judged("WARN", "parse_status", why)
            found = {"raw_assistant_text": text, **found, "parse_status": "failed", "outcome": ""}
            found.pop("parse_error", None)
            expected = {name: one for name, one in expected.items() if name != "parse_error"}
    bare = {name: one for name, one in expected.items() if one != ""}
    said = {name: one for name, one in found.items() if not _says_nothing(name, one, expected)}
    if said.get("embed_text") is _ANY:
        said.pop("embed_text")
        bare.pop("embed_text", None)
    yield from _errors(bare.pop("parse_error", None), said.pop("parse_error", None))
    yield from _versions(bare.pop("parser_version"), said.pop("parser_version", None), is_failed=is_failed)
    for one in differences(bare, said, ignoring=UNTOLD):
        is_open = one.is_missing and one.top not in NEEDED
        yield _Judged("WARN" if is_open else "FAIL", one.field, f"{one.why} by {TRIALS}")


def _says_nothing(name: str, value: object, expected: Mapping[str, Any]) -> bool:
    """Return whether a field says no more than its absence would."""
    if value == "":
        return True
    if name == "rationale_truncated":
        return value is False and not expected.get(name)
    is_failed = expected["parse_status"] == "failed"
    return is_failed and (name, value) in (("extraction_method", "raw"), ("embed_text_source", "raw_content"))


def _errors(expected: Mapping[str, Any] | None, found: Mapping[str, Any] | None) -> Iterator[_Judged]:
    """Yield in what an error differs; other programs have codes of their own, or none."""
    right, code = (expected or {}).get("code"), (found or {}).get("code")
    if code == right and (expected is None) is (found is None):
        return
    level: Literal["WARN", "FAIL"] = "FAIL" if code in CODES else "WARN"
    if found is not None and code is None:
        why = "is missing: another program tells errors in its own words"
    else:
        why = f"is {told(code)}, should be {told(right)} by {TRIALS}"
    yield _Judged(level, "parse_error.code", why)


def _versions(expected: str, found: str | None, *, is_failed: bool) -> Iterator[_Judged]:
    if found in (expected, None):
        return
    is_known = found in VERSIONS and not (is_failed and {found, expected} <= {*PLAIN, "independent-v1"})
    why = f"is {told(found)}, should be {told(expected)} by {TRIALS}"
    yield _Judged("FAIL" if is_known else "WARN", "parser_version", why)


def _read(
    trial: Mapping[str, Any],
    parsed: Mapping[str, Any],
    config: ResolvedConfiguration,
    judge: Judge | None,
    dialect: Dialect,
) -> dict[str, Any]:
    """Read the final text of a trial as the spec says.

    Args:
        trial: The trial.
        parsed: The line that is there. What reads an independent trial without a contract, it is believed.
        config: The run.
        judge: Of its contract.
        dialect: How texts are read.
    """
    trial_id, text = trial["trial_id"], final_text(trial, parsed)
    contract, is_debate = config.protocol.decision_contract, config.protocol.type != "independent"
    most, version = config.measurement.embedding_max_chars, parsed.get("parser_version")
    plain: Any = version if version in PLAIN else PLAIN[-1]
    if text is None:
        return not_answered(trial_id, "debate-v1" if is_debate else plain).line.as_json()
    how = dialect._asdict()
    if contract is not None and judge is not None:
        held: Any = "debate-v1" if is_debate else "independent-v1"
        return parse_contract(trial_id, text, contract, judge, held, max_chars=most, **how).line.as_json()
    if is_debate:
        return parse_debate(trial_id, text, max_chars=most, **how).line.as_json()
    splits = dialect.splits_pairs
    found = parse_plain(trial_id, text, plain, max_chars=most, splits_pairs=splits).line.as_json()
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
                findings.note("trials", TRIALS, "is missing", line=line.number, field="attempt")
            continue
        started, completed = instant(attempt["started_at"]), instant(attempt["completed_at"])
        if began is not None and started is not None and started < began:
            why, field = "is before the run began", "attempt.started_at"
            findings.warn("trials", TRIALS, why, line=line.number, field=field)
        if ended is not None and completed is not None and completed > ended:
            why, field = "is after the run ended", "attempt.completed_at"
            findings.warn("trials", TRIALS, why, line=line.number, field=field)
