import os
import sqlite3
from contextlib import closing

import pytest

from moot.channels.bus import Head
from moot.channels.errors import CorruptLog, NotALog, StorageError
from moot.channels.log.file import APPLICATION_ID, TAIL, insert_sql, open_log
from moot.channels.log.head import write_head
from moot.channels.log.sequencer import Sequencer
from moot.protocols.kernel.envelope import GENESIS
from tests.doubles.tiny import Ticks, TinyAdmission, said


def entries(count):
    sequencer = Sequencer(TinyAdmission(), Ticks())
    return [sequencer.take(said(f"k{n}", "x" * 50))[1] for n in range(count)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.sqlite"


def written(path, count=20):
    """A log of so many messages with its head file; returns its rows."""
    open_log(path, epoch=1)
    rows = [entry.row for entry in entries(count)]
    change(path, *(("INSERT INTO log VALUES (?, ?, ?, ?, ?)", row) for row in rows))
    if rows:
        write_head(path.parent, Head(rows[-1][0], rows[-1][4]))
    return rows


def change(path, *statements):
    with closing(sqlite3.connect(path)) as db, db:
        for sql, *values in statements:
            db.execute(sql, *values)


def test_a_new_log_is_empty_and_bears_our_marks(path):
    assert open_log(path, epoch=1)[:2] == (Head(0, GENESIS), None)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("count", [1, 20, TAIL, TAIL + 1, TAIL + 50])
def test_a_good_log_opens_at_its_end(path, count):
    rows = written(path, count)
    end = open_log(path, epoch=1)
    assert end.head == Head(count, rows[-1][4])
    assert f'"sent_at":"{end.sent_at}"' in rows[-1][3]


def test_each_opening_raises_the_epoch_above_the_lease_and_above_the_last(path):
    assert [open_log(path, epoch=epoch).epoch for epoch in (1, 2, 2, 9, 3)] == [1, 2, 3, 9, 10]


BREAKS = {
    "a row is missing": ("DELETE FROM log WHERE seq = 7", "the log has gaps"),
    "the first row is missing": ("DELETE FROM log WHERE seq = 1", "the log has gaps"),
    "a text was changed": (
        "UPDATE log SET json = replace(json, 'xxx', 'xyx') WHERE seq = 15",
        "seq 15: the hash",
    ),
    "a hash was changed": ("UPDATE log SET hash = zeroblob(32) WHERE seq = 15", "seq 15: the hash"),
    "a text is no text": ("UPDATE log SET json = x'ff00' WHERE seq = 20", "seq 20: the hash"),
    "a text is no UTF-8": ("UPDATE log SET json = CAST(x'ff00' AS TEXT) WHERE seq = 20", "is damaged"),
    "the tail was cut": (
        "DELETE FROM log WHERE seq > 18",
        "the tail is cut: the file head knows seq 20, the log ends",
    ),
    "everything was cut": (
        "DELETE FROM log",
        "the tail is cut: the file head knows seq 20, the log ends at 0",
    ),
    "rows were swapped": (
        "UPDATE log SET seq = CASE seq WHEN 5 THEN -6 ELSE -5 END WHERE seq IN (5, 6)",
        "gaps",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_log_that_is_not_what_was_written_is_refused_in_a_line(path, name):
    sql, why = BREAKS[name]
    written(path)
    change(path, (sql,))
    with pytest.raises(CorruptLog, match=why) as caught:
        open_log(path, epoch=1)
    assert "\n" not in str(caught.value)


def test_a_log_that_was_replaced_by_another_does_not_fit_the_head(path):
    written(path, 20)
    write_head(path.parent, Head(12, b"z" * 32))
    with pytest.raises(CorruptLog, match="seq 12: the hash is not the one in the file head"):
        open_log(path, epoch=1)


def test_a_head_that_lags_behind_is_fine(path):
    rows = written(path)
    write_head(path.parent, Head(3, rows[2][4]))
    assert open_log(path, epoch=1).head.seq == 20
    write_head(path.parent, Head())
    assert open_log(path, epoch=1).head.seq == 20


@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.9])
def test_a_truncated_file_is_corrupt(path, keep):
    written(path, 400)
    os.truncate(path, int(path.stat().st_size * keep))
    with pytest.raises(CorruptLog) as caught:
        open_log(path, epoch=1)
    assert "\n" not in str(caught.value)


def test_overwritten_pages_are_corrupt(path):
    written(path, 400)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(8192))
    with pytest.raises(CorruptLog):
        open_log(path, epoch=1)


def test_a_text_file_is_no_log(path):
    path.write_text("a text file, not a database, " * 100)
    with pytest.raises(CorruptLog, match="file is not a database"):
        open_log(path, epoch=1)


def test_another_applications_database_is_left_alone(path):
    change(path, ("CREATE TABLE t(x)",))
    before = path.read_bytes()
    with pytest.raises(NotALog, match="another application"):
        open_log(path, epoch=1)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    assert len(path.read_bytes()) == len(before)


def test_a_log_of_a_newer_moot_asks_for_an_upgrade(path):
    written(path)
    change(path, ("PRAGMA user_version = 2",))
    with pytest.raises(NotALog, match="has schema 2, this Moot knows 1: upgrade"):
        open_log(path, epoch=1)


def test_a_place_that_cannot_be_written_is_a_storage_error(tmp_path):
    with pytest.raises(StorageError):
        open_log(tmp_path / "no such directory" / "log.sqlite", epoch=1)


def test_a_batch_of_a_fenced_out_host_writes_nothing(path):
    open_log(path, epoch=1)
    (entry,) = entries(1)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        assert db.execute(insert_sql(1), (*entry.row, 99, 0)).rowcount == 0
        assert db.execute(insert_sql(1), (*entry.row, 1, 5)).rowcount == 0
        assert db.execute(insert_sql(1), (*entry.row, 1, 0)).rowcount == 1
