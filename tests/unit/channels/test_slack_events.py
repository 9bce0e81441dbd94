"""What Slack delivers, understood: any JSON gives something heard, or nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from channels.slack.events import Heard, Where, hear, hear_message, order
from channels.slack.identity import Me
from channels.slack.library_log import library_logger
from channels.slack.scopes import NEEDED, missing
from channels.slack.troubles import HERE, IN_DOUBT, SETUP, SlackSaid, trouble
from channels.surface import PostRefused, SurfaceConfigError, SurfaceDown

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


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["C1", "U1", TS, "message"]),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "subtype", "event", "message", "previous_message", "channel", "user", "ts", "text",
                     "command", "actions", "action_id", "value", "container", "id", "trigger_id", "user_id", "edited",
                     "files", "thread_ts"]
                ),
                inner, max_size=6,
            )
        ),
        max_leaves=25,
    ).filter(lambda value: isinstance(value, dict))
)  # fmt: skip
def test_any_json_gives_something_heard_or_nothing(body):
    for kind in (None, "block_actions", "event_callback"):
        found = hear(body if kind is None else {**body, "type": kind}, ME, ROOMS.get)
        if found is not None:
            assert found.key
            assert Heard.from_json(json.loads(json.dumps(found.as_json()))) == found


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
    assert missing(None) == ()


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
