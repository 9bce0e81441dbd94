"""The verdict parser against a plain reading of 7.3 and R-A4: look-alikes, line ends, size."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.arena import verdict as verdict_module
from moot.protocols.arena.verdict import MISSING, MULTIPLE, Parsed, parse_verdict

BLANKS = " \t\v\f"
NBSP, LINE_SEPARATOR, NEXT_LINE = "\u00a0", "\u2028", "\u0085"
DOTLESS, LONG_S, KELVIN, FULL_WIDTH_A, CYRILLIC_E = "\u0131", "\u017f", "\u212a", "\uff21", "\u0415"


def lines_of(text):
    """Split by hand: LF, CR LF and CR end a line, nothing else does."""
    lines, line, n = [], "", 0
    while n < len(text):
        if text[n] in "\r\n":
            n += text[n : n + 2] == "\r\n"
            lines.append(line)
            line = ""
        else:
            line += text[n]
        n += 1
    return [*lines, line]


def verdict_of(line):
    """Read one line by hand, with the blanks and the case folding of ASCII."""
    line = line.strip(BLANKS)
    if not line[:8].isascii() or line[:8].upper() != "VERDICT:":
        return None
    rest = line[8:].strip(BLANKS)
    return rest.upper() if rest.isascii() and rest.upper() in ("APPROVED", "REVISE") else None


def naive(text):
    found = [(n, verdict) for n, line in enumerate(lines_of(text), 1) if (verdict := verdict_of(line))]
    if not found:
        return Parsed(None, None, 0, MISSING)
    line, verdict = found[-1]
    return Parsed(verdict, line, len(found), MULTIPLE if len(found) > 1 else None)


PIECES = [
    "VERDICT:", "verdict:", "Verdict", "VERDICT", ":", "APPROVED", "approveD", "REVISE", "revise",
    " ", "\t", "\v", "\f", "\n", "\r", "\r\n", NBSP, LINE_SEPARATOR, NEXT_LINE, "\x1c", "\x1f", "\x00",
    f"VERD{DOTLESS}CT:", f"REV{DOTLESS}SE", f"REVI{LONG_S}E", f"{FULL_WIDTH_A}PPROVED", f"REVIS{CYRILLIC_E}",
    KELVIN, "`", ">", '"', "x", "VERDICT: APPROVED", "VERDICT: REVISE", "\ud800", "😀",
]  # fmt: skip


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_it_reads_as_the_plain_reading_does(text):
    assert parse_verdict(text) == naive(text)


@settings(max_examples=300)
@given(st.text(alphabet="VERDICT:APOSE vise\r\n\t\v\f\u2028\u00a0\u0131\u017f", max_size=60))
def test_it_reads_letters_as_the_plain_reading_does(text):
    assert parse_verdict(text) == naive(text)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("VERDICT: APPROVED", "APPROVED"),
        ("VERDICT: REVISE\n", "REVISE"),
        ("   verdict:   approveD   ", "APPROVED"),
        ("verdict:revise", "REVISE"),
        ("\tVeRdIcT:\tApPrOvEd\t", "APPROVED"),
        ("\v\fVERDICT:\v\fREVISE\f\v", "REVISE"),
        ("text\r\nVERDICT: APPROVED\r\n", "APPROVED"),
        ("text\rVERDICT: REVISE\rmore", "REVISE"),
    ],
)
def test_t10_case_and_blanks_do_not_matter(text, verdict):
    found = parse_verdict(text)
    assert (found.verdict, found.matches, found.code) == (verdict, 1, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n" * 1000,
        "VERDICT:",
        "VERDICT APPROVED",
        "VERDICT : APPROVED",
        "VERDICT: APPROVED.",
        "VERDICT: APPROVED!",
        "**VERDICT: APPROVED**",
        "> VERDICT: APPROVED",
        "My VERDICT: REVISE",
        "VERDICT: APPROVE",
        "VERDICT: REVISED",
        "VERDICT: APPROVED REVISE",
        "VERDICT:\nAPPROVED",
        "VERDICT:\rAPPROVED",
        "VER\nDICT: APPROVED",
        f"VERDICT:{NBSP}APPROVED",
        f"{NBSP}VERDICT: APPROVED",
        f"prose{LINE_SEPARATOR}VERDICT: APPROVED",
        f"prose{NEXT_LINE}VERDICT: REVISE",
        f"VERD{DOTLESS}CT: APPROVED",
        f"VERDICT: REV{DOTLESS}SE",
        f"VERDICT: REVI{LONG_S}E",
        f"VERDICT: {FULL_WIDTH_A}PPROVED",
        f"VERDICT: REVIS{CYRILLIC_E}",
        "VERDICT\uff1a APPROVED",
        "\ufeffVERDICT: APPROVED",
        "VERDICT:\x1cAPPROVED",
    ],
)
def test_look_alikes_are_no_verdicts(text):
    assert parse_verdict(text) == (None, None, 0, MISSING)


def test_a_verdict_in_a_code_fence_counts_and_one_in_quotes_does_not():
    assert parse_verdict("```\nVERDICT: APPROVED\n```").verdict == "APPROVED"
    assert parse_verdict('he said "VERDICT: APPROVED"').verdict is None
    assert parse_verdict('"\nVERDICT: APPROVED\n"').verdict == "APPROVED"


def test_t05_the_last_of_several_verdicts_counts_and_a_warning_says_so():
    text = "VERDICT: APPROVED\nno, wait\nVERDICT: REVISE\nVERDICT: APPROVED\nafterwards: prose"
    assert parse_verdict(text) == ("APPROVED", 4, 3, MULTIPLE)


def test_t06_prose_after_the_verdict_is_ignored():
    assert parse_verdict("a\nVERDICT: REVISE\nThis is VERDICT: APPROVED in spirit.\n") == (
        "REVISE",
        2,
        1,
        None,
    )


@pytest.mark.parametrize(
    ("before", "line"),
    [("", 1), ("\n", 2), ("\r", 2), ("\r\n", 2), ("\n\r", 3), ("\r\r\n", 3), ("a\vb\f\n", 2)],
)
def test_lines_count_from_one_and_cr_lf_is_one_break(before, line):
    assert parse_verdict(f"{before}VERDICT: REVISE\nend").line == line


class Counting(str):
    """A text that counts how many of its characters a search has to look at, at most."""

    looked_at = 0

    def find(self, *where):
        return super().find(*self.counted(*where))

    def rfind(self, *where):
        return super().rfind(*self.counted(*where))

    def count(self, *where):
        return super().count(*self.counted(*where))

    def counted(self, what, start=0, end=None):
        end = len(self) if end is None else end
        self.looked_at += max(0, end - start)
        return what, start, end


class CountingBreaks:
    """Searches for line ends, and counts how far it went."""

    looked_at = 0

    def search(self, text, start):
        found = re.compile("[\r\n]").search(text, start)
        self.looked_at += (found.start() if found else len(text)) - start
        return found


@pytest.mark.parametrize(
    "unit",
    ["\n", " ", "VERDICT:", "VERDICT:\n", "VERDICT: REVISE\n", "VERDICT: REVISE\r", "\r\nVERDICT: ", "V"],
)
def test_no_stretch_of_a_text_is_searched_again_and_again(unit, monkeypatch):
    breaks, text = CountingBreaks(), Counting(unit * (20_000 // len(unit)))
    monkeypatch.setattr(verdict_module, "_BREAK", breaks)
    parse_verdict(text)
    assert text.looked_at + breaks.looked_at <= 6 * len(text)


@pytest.mark.parametrize("unit", ["\n", " \r\n", "\t", "VERDICT: ", "VERDICT:\n", "- an item\n"])
def test_ten_megabytes_are_read(unit):
    text = unit * (10_000_000 // len(unit)) + "\nVERDICT: APPROVED"
    assert parse_verdict(text).verdict == "APPROVED"
