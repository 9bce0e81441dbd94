"""A motion without a society around it: held in memory or in a directory, and refused before anything runs."""

import pytest

from moot.cases.motion.offline import MotionOptions, hold_motion
from moot.logs import open_log
from moot.logs.inmemory import Kept
from moot.minds import Mind
from moot.minds.choosing import UnusableMind
from moot.protocols.kernel.errors import BadInput
from moot.protocols.motion.messages import Claim, Judgment, Objections
from moot.verify import verify

QUESTION = "Should we adopt a four-day week?"


class Advocate(Mind):
    pure = True

    def answer(self, view):
        return Claim(option="yes", claim=f"It pays. {view.content}", grounds=())


class Critic(Mind):
    pure = True

    def answer(self, view):
        return Objections(round=1, objections=(), confidence=0.9)


class Judge(Mind):
    pure = True

    def answer(self, view):
        return Judgment(
            outcome="UPHELD",
            option="yes",
            confidence=0.8,
            for_score=0.8,
            against_score=0.1,
            standing=(),
            reasoning="It does.",
        )


MINDS = {"advocate": Advocate, "critic": Critic, "judge": Judge}


def test_a_question_is_debated_and_judged_and_the_log_is_sound():
    run = hold_motion(MotionOptions(question=QUESTION, minds=MINDS))
    kinds = [env.body.type for env in run.log if env.case_id == run.case_id]
    assert kinds == ["MOTION", "CLAIM", "OBJECTIONS", "JUDGMENT"]
    assert verify(Kept("memory", run.log)).findings == ()


def test_a_directory_keeps_the_same_log_and_the_context(tmp_path):
    options = MotionOptions(question=QUESTION, context="Trials in 61 firms.", minds=MINDS)
    in_memory = hold_motion(options)
    kept = hold_motion(
        MotionOptions(question=QUESTION, context="Trials in 61 firms.", minds=MINDS, directory=tmp_path / "m")
    )
    assert [env.line for env in kept.log] == [env.line for env in in_memory.log]
    with open_log(tmp_path / "m") as source:
        assert [env.line for env in source.envelopes()] == [env.line for env in kept.log]
    with open_log(tmp_path / "m") as source:
        assert verify(source).ok
    (said,) = [env.body.claim for env in kept.log if env.body.type == "CLAIM"]
    assert said == "It pays. Trials in 61 firms.", "every seat is shown the context"
    assert len([*(tmp_path / "m" / "evidence").rglob("*.gz")]) == 1
    with pytest.raises(BadInput, match="holds a log already"):
        hold_motion(MotionOptions(question=QUESTION, minds=MINDS, directory=tmp_path / "m"))


def test_simulated_minds_debate_it_too_and_the_same_seed_gives_the_same_log():
    one, other, third = (hold_motion(MotionOptions(question=QUESTION, seed=seed)) for seed in (1, 1, 2))
    assert [env.hash for env in one.log] == [env.hash for env in other.log]
    assert one.log[-1].hash != third.log[-1].hash
    assert verify(Kept("memory", one.log)).ok


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"question": ""}, "question: is empty: write something"),
        ({"question": " \n"}, "question: is empty: write something"),
        (
            {"question": "x" * 100_000},
            "question: has 100,000 characters, 20,000 are the most: shorten it",
        ),
        ({"options": ("Rome", " rome")}, "options: two options are the same: 'Rome' and ' rome'"),
        (
            {"options": ("Rome",)},
            "options: one option is no choice: give two or more, or none for yes and no",
        ),
        ({"question": 5}, "question: give a text, not an int"),
        ({"options": ("Rome", "")}, "options: option 2 is blank"),
        ({"options": ("Rome", 5)}, "options: option 2 is an int: give texts"),
        ({"options": "Rome,Oslo"}, "options: give a list of texts, not a text"),
        ({"options": {"Rome": 1}}, "options: give a list of texts, not a dict"),
        ({"context": "x" * 100_001}, "context: has 100,001 characters, 100,000 are the most"),
        (
            {"options": [str(n) for n in range(21)]},
            "options: has 21 items, 20 are the most: leave some out",
        ),
    ],
)
def test_what_cannot_be_debated_is_one_line_before_anything_runs(given, line, tmp_path):
    with pytest.raises(BadInput) as caught:
        hold_motion(MotionOptions(**{"question": QUESTION, "directory": tmp_path / "m", **given}))
    assert str(caught.value) == line
    assert not (tmp_path / "m").exists()


def test_a_seat_that_no_motion_has_is_refused():
    with pytest.raises(UnusableMind, match="the seat 'explorer' has no say here: choose advocate"):
        hold_motion(MotionOptions(question=QUESTION, minds={"explorer": "simulated"}))
