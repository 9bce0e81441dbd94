"""The file of a run: every fault in it is a line of its own, and resolving leaves nothing open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.config.arbiter.bank import Bank, load_bank
from moot.config.arbiter.configuring import load_configuration, read_configuration, resolve
from moot.config.arbiter.reading import Faulty
from moot.config.arbiter.templates import FOLDER, TEMPLATES, from_template
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.arbiter.hashes import sha256_of_text
from moot.protocols.arbiter.policy import warnings

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def bank() -> Bank:
    return load_bank()


def small() -> dict[str, Any]:
    return from_template("quickstart").as_json()


def load(folder: Path, value: object, bank: Bank | None = None) -> ResolvedConfiguration:
    path = folder / "run.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return resolve(load_configuration(path), bank or load_bank(), "pending", "run.json")


def complaints(folder: Path, value: object) -> list[str]:
    with pytest.raises(Faulty) as refused:
        load(folder, value)
    assert not any("\n" in line for line in refused.value.lines)
    return [line.partition("run.json: ")[2] for line in refused.value.lines]


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_can_be_run_and_only_free_models_are_odd(name: str, bank: Bank) -> None:
    config = resolve(from_template(name), bank, "id", name)
    odd = warnings(config, {one.slug: one for one in bank.catalog.models})
    assert all("is free" in line for line in odd)
    assert bool(odd) is (name == "free")
    assert {f"{one.replace(':', '_')}.json" for one in TEMPLATES} == {path.name for path in FOLDER.iterdir()}


def test_a_template_takes_a_question() -> None:
    assert from_template("debate", "Why?").question.text == "Why?"


def test_what_is_known_of_a_templates_work_goes_with_it() -> None:
    (own, others) = (
        from_template("moot:panel", work).protocol.panel for work in ("", "# Rain\n\nIt rained.")
    )
    assert own is not None and own.title is not None and own.field is not None
    assert others is not None and (others.title, others.field) == (None, None)
    named = from_template("moot:panel", "It rained.", title="Rain").protocol.panel
    assert named is not None and (named.contract, named.title, named.field) == ("full", "Rain", None)


def test_what_is_left_open_is_filled_in_each_by_itself(tmp_path: Path, bank: Bank) -> None:
    value = small()
    value["protocol"]["timeouts"] = {"per_call_max_retries": 0}
    value["execution"]["stop_policy"] = {"patience": 7}
    value["execution"]["retry_policy"] = {"max_retries": 3}
    del value["measurement"]["embedding_max_chars"]
    found = load(tmp_path, value, bank)
    assert found.protocol.timeouts.as_json() == {
        "per_call_timeout_ms": 90_000,
        "per_call_max_retries": 0,
        "total_trial_timeout_ms": 300_000,
    }
    assert found.execution.stop_policy.as_json() == {
        "novelty_epsilon": 0.05,
        "similarity_threshold": 0.95,
        "patience": 7,
    }
    assert found.execution.retry_policy.as_json() == {"max_retries": 3, "backoff_ms": 0}
    assert found.measurement.embedding_max_chars == 8000


def test_prompts_and_contract_stand_in_it_by_text_and_hash(tmp_path: Path, bank: Bank) -> None:
    value = small()
    value["sampling"]["personas"] = [{"persona": "persona_skeptic", "weight": 1}]
    value["sampling"]["instruments"] = [{"instrument": "instrument_uncertainty"}]
    found = load(tmp_path, value, bank)
    assert found.sampling.instruments is not None
    for one in (*found.sampling.personas, *found.sampling.protocols, *found.sampling.instruments):
        assert one.text.strip()
        assert one.sha256 == sha256_of_text(one.text)
    assert found.protocol.decision_contract == bank.contracts["binary_decision_v1"]
    assert found.protocol.prompts is None


def test_a_debate_has_the_words_of_its_three_roles(bank: Bank) -> None:
    prompts = resolve(from_template("debate"), bank, "id", "x").protocol.prompts
    assert prompts is not None
    assert (
        len({prompts.proposer_system.text, prompts.critic_system.text, prompts.proposer_final_system.text})
        == 3
    )
    for one in (prompts.proposer_system, prompts.critic_system, prompts.proposer_final_system):
        assert (one.sha256, one.text) == (sha256_of_text(one.text), bank.prompts[one.id].text)


def test_words_of_its_own_are_a_prompt_too(tmp_path: Path, bank: Bank) -> None:
    value = small()
    value["sampling"]["personas"] = [{"persona": "mine", "weight": 1, "text": "You are me."}]
    (one,) = load(tmp_path, value, bank).sampling.personas
    assert (one.text, one.sha256) == ("You are me.", sha256_of_text("You are me."))


def test_a_resolved_configuration_resolves_to_itself(tmp_path: Path, bank: Bank) -> None:
    value = small()
    once = load(tmp_path, value, bank).as_json()
    value["sampling"] = once["sampling"]
    assert load(tmp_path, value, bank).as_json() == once


def test_a_model_that_the_catalog_does_not_know_is_marked(tmp_path: Path, bank: Bank) -> None:
    value = small()
    value["sampling"]["models"].append({"model": "own/model", "weight": 0, "catalog_status": "known"})
    found = [one.catalog_status for one in load(tmp_path, value, bank).sampling.models]
    assert found == ["known", "unknown_to_catalog"]


def sampling(**changes: object) -> Change:
    return lambda value: value["sampling"].update(changes)


FAULTS: list[tuple[Change, str]] = [
    (lambda value: value["run"].update(seed=True), "run.seed: give a whole number, not True"),
    (lambda value: value["run"].update(seed=""), "run.seed: is empty: write something"),
    (lambda value: value["run"].pop("seed"), "run.seed: is needed"),
    (
        lambda value: value["question"].update(txt="?"),
        "question.txt: there is no such field: did you mean text?",
    ),
    (lambda value: value.update(description=None), "description: is null: leave it out, or give it a value"),
    (lambda value: value.update(_readme=None), "_readme: is null: leave it out, or give it a value"),
    (sampling(decode={"top_p": None}), "sampling.decode.top_p: is null: leave it out, or give it a value"),
    (lambda value: value["question"].update(text=None), "question.text: is needed"),
    (
        lambda value: value["execution"].update(k_max=100_001),
        "execution.k_max: 100,001 trials, 100,000 are the most: lower it",
    ),
    (sampling(models=[]), "sampling.models: is empty: give at least 1 item"),
    (sampling(models=[{"model": "", "weight": 1}]), "sampling.models[0].model: is empty: write something"),
    (
        sampling(models=[{"model": "a/b", "weight": 0}]),
        "sampling.models: the weights add up to 0: give one of them a weight above 0",
    ),
    (sampling(decode={"temperature": "hot"}), "sampling.decode.temperature: give a number, not 'hot'"),
    (
        sampling(decode={"top_p": {"min": 0, "max": 1, "mx": 1}}),
        "sampling.decode.top_p.mx: there is no such field",
    ),
    (
        sampling(decode={"top_p": {"min": 1, "max": 0.5}}),
        "sampling.decode.top_p: min, 1.0, is above max, 0.5: exchange them",
    ),
    (
        sampling(decode={"max_tokens": {"min": 1, "max": 10**400}}),
        "sampling.decode.max_tokens: min and max lie between -2^53 and 2^53: bring them nearer",
    ),
    (
        sampling(personas=[{"persona": "persona_sceptic", "weight": 1}]),
        "sampling.personas[0]: there is no persona_sceptic in the bank: did you mean persona_skeptic?",
    ),
    (
        sampling(personas=[{"persona": "protocol_direct", "weight": 1}]),
        "sampling.personas[0]: protocol_direct is a participant_protocol_template, not a participant_persona",
    ),
    (
        sampling(personas=[{"persona": "mine", "weight": 1, "text": "I", "sha256": "0" * 64}]),
        "sampling.personas[0].sha256: the text of mine has ",
    ),
    (
        sampling(personas=[{"persona": "persona_none", "weight": 1, "text": "You are."}]),
        "sampling.personas[0].text: is not the bank's text of persona_none: leave it out, or rename it",
    ),
    (
        lambda value: value["protocol"].update(decision_contract={"id": "unary"}),
        "protocol.decision_contract.id: there is no unary in the bank: ",
    ),
]


@pytest.mark.parametrize(("change", "said"), FAULTS)
def test_a_fault_is_one_line_that_says_where_and_what_to_do(
    tmp_path: Path, change: Change, said: str
) -> None:
    value = small()
    change(value)
    (line,) = complaints(tmp_path, value)
    assert line.startswith(said)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    value = small()
    value["run"]["seed"] = -1
    value["execution"]["workers"] = 0
    value["measurement"]["clustering"]["tau"] = 2
    assert [line.partition(":")[0] for line in complaints(tmp_path, value)] == [
        "run.seed",
        "execution.workers",
        "measurement.clustering.tau",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON: Expecting value, line 1"),
        ("[]", "give an object with named fields"),
        ('{"run": {}, "run": {}}', "has the key 'run' twice in one object"),
        ('{"description": "\\ud800"}', "is not JSON: "),
    ],
)
def test_a_file_that_is_no_configuration_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    (line,) = complaints(tmp_path, text)
    assert line.startswith(said)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(Faulty, match=r"absent\.json: there is no such file$"):
        load_configuration(tmp_path / "absent.json")


def again(folder: Path, config: object) -> ResolvedConfiguration:
    """Resolve a file that is resolved already."""
    path = folder / "config.resolved.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    asked, whole = read_configuration(path)
    return resolve(asked, load_bank(), "later", path.name, whole=whole)


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_is_resolved_can_be_resolved_again_and_stays_the_same(
    name: str, bank: Bank, tmp_path: Path
) -> None:
    whole = resolve(from_template(name), bank, "first", name).as_json()
    found = again(tmp_path, whole).as_json()
    assert found["run"].pop("run_id") == "later"
    del whole["run"]["run_id"]
    assert found == whole


def test_what_a_resolved_file_holds_whole_is_taken_where_the_bank_has_not_that(
    bank: Bank, tmp_path: Path
) -> None:
    whole = resolve(from_template("debate"), bank, "first", "debate").as_json()
    whole["protocol"]["decision_contract"] = bank.contracts["binary_decision_v1"].as_json() | {
        "id": "mine_v1"
    }
    prompt = {"id": "my_critic", "sha256": sha256_of_text("Attack."), "text": "Attack."}
    whole["protocol"]["prompts"]["critic_system"] = prompt
    found = again(tmp_path, whole).as_json()["protocol"]
    assert found["decision_contract"]["id"] == "mine_v1"
    assert found["prompts"]["critic_system"] == prompt


@pytest.mark.parametrize(
    ("part", "field", "told"),
    [
        (
            "decision_contract",
            "embed_text_source",
            "decision_contract.embed_text_source: is not the bank's of",
        ),
        (
            "decision_contract",
            "schema",
            "decision_contract.schema: is not the bank's of binary_decision_v1: name",
        ),
        ("prompts", "text", "prompts.critic_system.sha256: the text of debate_v1_critic has"),
    ],
)
def test_a_resolved_file_that_was_changed_under_a_name_of_the_bank_is_refused(
    part: str, field: str, told: str, bank: Bank, tmp_path: Path
) -> None:
    whole = resolve(from_template("debate"), bank, "first", "debate").as_json()
    whole["protocol"]["decision_contract"] = bank.contracts["binary_decision_v1"].as_json()
    changed = whole["protocol"][part]
    changed = changed["critic_system"] if part == "prompts" else changed
    changed[field] = {"schema": {}, "embed_text_source": "decision", "text": "Attack."}[field]
    with pytest.raises(Faulty) as refused:
        again(tmp_path, whole)
    assert f"config.resolved.json: protocol.{told}" in refused.value.lines[0]


def test_faults_of_a_resolved_file_are_told_as_those_of_any(bank: Bank, tmp_path: Path) -> None:
    whole = resolve(from_template("debate"), bank, "first", "debate").as_json()
    whole["execution"]["k_max"] = 0
    whole["surplus"] = 1
    with pytest.raises(Faulty) as refused:
        again(tmp_path, whole)
    assert len(refused.value.lines) == 2
    assert not any("prompts" in line for line in refused.value.lines)
