from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.channels.chat.commands import CommandError, Said, parse
from moot.channels.inbound import draft_of, key_of
from moot.channels.surface import InboundAct
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.escalation.messages import EscalationAck, EscalationAnswer
from moot.protocols.kernel.envelope import Actor
from moot.protocols.kernel.errors import Forbidden, Malformed
from moot.protocols.kernel.people import Note, Override, SeatReleased, SeatTaken, Stop
from moot.protocols.kernel.seats import ADMIN, VIEWER
from moot.protocols.rulebook import rulebook, rules
from moot.protocols.trading.messages import Halt, Resume
from tests.doubles.copying import replace


def act(kind, channel="#a-arena", **fields):
    return InboundAct(
        platform="discord",
        user_id="4711",
        user_name="Ana",
        platform_message_id="m-99",
        channel=channel,
        kind=kind,
        fields=fields,
    )


@pytest.mark.parametrize(
    ("act", "channel", "case_id", "body"),
    [
        (act("note", text="hm"), "#a-arena", None, Note(text="hm")),
        (
            act("note", text="hm", about_case_id="hyp_1"),
            "#a-arena",
            "hyp_1",
            Note(text="hm", about_case_id="hyp_1"),
        ),
        (act("ack", escalation_id="esc_1"), "#admin", "esc_1", EscalationAck(escalation_id="esc_1")),
        (
            act("answer", escalation_id="esc_1", option=2, text=None),
            "#admin",
            "esc_1",
            EscalationAnswer(escalation_id="esc_1", option=2),
        ),
        (
            act("override", case_id="hyp_1", verdict="REJECT", why="no"),
            "#a-arena",
            "hyp_1",
            Override(case_id="hyp_1", verdict="REJECT", why="no"),
        ),
        (
            act("take", seat="critic", reason=""),
            "#admin",
            None,
            SeatTaken(seat="critic", user_id="4711", reason="asked for on discord"),
        ),
        (
            act("release", seat="critic", reason="done"),
            "#admin",
            None,
            SeatReleased(seat="critic", user_id="4711", reason="done"),
        ),
        (act("stop", scope="society", why="drill"), "#admin", None, Stop(scope="society", why="drill")),
    ],
)
def test_an_act_becomes_a_typed_draft_with_platform_and_user_id(act, channel, case_id, body):
    draft = draft_of(act, ADMIN)
    assert draft.body == body
    assert (draft.channel, draft.case_id) == (channel, case_id)
    assert draft.author == ADMIN
    assert draft.actor == Actor("human", "discord", "4711")
    assert draft.identity() == "discord/4711/m-99"


def test_what_is_said_in_a_thread_is_about_its_case():
    assert draft_of(act("note", text="hm"), VIEWER, about_case_id="hyp_1").body.about_case_id == "hyp_1"
    said = act("note", text="hm", about_case_id="hyp_2")
    assert draft_of(said, VIEWER, about_case_id="hyp_1").body.about_case_id == "hyp_2"


def test_an_override_goes_to_the_channel_of_its_case():
    said = act("override", "#admin", case_id="hyp_1", verdict="REJECT", why="no")
    assert draft_of(said, ADMIN, case_channel="#a-arena").channel == "#a-arena"


@pytest.mark.rule("R-B5")
def test_r_b5_halt_and_resume_go_where_they_belong_and_name_who_said_it():
    draft = draft_of(act("halt", reason="crash"), ADMIN)
    assert (draft.channel, draft.case_id) == ("#b-risk", None)
    assert draft.body == Halt(reason="crash", by="4711")
    draft = draft_of(act("resume", reason="calm"), ADMIN)
    assert (draft.channel, draft.case_id) == ("#b-ops", None)
    assert draft.body == Resume(reason="calm")


def test_a_run_is_opened_in_the_arenas_channel_and_named_after_its_prompt():
    draft = draft_of(act("arena", task={"initial_prompt": "Plan it."}), ADMIN)
    task = {"task_id": "plan-it", "session_id": "discord/4711/m-99", "initial_prompt": "Plan it."}
    assert (draft.channel, draft.case_id) == ("#r-arena", None)
    assert draft.body == ArenaTask(config={"notebook_enabled": False}, task=task)


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Add a volatility filter to momentum, and test it", "add-a-volatility-filter-to-momentum"),
        ("Größe: prüfen!", "größe-prüfen"),
        ("x" * 300, "discord/4711/m-99"),
        ("¿?", "discord/4711/m-99"),
    ],
)
def test_a_task_is_named_after_its_first_words_and_else_after_the_act(prompt, name):
    body = draft_of(act("arena", task={"initial_prompt": prompt}), ADMIN).body
    assert body.task["task_id"] == name


def test_what_a_task_names_stands_and_a_named_notebook_is_consulted():
    notebook = {"notebook_id": "nb", "tools": ["notebook_query"]}
    given = {"task_id": "t1", "session_id": "s1", "initial_prompt": "Plan it."}
    body = draft_of(act("arena", task=given, notebook=notebook), ADMIN).body
    assert body == ArenaTask(config={"notebook_enabled": True}, task=given, notebook=notebook)
    body = draft_of(act("arena", task=given, config={"max_rounds": 9}), ADMIN).body
    assert body.config == {"max_rounds": 9}, "the case judges it (6.2)"


@pytest.mark.parametrize("fields", [{}, {"task": "x"}, {"task": {}, "colour": 1}, {"task": {}, "run_id": 7}])
def test_what_makes_no_task_is_refused(fields):
    with pytest.raises(Malformed):
        draft_of(act("arena", **fields), ADMIN)


def test_a_viewer_opens_no_run():
    draft = draft_of(act("arena", task={}), VIEWER)
    with pytest.raises(Forbidden, match="only admin or evolver"):
        rules().matrix.check(draft.author, draft.channel, draft.body.type)


@pytest.mark.rule("R-B5")
def test_r_b5_a_viewer_can_neither_halt_nor_resume():
    matrix = rules().matrix
    for kind in ("halt", "resume"):
        draft = draft_of(act(kind, reason="x"), VIEWER)
        with pytest.raises(Forbidden, match="only admin"):
            matrix.check(draft.author, draft.channel, draft.body.type)


def test_what_a_society_has_no_message_for_nobody_can_do():
    with pytest.raises(Malformed, match="nobody can dance"):
        draft_of(act("dance", reason="crash"), ADMIN)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "text"),
        ({"text": 7}, "text"),
        ({"text": "x" * 20_001}, "text"),
        ({"text": "x", "colour": "red"}, "colour"),
        ({"text": "x", "type": "STOP"}, "type"),
    ],
)
def test_fields_that_make_no_message_are_named(fields, field):
    with pytest.raises(Malformed) as caught:
        draft_of(act("note", **fields), VIEWER)
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


def test_the_key_is_the_platforms_the_persons_and_its_message_id_and_never_too_long():
    assert key_of(act("note", text="x")) == "discord/4711/m-99"
    for bad in ("", "x" * 300):
        with pytest.raises(Malformed):
            key_of(replace(act("note", text="x"), platform_message_id=bad))


@pytest.mark.rule("K1")
def test_k1_two_people_who_use_one_message_id_have_two_keys():
    mine, theirs = act("note", text="x"), replace(act("note", text="x"), user_id="4712")
    assert key_of(mine) != key_of(theirs)
    assert draft_of(mine, ADMIN).identity() != draft_of(theirs, VIEWER).identity()


def test_nobody_acts_without_a_user_id():
    with pytest.raises(Malformed, match="nobody knows"):
        draft_of(replace(act("note", text="x"), user_id=""), VIEWER)


def test_every_act_of_an_admin_passes_the_permission_matrix():
    matrix = rules().matrix
    for line in (
        "/note x",
        "/override hyp_1 REJECT y",
        "/take critic",
        "/release critic",
        "/stop society y",
        "/halt y",
        "/resume y",
    ):
        said = parse(line)
        draft = draft_of(act(said.kind, **said.fields), ADMIN)
        matrix.check(draft.author, draft.channel, draft.body.type)


@given(
    st.sampled_from(sorted(rulebook().acts)),
    st.dictionaries(
        st.sampled_from(
            ["text", "escalation_id", "option", "case_id", "verdict", "why", "seat", "scope", "x"]
        ),
        st.none()
        | st.text(max_size=20)
        | st.integers()
        | st.floats()
        | st.lists(st.text(max_size=3), max_size=2),
    ),
)
def test_any_fields_give_a_draft_or_malformed(kind, fields):
    with suppress(Malformed):
        draft_of(act(kind, **fields), VIEWER).identity()


@given(st.text(max_size=100))
def test_any_command_line_gives_a_draft_or_a_reason(line):
    with suppress(CommandError, Malformed):
        said = parse(line)
        if isinstance(said, Said):
            draft_of(act(said.kind, **said.fields), VIEWER)


def test_a_program_gives_lists_as_json_has_them():
    draft = draft_of(act("debate", question="Where?", options=["Rome", "Oslo"]), ADMIN)
    assert draft.body.options == ("Rome", "Oslo")
    for options, where in (([1, "Oslo"], "options.0"), ("Rome", "options")):
        with pytest.raises(Malformed) as refused:
            draft_of(act("debate", question="Where?", options=options), ADMIN)
        assert refused.value.field == where
    with pytest.raises(Malformed) as refused:
        draft_of(act("note", text=object()), ADMIN)
    assert (refused.value.field, refused.value.why) == ("text", "give a text, not what is of type object")
