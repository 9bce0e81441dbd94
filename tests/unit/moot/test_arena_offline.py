"""Runs without a society around them: exact, for any input, with scripts, simulated minds and a real notebook."""

import asyncio
from datetime import timedelta

import pytest

from moot import workshop
from moot.cases.arena import offline
from moot.cases.arena.offline import RunOptions, run_many, run_offline
from moot.cases.arena.script import ArenaScript, NotebookScript
from moot.cases.arena.source import NotebookSource
from moot.protocols.arena.conformance.checker import check
from moot.protocols.kernel.errors import BadInput

TASK = {"task_id": "t1", "initial_prompt": "Plan the widget.", "session_id": "s1"}
NOTEBOOK = {"notebook_id": "nb", "tools": ["notebook_describe", "notebook_query"]}
OFF = {"notebook_enabled": False}
GOOD = ArenaScript(planner=("A plan.",), reviewer=("VERDICT: APPROVED",), finalizer=("The plan.",))


def run(script=GOOD, config=OFF, notebook=None, **task):
    given = {key: value for key, value in {**TASK, **task}.items() if value is not None}
    return run_offline(RunOptions(task=given, config=config, notebook=notebook, script=script))


def code(record):
    return record["terminal_reason"].split(":")[0]


def path(record):
    steps = record["transitions"]
    return [steps[0]["from"], *(step["to"] for step in steps)]


def is_conformant(record):
    return [(c.number, c.evidence) for c in check(record).checks if not c.is_passed] == []


def test_a_script_gives_exactly_this_record():
    record = run()
    assert path(record) == ["INIT", "DRAFTING", "REVIEWING", "FINALIZING", "TERMINATED_APPROVED"]
    assert [step["at"][11:19] for step in record["transitions"]] == [
        "00:00:00",
        "00:01:00",
        "00:02:00",
        "00:03:00",
    ]
    assert sorted(record["artifacts"].values()) == ["A plan.", "The plan.", "VERDICT: APPROVED"]
    assert record["final_output"] == "The plan."
    assert record["task"] == {**TASK, "round_history_refs": [], "notebook_required": False}
    assert is_conformant(record)


def test_equal_options_give_equal_records():
    options = RunOptions(task=TASK, notebook=NOTEBOOK, script=ArenaScript(), seed=5)
    assert run_offline(options) == run_offline(options)


def test_progress_tells_who_spoke():
    told = []
    run_offline(RunOptions(task=TASK, config=OFF, script=GOOD), told.append)
    assert told == [
        "admin: ARENA_TASK",
        "planner: DRAFT",
        "reviewer: REVIEW",
        "finalizer: FINAL_OUTPUT",
        "orchestrator: RUN_TERMINATED",
    ]


def test_several_runs_are_held_at_once_each_from_the_beginning_of_the_script():
    script = ArenaScript(
        planner=("one", "two"), reviewer=("VERDICT: REVISE", "VERDICT: APPROVED"), finalizer=("x",)
    )
    many = [RunOptions(task={**TASK, "task_id": f"t{n}"}, config=OFF, script=script) for n in range(20)]
    records = run_many(many)
    assert [one["task"]["task_id"] for one in records] == [f"t{n}" for n in range(20)]
    assert {len(one["rounds"]) for one in records} == {2}
    assert all(map(is_conformant, records))
    assert run_many([]) == []


def test_one_bad_run_among_several_is_its_own_trouble():
    many = [RunOptions(task=TASK, config={**OFF, "max_rounds": n}, script=GOOD) for n in (5, 6, 1)]
    assert [code(one) for one in run_many(many)] == ["APPROVED", "CONFIG_INVALID", "APPROVED"]


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("review", "verdict", "line"),
    [
        ("  vErDiCt:  approveD ", "APPROVED", 1),
        ("text\r\nVERDICT: APPROVED\r\n", "APPROVED", 2),
        ("```\nVERDICT: APPROVED\n```", "APPROVED", 2),
        ("VERDICT: REVISE\nVERDICT: REVISE\nVERDICT: APPROVED", "APPROVED", 3),
        ("VERD\u0131CT: APPROVED", None, None),
        ("VERDICT:\u00a0APPROVED", None, None),
        ('"VERDICT: APPROVED"', None, None),
        ("", None, None),
        ("\x00\x1b[31m\u2028", None, None),
    ],
)
def test_any_review_leads_to_a_defined_end(review, verdict, line):
    record = run(ArenaScript(reviewer=(review,), finalizer=("x",)))
    assert code(record) == ("APPROVED" if verdict else "PARSER_ERROR_MISSING_VERDICT")
    assert {(row["verdict"], row["line"]) for row in record["parser"]} == {(verdict, line)}
    assert len(record["parser"]) == (1 if verdict else 2)
    assert is_conformant(record)


@pytest.mark.parametrize("unit", ["A sentence of the review that goes on and on.\n", "\n", "- x\n", " "])
def test_a_review_of_ten_megabytes_is_a_review(unit):
    record = run(ArenaScript(reviewer=(unit * (10_000_000 // len(unit)) + "\nVERDICT: APPROVED",)))
    assert code(record) == "APPROVED"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (ArenaScript(planner=("",)), "EMPTY_DRAFT"),
        (ArenaScript(planner=(" \n\t",)), "EMPTY_DRAFT"),
        (ArenaScript(planner=("a", ""), reviewer=("VERDICT: REVISE",)), "EMPTY_DRAFT"),
        (ArenaScript(reviewer=("VERDICT: APPROVED",), finalizer=("",)), "EMPTY_FINAL_OUTPUT"),
        (ArenaScript(reviewer=("VERDICT: REVISE",), finalizer=("",)), "MAX_ROUNDS"),
        (ArenaScript(reviewer_writes=True), "SAFETY_VIOLATION"),
        (ArenaScript(resume_token="missing"), "SESSION_RESUME_MISSING"),
    ],
)
def test_every_script_leads_to_a_defined_end(script, expected):
    record = run(script)
    assert code(record) == expected
    assert is_conformant(record)


@pytest.mark.rule("R-A5")
@pytest.mark.parametrize("n", [0, 6, True, "5", 5.0, None, [5], {}])
def test_r_a5_a_wrong_cap_ends_the_run_at_once(n):
    record = run(config={**OFF, "max_rounds": n})
    assert (code(record), path(record)) == ("CONFIG_INVALID", ["INIT", "TERMINATED_ERROR"])
    assert record["config"]["max_rounds"] == n
    assert is_conformant(record)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"session_id": None}, "SESSION_ID_MISSING"),
        ({"session_id": 5}, "SESSION_ID_MISSING"),
        ({"extra": 1}, "TASK_INVALID"),
        ({"initial_prompt": ""}, "TASK_INVALID"),
        ({"config": {**OFF, "extra": {"deep": [1, None]}}}, "CONFIG_INVALID"),
        ({"config": {}}, "NOTEBOOK_CONTEXT_INVALID"),
        ({"config": {}, "notebook": {"notebook_id": "nb", "tools": []}}, "NOTEBOOK_CONTEXT_INVALID"),
        ({"config": {}, "notebook": {}}, "NOTEBOOK_CONTEXT_INVALID"),
    ],
)
def test_bad_input_ends_with_a_reason_and_a_whole_record(how, expected):
    record = run(**how)
    assert (code(record), path(record)) == (expected, ["INIT", "TERMINATED_ERROR"])
    assert record["events"][-1]["type"] == "RUN_TERMINATED"


@pytest.mark.parametrize(
    "options",
    [
        {"task": []},
        {"task": "t"},
        {"task": None},
        {"task": TASK, "config": [1]},
        {"task": TASK, "config": None},
        {"task": TASK, "notebook": "nb"},
        {"task": {**TASK, "initial_prompt": "x" * 20_001}},
        {"task": TASK, "config": {"max_rounds": float("inf")}},
        {"task": TASK, "config": {"max_rounds": 10**30}},
        {"task": {**TASK, "task_id": "\ud800"}},
    ],
)
def test_what_no_message_can_carry_is_told_in_one_line(options):
    with pytest.raises(BadInput) as caught:
        run_offline(RunOptions(**options))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("bad", ["password = hunter2secret", "CPU usage: 93 %"])
def test_r_a9_a_review_that_is_redacted_is_resumed_all_the_same(bad):
    script = ArenaScript(
        planner=(f"A plan.\n{bad}",),
        reviewer=(f"{bad}\n- no goal\nVERDICT: REVISE", f"{bad}\nnone", f"{bad}\nVERDICT: APPROVED"),
        finalizer=(f"{bad}\nDone.",),
    )
    record = run(script)
    assert (code(record), len(record["rounds"]), len(record["parser"])) == ("APPROVED", 2, 3)
    assert bad not in str(record)
    assert is_conformant(record)


# ------------------------------------------------------------------ notebooks


@pytest.mark.parametrize("phase", ["before", "during", "after"])
@pytest.mark.parametrize("how", ["timeout", "fail"])
@pytest.mark.parametrize("is_required", [False, True])
def test_t08_a_notebook_that_fails_in_a_phase(phase, how, is_required):
    script = GOOD.model_copy(update={"notebook": NotebookScript(**{phase: how})})
    record = run(script, config={}, notebook=NOTEBOOK, notebook_required=is_required)
    statuses = {hook["phase"]: hook["status"] for hook in record["hooks"]}
    assert statuses[phase] == ("FAILED" if is_required else "SKIPPED_DEGRADED")
    assert code(record) == ("NOTEBOOK_UNAVAILABLE" if is_required else "APPROVED")
    where = {"before": "SEEDING", "during": "REVIEWING", "after": "FINALIZING"}[phase]
    assert not is_required or path(record)[-2:] == [where, "TERMINATED_ERROR"]
    assert is_conformant(record)


def test_t07_a_notebook_that_contradicts():
    script = ArenaScript(
        planner=("The cache does not lower the latency of requests.",),
        reviewer=("VERDICT: APPROVED",),
        notebook=NotebookScript(during="contradict"),
    )
    record = run(script, config={}, notebook=NOTEBOOK)
    (issue,) = [one for one in record["rounds"][0]["issues"] if one["kind"] == "contradiction"]
    assert issue["claim"] == "The cache does not lower the latency of requests"
    assert [e["data"]["code"] for e in record["events"] if e["type"] == "REVIEW_WARNING"] == [
        "APPROVED_WITHOUT_RATIONALE"
    ]
    assert is_conformant(record)


def test_a_notebook_that_is_disabled_is_not_asked():
    script = GOOD.model_copy(update={"notebook": NotebookScript(before="fail")})
    record = run(script, config=OFF, notebook=NOTEBOOK)
    assert [hook["status"] for hook in record["hooks"]] == ["SKIPPED_DISABLED"] * 3
    assert code(record) == "APPROVED"


def test_without_a_script_and_a_source_an_enabled_notebook_is_nowhere():
    record = run_offline(RunOptions(task=TASK, notebook=NOTEBOOK))
    assert {hook["status"] for hook in record["hooks"]} == {"SKIPPED_DEGRADED"}
    required = run_offline(RunOptions(task={**TASK, "notebook_required": True}, notebook=NOTEBOOK))
    assert code(required) == "NOTEBOOK_UNAVAILABLE"


def test_a_folder_of_notes_grounds_a_run(tmp_path):
    (tmp_path / "widget.md").write_text("# Widget\n\nThe widget never lowers the latency of requests.\n")
    script = ArenaScript(
        planner=("The widget lowers the latency of requests.",),
        reviewer=("- wrong\nVERDICT: REVISE",),
        finalizer=("x",),
    )
    options = RunOptions(
        task={**TASK, "notebook_required": True},
        config={"max_rounds": 1},
        notebook=NOTEBOOK,
        script=script,
        source=NotebookSource("folder", str(tmp_path)),
    )
    record = run_offline(options)
    assert [hook["status"] for hook in record["hooks"]] == ["SUCCESS"] * 3
    (issue,) = [one for one in record["rounds"][0]["issues"] if one["kind"] == "contradiction"]
    assert issue["evidence_ref"].startswith("widget.md")
    assert is_conformant(record)


@pytest.mark.parametrize("is_required", [False, True])
def test_a_notebook_that_cannot_be_started_degrades_or_fails(is_required):
    source = NotebookSource("command", "/nowhere/at/all --stdio")
    task = {**TASK, "notebook_required": is_required}
    record = run_offline(RunOptions(task=task, notebook=NOTEBOOK, script=GOOD, source=source))
    assert code(record) == ("NOTEBOOK_UNAVAILABLE" if is_required else "APPROVED")
    assert is_conformant(record)


# ------------------------------------------------------------------ when something of ours breaks


def test_a_seat_without_words_ends_its_run_and_hangs_nothing(monkeypatch):
    async def fails(_self, _work):
        raise RuntimeError("out of words")

    monkeypatch.setattr(offline.SimulatedWriter, "write", fails)
    record = run_offline(RunOptions(task=TASK, config=OFF))
    assert record["terminal_reason"] == "TIMEOUT: the Planner owed DRAFT and was silent"
    assert is_conformant(record)


def test_a_fault_of_the_office_is_raised_and_hangs_nothing(monkeypatch):
    async def fails(_self):
        await asyncio.sleep(timedelta(minutes=1).total_seconds())
        raise RuntimeError("the office burns")

    monkeypatch.setattr(workshop.DutyRunner, "run", fails)
    with pytest.raises(RuntimeError, match="the office burns"):
        run_offline(RunOptions(task=TASK, config=OFF, script=GOOD))
