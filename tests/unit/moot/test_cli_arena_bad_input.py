"""`moot arena run` on every kind of bad input: a defined end, an explicit reason, a whole and conformant record."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.arena_runs import TASK, Files, path_of
from tests.doubles.command_line import moot, write

ONCE = "INIT DRAFTING REVIEWING FINALIZING TERMINATED_APPROVED"
AT_ONCE = "INIT TERMINATED_ERROR"
NOTEBOOK = {"notebook_id": "mine", "tools": ["notebook_query"]}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def ends(files: Files, code: int, path: str, reason: str, *more: object, **given: Any) -> dict[str, Any]:
    """Run, and expect an exit code, a path, a reason's beginning and a conformant record; return the record."""
    result = files.run(*more, **given)
    assert result.exit_code == code, result.output
    record = files.record()
    assert path_of(record) == path
    assert record["terminal_reason"].startswith(reason), record["terminal_reason"]
    assert record["events"][-1]["type"] == "RUN_TERMINATED"
    assert files.judged().is_conformant, [one for one in files.judged().checks if not one.is_passed]
    assert moot("arena", "conformance", files.out).exit_code == 0
    assert record["terminal_reason"][:40] in result.stdout
    return record


# ---------------------------------------------------------------- the config


@pytest.mark.rule("R-A5")
@pytest.mark.parametrize(
    "config",
    [
        {"max_rounds": 0},
        {"max_rounds": 6},
        {"max_rounds": True},
        {"max_rounds": "5"},
        {"max_rounds": 5.0},
        {"max_rounds": None},
        {"max_rounds": -1},
        {"session_resume_required": False},
        {"session_resume_required": 1},
        {"reviewer_mode": "read-write"},
        {"reviewer_mode": "READ-ONLY"},
        {"notebook_enabled": "yes"},
        {"notebook_enabled": None},
        {"notebook_enabled": 1},
        {"rounds": 3},
    ],
)
def test_r_a5_a_config_that_is_none_ends_the_run(files: Files, config: dict[str, Any]) -> None:
    record = ends(
        files, 4, AT_ONCE, f"CONFIG_INVALID: the config is invalid: {next(iter(config))}", config=config
    )

    assert next(iter(config)) in record["config"]
    assert record["hooks"] == record["rounds"] == []


@pytest.mark.parametrize("n", ["0", "6", "-1"])
def test_max_rounds_on_the_command_line_is_judged_by_the_run(files: Files, n: str) -> None:
    ends(files, 4, AT_ONCE, "CONFIG_INVALID: the config is invalid: max_rounds", "--max-rounds", n)


# ---------------------------------------------------------------- the task


@pytest.mark.parametrize(
    ("over", "reason"),
    [
        ({"session_id": None}, "SESSION_ID_MISSING: "),
        ({"session_id": ""}, "SESSION_ID_MISSING: "),
        ({"session_id": "  "}, "SESSION_ID_MISSING: "),
        ({"session_id": 7}, "SESSION_ID_MISSING: "),
        ({"task_id": None}, "TASK_INVALID: the task is invalid: task_id"),
        ({"task_id": 3}, "TASK_INVALID: the task is invalid: task_id"),
        ({"initial_prompt": None}, "TASK_INVALID: the task is invalid: initial_prompt"),
        ({"initial_prompt": " \n"}, "TASK_INVALID: the task is invalid: initial_prompt"),
        (
            {"initial_prompt": "CPU at 93 % on web-3"},
            "TASK_INVALID: the task is invalid: initial_prompt: nothing is left of it but what was excluded "
            "(infra_telemetry): say what is to be done",
        ),
        ({"round_history_refs": "r1"}, "TASK_INVALID: the task is invalid: round_history_refs"),
        ({"notebook_required": "no"}, "TASK_INVALID: the task is invalid: notebook_required"),
        ({"deadline": "tomorrow"}, "TASK_INVALID: the task is invalid: deadline"),
    ],
)
def test_a_task_that_is_none_ends_the_run(files: Files, over: dict[str, Any], reason: str) -> None:
    task = {key: value for key, value in {**TASK, **over}.items() if value is not None}

    ends(files, 4, AT_ONCE, reason, task=task)


def test_a_field_that_is_null_is_no_field_left_out(files: Files) -> None:
    ends(files, 4, AT_ONCE, "TASK_INVALID: ", task={**TASK, "notebook_required": None})


def test_what_stands_beside_task_and_notebook_is_refused_by_name(files: Files) -> None:
    ends(
        files,
        4,
        AT_ONCE,
        "TASK_INVALID: the task is invalid: urgency",
        task={"task": TASK, "urgency": "high"},
    )

    # A session_id in the wrong place is not the task's.
    task = {key: value for key, value in TASK.items() if key != "session_id"}
    ends(files, 4, AT_ONCE, "SESSION_ID_MISSING: ", task={"task": task, "session_id": "s1"})
    ends(files, 4, AT_ONCE, "TASK_INVALID: ", task={"task": TASK, "session_id": "s2"})


@pytest.mark.parametrize(
    "notebook",
    [
        {"notebook_id": "", "tools": ["notebook_query"]},
        {"notebook_id": "mine", "tools": ["notebook_describe"]},
        {"notebook_id": "mine", "tools": "notebook_query"},
        {"notebook_id": "mine"},
        {"tools": ["notebook_query"]},
        {**NOTEBOOK, "profile": "business"},
        {**NOTEBOOK, "password": 1},
        {},
    ],
)
def test_a_notebook_that_is_none_ends_the_run(files: Files, notebook: dict[str, Any]) -> None:
    ends(files, 4, AT_ONCE, "NOTEBOOK_CONTEXT_INVALID: ", task={"task": TASK, "notebook": notebook})


# ---------------------------------------------------------------- what the seats say


@pytest.mark.parametrize(
    "line",
    [
        "verdict: approveD",
        "   VERDICT:   APPROVED   ",
        "\tVerdict:\tApproved\t",
        "VERDICT:APPROVED",
        "\fVERDICT: APPROVED\v",
        "```\nVERDICT: APPROVED\n```",
        "> VERDICT: REVISE\nVERDICT: APPROVED",
        '"VERDICT: REVISE"\nVERDICT: APPROVED',
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_verdicts_in_odd_case_spacing_quotes_and_line_ends(files: Files, line: str, end: str) -> None:
    review = f"Fine.\n{line}\n".replace("\n", end)

    record = ends(files, 0, ONCE, "APPROVED: ", script={"reviewer": [review]})
    assert record["parser"][0]["code"] is None
    assert list(record["artifacts"].values())[1] == review


@pytest.mark.rule("R-A1")
@pytest.mark.parametrize(
    "review",
    [
        "VERDICT: APPROVED.",
        "V\N{CYRILLIC CAPITAL LETTER IE}RDICT: APPROVED",
        "\N{FULLWIDTH LATIN CAPITAL LETTER V}ERDICT: APPROVED",
        "VERDICT: REVI\N{LATIN SMALL LETTER LONG S}E",
        "VERDICT:\N{NO-BREAK SPACE}APPROVED",
        "x\N{LINE SEPARATOR}VERDICT: APPROVED",
        "> VERDICT: APPROVED",
        "VERDICT:\nAPPROVED",
        "",
        " \n\n ",
        "I approve.",
    ],
)
def test_r_a1_no_verdict_twice_is_one_retry_and_an_error(files: Files, review: str) -> None:
    record = ends(
        files,
        4,
        "INIT DRAFTING REVIEWING TERMINATED_ERROR",
        "PARSER_ERROR_MISSING_VERDICT: ",
        script={"reviewer": [review]},
    )

    assert [one["attempt"] for one in record["parser"]] == [1, 2]
    assert sum(event["type"] == "REVIEWER_RETRIED" for event in record["events"]) == 1


def test_of_three_verdicts_the_last_one_counts(files: Files) -> None:
    review = "VERDICT: REVISE\nVERDICT: REVISE\nand\nverdict: approved\nthat is all"

    record = ends(files, 0, ONCE, "APPROVED: ", script={"reviewer": [review]})
    assert (record["parser"][0]["line"], record["parser"][0]["code"]) == (
        4,
        "PARSER_WARNING_MULTIPLE_VERDICTS",
    )


def test_a_review_of_ten_megabytes_is_reviewed_kept_and_judged(files: Files) -> None:
    review = "All lines of this review say nothing of interest, but there are many of them.\n" * 130_000
    script = {"reviewer": [review + "VERDICT: APPROVED\n"]}
    assert len(review) > 10_000_000

    ends(files, 0, ONCE, "APPROVED: ", script=script)
    assert len(files.out.read_bytes()) > 10_000_000


def test_ten_megabytes_are_parsed_at_once(tmp_path: Path) -> None:
    for text in (b"\n" * 10_000_000, b"VERDICT: " * 1_100_000, b" " * 10_000_000, b"x" * 79 + b"\n"):
        file = tmp_path / "review.txt"
        file.write_bytes((text * (10_000_000 // len(text) + 1))[:10_000_000] + b"\r\nVERDICT: APPROVED")
        assert moot("arena", "parse", file).exit_code == 0


@pytest.mark.parametrize("blank", ["", "  \n\t\r\n"])
def test_an_empty_draft_ends_the_run(files: Files, blank: str) -> None:
    ends(files, 4, "INIT DRAFTING TERMINATED_ERROR", "EMPTY_DRAFT: ", script={"planner": [blank]})


def test_an_empty_draft_of_a_later_round_ends_it_too(files: Files) -> None:
    path = "INIT DRAFTING REVIEWING REVISING DRAFTING TERMINATED_ERROR"
    script = {"planner": ["A plan.", " "], "reviewer": ["VERDICT: REVISE"]}

    ends(files, 4, path, "EMPTY_DRAFT: ", script=script)


def test_an_empty_final_output_is_no_approval(files: Files) -> None:
    ends(
        files,
        4,
        "INIT DRAFTING REVIEWING FINALIZING TERMINATED_ERROR",
        "EMPTY_FINAL_OUTPUT: ",
        script={"finalizer": [" "]},
    )


def test_an_empty_best_effort_leaves_the_cap_what_it_is(files: Files) -> None:
    path = "INIT DRAFTING REVIEWING REVISING TERMINATED_MAX_ROUNDS"
    script = {"finalizer": [""], "reviewer": ["VERDICT: REVISE"]}

    record = ends(files, 3, path, "MAX_ROUNDS: ", "--max-rounds", "1", script=script)
    assert record["final_output"] is None


@pytest.mark.rule("R-A7")
def test_r_a7_a_reviewer_that_writes_is_stopped(files: Files) -> None:
    path = "INIT DRAFTING REVIEWING TERMINATED_ERROR"

    record = ends(files, 4, path, "SAFETY_VIOLATION: ", script={"reviewer_writes": True})
    assert record["rounds"] == record["parser"] == []


def test_a_lost_session_is_never_replaced(files: Files) -> None:
    path = "INIT DRAFTING REVIEWING TERMINATED_ERROR"

    ends(files, 4, path, "SESSION_RESUME_MISSING: ", script={"resume_token": "missing"})


def test_secrets_reach_neither_the_record_nor_the_terminal(files: Files) -> None:
    dirty = "Log in with password: swordfish-31 first.\nINC-2231: the pager went off.\n"
    script = {"planner": [dirty], "reviewer": [f"{dirty}VERDICT: APPROVED"], "finalizer": [dirty + "Done."]}
    result = files.run(task={**TASK, "initial_prompt": dirty}, script=script)

    assert result.exit_code == 0
    assert files.judged().is_conformant
    for text in (result.stdout, files.out.read_text(encoding="utf-8")):
        assert "swordfish" not in text
        assert "INC-2231" not in text
    assert "round-1/draft: 2 lines filtered (incident_deployment_backlog, secret)\n" in result.stdout
    assert "Log in with password: [redacted:password] first.\n" in result.stdout


# ---------------------------------------------------------------- the notebook

SERVER = """
import sys
from mcp.server import MCPServer

server = MCPServer("odd")
asked = 0

@server.tool()
def notebook_describe() -> dict:
    return {"notebook_id": "odd", "title": "odd", "notes": [], "note_count": 0, "passage_count": 0}

@server.tool()
def notebook_query(query: str, limit: int = 5) -> dict:
    global asked
    asked += 1
    if asked >= AFTER:
        FAIL
    return {"passages": [{"ref": f"n#{asked}", "note": "n", "text": query, "score": 1.0}]}

server.run()
"""

DIES = "import os; os._exit(1)"
GARBAGE = "return {'passages': [{'nothing': 'of use'}]}"
RAISES = "raise RuntimeError('the disk is gone')"
TALKS = "sys.stdout.write('no message of MCP\\n'); sys.stdout.flush(); import os; os._exit(0)"


def server(files: Files, fail: str, after: int) -> str:
    """Write a notebook server that fails from one query on, and return its command."""
    text = SERVER.replace("FAIL", fail).replace("AFTER", str(after))
    return f"{sys.executable} {write(files.place / 'server.py', text)}"


@pytest.mark.parametrize("fail", [DIES, GARBAGE, RAISES, TALKS], ids=["dies", "garbage", "raises", "talks"])
def test_a_notebook_that_fails_in_the_middle_leads_to_a_degraded_run(files: Files, fail: str) -> None:
    command = server(files, fail, 2)
    path = "INIT SEEDING DRAFTING REVIEWING FINALIZING TERMINATED_APPROVED"

    record = ends(files, 0, path, "APPROVED: ", "--mcp", command)
    statuses = [hook["status"] for hook in record["hooks"]]
    assert statuses[:2] == ["SUCCESS", "SKIPPED_DEGRADED"]
    assert record["notebook"]["notebook_id"] == "mcp"


@pytest.mark.rule("R-A3")
@pytest.mark.parametrize("fail", [DIES, GARBAGE], ids=["dies", "garbage"])
def test_r_a3_a_required_notebook_that_fails_in_the_middle_ends_the_run(files: Files, fail: str) -> None:
    command = server(files, fail, 2)
    path = "INIT SEEDING DRAFTING REVIEWING TERMINATED_ERROR"
    task = {**TASK, "notebook_required": True}

    record = ends(files, 4, path, "NOTEBOOK_UNAVAILABLE: ", "--mcp", command, task=task)
    assert " during the loop " in record["terminal_reason"]
    assert [hook["status"] for hook in record["hooks"]] == ["SUCCESS", "FAILED"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--mcp", "false"),
        ("--mcp", "there-is-no-such-program"),
        ("--mcp", "echo garbage"),
        ("--mcp-url", "http://127.0.0.1:9/mcp"),
    ],
)
def test_a_notebook_that_was_never_there(files: Files, option: str, value: str) -> None:
    path = "INIT SEEDING DRAFTING REVIEWING FINALIZING TERMINATED_APPROVED"
    record = ends(files, 0, path, "APPROVED: ", option, value)
    assert {hook["status"] for hook in record["hooks"]} == {"SKIPPED_DEGRADED"}

    task = {**TASK, "notebook_required": True}
    ends(files, 4, "INIT SEEDING TERMINATED_ERROR", "NOTEBOOK_UNAVAILABLE: ", option, value, task=task)
