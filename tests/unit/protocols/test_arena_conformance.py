from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from moot.protocols.arena.conformance.checker import COMPLIANT, CONDITIONAL, NON_COMPLIANT, Conformance, check
from tests.doubles import arena_records
from tests.doubles.arena_records import SESSION, Json, Story, approve, good_records, issue


def failed(record: Any) -> set[int]:
    return {one.number for one in check(record).checks if not one.is_passed}


def said(found: Conformance, number: int) -> str:
    return "\n".join(found.checks[number - 1].evidence)


@pytest.mark.parametrize("name", good_records())
def test_a_good_record_passes_all_thirteen(name: str) -> None:
    found = check(good_records()[name])
    assert [one.number for one in found.checks] == list(range(1, 14))
    assert [one.evidence for one in found.checks if not one.is_passed] == []
    assert all(one.evidence and one.title and one.rule for one in found.checks)


def as_others_write(record: Json) -> Json:
    """Turn a record into one that another implementation might write: plain refs, issues, reasons, and extras."""
    names = {ref: f"blob-{at}" for at, ref in enumerate(record["artifacts"])}

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(key, key): renamed(part) for key, part in value.items()}
        if isinstance(value, list):
            return [renamed(part) for part in value]
        return names.get(value, value) if isinstance(value, str) else value

    other = renamed(record)
    for row in (*other["parser"], *(event["data"] for event in other["events"])):
        if row.get("attempt"):
            row["attempt"] -= 1
    for row in other["parser"]:
        row["code"] = row["code"] or "OK"
    for round_ in other["rounds"]:
        round_["issues"] = [f"{one['text']} {one['evidence_ref'] or ''}" for one in round_["issues"]]
    other["events"] = [one for one in other["events"] if not one["type"].endswith(("_INVOKED", "_RETRIED"))]
    other["events"].insert(1, {"type": "SOMETHING_ELSE", "at": other["events"][0]["at"], "data": {"x": [1]}})
    other["producer"] = {"name": "another"}
    other["config"]["more"] = 1
    return other


@pytest.mark.parametrize(
    "name", ["T01", "T02", "T03", "T04", "T04 helped", "T05", "T08 degraded", "no notebook"]
)
def test_the_record_of_another_implementation_is_judged_by_the_specification_alone(name: str) -> None:
    found = check(as_others_write(good_records()[name]))
    assert [one.evidence for one in found.checks if not one.is_passed] == []


def test_one_during_hook_may_serve_both_passes_of_a_round() -> None:
    record = arena_records.retried_then_approved()
    at = [n for n, one in enumerate(record["events"]) if one["type"] == "HOOK_EXECUTED"]
    del record["events"][at[2]], record["hooks"][2]
    assert failed(record) == set()


def test_a_disabled_notebook_needs_no_hook_events_for_what_it_skipped() -> None:
    record = arena_records.without_notebook()
    record["events"] = [one for one in record["events"] if one["type"] != "HOOK_EXECUTED"]
    assert failed(record) == set()


def without(record: Json, *drop: tuple[str, int]) -> Json:
    for section, at in drop:
        del record[section][at]
    return record


def hook_events(record: Json) -> list[int]:
    return [n for n, one in enumerate(record["events"]) if one["type"] == "HOOK_EXECUTED"]


@pytest.mark.parametrize(("at", "number"), [(0, 9), (1, 9), (2, 9), (2, 10)])
def test_a_hook_that_is_dropped_with_its_event_is_missed(at: int, number: int) -> None:
    record = arena_records.approved_at_once(is_bare=True)
    without(record, ("events", hook_events(record)[at]), ("hooks", at))
    assert number in failed(record)


def test_the_drift_is_checked_before_a_best_effort_too() -> None:
    record = arena_records.capped()
    without(record, ("events", hook_events(record)[-1]), ("hooks", -1))
    assert {9, 10} <= failed(record)


def with_status(record: Json, at: int, status: str) -> Json:
    record["hooks"][at]["status"] = record["events"][hook_events(record)[at]]["data"]["status"] = status
    return record


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_failed_hook_that_the_run_went_on_after_is_told(at: int) -> None:
    assert 9 in failed(with_status(arena_records.approved_at_once(), at, "FAILED"))


def test_a_required_notebook_may_not_be_skipped() -> None:
    record = arena_records.degraded()
    record["task"]["notebook_required"] = True
    assert 9 in failed(record)


@pytest.mark.rule("R-A6")
def test_a_disabled_notebook_succeeds_in_nothing_r_a6() -> None:
    assert 9 in failed(with_status(arena_records.without_notebook(), 1, "SUCCESS"))
    assert 9 in failed(without(arena_records.without_notebook(), ("hooks", 2)))


def test_evidence_has_to_be_found_again() -> None:
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during", refs=("nb-1#nowhere",))
    story.parse("Fine.\nVERDICT: APPROVED", "APPROVED", 2)
    found = check(approve(story))
    assert "nb-1#nowhere" in said(found, 9)


def test_a_third_review_is_one_retry_too_many() -> None:
    story = Story()
    story.seed()
    story.draft()
    for attempt in (1, 2, 3):
        story.attempt = attempt
        if attempt > 1:
            story.event("REVIEWER_RETRIED", round_index=1, attempt=attempt)
            story.invoke()
        story.hook("SUCCESS", "during")
        has_verdict = attempt == 3
        story.parse(
            "VERDICT: APPROVED" if has_verdict else f"{attempt}: fine",
            "APPROVED" if has_verdict else None,
            1 if has_verdict else None,
            None if has_verdict else "PARSER_ERROR_MISSING_VERDICT",
        )
    assert 6 in failed(approve(story))


def test_a_missing_verdict_has_to_be_retried() -> None:
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during")
    story.parse("fine", None, None, "PARSER_ERROR_MISSING_VERDICT")
    record = story.end("TERMINATED_ERROR", "PARSER_ERROR_MISSING_VERDICT: no verdict")
    assert 6 in failed(record)


def test_a_verdict_is_not_retried() -> None:
    story = Story()
    story.seed()
    story.draft()
    for attempt in (1, 2):
        if attempt == 2:
            story.retry()
        story.hook("SUCCESS", "during")
        story.parse(
            "VERDICT: " + ("REVISE" if attempt == 1 else "APPROVED"), ("REVISE", "APPROVED")[attempt - 1], 1
        )
    assert 6 in failed(approve(story))


def test_a_round_beyond_the_cap_is_told() -> None:
    record = arena_records.revised_then_approved()
    record["config"]["max_rounds"] = 1
    assert 7 in failed(record)


def test_a_cap_before_the_last_round_is_told() -> None:
    record = arena_records.capped()
    record["config"]["max_rounds"] = 4
    assert 7 in failed(record)


def test_two_verdict_lines_without_a_warning_are_told() -> None:
    record = arena_records.two_verdict_lines()
    record["parser"][0]["code"] = None
    record["events"] = [one for one in record["events"] if one["type"] != "PARSER_WARNING"]
    assert 5 in failed(record)


@pytest.mark.rule("R-A4")
@pytest.mark.parametrize(
    ("text", "verdict", "line"),
    [
        ("verdict: approveD  ", "APPROVED", 1),
        ("a\r\nb\r\t VERDICT:REVISE\x0c\nc", "REVISE", 3),
        ("VERDICT: REVISE\u2028VERDICT: APPROVED", None, None),
        ("VERDICT:\nAPPROVED", None, None),
        ("VERDICT: REVI\u017fE", None, None),
        ("VERDICT\u00a0: APPROVED", None, None),
        ("I say VERDICT: APPROVED", None, None),
        ("VERDICT: APPROVED!", None, None),
        ("a\x0bb\x1cc\x85d\nVERDICT: APPROVED", "APPROVED", 2),
    ],
)
def test_r_a4_lines_end_at_lf_and_cr_and_letters_fold_in_ascii(
    text: str, verdict: str | None, line: int | None
) -> None:
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during")
    story.parse(text, verdict, line, None if verdict else "PARSER_ERROR_MISSING_VERDICT")
    story.record["terminal_reason"] = "x"
    assert check(story.record).checks[4].is_passed


@pytest.mark.rule("R-A7")
def test_r_a7_a_safety_violation_ends_the_run() -> None:
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during")
    story.event("SAFETY_VIOLATION", seat="reviewer", tool="write", detail="x", round_index=1)
    story.parse("VERDICT: APPROVED", "APPROVED", 1)
    assert 4 in failed(approve(story))


def test_a_review_in_another_session_is_told() -> None:
    record = arena_records.revised_then_approved()
    invoked = [one for one in record["events"] if one["type"] == "REVIEWER_INVOKED"]
    invoked[1]["data"]["session_id"] = SESSION + "-new"
    assert failed(record) == {8}


def test_a_run_that_went_on_without_a_session_is_told() -> None:
    record = arena_records.approved_at_once(is_bare=True)
    record["task"]["session_id"] = ""
    assert failed(record) == {8}


def test_an_invalid_config_has_to_be_refused() -> None:
    record = arena_records.approved_at_once()
    record["config"]["max_rounds"] = True
    assert {1, 7} <= failed(record)
    record = arena_records.config_refused()
    assert "refused" in said(check(record), 1)
    record["terminal_reason"] = record["transitions"][0]["reason"] = "something went wrong"
    record["events"][1]["data"]["reason"] = record["events"][2]["data"]["reason"] = "something went wrong"
    assert failed(record) == {1}


def test_a_valid_config_is_not_invalid() -> None:
    record = arena_records.config_refused()
    record["config"]["max_rounds"] = 5
    assert failed(record) == {1}


def test_a_run_may_not_fail_for_want_of_studio_create() -> None:
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during")
    story.parse("VERDICT: APPROVED", "APPROVED", 1)
    story.decide("APPROVED")
    story.finalizer()
    story.hook("SUCCESS", "after")
    record = story.end("TERMINATED_ERROR", "the tool studio_create is not available")
    assert failed(record) == {11}
    record["task"]["studio_create_required"] = True
    assert failed(record) == set()


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize(
    ("section", "text"),
    [
        ("artifact", "The password: hunter2-hunter2"),
        ("artifact", "CPU usage at 93 % on node 4"),
        ("final", "api_key = abcdef0123456789"),
        ("prompt", "Use the token: abcdef0123456789"),
        ("issue", "send the invoice to billing by friday"),
        ("query", "password=hunter2-hunter2"),
        ("reason", "the server said Authorization: Bearer abcdefgh0123456789"),
    ],
)
def test_r_a9_excess_and_secrets_are_told_without_being_repeated(section: str, text: str) -> None:
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during", text if section == "query" else "what is known")
    story.parse((text if section == "artifact" else "Fine.") + "\nVERDICT: REVISE", "REVISE", 2)
    story.decide("REVISE", issue(1, 1, "issue", text if section == "issue" else "more"))
    story.draft()
    story.hook("SUCCESS", "during")
    story.parse("VERDICT: APPROVED", "APPROVED", 1)
    if section == "prompt":
        story.record["task"]["initial_prompt"] = text
    story.decide("APPROVED")
    story.finalizer()
    story.hook("SUCCESS", "after")
    story.final(text if section == "final" else "Halve it.")
    end = f"STOPPED: {text}" if section == "reason" else "APPROVED: it stands"
    record = story.end("TERMINATED_ERROR" if section == "reason" else "TERMINATED_APPROVED", end)
    found = check(record)
    assert failed(record) == {13}
    for secret in ("hunter2", "abcdef0123456789", "abcdefgh0123456789"):
        assert secret not in repr(found)


def with_reason(record: Json, reason: str) -> Json:
    for part in (record["transitions"][-1], record["events"][-1]["data"], record["events"][-2]["data"]):
        part["reason"] = reason
    record["terminal_reason"] = reason
    return record


@pytest.mark.parametrize(
    ("name", "number"),
    [("T04", 6), ("T08 before", 9), ("T08 during", 9), ("T08 after", 9), ("T09", 8), ("T11", 4)],
)
def test_what_ended_the_run_is_named_in_its_reason(name: str, number: int) -> None:
    assert failed(with_reason(good_records()[name], "it did not work")) == {number}


@pytest.mark.parametrize("code", ["APPROVED", "NOTEBOOK_UNAVAILABLE", "SAFETY_VIOLATION", "CONFIG_INVALID"])
def test_a_reason_that_the_record_does_not_bear_out_is_told(code: str) -> None:
    record = with_reason(good_records()["T04"], f"{code}: but see PARSER_ERROR_MISSING_VERDICT")
    assert 12 in failed(record)


def test_a_retry_that_the_run_ended_in_is_no_second_review() -> None:
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during")
    story.parse("fine", None, None, "PARSER_ERROR_MISSING_VERDICT")
    story.retry()
    record = story.end("TERMINATED_ERROR", "TIMEOUT: the Reviewer was silent")
    assert failed(record) == set()
    assert "ended during the retry" in check(record).checks[5].warnings[0]
    record["events"] = [one for one in record["events"] if one["type"] != "REVIEWER_RETRIED"]
    assert 6 in failed(record)


@pytest.mark.rule("R-A10")
def test_an_approval_warning_beside_a_revise_is_told_r_a10() -> None:
    story = Story(is_enabled=False)
    story.draft()
    story.parse("- more\nVERDICT: REVISE", "REVISE", 2)
    story.event("REVIEW_WARNING", code="APPROVED_WITHOUT_RATIONALE", round_index=1)
    story.decide("REVISE", issue(1, 1, "issue", "more"))
    record = story.end("TERMINATED_ERROR", "STOPPED: an admin stopped it")
    assert failed(record) == {12}


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize(
    ("removed", "numbers"),
    [
        ([{"line": 1, "category": "secret", "rule": "password"}], set()),
        ([{"line": 1, "category": "secret"}], {12}),
        ("all", {12}),
    ],
)
def test_r_a9_the_filter_says_what_it_removed_and_why(removed: Any, numbers: set[int]) -> None:
    story = Story(is_enabled=False)
    story.event("RELEVANCE_FILTERED", where="task.initial_prompt", removed=removed)
    story.draft()
    story.parse("VERDICT: APPROVED", "APPROVED", 1)
    assert failed(approve(story)) == numbers


def test_a_filtered_artifact_is_one_of_the_artifacts() -> None:
    story = Story(is_enabled=False)
    story.event("RELEVANCE_FILTERED", where="round-1/draft/sha256:" + "0" * 64, removed=[])
    story.draft()
    story.parse("VERDICT: APPROVED", "APPROVED", 1)
    assert failed(approve(story)) == {12}


def test_a_run_that_is_not_over_is_told() -> None:
    record = arena_records.approved_at_once()
    del record["transitions"][-1], record["events"][-2:]
    record["terminal_state"] = record["terminal_reason"] = None
    assert {3, 12} <= failed(record)


def test_a_should_makes_it_conditional_and_tells_its_justification() -> None:
    assert check(arena_records.approved_at_once()).level == COMPLIANT
    record = arena_records.capped()
    record["final_output"] = None
    record["artifacts"] = {
        ref: text for ref, text in record["artifacts"].items() if not ref.startswith("final/")
    }
    found = check(record)
    assert (found.level, found.is_conformant, found.is_justified) == (CONDITIONAL, True, False)
    reason = "MAX_ROUNDS: round 3 still asks for a revision, and the Finalizer was silent"
    found = check(with_reason(record, reason))
    assert (found.level, found.is_justified, found.shoulds[0].rule) == (CONDITIONAL, True, "9.3")


def test_text_after_the_verdict_is_a_should_and_no_must() -> None:
    found = check(arena_records.without_notebook())
    assert [one.rule for one in found.shoulds] == ["7.1"]
    assert (found.level, found.is_conformant) == (CONDITIONAL, True)


def test_references_to_history_should_fix_what_they_refer_to() -> None:
    record = arena_records.approved_at_once()
    record["task"]["round_history_refs"] = ["sha256:" + "0" * 64, "latest"]
    assert [one.what.partition(":")[0] for one in check(record).shoulds] == ["task.round_history_refs[1]"]


def test_the_best_effort_should_say_what_is_unresolved() -> None:
    story = Story(max_rounds=1, is_enabled=False)
    story.draft()
    story.parse("- more\nVERDICT: REVISE", "REVISE", 2)
    story.decide("REVISE", issue(1, 1, "issue", "more"))
    story.finalizer()
    story.final("All is well.")
    found = check(story.end("TERMINATED_MAX_ROUNDS", "MAX_ROUNDS: no approval"))
    assert [one.rule for one in found.shoulds] == ["9.3"]


def test_a_broken_must_makes_it_non_compliant() -> None:
    record = arena_records.approved_at_once()
    record["rounds"][0]["verdict"] = "REVISE"
    found = check(record)
    assert (found.level, found.is_conformant) == (NON_COMPLIANT, False)
    assert "rounds[0].verdict" in said(found, 5)


def test_checking_leaves_the_record_alone() -> None:
    record = arena_records.revised_then_approved()
    before = deepcopy(record)
    check(record)
    assert record == before
