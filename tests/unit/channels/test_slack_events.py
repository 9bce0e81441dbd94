"""What Slack delivers, understood: any JSON gives something heard, or nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from moot.channels.slack.events import Heard, Where, hear, hear_message, order
from moot.channels.slack.identity import Me
from moot.channels.slack.library_log import library_logger
from moot.channels.slack.scopes import NEEDED, missing
from moot.channels.slack.troubles import HERE, IN_DOUBT, SETUP, SlackSaid, trouble
from moot.channels.surface import PostRefused, SurfaceConfigError, SurfaceDown

ME = Me("U0ME", "B0ME", "moot", "Team", ())
ROOMS = {"C1": "#a-arena"}
TS = "1700000000.000100"


def message(**more):
    return {"type": "message", "channel": "C1", "user": "U1", "ts": TS, "text": "hello", **more}


def heard(event):
    return hear({"type": "event_callback", "event_id": "Ev1", "event": event}, ME, ROOMS.get)


def test_a_message_is_a_command_line_under_its_channel_and_ts():
    assert heard(message()) == Heard(
        f"C1/{TS}", Where("C1", "U1", TS), "#a-arena", "command", {"text": "hello"}
    )


@pytest.mark.parametrize(
    "more",
    [
        {"user": "U0ME"}, {"bot_id": "B0ME"}, {"bot_id": "B0OTHER"}, {"user": "USLACKBOT"}, {"user": ""},
        {"subtype": "channel_join"}, {"subtype": "bot_message"}, {"subtype": "message_deleted"},
        {"channel": "C2"}, {"ts": "yesterday"}, {"text": "  "}, {"text": None},
    ],
)  # fmt: skip
def test_what_no_person_said_in_a_mirrored_channel_is_passed_over(more):
    """K21: no ring of bots."""
    assert heard(message(**more)) is None


@pytest.mark.parametrize("user", ["U0ME", "USLACKBOT"])
def test_an_edit_that_no_person_made_is_passed_over(user):
    """A file that the app shared is its user's, and Slack may change it."""
    before = message(user=user, bot_id="")
    event = {
        **message(subtype="message_changed"),
        "message": {**before, "text": "new"},
        "previous_message": before,
    }
    assert heard(event) is None
    theirs = {**event, "message": {**event["message"], "user": "U1"}}
    assert heard(theirs) is not None


@pytest.mark.parametrize(
    ("text", "here", "elsewhere"),
    [
        ("<@U0ME> status", "/status", "/status"),
        ("<@U0ME|moot>: Halt it all", "/Halt it all", "/Halt it all"),
        ("<@U0ME> /halt x", "/halt x", "/halt x"),
        ("<@U0ME>", "/help", "/help"),
        ("<@U0ME> mind the tail", "mind the tail", "/mind the tail"),
        ("<@U1> status", "<@U1> status", "/help"),
        ("ask <@U0ME> later", "ask <@U0ME> later", "/help"),
    ],
)
def test_what_is_said_to_us_is_a_command_where_it_reads_like_one(text, here, elsewhere):
    mention = {**message(text=text), "type": "app_mention"}
    assert heard(mention).fields == {"text": here}
    other = heard({**mention, "channel": "C2"})
    assert (other.channel, other.fields, other.reply_to) == ("#admin", {"text": elsewhere}, None)


def test_message_and_mention_of_the_same_words_are_one_act():
    text = "<@U0ME> status"
    assert heard(message(text=text)) == heard({**message(text=text), "type": "app_mention"})


def test_history_and_delivery_of_the_same_words_are_one_act():
    assert hear_message(message(), "C1", ME, "#a-arena") == heard(message())


PRESS = {
    "type": "block_actions",
    "user": {"id": "U1", "username": "ann"},
    "trigger_id": "t1",
    "channel": {"id": "C1"},
    "container": {"channel_id": "C1", "message_ts": TS, "thread_ts": TS},
    "message": {"ts": TS, "thread_ts": TS},
    "response_url": "https://hooks.example.org/1",
    "actions": [{"action_id": "moot|answer|2|esc_1", "value": "moot|answer|2|esc_1"}],
}
TYPED = {
    "command": "/moot", "trigger_id": "t2", "user_id": "U1", "user_name": "ann", "channel_id": "C1",
    "text": "status", "response_url": "https://hooks.example.org/2",
}  # fmt: skip


def delivered(event):
    return {"type": "event_callback", "event_id": "Ev1", "event": event}


DELIVERED = [
    PRESS,
    TYPED,
    delivered(message(thread_ts="1600000000.000100")),
    delivered(message(text="", files=[{"id": "F1"}])),
    delivered(message(type="app_mention", channel="C2", text="<@U0ME> status")),
    delivered(
        {
            "type": "message", "subtype": "message_changed", "channel": "C1",
            "message": {**message(text="anew"), "edited": {"ts": TS}}, "previous_message": message(),
        }
    ),
]  # fmt: skip

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["", "C1", "U1", TS]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


def places(value, at=()):
    """Return the way to every part of a payload, but not to the whole."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way for key, part in parts for way in ((*at, key), *places(part, (*at, key)))]


def altered(payload, way, junk):
    """Return a payload with one part replaced, or without it."""
    if not way:
        return junk
    key, *rest = way
    if isinstance(payload, list):
        return [altered(part, rest, junk) if n == key else part for n, part in enumerate(payload)]
    if not isinstance(payload, dict) or key not in payload:
        return payload
    return {**payload, key: altered(payload[key], rest, junk)}


@pytest.mark.parametrize("payload", DELIVERED)
def test_what_slack_delivers_with_any_parts_replaced_gives_something_heard_or_nothing(payload):
    assert hear(payload, ME, ROOMS.get) is not None
    ways, several = places(payload), []

    @given(st.lists(st.tuples(st.sampled_from(ways), JUNK), max_size=3))
    def judge(changes):
        body = payload
        for way, junk in changes:
            body = altered(body, way, junk)
        found = hear(body, ME, ROOMS.get)
        if found is not None:
            several.append(bool(changes))
            assert found.key
            assert Heard.from_json(json.loads(json.dumps(found.as_json()))) == found

    judge()
    assert any(several)


@given(st.dictionaries(st.sampled_from(["type", "event", "command", "actions", "user"]), JUNK))
def test_any_json_is_understood_or_passed_over(body):
    for kind in (None, "block_actions", "event_callback"):
        hear(body if kind is None else {**body, "type": kind}, ME, ROOMS.get)


def test_timestamps_are_ordered_by_number_and_nonsense_comes_first():
    written = ["10.500001", "1700000000.000100", "9.000001", "10.5"]
    assert sorted(written, key=order) == ["9.000001", "10.5", "10.500001", "1700000000.000100"]
    assert order("now") == order("") == (0, 0)


@pytest.mark.parametrize(
    ("codes", "kind", "is_everywhere"),
    [(SETUP, SurfaceConfigError, None), (HERE, SurfaceDown, False), (IN_DOUBT, SurfaceDown, True)],
)
def test_every_code_of_the_tables_means_what_its_table_says(codes, kind, is_everywhere):
    for code in codes:
        found = trouble(SlackSaid(code, {}), where="#a-arena")
        assert isinstance(found, kind), code
        assert "\n" not in str(found)
        if isinstance(found, SurfaceDown):
            assert (found.everywhere, found.maybe_posted) == (is_everywhere, code in IN_DOUBT)


def test_a_refusal_quotes_slack():
    data = {"response_metadata": {"messages": ["[ERROR] too long [json-pointer:/blocks/0]", 7, "third"]}}
    found = trouble(SlackSaid("invalid_blocks", data))
    assert isinstance(found, PostRefused)
    assert str(found) == "Slack refuses it: invalid_blocks ([ERROR] too long [json-pointer:/blocks/0]; 7)"


def test_missing_scopes_are_those_that_the_header_does_not_name():
    assert missing(", ".join(NEEDED)) == ()
    assert missing("chat:write") == tuple(name for name in NEEDED if name != "chat:write")
    assert missing(None) is None


def test_what_the_library_says_is_one_line_without_secrets_and_said_once():
    logger = library_logger()
    logger.warning("something else")
    with capture_logs() as lines:
        for n in range(3):
            secret = "1" * 12 + "-" + "a" * 24
            logger.warning("failed %d: xoxb-%s at wss://x/link/?ticket=abc&y\nTraceback", n, secret)
        logger.info("a body")
    (line,) = lines
    assert line["event"] == "slack library"
    assert line["said"].startswith("failed 0: ")
    assert not any(part in line["said"] for part in ("ticket=abc", "aaaa", "\n"))
