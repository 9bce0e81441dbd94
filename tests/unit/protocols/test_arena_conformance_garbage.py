from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.arena.conformance.checker import NON_COMPLIANT, check
from moot.protocols.arena.conformance.parser import verdict_of
from moot.protocols.arena.verdict import parse_verdict
from tests.doubles.arena_records import Story, approve, good_records

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
GOOD = good_records()


def judged(record: Any) -> None:
    found = check(record)
    assert len(found.checks) == 13
    assert all(one.evidence for one in found.checks)
    assert all(line.isprintable() for one in found.checks for line in (*one.evidence, *one.warnings))


@given(JSON)
def test_any_garbage_fails_its_checks_and_raises_nothing(record: Any) -> None:
    judged(record)
    assert check(record).level == NON_COMPLIANT


@given(st.sampled_from(sorted(GOOD)), st.dictionaries(st.sampled_from(sorted(GOOD["T01"])), JSON, min_size=1))
def test_any_garbage_in_any_section_raises_nothing(name: str, sections: dict[str, Any]) -> None:
    judged({**GOOD[name], **sections})


@settings(max_examples=300)
@given(st.data())
def test_any_garbage_in_any_field_raises_nothing(data: st.DataObject) -> None:
    whole = dict(GOOD[data.draw(st.sampled_from(sorted(GOOD)))])
    place: Any = whole
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            place[key] = data.draw(JSON | st.sampled_from([10**5000, "\ud800", "x" * 10_000]))
            break
        place[key] = inner.copy()
        place = place[key]
    judged(whole)


LINES = st.lists(
    st.sampled_from(
        [
            "VERDICT:",
            "verdict:",
            "APPROVED",
            "Revise",
            " ",
            "\t",
            "\n",
            "\r",
            "\r\n",
            "\x0b",
            "\x1c",
            "\u2028",
            "x",
        ]
    )
)


@settings(max_examples=500)
@given(LINES.map("".join))
def test_two_parsers_written_apart_agree(text: str) -> None:
    ours = verdict_of(text)
    assert (ours.verdict, ours.line, ours.matches, ours.code or None) == parse_verdict(text)


def deep(levels: int) -> Any:
    value: Any = "deep"
    for level in range(levels):
        value = [value] if level % 2 else {"x": value}
    return value


@pytest.mark.parametrize("section", sorted(GOOD["T02"]))
def test_no_depth_is_too_deep(section: str) -> None:
    judged({**GOOD["T02"], section: deep(50_000)})
    judged({**GOOD["T02"], section: [deep(50_000)] * 3})


def test_deep_data_in_events_and_issues_is_only_deep() -> None:
    record = good_records()["T03"]
    for event in record["events"]:
        event["data"] = dict.fromkeys((*event["data"], "attempt", "unresolved", "round_index"), deep(20_000))
    for round_ in record["rounds"]:
        round_["issues"] = [deep(20_000), {"id": deep(20_000), "kind": deep(20_000), "text": deep(20_000)}]
    judged(record)


def test_huge_lists_are_counted_and_not_repeated() -> None:
    many = {key: [None] * 20_000 for key in ("transitions", "rounds", "hooks", "events", "parser")}
    found = check({**GOOD["T01"], **many})
    assert all(len(one.evidence) <= 51 for one in found.checks)
    # Each entry that is well-formed and out of place is told in linear time, too.
    record = good_records()["T01"]
    for key in many:
        record[key] = record[key] * 500
    judged(record)


def test_ten_megabytes_of_blanks_or_breaks_or_verdicts_take_linear_time() -> None:
    for filler in (" ", "\r\n", "VERDICT: ", "x\ny: "):
        story = Story(is_enabled=False)
        story.draft()
        text = filler * (10_000_000 // len(filler)) + "\nVERDICT: APPROVED"
        breaks = text.count("\n") - 1
        story.parse(text, "APPROVED", breaks + 2)
        found = check(approve(story))
        assert found.checks[4].is_passed
