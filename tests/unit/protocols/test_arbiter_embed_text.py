from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.arbiter.embed_text import embed_text, is_blank, well_formed

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
"""Halves of surrogate pairs among it."""


def test_line_ends_become_one_and_only_blanks_at_the_end_go() -> None:
    assert embed_text("  a\r\nb\rc \t\r\n\ufeff", 100).text == "  a\nb\nc"


def test_what_only_python_counts_as_a_blank_stays() -> None:
    assert embed_text("a\x1c\x85", 100).text == "a\x1c\x85"


def test_lengths_are_those_after_normalizing() -> None:
    text = embed_text("ab\r\ncd   ", 100)
    assert (text.original_chars, text.final_chars) == (5, 5)
    assert (text.is_truncated, text.truncation_reason) == (False, None)


def test_a_long_text_keeps_its_beginning_and_blanks_that_the_cut_leaves() -> None:
    text = embed_text("abc   def", 5)
    assert text.text == "abc  "
    assert (text.original_chars, text.final_chars) == (9, 5)
    assert (text.is_truncated, text.truncation_reason) == (True, "max_chars_exceeded")


def test_lengths_count_utf_16_units_and_no_pair_is_split() -> None:
    assert embed_text("😀😀", 4).text == "😀😀"
    text = embed_text("😀😀", 3)
    assert (text.text, text.original_chars, text.final_chars) == ("😀", 4, 2)
    assert embed_text("😀", 1).text == ""


def test_half_a_pair_is_replaced_and_two_halves_are_joined() -> None:
    assert well_formed("a\ud83db") == "a\ufffdb"
    assert well_formed("\ud83d\ude00") == "😀"
    assert embed_text("a\ude00", 100).sha256 == hashlib.sha256("a\ufffd".encode()).hexdigest()


def test_a_text_is_not_cut_to_nothing() -> None:
    with pytest.raises(ValueError, match="at least 1 character"):
        embed_text("a", 0)


@given(ANY_TEXT, st.integers(1, 20))
def test_whatever_a_text_is_its_embed_text_is_a_beginning_of_it_that_can_be_sent(
    text: str, most: int
) -> None:
    whole, cut = embed_text(text, 1000), embed_text(text, most)
    cut.text.encode()
    assert whole.text.startswith(cut.text)
    assert cut.final_chars <= most
    assert cut.original_chars == whole.final_chars == len(whole.text.encode("utf-16-le")) // 2
    assert cut.is_truncated == (cut.text != whole.text)
    if cut.is_truncated:  # at most one unit is lost to a pair that the cut would split
        assert cut.final_chars >= most - 1
    assert embed_text(whole.text, 1000).text == whole.text
    assert is_blank(text) == (not whole.text.strip("\n") and is_blank(whole.text))
