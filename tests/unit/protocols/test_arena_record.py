"""The audit record: what happened and nothing else, complete and partial, clean of excluded content (11, R-A9)."""

import hashlib
import json
from datetime import timedelta

import pytest

from moot.protocols.arena import messages as m
from moot.protocols.arena.conformance.checker import check
from moot.protocols.arena.record import audit_record, versions_of
from moot.protocols.arena.relevance import excess
from moot.protocols.arena.seats import PLANNER, REVIEWER
from moot.protocols.arena.states import State
from moot.protocols.kernel.duties import void_of
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.people import Note, Stop
from moot.protocols.kernel.redact import redact
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.kernel.times import rfc3339
from tests.doubles.arena_table import NOTEBOOK, ArenaTable

APPROVED, REVISE = "RATIONALE: all there.\nVERDICT: APPROVED", "- no goal\nVERDICT: REVISE"
KEYS = [
    "config", "task", "notebook", "transitions", "rounds", "hooks", "events", "parser", "artifacts",
    "terminal_state", "terminal_reason", "final_output",
]  # fmt: skip
EXCESS = "CPU usage: 93 %"
SECRET = "password = hunter2secret"


def two_rounds():
    table = ArenaTable()
    table.run(notebook=NOTEBOOK)
    table.wait(minutes=1)
    table.hook("before")
    table.wait(minutes=1)
    table.draft("First plan.")
    table.wait(minutes=1)
    table.hook("during", refs=("n#2",))
    table.review("nothing said")
    table.hook("during", refs=("n#3",))
    table.wait(minutes=1)
    table.review("n#3 says so.\n- no goal\nVERDICT: APPROVED\nVERDICT: REVISE")
    table.draft("Second plan.")
    table.hook("during", refs=())
    table.review(APPROVED)
    table.hook("after", refs=("n#1",))
    table.final("Second plan, final.")
    return table


def messages(table):
    return [env for env in table.log if env.case_id == table.run_id]


def events(record, kind):
    return [one["data"] for one in record["events"] if one["type"] == kind]


def ref(name, text):
    return f"{name}/sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_a_record_has_exactly_its_keys_and_is_json():
    record = two_rounds().record()
    assert [*record] == [*KEYS, "rules_version"]
    assert json.loads(json.dumps(record)) == record


def test_a_record_says_what_happened():
    table = two_rounds()
    record = table.record()
    texts = {
        "round-1/draft": "First plan.",
        "round-1/review-1": "nothing said",
        "round-1/review-2": "n#3 says so.\n- no goal\nVERDICT: APPROVED\nVERDICT: REVISE",
        "round-2/draft": "Second plan.",
        "round-2/review-1": APPROVED,
        "final": "Second plan, final.",
    }
    assert record["artifacts"] == {ref(name, text): text for name, text in texts.items()}
    assert record["final_output"] == "Second plan, final."
    assert [(r["round_index"], r["verdict"], [i["id"] for i in r["issues"]]) for r in record["rounds"]] == [
        (1, "REVISE", ["r1-1", "r1-2"]), (2, "APPROVED", [])
    ]  # fmt: skip
    first = record["rounds"][0]
    assert first["planner_output_ref"] == ref("round-1/draft", texts["round-1/draft"])
    assert first["reviewer_output_ref"] == ref("round-1/review-2", texts["round-1/review-2"])
    assert [
        (p["round_index"], p["attempt"], p["code"], p["line"], p["verdict"]) for p in record["parser"]
    ] == [
        (1, 1, "PARSER_ERROR_MISSING_VERDICT", None, None),
        (1, 2, "PARSER_WARNING_MULTIPLE_VERDICTS", 4, "REVISE"),
        (2, 1, None, 2, "APPROVED"),
    ]
    assert [(h["phase"], h["evidence_refs"], h["status"]) for h in record["hooks"]] == [
        ("before", ["n#1"], "SUCCESS"), ("during", ["n#2"], "SUCCESS"), ("during", ["n#3"], "SUCCESS"),
        ("during", [], "SUCCESS"), ("after", ["n#1"], "SUCCESS"),
    ]  # fmt: skip
    assert (record["terminal_state"], record["terminal_reason"]) == (
        "TERMINATED_APPROVED", "APPROVED: approved in round 2, the final output stands"
    )  # fmt: skip


def test_every_entry_has_the_instant_of_the_message_that_made_it():
    table = two_rounds()
    record = table.record()
    sent = {
        kind: [rfc3339(e.sent_at) for e in messages(table) if e.body.type == kind] for kind in table.kinds()
    }
    assert record["events"][0]["at"] == sent["ARENA_TASK"][0]
    assert [r["timestamp"] for r in record["rounds"]] == sent["REVIEW"][1:]
    assert record["transitions"][2]["at"] == sent["DRAFT"][0]
    assert record["events"][-1]["at"] == sent["RUN_TERMINATED"][0]
    instants = [e["at"] for e in record["events"]]
    assert instants == sorted(instants)


def test_events_mirror_transitions_hooks_and_rounds():
    record = two_rounds().record()
    steps = [(e["at"], *e["data"].values()) for e in record["events"] if e["type"] == "STATE_TRANSITION"]
    assert steps == [(t["at"], t["from"], t["to"], t["reason"]) for t in record["transitions"]]
    told = events(record, "HOOK_EXECUTED")
    assert [(d["phase"], d["status"], d["evidence_refs"]) for d in told] == [
        (h["phase"], h["status"], h["evidence_refs"]) for h in record["hooks"]
    ]
    assert [(d["round_index"], d["attempt"]) for d in told] == [(0, 0), (1, 1), (1, 2), (2, 1), (2, 1)]
    assert events(record, "ROUND_RECORDED") == [
        {"round_index": r["round_index"], "verdict": r["verdict"]} for r in record["rounds"]
    ]
    assert [e["type"] for e in record["events"]].count("RUN_TERMINATED") == 1


def test_a_record_of_moot_passes_all_thirteen_checks():
    verdict = check(two_rounds().record())
    assert [(one.number, one.evidence) for one in verdict.checks if not one.is_passed] == []


@pytest.mark.rule("K10")
def test_k10_what_broke_a_rule_changes_nothing_in_the_record():
    table = ArenaTable()
    table.run()
    table.draft("wrong", round_index=4)
    table.say(
        REVIEWER,
        m.RunFault(fault="SAFETY_VIOLATION", detail="x"),
        channel="#r-arena",
        case_id=table.run_id,
    )
    table.draft("right")
    table.review(APPROVED)
    table.final()
    record = table.record()
    assert [text for name, text in record["artifacts"].items() if "draft" in name] == ["right"]
    assert record["terminal_state"] == "TERMINATED_APPROVED"
    assert events(record, "SAFETY_VIOLATION") == []


@pytest.mark.rule("K10")
@pytest.mark.parametrize("is_told", [True, False])
def test_k10_a_violation_that_is_not_told_yet_changes_nothing_either(is_told):
    table = ArenaTable()
    table.run()
    before = table.record()
    table.post(PLANNER, m.ArenaDraft(round_index=7, text="wrong"))
    if is_told:
        table.officers()
    assert table.record() == before


@pytest.mark.rule("K14")
def test_k14_a_good_answer_of_an_older_tenure_changes_nothing():
    table = ArenaTable()
    table.run()
    (owed,) = table.state.owed
    before = table.record()
    body = m.ArenaDraft(round_index=1, text="A plan.")
    draft = Draft(
        channel=owed.channel,
        author=owed.seat,
        body=body,
        actor=Actor("bot"),
        case_id=table.run_id,
        obligation_id=owed.id,
        tenure=3,
    )
    env = table.publish(draft)
    assert table.effects[env.seq - 1].violation.rule == "K14"
    table.officers()
    assert table.record() == before
    assert table.state.phase == State.DRAFTING


@pytest.mark.rule("K5")
def test_k5_a_ruling_that_comes_after_the_answer_changes_nothing():
    table = ArenaTable()
    table.run()
    owed = table.state.owed[0]
    table.until(owed.void_at - timedelta(seconds=1))
    ruling = void_of(table.docket, owed)
    table.now = owed.void_at
    table.post(PLANNER, m.ArenaDraft(round_index=1, text="just in time"))
    env = table.publish(ruling)
    assert table.effects[env.seq - 1].superseded
    table.review(APPROVED)
    table.final()
    assert table.record()["terminal_state"] == "TERMINATED_APPROVED"
    assert env in messages(table)


@pytest.mark.rule("K5")
def test_k5_an_answer_after_its_ruling_changes_nothing():
    table = ArenaTable()
    table.run()
    owed = table.state.owed[0]
    table.wait(minutes=40)
    ended = table.record()
    table.say(PLANNER, m.ArenaDraft(run_id=table.run_id, round_index=1, text="late"), owed=owed)
    assert table.record() == ended
    assert ended["terminal_reason"].startswith("TIMEOUT: ")


def test_notes_pings_and_other_remarks_stand_in_no_record():
    table = ArenaTable()
    table.run()
    before = table.record()
    note = Note(text="hurry", about_case_id=table.run_id)
    table.say(ADMIN, note, channel="#r-arena", case_id=table.run_id)
    table.wait(minutes=21)
    assert "TIMEOUT_PING" in table.kinds()
    assert table.record() == before


def test_the_record_of_a_run_under_way_is_a_beginning_of_the_whole_one():
    table = two_rounds()
    whole, said = table.record(), messages(table)
    for n in range(1, len(said)):
        part = audit_record(said[:n])
        for key in ("transitions", "rounds", "hooks", "events", "parser"):
            assert part[key] == whole[key][: len(part[key])]
        assert part["artifacts"].items() <= whole["artifacts"].items()
        is_over = bool(part["transitions"]) and part["transitions"][-1]["to"] == "TERMINATED_APPROVED"
        assert (part["terminal_state"] is not None) is is_over
    assert audit_record(said, versions=versions_of(table.log)) == whole


def test_a_stop_stands_in_the_record():
    table = ArenaTable()
    table.run()
    table.draft()
    table.say(ADMIN, Stop(scope=table.run_id, why="enough"), channel="#admin")
    record = table.record()
    assert record["terminal_reason"] == "STOPPED: an admin stopped it"
    assert [t["to"] for t in record["transitions"]][-2:] == [State.REVIEWING, State.TERMINATED_ERROR]


@pytest.mark.parametrize("n", [0, 1])
def test_a_record_begins_with_its_task(n):
    with pytest.raises(ValueError, match="begins with ARENA_TASK"):
        audit_record(messages(two_rounds())[1 : 1 + n])


# ------------------------------------------------------------------ R-A9


def is_clean(record):
    def texts(value):
        if isinstance(value, dict):
            for key, part in value.items():
                yield key
                yield from texts(part)
        elif isinstance(value, list):
            for part in value:
                yield from texts(part)
        elif isinstance(value, str):
            yield value

    return not [text for text in texts(record) if excess(text) or redact(text) != text]


CHATTER = "the designer wants another banner"


@pytest.mark.rule("R-A9", "R-G17")
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_r_a9_a_run_is_filtered_and_judged_by_the_rules_of_its_log(version, monkeypatch):
    monkeypatch.setattr(ArenaTable, "rules_version", version)
    table = ArenaTable()
    table.run()
    table.draft(f"A plan.\n{CHATTER}")
    table.review("- no goal\nVERDICT: REVISE")
    table.draft("Better.")
    table.review("VERDICT: APPROVED")
    table.final(f"Done.\n{CHATTER}")
    record = table.record()
    is_scored = version == "4"
    assert (CHATTER in record["final_output"]) is not is_scored
    assert any(CHATTER in text for text in record["artifacts"].values()) is not is_scored
    assert record.get("rules_version") == ("4" if is_scored else None)
    assert check(record).checks[12].is_passed
    # The same texts in a record of the newest rules are excess, in one that names no version they are not.
    spoiled = {**record, "final_output": f"Done.\n{CHATTER}"}
    assert check({**spoiled, "rules_version": "3"}).checks[12].is_passed
    assert check({key: spoiled[key] for key in spoiled if key != "rules_version"}).checks[12].is_passed
    for named in ("4", "5", 4, "four", None if is_scored else "4"):
        if named is not None:
            assert not check({**spoiled, "rules_version": named}).checks[12].is_passed


@pytest.mark.rule("R-A9", "R-G17")
def test_r_a9_each_message_of_a_run_is_taken_by_the_rules_in_force_when_it_was_said():
    table = ArenaTable()
    table.run()
    table.draft(f"A plan.\n{CHATTER}")
    review = table.review("- no goal\nVERDICT: REVISE")
    table.draft(f"Better.\n{CHATTER}")
    said = [env for env in table.log if env.case_id == table.run_id]
    record = audit_record(said, versions=[(0, "3"), (review.seq, "4")])
    texts = [text for ref, text in record["artifacts"].items() if "/draft" in ref]
    assert [CHATTER in text for text in texts] == [True, False]
    assert "rules_version" not in record


def filtered(record):
    return [one["where"] for one in events(record, "RELEVANCE_FILTERED")]


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("bad", [EXCESS, SECRET])
def test_r_a9_excluded_content_of_drafts_reviews_and_outputs_is_taken_out_and_listed(bad):
    table = ArenaTable()
    table.run()
    table.draft(f"A plan.\n{bad}\nThe end.")
    table.review(f"- {bad}\n- no goal\nVERDICT: REVISE")
    table.draft("Better.")
    table.review(f"{bad}\nVERDICT: APPROVED")
    table.final(f"{bad}\nDone.")
    record = table.record()
    assert is_clean(record)
    assert [where.split("/sha256")[0] for where in filtered(record)] == [
        "round-1/draft", "round-1/review-1", "round-2/review-1", "final"
    ]  # fmt: skip
    (draft,) = [text for name, text in record["artifacts"].items() if name.startswith("round-1/draft")]
    assert draft.startswith("A plan.\n")
    assert draft.endswith("\nThe end.")
    assert record["final_output"].endswith("\nDone.")
    assert check(record).is_conformant


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("bad", [EXCESS, SECRET])
def test_r_a9_excluded_content_of_the_task_is_taken_out_wherever_it_stands(bad):
    table = ArenaTable()
    notebook = {**NOTEBOOK, "notebook_id": bad}
    table.run(initial_prompt=f"Plan.\n{bad}", task_id=bad, round_history_refs=["r1", bad], notebook=notebook)
    record = table.record()
    assert is_clean(record)
    assert filtered(record) == [
        "task.task_id", "task.initial_prompt", "task.round_history_refs[1]", "notebook.notebook_id"
    ]  # fmt: skip
    assert table.state.prompt.startswith("Plan.\n")
    assert bad not in str(table.state)


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("bad", [EXCESS, SECRET])
def test_r_a9_invalid_input_is_no_way_around_the_filter(bad):
    table = ArenaTable()
    table.run(config={"max_rounds": 9, bad: [bad]}, initial_prompt=bad)
    record = table.record()
    assert record["terminal_reason"].startswith("CONFIG_INVALID: ")
    assert is_clean(record)
    assert record["config"]["max_rounds"] == 9


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("bad", [EXCESS, SECRET])
def test_r_a9_what_hooks_ask_and_find_is_filtered_too(bad):
    table = ArenaTable()
    table.run(notebook=NOTEBOOK)
    table.hook("before", query=bad)
    table.draft()
    table.hook(
        "during",
        refs=(bad,),
        findings=(m.NotebookFinding(claim=bad, evidence_ref=bad, stance="contradicts"),),
        query="q",
    )
    table.review(REVISE)
    table.draft()
    table.say(
        REVIEWER,
        m.HookResult(phase="during", query="q", evidence_refs=(), status="SKIPPED_DEGRADED", why=bad),
    )
    record = table.record()
    assert is_clean(record)
    assert filtered(record)[0] == "before-hook-0.query"


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("bad", [EXCESS, SECRET])
def test_r_a9_what_a_shell_tells_of_a_fault_is_filtered_too(bad):
    for fault in ("SAFETY_VIOLATION", "SESSION_RESUME_MISSING"):
        table = ArenaTable()
        table.run()
        table.draft()
        table.say(REVIEWER, m.RunFault(fault=fault, tool=bad, detail=bad))
        assert is_clean(table.record())


@pytest.mark.rule("R-A9")
def test_r_a9_a_verdict_is_never_taken_out():
    table = ArenaTable()
    table.run()
    table.draft()
    table.review(f"-----BEGIN PRIVATE KEY-----\nabc\n{EXCESS}\nVERDICT: APPROVED")
    assert table.state.phase == State.FINALIZING
    assert is_clean(table.record())
