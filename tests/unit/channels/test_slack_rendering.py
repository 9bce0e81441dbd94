import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.channels.chat.buttons import with_ids
from moot.channels.log.lines import open_line
from moot.channels.showing.rendering import Button, card
from moot.channels.slack.rendering import (
    EVENT,
    MOST_ALL,
    MOST_ID,
    escape,
    file_of,
    message,
    nonce_of,
    plain,
    read_action_id,
    size,
    with_file,
)
from moot.protocols.kernel.envelope import Actor
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.rulebook import rulebook
from tests.doubles.copying import replace
from tests.doubles.odd_text import ODD, odd_text
from tests.doubles.postings import AT, escalation, filled, posting
from tests.doubles.read_back import from_slack, from_slack_file

LINK = "https://moot.example.org/m/1"
PERMALINK = "https://example.slack.com/files/U1/F1/payload.json"
LINKED = re.compile(r"(?P<before>[^<>&]*)<(?P<url>https://[^\s<>|]+)\|(?P<label>[^<>|]+)>")


def width(text):
    """Count a text the way that gives most: UTF-16, with its entities."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return len(escaped.encode("utf-16-le", "surrogatepass")) // 2


def plain_words(one, most):
    """Return what a text object shows: it must be plain and fit."""
    assert one["type"] == "plain_text"
    assert one["emoji"] is False
    assert set(one) == {"type", "text", "emoji"}
    assert 1 <= width(one["text"]) <= most
    assert one["text"].strip()
    return one["text"]


def words_in(block):
    """Return what a block shows, held to Slack's limits for it."""
    match block["type"]:
        case "section":
            assert ("text" in block) != ("fields" in block)
            if "text" in block:
                return [plain_words(block["text"], 3_000)]
            assert 1 <= len(block["fields"]) <= 10
            return [plain_words(one, 2_000) for one in block["fields"]]
        case "context":
            assert 1 <= len(block["elements"]) <= 10
            return [
                plain_words(one, 2_000) if one["type"] == "plain_text" else our_link(one)
                for one in block["elements"]
            ]
        case "actions":
            assert 1 <= len(block["elements"]) <= 25
            for one in block["elements"]:
                assert one["type"] == "button"
                plain_words(one["text"], 75)
                assert 1 <= len(one["action_id"].encode("utf-16-le")) // 2 <= 255
                assert 1 <= len(one["value"].encode("utf-16-le")) // 2 <= 2_000
                assert one.get("style", "primary") == "primary"
            return []
        case other:
            raise AssertionError(other)


def our_link(one):
    """Only a link of ours stands in markup."""
    assert one["type"] == "mrkdwn"
    found = LINKED.fullmatch(one["text"])
    assert found, one["text"]
    assert found["url"] in (LINK, PERMALINK)
    return f"{found['before']}{found['label']}"


def held_to_the_limits(found):
    assert 1 <= width(found.username) <= 80
    assert re.fullmatch(r":[a-z0-9_+-]+:", found.icon_emoji)
    assert found.text.strip()
    assert len(found.text.encode("utf-16-le")) // 2 <= 4_000
    assert not re.sub(rf"<{re.escape(PERMALINK)}\|payload.json>", "", found.text).count("<")
    assert not re.search(r"&(?!amp;|lt;|gt;)", found.text)
    assert 1 <= len(found.blocks) <= 50
    assert width(json.dumps(found.blocks, ensure_ascii=False)) <= 13_000
    pressed = [
        one["action_id"] for block in found.blocks if block["type"] == "actions" for one in block["elements"]
    ]
    assert len(set(pressed)) == len(pressed)
    if found.metadata is not None:
        assert len(json.dumps(found.metadata, ensure_ascii=False).encode("utf-16-le")) // 2 <= 8_000
        assert set(found.metadata) == {"event_type", "event_payload"}
        assert all(isinstance(value, str) for value in found.metadata["event_payload"].values())
    json.dumps(found.blocks, ensure_ascii=False).encode()
    return "\n".join(word for block in found.blocks for word in words_in(block))


def squeezed(text):
    unsafe = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff�]"
    return re.sub(unsafe, "", re.sub(r"\s", "", text))


def is_told_or_shown(text, body):
    if "whole in the log" in text or "Whole: " in text:
        return True
    held = squeezed(text).casefold().replace("_", "")
    told = (part for name, part in body.items() if isinstance(part, str) and name != "type" and part != AT)
    return all(squeezed(part).casefold().replace("_", "") in held for part in told)


def holds(item, body):
    found = message(item)
    text = held_to_the_limits(found)
    assert is_told_or_shown(text, body)
    lines = [item.envelope.line, *(one.line for one in item.folded)]
    assert from_slack_file(found.payload) == lines
    assert found.metadata is not None or len(json.dumps(json.dumps(lines))) > 7_000
    if found.metadata is not None:
        assert from_slack(found.metadata) == lines
        assert nonce_of(found.metadata) == item.nonce
    filed = with_file(found, "F1", PERMALINK)
    assert held_to_the_limits(filed).endswith("payload.json")
    return found


@pytest.mark.parametrize("kind", sorted(rulebook().messages))
@pytest.mark.parametrize(
    "text", ["some words", '<!channel> & "a" :smile: ' * 30, "\U0001d538😀" * 4_000, "&" * 9_000]
)
def test_every_message_type_is_within_the_limits_and_comes_back_byte_for_byte(kind, text):
    body = filled(kind, text)
    found = holds(posting(body, link=LINK), body)
    assert found.blocks[0]["text"]["text"].startswith("Critic ")
    assert found.text.startswith("Critic ")


@settings(max_examples=150)
@given(odd_text, odd_text, st.sampled_from(["NOTE", "DRAFT", "ESCALATION", "HYPOTHESIS", "BRAND_NEW"]))
def test_any_text_is_shown_word_for_word_and_pings_nobody(text, case, kind):
    body = {
        **(filled(kind, text) if kind in rulebook().messages else {}),
        "type": kind,
        "said": text,
        case: text,
    }
    item = posting(body, case_id=case or None, author="oracle", link=LINK)
    holds(item, {name: text for name, text in body.items() if name != case})


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_an_odd_word_is_no_markup_and_comes_back_when_it_is_written_here(text):
    assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", escape(text))
    assert plain(escape(text)) == text


def test_a_text_of_200_000_characters_is_cut_at_a_word_with_a_link_to_all_of_it():
    body = {**filled("DRAFT"), "text": "some word " * 20_000}
    found = holds(posting(body, link=LINK), body)
    words = held_to_the_limits(found)
    assert re.search(r"(word|some)…\n", words)
    assert f"Whole: {LINK}\n" in words
    assert 8_000 < len(words) < 13_000, "the room is used"
    assert found.metadata is None
    assert "Message 1 stands whole in the log: moot log DIR --from 1 --json" in held_to_the_limits(
        message(posting(body))
    )


@pytest.mark.parametrize("text", ["some word " * 20_000, '"&" <' * 20_000])
def test_a_full_message_has_room_for_the_link_to_its_file(text):
    found = message(posting({**filled("DRAFT"), "text": text, "more": text}, link=LINK))
    filed = with_file(found, "F1", PERMALINK + "?" + "x" * 400)
    assert size(filed.blocks) > size(found.blocks) > MOST_ALL - 2_500
    assert size(filed.blocks) <= MOST_ALL


def test_a_short_message_says_nothing_of_being_cut():
    found = message(posting({"type": "NOTE", "text": "hold <on>"}, author="admin"))
    assert found.text == "Admin notes: hold &lt;on&gt;"
    assert [words_in(block) for block in found.blocks] == [
        ["Admin notes: hold <on>"],
        ["Note · hyp_20260223_1030 · message 1"],
    ]


def test_a_link_that_could_be_markup_is_not_shown():
    found = message(posting({"type": "NOTE", "text": "x" * 90_000}, link="https://x|<!channel>"))
    assert "moot log DIR" in held_to_the_limits(found)


def test_many_fields_of_much_text_share_the_room_and_say_so():
    body = {"type": "WIDE", **{f"field {n}": f"<{n}> " + '& "many" words ' * 14 for n in range(60)}}
    found = holds(posting(body), body)
    assert sum(len(block.get("fields", ())) for block in found.blocks) > 10
    assert "moot log DIR" in held_to_the_limits(found)


def test_several_messages_in_one_are_listed_with_time_and_seat():
    bodies = [{"type": "NOTE", "text": f"<note> {n}"} for n in range(12)]
    found = holds(posting(bodies[0], folded=bodies[1:], link=LINK), {})
    words = held_to_the_limits(found).splitlines()
    assert words[:3] == [
        "12 messages of hyp_20260223_1030: Critic; number 1 to 12 of the log",
        "10:00 Critic notes: <note> 0",
        "10:00 Critic notes: <note> 1",
    ]
    assert f"Messages 1 to 12 stand whole in the log from {LINK}" in words
    assert len(from_slack_file(found.payload)) == 12


@pytest.mark.parametrize("several", [2, 26, 200])
def test_a_summary_of_long_messages_gives_each_its_part_or_counts_the_rest(several):
    bodies = [{"type": "NOTE", "text": '<a> & "b" ' * 300} for _ in range(several)]
    found = holds(posting(bodies[0], folded=bodies[1:]), {})
    lines = held_to_the_limits(found).splitlines()
    listed = [line for line in lines if line.startswith("10:0")]
    assert len(listed) == several or f"… and {several - len(listed)} more" in lines
    assert len(listed) >= min(several, 26)


def test_a_post_for_several_seats_speaks_for_none_of_them():
    one = posting({"type": "NOTE", "text": "a"})
    other = posting({"type": "NOTE", "text": "b"}, author="explorer")
    found = message(replace(one, folded=(other.envelope,)))
    assert (found.username, found.icon_emoji, found.seat) == ("Moot", ":speech_balloon:", None)


def test_a_person_in_a_seat_is_named():
    found = message(
        posting({"type": "NOTE", "text": "hm"}, author="admin", actor=Actor("human", "slack", "U1"))
    )
    assert (found.username, found.seat, found.icon_emoji) == ("Admin (U1)", ADMIN, ":crown:")


def test_an_escalation_carries_a_button_for_each_answer():
    found = message(posting(escalation(24), author="referee"))
    held_to_the_limits(found)
    pressed = next(block for block in found.blocks if block["type"] == "actions")["elements"]
    assert [read_action_id(one["action_id"]).option for one in pressed] == [None, *range(1, 25)]
    assert {read_action_id(one["value"]).escalation_id for one in pressed} == {"esc_1"}


def test_answers_that_cannot_all_be_buttons_are_told():
    for body in (escalation(60), escalation(24, escalation_id="&" * 51, label='"' * 200)):
        assert "whole in the log" in held_to_the_limits(message(posting(body)))


@pytest.mark.parametrize(
    ("escalation_id", "kept"), [("esc_1", "esc_1"), ("x" * 240, "x" * 240), ("x" * 300, "")]
)
def test_a_button_says_what_it_means_or_leaves_the_case_to_the_message_it_is_under(escalation_id, kept):
    button = Button("1: go on", "answer", {"escalation_id": escalation_id, "option": 1, "text": None})
    text = with_ids((button,), MOST_ID, 1)[0][0]
    assert width(text) <= 255
    assert dict(read_action_id(text).fields) == {"escalation_id": kept, "option": 1, "text": None}


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("hi <@U1> and <@U2|bob>, <@U3>", "hi @Ana and @bob, @U3"),
        ("in <#C1|a-arena> and <#C2>, <#C3|>", "in #a-arena and #admin, #C3"),
        ("<!channel> <!here|here> <!subteam^S1|@desk> <!subteam^S2>", "@channel here @desk @subteam"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("<https://x.example/a?b=1&amp;c=2>", "https://x.example/a?b=1&c=2"),
        ("<https://x.example|the page>", "the page (https://x.example)"),
        ("<http://x.example|x.example> <mailto:a@b.example|a@b.example>", "x.example a@b.example"),
        ("a &lt; b &amp;&amp; c &gt; d &amp;lt;", "a < b && c > d &lt;"),
        ("&lt;@U1&gt; stays", "<@U1> stays"),
        ("*as* typed :smile:", "*as* typed :smile:"),
    ],
)
def test_what_people_write_becomes_plain_words(text, reads):
    assert plain(text, users={"U1": "Ana"}, channels={"C2": "admin"}) == reads


@settings(max_examples=100)
@given(odd_text)
def test_any_incoming_text_becomes_a_text(text):
    assert isinstance(plain(text), str)
    assert plain(escape(text)) == text


def test_a_message_names_the_file_that_carries_it():
    item = posting({**filled("DRAFT"), "text": "x" * 9_000})
    found = message(item)
    assert found.metadata is None
    filed = with_file(found, "F1", PERMALINK)
    assert (nonce_of(filed.metadata), file_of(filed.metadata)) == (item.nonce, "F1")
    assert filed.text.endswith(f"<{PERMALINK}|payload.json>")
    assert "messages" not in filed.metadata["event_payload"], "they are in the file"
    odd = with_file(found, "F1", "https://x|<!channel>")
    assert (odd.text, odd.blocks, file_of(odd.metadata)) == (found.text, found.blocks, "F1")


@pytest.mark.parametrize(
    "metadata",
    [
        None, 1, {}, {"event_type": "other", "event_payload": {}}, {"event_type": EVENT},
        {"event_type": EVENT, "event_payload": []}, {"event_type": EVENT, "event_payload": {"messages": 1}},
        *(
            {"event_type": EVENT, "event_payload": {"messages": text}}
            for text in ("", "{", "[]", "[1]", "{}", "[" * 10**5)
        ),
    ],
)  # fmt: skip
def test_metadata_that_is_none_of_ours_names_nothing(metadata):
    assert nonce_of(metadata) is None
    assert file_of(metadata) is None


def test_half_a_character_from_a_line_of_the_log_harms_nothing():
    item = posting(
        {**escalation(2, escalation_id="HALF"), "text": "HALF" * 200, "HALF": 1},
        author="HALF",
        case_id="HALF",
    )
    line = item.envelope.line.replace("HALF", "\\ud83d")
    posted = replace(item, envelope=open_line(line), rendering=card(open_line(line)))
    found = message(posted)
    held_to_the_limits(found)
    assert from_slack_file(found.payload) == [line]
