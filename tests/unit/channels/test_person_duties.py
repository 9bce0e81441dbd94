"""A person's duty on chat platforms: its context, its buttons, and what a press of one means (R-G16)."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from moot.channels.chat.buttons import Press, button_id, read_button_id
from moot.channels.discord.rendering import MOST_ID as DISCORD_ID
from moot.channels.discord.rendering import message as on_discord
from moot.channels.gateway.intake import _with_case
from moot.channels.inbound import draft_of
from moot.channels.showing.person_duties import acts_for, answers_by, answers_to, context_lines
from moot.channels.showing.rendering import Button, card, sentence
from moot.channels.slack.events import _press
from moot.channels.slack.rendering import message as on_slack
from moot.channels.surface import InboundAct
from moot.console.acts import answer_draft, owed_to
from moot.protocols.kernel.acts import Act, Blank
from moot.protocols.kernel.seats import ADMIN, VIEWER
from moot.protocols.rulebook import rulebook, speak
from tests.doubles.permits import spoken
from tests.doubles.postings import posting
from tests.doubles.table import Table

CASE = "permit_20260223_1000"


@pytest.fixture
def protocol():
    with spoken() as module:
        yield module


def asked(protocol):
    table = Table(schedules={}, config={"desk": {"enabled": False}})
    table.say(ADMIN, protocol.Request(text="a shed"), channel="#permits")
    table.say("surveyor", protocol.Survey(request_id=CASE, safe=True))
    return table


def post_of(protocol):
    """Return the posting that asks the admin for the permit."""
    notice = asked(protocol).last("DUTY_NOTICE")
    return posting(notice.body.model_dump(mode="json"), author="referee", case_id=CASE, channel="#permits")


def act_of(press, **more):
    given = {
        "platform": "discord",
        "user_id": "7",
        "user_name": "Ann",
        "platform_message_id": "press-1",
        "channel": "#permits",
    }
    return InboundAct(kind=press.kind, fields=press.fields, **given, **more)


@pytest.mark.rule("R-G16")
def test_the_notice_says_what_is_owed_until_when_and_what_is_to_be_known(protocol):
    notice = asked(protocol).last("DUTY_NOTICE")
    assert sentence(notice) == (
        f"Referee asks the Admin for the permit in {CASE}; ruled on at 2026-02-23 12:00 otherwise"
    )
    shown = card(notice)
    assert [(one.name, one.value) for one in shown.fields] == [("brief", "request a shed, safe yes")]
    assert [one.label for one in shown.buttons] == ["Granted: yes", "Granted: no"]
    assert list(context_lines(notice.body.brief)) == [("request", "a shed"), ("safe", "yes")]


@pytest.mark.rule("R-G16")
def test_discord_shows_the_context_and_a_button_for_each_answer(protocol):
    rendered = on_discord(post_of(protocol))
    buttons = [one for row in rendered.components for one in row["components"]]
    assert [one["label"] for one in buttons] == ["Granted: yes", "Granted: no"]
    assert [one["custom_id"] for one in buttons] == [f"moot|act|permit|{n}|{CASE}" for n in (1, 2)]
    assert "a shed" in str(rendered.embeds)


@pytest.mark.rule("R-G16")
def test_slack_shows_the_context_and_a_button_for_each_answer(protocol):
    rendered = on_slack(post_of(protocol))
    (actions,) = (block for block in rendered.blocks if block["type"] == "actions")
    assert [one["text"]["text"] for one in actions["elements"]] == ["Granted: yes", "Granted: no"]
    assert "a shed" in str(rendered.blocks)
    body = {
        "actions": [actions["elements"][1]],
        "user": {"id": "U1", "username": "ann"},
        "trigger_id": "T1",
        "channel": {"id": "C1"},
        "container": {"message_ts": "1.0"},
    }
    heard = _press(body, lambda _room: "#permits")
    assert heard is not None
    assert (heard.kind, heard.fields) == ("permit", {"request_id": CASE, "granted": False})


@pytest.mark.rule("R-G16")
@pytest.mark.parametrize(("n", "granted"), [(1, True), (2, False)])
def test_a_press_is_the_answer_of_whoever_pressed(protocol, n, granted):
    table = asked(protocol)
    press = read_button_id(f"moot|act|permit|{n}|{CASE}")
    draft = draft_of(act_of(press), ADMIN)
    assert (draft.channel, draft.author, draft.case_id) == ("#permits", ADMIN, CASE)
    assert draft.body == protocol.Permit(request_id=CASE, granted=granted)
    table.publish(draft)
    assert table.docket.ended[CASE].outcome == ("granted" if granted else "refused")
    # A viewer's press is a viewer's word, which no right allows.
    assert draft_of(act_of(press), VIEWER).author == VIEWER
    assert not table.rules.matrix.may_write(VIEWER, "#permits", "PERMIT")


@pytest.mark.rule("R-G16")
def test_a_press_after_the_ruling_is_late(protocol):
    table = asked(protocol)
    table.wait(hours=3)
    said = table.publish(draft_of(act_of(read_button_id(f"moot|act|permit|1|{CASE}")), ADMIN))
    assert table.effects[said.seq - 1].violation.rule == "R-E4"
    assert table.docket.ended[CASE].outcome == "lapsed"


@pytest.mark.rule("R-G16")
def test_an_id_that_does_not_fit_is_that_of_the_case_under_which_the_button_stands(protocol):
    long = "permit_" + "x" * 120
    button = Button("Granted: yes", "act", {"act": "permit", "n": 1, "case_id": long})
    text = button_id(button, DISCORD_ID)
    assert text == "moot|act|permit|1|"
    act = _with_case(act_of(read_button_id(text)), CASE)
    assert act.fields == {"request_id": CASE, "granted": True}
    named = act_of(read_button_id(f"moot|act|permit|1|{CASE}"))
    assert _with_case(named, "another") is named
    assert button_id(button, 10) is None


@pytest.mark.rule("R-G16")
@pytest.mark.parametrize(
    "text",
    [
        f"moot|act|permit|3|{CASE}",
        f"moot|act|permit|0|{CASE}",
        f"moot|act|nothing|1|{CASE}",
        f"moot|act|halt|1|{CASE}",
        "moot|act|permit|1",
        f"moot|act|PERMIT|1|{CASE}",
    ],
)
def test_a_button_of_another_version_means_nothing(protocol, text):
    assert read_button_id(text) is None


def test_escalations_keep_their_own_buttons():
    assert read_button_id("moot|ack|esc_1") == Press("ack", "esc_1")
    assert answers_to({"ESCALATION_ANSWER", "OVERRIDE"}) == [] and "answer" in rulebook().acts


@pytest.mark.rule("R-G16")
def test_answers_follow_from_what_an_act_asks_for(protocol):
    acts = {act.name: act for act in protocol.PROTOCOL.acts}
    assert acts_for({"PERMIT"}) == [acts["permit"]] and acts_for({"SURVEY"}) == []

    def answers(*blanks, **more):
        asks = (Blank("request_id", "id of the request"), *blanks)
        return [one.label for one in answers_by(replace(acts["permit"], asks=asks, **more))]

    assert answers(Blank("granted", "whether")) == ["Granted: yes", "Granted: no"]
    assert answers(Blank("granted", "whether", choices=("true", "false"))) == [
        "Granted: true",
        "Granted: false",
    ]
    assert answers() == ["Grant or refuse a permit"], "nothing is asked for but the case"
    assert answers(Blank("granted", "whether"), read=lambda words: words) == []
    text = Act(name="word", does="say", message=protocol.Request, asks=(Blank("text", "what"),))
    assert answers_by(text) == []


@pytest.mark.rule("R-G16")
def test_an_act_that_asks_for_more_has_no_buttons_and_the_notice_still_asks(protocol):
    bare = replace(protocol.PROTOCOL, acts=())
    speak((bare,))
    assert card(asked(protocol).last("DUTY_NOTICE")).buttons == ()


@pytest.mark.rule("R-G16")
def test_the_form_of_what_is_owed_is_open_to_the_seat_that_owes_it(protocol):
    table = asked(protocol)
    duty = f"{CASE}/permit/admin"
    ann = SimpleNamespace(seat=ADMIN, actor=None)
    owed = owed_to(table.docket, ann, duty)
    assert owed is table.docket.open[duty]
    assert owed_to(table.docket, SimpleNamespace(seat=VIEWER), duty) == "only the admin answers this"
    draft = answer_draft(table.docket, ann, owed, {"request_id": CASE, "granted": True})
    assert (draft.author, draft.channel, draft.obligation_id) == (ADMIN, "#permits", duty)
