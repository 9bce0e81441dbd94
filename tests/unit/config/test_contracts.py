"""Shipped contracts are what the spec says, ours free of warnings; a bad file is one line that says where."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.config.contracts import FOLDER, MOST_BYTES, SCHEMA, SHIPPED, load_contract
from moot.protocols.panel.contract import SCORES, ContractError, as_json, eligible
from moot.protocols.panel.contract_schema import schema_text
from moot.protocols.panel.contract_warnings import warnings
from moot.protocols.panel.synthesis import matrix_of, predicates, synthesize
from tests.doubles.panel_contracts import SMALL

FULL = {
    "id": "reviewer/reviewer_full/v1 reviewer_full reviewer_full_review 5",
    "dimensions": [
        ("D1", "methodology_rigor", "mandatory"),
        ("D2", "domain_accuracy", "mandatory"),
        ("D3", "argumentative_coherence", "mandatory"),
        ("D4", "cross_disciplinary_relevance", "high"),
        ("D5", "writing_and_structure", "normal"),
    ],
    "conditions": [
        ("F1", 90, "any", "any mandatory dimension scores 'block'", "reject_or_major_revision"),
        ("F2", 70, "majority", "two or more mandatory dimensions score 'warn' or worse", "major_revision"),
        ("F3", 60, "any", "any high-priority dimension scores 'block'", "major_revision"),
        ("F0", 10, "all", "every mandatory dimension scores 'pass'", "accept"),
    ],
}
FOCUS = {
    "id": "reviewer/reviewer_methodology_focus/v1 reviewer_methodology_focus reviewer_methodology_focus_review 2",
    "dimensions": [("D1", "methodology_rigor", "mandatory"), ("D2", "writing_and_structure", "normal")],
    "conditions": [
        ("F1", 90, "any", "D1 scores 'block'", "reject_or_major_revision"),
        ("F2", 70, "any", "D1 scores 'warn'", "major_revision"),
        ("F0", 10, "all", "D1 scores 'pass'", "accept"),
    ],
}
OURS = ("strategy", "architecture")


def complaint(path: str | Path) -> str:
    with pytest.raises(ContractError) as refused:
        load_contract(path)
    text = str(refused.value)
    assert "\n" not in text
    return text


def file(directory: Path, content: str | bytes) -> Path:
    path = directory / "contract.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(("name", "table"), [("full", FULL), ("methodology_focus", FOCUS)])
def test_the_shipped_templates_are_those_of_the_spec(name: str, table: dict[str, Any]) -> None:
    contract = load_contract(name)
    assert f"{contract.contract_id} {contract.mode} {contract.stage} {contract.panel_size}" == table["id"]
    assert contract.baseline_version == "v3.6.2"
    dimensions = [(one.id, one.name, one.priority) for one in contract.acceptance_dimensions]
    assert dimensions == table["dimensions"]
    assert [
        (
            one.condition_id,
            one.severity,
            one.cross_reviewer_quantifier,
            one.expression,
            one.action.removeprefix("editorial_decision="),
        )
        for one in contract.failure_conditions
    ] == table["conditions"]
    procedure = contract.measurement_procedure
    assert procedure.reviewer_must_output_before_paper == ("contract_paraphrase", "scoring_plan")
    assert procedure.paraphrase_minimum_dimensions == "all"
    assert contract.override_ladder is contract.agent_amendments is contract.generated_at is None


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_contract_can_be_run_and_is_free_of_warnings(name: str) -> None:
    contract = load_contract(name)
    assert warnings(contract, "v3.6.2") == ()
    assert eligible(contract)
    assert list(predicates(contract)) == [one.condition_id for one in contract.failure_conditions]
    assert contract.generated_at is None


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_file_obeys_the_json_schema_beside_it(name: str) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    data = json.loads(SHIPPED[name].read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(data)
    assert as_json(load_contract(name)) == data


def test_the_json_schema_is_the_one_that_the_models_write() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_text()


@pytest.mark.parametrize("name", ["full", "methodology_focus"])
def test_the_templates_for_papers_are_known_by_their_modes_too(name: str) -> None:
    contract = load_contract(name)
    assert load_contract(contract.mode) == contract


def test_every_contract_in_the_folder_has_a_name() -> None:
    assert sorted(SHIPPED.values()) == sorted(set(FOLDER.rglob("*.json")) - {SCHEMA})


@pytest.mark.rule("R-P6")
@pytest.mark.parametrize("name", OURS)
def test_r_p6_our_contracts_are_named_after_what_they_judge(name: str) -> None:
    assert load_contract(name).contract_id.startswith(f"{name}/")


@given(st.sampled_from(OURS), st.data())
def test_in_our_contracts_something_always_fires(name: str, data: st.DataObject) -> None:
    contract = load_contract(name)
    lean = data.draw(st.sampled_from((SCORES, ("pass",), ("pass", "pass", "pass", "warn"))))
    scores = {
        f"role_{n}": {one.id: data.draw(st.sampled_from(lean)) for one in contract.acceptance_dimensions}
        for n in range(contract.panel_size)
    }
    assert synthesize(contract, matrix_of(contract, scores)).fired_conditions


def test_loading_gives_equal_contracts_that_share_nothing_that_can_change() -> None:
    first, second = as_json(load_contract("full")), as_json(load_contract("full"))
    first["failure_conditions"].clear()
    assert second == as_json(load_contract("full"))


def test_a_path_is_loaded_and_a_name_is_not_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file(tmp_path, json.dumps(SMALL))
    assert as_json(load_contract(path)) == as_json(load_contract(str(path))) == SMALL
    (tmp_path / "full").write_text(json.dumps(SMALL))
    monkeypatch.chdir(tmp_path)
    assert load_contract("full").contract_id == "reviewer/reviewer_full/v1"
    assert (
        load_contract("./full").contract_id == load_contract(Path("full")).contract_id == SMALL["contract_id"]
    )


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    assert complaint("ful") == (
        "ful: there is no such file; the shipped contracts are full, methodology_focus, strategy, architecture"
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not JSON: Expecting value, line 1"),
        ('{\n"a": }', "is not JSON: Expecting value, line 2"),
        ("[]", "Input should be an object"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8: see byte 0"),
        (b'{"a": "\xe9"}', "is not UTF-8: see byte 7"),
        (b"\xef\xbb\xbf{}", "is not JSON: Unexpected UTF-8 BOM (decode using utf-8-sig), line 1"),
        (b"\x7fELF\x00\x01", "is not JSON: Expecting value, line 1"),
        ('{"stage": "a", "stage": "b"}', "has the key 'stage' twice in one object"),
        ('{"a": {"b": 1, "b": 1}}', "has the key 'b' twice in one object"),
        ('{"panel_size": NaN}', "is not JSON: NaN is no number of it"),
        ("[" * 200_000, "is not JSON that anybody needs: it nests too deep"),
        ('{"panel_size": ' + "9" * 5000 + "}", "is not JSON: Exceeds the limit"),
        (" " * (MOST_BYTES + 1), "is larger than 1,000,000 bytes: shorten it"),
        (json.dumps({**SMALL, "panel_size": 0}), "panel_size: Input should be greater than or equal to 1"),
        (json.dumps({**SMALL, "stage": "\ud800"}), "a text in it is not valid Unicode"),
    ],
)
def test_a_bad_file_is_told_in_one_line(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = file(tmp_path, content)
    assert complaint(path).startswith(f"{path}: {said}")


def test_a_directory_and_a_file_that_nobody_may_name_are_told(tmp_path: Path) -> None:
    assert complaint(tmp_path) == f"{tmp_path}: cannot be read: Is a directory"
    assert complaint("a\0b") == r"'a\x00b': cannot be read: embedded null byte"
    assert complaint("a\nb").startswith(r"'a\nb': there is no such file")


def test_an_endless_file_is_not_read_to_its_end() -> None:
    assert complaint(os.devnull.replace("null", "zero")).endswith(
        "is larger than 1,000,000 bytes: shorten it"
    )
