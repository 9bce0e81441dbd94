"""The contracts of section 4, field by field and bound by bound (R-A5)."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from moot.protocols.arena.contracts import (
    Issue,
    NotebookContext,
    NotebookHookResult,
    ProtocolConfig,
    RoundRecord,
    TaskContext,
    complaint,
)

TASK = {"task_id": "t1", "initial_prompt": "Plan the widget.", "session_id": "s1"}
NOTEBOOK = {"notebook_id": "nb", "profile": "auto", "tools": ("notebook_query",)}
ROUND = {
    "round_index": 1,
    "planner_output_ref": "a",
    "reviewer_output_ref": "b",
    "verdict": "REVISE",
    "issues": (),
    "timestamp": datetime(2026, 2, 23, tzinfo=UTC),
}
HOOK = {"phase": "before", "query": "what?", "evidence_refs": ("n#1",), "status": "SUCCESS"}


def wrong(model, fields):
    with pytest.raises(ValidationError) as caught:
        model.model_validate(fields)
    return complaint(caught.value)


def test_the_defaults_of_a_config_are_those_of_the_spec():
    assert ProtocolConfig().model_dump() == {
        "max_rounds": 5,
        "session_resume_required": True,
        "reviewer_mode": "read-only",
        "notebook_enabled": True,
    }


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_max_rounds_is_one_to_five(n):
    assert ProtocolConfig.model_validate({"max_rounds": n}).max_rounds == n


@pytest.mark.rule("R-A5")
@pytest.mark.parametrize("n", [0, 6, -1, 10**9, True, False, 1.0, 5.0, "5", None, [5], (3,)])
def test_r_a5_max_rounds_is_no_other_number_and_nothing_that_only_looks_like_one(n):
    assert wrong(ProtocolConfig, {"max_rounds": n}).startswith("max_rounds: ")


@pytest.mark.parametrize("value", [False, 1, 1.0, "true", None])
def test_session_resume_required_is_true_and_nothing_that_equals_it(value):
    said = wrong(ProtocolConfig, {"session_resume_required": value})
    assert said == "session_resume_required: must be true"


@pytest.mark.parametrize("mode", ["READ-ONLY", "read_only", "read-write", "", None, " read-only"])
def test_reviewer_mode_is_exactly_read_only(mode):
    assert wrong(ProtocolConfig, {"reviewer_mode": mode}).startswith("reviewer_mode: ")


@pytest.mark.parametrize("value", [0, 1, "true", "yes", None])
def test_notebook_enabled_is_a_boolean(value):
    assert wrong(ProtocolConfig, {"notebook_enabled": value}).startswith("notebook_enabled: ")


def test_a_task_takes_its_defaults_and_keeps_its_references():
    task = TaskContext.model_validate(TASK)
    assert (task.round_history_refs, task.notebook_required) == ((), False)
    assert TaskContext.model_validate({**TASK, "round_history_refs": ("r1",)}).round_history_refs == ("r1",)


@pytest.mark.parametrize("field", sorted(TASK))
@pytest.mark.parametrize("value", ["", "   ", "\n\t", None, 7, ["x"]])
def test_a_task_names_its_id_prompt_and_session(field, value):
    assert wrong(TaskContext, {**TASK, field: value}).startswith(f"{field}: ")
    assert wrong(TaskContext, {k: v for k, v in TASK.items() if k != field}) == f"{field}: Field required"


@pytest.mark.parametrize(
    ("field", "most"), [("task_id", 200), ("session_id", 200), ("initial_prompt", 20_000)]
)
def test_texts_of_a_task_are_bounded(field, most):
    assert TaskContext.model_validate({**TASK, field: "x" * most})
    assert wrong(TaskContext, {**TASK, field: "x" * (most + 1)}).startswith(f"{field}: ")


@pytest.mark.parametrize("value", [0, 1, "false", None])
def test_notebook_required_is_a_boolean(value):
    assert wrong(TaskContext, {**TASK, "notebook_required": value}).startswith("notebook_required: ")


@pytest.mark.parametrize("profile", ["enterprise", "personal", "auto"])
def test_a_notebook_has_one_of_three_profiles(profile):
    assert NotebookContext.model_validate({**NOTEBOOK, "profile": profile}).profile == profile


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"profile": "Auto"}, "profile"),
        ({"notebook_id": ""}, "notebook_id"),
        ({"notebook_id": None}, "notebook_id"),
        ({"tools": ()}, "tools"),
        ({"tools": ("notebook_describe", "studio_create")}, "tools"),
        ({"tools": "notebook_query"}, "tools"),
        ({"tools": ("notebook_query", "")}, "tools.1"),
    ],
)
def test_a_notebook_names_itself_and_can_be_queried(fields, field):
    assert wrong(NotebookContext, {**NOTEBOOK, **fields}).startswith(f"{field}: ")


def test_studio_create_may_be_absent():
    assert NotebookContext.model_validate(NOTEBOOK).tools == ("notebook_query",)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (ProtocolConfig, {}),
        (TaskContext, TASK),
        (NotebookContext, NOTEBOOK),
        (RoundRecord, ROUND),
        (NotebookHookResult, HOOK),
    ],
)
def test_contracts_are_closed_and_cannot_be_changed(model, fields):
    assert wrong(model, {**fields, "extra": 1}).startswith("extra: ")
    whole = model.model_validate(fields)
    with pytest.raises(ValidationError):
        setattr(whole, next(iter(model.model_fields)), "other")


def test_records_have_exactly_the_fields_of_the_spec():
    assert set(RoundRecord.model_fields) == set(ROUND)
    assert set(NotebookHookResult.model_fields) == set(HOOK)
    assert (
        RoundRecord.model_validate(ROUND).model_dump(mode="json")["timestamp"]
        == "2026-02-23T00:00:00.000000Z"
    )


@pytest.mark.parametrize(
    "fields", [{"round_index": 0}, {"round_index": 6}, {"verdict": "approved"}, {"verdict": None}]
)
def test_a_round_record_is_of_round_one_to_five_with_a_canonical_verdict(fields):
    assert wrong(RoundRecord, {**ROUND, **fields})


@pytest.mark.parametrize("fields", [{"phase": "later"}, {"status": "OK"}, {"evidence_refs": (1,)}])
def test_a_hook_result_names_one_of_three_phases_and_one_of_four_statuses(fields):
    assert wrong(NotebookHookResult, {**HOOK, **fields})


def test_evidence_alone_asks_for_no_change():
    kinds = ("issue", "contradiction", "unnamed", "evidence")
    assert [Issue(id="r1-1", kind=kind, text="x").is_unresolved for kind in kinds] == [
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("key", ["a\nb", "x" * 5000, "tab\there\r\nand more"])
def test_a_complaint_is_one_short_line_whatever_a_key_holds(key):
    said = wrong(ProtocolConfig, {key: 1, "other": 2})
    assert said.isprintable()
    assert len(said) < 500
    assert "and 1 more" in said


@pytest.mark.parametrize(
    "blank", [c for c in map(chr, range(0x110000)) if c.isspace()], ids=lambda c: f"{ord(c):x}"
)
def test_what_python_strips_is_blank(blank):
    """The checker of records strips (R-A5); what it calls blank must not have been let in."""
    assert wrong(TaskContext, {**TASK, "initial_prompt": blank}).startswith("initial_prompt: ")
    assert wrong(TaskContext, {**TASK, "task_id": blank * 3}).startswith("task_id: ")
