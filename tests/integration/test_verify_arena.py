"""Runs of the Arena in `moot verify`: what ended otherwise than its messages say is found at RUN_TERMINATED."""

import copy

import pytest

from moot.protocols.arena.messages import ArenaTask, RunTerminated
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.arena_table import NOTEBOOK, ArenaTable
from tests.doubles.tampering import judged, read, rehashed, stripped, write

REVISE = "1. say how wide\nVERDICT: REVISE"
APPROVED = "It holds.\nRATIONALE: it names the width\nVERDICT: APPROVED"


def a_run(*reviews, **how):
    table = ArenaTable()
    table.run(**how)
    for n, text in enumerate(reviews):
        if n == 0 or table.state.phase == "DRAFTING":
            table.draft(f"Plan {n}.")
        table.review(text)
    return table


def approved(**how):
    table = a_run(REVISE, APPROVED, **how)
    table.final()
    return table


def capped():
    table = a_run(REVISE, REVISE, config={"max_rounds": 2})
    table.final("As far as it goes.")
    return table


def with_notebook():
    table = ArenaTable()
    table.run(notebook=NOTEBOOK)
    table.hook("before")
    table.draft()
    table.hook("during")
    table.review("n#1 says so.\n" + REVISE)
    table.draft("Better.")
    table.contradicted()
    table.review("RATIONALE: n#2 is old\nVERDICT: APPROVED")
    table.hook("after")
    table.final()
    return table


def failed_notebook():
    table = ArenaTable()
    table.run(notebook=NOTEBOOK, notebook_required=True)
    table.hook("before", "FAILED")
    return table


def stateless():
    table = a_run(REVISE)
    table.draft("Better.")
    table.review(APPROVED, session_id="another")
    return table


def faulty(fault):
    table = ArenaTable()
    table.run()
    table.draft()
    table.fault(fault=fault)
    return table


def silent(minutes):
    table = ArenaTable()
    table.run()
    if minutes > 40:
        table.draft()
    table.wait(minutes=minutes)
    return table


def stopped():
    table = a_run(REVISE)
    table.say(ADMIN, Stop(scope=table.run_id, why="enough"), channel="#admin")
    return table


def with_a_violation():
    table = a_run(REVISE)
    table.draft("Of another round.", round_index=4)
    table.draft("Better.")
    table.review(APPROVED)
    table.final()
    return table


def given(**how):
    table = ArenaTable()
    table.run(**how)
    return table


RUNS = {
    "approved": approved,
    "capped": capped,
    "retried": lambda: (table := a_run("hm", APPROVED)).final() and table,
    "never parsed": lambda: a_run(REVISE, "hm", "hm again"),
    "blank draft": lambda: (table := given()).draft(" \n") and table,
    "blank final": lambda: (table := a_run(APPROVED)).final(" ") and table,
    "with notebook": with_notebook,
    "failed notebook": failed_notebook,
    "stateless": stateless,
    "write blocked": lambda: faulty("SAFETY_VIOLATION"),
    "no session": lambda: faulty("SESSION_RESUME_MISSING"),
    "silent planner": lambda: silent(35),
    "silent reviewer": lambda: silent(45),
    "stopped": stopped,
    "with a violation": with_a_violation,
    "invalid config": lambda: given(config={"max_rounds": 6}),
    "no session id": lambda: given(session_id=None),
    "invalid task": lambda: given(task_id=None),
    "no notebook named": lambda: given(config={"notebook_enabled": True}),
}


def lines_of(table):
    """Stop the society an hour later: by then every VIOLATION that is owed must stand."""
    if table.kinds()[-1] != "SOCIETY_STOPPED":
        table.wait(hours=1)
        table.stop()
    return read("".join(env.line + "\n" for env in table.log))


@pytest.mark.parametrize("name", sorted(RUNS))
def test_every_way_a_run_can_end_verifies(name):
    table = RUNS[name]()
    assert table.run_id in table.docket.ended, "the run must have ended for this to show anything"
    report = judged(lines_of(table))
    assert report.ok, report.findings


def test_two_runs_side_by_side_verify_and_an_open_one_is_left_alone():
    table = approved()
    table.wait(minutes=1)
    table.run()
    table.draft()
    report = judged(lines_of(table))
    assert report.ok, report.findings


def arena_findings(lines):
    report = judged(rehashed(lines), max_findings=50)
    return [(found.seq, found.rule, found.why) for found in report.findings if found.invariant == "arena"]


def altered(table, kind, change, n=0):
    lines = lines_of(table)
    places = [i for i, line in enumerate(lines) if line["body"]["type"] == kind]
    lines[places[n]] = copy.deepcopy(lines[places[n]])
    change(lines[places[n]]["body"])
    return lines


def set_to(**fields):
    return lambda body: body.update(fields)


def swapped(body):
    text = body["text"]
    mark = "VERDICT: "
    other = {"APPROVED": "REVISE", "REVISE": "APPROVED"}[text.rpartition(mark)[2]]
    body["text"] = text.rpartition(mark)[0] + mark + other


HIDE = pytest.mark.parametrize("hide", [rehashed, stripped], ids=["rehashed", "stripped"])


@HIDE
@pytest.mark.parametrize(
    ("name", "kind", "n", "change"),
    [
        ("approved", "REVIEW", 0, swapped),
        ("approved", "REVIEW", 1, swapped),
        ("capped", "REVIEW", 0, swapped),
        ("capped", "REVIEW", 1, swapped),
        ("retried", "REVIEW", 1, swapped),
        ("with notebook", "REVIEW", 1, swapped),
        ("approved", "REVIEW", -1, set_to(text="nothing")),
        ("never parsed", "REVIEW", -1, set_to(text=REVISE)),
        ("blank draft", "DRAFT", -1, set_to(text="A plan.")),
        ("blank final", "FINAL_OUTPUT", -1, set_to(text="Done.")),
        ("capped", "RUN_TERMINATED", -1, set_to(rounds=1)),
        ("never parsed", "RUN_TERMINATED", -1, set_to(state="TERMINATED_APPROVED")),
        ("approved", "RUN_TERMINATED", -1, set_to(state="TERMINATED_ERROR")),
        ("approved", "ARENA_TASK", -1, set_to(config={"notebook_enabled": False, "max_rounds": 1})),
    ],
)
def test_what_does_not_lead_to_the_runs_end_is_found(name, kind, n, change, hide):
    table = RUNS[name]()
    lines = altered(table, kind, change, n)
    at = next(one["seq"] for one, was in zip(lines, lines_of(table), strict=True) if one != was)
    found = {one.seq for one in judged(hide(lines), max_findings=50).findings}
    end = table.last("RUN_TERMINATED").seq
    assert any(at <= seq <= end for seq in found), found


def test_an_arena_message_without_a_run_keeps_nothing_in_memory():
    from moot.verify.audit.runs import Runs
    from moot.verify.report import Findings

    table = approved()
    runs = Runs(Findings())
    for env, fx in zip(table.log, table.effects, strict=True):
        runs.take(env, fx)
        opened = [e for e in table.log if isinstance(e.body, ArenaTask) and e.seq <= env.seq]
        ended = [e for e in table.log if isinstance(e.body, RunTerminated) and e.seq <= env.seq]
        assert len(runs) == len(opened) - len(ended)
    assert not len(runs)


def test_a_changed_review_with_old_hashes_is_found_where_it_stands():
    table = approved()
    report = judged(write(altered(table, "REVIEW", swapped)))
    assert report.findings[0].seq == next(e.seq for e in table.log if e.body.type == "REVIEW")


def test_12_each_check_that_the_record_of_an_ended_run_fails_is_a_finding_at_its_end():
    """A hook that the rules cannot read any more is no message: the record then ends in SEEDING."""
    table = with_notebook()
    found = arena_findings(altered(table, "HOOK_RESULT", lambda body: body.update(evidence_refs=[" "])))
    end = table.last("RUN_TERMINATED").seq
    assert {seq for seq, _, _ in found} == {end}
    (why,) = (why for _, rule, why in found if rule == "5.1, 5.2")
    assert why.startswith("check 3, All transitions follow section 5.1: ") and "SEEDING" in why
    assert len([why for _, _, why in found if why.startswith("check ")]) > 5
