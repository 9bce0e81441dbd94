"""`moot arbiter verify` and runs of another program: what keeps the specification is valid, a change is found."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from moot.arbiter.verify import Report, verify_run
from tests.doubles.arbiter_foreign import Foreign, js, runs, tampered, write
from tests.doubles.command_line import data, moot

RUNS: Final = runs()
Change = Callable[[Any], None]


def written(run: Foreign | str, folder: Path) -> Path:
    write(RUNS[run] if isinstance(run, str) else run, folder / "run")
    return folder / "run"


def failures(report: Report) -> list[str]:
    return [str(one) for check in report.checks for one in check.findings if one.level == "FAIL"]


def notes(report: Report) -> str:
    return "\n".join(str(one) for check in report.checks for one in check.findings if one.level == "WARN")


@pytest.mark.rule("R-G6")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_of_another_program_that_keeps_the_specification_is_valid(name: str, tmp_path: Path) -> None:
    report = verify_run(written(name, tmp_path))
    assert failures(report) == []
    assert report.ok


@pytest.mark.rule("R-G6")
def test_the_command_tells_the_differences_as_warnings_and_exits_with_0(tmp_path: Path) -> None:
    result = moot("arbiter", "verify", written("independent-contract-nulls", tmp_path))
    assert result.exit_code == 0, result.stdout
    assert "every check holds, " in result.stdout.splitlines()[-1]


def _set(*path: str | int, to: Any) -> Change:
    def change(value: Any) -> None:
        for name in path[:-1]:
            value = value[name]
        assert value.get(path[-1]) != to, "is that already"
        value[path[-1]] = to

    return change


CHANGES: Final[dict[str, tuple[str, Change, int]]] = {
    "another outcome": ("parsed.jsonl", _set("outcome", to="perhaps"), 0),
    "another embedded text": ("parsed.jsonl", _set("embed_text", to="perhaps"), 0),
    "no outcome": ("parsed.jsonl", _set("outcome", to=None), 0),
    "no embedded text": ("parsed.jsonl", _set("embed_text", to=None), 0),
    "a confidence that nobody told": ("parsed.jsonl", _set("confidence", to=0.123), 1),
    "another text in the copy": ("parsed.jsonl", _set("raw_assistant_text", to="Yes, always."), 0),
    "another status of the text": ("parsed.jsonl", _set("parse_status", to="failed"), 0),
    "another final text": ("trials.jsonl", _set("raw_assistant_text", to="Never."), 0),
    "another model asked": ("trials.jsonl", _set("requested_model_slug", to="c/three"), 0),
    "a status that the error belies": ("trials.jsonl", _set("error", to={"message": "no"}), 0),
    "another persona": ("trials.jsonl", _set("assigned_config", "persona", to="p9"), 0),
    "another plan": ("trial_plan.jsonl", _set("assigned_config", "model", to="b/three"), 0),
    "another seed": ("config.resolved.json", _set("run", "seed", to=424243), 0),
    "another question": ("config.resolved.json", _set("question", "text", to="Is it so?"), 0),
    "another prompt": (
        "config.resolved.json",
        lambda value: value["sampling"]["personas"][0].update(text="You lie."),
        0,
    ),
    "another limit": ("config.resolved.json", _set("measurement", "novelty_threshold", to=0.5), 0),
    "another hash": ("manifest.json", _set("config_sha256", to="1" * 64), 0),
    "another hash of the plan": ("manifest.json", _set("plan_sha256", to="1" * 64), 0),
    "more trials": ("manifest.json", _set("k_attempted", to=99), 0),
    "more embeddings": ("manifest.json", _set("k_eligible", to=99), 0),
    "another end": ("manifest.json", _set("stop_reason", to="converged"), 0),
    "another novelty": ("convergence_trace.jsonl", _set("novelty_rate", to=0.321), 0),
    "another mean": ("aggregates.json", _set("mean_max_sim_to_prior", to=0.321), 0),
    "one more embedding": (
        "embeddings.provenance.json",
        lambda value: value["counts"].update(successful_embeddings=99),
        0,
    ),
}


@pytest.mark.rule("R-G6")
@pytest.mark.parametrize(
    "name", [name for name in RUNS if name not in ("independent-blank", "independent-ambiguous")]
)
def test_a_change_to_such_a_run_is_found(name: str, tmp_path: Path) -> None:
    for what, (file, change, line) in CHANGES.items():
        folder = written(name, tmp_path / what.replace(" ", "_"))
        tampered(folder, file, change, line)
        assert failures(verify_run(folder)), what


@pytest.mark.parametrize(
    "name", ["debate", "debate-nulls", "debate-contract", "debate-contract-nulls", "debate-mock"]
)
def test_a_change_to_a_turn_of_a_debate_is_found(name: str, tmp_path: Path) -> None:
    for n, change in enumerate(
        (
            lambda value: value["transcript"][1].update(content="Nobody pays."),
            lambda value: value["transcript"][2].update(content="Close it."),
            lambda value: value["transcript"][0].update(role="critic"),
            lambda value: value["calls"].pop(),
            lambda value: value["calls"][1].update(model_requested="c/three"),
            lambda value: value["role_assignments"]["critic"].update(persona_id="p9"),
        )
    ):
        folder = written(name, tmp_path / str(n))
        tampered(folder, "trials.jsonl", change)
        assert failures(verify_run(folder)), n


def test_a_change_to_what_was_asked_or_answered_is_found(tmp_path: Path) -> None:
    for n, change in enumerate(
        (
            lambda value: value["request_payload"]["messages"][0].update(content="You lie."),
            lambda value: value["request_payload"]["messages"][1].update(content="Is it so?"),
            lambda value: value["request_payload"]["messages"].pop(),
            lambda value: value["response_payload"]["choices"][0]["message"].update(content="Perhaps."),
            lambda value: value["response_payload"].update(model="c/three"),
            lambda value: value["usage"].update(prompt_tokens=1),
        )
    ):
        for name in ("independent", "independent-nulls", "independent-contract"):
            folder = written(name, tmp_path / f"{name}{n}")
            tampered(folder, "trials.jsonl", change)
            assert failures(verify_run(folder)), (name, n)


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("independent", "manifest.json: config_sha256: covers the run_id, as other programs do (R-S7)"),
        ("independent-quiet", "stop.stop_reason: is there though the run goes on, which no row says by R-S6"),
        (
            "independent-blank",
            "js_divergence: is 0 where no answer was assigned before, which is null by R-S3",
        ),
        ("independent-blank", "parse_status: is success for a blank text, which is failed by R-S5"),
        ("independent-ambiguous", "takes the first of several decisions, where R-G9 takes none"),
        ("independent-cut", "is cut within a surrogate pair, which Moot never splits"),
        ("independent-cut", "parsed.jsonl:2: holds half of a surrogate pair, read as U+FFFD"),
        ("debate", "has a raw text without the blanks around it"),
        ("independent-contract", "asks for the form of binary_v9 in other words than Moot"),
        ("independent-decision", "embeds answers that policy exclude leaves out"),
        (
            "independent-bare",
            "trials.jsonl:1: error_code: is missing, though Moot writes it, as in 4 more lines",
        ),
    ],
)
def test_what_the_rulings_changed_is_a_note(name: str, note: str, tmp_path: Path) -> None:
    assert note in notes(verify_run(written(name, tmp_path)))


def test_a_blank_text_may_be_a_fallback_as_before_r_s5(tmp_path: Path) -> None:
    run = RUNS["debate"]._replace(texts=("   ", '{"decision": "open"}'))
    folder = written(run, tmp_path)

    def older(value: Any) -> None:
        value.update(parse_status="fallback", outcome="")
        value.pop("parse_error", None)

    tampered(folder, "parsed.jsonl", older)
    report = verify_run(folder)
    assert failures(report) == []
    assert "is fallback for a blank text, which is failed by R-S5" in notes(report)


def test_a_text_that_is_cut_is_not_trimmed_again(tmp_path: Path) -> None:
    """Cut to four, `ab` and two blanks are left; the blanks count."""
    run = RUNS["independent-cut"]._replace(texts=("ab  cd", "ab"))
    folder = written(run, tmp_path)
    assert json.loads((folder / "parsed.jsonl").read_text().split("\n")[0])["embed_text"] == "ab  "
    assert failures(verify_run(folder)) == []
    tampered(folder, "parsed.jsonl", _set("embed_text", to="ab"))
    assert failures(verify_run(folder))


def test_half_of_a_pair_that_no_cut_left_is_found(tmp_path: Path) -> None:
    folder = written("independent-cut", tmp_path)
    tampered(folder, "parsed.jsonl", _set("embed_text", to="ab\ud83d"), 3)
    assert failures(verify_run(folder))


def test_a_total_of_tokens_that_is_not_told_is_their_sum(tmp_path: Path) -> None:
    for name in ("independent", "debate"):
        folder = written(name, tmp_path / name)
        tampered(
            folder,
            "trials.jsonl",
            lambda value: (value.get("usage") or value["calls"][0]["usage"]).pop("total_tokens"),
        )
        assert failures(verify_run(folder)) == []
        tampered(
            folder,
            "trials.jsonl",
            lambda value: (value.get("usage") or value["calls"][0]["usage"]).update(total_tokens=1),
        )
        assert failures(verify_run(folder))


def test_a_mean_may_be_rounded_otherwise_but_is_no_other(tmp_path: Path) -> None:
    run = RUNS["independent"]._replace(
        changes={"clustering": {"centroid_update_rule": "incremental_mean", "tau": 0.1}}
    )
    folder = written(run, tmp_path)
    file = "clusters/online.state.json"

    def moved(by: float) -> Change:
        def change(value: Any) -> None:
            cluster = max(value["clusters"], key=lambda one: one["member_count"])
            numbers = list(struct.unpack("<3f", base64.b64decode(cluster["centroid_vector_b64"])))
            numbers[0] *= 1 + by
            cluster["centroid_vector_b64"] = base64.b64encode(struct.pack("<3f", *numbers)).decode()

        return change

    state = json.loads((folder / file).read_text())
    assert max(one["member_count"] for one in state["clusters"]) > 1
    tampered(folder, file, moved(2e-7))
    report = verify_run(folder)
    assert failures(report) == [] and "differs by rounding" in notes(report)
    tampered(folder, file, moved(1e-4))
    assert failures(verify_run(folder))


def test_keys_may_be_sorted_as_a_locale_sorts_them(tmp_path: Path) -> None:
    """In `maxLength` and `maximum` case decides only by code points."""
    from tests.doubles.arbiter_configs import sha256

    contract = {**RUNS["independent-contract"].contract, "schema": {"maxLength": 9, "maximum": 2, "$id": "x"}}
    folder = written(RUNS["independent"]._replace(contract=contract), tmp_path)
    config = json.loads((folder / "config.resolved.json").read_text())
    text = js(sorted_deep(config, lambda name: (name.lower(), name.swapcase())))
    value = json.loads((folder / "manifest.json").read_text())
    assert sha256(text) != value["config_sha256"]
    value["config_sha256"] = value["provenance"]["config_sha256"] = sha256(text)
    (folder / "manifest.json").write_text(js(value))
    assert not [one for one in failures(verify_run(folder)) if "config_sha256" in one]


def sorted_deep(value: Any, key: Callable[[str], Any]) -> Any:
    if isinstance(value, dict):
        return {name: sorted_deep(value[name], key) for name in sorted(value, key=key)}
    return [sorted_deep(one, key) for one in value] if isinstance(value, list) else value


def test_what_no_program_may_leave_out_is_missed(tmp_path: Path) -> None:
    for file, name in (
        ("trials.jsonl", "status"),
        ("trials.jsonl", "actual_model"),
        ("trials.jsonl", "assigned_config"),
        ("parsed.jsonl", "parse_status"),
        ("trial_plan.jsonl", "protocol"),
        ("manifest.json", "stop_reason"),
        ("manifest.json", "plan_sha256"),
        ("convergence_trace.jsonl", "novelty_rate"),
        ("embeddings.provenance.json", "counts"),
    ):
        folder = written("independent", tmp_path / f"{file}{name}")
        tampered(folder, file, lambda value, name=name: value.pop(name))
        assert failures(verify_run(folder)), (file, name)


def test_a_field_that_nobody_knows_is_found(tmp_path: Path) -> None:
    for file in ("trials.jsonl", "parsed.jsonl", "manifest.json", "config.resolved.json"):
        folder = written("independent", tmp_path / file)
        tampered(folder, file, _set("surplus", to=1))
        assert failures(verify_run(folder)), file


def test_a_run_that_was_killed_is_told_in_one_line_whatever_its_manifest_says(tmp_path: Path) -> None:
    """Other programs begin a manifest as completed; ruling R-S8 is Moot's."""
    folder = written("independent", tmp_path)

    def begun(value: Any) -> None:
        value.update(stop_reason="completed", k_attempted=0, k_eligible=0, artifacts={"entries": []})

    tampered(folder, "manifest.json", begun)
    (folder / "aggregates.json").unlink()
    assert failures(verify_run(folder)) == [
        "manifest.json: incomplete: says that the run has not ended: it goes on, or was killed"
    ]


def test_a_run_that_was_resolved_only_need_not_leave_a_plan(tmp_path: Path) -> None:
    config = tmp_path / "run.json"
    moot("arbiter", "init", "--out", config)
    folder = Path(data("arbiter", "resolve", config, "--out", tmp_path)["path"])
    (folder / "trial_plan.jsonl").unlink()
    assert "trial_plan.jsonl: is listed, and not there" in failures(verify_run(folder))

    def unlisted(value: Any) -> None:
        entries = value["artifacts"]["entries"]
        value["artifacts"]["entries"] = [one for one in entries if one["path"] != "trial_plan.jsonl"]

    tampered(folder, "manifest.json", unlisted)
    report = verify_run(folder)
    assert failures(report) == [] and "trial_plan.jsonl: is missing" in notes(report)
