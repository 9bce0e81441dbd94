"""Motions at a table: R-Q1 to R-Q6, and what 1.3 and the rulings on verdicts say of them, at its exact boundary."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from moot.channels.chat.commands import CommandError, Said, parse
from moot.protocols.kernel.errors import Forbidden
from moot.protocols.kernel.obligation import EVERYTHING
from moot.protocols.kernel.people import Override, Stop
from moot.protocols.kernel.seats import ADMIN, REFEREE, VIEWER
from moot.protocols.motion import messages as m
from moot.protocols.motion.seats import ADVOCATE, JUDGE
from moot.protocols.motion.state import MotionState, Phase
from moot.protocols.research.seats import CRITIC, EXPLORER
from moot.protocols.rulebook import rulebook
from tests.doubles.motion_table import QUESTION, MotionTable

# ---------------------------------------------------------------- R-Q1: the standard debate


def test_a_motion_takes_a_claim_two_rounds_and_a_judgment() -> None:
    table = MotionTable()
    table.two_rounds()
    table.judge()
    assert table.kinds()[1:] == [
        "MOTION", "CLAIM", "OBJECTIONS", "REPLIES", "OBJECTIONS", "REPLIES", "JUDGMENT",
    ]  # fmt: skip
    assert table.outcome == "upheld"
    assert not table.docket.cases and not table.docket.open


def test_without_options_the_question_is_one_of_yes_and_no() -> None:
    table = MotionTable()
    assert table.state.options == ("yes", "no")
    assert table.broke(table.claim("perhaps")) == ("R-Q1", "option")
    assert table.state.phase == Phase.CLAIMING
    table.claim("no")
    assert table.state.option == "no"


def test_the_advocate_claims_one_of_the_options() -> None:
    table = MotionTable(options=("Rome", "Oslo"))
    assert table.broke(table.claim("yes")) == ("R-Q1", "option")
    table.claim("Oslo")
    assert table.state.phase == Phase.OBJECTING_1


@pytest.mark.parametrize("outcome", ["UPHELD", "REJECTED", "UNDECIDED"])
def test_a_motion_ends_as_it_was_judged(outcome: str) -> None:
    table = MotionTable()
    table.two_rounds()
    table.judge(outcome)
    assert table.outcome == outcome.lower()


def test_each_message_says_its_round() -> None:
    table = MotionTable()
    table.claim()
    assert table.broke(table.object("minor", round=2)) == ("R-Q1", "round")
    table.object("minor")
    assert table.broke(table.reply(1, round=2)) == ("R-Q1", "round")
    table.reply(1)
    assert table.state.phase == Phase.OBJECTING_2


def test_all_three_seats_are_shown_the_work_that_a_motion_names() -> None:
    table = MotionTable(context_ref="work/0123")
    shown = {}
    while table.docket.cases:
        (due,) = table.docket.open.values()
        shown[due.seat] = due.may_see.content_ref
        match due.seat:
            case "advocate":
                table.claim() if "CLAIM" in due.expects else table.reply()
            case "critic":
                table.object("minor")
            case _:
                table.judge()
    assert shown == dict.fromkeys((ADVOCATE, CRITIC, JUDGE), "work/0123")
    assert next(iter(MotionTable().docket.open.values())).may_see is EVERYTHING


def test_the_critic_of_system_a_reads_what_is_debated_and_nobody_else_of_its_system() -> None:
    matrix = MotionTable().rules.matrix
    assert matrix.may_read(CRITIC, "#motions") and not matrix.may_read(EXPLORER, "#motions")
    assert matrix.readable(JUDGE) == matrix.readable(ADVOCATE) == {"#motions"}


# ---------------------------------------------------------------- who opens one, and what a motion is


def test_an_admin_and_a_viewer_may_move_and_no_bot_may() -> None:
    table = MotionTable()
    table.say(VIEWER, m.Motion(question=QUESTION), channel="#motions")
    assert len(table.docket.cases) == 2
    for seat in (ADVOCATE, CRITIC, JUDGE, EXPLORER):
        with pytest.raises(Forbidden):
            table.say(seat, m.Motion(question=QUESTION), channel="#motions")


@pytest.mark.parametrize("question", ["", " \n\t", "\x1c", "x" * 20_001])
def test_a_question_says_something_within_its_length(question: str) -> None:
    with pytest.raises(ValidationError):
        m.Motion(question=question)
    assert m.Motion(question="x" * 20_000)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("Rome",), "one option is no choice"),
        (("Rome", "Oslo", "Rome"), "the option 'Rome' is given twice"),
        (("Rome", "rome "), "two options are the same: 'Rome' and 'rome '"),
        (("Rome", " "), "pattern"),
        (tuple(map(str, range(21))), "at most 20"),
        (("Rome", "x" * 201), "at most 200"),
    ],
)
def test_options_are_none_or_several_different_ones(options: tuple[str, ...], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        m.Motion(question=QUESTION, options=options)
    assert m.Motion(question=QUESTION, options=tuple(map(str, range(20))))


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (QUESTION, {"question": QUESTION}),
        ("Where do we meet? | Rome |  Oslo", {"question": "Where do we meet?", "options": ("Rome", "Oslo")}),
        ("Where? |Rome| Oslo |", {"question": "Where?", "options": ("Rome", "Oslo")}),
        ("Where? |", {"question": "Where?"}),
    ],
)
def test_people_write_options_behind_a_question(line: str, fields: dict[str, Any]) -> None:
    assert parse(f"/debate {line}") == Said("debate", fields)


def test_a_question_is_asked_for_even_where_options_are_given() -> None:
    with pytest.raises(CommandError, match=r"the question is missing; write /debate QUESTION \[\| OPTIONS\]"):
        parse("/debate | Rome | Oslo")


# ---------------------------------------------------------------- R-Q3: objections


def test_no_objections_end_the_exchange() -> None:
    table = MotionTable()
    table.claim()
    table.object()
    assert table.state.phase == Phase.JUDGING
    table.judge()
    assert table.outcome == "upheld"


def test_no_objections_in_the_second_round_end_it_too() -> None:
    table = MotionTable()
    table.claim()
    table.object("minor")
    table.reply(1)
    table.object()
    assert table.state.phase == Phase.JUDGING


@pytest.mark.parametrize("first", [2, 7])
def test_objections_are_numbered_from_one_on(first: int) -> None:
    table = MotionTable()
    table.claim()
    assert table.broke(table.object("minor", "major", first=first)) == ("R-Q3", "objections")
    table.object("minor", "major")
    assert table.state.raised == ("minor", "major")


def test_objections_are_numbered_without_gaps_or_repeats() -> None:
    table = MotionTable()
    table.claim()
    for numbers in ((1, 1), (1, 3), (2, 1)):
        found = tuple(m.Objection(number=n, text="No.", severity="minor") for n in numbers)
        assert table.broke(table.object(objections=found)) == ("R-Q3", "objections")
    table.object("minor", "minor")


@pytest.mark.parametrize("first", [1, 2, 4])
def test_numbers_go_on_over_the_rounds(first: int) -> None:
    table = MotionTable()
    table.claim()
    table.object("minor", "minor")
    table.reply(1)
    assert table.broke(table.object("fatal", first=first)) == ("R-Q3", "objections")
    table.object("fatal")
    assert table.state.raised == ("minor", "minor", "fatal")


# ---------------------------------------------------------------- R-Q4: replies


def test_a_reply_names_an_objection_that_there_is() -> None:
    table = MotionTable()
    table.claim()
    table.object("minor")
    assert table.broke(table.reply(2)) == ("R-Q4", "replies")
    assert table.state.unanswered == (1,)


def test_an_objection_gets_one_reply() -> None:
    table = MotionTable()
    table.claim()
    table.object("minor", "major")
    assert table.broke(table.reply(1, 1)) == ("R-Q4", "replies")
    assert table.broke(table.reply(1, conceded=(1,))) == ("R-Q4", "replies")
    table.reply(1)
    table.object("minor")
    assert table.broke(table.reply(1)) == ("R-Q4", "replies")
    assert table.broke(table.reply(3, conceded=(1,))) == ("R-Q4", "replies")
    table.reply(3, conceded=(2,))
    assert (table.state.answered, table.state.conceded) == ({1, 3}, {2})


def test_what_was_left_out_may_be_answered_in_a_later_round() -> None:
    table = MotionTable()
    table.claim()
    table.object("minor", "major")
    table.reply(1)
    table.object("minor")
    table.reply(2)
    assert table.state.unanswered == (3,)


@pytest.mark.parametrize("reply", [{}, {"answer": " "}, {"answer": "so", "concede": True}])
def test_a_reply_either_answers_or_concedes(reply: dict[str, Any]) -> None:
    table = MotionTable()
    table.claim()
    table.object("minor")
    assert table.broke(table.reply(replies=(m.Reply(number=1, **reply),))) == ("R-Q4", "replies")
    assert table.state.unanswered == (1,)


# ---------------------------------------------------------------- R-Q5, R-Q6: the judgment


def debated() -> MotionTable:
    """Return a table before its judgment: objection 1 answered, 2 conceded, 3 left out, 4 answered."""
    table = MotionTable(options=("Rome", "Oslo", "Paris"))
    table.claim("Rome")
    table.object("minor", "major", "minor")
    table.reply(1, conceded=(2,))
    table.object("fatal")
    table.reply(4)
    return table


@pytest.mark.parametrize("standing", [(), (2,), (3,), (1, 4), (2, 3, 5), (2, 3, 3)])
def test_what_nobody_answered_or_what_was_conceded_stands(standing: tuple[int, ...]) -> None:
    table = debated()
    assert table.broke(table.judge("UNDECIDED", standing=standing)) == ("R-Q5", "standing")
    assert table.state.phase == Phase.JUDGING


@pytest.mark.parametrize("standing", [(2, 3), (3, 2, 1), (1, 2, 3, 4)])
def test_the_judge_may_let_stand_what_was_answered_badly(standing: tuple[int, ...]) -> None:
    table = debated()
    table.judge("UNDECIDED", standing=standing)
    assert table.outcome == "undecided"


@pytest.mark.parametrize(
    ("outcome", "option", "is_legal"),
    [
        ("UPHELD", "Rome", True),
        ("UPHELD", "Oslo", False),
        ("UPHELD", "", False),
        ("REJECTED", "Oslo", True),
        ("REJECTED", "", True),
        ("REJECTED", "Rome", False),
        ("REJECTED", "Bern", False),
        ("UNDECIDED", "", True),
        ("UNDECIDED", "Oslo", False),
    ],
)
def test_the_answer_fits_the_outcome(outcome: str, option: str, is_legal: bool) -> None:
    table = debated()
    env = table.judge(outcome, option=option)
    if is_legal:
        assert table.outcome == outcome.lower()
    else:
        assert table.broke(env) == ("R-Q6", "option")
        assert table.state.phase == Phase.JUDGING


@pytest.mark.rule("R-D10")
@pytest.mark.parametrize("outcome", ["REJECTED", "UNDECIDED"])
def test_r_d10_nothing_is_upheld_that_nobody_examined(outcome: str) -> None:
    table = MotionTable()
    table.claim()
    table.wait(minutes=31)
    assert table.state.phase == Phase.JUDGING
    assert table.broke(table.judge()) == ("R-D10", "outcome")
    table.judge(outcome)
    assert table.outcome == outcome.lower()


@pytest.mark.rule("R-D7")
@pytest.mark.parametrize(("confidence", "is_legal"), [(0.599999, False), (0.6, True)])
def test_r_d7_nothing_is_upheld_below_a_confidence(confidence: float, is_legal: bool) -> None:
    table = MotionTable()
    table.two_rounds()
    env = table.judge(confidence=confidence)
    if is_legal:
        assert table.outcome == "upheld"
    else:
        assert table.broke(env) == ("R-D7", "confidence")
        table.judge("UNDECIDED", confidence=confidence)
        assert table.outcome == "undecided"


@pytest.mark.rule("R-D8")
@pytest.mark.parametrize(
    ("for_score", "against_score", "is_legal"),
    [(0.6, 0.55, True), (0.599999, 0.55, False), (0.5, 0.5, False), (0.4, 0.6, False)],
)
def test_r_d8_nothing_is_upheld_whose_argument_is_not_the_stronger(
    for_score: float, against_score: float, is_legal: bool
) -> None:
    table = MotionTable()
    table.two_rounds()
    env = table.judge(for_score=for_score, against_score=against_score)
    if is_legal:
        assert table.outcome == "upheld"
    else:
        assert table.broke(env) == ("R-D8", "for_score")


@pytest.mark.rule("R-F9")
@pytest.mark.parametrize("standing", ["unanswered", "conceded", "answered badly"])
def test_r_f9_nothing_is_upheld_while_a_fatal_objection_stands(standing: str) -> None:
    table = MotionTable()
    table.claim()
    table.object("minor", "fatal")
    table.reply(1, *([2] if standing == "answered badly" else []), conceded=(2,) * (standing == "conceded"))
    table.object()
    assert table.broke(table.judge(standing=(2,))) == ("R-F9", "outcome")
    table.judge("REJECTED", standing=(2,))
    assert table.outcome == "rejected"


def test_a_standing_objection_that_is_not_fatal_forbids_nothing() -> None:
    table = MotionTable()
    table.claim()
    table.object("major")
    table.reply()
    table.object("fatal")
    table.reply(2)
    table.judge(standing=(1,))
    assert table.outcome == "upheld"


# ---------------------------------------------------------------- 1.3: the extension


def extended() -> MotionTable:
    """Return a table in its third round."""
    table = MotionTable()
    table.two_rounds()
    table.extend()
    return table


def test_a_motion_is_extended_by_one_round_of_ten_minutes_each() -> None:
    table = extended()
    for expected in ("OBJECTIONS", "REPLIES"):
        (due,) = table.docket.open.values()
        assert due.expects == (expected,)
        assert (due.within.total_seconds(), due.grace.total_seconds()) == (600, 600)
        table.object("major") if expected == "OBJECTIONS" else table.reply(3)
    assert table.state.phase == Phase.CONCLUDING
    assert table.docket.open[f"{table.motion_id}/conclusion/judge"].expects == ("JUDGMENT",)
    table.judge()
    assert table.outcome == "upheld"


@pytest.mark.parametrize(
    ("for_score", "against_score", "field"),
    [
        (0.54, 0.6, "for_score"),
        (0.76, 0.6, "for_score"),
        (0.6, 0.54, "against_score"),
        (0.6, 0.76, "against_score"),
    ],
)
def test_only_two_strong_sides_extend(for_score: float, against_score: float, field: str) -> None:
    table = MotionTable()
    table.two_rounds()
    assert table.broke(table.extend(for_score, against_score)) == ("1.3", field)
    assert not table.state.is_extended


@pytest.mark.parametrize(("for_score", "against_score"), [(0.55, 0.75), (0.75, 0.55)])
def test_the_band_has_its_ends(for_score: float, against_score: float) -> None:
    table = MotionTable()
    table.two_rounds()
    table.extend(for_score, against_score)
    assert table.state.phase == Phase.OBJECTING_3


def test_an_extension_follows_two_full_rounds() -> None:
    table = MotionTable()
    table.claim()
    table.object("minor")
    table.reply(1)
    table.object()
    assert table.owed(JUDGE, "JUDGMENT").expects == ("JUDGMENT",)
    assert table.broke(table.extend())[0] == "R-D5"
    table.judge()
    assert table.outcome == "upheld"


def test_a_motion_is_extended_once() -> None:
    table = extended()
    body = m.ExtendMotion(for_score=0.6, against_score=0.6, reason="once more")
    for say in (lambda: table.object("minor"), lambda: table.reply(3), None):
        env = table.say(JUDGE, body, channel="#motions", case_id=table.motion_id)
        assert table.broke(env)[0] == "R-D5"
        if say is not None:
            say()
    assert table.state.phase == Phase.CONCLUDING


def test_no_objections_in_the_third_round_lead_to_the_conclusion() -> None:
    table = extended()
    table.object()
    assert table.state.phase == Phase.CONCLUDING


# ---------------------------------------------------------------- R-Q2: silence, and a STOP


def in_phase(phase: Phase) -> MotionTable:
    """Return a table in a phase."""
    table = MotionTable()
    ways = {
        Phase.CLAIMING: lambda: table.claim(),
        Phase.OBJECTING_1: lambda: table.object("minor"),
        Phase.REPLYING_1: lambda: table.reply(1),
        Phase.OBJECTING_2: lambda: table.object("minor"),
        Phase.REPLYING_2: lambda: table.reply(2),
        Phase.JUDGING: lambda: table.extend(),
        Phase.OBJECTING_3: lambda: table.object("minor"),
        Phase.REPLYING_3: lambda: table.reply(3),
    }
    while table.state.phase != phase:
        ways[Phase(table.state.phase)]()
    return table


@pytest.mark.parametrize("phase", Phase)
def test_a_seat_has_its_time_and_ten_minutes_more(phase: Phase) -> None:
    table = in_phase(phase)
    (due,) = table.docket.open.values()
    minutes = 10 if phase in (Phase.OBJECTING_3, Phase.REPLYING_3) else 20
    assert (due.within.total_seconds(), due.grace.total_seconds()) == (minutes * 60, 600)
    table.wait(minutes=minutes)
    assert table.kinds()[-1] == "TIMEOUT_PING"
    table.wait(minutes=9, seconds=59)
    assert table.state.phase == phase
    table.wait(seconds=1)
    assert table.ruling() == ("void", "timeout", "R-Q2")
    assert not table.docket.cases or table.state.phase != phase


@pytest.mark.parametrize("phase", [Phase.CLAIMING, Phase.JUDGING, Phase.CONCLUDING])
def test_silence_on_the_claim_or_the_judgment_ends_the_motion_as_a_timeout(phase: Phase) -> None:
    table = in_phase(phase)
    table.wait(minutes=30)
    assert table.outcome == "timeout"


@pytest.mark.parametrize(
    ("phase", "then"),
    [
        (Phase.OBJECTING_1, Phase.JUDGING),
        (Phase.REPLYING_1, Phase.JUDGING),
        (Phase.OBJECTING_2, Phase.JUDGING),
        (Phase.REPLYING_2, Phase.JUDGING),
        (Phase.OBJECTING_3, Phase.CONCLUDING),
        (Phase.REPLYING_3, Phase.CONCLUDING),
    ],
)
def test_any_other_silence_leads_to_the_judge(phase: Phase, then: Phase) -> None:
    table = in_phase(phase)
    table.wait(minutes=20 if then == Phase.CONCLUDING else 30)
    assert table.state.phase == then
    assert table.owed(JUDGE, "JUDGMENT").expects == ("JUDGMENT",)


def test_silence_of_the_advocate_lets_objections_stand() -> None:
    table = MotionTable()
    table.claim()
    table.object("minor", "fatal")
    table.wait(minutes=30)
    assert table.state.unanswered == (1, 2)
    assert table.broke(table.judge()) == ("R-F9", "outcome")


@pytest.mark.parametrize("phase", Phase)
def test_a_stop_ends_one_motion_and_no_other(phase: Phase) -> None:
    table = in_phase(phase)
    other = table.say(ADMIN, m.Motion(question=QUESTION), channel="#motions").case_id
    table.say(ADMIN, Stop(scope=table.motion_id, why="enough"), channel="#admin")
    assert table.outcome == "stopped"
    assert list(table.docket.cases) == [other]


def test_a_motion_is_judged_and_not_overridden() -> None:
    table = in_phase(Phase.JUDGING)
    body = Override(case_id=table.motion_id, verdict="APPROVE", why="enough")
    env = table.say(ADMIN, body, channel="#motions", case_id=table.motion_id)
    assert table.broke(env)[0] == "R-Q1"
    table.judge()
    assert table.outcome == "upheld"
    env = table.say(ADMIN, body, channel="#motions", case_id=table.motion_id)
    assert table.broke(env)[0] == "K23"


def test_a_motion_belongs_to_no_system() -> None:
    table = MotionTable()
    table.say(ADMIN, Stop(scope="A", why="enough"), channel="#admin")
    assert isinstance(table.state, MotionState)
    assert rulebook().types["motion"].system == ""
    assert table.last("STOP").author == ADMIN and REFEREE not in {env.author for env in table.log}
