"""Contracts: what the schema takes, the invariants beyond it, what may change, and that the JSON Schema agrees."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from moot.protocols.panel.contract import (
    ROLES,
    Amendments,
    Contract,
    ContractError,
    as_json,
    baseline_sha256,
    checked,
    contract_from,
    eligible,
    ineligibility,
    prepared,
)
from moot.protocols.panel.contract_schema import contract_schema
from moot.protocols.panel.contract_warnings import warnings
from tests.doubles.panel_contracts import GONE, LADDER, SMALL, changed

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
CONDITION, DIMENSION, PROCEDURE = "failure_conditions", "acceptance_dimensions", "measurement_procedure"
PLAN = ("dimension_id", "what_to_look_for", "what_triggers_block", "what_triggers_warn")
VALIDATOR = jsonschema.Draft202012Validator(contract_schema())

REFUSED: list[tuple[tuple[str | int, ...], object, str]] = [
    *(((key,), GONE, key) for key in SMALL),
    (("extra",), 1, "extra"),
    (("contract_id",), "reviewer/full", "contract_id"),
    (("contract_id",), "reviewer/full/v1\n", "contract_id"),
    (("contract_id",), "Reviewer/full/v1", "contract_id"),
    (("contract_id",), "reviewer/full2/v1", "contract_id"),
    (("contract_id",), "reviewer/full/1", "contract_id"),
    (("mode",), "reviewer_quick", "mode"),
    (("mode",), "reviewer_", "mode"),
    (("stage",), "", "stage"),
    (("stage",), None, "stage"),
    (("baseline_version",), "3.6.2", "baseline_version"),
    (("baseline_version",), "v3.6", "baseline_version"),
    (("baseline_version",), "v3.6.2-rc1", "baseline_version"),
    (("baseline_version",), "v٣.6.2", "baseline_version"),
    (("panel_size",), 0, "panel_size"),
    (("panel_size",), -1, "panel_size"),
    (("panel_size",), "2", "panel_size"),
    (("panel_size",), True, "panel_size"),
    (("panel_size",), 2.0, "panel_size"),
    ((DIMENSION,), [], "acceptance_dimensions"),
    ((DIMENSION,), {}, "acceptance_dimensions"),
    ((DIMENSION, 0, "id"), "D0", "acceptance_dimensions[0].id"),
    ((DIMENSION, 0, "id"), "D01", "acceptance_dimensions[0].id"),
    ((DIMENSION, 0, "id"), "D100", "acceptance_dimensions[0].id"),
    ((DIMENSION, 0, "id"), "d1", "acceptance_dimensions[0].id"),
    ((DIMENSION, 0, "name"), "1st", "acceptance_dimensions[0].name"),
    ((DIMENSION, 0, "name"), "_rigor", "acceptance_dimensions[0].name"),
    ((DIMENSION, 0, "name"), "Rigor", "acceptance_dimensions[0].name"),
    ((DIMENSION, 0, "description"), "", "acceptance_dimensions[0].description"),
    ((DIMENSION, 0, "priority"), "low", "acceptance_dimensions[0].priority"),
    ((DIMENSION, 0, "scale"), ["pass"], "acceptance_dimensions[0].scale"),
    ((DIMENSION, 0, "description"), GONE, "acceptance_dimensions[0].description"),
    (
        (PROCEDURE, "reviewer_must_output_before_paper"),
        ["one"],
        f"{PROCEDURE}.reviewer_must_output_before_paper",
    ),
    (
        (PROCEDURE, "reviewer_must_output_before_paper", 1),
        "",
        f"{PROCEDURE}.reviewer_must_output_before_paper[1]",
    ),
    ((PROCEDURE, "scoring_plan_schema", "required"), PLAN[:3], f"{PROCEDURE}.scoring_plan_schema.required"),
    (
        (PROCEDURE, "scoring_plan_schema", "required"),
        (*PLAN[:3], PLAN[0]),
        f"{PROCEDURE}.scoring_plan_schema.required",
    ),
    (
        (PROCEDURE, "scoring_plan_schema", "required"),
        (*PLAN, PLAN[0]),
        f"{PROCEDURE}.scoring_plan_schema.required",
    ),
    (
        (PROCEDURE, "scoring_plan_schema", "required"),
        (*PLAN, "mood"),
        f"{PROCEDURE}.scoring_plan_schema.required[4]",
    ),
    ((PROCEDURE, "scoring_plan_schema", "optional"), [], f"{PROCEDURE}.scoring_plan_schema.optional"),
    ((PROCEDURE, "paraphrase_minimum_dimensions"), 0, f"{PROCEDURE}.paraphrase_minimum_dimensions"),
    ((PROCEDURE, "paraphrase_minimum_dimensions"), True, f"{PROCEDURE}.paraphrase_minimum_dimensions"),
    ((PROCEDURE, "paraphrase_minimum_dimensions"), "ALL", f"{PROCEDURE}.paraphrase_minimum_dimensions"),
    ((PROCEDURE, "paraphrase_minimum_dimensions"), [1], f"{PROCEDURE}.paraphrase_minimum_dimensions"),
    ((CONDITION,), [], "failure_conditions"),
    ((CONDITION, 0, "condition_id"), "F01", "failure_conditions[0].condition_id"),
    ((CONDITION, 0, "condition_id"), "F00", "failure_conditions[0].condition_id"),
    ((CONDITION, 0, "condition_id"), "F100", "failure_conditions[0].condition_id"),
    ((CONDITION, 0, "severity"), -1, "failure_conditions[0].severity"),
    ((CONDITION, 0, "severity"), 101, "failure_conditions[0].severity"),
    ((CONDITION, 0, "severity"), 50.5, "failure_conditions[0].severity"),
    ((CONDITION, 0, "expression"), "", "failure_conditions[0].expression"),
    ((CONDITION, 0, "action"), "reject", "failure_conditions[0].action"),
    ((CONDITION, 0, "action"), "editorial_decision=maybe", "failure_conditions[0].action"),
    (
        (CONDITION, 0, "cross_reviewer_quantifier"),
        "most",
        "failure_conditions[0].cross_reviewer_quantifier",
    ),
    ((CONDITION, 0, "cross_reviewer_quantifier"), None, "failure_conditions[0].cross_reviewer_quantifier"),
    ((CONDITION, 1, "cross_reviewer_quantifier"), GONE, "failure_conditions[1].cross_reviewer_quantifier"),
    ((CONDITION, 2, "condition_id"), "F3", "failure_conditions"),
    ((CONDITION, 2, "action"), "editorial_decision=minor_revision", "failure_conditions"),
    (("override_ladder",), None, "override_ladder"),
    (("override_ladder",), LADDER[:2], "override_ladder"),
    (("override_ladder",), [*LADDER, LADDER[2]], "override_ladder"),
    (("override_ladder",), [LADDER[0], LADDER[2], LADDER[1]], "override_ladder[1].round"),
    (
        ("override_ladder",),
        [LADDER[0], LADDER[1], {"round": 3, "trigger": "x"}],
        "override_ladder[2].required",
    ),
    (("agent_amendments",), None, "agent_amendments"),
    (("agent_amendments",), {"stage_specific_notes": "x" * 501}, "agent_amendments.stage_specific_notes"),
    (
        ("agent_amendments",),
        {"additional_measurement_hints": [""]},
        "agent_amendments.additional_measurement_hints[0]",
    ),
    (("agent_amendments",), {"panel_size": 1}, "agent_amendments.panel_size"),
    (("generated_at",), None, "generated_at"),
    (("generated_at",), "2026-05-03", "generated_at"),
    (("generated_at",), "2026-05-03T12:00:00", "generated_at"),
    (("generated_at",), "2026-02-30T12:00:00Z", "generated_at"),
    (("generated_at",), 1_700_000_000, "generated_at"),
    (("generated_at",), "1700000000", "generated_at"),
]

TAKEN: list[tuple[tuple[str | int, ...], object]] = [
    *((("mode",), mode) for mode in ("reviewer_full", "reviewer_re_review", "reviewer_calibration")),
    (("mode",), "reviewer_guided"),
    (("contract_id",), "a_b/c_d/v12"),
    (("baseline_version",), "v10.0.123"),
    (("panel_size",), 1),
    (("panel_size",), 1000),
    ((DIMENSION, 0, "id"), "D99"),
    ((DIMENSION, 0, "name"), "a1_b"),
    ((CONDITION, 0, "condition_id"), "F99"),
    ((CONDITION, 0, "severity"), 0),
    ((CONDITION, 0, "severity"), 100),
    ((CONDITION, 0, "expression"), "no sentence of the grammar"),
    ((PROCEDURE, "scoring_plan_schema", "required"), PLAN[::-1]),
    ((PROCEDURE, "paraphrase_minimum_dimensions"), 1),
    ((PROCEDURE, "paraphrase_minimum_dimensions"), 99),
    (("override_ladder",), LADDER),
    (("agent_amendments",), {}),
    (("agent_amendments",), {"stage_specific_notes": "x" * 500, "additional_measurement_hints": []}),
    (("generated_at",), "2026-05-03T12:00:00Z"),
    (("generated_at",), "2026-05-03T14:00:00.5+02:00"),
]


def refusal(data: object) -> ContractError:
    with pytest.raises(ContractError) as refused:
        contract_from(data)
    return refused.value


@pytest.mark.parametrize(("path", "to", "where"), REFUSED)
def test_what_the_schema_does_not_allow_is_refused_in_one_line_that_names_the_place(
    path: tuple[str | int, ...], to: object, where: str
) -> None:
    refused = refusal(changed(*path, to=to))
    assert refused.where == where
    assert refused.problem
    assert "\n" not in str(refused)


@pytest.mark.parametrize(("path", "to"), TAKEN)
def test_what_the_schema_allows_is_taken(path: tuple[str | int, ...], to: object) -> None:
    contract_from(changed(*path, to=to))
    VALIDATOR.validate(json.loads(json.dumps(changed(*path, to=to))))


@pytest.mark.parametrize(("path", "to", "_where"), REFUSED)
def test_the_json_schema_refuses_what_the_models_refuse(
    path: tuple[str | int, ...], to: object, _where: str
) -> None:
    data = json.loads(json.dumps(changed(*path, to=to)))
    # To JSON Schema 2.0 is an integer, and a format a remark; to Python's regexes `$` is also before a line's end.
    if to != 2.0 and path != ("generated_at",) and not str(to).endswith("\n"):
        assert not VALIDATOR.is_valid(data)


def test_a_contract_comes_back_as_the_data_that_it_was_read_from() -> None:
    data = changed("override_ladder", to=LADDER)
    data["agent_amendments"] = {"additional_measurement_hints": ["count the samples"]}
    assert as_json(contract_from(data)) == data


def test_a_quantifier_may_be_missing_only_outside_reviewer_modes() -> None:
    data = changed(CONDITION, 0, "cross_reviewer_quantifier", to=GONE)
    assert "is required in mode reviewer_methodology_focus" in refusal(data).problem
    assert (
        contract_from({**data, "mode": "writer_full"}).failure_conditions[0].cross_reviewer_quantifier is None
    )


def _of_a_writer(mode: str) -> dict[str, Any]:
    """Return a contract without the fields of a review panel."""
    data = changed("mode", to=mode)
    for field in ("panel_size", PROCEDURE):
        del data[field]
    for one in data[CONDITION]:
        del one["cross_reviewer_quantifier"]
    return data


@pytest.mark.parametrize("mode", ["writer_full", "evaluator_full"])
def test_a_writer_s_or_evaluator_s_contract_has_no_field_of_a_review_panel(mode: str) -> None:
    data = _of_a_writer(mode)
    assert checked(data).mode == mode
    assert warnings(checked(data)) == ()
    VALIDATOR.validate(data)
    with_panel = {"panel_size": 2, PROCEDURE: SMALL[PROCEDURE]}
    for field, value in with_panel.items():
        with pytest.raises(ContractError) as refused:
            checked({**data, field: value})
        assert str(refused.value) == (
            f"{field}: is a field of review panels, and mode {mode} is none: remove it, or choose a mode that begins "
            "with reviewer_"
        )
        assert not VALIDATOR.is_valid({**data, field: value})
    quantified = json.loads(json.dumps(data))
    quantified[CONDITION][1]["cross_reviewer_quantifier"] = "any"
    with pytest.raises(ContractError) as refused:
        checked(quantified)
    assert refused.value.where == f"{CONDITION}[1].cross_reviewer_quantifier"
    assert not VALIDATOR.is_valid(quantified)
    with pytest.raises(ContractError, match=r"and 4 more: measurement_procedure, failure_conditions\[0\]"):
        checked(changed("mode", to=mode))
    assert contract_from(changed("mode", to=mode)).mode == mode, "older logs hold such contracts"


def test_a_review_panel_s_contract_keeps_all_its_fields_and_other_faults_are_told_as_before() -> None:
    assert checked(SMALL) == contract_from(SMALL)
    for value in (
        changed("mode", to="reviewer_quick"),
        changed("panel_size", to=GONE),
        [],
        None,
        {"mode": []},
    ):
        with pytest.raises(ContractError) as refused:
            checked(value)
        assert str(refused.value) == str(refusal(value))
    with pytest.raises(ContractError, match="needs an entry F0"):
        checked({**_of_a_writer("writer_full"), CONDITION: _of_a_writer("writer_full")[CONDITION][:1]})


@pytest.mark.parametrize(
    ("path", "to", "problem"),
    [
        ((DIMENSION, 2, "id"), "D1", "D1 is the id of entry 0 too"),
        ((DIMENSION, 1, "name"), "rigor", "rigor is the name of entry 0 too"),
        ((CONDITION, 1, "condition_id"), "F1", "F1 is the condition_id of entry 0 too"),
        ((CONDITION, 0, "condition_id"), "F0", "F0 is the condition_id of entry 0 too"),
    ],
)
def test_ids_and_names_are_unique(path: tuple[str | int, ...], to: object, problem: str) -> None:
    assert refusal(changed(*path, to=to)).problem == problem


def test_any_f0_that_accepts_will_do_wherever_it_stands() -> None:
    data = changed("stage", to="x")
    data[CONDITION].reverse()
    contract_from(data)


def test_more_faults_than_one_are_counted() -> None:
    assert str(refusal({**SMALL, "panel_size": 0, "stage": ""})).endswith("(and 1 more)")


@pytest.mark.parametrize(
    "data", [None, [], "full", 5, float("nan"), {1, 2}, {"stage": "\ud800"}, {"a\nb": 1}]
)
def test_what_is_no_contract_at_all_is_refused_in_one_line(data: object) -> None:
    assert "\n" not in str(refusal({**SMALL, **data} if isinstance(data, dict) else data))


def test_data_that_nests_without_end_is_refused() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert "\n" not in str(refusal({**SMALL, "stage": deep}))


words = st.text(max_size=8).filter(lambda text: not text.endswith("\n"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | words | st.sampled_from(("D1", "F0", "any", "all")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [
        *([path] if path else []),
        *(place for key, item in inner for place in places(item, (*path, key))),
    ]


@given(st.data())
def test_models_and_json_schema_agree_on_a_contract_with_anything_anywhere(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(places(dict(SMALL))))
    to = data.draw(st.just(GONE) | json_values)
    candidate = changed(*path, to=to)
    try:
        contract_from(candidate)
    except ContractError as refused:
        beyond = " too" in refused.problem  # that ids and names are unique is beyond JSON Schema
        assert beyond or not VALIDATOR.is_valid(candidate)
    else:
        VALIDATOR.validate(candidate)


@given(json_values)
def test_any_json_gives_a_contract_or_one_line(value: object) -> None:
    try:
        contract_from(value)
    except ContractError as refused:
        assert "\n" not in str(refused)


def test_a_contract_cannot_be_changed() -> None:
    contract = contract_from(SMALL)
    with pytest.raises(ValidationError):
        contract.panel_size = 3
    with pytest.raises(ValidationError):
        contract.acceptance_dimensions[0].priority = "normal"
    with pytest.raises(TypeError):
        contract.failure_conditions[0] = contract.failure_conditions[1]  # type: ignore[index]
    as_json(contract)["failure_conditions"].clear()
    assert as_json(contract) == SMALL


def test_preparing_sets_the_runtime_fields_and_nothing_else() -> None:
    contract = contract_from(changed("override_ladder", to=LADDER))
    ready = prepared(contract, NOON, Amendments(stage_specific_notes="a small field"))
    assert as_json(ready) == {
        **as_json(contract),
        "generated_at": "2026-05-03T12:00:00.000000Z",
        "agent_amendments": {"stage_specific_notes": "a small field"},
    }
    assert contract.generated_at is None
    again = prepared(ready, NOON)
    assert again == ready
    assert baseline_sha256(again) == baseline_sha256(ready) == baseline_sha256(contract)


def test_what_a_contract_notes_for_one_paper_goes_before_the_panel_unless_something_else_does() -> None:
    noted = {
        "stage_specific_notes": "mind the sample size",
        "additional_measurement_hints": ["count the controls"],
    }
    contract = contract_from({**SMALL, "agent_amendments": noted})
    assert as_json(prepared(contract, NOON))["agent_amendments"] == noted
    other = prepared(contract, NOON, Amendments(stage_specific_notes="a small field"))
    assert as_json(other)["agent_amendments"] == {"stage_specific_notes": "a small field"}
    assert baseline_sha256(other) == baseline_sha256(contract) == baseline_sha256(contract_from(SMALL))


BASELINE: list[tuple[tuple[str | int, ...], object]] = [
    (("contract_id",), "reviewer/other/v1"),
    (("mode",), "reviewer_guided"),
    (("stage",), "another"),
    (("baseline_version",), "v3.6.3"),
    (("panel_size",), 3),
    ((DIMENSION, 1, "description"), "It fits!"),
    ((PROCEDURE, "paraphrase_minimum_dimensions"), 2),
    ((CONDITION, 0, "severity"), 91),
    (("override_ladder",), LADDER),
]


@pytest.mark.parametrize(("path", "to"), BASELINE)
def test_the_hash_changes_with_every_baseline_field(path: tuple[str | int, ...], to: object) -> None:
    assert baseline_sha256(contract_from(changed(*path, to=to))) != baseline_sha256(contract_from(SMALL))


def test_the_hash_covers_every_field_that_may_not_be_set_at_run_time() -> None:
    covered = {path[0] for path, _ in BASELINE}
    assert covered == set(Contract.model_fields) - {"generated_at", "agent_amendments"}


def test_the_hash_is_that_of_sorted_json_and_does_not_depend_on_the_order_of_keys() -> None:
    text = json.dumps({**SMALL, "stage": "é"}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    ready = prepared(contract_from({**SMALL, "stage": "é"}), NOON, Amendments())
    assert baseline_sha256(ready) == hashlib.sha256(text.encode()).hexdigest()
    turned = dict(reversed(list(SMALL.items())))
    assert baseline_sha256(contract_from(turned)) == baseline_sha256(contract_from(SMALL))


@pytest.mark.parametrize(("mode", "roles"), ROLES.items())
def test_the_two_modes_with_a_template_are_eligible_at_their_exact_size(
    mode: str, roles: tuple[str, ...]
) -> None:
    for size in range(1, 7):
        contract = contract_from({**SMALL, "mode": mode, "panel_size": size})
        assert eligible(contract) == (size == len(roles))


@pytest.mark.rule("R-P6")
@pytest.mark.parametrize(
    "mode", ["reviewer_re_review", "reviewer_calibration", "reviewer_guided", "writer_full"]
)
def test_r_p6_a_mode_without_a_template_is_valid_and_not_eligible(mode: str) -> None:
    contract = contract_from({**SMALL, "mode": mode})
    assert not eligible(contract)
    assert "reviewer_full and reviewer_methodology_focus" in str(ineligibility(contract))
