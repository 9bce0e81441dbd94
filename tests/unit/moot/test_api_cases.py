"""`moot.debate`, `moot.arena` and `moot.panel`: one case in virtual time, its result and its log."""

import asyncio
import inspect
import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

import moot
from moot.cases.motion.offline import MotionOptions, hold_motion
from moot.minds import Mind
from moot.protocols.motion.messages import Claim, Judgment, Objections, Replies
from tests.doubles.command_line import complaint, done

TUTORIAL = Path(__file__).parents[3] / "docs" / "tutorial"
QUESTION = "Should we adopt a four-day week?"
PAPER = TUTORIAL / "first-panel" / "paper.md"
TASK = "Plan how the desk treats weekend gaps."


class Advocate(Mind):
    def answer(self, view):
        if view.obligation.expects[0] == "CLAIM":
            return Claim(option="yes", claim="It pays.", grounds=())
        if "replies-1" in view.obligation.id:
            replies = ({"number": 1, "answer": "Trials say so."}, {"number": 2, "concede": True})
            return Replies.model_validate_json(json.dumps({"round": 1, "replies": replies}))
        return Replies(round=2, replies=())


class Critic(Mind):
    def answer(self, view):
        if "objections-1" in view.obligation.id:
            raised = ({"number": 1, "text": "Who says so?", "severity": "major"},
                      {"number": 2, "text": "<b>It costs.</b>", "severity": "minor"})  # fmt: skip
            return Objections.model_validate_json(
                json.dumps({"round": 1, "objections": raised, "confidence": 0.7})
            )
        return Objections(round=2, objections=(), confidence=0.7)


class Judge(Mind):
    def answer(self, view):
        return Judgment(outcome="UPHELD", option="yes", confidence=0.8, for_score=0.8, against_score=0.3, standing=(2,),
                        reasoning="One objection stands, and it is minor.")  # fmt: skip


@pytest.fixture(scope="module")
def judged():
    return moot.debate(QUESTION, minds={"advocate": Advocate(), "critic": Critic, "judge": Judge})


def test_a_debate_tells_what_it_came_to_as_the_messages_say_it(judged):
    assert (judged.question, judged.options) == (QUESTION, ("yes", "no"))
    assert (judged.outcome, judged.claim, judged.answer, judged.confidence) == ("UPHELD", "yes", "yes", 0.8)
    assert judged.reasoning == "One objection stands, and it is minor."
    first, second = judged.objections
    assert (first.number, first.round, first.severity, first.answer, first.stands) == (
        1,
        1,
        "major",
        "Trials say so.",
        False,
    )
    assert (second.is_conceded, second.stands, second.answer) == (True, True, "")
    assert judged.case.outcome == "upheld" and judged.case.figures["conceded"] == [2]
    kinds = [env.body.type for env in judged.transcript]
    assert (
        kinds[0] == "MOTION" and kinds[-1] == "JUDGMENT" and set(kinds) >= {"CLAIM", "OBJECTIONS", "REPLIES"}
    )
    assert judged.verify().ok and not judged.verify().findings


def test_who_wrote_it_is_said_of_minds_of_ones_own_and_of_simulated_ones(judged):
    assert judged.written_by == (
        f"advocate: the mind {__name__}:Advocate; critic: the mind {__name__}:Critic; judge: the mind {__name__}:Judge"
    )
    simulated = moot.debate(QUESTION)
    assert simulated.written_by == "simulated, no model"
    assert "(simulated, no model) claims" in repr(simulated.transcript)
    assert "simulated, no model" in repr(simulated) and "simulated, no model" in simulated._repr_html_()
    assert "simulated, no model" not in repr(judged.transcript)


def test_a_debate_that_nobody_judges_is_a_timeout_and_no_judgment():
    silent = moot.debate(QUESTION, minds={"judge": "silent", "advocate": Advocate, "critic": Critic})
    assert (silent.outcome, silent.answer, silent.confidence, silent.reasoning) == ("TIMEOUT", "", None, "")
    assert [one.stands for one in silent.objections] == [False, True]
    assert "2, 1 of them stands" in str(silent)
    assert moot.debate(QUESTION, minds={"advocate": "silent"}).claim == ""


def test_results_are_frozen_json_and_escaped(judged):
    with pytest.raises(FrozenInstanceError):
        judged.outcome = "REJECTED"
    assert json.loads(json.dumps(judged.to_dict()))["objections"][1]["text"] == "<b>It costs.</b>"
    shown = judged.transcript._repr_html_() + judged.case._repr_html_() + judged._repr_html_()
    assert "<b>It" not in shown and "&lt;b&gt;It" in shown


def test_the_same_seed_gives_the_same_log_here_awaited_kept_or_without_the_api(tmp_path):
    async def main():
        beside = moot.debate(QUESTION, options=("yes", "no", "later"), seed=4)
        return beside, await moot.adebate(
            QUESTION, options=("yes", "no", "later"), seed=4, out=tmp_path / "kept"
        )

    here = moot.debate(QUESTION, options=("yes", "no", "later"), seed=4)
    beside, kept = asyncio.run(main())
    below = hold_motion(MotionOptions(question=QUESTION, options=("yes", "no", "later"), seed=4))
    lines = [env.line for env in below.log]
    for one in (here, beside, kept):
        assert [env.line for env in one.log] == lines
        assert one.to_dict() == here.to_dict()
    assert moot.open_log(tmp_path / "kept").verify().ok
    assert "every rule holds" in done("verify", tmp_path / "kept")


def test_many_debates_at_a_time_do_not_disturb_each_other():
    async def main():
        return await asyncio.gather(*(moot.adebate(QUESTION, seed=seed) for seed in range(6)))

    for seed, one in enumerate(asyncio.run(main())):
        assert one.to_dict() == moot.debate(QUESTION, seed=seed).to_dict()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"question": ""}, "question: is empty"),
        ({"question": "x" * 100_000}, "question: has 100,000 characters"),
        ({"options": ("a", "A")}, "options: two options are the same"),
        ({"context": Path("nowhere.txt")}, "nowhere.txt: No such file or directory"),
        ({"context": 3}, "context: give a text or a pathlib.Path, not an int"),
        ({"minds": {"explorer": "simulated"}}, "minds: "),
        ({"minds": {"critic": "nowhere:Critic"}}, "minds.critic: there is no module 'nowhere'"),
        ({"seed": "one"}, "seed 'one': choose a whole number"),
    ],
)
def test_what_cannot_be_debated_is_one_line(given, line):
    with pytest.raises(moot.MootError) as caught:
        moot.debate(**{"question": QUESTION, **given})
    assert str(caught.value).startswith(line) and "\n" not in str(caught.value)


def test_a_context_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "picture").write_bytes(b"\x89PNG\xff")
    with pytest.raises(moot.BadInput, match="is not UTF-8: see byte 0"):
        moot.debate(QUESTION, context=tmp_path / "picture")


def test_a_task_is_refined_with_a_folder_of_notes(tmp_path):
    notes = TUTORIAL / "first-arena" / "notes"
    run = moot.arena(TASK, notebook=notes, out=tmp_path / "run")
    assert run.outcome == "TERMINATED_APPROVED" == run.record["terminal_state"]
    assert run.output == run.record["final_output"] != ""
    assert run.rounds == len(run.record["rounds"]) and run.written_by == "simulated, no model"
    assert {
        event["data"]["status"] for event in run.record["events"] if event["type"] == "HOOK_EXECUTED"
    } == {"SUCCESS"}
    assert run.verify().ok and moot.open_log(tmp_path / "run").cases == run.log.cases
    assert json.loads(json.dumps(run.to_dict())) == run.record
    assert "TERMINATED_APPROVED" in repr(run) and "<td" in run._repr_html_()


async def test_a_task_may_be_a_mapping_or_a_file_and_the_run_be_awaited(tmp_path):
    task = {"task_id": "gaps", "initial_prompt": TASK, "session_id": "s"}
    (tmp_path / "task.json").write_text(json.dumps(task))
    one = await moot.aarena(task, max_rounds=1)
    other = moot.arena(tmp_path / "task.json", max_rounds=1)
    assert one.record == other.record and one.rounds == 1


def test_a_paper_is_judged_by_a_panel(tmp_path):
    one = moot.panel(PAPER, contract="full", out=tmp_path / "panel")
    assert one.decision == one.record["editorial_decision"] and not one.aborted
    assert one.record["title"] == "Reading aloud and the attention of pupils"
    assert set(one.scores) and one.written_by == "simulated, no model"
    assert "5 reviewers" in one.report() and "simulated, no model" in one.report()
    assert one.verify().ok and moot.open_log(tmp_path / "panel").verify().ok
    assert json.loads(json.dumps(one.to_dict())) == one.record


async def test_a_panel_may_be_awaited_and_its_paper_be_a_text():
    one = await moot.apanel(PAPER.read_text(), contract="methodology_focus", seed=2)
    assert one.record == moot.panel(PAPER, contract="methodology_focus", seed=2).record


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: moot.panel(PAPER, contract="nope"),
            ("panel", "run", "--contract", "nope", "--paper", PAPER),
        ),
        (lambda: moot.panel(Path("nope.md")), ("panel", "run", "--contract", "full", "--paper", "nope.md")),
    ],
)
def test_a_panels_bad_input_is_the_command_lines_line(call, words):
    with pytest.raises(moot.BadInput) as caught:
        call()
    assert complaint(2, *words, "--title", "T", "--field", "F") == f"moot panel: {caught.value}"


def test_an_arenas_bad_input_is_the_command_lines_line(tmp_path):
    (tmp_path / "odd.json").write_text("[]")
    (tmp_path / "task.json").write_text(
        json.dumps({"task_id": "t", "initial_prompt": TASK, "session_id": "s"})
    )
    for given, words in (
        ({"task": tmp_path / "odd.json"}, ("--task", tmp_path / "odd.json")),
        ({"task": TASK, "notebook": "nowhere"}, ("--task", tmp_path / "task.json", "--notebook", "nowhere")),
    ):
        with pytest.raises(moot.BadInput) as caught:
            moot.arena(**given)
        assert complaint(2, "arena", "run", *words) == f"moot arena: {caught.value}"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"max_rounds": 0}, "the config is invalid: max_rounds"),
        ({"max_rounds": "3"}, "the config is invalid: max_rounds"),
        ({"config": {"rounds": 3}}, "the config is invalid: rounds"),
        ({"config": "fast"}, "config: needs a JSON object"),
        ({"task": {"a": 1}}, "the task has no valid session_id"),
        ({"task": {"session_id": "s"}}, "the task is invalid: task_id"),
        ({"config": {"notebook_enabled": True}}, "the notebook is enabled and none is named"),
        ({"notebook": 5}, "notebook: give a path, not an int"),
    ],
)
def test_what_the_protocol_refuses_before_the_first_round_is_bad_input(given, line, tmp_path):
    with pytest.raises(moot.BadInput) as caught:
        moot.arena(**{"task": TASK, "out": tmp_path / "run", **given})
    assert str(caught.value).startswith(line) and "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


CALLS = {"debate": (QUESTION,), "arena": (TASK,), "panel": (PAPER,), "simulate": (0.1,)}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"minds": "grump:Grump"},
            'minds: give a mapping of seat to mind, such as {"critic": ...}, not a text',
        ),
        ({"minds": [Critic()]}, 'minds: give a mapping of seat to mind, such as {"critic": ...}, not a list'),
        ({"minds": []}, 'minds: give a mapping of seat to mind, such as {"critic": ...}, not a list'),
        ({"minds": Critic()}, 'minds: give a mapping of seat to mind, such as {"critic": ...}, not a Critic'),
        ({"progress": 3}, "progress: give a function, not an int"),
        ({"out": 3}, "out: give a path, not an int"),
    ],
)
def test_an_argument_of_another_type_is_one_line_for_all_four(name, given, line):
    with pytest.raises(moot.BadInput) as caught:
        getattr(moot, name)(*CALLS[name], **given)
    assert str(caught.value) == line


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_argument_is_told_by_the_name_that_was_called(name):
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'option'"):
        getattr(moot, name)(*CALLS[name], option=1)


@pytest.mark.parametrize("name", CALLS)
def test_a_function_and_its_twin_take_the_same_and_document_it(name):
    one, twin = getattr(moot, name), getattr(moot, f"a{name}")
    assert inspect.signature(one) == inspect.signature(twin)
    assert inspect.iscoroutinefunction(twin) and not inspect.iscoroutinefunction(one)
    assert one.__name__ == name and twin.__name__ == f"a{name}" and "Args:" in one.__doc__
    assert inspect.signature(one).return_annotation.endswith("Result")


class Forgetful(Mind):
    def answer(self, view):
        raise KeyError("my notes")


def test_a_mind_that_fails_is_one_line_of_the_result():
    result = moot.debate(QUESTION, minds={"critic": Forgetful})
    (line, *_) = result.warnings
    assert (
        "Forgetful raised KeyError: 'my notes'" in line and line in repr(result) and "warning" in repr(result)
    )
    assert result.outcome != "UPHELD" and moot.debate(QUESTION).warnings == ()


def test_minds_of_ones_own_sit_in_runs_panels_and_simulations_too():
    class Silent(Mind):
        def answer(self, view):
            raise RuntimeError("no")

    run = moot.arena(TASK, minds={"planner": Silent})
    assert run.outcome == "TERMINATED_ERROR" and "RuntimeError: no" in run.warnings[0]
    assert moot.panel(PAPER, minds={"da": Silent}).aborted
    assert "RuntimeError: no" in moot.simulate(days=0.1, minds={"critic": Silent}).warnings[0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"question": ""}, [""]),
        ({"question": "x" * 100_000}, ["x" * 100_000]),
        ({"options": ["Rome", "rome"]}, [QUESTION, "--options", "Rome,rome"]),
        ({"context": Path("nowhere.md")}, [QUESTION, "--context", "nowhere.md"]),
        ({"minds": {"bob": "simulated"}}, [QUESTION, "--mind", "bob=simulated"]),
        ({"minds": {"critic": "nowhere:Critic"}}, [QUESTION, "--mind", "critic=nowhere:Critic"]),
        ({"minds": {"critic": "json:JSONEncoder"}}, [QUESTION, "--mind", "critic=json:JSONEncoder"]),
    ],
)
def test_a_debates_bad_input_is_the_command_lines_line(given, words):
    with pytest.raises(moot.MootError) as caught:
        moot.debate(**{"question": QUESTION, **given})
    assert complaint(2, "debate", *words) == f"moot debate: {caught.value}"
