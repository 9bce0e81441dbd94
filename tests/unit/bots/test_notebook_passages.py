"""Notes into passages."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.bots.notebook.passages import PASSAGE_CHARS, Part, split_note


def markdown(text):
    return [(part.heading, part.text) for part in split_note(".md", text)]


def test_markdown_is_cut_at_headings_and_blank_lines():
    assert markdown("Intro.\n\n# A #\n\nOne\ntwo.\n\nThree.\n## B\nFour.\n# C\nFive.") == [
        ("", "Intro."),
        ("A", "One\ntwo."),
        ("A", "Three."),
        ("A > B", "Four."),
        ("C", "Five."),
    ]


def test_a_heading_with_nothing_under_it_is_found_itself():
    assert markdown("# A\n## B\n# C\n## D\ntext\n## E") == [("A", "B"), ("C > D", "text"), ("C", "E")]


def test_underlined_headings_count():
    assert markdown("Title\n=====\n\nBody.\n\nSub\n---\n\nMore.") == [
        ("Title", "Body."),
        ("Title > Sub", "More."),
    ]


def test_a_rule_under_a_list_is_no_heading():
    assert markdown("- item\n---\n\ntext") == [("", "- item\n---"), ("", "text")]


def test_code_is_kept_whole():
    assert markdown("# A\n```sh\n# no heading\n\nls\n```\nafter") == [
        ("A", "```sh\n# no heading\n\nls\n```\nafter")
    ]


def test_an_unclosed_fence_ends_with_the_note():
    assert markdown("~~~\n# x") == [("", "~~~\n# x")]


def test_front_matter_is_a_passage_of_its_own():
    assert markdown("---\ntitle: Momentum\n---\nBody.") == [
        ("front matter", "title: Momentum"),
        ("", "Body."),
    ]


def test_plain_text_is_cut_at_blank_lines():
    assert split_note(".txt", "# one\r\ntwo\r\n \t\r\nthree") == [Part("", "# one\ntwo"), Part("", "three")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('{"a": "text", "b": [1, 2], "c": null}', [("a", "text"), ("b", "[1, 2]"), ("c", "null")]),
        ('["x", {"k": "é"}]', [("", "x"), ("", '{"k": "é"}')]),
        ("7", [("", "7")]),
        ("[]", []),
    ],
)
def test_json_is_cut_at_its_top_level_items(text, parts):
    assert [(part.heading, part.text) for part in split_note(".json", text)] == parts


@pytest.mark.parametrize("text", ["{", "", "[1,]", "[" * 100_000])
def test_broken_json_is_an_error_with_a_reason(text):
    with pytest.raises(ValueError, match=r"\w"):
        split_note(".json", text)


def test_a_long_paragraph_is_cut_where_a_sentence_ends():
    sentence = "Momentum crashes after bear markets. "
    pieces = [part.text for part in split_note(".txt", sentence * 200)]
    assert len(pieces) > 3
    assert all(len(piece) <= PASSAGE_CHARS and piece.endswith(".") for piece in pieces)
    assert " ".join(pieces) == (sentence * 200).strip()


def test_a_word_without_end_is_cut_hard():
    assert [len(part.text) for part in split_note(".txt", "x" * 4_500)] == [2_000, 2_000, 500]


@pytest.mark.parametrize("suffix", [".md", ".txt"])
@given(text=st.text(st.characters(codec=None), max_size=300) | st.text("#=-`~ \n>ab.", max_size=80))
def test_every_word_of_any_note_stands_in_a_passage(suffix, text):
    parts = split_note(suffix, text)
    assert all(part.text.strip() and part.text.encode() for part in parts)
    letters = [c for c in text.replace("\0", "") if c.isascii() and c.isalpha()]
    kept = "".join(f"{part.heading}{part.text}" for part in parts)
    assert set(letters) <= set(kept)


words = st.text(max_size=8)
any_json = st.recursive(
    st.none() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


@given(any_json)
def test_any_json_is_cut_without_error(value):
    for part in split_note(".json", json.dumps(value)):
        assert part.text.encode() and part.heading.encode() is not None
