"""A mind rehearsed: asked for everything that its seat owes, judged as the society would, and not heard."""

import json

import pytest

from moot.minds import Mind
from moot.minds.choosing import chosen
from moot.minds.rehearsal import TIMES
from moot.minds.rehearsing import rehearse, steps_of
from moot.protocols.kernel.seats import Seat
from moot.protocols.motion.seats import JUDGE
from moot.protocols.research.seats import CRITIC
from tests.doubles.command_line import complaint, moot
from tests.doubles.own_minds import Hangs, Lenient, Nothing, Raises, Words, assessment, line_of

HERE = "tests.doubles.own_minds"


def tried(seat, mind, days=0.4):
    return rehearse(Seat(seat), chosen({seat: mind})[seat], days=days)


def wrong(found):
    return {why for one in found.steps.values() for why in one.wrong}


def test_a_critic_is_asked_for_every_round_of_debates_and_motions():
    seen = []

    class Careful(Mind):
        def answer(self, view):
            seen.append((view.kind, view.obligation.rule))
            if view.debate is not None:
                return assessment(view.debate.round)
            if view.motion is not None:
                return view.reply(objections=[], confidence=0.5)
            return None

    found = tried("critic", Careful)
    assert found.is_passed and not wrong(found)
    asked = {("motion", "objections-1"), ("debate", "assessment-1"), ("debate", "assessment-2")}
    assert asked <= {*seen} == {*found.steps}
    assert all(one.times <= TIMES for one in found.steps.values())
    assert {f"{case} {step}" for case, step in steps_of(CRITIC)} == {
        *found.missed,
        *(f"{case} {step}" for case, step in found.steps),
    }


def test_an_answer_that_breaks_a_rule_is_told_with_the_rule_and_the_field():
    class Forgetful(Mind):
        def answer(self, view):
            return assessment(1) if view.debate is not None else None

    found = tried("critic", Forgetful)
    assert found.steps["debate", "assessment-1"].right == TIMES
    second = found.steps["debate", "assessment-2"]
    # A debate whose Explorer gives up has no second assessment.
    assert set(second.wrong) == {"RISK_ASSESSMENT: round: this is round 2 [1.4]"} and not second.right
    assert not found.is_passed


def test_what_rules_say_of_a_judgment_is_told():
    class Hasty(Mind):
        def answer(self, view):
            return view.reply(
                "JUDGMENT",
                outcome="UPHELD",
                option=view.motion.claim.option,
                confidence=0.1,
                for_score=0.8,
                against_score=0.2,
                standing=view.motion.must_stand,
                reasoning="So be it.",
            )

    found = rehearse(JUDGE, chosen({JUDGE: Hasty})[JUDGE])
    assert any("[R-D7]" in why and why.startswith("JUDGMENT: ") for why in wrong(found))


@pytest.mark.parametrize(
    ("mind", "why"),
    [
        (
            Raises,
            f"raised RuntimeError: no idea, says <object object at 0x…> and nothing more at {line_of(Raises)}",
        ),
        (
            Words,
            "gave a str, which is no message, where RISK_ASSESSMENT was asked for: return view.reply(...)",
        ),
    ],
)
def test_a_mind_that_fails_does_not_pass(mind, why):
    found = tried("critic", mind)
    assert why in wrong(found)
    assert not found.is_passed


def test_where_a_mind_raised_is_told_by_its_own_line_though_another_module_raised():
    class Reads(Mind):
        def answer(self, view):
            return json.loads("no JSON")

    line = Reads.answer.__code__.co_firstlineno + 1
    (why,) = wrong(tried("critic", Reads))
    assert why.startswith("raised JSONDecodeError: ") and why.endswith(f" at test_minds_check.py:{line}")


def test_a_message_of_another_type_is_told():
    class Judges(Mind):
        def answer(self, view):
            return assessment(1)

    assert "gave a RISK_ASSESSMENT, where HYPOTHESIS was asked for" in wrong(tried("explorer", Judges))


def test_silence_is_no_fault_and_nothing_else_than_silence_does_not_pass():
    found = tried("critic", Nothing)
    assert not wrong(found)
    assert sum(one.silent for one in found.steps.values()) > 0
    assert not found.is_passed


def test_a_mind_that_hangs_is_told_and_ends_nothing():
    hangs = Hangs()
    found = tried("critic", hangs, days=0.1)
    assert "has no answer after 0.2 s" in wrong(found)
    hangs.freed.set()


def test_who_is_rehearsed_is_not_heard():
    """Whatever it says, the society comes to the same steps."""
    lenient, nothing = tried("critic", Lenient), tried("critic", Nothing)
    assert [*lenient.steps] == [*nothing.steps]
    assert [one.times for one in lenient.steps.values()] == [one.times for one in nothing.steps.values()]


class Text(Mind):
    def __init__(self, text="Fine."):
        self.text = text

    def answer(self, view):
        return view.reply(text=self.text)


@pytest.mark.parametrize(
    ("seat", "text", "step", "why"),
    [
        ("planner", "# A plan", "draft", ""),
        ("finalizer", "# The end", "final_output", ""),
        ("reviewer", "VERDICT: REVISE\n1. More.", "review", ""),
        (
            "reviewer",
            "I like it.",
            "review",
            "REVIEW.text: no line VERDICT: APPROVED or VERDICT: REVISE [7.3]",
        ),
        ("eic", "I will see.", "phase1", "PHASE1.text: there is no section '## Contract Paraphrase'"),
        ("synthesizer", "editorial_decision=accept", "synthesis", "SYNTHESIS.text: "),
    ],
)
def test_words_in_the_arena_and_on_a_panel_are_judged_by_their_parser_and_lints(seat, text, step, why):
    found = tried(seat, Text(text))
    one = next(one for one in found.steps.values() if one.step == step)
    assert one.times > 0
    assert bool(why) == bool(one.wrong)
    assert all(said.startswith(why) for said in one.wrong)


def test_the_command_prints_it_for_programs():
    result = moot("minds", "check", f"{HERE}:Lenient", "--seat", "critic", "--days", "0.1", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["mind"], found["seat"]) == (1, f"{HERE}:Lenient", "critic")
    assert {one["case"] for one in found["steps"]} == {"motion", "debate"}


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("--seat", "critc"), "there is no seat 'critc'"),
        (("--seat", "admin"), "the seat 'admin' is for people"),
        (("--seat", "critic", "--days", "0"), "--days 0: choose a number above 0"),
        (("--seat", "critic", "--option", "score"), "--option score: write NAME=VALUE"),
        (("--seat", "critic", "--option", "scores=1"), "takes no option 'scores'; it takes score, pause_s"),
    ],
)
def test_what_cannot_be_checked_is_one_line(args, why):
    assert why in complaint(2, "minds", "check", f"{HERE}:Lenient", *args)


@pytest.fixture
def configured(tmp_path):
    path = tmp_path / "moot.toml"
    path.write_text(
        f'[minds]\ncritic = {{ module = "{HERE}:Lenient", score = 0.25 }}\njudge = "silent"\n',
        encoding="utf-8",
    )
    return path


def test_a_mind_of_the_configuration_is_checked_with_its_options(configured, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "moot.minds.rehearsing.rehearse",
        lambda seat, given, **how: asked.append(given.mind.score) or rehearse(seat, given, **how),
    )
    result = moot("minds", "check", "--seat", "critic", "--config", configured, "--days", "0.1", "--json")
    assert (asked, json.loads(result.stdout)["mind"]) == ([0.25], f"{HERE}:Lenient")


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("--seat", "judge"), "silent is a mind that Moot brings: name a class of your own"),
        (
            ("--seat", "advocate"),
            "no configuration names a mind of the advocate: name MODULE:CLASS, or give --config FILE",
        ),
        (("--seat", "critc"), "there is no seat 'critc': did you mean critic?"),
        (
            ("--seat", "critic", "--option", "score=1"),
            "--option goes with MODULE:CLASS: a configuration has options of its own",
        ),
    ],
)
def test_what_the_configuration_cannot_give_is_one_line(configured, args, why):
    assert complaint(2, "minds", "check", *args, "--config", configured) == f"moot minds: {why}"


def test_a_mind_that_moot_brings_is_not_checked():
    line = complaint(2, "minds", "check", "simulated", "--seat", "critic")
    assert line == "moot minds: simulated is a mind that Moot brings: name a class of your own"
