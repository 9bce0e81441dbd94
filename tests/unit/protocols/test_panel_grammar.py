"""Lines, fences and headings of what reviewers write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.protocols.panel.grammar import blocks, one_line, page, said


def lines(text: str) -> list[str]:
    return list(page(text).lines)


def test_a_line_ends_at_a_line_feed_and_nowhere_else() -> None:
    for other in "\x85\u2028\u2029\x0b\x0c\r\x1c":
        assert len(lines(f"a{other}b")) == 1
    assert lines("a\nb\r\nc \t\r\n") == ["a", "b", "c", ""]


def test_blanks_at_the_end_do_not_count_and_those_at_the_beginning_do() -> None:
    assert lines("score: warn  \t\r") == ["score: warn"]
    assert lines("  score: warn") == ["  score: warn"]
    assert lines("score: warn\u00a0") == ["score: warn\u00a0"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n```\nx\n```\nb", ["a", "", "", "", "b"]),
        ("```md\nx\n``` \nb", ["", "", "", "b"]),
        ("~~~\nx\n```\n~~~\nb", ["", "", "", "", "b"]),
        ("````\n```\nx\n````\nb", ["", "", "", "", "b"]),
        ("```\n~~~\n```\nb", ["", "", "", "b"]),
        ("   ```\nx\n```\nb", ["", "", "", "b"]),
        ("```\nx\n``` not an end\ny", ["", "", "", ""]),
        ("```\nnever closed\nx", ["", "", ""]),
        # No fences: inline code, a deep indent, two backticks.
        ("```x``` y\nb", ["```x``` y", "b"]),
        ("    ```\nx", ["    ```", "x"]),
        ("``\nx", ["``", "x"]),
    ],
)
def test_fenced_code_is_blanked(text: str, left: list[str]) -> None:
    assert lines(text) == left


def test_a_text_is_split_at_headings_of_a_level_and_above() -> None:
    found = blocks(page("intro\n## A\na\n### A1\nb\n# Top\nc\n## B\n"), 2)

    assert [(one.title, one.line, list(one.lines)) for one in found] == [
        ("", 0, ["intro"]),
        ("A", 2, ["a", "### A1", "b"]),
        ("B", 8, [""]),
    ]
    assert [(one.title, one.line, list(one.lines)) for one in blocks(found[1], 3)] == [
        ("", 2, ["a"]),
        ("A1", 4, ["b"]),
    ]


@given(st.text(alphabet="#a \n`~"), st.integers(1, 4))
def test_blocks_name_the_line_of_their_heading(text: str, level: int) -> None:
    whole = page(text)
    for one in blocks(whole, level)[1:]:
        assert whole.lines[one.line - 1] == "#" * level + " " + one.title
        assert list(whole.lines[one.line : one.line + len(one.lines)]) == list(one.lines)


def test_a_pinned_line_begins_with_its_key_and_may_be_miswritten() -> None:
    block = page("score: warn\nscore:warn\n score: warn\nthe score: warn\nScore: warn\nscores: x")

    assert [tuple(one) for one in said(block, "score: ")] == [(1, "warn"), (2, None)]


def test_a_quotation_is_one_line_without_control_characters() -> None:
    assert one_line("a\n\x1b[31mb\t c") == "a [31mb c"
    assert one_line("x" * 300, 10) == "x" * 9 + "…"
