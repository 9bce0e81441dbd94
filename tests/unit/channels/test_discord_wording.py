"""What a person wrote, read from the history."""

import pytest

from moot.channels.chat.words import ONLY_EMOJI
from moot.channels.discord.wording import ONLY_FILE, ONLY_OTHER, ONLY_STICKER, of_history


def message(**more):
    author = {"id": "7", "username": "ana_b", "global_name": "Ana"}
    return {"id": "100", "channel_id": "5", "author": author, "content": "hello", "type": 0, **more}


def test_a_message_is_read_with_its_author_and_what_it_answers():
    said = of_history(message(type=19, message_reference={"message_id": "99", "channel_id": "5"}))
    assert (said.id, said.channel_id, said.user_id, said.user_name) == (100, 5, "7", "Ana")
    assert (said.content, said.answers, said.objection) == ("hello", "5/99", "")


@pytest.mark.parametrize(
    "more",
    [
        {"webhook_id": "3"},
        {"author": {"id": "1", "username": "bot", "bot": True}},
        {"type": 7},
        {"type": 18},
        {"type": 21},
    ],
)
def test_what_no_person_wrote_is_nobodys(more):
    assert of_history(message(**more)) is None


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"content": "👍"}, ONLY_EMOJI),
        ({"content": "<:party:1> <a:wave:2>"}, ONLY_EMOJI),
        ({"content": "", "sticker_items": [{"id": "1"}]}, ONLY_STICKER),
        ({"content": "", "attachments": [{"id": "1"}]}, ONLY_FILE),
        ({"content": ""}, ONLY_OTHER),
        ({"content": "👍 yes"}, ""),
        ({"content": "好"}, ""),
        ({"content": "2"}, ""),
        ({"content": "see this", "attachments": [{"id": "1"}]}, ""),
    ],
)
def test_what_has_no_words_has_an_objection(more, line):
    assert of_history(message(**more)).objection == line


def test_names_stand_where_the_text_mentions_people():
    said = of_history(message(content="<@8> and <@9>", mentions=[{"id": "8", "username": "bob"}]))
    assert said.text({}, {}) == "@bob and @9"


@pytest.mark.parametrize(
    "broken", [{}, {"id": "1"}, {"id": "x", "author": {}, "channel_id": "1"}, {"author": None}]
)
def test_what_is_no_message_says_so(broken):
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        of_history(broken)
