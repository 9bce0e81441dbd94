"""`moot arena run`, `parse`, `conformance`, `matrix`: exit codes, files, options, what is printed."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.cases.arena.script import script_from
from moot.cli.arena.out import json_text
from moot.cli.arena.show import print_account
from moot.cli.output import console
from tests.doubles.arena_runs import TASK, Files, path_of
from tests.doubles.command_line import complaint, data, done, moot, write

ROOT = Path(__file__).resolve().parents[3]
ONCE = "INIT DRAFTING REVIEWING FINALIZING TERMINATED_APPROVED"
SEEDED = "INIT SEEDING DRAFTING REVIEWING FINALIZING TERMINATED_APPROVED"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


# ---------------------------------------------------------------- run


@pytest.mark.parametrize(
    ("reviews", "code", "state"),
    [
        (["VERDICT: APPROVED"], 0, "TERMINATED_APPROVED"),
        (["VERDICT: REVISE"], 3, "TERMINATED_MAX_ROUNDS"),
        (["I like it."], 4, "TERMINATED_ERROR"),
    ],
)
def test_the_exit_code_says_how_the_run_ended(
    files: Files, reviews: list[str], code: int, state: str
) -> None:
    result = files.run(script={"reviewer": reviews})

    assert result.exit_code == code
    assert files.record()["terminal_state"] == state
    assert files.judged().is_conformant


def test_an_account_reads_like_this(files: Files) -> None:
    reviews = ["- Say which half.\nVERDICT: APPROVED\nVERDICT: REVISE", "Better now.", "VERDICT: APPROVED"]
    result = files.run(script={"reviewer": reviews, "notebook": {"after": "timeout"}})

    assert result.stdout == (
        "weekend-gaps  2 rounds of at most 5\n"
        "by        scripted, no model\n"
        "path      INIT → SEEDING → DRAFTING → REVIEWING → REVISING → DRAFTING → REVIEWING → FINALIZING"
        " → TERMINATED_APPROVED\n"
        "round 1   REVISE\n"
        "          r1-1 issue: Say which half.\n"
        "          r1-2 evidence consulted: scripted#ok-1\n"
        "round 2   APPROVED\n"
        "          r2-1 evidence consulted: scripted#ok-1\n"
        "notebook  scripted\n"
        "          before SUCCESS: scripted#ok-1\n"
        "          during round 1 SUCCESS: scripted#ok-1\n"
        "          during round 2 SUCCESS: scripted#ok-1\n"
        "          during round 2 again SUCCESS: scripted#ok-1\n"
        "          after SKIPPED_DEGRADED: the notebook did not answer within 20 s\n"
        "noted     round 1, review 1: PARSER_WARNING_MULTIPLE_VERDICTS, the last of 2 verdict lines counts\n"
        "          round 2, review 1: PARSER_ERROR_MISSING_VERDICT\n"
        "          round 2: the Reviewer was asked once more\n"
        "end       APPROVED: approved in round 2, the final output stands\n"
        "\n"
        "final output (scripted, no model)\n"
        "  Hold half.\n"
    )
    assert result.stderr == (
        f"no language model writes here: scripted, no model\nthe audit record is in {files.out}\n"
    )


def test_a_run_says_first_that_no_model_writes_and_its_record_names_who_did(files: Files) -> None:
    alone = files.run(script=False)
    assert alone.stderr.splitlines()[0] == "no language model writes here: simulated, no model"
    assert "\nby        simulated, no model\n" in alone.stdout
    assert "\nfinal output (simulated, no model)\n" in alone.stdout
    seats = ("planner", "reviewer", "finalizer")
    assert files.record()["written_by"] == {seat: ["simulated, no model"] for seat in seats}

    mixed = files.run(script={"planner": [], "reviewer": ["VERDICT: APPROVED"]})
    by = "planner: simulated, no model; reviewer: scripted, no model; finalizer: "
    assert mixed.stderr.startswith(f"no language model writes here: {by}")
    assert files.record()["written_by"]["reviewer"] == ["scripted, no model"]
    assert files.judged().is_conformant


def test_with_json_the_record_itself_is_printed(files: Files) -> None:
    result = files.run("--json")

    assert json.loads(result.stdout) == files.record()
    assert result.stderr == "no language model writes here: scripted, no model\n"


def test_the_same_files_give_the_same_bytes(files: Files) -> None:
    files.run(script=False)
    first = files.out.read_bytes()
    files.run(script=False)
    assert files.out.read_bytes() == first

    files.run("--seed", "2", script=False)
    assert files.out.read_bytes() != first
    assert files.judged().is_conformant


def test_long_and_wild_outputs_are_shown_in_part_and_without_what_a_terminal_obeys(files: Files) -> None:
    wild = "a \x1b[31mred\x07 line\n    - kept indent\n" + "x" * 9000
    result = files.run(script={"finalizer": [wild]})

    assert "\x1b" not in result.stdout
    assert "  a �[31mred� line\n      - kept indent\n" in result.stdout
    assert "characters more: the record has them\n" in result.stdout
    assert files.record()["final_output"] == wild


@pytest.mark.parametrize("width", ["60", "80"])
def test_an_account_fits_the_width(files: Files, width: str) -> None:
    words = ["arena", "run", "--task", files.json("task.json", TASK)]
    script = files.script(
        reviewer=["- " + "word " * 60 + "\nVERDICT: REVISE"], notebook={"during": "contradict"}
    )
    lines = moot(*words, "--script", script, COLUMNS=width).stdout.splitlines()

    assert max(map(len, lines)) <= int(width)
    assert any(line.startswith("path      INIT → ") for line in lines)


def test_a_config_is_taken_and_max_rounds_replaces_its_own(files: Files) -> None:
    files.run(config={"max_rounds": 2}, script={"reviewer": ["VERDICT: REVISE"]})
    assert len(files.record()["rounds"]) == 2

    files.run("--max-rounds", "3", config={"max_rounds": 2}, script={"reviewer": ["VERDICT: REVISE"]})
    assert len(files.record()["rounds"]) == 3
    assert files.record()["config"]["max_rounds"] == 3


# ---------------------------------------------------------------- the notebook


NOTEBOOK = {"notebook_id": "mine", "profile": "personal", "tools": ["notebook_query"]}


def test_without_any_word_of_a_notebook_there_is_none(files: Files) -> None:
    files.run()
    found = files.record()

    assert (found["notebook"], path_of(found)) == (None, ONCE)
    assert [hook["status"] for hook in found["hooks"]] == ["SKIPPED_DISABLED"] * 3


def test_a_scripted_notebook_is_consulted_under_its_own_name(files: Files) -> None:
    files.run(script={"notebook": {}})
    found = files.record()

    assert path_of(found) == SEEDED
    assert found["notebook"] == {
        "notebook_id": "scripted",
        "profile": "auto",
        "tools": ["notebook_describe", "notebook_query", "studio_create"],
    }


def test_the_notebook_of_the_task_file_is_consulted(files: Files) -> None:
    files.run(task={"task": TASK, "notebook": NOTEBOOK})

    assert files.record()["notebook"] == NOTEBOOK
    assert path_of(files.record()) == SEEDED


def test_no_notebook_switches_it_off_whatever_the_config_says(files: Files) -> None:
    files.run(
        "--no-notebook",
        task={"task": TASK, "notebook": NOTEBOOK},
        config={"notebook_enabled": True},
        script={"notebook": {}},
    )

    assert files.record()["config"]["notebook_enabled"] is False
    assert path_of(files.record()) == ONCE


def test_the_config_has_the_last_word_otherwise(files: Files, tmp_path: Path) -> None:
    write(tmp_path / "note.md", "A note.")
    files.run("--notebook", tmp_path, config={"notebook_enabled": False})
    assert path_of(files.record()) == ONCE

    files.run(config={"notebook_enabled": True}, script=False)
    assert files.record()["terminal_reason"].startswith("NOTEBOOK_CONTEXT_INVALID: ")
    assert files.judged().is_conformant


def test_a_folder_of_notes_is_served_over_mcp(files: Files, tmp_path: Path) -> None:
    notes = tmp_path / "desk-notes"
    notes.mkdir()
    write(notes / "gaps.md", "# Gaps\n\nThe desk should treat weekend gaps with half of every position.\n")

    assert files.run("--notebook", notes).exit_code == 0
    found = files.record()
    assert found["notebook"]["notebook_id"] == "desk-notes"
    assert {hook["status"] for hook in found["hooks"]} == {"SUCCESS"}
    assert all(ref.startswith("gaps.md#") for hook in found["hooks"] for ref in hook["evidence_refs"])
    assert files.judged().is_conformant


# ---------------------------------------------------------------- usage


def test_what_cannot_be_read_is_usage(files: Files, tmp_path: Path) -> None:
    task = files.json("task.json", TASK)
    no_json = write(tmp_path / "no.json", "{task")
    no_yaml = write(tmp_path / "no.yaml", "planner: [")
    odd = write(tmp_path / "odd.yaml", "planer: [x]\n")
    absent = tmp_path / "absent"
    for words, said in (
        (["--task", absent], f"{absent}: No such file"),
        (["--task", tmp_path], "Is a directory"),
        (["--task", no_json], f"{no_json}: is not JSON: "),
        (["--task", write(tmp_path / "nan.json", '{"max": NaN}')], "NaN is no number of JSON"),
        (["--task", write(tmp_path / "deep.json", "[" * 100_000)], "is not JSON"),
        (["--task", write(tmp_path / "empty.json", "")], "is not JSON"),
        (["--task", task, "--config", absent], "No such file"),
        (["--task", task, "--config", no_json], "is not JSON"),
        (["--task", task, "--script", absent], "cannot be read"),
        (["--task", task, "--script", no_yaml], "is no YAML"),
        (["--task", task, "--script", odd], "planer: "),
        (["--task", task, "--notebook", absent], f"notebook {absent}: there is none"),
        (["--task", task, "--notebook", task], "no directory"),
        (["--task", task, "--notebook", tmp_path, "--mcp", "x"], "--notebook and --mcp: choose one"),
        (["--task", task, "--mcp-url", "http://x/", "--no-notebook"], "--mcp-url and --no-notebook: choose one"),
        (["--task", task, "--mcp", " "], "--mcp is empty"),
        (["--task", task, "--mcp", "a 'b"], "no closing quotation"),
        (["--task", task, "--mcp-url", "ftp://x/"], "--mcp-url ftp://x/: write an address"),
        (["--task", task, "--mcp-url", "http://[x"], "write an address"),
        (["--task", task, "--max-rounds", "five"], "'--max-rounds'"),
        (["--task", task, "--out", absent / "r.json"], f"there is no {absent}"),
        ([], "--task is missing"),
    ):  # fmt: skip
        assert said.lower() in complaint(2, "arena", "run", *words).lower(), words


@pytest.mark.parametrize("value", ["[]", '"text"', "3", "null", "true"])
def test_a_task_or_a_config_that_is_no_object_is_one_line(files: Files, value: str) -> None:
    task, odd = files.json("task.json", TASK), files.json("odd.json", value)

    for words in (["--task", odd], ["--task", task, "--config", odd]):
        assert complaint(2, "arena", "run", *words).rstrip().endswith("odd.json: needs a JSON object")


def test_the_record_replaces_nothing_that_the_run_reads(files: Files) -> None:
    task, script = files.json("task.json", TASK), files.script()
    before = [Path(task).read_bytes(), Path(script).read_bytes()]
    for out in (task, script):
        words = ("--task", task, "--script", script, "--out", out)
        assert "the run reads this file" in complaint(2, "arena", "run", *words)

    assert [Path(task).read_bytes(), Path(script).read_bytes()] == before


def test_a_record_that_is_there_is_replaced_as_a_whole(files: Files) -> None:
    files.json("record.json", "x" * 1_000_000)
    files.run()

    assert files.judged().is_conformant
    assert sorted(path.name for path in files.place.iterdir()) == ["record.json", "script.yaml", "task.json"]


def test_what_is_no_file_is_written_to_and_not_replaced(files: Files) -> None:
    task = files.json("task.json", TASK)
    done("arena", "run", "--task", task, "--script", files.script(), "--out", os.devnull)

    assert not Path(os.devnull).is_file()


def test_a_record_is_utf_8_whatever_it_holds() -> None:
    text = json_text({"task": {"initial_prompt": "caf\u00e9 \ud800"}})

    assert json.loads(text.encode("utf-8")) == {"task": {"initial_prompt": "caf\u00e9 \ud800"}}


# ---------------------------------------------------------------- parse


@pytest.mark.parametrize(
    ("text", "verdict", "line", "matches"),
    [
        (b"Fine.\nVERDICT: APPROVED\n", "APPROVED", 2, 1),
        (b"   verdict:   approveD   ", "APPROVED", 1, 1),
        (b"a\r\nb\r\n\tVerdict:REVISE\r\n", "REVISE", 3, 1),
        (b"a\rVERDICT: REVISE\rb\r", "REVISE", 2, 1),
        (b"VERDICT: APPROVED\nVERDICT: REVISE\nVERDICT: approved\nthe end", "APPROVED", 3, 3),
        (b"```\nVERDICT: REVISE\n```\n", "REVISE", 2, 1),
        (b"\xff\xfe\x80\nVERDICT: APPROVED\n\xc3", "APPROVED", 2, 1),
    ],
)
def test_a_verdict_is_found_with_its_line(
    tmp_path: Path, text: bytes, verdict: str, line: int, matches: int
) -> None:
    file = tmp_path / "review.txt"
    file.write_bytes(text)
    events = ["PARSER_WARNING_MULTIPLE_VERDICTS"] if matches > 1 else []

    assert json.loads(done("arena", "parse", file)) == {
        "verdict": verdict,
        "line": line,
        "matches": matches,
        "events": events,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I approve.\n",
        "VERDICT: APPROVED.\n",
        "> VERDICT: APPROVED\n",
        '"VERDICT: APPROVED"\n',
        "`VERDICT: REVISE`\n",
        "VERDICT:\nAPPROVED\n",
        "VERDICT: APPROVED REVISE\n",
        "\N{FULLWIDTH LATIN CAPITAL LETTER V}ERDICT: APPROVED\n",
        "V\N{CYRILLIC CAPITAL LETTER IE}RDICT: APPROVED\n",
        "VERD\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}CT: APPROVED\n",
        "VERD\N{LATIN SMALL LETTER DOTLESS I}CT: REVISE\n",
        "VERDICT: REVI\N{LATIN SMALL LETTER LONG S}E\n",
        "VERDICT:\u00a0APPROVED\n",
        "\ufeffVERDICT: APPROVED\n",
        "x\u2028VERDICT: APPROVED\n",
        "x\x85VERDICT: APPROVED\n",
    ],
)
def test_what_the_regex_does_not_match_is_no_verdict(tmp_path: Path, text: str) -> None:
    file = tmp_path / "review.txt"
    file.write_bytes(text.encode())
    result = moot("arena", "parse", file)

    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "verdict": None,
        "line": None,
        "matches": 0,
        "events": ["PARSER_ERROR_MISSING_VERDICT"],
    }


def test_a_review_is_read_from_standard_input() -> None:
    found = json.loads(done("arena", "parse", "-", stdin="a\r\nVERDICT: REVISE"))

    assert (found["verdict"], found["line"]) == ("REVISE", 2)


def test_a_review_that_is_not_there_is_usage(tmp_path: Path) -> None:
    assert "No such file" in complaint(2, "arena", "parse", tmp_path / "no.txt")
    assert "missing argument" in complaint(2, "arena", "parse")


# ---------------------------------------------------------------- conformance


def test_a_good_record_passes_all_thirteen_checks(files: Files) -> None:
    files.run()

    found = data("arena", "conformance", files.out)
    assert (found["is_conformant"], [one["number"] for one in found["checks"]]) == (True, [*range(1, 14)])
    assert all(one["is_passed"] and one["evidence"] for one in found["checks"])
    text = done("arena", "conformance", files.out)
    assert text.startswith(f"{files.out}  {found['level']}, 13 of 13 checks pass\nPASS   1  ")
    assert len(re.findall(r"^PASS +\d+  \S", text, re.MULTILINE)) == 13
    assert done("arena", "conformance", "-", stdin=files.out.read_text()).startswith("-  ")


def test_an_altered_record_fails_with_the_evidence(files: Files) -> None:
    files.run()
    record = files.record()
    record["rounds"][0]["verdict"] = "REVISE"
    altered = files.json("altered.json", record)

    result = moot("arena", "conformance", altered)
    assert result.exit_code == 1
    assert f"{altered}  Non-Compliant, " in result.stdout
    assert re.search(r"^FAIL +5  Verdict parsing", result.stdout, re.MULTILINE)
    told = json.loads(moot("arena", "conformance", altered, "--json").stdout)
    assert (told["level"], told["is_conformant"]) == ("Non-Compliant", False)


@pytest.mark.parametrize(
    "text", ["{}", "[]", "null", '{"config": 3, "events": {}}', '{"transitions": [1, null]}']
)
def test_json_that_is_no_record_fails_and_breaks_nothing(files: Files, text: str) -> None:
    result = moot("arena", "conformance", files.json("odd.json", text))

    assert (result.exit_code, result.stderr) == (1, "")
    assert "FAIL" in result.stdout


def test_what_is_not_json_is_usage(tmp_path: Path) -> None:
    assert "No such file" in complaint(2, "arena", "conformance", tmp_path / "no.json")
    assert "is not JSON" in complaint(2, "arena", "conformance", write(tmp_path / "x.json", "no"))
    assert "is not JSON" in complaint(2, "arena", "conformance", "-", stdin="")


# ---------------------------------------------------------------- help and pages


def test_the_group_lists_its_commands() -> None:
    text = done("arena")

    for name in ("run", "parse", "conformance", "matrix", "start", "record"):
        assert re.search(rf"^  {name} +\S", text, re.MULTILINE), name


def test_the_examples_of_the_guide_are_what_the_commands_take(files: Files) -> None:
    page = (ROOT / "docs" / "how-to" / "run-an-arena.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (task,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)

    assert script_from(yaml.safe_load(script)).resume_token == "valid"
    assert files.run(task=task).exit_code == 0
    lines = re.findall(r"^moot (arena \w+)", page, re.MULTILINE)
    assert {line.split()[1] for line in lines} == {"run", "parse", "conformance", "matrix", "start", "record"}


def test_an_unfinished_record_has_an_account_too(capsys: pytest.CaptureFixture[str]) -> None:
    from tests.doubles.arena_table import NOTEBOOK as NAMED
    from tests.doubles.arena_table import ArenaTable

    table = ArenaTable()
    table.run(notebook=NAMED)
    table.hook("before", refs=())
    record: dict[str, Any] = table.record()
    print_account(console(), record)

    text = capsys.readouterr().out
    assert "path      INIT → SEEDING → DRAFTING\n" in text
    assert "before SUCCESS, no evidence\n" in text
    assert "end       the run is not over\n" in text


def test_a_terminal_sees_how_far_a_run_is_and_no_colours_where_none_are_wanted(files: Files) -> None:
    words = ["arena", "run", "--task", files.json("task.json", TASK), "--script", files.script()]

    shown = on_terminal(words, NO_COLOR="1")
    assert "arena … " in shown
    assert re.search(r"\x1b\[[0-9;]*m", shown) is None
    assert "path      INIT → DRAFTING → REVIEWING → FINALIZING → TERMINATED_APPROVED\r\n" in shown
    assert re.search(r"\x1b\[[0-9;]*m", on_terminal(words)) is not None


def on_terminal(words: list[object], **env: str) -> str:
    """Run a command on a terminal of 80 columns and return what it wrote."""
    master, slave = pty.openpty()
    base = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "moot", *map(str, words)],
        cwd=ROOT, stdin=slave, stdout=slave, stderr=slave,
        env={**base, "TERM": "xterm-256color", "COLUMNS": "80", **env},
    ) as process:  # fmt: skip
        os.close(slave)
        found = b""
        with contextlib.suppress(OSError):
            while piece := os.read(master, 65536):
                found += piece
    os.close(master)
    assert process.returncode == 0
    return found.decode()


def test_parse_takes_json_as_every_command_that_prints_data(tmp_path: Path) -> None:
    review = write(tmp_path / "review.txt", "All is well.\nVERDICT: APPROVED\n")
    assert json.loads(done("arena", "parse", review, "--json")) == json.loads(done("arena", "parse", review))


@pytest.mark.parametrize(
    ("code", "says", "says_not"),
    [
        ("VERDICT_NOT_LAST", "text follows the verdict line", "contradicts"),
        ("APPROVED_WITHOUT_RATIONALE", "the evidence contradicts a claim", "follows"),
        ("ANOTHER_CODE", "unknown warning", "contradicts"),
    ],
)
def test_each_review_warning_has_its_own_words(code: str, says: str, says_not: str) -> None:
    from moot.cli.arena.show import _noted

    (line,) = _noted([{"type": "REVIEW_WARNING", "data": {"code": code, "round_index": 1}}])
    assert line.startswith(f"round 1: {code}, ")
    assert says in line
    assert says_not not in line
