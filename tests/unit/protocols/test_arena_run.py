"""A run of the Arena at a table: states, rounds, hooks, failures and rulings (sections 5 to 10, R-A1 to R-A10)."""

import itertools
from datetime import timedelta

import pytest
from pydantic import ValidationError

from moot.protocols.arena import messages as m
from moot.protocols.arena.conformance.checker import check
from moot.protocols.arena.seats import FINALIZER as FINALIZER_SEAT
from moot.protocols.arena.seats import PLANNER as PLANNER_SEAT
from moot.protocols.arena.seats import REVIEWER as REVIEWER_SEAT
from moot.protocols.arena.states import TERMINAL, State
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.errors import Forbidden
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.research.seats import EVOLVER, EXPLORER
from moot.protocols.rulebook import rules
from tests.doubles.arena_table import NOTEBOOK, TRANSITIONS, ArenaTable

PLANNER, REVIEWER, FINALIZER = PLANNER_SEAT, REVIEWER_SEAT, FINALIZER_SEAT
APPROVED, REVISE = "RATIONALE: all there.\nVERDICT: APPROVED", "- no goal\nVERDICT: REVISE"
OPTIONAL = {"notebook": NOTEBOOK}
REQUIRED = {"notebook": NOTEBOOK, "notebook_required": True}


def held(**how):
    table = ArenaTable()
    table.run(**how)
    return table


def seeding():
    return held(**OPTIONAL)


def drafting():
    return held()


def reviewing_hook():
    table = seeding()
    table.hook("before")
    table.draft()
    return table


def reviewing():
    table = drafting()
    table.draft()
    return table


def retried():
    table = reviewing()
    table.review("no verdict here")
    return table


def second_draft():
    table = reviewing()
    table.review(REVISE)
    return table


def capped_hook():
    table = held(config={"max_rounds": 1}, **OPTIONAL)
    table.hook("before")
    table.draft()
    table.hook("during")
    table.review(REVISE)
    return table


def capped():
    table = held(config={"max_rounds": 1})
    table.draft()
    table.review(REVISE)
    return table


def finalizing_hook():
    table = reviewing_hook()
    table.hook("during")
    table.review(APPROVED)
    return table


def finalizing():
    table = reviewing()
    table.review(APPROVED)
    return table


WAYS = {
    way.__name__: way
    for way in (
        seeding, drafting, reviewing_hook, reviewing, retried, second_draft, capped_hook, capped,
        finalizing_hook, finalizing,
    )
}  # fmt: skip
"""Ways to every situation in which a seat owes something."""

OWED = {
    "seeding": (State.SEEDING, PLANNER, "HOOK_RESULT"),
    "drafting": (State.DRAFTING, PLANNER, "DRAFT"),
    "reviewing_hook": (State.REVIEWING, REVIEWER, "HOOK_RESULT"),
    "reviewing": (State.REVIEWING, REVIEWER, "REVIEW"),
    "retried": (State.REVIEWING, REVIEWER, "REVIEW"),
    "second_draft": (State.DRAFTING, PLANNER, "DRAFT"),
    "capped_hook": (State.REVISING, FINALIZER, "HOOK_RESULT"),
    "capped": (State.REVISING, FINALIZER, "FINAL_OUTPUT"),
    "finalizing_hook": (State.FINALIZING, FINALIZER, "HOOK_RESULT"),
    "finalizing": (State.FINALIZING, FINALIZER, "FINAL_OUTPUT"),
}

PHASE = {State.SEEDING: "before", State.REVIEWING: "during"}


def body_of(kind, table):
    """Return the message that would be right in this situation."""
    state = table.state
    n, phase = state.round_index, PHASE.get(State(state.phase), "after")
    return {
        "HOOK_RESULT": m.HookResult(phase=phase, query="q", evidence_refs=(), status="SUCCESS"),
        "DRAFT": m.ArenaDraft(round_index=n, text="A plan."),
        "REVIEW": m.Review(
            round_index=n,
            attempt=state.attempt,
            text=APPROVED,
            session_id=state.session_id,
            resume_ref=state.resume_ref,
            unresolved=state.unresolved,
        ),
        "RUN_FAULT": m.RunFault(fault="SAFETY_VIOLATION", tool="write", detail="x"),
        "FINAL_OUTPUT": m.FinalOutput(text="Done."),
    }[kind]


def put(table, seat, body):
    """Post as a seat that may owe nothing: the answer it gives names what is owed, if it is its own."""
    owed = next((o for o in table.docket.open.values() if o.seat == seat and body.type in o.expects), None)
    before = len(table.log)
    how = {"owed": owed} if owed else {"channel": "#r-arena", "case_id": table.run_id}
    table.post(seat, body, **how)
    return table.effects[before]


def last(table):
    return table.record()["terminal_reason"].split(":")[0]


@pytest.mark.parametrize("name", WAYS)
def test_in_every_situation_one_seat_owes_one_message_or_tells_that_it_cannot(name):
    table = WAYS[name]()
    phase, seat, kind = OWED[name]
    (owed,) = table.state.owed
    assert (table.state.phase, owed.seat, owed.expects, owed.channel) == (
        phase,
        seat,
        (kind, "RUN_FAULT"),
        "#r-arena",
    )


@pytest.mark.parametrize(
    ("name", "seat", "kind"),
    [
        *itertools.product(
            WAYS,
            (PLANNER, REVIEWER, FINALIZER),
            ("HOOK_RESULT", "DRAFT", "REVIEW", "RUN_FAULT", "FINAL_OUTPUT"),
        )
    ],
)
def test_every_message_in_every_situation_is_the_legal_move_or_a_violation_that_changes_nothing(
    name, seat, kind
):
    table = WAYS[name]()
    before, record = table.state, table.record()
    _, owing, expected = OWED[name]
    try:
        fx = put(table, seat, body_of(kind, table))
    except Forbidden:
        assert {"DRAFT": PLANNER, "REVIEW": REVIEWER, "FINAL_OUTPUT": FINALIZER}[kind] != seat
        return
    if seat == owing and kind in (expected, "RUN_FAULT"):
        assert fx.violation is None
        assert table.state is not before
        assert table.path()[-1] == table.state.phase
        assert all(step in TRANSITIONS for step in itertools.pairwise(map(State, table.path())))
    else:
        assert fx.violation is not None
        assert table.state is before
        table.officers()
        assert table.record() == record


@pytest.mark.parametrize("phase", sorted(TERMINAL))
def test_terminal_states_absorb(phase):
    ends = {
        State.TERMINATED_APPROVED: (finalizing, lambda t: m.FinalOutput(text="Done."), FINALIZER),
        State.TERMINATED_MAX_ROUNDS: (capped, lambda t: m.FinalOutput(text="Done."), FINALIZER),
        State.TERMINATED_ERROR: (reviewing, lambda t: body_of("RUN_FAULT", t), REVIEWER),
    }
    way, body, seat = ends[phase]
    table = way()
    put(table, seat, body(table))
    end = table.state
    assert end.phase == phase
    assert [o.expects for o in end.owed] == [("RUN_TERMINATED",)]
    for author, kind in (
        (PLANNER, "DRAFT"),
        (REVIEWER, "REVIEW"),
        (REVIEWER, "RUN_FAULT"),
        (FINALIZER, "FINAL_OUTPUT"),
    ):
        assert put(table, author, body_of(kind, table)).violation.rule == "5.2"
        assert table.state is end
    table.officers()
    assert table.outcome == phase
    told = table.last("RUN_TERMINATED").body
    assert (told.state, told.reason, told.rounds) == (phase, end.reason, end.rounds)
    said = m.ArenaDraft(run_id=table.run_id, round_index=1, text="late")
    env = table.say(PLANNER, said, channel="#r-arena", case_id=table.run_id)
    assert table.effects[env.seq - 1].violation.rule == "K23"
    assert table.record()["events"][-1]["type"] == "RUN_TERMINATED"


def test_t01_a_run_that_is_approved_at_once():
    table = finalizing_hook()
    table.hook("after")
    table.final()
    assert table.path() == ["INIT", "SEEDING", "DRAFTING", "REVIEWING", "FINALIZING", "TERMINATED_APPROVED"]
    assert table.record()["final_output"] == "The plan."
    assert last(table) == "APPROVED"


@pytest.mark.rule("R-A6")
def test_without_a_notebook_init_leads_to_drafting_and_r_a6_three_hooks_are_skipped():
    table = finalizing()
    table.final()
    record = table.record()
    assert table.path() == ["INIT", "DRAFTING", "REVIEWING", "FINALIZING", "TERMINATED_APPROVED"]
    assert record["hooks"] == [
        {"phase": phase, "query": "", "evidence_refs": [], "status": "SKIPPED_DISABLED"}
        for phase in ("before", "during", "after")
    ]
    assert record["notebook"] is None


@pytest.mark.rule("R-A2")
@pytest.mark.parametrize("cap", [1, 2, 3, 4, 5])
def test_r_a2_at_the_cap_the_finalizer_gives_its_best_effort_in_revising(cap):
    table = held(config={"max_rounds": cap})
    for n in range(1, cap + 1):
        assert table.state.round_index == n
        table.draft(f"Plan {n}")
        table.review(REVISE)
    assert table.state.phase == State.REVISING
    table.final("What there is.")
    record = table.record()
    assert table.path() == ["INIT", *(["DRAFTING", "REVIEWING", "REVISING"] * cap), "TERMINATED_MAX_ROUNDS"]
    assert [one["round_index"] for one in record["rounds"]] == [*range(1, cap + 1)]
    (asked,) = [e["data"] for e in record["events"] if e["type"] == "FINALIZER_INVOKED"]
    assert asked == {"is_best_effort": True, "unresolved": [{"id": f"r{cap}-1", "text": "no goal"}]}
    assert (last(table), record["final_output"]) == ("MAX_ROUNDS", "What there is.")
    assert record["events"][-1]["type"] == "RUN_TERMINATED"


@pytest.mark.rule("R-A2")
@pytest.mark.parametrize("text", ["", " \n\t"])
def test_r_a2_a_blank_best_effort_is_none_and_the_run_ends_at_the_cap_all_the_same(text):
    table = capped()
    table.final(text)
    assert table.outcome == State.TERMINATED_MAX_ROUNDS
    assert table.record()["final_output"] is None


@pytest.mark.rule("R-A2")
@pytest.mark.parametrize("name", ["capped", "capped_hook"])
def test_r_a2_a_silent_finalizer_ends_the_run_at_the_cap(name):
    table = WAYS[name]()
    table.wait(hours=2)
    assert table.outcome == State.TERMINATED_MAX_ROUNDS
    assert "silent" in table.record()["terminal_reason"]


def test_t02_the_planner_gets_prior_critiques_and_evidence():
    table = reviewing_hook()
    table.hook("during", refs=("n#2", "n#1"))
    table.review("- no goal, says n#1 and n#2\nVERDICT: REVISE")
    record = table.record()
    first, second = [e["data"] for e in record["events"] if e["type"] == "PLANNER_INVOKED"]
    assert first == {"round_index": 1, "prior_critiques": [], "evidence_refs": ["n#1"]}
    assert second == {
        "round_index": 2,
        "prior_critiques": [record["rounds"][0]["reviewer_output_ref"]],
        "evidence_refs": ["n#1", "n#2"],
    }
    brief = table.rules.types["run"].brief(table.state, table.state.owed[0], table.docket.context)
    assert [issue.id for issue in brief["unresolved"]] == ["r1-1"]


@pytest.mark.rule("R-A1")
def test_r_a1_t04_a_missing_verdict_is_retried_once_inside_reviewing():
    table = retried()
    assert (table.state.phase, table.state.attempt, table.state.round_index) == (State.REVIEWING, 2, 1)
    table.review("still none")
    record = table.record()
    assert table.path() == ["INIT", "DRAFTING", "REVIEWING", "TERMINATED_ERROR"]
    assert [e["data"]["attempt"] for e in record["events"] if e["type"] == "REVIEWER_RETRIED"] == [2]
    assert last(table) == "PARSER_ERROR_MISSING_VERDICT"
    errors = [e["data"] for e in record["events"] if e["type"] == "PARSER_ERROR"]
    assert [e["attempt"] for e in errors] == [1, 2]
    assert record["rounds"] == []  # R-A8
    assert [record["artifacts"][e["output_ref"]] for e in errors] == ["no verdict here", "still none"]


@pytest.mark.rule("R-A1")
def test_r_a1_every_round_has_its_own_retry():
    table = retried()
    table.review(REVISE)
    table.draft()
    table.review("none again")
    assert table.state.attempt == 2
    table.review(APPROVED)
    table.final()
    assert table.outcome == State.TERMINATED_APPROVED
    assert [row["attempt"] for row in table.record()["parser"]] == [1, 2, 1, 2]


def test_8_2_a_retried_review_consults_the_notebook_again():
    table = reviewing_hook()
    table.hook("during")
    table.review("no verdict")
    assert table.state.owed[0].expects[0] == "HOOK_RESULT"
    table.hook("during")
    table.review(APPROVED)
    told = [e["data"] for e in table.record()["events"] if e["type"] == "HOOK_EXECUTED"]
    assert [(d["phase"], d["round_index"], d["attempt"]) for d in told[1:]] == [
        ("during", 1, 1),
        ("during", 1, 2),
    ]


def test_t05_the_last_verdict_leads_and_a_warning_is_told():
    table = reviewing()
    table.review("VERDICT: REVISE\nVERDICT: APPROVED\nafterwards")
    assert table.state.phase == State.FINALIZING
    (warning,) = [e["data"] for e in table.record()["events"] if e["type"] == "PARSER_WARNING"]
    assert warning == {
        "code": "PARSER_WARNING_MULTIPLE_VERDICTS", "round_index": 1, "attempt": 1, "matches": 2
    }  # fmt: skip


def test_3_2_prose_never_decides():
    table = reviewing()
    table.review("I approve of this wholeheartedly. APPROVED!\nVERDICT: REVISE")
    assert table.state.phase == State.DRAFTING
    assert table.state.issues[0].kind == "unnamed"


# ------------------------------------------------------------------ inputs (6.2, 6.3, R-A5)


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"config": {"max_rounds": 0}}, "CONFIG_INVALID"),
        ({"config": {"max_rounds": 6}}, "CONFIG_INVALID"),
        ({"config": {"max_rounds": True}}, "CONFIG_INVALID"),
        ({"config": {"max_rounds": "5"}}, "CONFIG_INVALID"),
        ({"config": {"max_rounds": 5.0}}, "CONFIG_INVALID"),
        ({"config": {"session_resume_required": False}}, "CONFIG_INVALID"),
        ({"config": {"reviewer_mode": "read-write"}}, "CONFIG_INVALID"),
        ({"config": {"notebook_enabled": "yes"}}, "CONFIG_INVALID"),
        ({"config": {"extra": 1}}, "CONFIG_INVALID"),
        ({"config": {"x" * 19_000: 1}}, "CONFIG_INVALID"),
        ({"session_id": None}, "SESSION_ID_MISSING"),
        ({"session_id": ""}, "SESSION_ID_MISSING"),
        ({"session_id": " \n"}, "SESSION_ID_MISSING"),
        ({"session_id": 7}, "SESSION_ID_MISSING"),
        ({"session_id": "s" * 201}, "TASK_INVALID"),
        ({"task_id": None}, "TASK_INVALID"),
        ({"initial_prompt": "  "}, "TASK_INVALID"),
        ({"more": 1}, "TASK_INVALID"),
        ({"notebook_required": "no"}, "TASK_INVALID"),
        ({"config": {"notebook_enabled": True}}, "NOTEBOOK_CONTEXT_INVALID"),
        ({"notebook": {}}, "NOTEBOOK_CONTEXT_INVALID"),
        ({"notebook": {**NOTEBOOK, "tools": ["studio_create"]}}, "NOTEBOOK_CONTEXT_INVALID"),
        ({"notebook": {**NOTEBOOK, "notebook_id": " "}}, "NOTEBOOK_CONTEXT_INVALID"),
        ({"config": {"max_rounds": 0}, "session_id": None}, "CONFIG_INVALID"),
        ({"session_id": None, "task_id": None}, "SESSION_ID_MISSING"),
    ],
)
def test_bad_input_ends_in_an_error_with_its_reason_before_anything_happens(how, code):
    table = held(**how)
    record = table.record()
    assert table.outcome == State.TERMINATED_ERROR
    assert [(one["from"], one["to"]) for one in record["transitions"]] == [("INIT", "TERMINATED_ERROR")]
    assert last(table) == code
    assert (record["hooks"], record["rounds"], record["final_output"]) == ([], [], None)
    assert [e["type"] for e in record["events"]] == ["RUN_STARTED", "STATE_TRANSITION", "RUN_TERMINATED"]
    assert table.last("RUN_TERMINATED").body.reason == record["terminal_reason"]


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize(
    ("prompt", "categories"),
    [
        ("CPU at 93 % on web-3", "infra_telemetry"),
        ("Invoice #4412 is overdue\n\n- CPU at 93 % on web-3\n", "billing_admin, infra_telemetry"),
        ("[removed: secret]", "as it came"),
    ],
)
def test_r_a9_a_prompt_of_which_nothing_is_left_is_refused_and_nobody_is_asked(prompt, categories):
    table = held(initial_prompt=prompt)
    record = table.record()
    why = f"nothing is left of it but what was excluded ({categories}): say what is to be done"
    assert record["terminal_reason"] == f"TASK_INVALID: the task is invalid: initial_prompt: {why}"
    assert table.last("RUN_TERMINATED").body.reason == record["terminal_reason"]
    assert [(one["from"], one["to"]) for one in record["transitions"]] == [("INIT", "TERMINATED_ERROR")]
    assert (record["hooks"], record["rounds"], record["artifacts"]) == ([], [], {})
    assert not any(o.expects[0] == "DRAFT" for fx in table.effects for o in fx.opened)
    assert check(record).level == "Compliant"


@pytest.mark.rule("R-A9")
def test_r_a9_a_prompt_of_which_something_is_left_is_worked_on():
    table = held(initial_prompt="CPU at 93 % on web-3\nPlan how the desk should treat weekend gaps.")
    assert table.state.phase == State.DRAFTING
    assert table.state.prompt == "[removed: infra_telemetry]\nPlan how the desk should treat weekend gaps."


@pytest.mark.rule("R-A9")
def test_r_a9_a_record_that_goes_on_with_nothing_to_do_is_not_conformant():
    table = held()
    table.draft("A draft.")
    table.review("VERDICT: APPROVED")
    table.final("A draft.")
    record = table.record()
    assert check(record).level == "Compliant"
    record["task"]["initial_prompt"] = "[removed: infra_telemetry]"
    failed = [one.number for one in check(record).checks if not one.is_passed]
    assert failed == [12]


def test_4_3_an_enabled_notebook_is_named():
    reason = held(config={"notebook_enabled": True}).record()["terminal_reason"]
    assert reason == "NOTEBOOK_CONTEXT_INVALID: the notebook is enabled and none is named"


def test_a_notebook_that_is_given_and_disabled_is_not_asked():
    table = held(config={"notebook_enabled": False}, notebook=NOTEBOOK)
    assert table.state.phase == State.DRAFTING


# ------------------------------------------------------------------ the notebook (8, 9.4, R-A3)


@pytest.mark.parametrize("name", ["seeding", "reviewing_hook", "finalizing_hook", "capped_hook"])
@pytest.mark.parametrize("how", ["told", "silent"])
def test_9_4_a_notebook_that_fails_is_skipped_when_it_is_optional(name, how):
    table = WAYS[name]()
    phase = OWED[name][0]
    hook = PHASE.get(phase, "after")
    if how == "told":
        table.hook(hook, "SKIPPED_DEGRADED")
    else:
        table.wait(minutes=20)
    status = table.record()["hooks"][-1]
    assert (status["phase"], status["status"]) == (hook, "SKIPPED_DEGRADED")
    assert status["query"]
    event = [e for e in table.record()["events"] if e["type"] == "HOOK_EXECUTED"][-1]
    assert "timed out" in event["data"]["why"] or "timeout" in event["data"]["why"]
    assert (
        table.state.owed[0].expects[0]
        == {"before": "DRAFT", "during": "REVIEW", "after": "FINAL_OUTPUT"}[hook]
    )


@pytest.mark.rule("R-A3")
@pytest.mark.parametrize("way", ["before", "during", "after", "after the cap"])
@pytest.mark.parametrize("how", ["told", "silent"])
def test_r_a3_a_notebook_that_fails_ends_the_run_when_it_is_required(way, how):
    table = held(config={"max_rounds": 1}, **REQUIRED)
    hook = way.split()[0]
    state = State.SEEDING
    if hook != "before":
        table.hook("before")
        table.draft()
        state = State.REVIEWING
    if hook == "after":
        table.hook("during")
        table.review(REVISE if "cap" in way else APPROVED)
        state = State.REVISING if "cap" in way else State.FINALIZING
    assert table.state.phase == state
    if how == "told":
        table.hook(hook, "FAILED")
    else:
        table.wait(minutes=20)
    record = table.record()
    assert table.path()[-2:] == [state, "TERMINATED_ERROR"]
    assert record["terminal_reason"].startswith(
        f"NOTEBOOK_UNAVAILABLE: the task requires the notebook, and {hook} the loop"
    )
    assert record["hooks"][-1]["status"] == "FAILED"


@pytest.mark.parametrize(
    ("over", "field"),
    [
        ({"phase": "after"}, "phase"),
        ({"query": " "}, "query"),
        ({"status": "SKIPPED_DISABLED"}, "status"),
        ({"status": "FAILED"}, "status"),
        ({"status": "SKIPPED_DEGRADED"}, "evidence_refs"),
        ({"findings": (m.NotebookFinding(claim="c", evidence_ref="n#9", stance="supports"),)}, "findings"),
    ],
)
def test_8_a_hook_says_what_its_phase_allows(over, field):
    table = seeding()
    before = table.state
    fields = {"phase": "before", "query": "q", "evidence_refs": ("n#1",), "status": "SUCCESS", **over}
    env = table.say(PLANNER, m.HookResult(**fields))
    assert table.effects[env.seq - 1].violation.field == field
    assert table.state is before


@pytest.mark.parametrize("blank", ["", " \n"])
def test_8_2_claims_and_references_are_never_blank(blank):
    good = {"claim": "c", "evidence_ref": "n#1", "stance": "contradicts"}
    for field in ("claim", "evidence_ref"):
        with pytest.raises(ValidationError):
            m.NotebookFinding(**{**good, field: blank})
    with pytest.raises(ValidationError):
        m.HookResult(phase="during", query="q", evidence_refs=(blank,), status="SUCCESS")


def test_9_4_a_required_notebook_is_not_skipped():
    table = held(**REQUIRED)
    env = table.hook("before", "SKIPPED_DEGRADED")
    assert table.effects[env.seq - 1].violation.field == "status"
    assert table.state.phase == State.SEEDING


@pytest.mark.rule("R-A10")
def test_r_a10_a_contradiction_is_listed_and_the_verdict_stands():
    table = reviewing_hook()
    table.contradicted()
    table.review("VERDICT: APPROVED")
    record = table.record()
    assert table.state.phase == State.FINALIZING
    (issue,) = record["rounds"][0]["issues"]
    assert (issue["kind"], issue["claim"], issue["evidence_ref"]) == ("contradiction", "widgets fly", "n#2")
    (warning,) = [e["data"] for e in record["events"] if e["type"] == "REVIEW_WARNING"]
    assert warning == {"code": "APPROVED_WITHOUT_RATIONALE", "round_index": 1}


@pytest.mark.rule("R-A10")
@pytest.mark.parametrize("text", [APPROVED, REVISE])
def test_r_a10_an_approval_with_its_rationale_and_a_revise_warn_of_nothing(text):
    table = reviewing_hook()
    table.contradicted()
    table.review(text)
    assert not [e for e in table.record()["events"] if e["type"] == "REVIEW_WARNING"]


@pytest.mark.parametrize(
    ("text", "is_warned"),
    [
        ("RATIONALE: x.\nVERDICT: APPROVED", False),
        ("- x\nVERDICT: REVISE\n \n\t\n", False),
        ("VERDICT: APPROVED\nRATIONALE: x.", True),
        ("VERDICT: REVISE\r\n- x\r\n", True),
        ("VERDICT: REVISE\rbut VERDICT: APPROVED", True),
    ],
)
def test_7_1_a_verdict_that_is_not_the_last_line_stands_and_is_warned_of(text, is_warned):
    table = reviewing()
    table.review(text)
    record = table.record()
    warnings = [e["data"] for e in record["events"] if e["type"] == "REVIEW_WARNING"]
    assert warnings == ([{"code": "VERDICT_NOT_LAST", "round_index": 1}] if is_warned else [])
    assert record["rounds"][0]["verdict"] == ("REVISE" if "VERDICT: REVISE" in text else "APPROVED")


def test_8_2_check_9_takes_no_longer_reference_for_a_mention():
    table = reviewing_hook()
    table.hook("during", refs=("notes.md#2",))
    table.review("RATIONALE: see my-notes.md#2\nVERDICT: APPROVED")
    table.hook("after")
    table.final()
    record = table.record()
    assert [one["kind"] for one in record["rounds"][0]["issues"]] == ["evidence"]
    assert all(one.is_passed for one in check(record).checks if one.number == 9)
    record["rounds"][0]["issues"] = []
    (ninth,) = [one for one in check(record).checks if one.number == 9]
    assert not ninth.is_passed
    assert any("is neither in the review nor in the issues" in why for why in ninth.evidence)


@pytest.mark.rule("R-A10")
def test_r_a10_support_needs_no_rationale():
    table = reviewing_hook()
    table.hook("during", findings=(m.NotebookFinding(claim="c", evidence_ref="n#1", stance="supports"),))
    table.review("n#1\nVERDICT: APPROVED")
    assert not [e for e in table.record()["events"] if e["type"] == "REVIEW_WARNING"]
    assert table.record()["rounds"][0]["issues"] == []


def test_8_2_a_retry_keeps_what_the_first_pass_consulted_and_found_and_the_next_round_does_not():
    table = reviewing_hook()
    table.contradicted()
    table.review("no verdict")
    table.hook("during", refs=("n#7",))
    table.review("VERDICT: REVISE")
    issues = table.record()["rounds"][0]["issues"]
    assert [(one["kind"], one["evidence_ref"]) for one in issues] == [
        ("contradiction", "n#2"),
        ("evidence", "n#7"),
    ]
    table.draft()
    table.hook("during", refs=())
    table.review("VERDICT: APPROVED")
    assert table.record()["rounds"][1]["issues"] == []


# ------------------------------------------------------------------ the session (6.3, 9.5)


@pytest.mark.parametrize(
    "over", [{"session_id": "other"}, {"session_id": ""}, {"resume_ref": "x"}, {"unresolved": ("r9-9",)}]
)
def test_9_5_a_review_without_the_resumed_session_ends_the_run_and_is_not_kept(over):
    table = second_draft()
    table.draft()
    table.review(APPROVED, **over)
    record = table.record()
    assert table.outcome == State.TERMINATED_ERROR
    assert last(table) == "SESSION_RESUME_MISSING"
    assert [e["data"]["round_index"] for e in record["events"] if e["type"] == "SESSION_RESUME_MISSING"] == [
        2
    ]
    assert len(record["parser"]) == len(record["rounds"]) == 1
    assert not any("round-2/review" in ref for ref in record["artifacts"])


def test_9_5_a_reference_is_good_for_one_review():
    table = reviewing()
    used = table.state.resume_ref
    table.review(REVISE)
    table.draft()
    assert table.state.resume_ref != used
    table.review(APPROVED, resume_ref=used)
    assert last(table) == "SESSION_RESUME_MISSING"


def test_t09_round_two_resumes_round_one_with_what_it_left_unresolved():
    table = reviewing()
    table.review("- a\n- b\nVERDICT: REVISE")
    table.draft()
    invoked = [e["data"] for e in table.record()["events"] if e["type"] == "REVIEWER_INVOKED"]
    assert [d["resumed_round"] for d in invoked] == [0, 1]
    assert [d["unresolved"] for d in invoked] == [[], ["r1-1", "r1-2"]]
    assert {d["mode"] for d in invoked} == {"read-only"}
    assert invoked[0]["resume_ref"] != invoked[1]["resume_ref"]
    table.review(APPROVED)
    assert table.state.phase == State.FINALIZING


@pytest.mark.parametrize(
    ("over", "field"),
    [({"round_index": 2}, "round_index"), ({"round_index": 0}, "round_index"), ({"attempt": 2}, "attempt")],
)
def test_a_review_of_another_round_or_attempt_is_a_violation(over, field):
    table = reviewing()
    before = table.state
    env = table.review(APPROVED, **over)
    assert table.effects[env.seq - 1].violation.field == field
    assert table.state is before


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_draft_of_another_round_is_a_violation(n):
    table = second_draft()
    before = table.state
    env = table.draft("x", round_index=n)
    assert table.effects[env.seq - 1].violation.field == "round_index"
    assert table.state is before


# ------------------------------------------------------------------ faults and ends


@pytest.mark.rule("R-A7")
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("fault", ["SAFETY_VIOLATION", "SESSION_RESUME_MISSING"])
def test_r_a7_a_fault_ends_the_run_from_every_state_and_is_recorded(name, fault):
    table = WAYS[name]()
    phase, seat, _ = OWED[name]
    rounds = table.record()["rounds"]
    table.fault(seat, fault)
    record = table.record()
    assert table.outcome == State.TERMINATED_ERROR
    assert table.path()[-2:] == [phase, "TERMINATED_ERROR"]
    assert last(table) == fault
    (event,) = [e["data"] for e in record["events"] if e["type"] == fault]
    if fault == "SAFETY_VIOLATION":
        assert (event["seat"], event["tool"], event["detail"]) == (seat, "write_file", "path ./x")
    assert record["rounds"] == rounds
    assert record["final_output"] is None


@pytest.mark.parametrize("name", ["drafting", "second_draft", "reviewing", "retried", "finalizing"])
def test_a_seat_that_is_silent_ends_the_run(name):
    table = WAYS[name]()
    _, seat, kind = OWED[name]
    table.wait(minutes=30)
    assert table.outcome == State.TERMINATED_ERROR
    assert table.record()["terminal_reason"] == f"TIMEOUT: the {seat.capitalize()} owed {kind} and was silent"


@pytest.mark.parametrize("name", WAYS)
def test_nothing_is_void_before_its_grace_is_over(name):
    table = WAYS[name]()
    owed = table.state.owed[0]
    assert (owed.within, owed.grace) == (
        timedelta(minutes=10 if owed.expects[0] == "HOOK_RESULT" else 20),
        timedelta(minutes=10),
    )
    table.until(owed.void_at - timedelta(microseconds=1))
    assert table.state.owed == (owed,)
    table.until(owed.void_at)
    assert owed.id not in table.docket.open


@pytest.mark.rule("K6")
@pytest.mark.parametrize("name", WAYS)
def test_k6_an_outage_is_nobodys_silence(name):
    table = WAYS[name]()
    due = table.state.owed[0].due_at
    table.wait(minutes=1)
    table.down(hours=5)
    assert table.state.owed[0].due_at == due + timedelta(hours=5)
    table.wait(minutes=1)
    _, seat, kind = OWED[name]
    put(table, seat, body_of(kind, table))
    assert "TIMEOUT" not in (table.record()["terminal_reason"] or "")


@pytest.mark.rule("K5")
def test_k5_an_answer_in_its_grace_counts():
    table = drafting()
    table.wait(minutes=29)
    table.draft()
    assert table.state.phase == State.REVIEWING


@pytest.mark.rule("K21")
@pytest.mark.parametrize("name", WAYS)
def test_k21_a_stop_ends_the_run_from_every_state(name):
    table = WAYS[name]()
    phase = table.state.phase
    table.say(ADMIN, Stop(scope=table.run_id, why="enough"), channel="#admin")
    assert table.outcome == State.TERMINATED_ERROR
    assert table.path()[-2:] == [phase, "TERMINATED_ERROR"]
    assert last(table) == "STOPPED"
    assert not table.docket.open


@pytest.mark.parametrize("text", ["", "  \n", "\t\r\n"])
def test_a_blank_draft_ends_the_run(text):
    table = drafting()
    table.draft(text)
    assert last(table) == "EMPTY_DRAFT"


def test_a_blank_final_output_ends_the_run():
    table = finalizing()
    table.final(" \n")
    assert last(table) == "EMPTY_FINAL_OUTPUT"
    assert table.path()[-2:] == ["FINALIZING", "TERMINATED_ERROR"]


LONG = "so it is " * 2000 + "x"


def test_a_reason_is_one_bounded_line_whatever_a_seat_says():
    told = m.HookResult(phase="before", query="q", evidence_refs=(), status="FAILED", why=f"a\nb {LONG}")
    table = held(**REQUIRED)
    table.say(PLANNER, told)
    faulty = reviewing()
    faulty.say(REVIEWER, m.RunFault(fault="SESSION_RESUME_MISSING", tool=LONG, detail=LONG))
    blocked = reviewing()
    blocked.say(REVIEWER, m.RunFault(fault="SAFETY_VIOLATION", tool=LONG, detail=LONG))
    other = reviewing()
    other.review(APPROVED, session_id=LONG)
    for ended in (table, faulty, blocked, other):
        reason = ended.record()["terminal_reason"]
        assert reason.isprintable()
        assert len(reason) < 1200
        assert ended.last("RUN_TERMINATED").body.reason == reason


def test_what_a_review_leaves_unresolved_always_fits_into_the_next_one():
    table = reviewing_hook()
    refs = tuple(f"n#{n}" for n in range(m.MOST_FINDINGS))
    found = tuple(m.NotebookFinding(claim="c", evidence_ref=ref, stance="contradicts") for ref in refs)
    table.hook("during", refs=refs, findings=found)
    table.review("no verdict")
    more = tuple(m.NotebookFinding(claim="d", evidence_ref=ref, stance="contradicts") for ref in refs)
    table.hook("during", refs=refs, findings=more)
    table.review("- x\n" * 2000 + "VERDICT: REVISE")
    assert len(table.state.issues) > 2 * m.MOST_FINDINGS
    table.draft()
    table.hook("during", refs=())
    table.review(APPROVED)
    assert table.state.phase == State.FINALIZING


# ------------------------------------------------------------------ ids and folds


def longest():
    """Hold a run with every obligation that there can be."""
    table = held(**OPTIONAL)
    table.hook("before")
    for _ in range(5):
        table.draft()
        table.hook("during")
        table.review("none")
        table.hook("during")
        table.review(REVISE)
    table.hook("after")
    table.final()
    return table


@pytest.mark.rule("K1")
def test_k1_ids_of_obligations_never_repeat():
    table = longest()
    ids = [o.id for fx in table.effects for o in fx.opened if o.case_id == table.run_id]
    assert len(ids) == len(set(ids)) == 1 + 5 * 5 + 2 + 1
    assert all(id_.startswith(f"{table.run_id}/") for id_ in ids)
    assert table.outcome == State.TERMINATED_MAX_ROUNDS


@pytest.mark.rule("K9")
@pytest.mark.parametrize("name", WAYS)
def test_k9_a_second_society_that_folds_the_same_log_gets_the_same_state(name):
    table = WAYS[name]()
    table.say(
        PLANNER,
        m.ArenaDraft(run_id=table.run_id, round_index=9, text="no"),
        channel="#r-arena",
        case_id=table.run_id,
    )
    other = Docket(rules())
    for env in table.log:
        other.fold(env)
    assert other.cases[table.run_id] == table.state
    assert other.open == table.docket.open


def test_an_admin_and_the_evolver_open_runs_and_nobody_else_does():
    for seat in (PLANNER, REVIEWER, FINALIZER, EXPLORER):
        with pytest.raises(Forbidden):
            ArenaTable().say(seat, m.ArenaTask(config={}, task={}), channel="#r-arena")
    table = ArenaTable()
    env = table.say(EVOLVER, m.ArenaTask(config={}, task={}), channel="#r-arena")
    assert table.docket.ended[env.body.run_id].outcome == State.TERMINATED_ERROR


def test_several_runs_go_on_beside_each_other():
    table = drafting()
    first = table.run_id
    table.run()
    assert table.run_id != first
    assert {first, table.run_id} <= table.docket.cases.keys()
    drafts = [o for o in table.docket.open.values() if "DRAFT" in o.expects]
    for owed in reversed(drafts):
        table.say(PLANNER, m.ArenaDraft(round_index=1, text="x"), owed=owed)
    assert {table.docket.cases[one].phase for one in (first, table.run_id)} == {State.REVIEWING}


@pytest.mark.rule("R-G4")
def test_r_g4_a_required_notebook_that_is_disabled_ends_the_run_before_its_first_round():
    table = held(notebook_required=True)
    record = table.record()
    assert record["terminal_state"] == "TERMINATED_ERROR"
    assert record["terminal_reason"].startswith("NOTEBOOK_UNAVAILABLE: the task requires a notebook")
    assert record["rounds"] == []
    assert not [e for e in record["events"] if e["type"] == "PLANNER_INVOKED"]
    assert all(one.is_passed for one in check(record).checks)


@pytest.mark.rule("R-G4")
@pytest.mark.parametrize("version", ["2", "3"])
def test_r_g4_a_run_of_an_older_log_begins_all_the_same(monkeypatch, version):
    monkeypatch.setattr(ArenaTable, "rules_version", version)
    table = held(notebook_required=True)
    table.draft()
    assert [step["to"] for step in table.record()["transitions"]] == ["DRAFTING", "REVIEWING"]


@pytest.mark.rule("R-G4")
def test_r_g4_an_enabled_or_optional_notebook_lets_the_run_begin():
    for table in (held(), held(**OPTIONAL), held(**REQUIRED)):
        assert table.record()["terminal_state"] is None
