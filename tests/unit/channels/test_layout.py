import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.channels.showing.layout import (
    cut,
    fit_fields,
    fit_lines,
    fit_passages,
    hint,
    lines_of,
    link_of,
    mark,
    parts,
    shares,
    thread_title,
    tidy,
    units,
)
from moot.channels.showing.rendering import Card, Field
from tests.doubles.copying import replace
from tests.doubles.odd_text import odd_text
from tests.doubles.postings import filled, posting


def doubled(text):
    return 2 * len(text)


def test_the_mark_is_the_start_of_the_digest_of_the_nonce():
    assert mark("log:7") == hashlib.sha256(b"log:7").hexdigest()[:16]
    assert mark("log:7") != mark("log:8")
    assert len(mark("\ud800")) == 16


@given(st.text())
def test_units_count_as_utf_16_does(text):
    assert units(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize(
    ("text", "most", "left"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("", 0, ""),
        ("a", 0, ""),
        ("ab", 1, "…"),
        ("x" * 99 + " tail of it", 103, "x" * 99 + "…"),
        ("x" * 99 + " tail of it", 105, "x" * 99 + " tail…"),
        ("a few words", 8, "a few…"),
        ("word " * 30, 99, ("word " * 19).strip() + "…"),
        ("x" * 200, 100, "x" * 99 + "…"),
        ("x" * 97 + "👩\u200d👩", 101, "x" * 97 + "…"),
    ],
)
def test_a_text_is_cut_at_the_end_of_a_word_where_one_is_near(text, most, left):
    assert cut(text, most) == left


@settings(max_examples=200)
@given(odd_text, st.integers(-5, 400), st.sampled_from([units, doubled]))
def test_a_cut_text_fits_and_is_the_start_of_what_it_was(text, most, weigh):
    left = cut(text, most, weigh)
    assert weigh(left) <= max(most, 0)
    assert left == text or not left or text.startswith(left.removesuffix("…"))
    if left != text and most >= 2 * weigh("…"):
        assert left.endswith("…")


@given(st.lists(st.integers(0, 1_000), max_size=30), st.integers(-10, 5_000))
def test_shares_give_the_modest_all_and_the_others_alike(wanted, most):
    given_ = shares(wanted, most)
    assert sum(given_) <= max(most, 0)
    assert all(got <= want for got, want in zip(given_, wanted, strict=True))
    short = [got for got, want in zip(given_, wanted, strict=True) if got < want]
    if short:
        assert max(short) - min(short) <= 1
        assert sum(given_) == max(most, 0)
        assert all(got <= min(short) + 1 for got in given_)
    else:
        assert given_ == wanted


@settings(max_examples=100)
@given(
    st.lists(st.text(max_size=300), max_size=40), st.integers(100, 4_000), st.sampled_from([units, doubled])
)
def test_lines_fit_and_those_that_do_not_are_counted(lines, most, weigh):
    found = fit_lines(lines, most, weigh)
    assert sum(weigh(line) + 1 for line in found) <= most + 40
    if len(found) < len(lines):
        assert found[-1] == f"… and {len(lines) - len(found) + 1} more"


@settings(max_examples=100)
@given(
    st.lists(
        st.builds(Field, st.text(min_size=1, max_size=120), st.text(min_size=1, max_size=500)), max_size=40
    ),
    st.integers(0, 4_000),
)
def test_fields_fit_and_say_whether_they_are_whole(fields, most):
    found, is_whole = fit_fields(fields, most, most_value=300, overhead=5)
    assert sum(units(field.name) + units(field.value) + 5 for field in found) <= most
    assert len(found) <= 25
    assert all(units(field.value) <= 300 for field in found)
    assert all(field.value for field in found)
    assert is_whole == (list(found) == fields)


@settings(max_examples=100)
@given(
    st.lists(st.builds(Field, st.text(max_size=40), st.text(min_size=1, max_size=3_000)), max_size=6),
    st.integers(0, 4_000),
)
def test_passages_fit_and_say_whether_they_are_whole(passages, most):
    found, is_whole = fit_passages(passages, most)
    assert sum(units(passage.name) + units(passage.value) + 2 for passage in found) <= most
    assert is_whole == (list(found) == passages)


def test_long_texts_are_passages_with_their_lines_and_the_rest_is_fields():
    text = "first line\r\nsecond\tline\n\n\n\n" + "long words " * 30 + "\x1b[2J"
    found = parts(posting({"type": "NOTE", "text": text, "about": ["hyp_1"], "n": [3]}))
    assert [field.name for field in found.fields] == ["about", "n"]
    (passage,) = found.passages
    assert passage.name == "text"
    assert passage.value.startswith("first line\nsecond line\n\nlong words")
    assert passage.value.endswith("�[2J")
    assert found.is_whole


def test_a_short_text_whose_name_reads_like_that_of_a_long_one_is_kept():
    found = parts(posting({"type": "X", "The_text": ["short", "list"], "the text": "long " * 90}))
    assert found.fields == (Field("the text", "short; list"),)
    assert [passage.name for passage in found.passages] == ["the text"]


@pytest.mark.parametrize(
    ("body", "is_whole"),
    [
        ({"items": [1, 2, 3]}, True),
        ({"items": [1, 2, 3, 4]}, False),
        ({"deep": {"a": {"b": {"c": {"d": {"e": 1}}}}}}, False),
        ({"items": ["x" * 300]}, False),
        ({"text": "x" * 11_000}, True),
        ({"text": "x" * 13_000}, False),
        ({f"f{n}": n for n in range(30)}, False),
        ({"wide": {f"f{n}": n for n in range(9)}}, False),
    ],
)
def test_it_is_known_whether_a_card_holds_the_whole_body(body, is_whole):
    assert parts(posting({"type": "X", **body})).is_whole == is_whole


def test_blank_names_and_values_are_worded():
    card = Card("", "", (Field(" ", "a"), Field("b", " ")))
    found = parts(replace(posting({"type": "X"}), rendering=card))
    assert found.fields == (Field("(no name)", "a"), Field("b", "(blank)"))
    assert found.sentence.strip()


def test_several_messages_become_one_with_a_line_each():
    bodies = [{"type": "NOTE", "text": f"n {n}"} for n in range(3)]
    item = posting(bodies[0], folded=bodies[1:])
    found = parts(item)
    assert found.sentence == "3 messages of hyp_20260223_1030: Critic; number 1 to 3 of the log"
    assert found.title == "Messages 1 to 3"
    assert found.lines == ("10:00 Critic notes: n 0", "10:00 Critic notes: n 1", "10:00 Critic notes: n 2")
    assert lines_of(item) == [item.envelope.line, *(one.line for one in item.folded)]
    loose = posting(bodies[0], folded=bodies[1:], case_id=None, channel="#b-ops")
    assert parts(loose).sentence.startswith("3 messages in #b-ops: ")


def test_a_summary_over_midnight_names_the_days():
    item = posting({"type": "NOTE", "text": "a"}, folded=[{"type": "NOTE", "text": "b"}])
    later = replace(item.folded[0], sent_at=item.envelope.sent_at.replace(day=24))
    assert parts(replace(item, folded=(later,))).lines == (
        "02-23 10:00 Critic notes: a",
        "02-24 10:00 Critic notes: b",
    )


def test_the_hint_says_where_the_whole_stands():
    item = posting({"type": "NOTE", "text": "a"})
    assert hint(item) == "Message 1 stands whole in the log: moot log DIR --from 1 --json"
    assert hint(replace(item, link="https://x.example/m/1")) == "Whole: https://x.example/m/1"
    several = posting({"type": "NOTE", "text": "a"}, folded=[{"type": "NOTE", "text": "b"}])
    assert hint(several) == "Messages 1 to 2 stand whole in the log: moot log DIR --from 1"
    assert hint(replace(several, link="https://x.example/m/1")).endswith(
        "in the log from https://x.example/m/1"
    )


@pytest.mark.parametrize(
    "link", ["", "ftp://x", "https://x y", "https://x|y", "https://x<y", "https://" + "x" * 500]
)
def test_a_link_that_a_platform_could_misread_is_none(link):
    assert link_of(replace(posting({"type": "NOTE", "text": "a"}), link=link)) is None


@given(odd_text)
def test_tidy_text_moves_no_cursor_and_keeps_its_lines(text):
    found = tidy(text)
    assert not [char for char in found if (ord(char) < 32 and char != "\n") or "\u202a" <= char <= "\u202e"]
    assert "\n\n\n" not in found


def test_a_thread_is_named_by_its_case_and_what_follows_it_in_the_sentence():
    body = {**filled("HYPOTHESIS", "Trends persist"), "hypothesis_id": "hyp_1"}
    assert thread_title(posting(body, case_id="hyp_1"), 100).startswith("hyp_1: Trends persist")
    assert (
        thread_title(posting({"type": "NOTE", "text": "hm"}, case_id="hyp_1"), 100)
        == "hyp_1: Critic notes: hm"
    )
    assert units(thread_title(posting({"type": "NOTE", "text": "😀" * 300}, case_id="c" * 90), 100)) <= 100
    assert thread_title(posting({"type": "NOTE", "text": "hm"}, case_id=None), 100) == "Critic notes: hm"
