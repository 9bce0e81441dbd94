"""The simulated Planner, Reviewer and Finalizer: seeded, and they answer what stands in each other's texts."""

import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from moot.bots.minds.simulated.arena.criteria import CRITERIA
from moot.bots.minds.simulated.arena.writer import SimulatedWriter, _section
from moot.bots.seats.weighing import MOST_CLAIMS, claims_of
from moot.bots.tools.seeding import generator
from moot.cases.arena.offline import RunOptions, run_offline
from moot.cases.arena.script import ArenaScript, NotebookScript
from moot.protocols.arena.conformance.checker import check
from moot.protocols.arena.seats import PLANNER, REVIEWER
from tests.doubles.arena_minds import SayingWriter, stage

TASK = {"task_id": "t1", "initial_prompt": "Shorten the debates of the exchange.", "session_id": "s1"}
NOTEBOOK = {"notebook_id": "nb", "tools": ["notebook_describe", "notebook_query"]}
SEEDS = range(200)

IN_ANOTHER_PROCESS = """
import json
from moot.cases.arena.offline import RunOptions, run_offline
from moot.cases.arena.script import ArenaScript
options = RunOptions(task={task!r}, notebook={notebook!r}, script=ArenaScript(), seed=7)
print(json.dumps(run_offline(options)))
"""


@cache
def record(seed, *, during=None, max_rounds=5):
    script = ArenaScript(notebook=NotebookScript(during=during)) if during else None
    config = {"notebook_enabled": during is not None, "max_rounds": max_rounds}
    notebook = NOTEBOOK if during else None
    return run_offline(RunOptions(task=TASK, config=config, notebook=notebook, script=script, seed=seed))


def texts(one, name):
    return [text for ref, text in one["artifacts"].items() if f"/{name}" in f"/{ref}"]


def capped():
    """Return runs that reached their cap."""
    return [one for one in map(record, SEEDS) if one["terminal_state"] == "TERMINATED_MAX_ROUNDS"]


def test_the_same_seed_gives_the_same_texts_in_another_process():
    here = run_offline(RunOptions(task=TASK, notebook=NOTEBOOK, script=ArenaScript(), seed=7))
    code = IN_ANOTHER_PROCESS.format(task=TASK, notebook=NOTEBOOK)
    for hash_seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == here


def test_other_seeds_give_other_drafts():
    assert len({texts(record(seed), "draft")[0] for seed in SEEDS}) > 20


def test_most_runs_take_two_or_three_rounds_some_one_and_some_reach_the_cap():
    rounds = Counter(len(record(seed)["rounds"]) for seed in SEEDS)
    assert set(rounds) == {1, 2, 3, 4, 5}
    assert rounds[2] + rounds[3] > len(SEEDS) / 2
    assert 1 <= len(capped()) <= len(SEEDS) / 10


def test_every_simulated_run_is_conformant():
    for one in [*map(record, SEEDS), *(record(seed, during="contradict") for seed in range(20))]:
        verdict = check(one)
        assert [(c.number, c.evidence) for c in verdict.checks if not c.is_passed] == []


def test_8_2_normal_drafts_are_far_below_the_limit_of_the_cross_check():
    drafts = [text for seed in SEEDS for text in texts(record(seed), "round-") if "VERDICT" not in text]
    most = max(len(claims_of(text)) for text in drafts)
    assert 8 < most < MOST_CLAIMS / 4


@pytest.mark.parametrize(("count", "is_warned"), [(MOST_CLAIMS, False), (MOST_CLAIMS + 1, True)])
@pytest.mark.parametrize("is_grounded", [True, False])
def test_8_2_a_review_warns_where_the_cross_check_cuts_the_draft(count, is_warned, is_grounded):
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [f"{a}{b}{c}ware" for a in letters for b in letters for c in "lm"][:count]
    draft = "\n".join(f"The component {word} stores records safely." for word in words)
    script = ArenaScript(planner=(draft,), notebook=NotebookScript())
    config = {"notebook_enabled": is_grounded, "max_rounds": 1}
    one = run_offline(RunOptions(task=TASK, config=config, notebook=NOTEBOOK, script=script))
    (review,) = texts(one, "round-1/review")
    assert ("\nWARNING: the draft claims more than the 200 claims" in review) is (is_warned and is_grounded)


@pytest.mark.parametrize("during", [None, "ok", "contradict"])
def test_t09_a_review_names_every_unresolved_item_of_the_round_before(during):
    seen = 0
    for seed in range(40):
        one = record(seed, during=during)
        for before, now in zip(one["rounds"], one["rounds"][1:], strict=False):
            review = one["artifacts"][now["reviewer_output_ref"]]
            left = [issue["id"] for issue in before["issues"] if issue["kind"] != "evidence"]
            assert left
            for item in left:
                assert f"From round {before['round_index']}, {item}: " in review
            seen += 1
    assert seen > 20


def test_a_review_says_of_an_item_whether_it_is_resolved():
    for one in map(record, SEEDS):
        for before, now in zip(one["rounds"], one["rounds"][1:], strict=False):
            review, draft = (one["artifacts"][now[f"{who}_output_ref"]] for who in ("reviewer", "planner"))
            for issue in before["issues"]:
                named = next(c for c in CRITERIA if c.asked in issue["text"])
                is_there = named.pattern.search(draft) is not None
                assert f"{issue['id']}: {'resolved' if is_there else 'still open'}." in review


def test_a_reviewer_approves_exactly_when_nothing_is_missing():
    for one in map(record, SEEDS):
        for round_ in one["rounds"]:
            draft = one["artifacts"][round_["planner_output_ref"]]
            missing = [c.asked for c in CRITERIA if not c.pattern.search(draft)]
            assert (round_["verdict"] == "APPROVED") is not bool(missing)
            assert [issue["text"] for issue in round_["issues"]] == missing


def test_9_3_the_best_effort_at_the_cap_holds_a_notice_of_what_is_unresolved():
    assert capped()
    for one in capped():
        text = one["final_output"]
        assert "## Unresolved issues" in text
        for issue in one["rounds"][-1]["issues"]:
            assert f"- {issue['id']}: {issue['text']}" in text


def test_an_approved_output_has_all_sections_and_no_talk_about_rounds():
    text = record(1)["final_output"]
    assert all(one.pattern.search(text) for one in CRITERIA)
    assert "Unresolved" not in text
    assert "Changes in round" not in text


def test_t07_a_contradiction_is_named_and_the_claim_marked():
    one = record(3, during="contradict")
    first = one["rounds"][0]
    found = [issue for issue in first["issues"] if issue["kind"] == "contradiction"]
    assert found
    assert first["verdict"] == "REVISE"
    for issue in found:
        assert issue["evidence_ref"] in one["artifacts"][first["reviewer_output_ref"]]
        assert f"{issue['claim']} (disputed by " in texts(one, "draft")[1]


def test_vague_words_are_found_and_prompts_are_only_quoted():
    writer = SimulatedWriter(1)
    full = "\n\n".join(f"## {one.name}\n{one.section[0]}" for one in CRITERIA)
    table = stage({PLANNER: SayingWriter(lambda _work: f"{full}\n\nThe rest is TBD."), REVIEWER: writer})
    table.to("REVIEW").answer()
    assert [issue.text for issue in table.state.issues] == ["“TBD” decides nothing"]


@pytest.mark.parametrize(
    "prompt",
    [
        "## Goal\n## Steps",
        "{task} {0} %s",
        "x" * 20_000,
        "\u2028\x00 odd",
        "VERDICT: APPROVED\nVERDICT: REVISE",
    ],
)
def test_any_prompt_can_be_worked_on(prompt):
    one = run_offline(RunOptions(task={**TASK, "initial_prompt": prompt}, config={"notebook_enabled": False}))
    assert one["terminal_state"] in ("TERMINATED_APPROVED", "TERMINATED_MAX_ROUNDS")
    assert check(one).is_conformant


def test_a_plan_for_a_task_of_ones_own_does_not_speak_of_the_society() -> None:
    said = " ".join(text for seed in SEEDS for text in texts(record(seed), "round-"))
    said = said.replace(TASK["initial_prompt"].rstrip("."), "")
    assert not [one for one in ("debate", "hypotheses", "the log", "seed", "Evolver") if one in said]
    assert all(len(one.section) == len(one.elsewhere) for one in CRITERIA), "the draws are the same"


def test_a_section_takes_goal_measure_and_risk_from_the_prompt() -> None:
    prompt = (
        "Refine the notes of arch_001: Screen hypotheses before they are proposed\n"
        "Objection of round 1: A screen decides without being argued with.\n"
        "Answer: the week had 16 cases of repeated failure."
    )
    said = {one.name: _section(one, prompt, generator("arena", 1)) for one in CRITERIA}
    assert "Screen hypotheses before they are proposed" in said["Goal"] and "the task" not in said["Goal"]
    assert "16 cases of repeated failure" in said["Measure"]
    assert "A screen decides without being argued with" in said["Risks"]
