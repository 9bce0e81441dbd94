"""Anchors that were kept elsewhere find what no hash in the log shows: edits after which all hashes were made anew."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import pytest

from moot.anchor import Anchor
from tests.doubles.full_life import full_life
from tests.doubles.tampering import Lines, judged, rehashed, renumbered, stripped

LINES: Lines = [json.loads(env.line) for env in full_life()]
AT = len(LINES) - 5
ANCHOR = Anchor(
    seq=AT,
    hash=LINES[AT - 1]["hash"],
    society=LINES[0]["body"]["society_id"],
    sent_at=LINES[AT - 1]["sent_at"],
)
NOTE = next(
    n for n, line in enumerate(LINES) if line["body"]["type"] == "NOTE" and line["actor"]["kind"] == "human"
)


def altered(change: Callable[[Lines], object]) -> Lines:
    lines = copy.deepcopy(LINES)
    change(lines)
    return lines


def edit(lines: Lines) -> None:
    lines[NOTE]["body"]["text"] += " or not"


def reattribute(lines: Lines) -> None:
    lines[NOTE]["actor"]["user_id"] = "somebody-else"


def cut(lines: Lines) -> None:
    del lines[NOTE]


def test_a_log_as_it_was_fits_its_anchors() -> None:
    first = Anchor(seq=2, hash=LINES[1]["hash"])
    report = judged(LINES, anchors=(first, ANCHOR))
    assert report.ok
    assert (report.figures["anchors"], report.figures["anchored_to"]) == (2, AT)
    assert judged(stripped(LINES), anchors=(ANCHOR,)).ok


@pytest.mark.parametrize("change", [edit, reattribute, cut])
@pytest.mark.parametrize("hide", [rehashed, stripped])
def test_what_was_altered_before_an_anchor_is_found_though_all_hashes_fit_again(
    change: Callable[[Lines], None], hide: Callable[[Lines], Lines]
) -> None:
    lines = hide(renumbered(altered(change)))
    unaware = {finding.invariant for finding in judged(lines).findings}
    assert "anchor" not in unaware
    if change is edit:
        assert unaware == set()
    found = [
        f for f in judged(lines, anchors=(ANCHOR,), max_findings=1000).findings if f.invariant == "anchor"
    ]
    assert [(finding.seq, finding.rule) for finding in found] == [(AT, "K15")]


def test_where_it_was_altered_lies_between_two_anchors() -> None:
    before, *_ = (Anchor(seq=NOTE, hash=LINES[NOTE - 1]["hash"]),)
    (found,) = judged(rehashed(altered(edit)), anchors=(ANCHOR, before)).findings
    assert f"since message {NOTE}, which is as it was, was altered" in found.why.replace("something ", "")


def test_what_comes_after_the_last_anchor_is_held_by_nothing() -> None:
    lines = altered(lambda lines: None)
    assert judged(rehashed(lines[:-1]), anchors=(ANCHOR,)).ok


def test_a_cut_tail_does_not_reach_its_anchor() -> None:
    found = judged(LINES[: AT - 1], anchors=(ANCHOR,)).findings
    assert [f.why for f in found if f.invariant == "anchor"] == [
        f"the tail is cut: message {AT} was anchored, the log ends at {AT - 1}"
    ]


def test_an_anchor_of_another_society_is_named() -> None:
    other = Anchor(seq=AT, hash=ANCHOR.hash, society="another")
    (found,) = judged(LINES, anchors=(other,)).findings
    assert (found.seq, found.invariant) == (1, "anchor")
    assert "an anchor of another" in found.why


def test_the_days_own_anchors_betray_an_edit_that_left_them_alone() -> None:
    """ANCHORs in the log hold as far as nobody rewrites them too; the copies on platforms are out of reach."""
    said = [n for n, line in enumerate(LINES) if line["body"]["type"] == "ANCHOR" and n > NOTE]
    assert said
    lines = rehashed(altered(edit))
    kept = LINES[said[0]]["body"]
    assert lines[said[0]]["body"] != kept
    lines[said[0]] = {**lines[said[0]], "body": kept}
    lines = rehashed(lines)
    assert lines[said[0]]["body"] == kept
    assert (said[0] + 1, "officer") in {(f.seq, f.invariant) for f in judged(lines).findings}
