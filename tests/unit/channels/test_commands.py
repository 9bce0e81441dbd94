import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.channels.chat.commands import Asked, CommandError, Said, commands, parse, usage


@pytest.mark.parametrize(
    ("line", "kind", "fields"),
    [
        ("momentum looks crowded", "note", {"text": "momentum looks crowded"}),
        ("/note two  words\nand a line", "note", {"text": "two  words\nand a line"}),
        ("/ack esc_20260223_1030", "ack", {"escalation_id": "esc_20260223_1030"}),
        ("/reply esc_1 2", "answer", {"escalation_id": "esc_1", "option": 2, "text": None}),
        (
            "/reply esc_1 wait for me",
            "answer",
            {"escalation_id": "esc_1", "option": None, "text": "wait for me"},
        ),
        ("/reply esc_1 2 days", "answer", {"escalation_id": "esc_1", "option": None, "text": "2 days"}),
        (
            "/override hyp_1 approve it is hedged",
            "override",
            {"case_id": "hyp_1", "verdict": "APPROVE", "why": "it is hedged"},
        ),
        ("/take critic", "take", {"seat": "critic", "reason": ""}),
        ("/take Critic to see for myself", "take", {"seat": "critic", "reason": "to see for myself"}),
        ("/release critic", "release", {"seat": "critic", "reason": ""}),
        ("/stop society fire drill", "stop", {"scope": "society", "why": "fire drill"}),
        ("/stop system a it loops", "stop", {"scope": "A", "why": "it loops"}),
        ("/stop B it loops", "stop", {"scope": "B", "why": "it loops"}),
        ("/stop hyp_1 it loops", "stop", {"scope": "hyp_1", "why": "it loops"}),
        ("/halt flash crash", "halt", {"reason": "flash crash"}),
        ("/resume it was a bad tick", "resume", {"reason": "it was a bad tick"}),
        ("/arena Plan the widget.", "arena", {"task": {"initial_prompt": "Plan the widget."}}),
        (
            '/arena {"initial_prompt": "Plan it.", "task_id": "t1"}',
            "arena",
            {"task": {"initial_prompt": "Plan it.", "task_id": "t1"}},
        ),
        (
            '/arena {"task": {"initial_prompt": "Plan it."}, "config": {"max_rounds": 2}}',
            "arena",
            {"task": {"initial_prompt": "Plan it."}, "config": {"max_rounds": 2}},
        ),
        ("  /ACK esc_1  ", "ack", {"escalation_id": "esc_1"}),
    ],
)
def test_a_line_is_read_as_the_act_it_says(line, kind, fields):
    assert parse(line) == Said(kind, fields)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/akc esc_1", "no command /akc; did you mean /ack ID ?"),
        ("/xyzzy", "no command /xyzzy; /help lists them"),
        ("/ack", "/ack: the id is missing; write /ack ID"),
        ("/reply esc_1", "/reply: the option or text is missing; write /reply ID OPTION_OR_TEXT"),
        ("/override hyp_1 APPROVE", "/override: the why is missing; write /override CASE VERDICT WHY"),
        (
            "/override hyp_1 REVISE because",
            "/override: a verdict is APPROVE or REJECT, not 'REVISE'; write /override CASE VERDICT WHY",
        ),
        (
            "/take critc",
            "/take: no seat 'critc' that a person can take, did you mean critic?; write /take SEAT",
        ),
        ("/take referee", "/take: no seat 'referee' that a person can take; write /take SEAT"),
        ("/stop system C now", "/stop: a system is A or B, not 'C'; write /stop SCOPE WHY"),
        ("/stop system A", "/stop: the reason is missing; write /stop SCOPE WHY"),
        ("/halt", "/halt: the reason is missing; write /halt REASON"),
        ("/arena", "/arena: the prompt or task is missing; write /arena PROMPT_OR_TASK [--rounds ROUNDS]"),
        (
            '/arena {"task": {}, "colour": 1}',
            "/arena: beside a task stand config and notebook, not 'colour'; write /arena PROMPT_OR_TASK"
            " [--rounds ROUNDS]",
        ),
        (
            "/arena {task: 1}",
            "/arena: the task is no JSON object: Expecting property name enclosed in double quotes: "
            "line 1 column 2 (char 1); write /arena PROMPT_OR_TASK [--rounds ROUNDS]",
        ),
        ("/resume", "/resume: the reason is missing; write /resume REASON [lifts: LIFTS]"),
        ("", "nothing was said"),
        ("/", "no command /; /help lists them"),
    ],
)
def test_a_typo_gets_one_line_that_says_how_to_write_it(line, says):
    with pytest.raises(CommandError) as caught:
        parse(line)
    assert str(caught.value) == says
    assert "\n" not in says


def test_questions_are_no_acts():
    assert parse("/status") == Asked("status")
    assert parse("/escalations") == Asked("escalations")
    assert parse("/help") == Asked("help")
    assert parse("/positions") == Asked("positions")
    assert parse("/strategies") == Asked("strategies")


def test_help_lists_every_command_with_its_usage():
    lines = usage().splitlines()
    assert len(lines) == len(commands())
    assert all(line.startswith(command.usage) for line, command in zip(lines, commands(), strict=True))


@given(st.text(max_size=200))
def test_any_line_is_an_act_a_question_or_one_line_of_advice(line):
    for text in (line, f"/{line}", *(f"/{command.name} {line}" for command in commands())):
        try:
            assert isinstance(parse(text), Said | Asked)
        except CommandError as exc:
            assert len(str(exc).splitlines()) == 1


UNDER = "esc_20260223_1030"


@pytest.mark.parametrize(
    ("text", "kind", "fields"),
    [
        ("2", "answer", {"escalation_id": UNDER, "option": 2, "text": None}),
        (" 2\n", "answer", {"escalation_id": UNDER, "option": 2, "text": None}),
        ("/reply 2", "answer", {"escalation_id": UNDER, "option": 2, "text": None}),
        ("/reply wait for me", "answer", {"escalation_id": UNDER, "option": None, "text": "wait for me"}),
        ("/REPLY 2 days", "answer", {"escalation_id": UNDER, "option": None, "text": "2 days"}),
        ("/reply esc_7 2", "answer", {"escalation_id": "esc_7", "option": 2, "text": None}),
        ("ack", "ack", {"escalation_id": UNDER}),
        ("Ack", "ack", {"escalation_id": UNDER}),
        ("/ack", "ack", {"escalation_id": UNDER}),
        ("/ack esc_7", "ack", {"escalation_id": "esc_7"}),
        ("2 it is", "note", {"text": "2 it is"}),
        ("ack that", "note", {"text": "ack that"}),
        ("ok", "note", {"text": "ok"}),
        ("-1", "note", {"text": "-1"}),
        ("\uff11", "note", {"text": "\uff11"}),
        ("20000", "note", {"text": "20000"}),
        ("/note 2", "note", {"text": "2"}),
        ("/halt flash crash", "halt", {"reason": "flash crash"}),
    ],
)
def test_under_an_escalation_short_answers_are_understood_and_chat_is_never_consent(text, kind, fields):
    assert parse(text, UNDER) == Said(kind, fields)


@pytest.mark.parametrize("text", ["2", "ack", "\uff11"])
def test_elsewhere_a_number_and_an_ack_are_notes(text):
    assert parse(text) == Said("note", {"text": text})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("/reply", "/reply: the id is missing; write /reply ID OPTION_OR_TEXT"),
        ("/reply esc_7", "/reply: the option or text is missing; write /reply ID OPTION_OR_TEXT"),
    ],
)
def test_under_an_escalation_an_answer_without_words_is_none(text, says):
    with pytest.raises(CommandError) as caught:
        parse(text, UNDER)
    assert str(caught.value) == says
