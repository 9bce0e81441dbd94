"""What models were asked and answered, as `moot verify` looks for it: K26."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from moot.feed import Feed
from moot.logs import open_log
from moot.memory.bodies_file import CALLS_NAME
from moot.up import _set_aside
from moot.verify import Report, verify
from tests.doubles.called import USED, Called, a_claim
from tests.doubles.command_line import done
from tests.doubles.data_dir import write_log
from tests.doubles.model_server import completion
from tests.doubles.tampering import judged

CALL = "motion_20260223_1000/claim/advocate/0/1/1"
REQUEST = "SELECT sha256 FROM body WHERE n = 1"
REPLY = f"SELECT sha256 FROM reply WHERE call_id = '{CALL}'"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return a_claim(tmp_path / "d").write()


def report(place: Path, *, evidence: bool = True, strict: bool = False) -> Report:
    with open_log(place) as source:
        return verify(source, evidence=evidence, strict=strict)


def forged(place: Path, which: str, sql: str) -> str:
    """Change a body as somebody with a tool would, after taking the triggers away; return its hash."""
    with closing(sqlite3.connect(place / CALLS_NAME)) as db, db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        (sha256,) = db.execute(which).fetchone()
        db.execute(f"{sql} WHERE sha256 = ?", (sha256,))
    return str(sha256.hex())


def test_a_log_whose_bodies_are_all_there_verifies(place: Path) -> None:
    found = report(place, strict=True)
    assert found.ok, found.findings


@pytest.mark.parametrize(
    ("body", "seq", "what"), [(REQUEST, 3, "request"), (REPLY, 4, "reply")], ids=["request", "reply"]
)
def test_a_body_that_was_deleted_is_missed(place: Path, body: str, seq: int, what: str) -> None:
    sha256 = forged(place, body, "DELETE FROM body")
    (found,) = report(place).findings
    assert (found.seq, found.invariant, found.rule) == (seq, "evidence", "K26")
    assert found.why == f"the {what} of call {CALL} is missing: calls.sqlite holds no body {sha256}"


@pytest.mark.parametrize(
    ("body", "seq", "what"), [(REQUEST, 3, "request"), (REPLY, 4, "reply")], ids=["request", "reply"]
)
@pytest.mark.parametrize("other", ["x'00'", "(SELECT zlib FROM body ORDER BY n DESC LIMIT 1)"], ids=ascii)
def test_a_body_that_was_altered_is_named(place: Path, body: str, seq: int, what: str, other: str) -> None:
    sha256 = forged(place, body, f"UPDATE body SET zlib = {other}")
    (found,) = report(place).findings
    assert (found.seq, found.invariant) == (seq, "evidence")
    assert found.why == f"the {what} of call {CALL} was altered: what is kept as body {sha256} is another"


def test_bodies_that_are_all_lost_are_not_borne_out(place: Path) -> None:
    (place / CALLS_NAME).unlink()
    found = report(place)
    assert found.ok
    (remark,) = found.unproven
    assert (remark.seq, remark.messages) == (3, 5)
    why = f"what models were asked and answered cannot be read: {place / CALLS_NAME} is not there"
    assert remark.why == why
    assert not report(place, strict=True).ok


def test_a_file_of_messages_has_no_bodies_beside_it(place: Path) -> None:
    found = judged(done("log", place, "--json"), evidence=True)
    assert found.ok
    assert any("is not beside a file of messages" in one.why for one in found.unproven)


def test_bodies_are_believed_where_that_is_asked_for(place: Path) -> None:
    forged(place, REPLY, "DELETE FROM body")
    found = report(place, evidence=False)
    assert found.ok
    assert "was believed, as asked for" in found.unproven[-1].why


def test_a_file_that_holds_no_bodies_is_a_finding_once(place: Path) -> None:
    (place / CALLS_NAME).write_bytes(b"rubbish" * 1_000)
    (found,) = report(place).findings
    assert found.seq == 3 and "is damaged: file is not a database" in found.why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"call_id": "motion_1/claim/advocate/0/1/1"}, "is that of motion_1/claim/advocate/0/1/1"),
        ({"outcome": "refused"}, "ended as refused, and was settled as answered"),
        (
            {
                "body": completion(
                    "red", usage={"prompt_tokens": 7, "completion_tokens": 50}, model="test-1"
                ).body.decode()
            },
            "tells 7 tokens in and 50 out, which is not what was settled",
        ),
        (
            {"body": completion("red", usage=USED, model="other-9").body.decode()},
            "names the model other-9, and was settled as that of test-1",
        ),
        (None, "is no record of a reply"),
    ],
    ids=["another call", "another end", "other tokens", "another model", "no record"],
)
def test_a_settlement_is_what_the_record_of_the_reply_says(
    tmp_path: Path, change: dict[str, str] | None, why: str
) -> None:
    called = Called(tmp_path / "d")
    call = called.ask()
    whole = {
        "call_id": call,
        "outcome": "answered",
        "body": completion("red", usage=USED, model="test-1").body.decode(),
    }
    record = json.dumps(None if change is None else {**whole, **change}).encode()
    sha256 = called.bodies.put(record, call_id=call).result(60)
    called.table.settle(call, reply_sha256=sha256)
    (found,) = report(called.write()).findings
    assert found.why == f"the reply of call {call}, body {sha256}, {why}"


def test_a_backup_takes_the_bodies_along(place: Path, tmp_path: Path) -> None:
    done("backup", place, tmp_path / "copy")
    assert report(tmp_path / "copy", strict=True).ok
    assert done("calls", tmp_path / "copy", CALL) == done("calls", place, CALL)


def test_a_society_that_is_put_aside_takes_its_bodies_along(tmp_path: Path) -> None:
    called = a_claim(tmp_path / "d")
    write_log(called.place, called.table.log)
    shutil.copy(f"{called.place / CALLS_NAME}-wal", tmp_path / "wal")
    called.bodies.close()
    # As after a kill: what was kept last stands in the write-ahead log.
    shutil.copy(tmp_path / "wal", f"{called.place / CALLS_NAME}-wal")
    _set_aside(called.place, Feed(Console(file=io.StringIO())))
    assert [one.name for one in called.place.iterdir()] == ["old-1"]
    assert report(called.place / "old-1", strict=True).ok
