import base64
import json
import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moot.channels.chat.buttons import with_ids
from moot.channels.discord.rendering import (
    MOST_ID,
    escape,
    footer_mark,
    message,
    plain,
    read_custom_id,
    thread_name,
    username,
)
from moot.channels.log.lines import open_line
from moot.channels.showing.layout import mark
from moot.channels.showing.rendering import Button, card
from moot.protocols.kernel.envelope import Actor
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.rulebook import rulebook
from tests.doubles.copying import replace
from tests.doubles.odd_text import ODD, odd_text
from tests.doubles.postings import AT, escalation, filled, posting
from tests.doubles.read_back import from_discord

LINK = "https://moot.example.org/m/1"

MARKUP = (
    r"<@!?\d+>", r"<@&\d+>", r"<#\d+>", r"<a?:\w+:\d+>", r"<t:-?\d+(:\w)?>", r"</[^:]+:\d+>", r"<[^\s<>]+://[^\s<>]+>",
    r"@everyone", r"@here", r"(https?|steam)://\S", r":[^\s:]+:", r"discord\.gg/", r"\[[^\]]*\]\([^)]*\)",
    r"\*[^*\s]", r"\*\*", r"_[^_]+_", r"~~", r"\|\|", r"`",
)  # fmt: skip
"""What Discord's clients read as more than words, wherever it stands."""

AT_A_LINE_START = (r" *#{1,3} ", r" *-# ", r" *[-*+] ", r" *\d+[.)] ", r" *>>?>? ")


def width(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


ESCAPED = re.compile(r"\\([^0-9A-Za-z\s])")
READ = re.compile("|".join(f"(?:{pattern})" for pattern in MARKUP))
READ_FIRST = re.compile("|".join(AT_A_LINE_START))


def seen(text):
    """Read a text as Discord's clients do: a backslash takes the meaning from the next sign; no markup may stand."""
    words, at = [], 0
    while at < len(text):
        escaped = ESCAPED.match(text, at)
        if escaped:
            words.append(escaped[1])
            at = escaped.end()
            continue
        assert not READ.match(text, at), text[at : at + 40]
        if at == 0 or text[at - 1] == "\n":
            assert not READ_FIRST.match(text, at), text[at : at + 40]
        words.append(text[at])
        at += 1
    return "".join(words)


def our_words(description):
    """Take what we mark ourselves out of a description: names of passages in bold, the link."""
    text = re.sub(r"(?m)^\*\*((?:\\.|[^*\n])*)\*\*$", r"\1", description)
    return text.replace(f"<{LINK}>", "LINK")


def held_to_the_limits(found):
    assert 1 <= width(found.username) <= 80
    assert not re.search("discord|clyde|everyone", found.username, re.IGNORECASE)
    assert found.username.lower() != "here"
    assert found.username == found.username.strip()
    assert found.content.strip()
    assert width(found.content) <= 2_000
    assert len(found.embeds) <= 10
    total = 0
    for embed in found.embeds:
        fields = embed.get("fields", [])
        assert len(fields) <= 25
        texts = [
            (embed["title"], 256), (embed.get("description", "-"), 4_096), (embed["footer"]["text"], 2_048),
            *((field["name"], 256) for field in fields), *((field["value"], 1_024) for field in fields),
        ]  # fmt: skip
        for text, most in texts:
            assert text.strip()
            assert width(text) <= most
            total += width(text)
        assert 0 <= embed["color"] <= 0xFFFFFF
    assert total <= 6_000
    assert len(found.components) <= 5
    pressed = [one for row in found.components for one in row["components"]]
    for row in found.components:
        assert row["type"] == 1
        assert 1 <= len(row["components"]) <= 5
    for one in pressed:
        assert one["label"].strip()
        assert width(one["label"]) <= 80
        assert 1 <= width(one["custom_id"]) <= 100
    assert len({one["custom_id"] for one in pressed}) == len(pressed)
    assert found.payload is None or len(found.payload) <= 10 * 1024 * 1024
    json.dumps([found.content, found.embeds, found.components], ensure_ascii=False).encode()


def shown(found):
    """Return all words that a person sees."""
    embed = found.embeds[0]
    return "\n".join(
        [
            seen(found.content), seen(embed["title"]), seen(our_words(embed.get("description", ""))),
            *(f"{seen(field['name'])}: {seen(field['value'])}" for field in embed.get("fields", [])),
        ]
    )  # fmt: skip


def said_by_bots(value):
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from said_by_bots(inner)


def squeezed(text):
    text = re.sub(
        r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]",
        "�",
        re.sub(r"\s", "", text),
    )
    return text.replace("�", "")


def is_told_or_shown(text, body):
    """Whether every text of a body is to be read here, or where it is to be read."""
    if "whole in the log" in text or "Whole: " in text:
        return True
    held = squeezed(text).casefold().replace("_", "")
    told = (part for name, part in body.items() if isinstance(part, str) and name != "type" and part != AT)
    return all(squeezed(part).casefold().replace("_", "") in held for part in told)


def holds(item, body):
    found = message(item)
    held_to_the_limits(found)
    text = shown(found)
    assert is_told_or_shown(text, body)
    if found.payload is not None:
        assert from_discord(found.payload) == [item.envelope.line, *(one.line for one in item.folded)]
    return found


@pytest.mark.parametrize("kind", sorted(rulebook().messages))
@pytest.mark.parametrize("text", ["some words", "*a* @everyone <@1> :smile: " * 30, "\U0001d538😀" * 4_000])
def test_every_message_type_is_within_the_limits_and_comes_back_byte_for_byte(kind, text):
    body = filled(kind, text)
    found = holds(posting(body, link=LINK), body)
    assert seen(found.content).startswith("Critic ")


@settings(max_examples=150)
@given(odd_text, odd_text, st.sampled_from(["NOTE", "DRAFT", "ESCALATION", "HYPOTHESIS", "BRAND_NEW"]))
@example("<@1>", "\\", "NOTE")
def test_any_text_is_shown_word_for_word_and_pings_nobody(text, case, kind):
    body = {
        **(filled(kind, text) if kind in rulebook().messages else {}),
        "type": kind,
        "said": text,
        case: text,
    }
    item = posting(body, case_id=case or None, author="oracle", link=LINK)
    holds(item, {name: text for name, text in body.items() if name != case})
    name = thread_name(item)
    assert name.strip()
    assert width(name) <= 100


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_an_odd_word_is_seen_as_it_was_written(text):
    assert seen(escape(text)) == text
    assert seen(escape(f"well {text} so")) == f"well {text} so"


@settings(max_examples=300)
@given(odd_text)
def test_escaping_loses_and_adds_nothing_that_is_seen(text):
    assert seen(escape(text)) == text
    assert not {"\u200b", "\u2060", "\ufeff"} & (set(escape(text)) - set(text))


def test_a_text_of_200_000_characters_is_cut_at_a_word_with_a_link_to_all_of_it():
    body = {**filled("DRAFT"), "text": "some word " * 20_000}
    found = holds(posting(body, link=LINK), body)
    description = found.embeds[0]["description"]
    assert found.embeds[0]["url"] == LINK
    assert description.endswith(f" some word…\n\nWhole: <{LINK}>")
    assert width(description) > 3_000, "the room is used"
    unlinked = message(posting(body)).embeds[0]
    assert "url" not in unlinked
    assert unlinked["description"].endswith("Message 1 stands whole in the log: moot log DIR --from 1 --json")


def test_a_sentence_that_doubles_when_it_is_escaped_is_cut_to_fit():
    body = {"type": "X", **{f"f{n}": "*" * 240 for n in range(8)}}
    found = message(posting(body, actor=Actor("human", "*" * 30, "*" * 60)))
    held_to_the_limits(found)
    assert 1_900 < width(found.content) <= 2_000
    assert "whole in the log" in found.embeds[0]["description"]


def test_a_short_message_says_nothing_of_being_cut():
    found = message(posting({"type": "NOTE", "text": "hold on"}, author="admin"))
    assert found.content == "Admin notes: hold on"
    assert "description" not in found.embeds[0]
    assert "fields" not in found.embeds[0]


def test_a_link_that_could_end_the_embed_is_not_shown():
    found = message(posting({"type": "NOTE", "text": "x" * 9_000}, link="javascript:alert(1)"))
    assert "url" not in found.embeds[0]
    assert "moot log DIR" in found.embeds[0]["description"]


def test_many_fields_of_much_text_share_the_room_and_say_so():
    body = {"type": "WIDE", **{f"field {n}": f"*{n}* " + "_many_ words " * 18 for n in range(60)}}
    found = holds(posting(body), body)
    assert len(found.embeds[0]["fields"]) > 10
    assert "moot log DIR" in found.embeds[0]["description"]


def test_the_mark_stands_in_the_footer():
    item = posting(filled("NOTE"))
    found = message(item)
    assert found.embeds[0]["footer"] == {"text": f"message 1 · {mark(item.nonce)}"}
    assert footer_mark(found.embeds) == mark(item.nonce)
    for other in (
        [],
        [{}],
        [{"footer": None}],
        [{"footer": {"text": "message 1 · xyz"}}],
        [{"footer": {"text": 4}}],
    ):
        assert footer_mark(other) is None


def test_several_messages_in_one_are_listed_with_time_and_seat():
    bodies = [{"type": "NOTE", "text": f"*note* {n}"} for n in range(12)]
    found = holds(posting(bodies[0], folded=bodies[1:], link=LINK), {})
    assert seen(found.content) == "12 messages of hyp_20260223_1030: Critic; number 1 to 12 of the log"
    lines = seen(our_words(found.embeds[0]["description"])).splitlines()
    assert lines[:2] == ["10:00 Critic notes: *note* 0", "10:00 Critic notes: *note* 1"]
    assert lines[-1] == "Messages 1 to 12 stand whole in the log from LINK"
    assert len(lines) == 14
    assert len(from_discord(found.payload)) == 12


@pytest.mark.parametrize("several", [2, 26, 200])
def test_a_summary_of_long_messages_gives_each_its_part_or_counts_the_rest(several):
    bodies = [{"type": "NOTE", "text": "*_a_* " * 300} for _ in range(several)]
    found = holds(posting(bodies[0], folded=bodies[1:]), {})
    lines = seen(found.embeds[0]["description"]).splitlines()
    listed = [line for line in lines if line.startswith("10:0")]
    assert len(listed) == several or f"… and {several - len(listed)} more" in lines
    assert len(listed) >= min(several, 26)


def test_a_post_for_several_seats_speaks_for_none_of_them():
    one = posting({"type": "NOTE", "text": "a"})
    other = posting({"type": "NOTE", "text": "b"}, author="explorer")
    found = message(replace(one, folded=(other.envelope,)))
    assert (found.username, found.seat) == ("Moot", None)
    assert "Critic, Explorer" in found.content


def test_a_person_in_a_seat_is_named_without_a_banned_word():
    person = message(
        posting({"type": "NOTE", "text": "hm"}, author="admin", actor=Actor("human", "discord", "4711"))
    )
    assert (person.username, person.seat) == ("Admin (4711)", ADMIN)
    other = message(
        posting({"type": "NOTE", "text": "hm"}, author="admin", actor=Actor("human", "slack", "U1"))
    )
    assert other.username == "Admin (U1 on slack)"


@pytest.mark.parametrize(
    "name",
    ["Discord", "everyone", "HERE", "clyde", "@#:```", "", " ", "x" * 200, "😀" * 80, "a discorddiscord"],
)
def test_any_name_becomes_one_that_a_webhook_may_bear(name):
    found = username(name)
    assert 1 <= width(found) <= 80
    assert not re.search("discord|clyde|everyone|^here$", found, re.IGNORECASE)
    assert not re.search("[@#:]|```", found)


def test_an_escalation_carries_a_button_for_each_answer():
    found = message(posting(escalation(24), author="referee"))
    held_to_the_limits(found)
    pressed = [one for row in found.components for one in row["components"]]
    assert [len(row["components"]) for row in found.components] == [5] * 5
    assert [read_custom_id(one["custom_id"]).option for one in pressed] == [None, *range(1, 25)]
    assert {read_custom_id(one["custom_id"]).escalation_id for one in pressed} == {"esc_1"}


def test_answers_that_cannot_all_be_buttons_or_come_twice_are_told():
    held_to_the_limits(message(posting(escalation(60))))
    twice = {
        **escalation(1),
        "options": [{"n": 1, "label": "a"}, {"n": 1, "label": "b"}, {"n": 10**200, "label": "c"}],
    }
    found = message(posting(twice))
    held_to_the_limits(found)
    assert len(found.components[0]["components"]) == 2
    assert "whole in the log" in found.embeds[0]["description"]


@pytest.mark.parametrize(
    ("escalation_id", "kept"),
    [
        ("esc_1", "esc_1"),
        ("a|b|c", "a|b|c"),
        ("x" * 84, "x" * 84),
        ("x" * 200, ""),
        ("\ud800", ""),
        ("é\n", "é\n"),
    ],
)
def test_a_button_says_what_it_means_or_leaves_the_case_to_the_message_it_is_under(escalation_id, kept):
    button = Button("1: go on", "answer", {"escalation_id": escalation_id, "option": 1, "text": None})
    text = with_ids((button,), MOST_ID, 1)[0][0]
    assert width(text) <= 100
    assert dict(read_custom_id(text).fields) == {"escalation_id": kept, "option": 1, "text": None}
    acknowledge = Button("Acknowledge", "ack", {"escalation_id": escalation_id})
    acked = with_ids((acknowledge,), MOST_ID, 1)[0][0]
    assert dict(read_custom_id(acked).fields) == {"escalation_id": kept}


@pytest.mark.parametrize(
    "text", ["", "moot", "moot|ack", "moot|answer|x|esc_1", "moot|answer||esc", "other|ack|e", "moot|halt|x"]
)
def test_a_foreign_button_means_nothing(text):
    assert read_custom_id(text) is None


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("hi <@1> and <@!2>", "hi @Ana and @2"),
        ("<@&7> in <#8>, <#9>", "@desk in #a-arena, #9"),
        ("<:pepe:12> <a:spin:34>", ":pepe: :spin:"),
        ("at <t:1771840800:R>", "at 2026-02-23 10:00 UTC"),
        ("at <t:9999999999999>", "at <t:9999999999999>"),
        ("</halt:5> see <https://x.example/a>", "/halt see https://x.example/a"),
        ("*as* typed, a < b > c, <@nobody>", "*as* typed, a < b > c, <@nobody>"),
    ],
)
def test_what_people_write_becomes_plain_words(text, reads):
    assert plain(text, users={"1": "Ana"}, roles={"7": "desk"}, channels={"8": "a-arena"}) == reads


@settings(max_examples=100)
@given(odd_text)
def test_any_incoming_text_becomes_a_text(text):
    assert isinstance(plain(text), str)


def test_a_huge_message_travels_packed_and_one_that_cannot_be_packed_says_where_it_is():
    item = posting({**filled("DRAFT"), "text": "some words " * 1_000_000})
    found = message(item)
    assert found.filename == "payload.json.gz"
    assert len(found.payload) < 1_000_000
    assert from_discord(found.payload) == [item.envelope.line]
    noise = base64.b64encode(random.Random(1).randbytes(10_500_000)).decode()
    body = {**filled("DRAFT"), "text": noise}
    lost = message(posting(body))
    assert lost.payload is None
    assert "whole in the log" in lost.embeds[0]["description"]


def test_a_thread_is_named_by_its_case_and_what_it_is_about():
    body = {**filled("ESCALATION", "three timeouts"), "escalation_id": "esc_1", "options": []}
    assert thread_name(posting(body, case_id="esc_1")).startswith("esc_1: attention: three timeouts")
    assert (
        thread_name(posting({"type": "NOTE", "text": "*hm*"}, case_id="hyp_1")) == "hyp_1: Critic notes: *hm*"
    )


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
    assert from_discord(found.payload) == [line]
