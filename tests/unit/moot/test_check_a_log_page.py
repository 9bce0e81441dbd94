"""The page "check a log" says what is found and what is not; here that is done, and what is found is compared."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.anchor import Anchor
from tests.doubles.data_dir import a_debate
from tests.doubles.full_life import full_life
from tests.doubles.tampering import Lines, judged, rehashed, renumbered

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "check-a-log.md"
LINES: Lines = [json.loads(env.line) for env in full_life()]


def first(kind: str, **fields: object) -> int:
    return next(
        n
        for n, line in enumerate(LINES)
        if line["body"]["type"] == kind and all(line["body"][name] == value for name, value in fields.items())
    )


NOTE = first("NOTE")
LAST = len(LINES)


def word(lines: Lines) -> None:
    lines[NOTE]["body"]["text"] += "!"


def mouth(lines: Lines) -> None:
    lines[NOTE]["actor"]["user_id"] = "zoe"
    lines[NOTE]["id"] = lines[NOTE]["id"].replace("/ann/", "/zoe/")


def verdict(lines: Lines) -> None:
    body = lines[first("VERDICT", verdict="REJECT")]["body"]
    body["verdict"] = "APPROVE"


DONE: dict[str, tuple[Callable[[Lines], object], int]] = {
    "a word of a note altered": (word, LAST),
    "a note put into somebody else's mouth": (mouth, LAST),
    "a note taken out, the rest renumbered": (lambda lines: lines.pop(NOTE), LAST - 1),
    "a verdict turned round": (verdict, LAST),
    "a ruling taken out": (lambda lines: lines.pop(first("RULING")), LAST - 1),
    "the tail cut off a file": (lambda lines: lines.pop(), LAST),
    "a word of a note altered after the last anchor": (word, NOTE),
    "another log in its place": (
        lambda lines: lines.__setitem__(slice(None), [json.loads(env.line) for env in a_debate().log]),
        LAST,
    ),
}
"""What is done to a log, and which message was anchored before."""


def rows() -> dict[str, list[str]]:
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("| what was done |") : page.index("What no check finds")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]
    return {name: found for name, *found in cells}


def test_the_page_lists_what_is_tested_here() -> None:
    assert set(rows()) == set(DONE)


@pytest.mark.parametrize("what", sorted(DONE))
def test_what_the_page_says_is_found_is_found_and_nothing_else(what: str) -> None:
    change, anchored = DONE[what]
    lines = copy.deepcopy(LINES)
    change(lines)
    anew = rehashed(renumbered(lines))
    anchors = (Anchor(seq=anchored, hash=LINES[anchored - 1]["hash"]),)
    reports = (judged(lines), judged(anew), judged(anew, anchors=anchors, max_findings=1000))
    assert ["not found" if report.ok else "found" for report in reports] == rows()[what]
    if rows()[what][2] == "found":
        assert "anchor" in {finding.invariant for finding in reports[2].findings}


def test_every_command_on_the_page_is_one() -> None:
    from tests.doubles.command_line import done

    page = PAGE.read_text(encoding="utf-8")
    for name, options in re.findall(r"moot (verify|anchor|export|backup|rebuild)\b([^`\n#]*)", page):
        help_text = done(name, "--help")
        assert all(option in help_text for option in re.findall(r"--[a-z-]+", options)), (name, options)
