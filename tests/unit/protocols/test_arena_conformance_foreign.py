"""Records that somebody else may write by the specification and the form of the record alone; none breaks a MUST."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from moot.protocols.arena.conformance.checker import check
from tests.doubles import arena_records
from tests.doubles.arena_records import Json, good_records

RUNS = (
    "T01",
    "T02",
    "T03",
    "T04",
    "T04 helped",
    "T05",
    "T08 degraded",
    "T08 before",
    "T08 during",
    "no notebook",
)
"""Whole runs of every kind. What Moot tells beyond section 11 is taken out of them below."""


def failed(record: Any) -> list[tuple[int, tuple[str, ...]]]:
    return [(one.number, one.evidence) for one in check(record).checks if not one.is_passed]


def bare(name: str) -> Json:
    """Return a record with the events of section 11 alone, as another implementation writes it."""
    record = good_records()[name]
    record["events"] = [one for one in record["events"] if not one["type"].endswith(("_INVOKED", "_RETRIED"))]
    return record


@pytest.mark.parametrize("name", RUNS)
def test_section_11_asks_for_events_and_not_for_what_they_tell(name: str) -> None:
    record = bare(name)
    for event in record["events"]:
        event["data"] = {"note": event["type"].lower()}
    assert failed(record) == []


@pytest.mark.parametrize("name", RUNS)
def test_events_may_tell_the_same_under_other_names(name: str) -> None:
    record = bare(name)
    for event in record["events"]:
        event["data"] = {f"the_{key}": value for key, value in event["data"].items()}
    assert failed(record) == []


@pytest.mark.parametrize(("type_", "key"), [("STATE_TRANSITION", "to"), ("HOOK_EXECUTED", "phase")])
def test_what_one_event_tells_all_of_its_type_tell(type_: str, key: str) -> None:
    record = bare("T02")
    told = [event for event in record["events"] if event["type"] == type_]
    del told[1]["data"][key]
    assert failed(record) != []


@pytest.mark.parametrize("name", ["T04", "T04 helped"])
def test_the_second_pass_of_a_round_needs_no_number(name: str) -> None:
    record = bare(name)
    for event in record["events"]:
        event["data"].pop("attempt", None)
    assert failed(record) == []


def by_digest(record: Json) -> Json:
    """Name every artifact by the digest of its text alone, once all reviews and all drafts are the same."""
    said = {row["output_ref"] for row in record["parser"]}
    names = {}
    for ref in record["artifacts"]:
        same = (
            "Not yet.\nVERDICT: REVISE"
            if ref in said
            else "Final: unresolved."
            if "final" in ref
            else "Draft."
        )
        record["artifacts"][ref] = same
        names[ref] = hashlib.sha256(same.encode()).hexdigest()
    for hook in record["hooks"]:
        hook["evidence_refs"] = []
    record["final_output"] = "Final: unresolved."
    record["artifacts"] = {names[ref]: text for ref, text in record["artifacts"].items()}
    for row in (*record["parser"], *record["rounds"]):
        for key in ("output_ref", "planner_output_ref", "reviewer_output_ref"):
            if key in row:
                row[key] = names[row[key]]
    for event in record["events"]:
        event["data"].pop("evidence_refs", None)
    return record


def test_equal_texts_may_share_a_reference_that_is_a_digest() -> None:
    record = by_digest(bare("T03"))
    assert len(record["artifacts"]) == 3
    assert failed(record) == []


def plainly_named(name: str) -> Json:
    """Return a record whose artifacts are blob-0, blob-1 and so on."""
    record = bare(name)
    names = {ref: f"blob-{at}" for at, ref in enumerate(record["artifacts"])}
    record["artifacts"] = {names[ref]: text for ref, text in record["artifacts"].items()}
    for row in (*record["parser"], *record["rounds"]):
        row.update({key: names[ref] for key, ref in row.items() if key.endswith("_ref")})
    return record


@pytest.mark.parametrize("key", ["planner_output_ref", "reviewer_output_ref"])
def test_a_round_may_not_point_at_the_output_of_another(key: str) -> None:
    record = plainly_named("T02")
    assert failed(record) == []
    record["rounds"][1][key] = record["rounds"][0][key]
    assert failed(record) != []


def test_events_may_be_logged_a_little_after_what_they_tell() -> None:
    record = bare("T02")
    for event in record["events"]:
        if event["type"] == "STATE_TRANSITION":
            event["at"] = event["at"].replace("Z", ".007Z")
    assert failed(record) == []
    record["transitions"][2]["at"] = record["transitions"][4]["at"]
    assert failed(record) != []


@pytest.mark.parametrize("reason", [None, ""])
def test_only_what_ends_a_run_in_error_needs_a_reason(reason: str | None) -> None:
    record = bare("T08 during")
    for row in (*record["transitions"][:-1], *(one["data"] for one in record["events"][:-3])):
        if "reason" in row:
            row["reason"] = reason
    assert failed(record) == []
    record["transitions"][-1]["reason"] = reason
    assert failed(record) != []


@pytest.mark.parametrize("code", [None, "", "OK", "PARSER_OK", "PARSED"])
def test_a_review_with_one_verdict_may_have_any_code_that_says_so(code: str | None) -> None:
    record = bare("T01")
    record["parser"][0]["code"] = code
    assert failed(record) == []
    record["parser"][0]["code"] = "PARSER_WARNING"
    assert failed(record) != []


@pytest.mark.parametrize("name", ["T04", "T08 after", "bad config"])
def test_no_final_output_may_be_written_as_nothing(name: str) -> None:
    assert failed({**good_records()[name], "final_output": ""}) == []


def invoked(**data: Any) -> Json:
    """Return a record that tells when a seat was called, in a form of its own."""
    record = bare("T02")
    events: list[Json] = []
    for event in record["events"]:
        events.append(event)
        if event["type"] == "STATE_TRANSITION" and event["data"]["to"] == "REVIEWING":
            events.append({"type": "REVIEWER_INVOKED", "at": event["at"], "data": data})
    return {**record, "events": events}


@pytest.mark.parametrize(
    "data", [{}, {"agent": "b-2"}, {"mode": "read-only"}, {"session_id": arena_records.SESSION}]
)
def test_invocations_of_another_form_tell_what_they_like(data: Json) -> None:
    assert failed(invoked(**data)) == []


@pytest.mark.parametrize(("data", "number"), [({"mode": "read-write"}, 4), ({"session_id": "another"}, 8)])
def test_but_what_they_tell_of_mode_and_session_has_to_hold(data: Json, number: int) -> None:
    assert number in [found for found, _ in failed(invoked(**data))]


def test_the_best_effort_may_come_on_reaching_the_cap_5_1() -> None:
    record = bare("T03")
    events = record["events"]
    hook = next(event for event in events if event["data"].get("phase") == "after")
    hook["at"] = events[-2]["at"]
    events.remove(hook)
    events.insert(len(events) - 1, hook)
    assert [one["type"] for one in events[-3:]] == ["STATE_TRANSITION", "HOOK_EXECUTED", "RUN_TERMINATED"]
    assert failed(record) == []


def test_a_required_notebook_may_fail_at_init_as_the_matrix_abbreviates_t08() -> None:
    record = bare("T08 before")
    del record["transitions"][0]
    record["transitions"][0]["from"] = "INIT"
    steps = [event for event in record["events"] if event["type"] == "STATE_TRANSITION"]
    record["events"].remove(steps[0])
    steps[1]["data"]["from"] = "INIT"
    assert failed(record) == []
    record["terminal_reason"] = record["transitions"][0]["reason"] = "it was tired"
    assert failed(record) != []


@pytest.mark.rule("R-A6")
def test_a_disabled_notebook_may_be_told_of_at_any_time_r_a6() -> None:
    record = bare("no notebook")
    events = record["events"]
    skipped = [event for event in events if event["type"] == "HOOK_EXECUTED"]
    for event in skipped:
        events.remove(event)
        event["at"] = events[-1]["at"]
    events[-1:-1] = skipped
    assert failed(record) == []


@pytest.mark.parametrize("key", ["round_index", "attempt"])
def test_hooks_outside_the_rounds_may_have_no_round_and_those_inside_have_theirs(key: str) -> None:
    record = bare("T02")
    hooks = [event["data"] for event in record["events"] if event["type"] == "HOOK_EXECUTED"]
    hooks[0][key] = hooks[-1][key] = None
    assert failed(record) == []
    hooks[1][key] = None
    assert failed(record) != []


def test_a_missing_token_is_a_missing_session_t09() -> None:
    record = bare("T09")
    reason = "the resume token is missing"
    record["terminal_reason"] = record["transitions"][-1]["reason"] = reason
    for event in record["events"][-2:]:
        event["data"]["reason"] = reason
    assert failed(record) == []


@pytest.mark.parametrize("empty", [None, 7, " ", {}, {"text": ""}, []])
def test_an_issue_says_something_4_6(empty: Any) -> None:
    record = bare("T02")
    record["rounds"][0]["issues"] = [
        "say what doubles, nb-1#p2 and nb-1#p3",
        {"severity": "low", "text": "more"},
    ]
    assert failed(record) == []
    record["rounds"][0]["issues"].append(empty)
    assert failed(record) != []


def test_a_blank_draft_is_no_draft_5_1() -> None:
    record = plainly_named("T01")
    assert failed(record) == []
    record["artifacts"][record["rounds"][0]["planner_output_ref"]] = " \n"
    assert failed(record) != []


@pytest.mark.parametrize("at", [0, 1, 2])
def test_no_evidence_has_a_blank_reference(at: int) -> None:
    record = bare("T01")
    for event in record["events"]:
        event["data"].pop("evidence_refs", None)
    assert failed(record) == []
    record["hooks"][at]["evidence_refs"].append(" ")
    assert failed(record) != []


@pytest.mark.rule("R-A7")
def test_r_a7_a_violation_that_ended_a_run_is_an_event() -> None:
    record = bare("T11")
    reason = "the Reviewer tried to write (SAFETY_VIOLATION)"
    record["terminal_reason"] = record["transitions"][-1]["reason"] = reason
    for event in record["events"][-2:]:
        event["data"]["reason"] = reason
    assert failed(record) == []
    record["events"] = [event for event in record["events"] if event["type"] != "SAFETY_VIOLATION"]
    assert [number for number, _ in failed(record)] == [4]
