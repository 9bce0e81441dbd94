"""The hash chain and the file `head` (K15)."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from moot.channels.bus import Head
from moot.channels.log.head import write_head
from moot.logs import open_log
from moot.verify import Report, verify
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.tampering import Lines, judged, line_of, rehashed, stripped

LOG = a_debate().log
LINES: Lines = [json.loads(env.line) for env in LOG]
LAST = len(LOG)


def found(report: Report) -> list[tuple[int, str]]:
    return [(finding.seq, finding.invariant) for finding in report.findings]


def prose(lines: Lines, index: int) -> Lines:
    """Alter what no rule looks at."""
    altered = json.loads(json.dumps(lines))
    altered[index]["body"]["reasoning"] = "bribed"
    return altered


REASONED = [n for n, line in enumerate(LINES) if "reasoning" in line["body"]]


def test_a_log_verifies_with_hashes_and_without() -> None:
    assert judged(LINES).ok
    assert judged(LINES).figures["hashes"] == LAST
    assert judged(stripped(LINES)).ok
    assert judged(stripped(LINES)).figures["hashes"] == 0
    assert rehashed(LINES) == LINES


@pytest.mark.parametrize("index", REASONED)
def test_one_alteration_is_one_finding_at_its_seq(index: int) -> None:
    assert found(judged(prose(LINES, index))) == [(index + 1, "hash")]


@pytest.mark.parametrize("index", REASONED)
def test_prose_is_altered_unseen_when_the_hashes_are_gone_or_computed_anew(index: int) -> None:
    assert judged(stripped(prose(LINES, index))).ok
    assert judged(rehashed(prose(LINES, index))).ok


@pytest.mark.parametrize("index", range(LAST))
def test_a_changed_hash_is_one_finding_at_its_seq(index: int) -> None:
    lines = [dict(line) for line in LINES]
    lines[index]["hash"] = "0" * 64
    assert found(judged(lines)) == [(index + 1, "hash")]


@pytest.mark.parametrize("index", range(LAST))
def test_a_hash_that_is_missing_is_one_finding_at_its_seq(index: int) -> None:
    lines = [dict(line) for line in LINES]
    del lines[index]["hash"]
    assert found(judged(lines)) == [(index + 1, "hash")]


@pytest.mark.parametrize("index", range(2, LAST))
def test_a_hash_that_only_one_message_has_is_found(index: int) -> None:
    lines = stripped(LINES)
    lines[index]["hash"] = LINES[index]["hash"]
    assert found(judged(lines))[0] == (index + 1, "hash")


def test_an_altered_message_without_its_hash_is_found() -> None:
    lines = prose(LINES, REASONED[0])
    del lines[REASONED[0]]["hash"]
    assert found(judged(lines))[0] == (REASONED[0] + 1, "hash")


def test_upper_case_is_no_hash() -> None:
    lines = [dict(line) for line in LINES]
    lines[3]["hash"] = lines[3]["hash"].upper()
    assert found(judged(lines))[0] == (4, "valid_body")


# ---------------------------------------------------------------- directories


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return write_log(tmp_path / "data", LOG)


def judge(directory: Path) -> Report:
    with open_log(directory) as source:
        return verify(source)


def change(directory: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(directory / "log.sqlite")) as db, db:
        db.execute(sql, values)


def test_a_directory_verifies(directory: Path) -> None:
    assert judge(directory).ok


def test_a_head_that_lags_behind_is_no_finding(directory: Path) -> None:
    write_head(directory, Head(3, bytes.fromhex(LOG[2].hash)))
    assert judge(directory).ok


def test_a_cut_tail_shows_against_the_head(directory: Path) -> None:
    change(directory, "DELETE FROM log WHERE seq > ?", LAST - 2)
    report = judge(directory)
    assert found(report) == [(LAST - 1, "head")]
    assert f"the file head knows seq {LAST}, the log ends at {LAST - 2}" in report.findings[0].why


def test_a_cut_tail_does_not_show_without_a_head_and_that_is_said(directory: Path) -> None:
    before = judge(directory).unproven
    change(directory, "DELETE FROM log WHERE seq > ?", LAST - 2)
    (directory / "head").unlink()
    report = judge(directory)
    assert report.ok
    assert [str(remark) for remark in report.unproven if remark not in before] == [
        f"seq {LAST - 2}: the file head is missing: whether this is the end cannot be told"
    ]


def test_a_log_whose_hashes_were_computed_anew_does_not_fit_the_head(directory: Path, tmp_path: Path) -> None:
    lines = rehashed(prose(LINES, REASONED[0]))
    for line in lines:
        digest = bytes.fromhex(str(line["hash"]))
        bare = {key: value for key, value in line.items() if key != "hash"}
        change(
            directory, "UPDATE log SET json = ?, hash = ? WHERE seq = ?", line_of(bare), digest, line["seq"]
        )
    assert found(judge(directory)) == [(LAST, "head")]


def test_an_altered_row_is_named(directory: Path) -> None:
    change(directory, "UPDATE log SET json = replace(json, 'weighed', 'guessed')")
    verdict = next(env.seq for env in LOG if env.body.type == "VERDICT")
    assert found(judge(directory)) == [(verdict, "hash")]


def test_a_removed_row_is_named(directory: Path) -> None:
    change(directory, "DELETE FROM log WHERE seq = 5")
    assert found(judge(directory))[0] == (5, "dense_seq")


def test_a_row_stored_under_another_seq_is_named(directory: Path) -> None:
    change(directory, "UPDATE log SET seq = ? WHERE seq = ?", LAST + 5, LAST)
    assert (LAST, "dense_seq") in found(judge(directory))


def test_a_damaged_database_is_a_finding_where_reading_ends(directory: Path) -> None:
    change(directory, "UPDATE log SET hash = 'text' WHERE seq = 7")
    report = judge(directory)
    assert found(report)[0] == (7, "readable")
    assert not report.is_complete
