"""Tampering with a log of everything: found by the hashes always, by the rules wherever one is broken."""

from __future__ import annotations

import json
from random import Random
from typing import Final

import pytest

from tests.doubles import tampering
from tests.doubles.full_life import full_life
from tests.doubles.tampering import Lines, alterations, judged, rehashed, renumbered

LINES: Final[Lines] = [json.loads(env.line) for env in full_life()]
FIRST: Final = {line["body"]["type"]: n for n, line in reversed(list(enumerate(LINES)))}


@pytest.mark.parametrize("kind", sorted(FIRST))
def test_with_its_hashes_every_alteration_is_found_at_its_seq(kind: str) -> None:
    seen = set()
    for alteration in alterations(LINES[FIRST[kind]], FIRST[kind]):
        if alteration.path not in seen:
            seen.add(alteration.path)
            report = judged(alteration.apply(LINES), max_findings=3)
            assert not report.ok, alteration
            assert report.findings[0].seq == FIRST[kind] + 1, (alteration, report.findings)


# ---------------------------------------------------------------- lines removed, doubled, swapped, inserted

PLACES: Final = range(0, FIRST["SOCIETY_STOPPED"], 2)
"""Virtual time leaves the officers no slack that a missing ping could hide in."""


@pytest.mark.parametrize("start", range(3))
def test_with_hashes_every_line_out_of_place_is_found_at_its_seq(start: int) -> None:
    for n in range(start, len(LINES) - 1, 12):
        before, line, after = LINES[:n], LINES[n], LINES[n + 1 :]
        inserted = {**LINES[(n + 7) % len(LINES)], "seq": n + 1}
        for tampered, seqs in (
            ([*before, *after], {n + 1}),
            ([*before, line, line, *after], {n + 1}),
            ([*before, after[0], line, *after[1:]], {n + 1, n + 2}),
            ([*before, inserted, line, *after], {n + 1}),
        ):
            report = judged(tampered, max_findings=5)
            assert not report.ok
            assert report.findings[0].seq in seqs, report.findings


def test_a_removed_message_is_missed_by_the_rules() -> None:
    """Renumbered and rehashed, only what nobody owed and nobody built on can go: what people said, asides."""
    unseen = {
        LINES[n]["body"]["type"]
        for n in PLACES
        if judged(rehashed(renumbered([*LINES[:n], *LINES[n + 1 :]])), max_findings=1).ok
    }
    assert unseen <= {
        "NOTE",
        "RESEARCH_NOTE",
        "CONFIG_CHANGED",
        "CLOCK_SET",
        "SOCIETY_STOPPED",
        "AUDIT",
        "PERSON_NAMED",
    }


def test_a_removed_refusal_or_note_is_not_missed_by_the_rules() -> None:
    refusal = next(n for n, line in enumerate(LINES) if line["body"].get("event") == "refused")
    for n in (FIRST["NOTE"], FIRST["RESEARCH_NOTE"], refusal, len(LINES) - 1):
        assert judged(rehashed(renumbered([*LINES[:n], *LINES[n + 1 :]]))).ok


def test_a_message_said_twice_under_another_id_is_found() -> None:
    unseen = set()
    for n in PLACES:
        again = {**LINES[n], "id": f"{LINES[n]['id']}-again"}
        if judged(rehashed(renumbered([*LINES[: n + 1], again, *LINES[n + 1 :]])), max_findings=1).ok:
            unseen.add(LINES[n]["body"]["type"])
    assert unseen <= {"NOTE", "RESEARCH_NOTE", "CONFIG_CHANGED", "AUDIT"}


def test_neighbours_of_one_case_that_changed_places_are_found() -> None:
    swapped = 0
    for n in PLACES:
        one, other = dict(LINES[n]), dict(LINES[(n + 1) % len(LINES)])
        # What one instant made has no order of its own.
        if one["case_id"] != other["case_id"] or one["sent_at"] == other["sent_at"]:
            continue
        one["sent_at"], other["sent_at"] = other["sent_at"], one["sent_at"]
        report = judged(rehashed(renumbered([*LINES[:n], other, one, *LINES[n + 2 :]])), max_findings=1)
        assert not report.ok, (one["seq"], one["body"]["type"], other["body"]["type"])
        swapped += 1
    assert swapped >= 30


# ---------------------------------------------------------------- noise


def test_any_bytes_give_a_report_and_nothing_else() -> None:
    text = tampering.write(LINES[:60]).encode()
    random = Random(1)
    for _ in range(150):
        noisy = bytearray(text)
        for _ in range(random.choice((1, 2, 20))):
            place = random.randrange(len(noisy))
            noisy[place : place + random.randrange(3)] = random.randbytes(random.randrange(3))
        report = judged(noisy.decode("utf-8", "replace"), max_findings=3)
        assert not report.ok or bytes(noisy) == text
        assert all(finding.why.isprintable() for finding in report.findings)


def test_any_json_in_any_field_gives_a_report_and_nothing_else() -> None:
    random = Random(2)
    values = (
        "",
        "x",
        "²",
        "a/b/c",
        "\ud7ff",
        -1,
        0,
        2**63,
        1e308,
        None,
        True,
        [],
        {},
        [[]],
        {"type": "NOTE"},
    )
    lines = LINES[:80]
    for n in range(0, len(lines)):
        choices = list(alterations(lines[n], n))
        for alteration in random.sample(choices, min(4, len(choices))):
            altered = alteration._replace(value=random.choice(values)).apply(lines)
            judged(rehashed(altered), max_findings=3)
