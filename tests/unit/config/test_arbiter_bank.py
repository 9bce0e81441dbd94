"""The shipped bank is whole; a user's folder adds to it and replaces, and every fault in it is one line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from moot.arbiter.schemas import validator
from moot.config.arbiter.bank import FOLDER, Bank, load_bank
from moot.config.arbiter.reading import Faulty

FILES = {
    "prompt_manifest": [FOLDER / "prompts" / "manifest.json"],
    "contract_manifest": [FOLDER / "contracts" / "manifest.json"],
    "contract_preset": [path for path in (FOLDER / "contracts").glob("*.json") if path.stem != "manifest"],
    "model_catalog": [FOLDER / "catalog.json"],
}


@pytest.fixture(scope="module")
def shipped() -> Bank:
    return load_bank()


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write(folder: Path, name: str, value: object) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def prompt(folder: Path, name: str, text: str, **changes: object) -> None:
    entry = {"id": name, "type": "participant_persona", "path": f"{name}.md", "sha256": sha(text), **changes}
    write(folder, f"prompts/{name}.md", text)
    write(folder, "prompts/manifest.json", {"schema_version": "1.0.0", "prompts": [entry]})


def contract(folder: Path, schema: dict[str, Any]) -> None:
    text = json.dumps({"id": "mine", "schema": schema, "embed_text_source": "decision"})
    write(folder, "contracts/mine.json", text)
    entry = {"id": "mine", "path": "mine.json", "sha256": sha(text)}
    write(folder, "contracts/manifest.json", {"schema_version": "1.0.0", "contracts": [entry]})


def complaints(folder: Path) -> tuple[str, ...]:
    with pytest.raises(Faulty) as refused:
        load_bank(folder)
    assert not any("\n" in line for line in refused.value.lines)
    return refused.value.lines


@pytest.mark.parametrize("schema", FILES)
def test_every_shipped_file_obeys_its_schema(schema: str) -> None:
    for path in FILES[schema]:
        validator(schema).validate(json.loads(path.read_text(encoding="utf-8")))


def test_every_shipped_prompt_stands_in_the_manifest(shipped: Bank) -> None:
    named = {one.entry.path for one in shipped.prompts.values()}
    assert named == {path.name for path in (FOLDER / "prompts").glob("*.md")}


def test_there_are_personas_templates_instruments_and_the_three_roles_of_a_debate(shipped: Bank) -> None:
    kinds = [one.entry.type for one in shipped.prompts.values()]
    assert min(map(kinds.count, ("participant_persona", "participant_protocol_template"))) >= 4
    assert "instrument_prompt" in kinds
    assert {"debate_v1_proposer", "debate_v1_critic", "debate_v1_proposer_final"} < shipped.prompts.keys()
    assert shipped.prompts["persona_none"].text == ""


@pytest.mark.parametrize(
    ("reply", "is_good"),
    [
        ({"decision": "yes", "rationale": "It pays."}, True),
        ({"decision": "no", "rationale": "x" * 500, "confidence": 1}, True),
        ({"decision": "no", "rationale": "x" * 501}, False),
        ({"decision": "maybe", "rationale": "It pays."}, False),
        ({"decision": "yes"}, False),
        ({"decision": "yes", "rationale": "It pays.", "confidence": 1.1}, False),
        ({"decision": "yes", "rationale": "It pays.", "mood": "good"}, False),
    ],
)
def test_the_shipped_contract_takes_yes_or_no_with_a_short_rationale(
    shipped: Bank, reply: dict[str, Any], is_good: bool
) -> None:
    found = shipped.contracts["binary_decision_v1"]
    assert (found.embed_text_source, found.rationale_max_chars) == ("rationale", 500)
    assert jsonschema.Draft202012Validator(found.schema_).is_valid(reply) is is_good


def test_the_catalog_names_each_model_once_and_its_free_ones_by_their_slug(shipped: Bank) -> None:
    slugs = [one.slug for one in shipped.catalog.models]
    assert len(set(slugs)) == len(slugs)
    assert {one.tier for one in shipped.catalog.models} == {"default", "extended", "free"}
    for one in shipped.catalog.models:
        assert (one.tier == "free") == one.slug.endswith(":free")
        assert one.provider == one.slug.partition("/")[0].removeprefix("~")


def test_a_folder_adds_and_replaces(shipped: Bank, tmp_path: Path) -> None:
    prompt(tmp_path, "persona_skeptic", "You doubt.\n")
    contract(tmp_path, {"properties": {"decision": {"enum": ["up", "down"]}}})
    catalog = shipped.catalog.as_json()
    catalog["models"] = [{**catalog["models"][0], "slug": "own/model"}]
    write(tmp_path, "catalog.json", {**catalog, "catalog_version": "2026-12-01"})
    found = load_bank(tmp_path)
    assert found.prompts.keys() == shipped.prompts.keys()
    assert found.prompts["persona_skeptic"].text == "You doubt.\n"
    assert found.contracts.keys() == {*shipped.contracts, "mine"}
    assert found.model("own/model") and found.model("openai/gpt-4o-mini")
    assert found.catalog.catalog_version == "2026-12-01"
    assert found.prompt_manifest_sha256 != shipped.prompt_manifest_sha256
    assert found.model_catalog_sha256 != shipped.model_catalog_sha256


def test_a_text_that_is_not_the_one_of_the_manifest_is_refused(tmp_path: Path) -> None:
    prompt(tmp_path, "persona_mine", "You doubt.\n")
    write(tmp_path, "prompts/persona_mine.md", "You agree.\n")
    (line,) = complaints(tmp_path)
    found = sha("You agree.\n")
    assert line.startswith(f"{tmp_path / 'prompts' / 'persona_mine.md'}: its SHA-256 is {found}, ")


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"path": "absent.md"}, "absent.md: there is no such file"),
        ({"path": "../secret.md"}, "../secret.md lies outside the folder: name a file in it"),
        ({"type": "persona"}, "prompts[0].type: "),
        ({"id": None}, "prompts[0].id: is needed"),
        ({"descripton": "x"}, "prompts[0].descripton: there is no such field: did you mean description?"),
    ],
)
def test_a_wrong_entry_of_a_manifest_is_one_line(
    tmp_path: Path, changes: dict[str, object], part: str
) -> None:
    prompt(tmp_path, "persona_mine", "You doubt.\n", **changes)
    (line,) = complaints(tmp_path)
    assert part in line


def test_all_wrong_files_are_told_at_once(tmp_path: Path) -> None:
    entry = {"id": "a", "type": "instrument_prompt", "path": "a.md", "sha256": sha("a")}
    write(
        tmp_path,
        "prompts/manifest.json",
        {"schema_version": "1.0.0", "prompts": [entry, {**entry, "id": "b", "path": "b.md"}]},
    )
    assert [line.rpartition("/")[2] for line in complaints(tmp_path)] == [
        "a.md: there is no such file",
        "b.md: there is no such file",
    ]


def test_a_name_that_stands_twice_is_refused(tmp_path: Path, shipped: Bank) -> None:
    prompt(tmp_path, "mine", "You doubt.\n")
    manifest = json.loads((tmp_path / "prompts" / "manifest.json").read_text(encoding="utf-8"))
    write(tmp_path, "prompts/manifest.json", {**manifest, "prompts": manifest["prompts"] * 2})
    (line,) = complaints(tmp_path)
    assert line.endswith("manifest.json: mine stands there twice: rename or remove one")
    (tmp_path / "prompts" / "manifest.json").unlink()
    catalog = shipped.catalog.as_json()
    write(tmp_path, "catalog.json", {**catalog, "models": catalog["models"][:1] * 2})
    (line,) = complaints(tmp_path)
    assert "catalog.json: anthropic/claude-haiku-4.5 stands there twice" in line


def test_a_contract_must_be_a_json_schema(tmp_path: Path) -> None:
    contract(tmp_path, {"properties": {"decision": {"type": "yes"}}})
    (line,) = complaints(tmp_path)
    assert "mine.json: schema.properties.decision.type: is no JSON Schema: 'yes'" in line


def test_a_folder_without_a_bank_is_refused(tmp_path: Path) -> None:
    assert "holds none of" in complaints(tmp_path)[0]
    assert complaints(tmp_path / "absent") == (f"{tmp_path / 'absent'}: there is no such folder",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON: "),
        ('{"models": [], "models": []}', "has the key 'models' twice in one object"),
        ("[NaN]", "is not JSON: NaN is no number of it"),
        ("[]", "give an object with named fields"),
    ],
)
def test_a_file_that_is_no_catalog_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    write(tmp_path, "catalog.json", text)
    (line,) = complaints(tmp_path)
    assert line.startswith(f"{tmp_path / 'catalog.json'}: {why}")
