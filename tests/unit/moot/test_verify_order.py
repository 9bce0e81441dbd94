"""Dense seq, unique ids, time that never runs backwards; and the seq that a finding names (K1, K3)."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise

import pytest

from moot.protocols.kernel.times import parse_instant, rfc3339
from moot.verify import Report
from tests.doubles.data_dir import a_debate
from tests.doubles.tampering import Lines, judged, line_of, rehashed, stripped

LOG = a_debate().log
LINES: Lines = [json.loads(env.line) for env in LOG]
LAST = len(LINES)


def found(report: Report) -> list[tuple[int, str]]:
    return [(f.seq, f.invariant) for f in report.findings]


def shifted(line: dict[str, object], **delta: float) -> dict[str, object]:
    at = parse_instant(str(line["sent_at"])) + timedelta(**delta)
    return {**line, "sent_at": rfc3339(at)}


@pytest.mark.parametrize("index", range(LAST - 1))
def test_a_gap_is_named_by_the_first_missing_seq(index: int) -> None:
    report = judged(stripped([*LINES[:index], *LINES[index + 1 :]]))
    assert found(report)[0] == (index + 1, "dense_seq")
    assert f"seq {index + 1} is missing" in report.findings[0].why


def test_a_wide_gap_names_its_ends() -> None:
    report = judged(stripped([*LINES[:3], *LINES[6:]]))
    assert "seq 4 to 6 are missing" in report.findings[0].why


@pytest.mark.parametrize("index", range(LAST))
def test_a_message_that_stands_twice_is_named_once(index: int) -> None:
    report = judged([*LINES[: index + 1], LINES[index], *LINES[index + 1 :]])
    assert found(report) == [(index + 1, "dense_seq")]
    assert f"seq {index + 1} stands again" in report.findings[0].why


@pytest.mark.parametrize("index", range(LAST - 1))
def test_two_that_changed_places_are_one_finding(index: int) -> None:
    report = judged([*LINES[:index], LINES[index + 1], LINES[index], *LINES[index + 2 :]])
    assert found(report) == [(index + 1, "dense_seq")]
    assert f"seq {index + 2} stands where {index + 1} comes next" in report.findings[0].why


@pytest.mark.parametrize("index", range(LAST))
@pytest.mark.parametrize("seq", [1, 3, 500])
def test_a_changed_seq_is_named_by_its_place(index: int, seq: int) -> None:
    if seq == index + 1:
        return
    lines = [dict(line) for line in stripped(LINES)]
    lines[index]["seq"] = seq
    report = judged(lines)
    assert found(report)[0] == (index + 1, "dense_seq")
    assert f"it says seq {seq} where {index + 1} comes next" in report.findings[0].why or index == LAST - 1


@pytest.mark.parametrize("index", range(1, LAST))
def test_an_id_that_stood_before_is_found(index: int) -> None:
    lines = [dict(line) for line in stripped(LINES)]
    lines[index]["id"] = lines[0]["id"]
    assert (index + 1, "unique_id") in found(judged(lines))


@pytest.mark.parametrize("hours", [-3, 30])
@pytest.mark.parametrize("index", [4, 6])
def test_time_out_of_line_is_named_where_it_is(index: int, hours: float) -> None:
    lines = stripped(LINES)
    lines[index] = shifted(lines[index], hours=hours)
    report = judged(lines)
    assert (index + 1, "time") in found(report)
    assert report.findings[0].seq == index + 1


def test_one_instant_may_hold_many_messages() -> None:
    assert any(one.sent_at == other.sent_at for one, other in pairwise(LOG))
    assert judged(LINES).ok


def test_a_line_that_cannot_be_read_takes_its_place() -> None:
    lines = [line_of(line) for line in rehashed(LINES)]
    lines[4] = lines[4].replace('"seq":5,', '"seq":5,"x":1,', 1)
    report = judged("\n".join(lines))
    assert found(report)[0] == (5, "valid_body")
    assert not any(invariant in ("dense_seq", "hash") for _, invariant in found(report))


def test_findings_stop_at_the_limit_and_say_so() -> None:
    lines = [dict(line) for line in stripped(LINES)]
    for line in lines[3:]:
        line["author"] = "viewer"
    report = judged(lines, max_findings=3)
    assert len(report.findings) >= 3
    assert not report.is_complete
    assert report.messages < LAST
    assert "there may be more" in report.note
