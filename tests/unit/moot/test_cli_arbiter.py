"""`moot arbiter`: the file of a run is written, judged and resolved."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from moot.arbiter.schemas import validator
from moot.cli.arbiter.judging import ArbiterGroup, group
from moot.config.arbiter.templates import TEMPLATES
from moot.protocols.arbiter.hashes import config_sha256, plan_sha256
from tests.doubles.command_line import complaint, data, done, moot

WORK = "# Rain\n\nIt rained on 12 of 30 days.\n"

RESOLVED = {
    "config.resolved.json",
    "trial_plan.jsonl",
    "trials.jsonl",
    "parsed.jsonl",
    "convergence_trace.jsonl",
    "aggregates.json",
    "embeddings.provenance.json",
    "manifest.json",
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    done("arbiter", "init", "Is tea better than coffee?", "--out", path)
    return path


def change(path: Path, **models: Any) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    value["sampling"]["models"][0].update(models)
    path.write_text(json.dumps(value), encoding="utf-8")


def read(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    return [json.loads(text)] if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]


def test_init_writes_a_file_that_validates(tmp_path: Path, config: Path) -> None:
    found = data("arbiter", "validate", config)
    assert found["valid"] is True
    assert found["question"] == "Is tea better than coffee?"
    assert done("arbiter", "validate", "--config", config).startswith(f"{config} is valid: 20 trials ")


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_template_is_written_and_resolved(tmp_path: Path, template: str) -> None:
    path = tmp_path / "run.json"
    found = data("arbiter", "init", "--template", template, "--out", path)
    assert found["config"] == read(path)[0]
    data("arbiter", "resolve", path, "--out", tmp_path / "runs")


def test_init_replaces_a_file_only_when_told_to(config: Path) -> None:
    before = config.read_text(encoding="utf-8")
    assert "--force replaces it" in complaint(1, "arbiter", "init", "Why?", "--out", config)
    assert config.read_text(encoding="utf-8") == before
    done("arbiter", "init", "Why?", "--out", config, "--force")
    assert read(config)[0]["question"]["text"] == "Why?"


def test_init_refuses_a_question_that_nobody_could_read(tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    assert "is empty" in complaint(1, "arbiter", "init", " ", "--out", out)
    assert "cannot be printed" in complaint(1, "arbiter", "init", "a\udcffb", "--out", out)
    assert "is a folder" in complaint(1, "arbiter", "init", "--out", tmp_path)
    assert not out.exists()


def test_a_work_of_many_lines_comes_from_a_file_or_standard_input(tmp_path: Path) -> None:
    out, paper = tmp_path / "run.json", tmp_path / "paper.md"
    paper.write_text(WORK, encoding="utf-8")
    panel = ("arbiter", "init", "--template", "moot:panel", "--out", out, "--force", "--work")
    told = done(*panel, paper, "--title", "Rain in Ulm", "--field", "weather")
    assert told.startswith(f"{out} asks: # Rain It rained on 12 of 30 days.\n")
    found = read(out)[0]
    assert found["question"]["text"] == WORK
    assert found["protocol"]["panel"] == {"contract": "full", "title": "Rain in Ulm", "field": "weather"}
    assert moot(*panel, "-", "--json", stdin=f"{WORK}More.").exit_code == 0
    assert read(out)[0]["question"]["text"] == f"{WORK}More."
    assert read(out)[0]["protocol"]["panel"] == {"contract": "full"}
    assert done("arbiter", "validate", out).startswith(f"{out} is valid: 20 trials (moot:panel)")


@pytest.mark.parametrize(
    ("code", "given", "why"),
    [
        (1, ("Why?", "--work", "paper.md"), "QUESTION and --work give a text each: choose one of them"),
        (1, ("--title", "T"), "--title goes with --template moot:panel"),
        (1, ("--template", "moot:panel", "--field", "a\nb"), "the field holds what cannot be printed"),
        (2, ("--work", "paper.md"), "paper.md: No such file or directory"),
        (2, ("--work", "-"), "standard input: is empty"),
    ],
)
def test_a_work_that_is_none_is_refused(
    tmp_path: Path, code: int, given: tuple[str, ...], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert why in complaint(code, "arbiter", "init", *given)
    assert not [*tmp_path.iterdir()]


def test_each_fault_is_a_line_and_exit_code_1(config: Path) -> None:
    change(config, weight=-1, modle="x")
    result = moot("arbiter", "validate", config)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"moot arbiter validate: {config}: sampling.models[0].weight: choose at least 0, not -1",
        f"moot arbiter validate: {config}: sampling.models[0].modle: there is no such field: did you mean model?",
    ]
    told = json.loads(moot("arbiter", "validate", config, "--json").stdout)
    assert (told["valid"], len(told["faults"])) == (False, 2)


def test_a_missing_file_names_the_command_that_writes_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "moot arbiter init writes one" in complaint(1, "arbiter", "validate")
    done("arbiter", "init")
    assert done("arbiter", "validate").startswith("arbiter.config.json is valid")


def test_a_file_is_named_once(config: Path) -> None:
    assert "choose one of them" in complaint(1, "arbiter", "validate", config, "--config", config)


def test_strict_and_permissive_exclude_each_other(config: Path) -> None:
    assert "choose one of them" in complaint(1, "arbiter", "validate", config, "--strict", "--permissive")


def test_strict_refuses_a_free_model_before_anything_is_written(tmp_path: Path, config: Path) -> None:
    change(config, model="google/gemma-4-31b-it:free")
    runs = tmp_path / "runs"
    assert "which --strict refuses" in complaint(1, "arbiter", "resolve", config, "--strict", "--out", runs)
    assert not runs.exists()
    found = data("arbiter", "resolve", config, "--strict", "--allow-free", "--out", runs)
    assert found["policy"]["allow_free"] is True
    assert "is free" in found["warnings"][0]
    assert "is free" in moot("arbiter", "validate", config).stderr


def test_resolve_writes_files_that_obey_their_schemas(tmp_path: Path, config: Path) -> None:
    found = data("arbiter", "resolve", config, "--out", tmp_path / "runs")
    directory = Path(found["path"])
    assert directory == tmp_path / "runs" / found["run_id"]
    assert re.fullmatch(r"\d{8}T\d{6}Z_[0-9a-f]{6}", found["run_id"])
    assert {path.name for path in directory.iterdir()} == RESOLVED == set(found["artifacts"])
    for path in directory.iterdir():
        values = read(path)
        if path.stem in {"trials", "parsed", "convergence_trace"}:
            assert values == []
            continue
        for value in values:
            validator(path.stem).validate(value)


def test_whoever_sorts_keys_and_leaves_out_blanks_gets_the_manifests_hashes(
    tmp_path: Path, config: Path
) -> None:
    def sha256(value: Any) -> str:
        plain = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(plain.encode()).hexdigest()

    directory = Path(data("arbiter", "resolve", config, "--out", tmp_path)["path"])
    (manifest,) = read(directory / "manifest.json")
    (resolved,) = read(directory / "config.resolved.json")
    del resolved["run"]["run_id"]
    assert manifest["config_sha256"] == sha256(resolved)
    assert manifest["plan_sha256"] == sha256(read(directory / "trial_plan.jsonl"))


def test_the_manifest_says_what_the_files_say(tmp_path: Path, config: Path) -> None:
    found = data("arbiter", "resolve", config, "--out", tmp_path, "--contract-failure", "fail")
    directory = Path(found["path"])
    (manifest,) = read(directory / "manifest.json")
    (resolved,) = read(directory / "config.resolved.json")
    plan = read(directory / "trial_plan.jsonl")
    assert resolved["run"]["run_id"] == manifest["run_id"] == found["run_id"]
    assert manifest["config_sha256"] == config_sha256(resolved)
    assert manifest["plan_sha256"] == plan_sha256(plan)
    assert [one["trial_id"] for one in plan] == list(range(manifest["k_planned"]))
    assert (manifest["stopping_mode"], manifest["incomplete"], manifest["k_attempted"]) == (
        "resolve_only",
        False,
        0,
    )
    assert manifest["policy"]["contract_failure_policy"] == "fail"


def test_equal_files_give_equal_hashes_and_folders_of_their_own(tmp_path: Path, config: Path) -> None:
    one, other = (data("arbiter", "resolve", config, "--out", tmp_path) for _ in range(2))
    assert one["run_id"] != other["run_id"]
    assert {name: one[name] for name in one if name.endswith("sha256")} == {
        name: other[name] for name in other if name.endswith("sha256")
    }


def test_without_out_the_folder_of_the_file_is_taken(
    tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    value = read(config)[0]
    value["output"]["runs_dir"] = "elsewhere"
    config.write_text(json.dumps(value), encoding="utf-8")
    assert done("arbiter", "resolve", config).startswith("elsewhere/")
    assert "cannot be written" in complaint(1, "arbiter", "resolve", config, "--out", config)


@pytest.mark.parametrize("template", ["debate", "moot:panel"])
def test_what_resolve_wrote_is_taken_by_every_command(tmp_path: Path, template: str) -> None:
    config = tmp_path / "a.json"
    done("arbiter", "init", "--template", template, "--out", config)
    first = data("arbiter", "resolve", config, "--out", tmp_path)
    written = Path(first["path"]) / "config.resolved.json"
    again = data("arbiter", "resolve", written, "--out", tmp_path)
    assert (again["config_sha256"], again["plan_sha256"]) == (first["config_sha256"], first["plan_sha256"])
    assert again["run_id"] != first["run_id"]
    assert data("arbiter", "validate", written)["valid"] is True
    ran = data("arbiter", "mock-run", written, "--max-trials", "2", "--out", tmp_path)
    assert done("arbiter", "verify", Path(ran["path"])).endswith("every check holds\n")


def test_a_bank_of_ones_own_is_used(tmp_path: Path, config: Path) -> None:
    bank = tmp_path / "bank"
    bank.mkdir()
    assert "holds none of" in complaint(1, "arbiter", "validate", config, "--bank", bank)
    change(config, model="own/model")
    assert "is not in the catalog" in moot("arbiter", "validate", config).stderr
    entry = {
        "slug": "own/model",
        "display_name": "Own",
        "provider": "own",
        "context_window": None,
        "is_aliased": True,
        "tier": "default",
    }
    catalog = {"schema_version": "1.0.0", "catalog_version": "2026.12.01", "models": [entry]}
    (bank / "catalog.json").write_text(json.dumps(catalog), encoding="utf-8")
    found = data("arbiter", "validate", config, "--bank", bank)
    assert found["model_catalog_version"] == "2026.12.01"
    assert ["is an alias" in line for line in found["warnings"]] == [True]


def test_help_lists_every_command_once_in_the_order_in_which_one_meets_them() -> None:
    listed = [name for names in ArbiterGroup.panels.values() for name in names]
    assert sorted(listed) == sorted(one.name or "" for one in group.registered_commands)
    told = done("arbiter", "--help")
    assert [*listed] == sorted(listed, key=lambda name: told.index(f"\n  {name} "))
