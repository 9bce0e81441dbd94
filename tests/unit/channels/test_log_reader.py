"""Rows of the log as they are stored."""

import sqlite3
from contextlib import closing

import pytest

from moot.channels.errors import CorruptLog, EmptyLog, NotALog
from moot.channels.log.file import connect, open_log, reading
from moot.channels.log.reader import PAGE, LogRows, attach, by_ids, having, holding

MANY = 2 * PAGE + 1


def text(n):
    kind, case = ("HALT", "hyp_1") if n % 100 == 0 else ("NOTE", "hyp_2")
    said = '"type":"HALT"'.replace('"', '\\"')
    return f'{{"seq":{n},"case_id":"{case}","author":"admin","body":{{"type":"{kind}","text":"{said}"}}}}'


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "log.sqlite"
    open_log(place, epoch=1)
    with closing(connect(place)) as db:
        rows = [(n, f"m{n}", "d", text(n), bytes([n % 256])) for n in range(1, MANY + 1)]
        db.execute("BEGIN")
        db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", rows)
        db.execute("COMMIT")
    return place


def seqs(rows):
    return [row.seq for row in rows]


def test_rows_come_in_order_page_by_page(path):
    with reading(path) as log:
        assert log.head() == MANY
        assert seqs(log.walk()) == [*range(1, MANY + 1)]
        assert seqs(log.walk(PAGE, PAGE + 1)) == [PAGE, PAGE + 1]
        assert log.at(7) == (7, "m7", text(7), b"\x07")
        assert log.at(MANY + 1) is None


def test_rows_are_found_by_range_type_case_id_and_end(path):
    with reading(path) as log:
        hundreds = [*range(100, MANY, 100)]
        assert seqs(log.walk(where=holding('"type":"HALT"'))) == hundreds
        assert seqs(log.walk(where=holding('"type":"HALT"', '"case_id":"hyp_2"'))) == []
        assert seqs(log.between(1, 450, having({"type": ["HALT"]}))) == hundreds[:4]
        assert seqs(log.between(1, 450, having({"case_id": ["hyp_1"], "type": ["NOTE"]}))) == []
        assert seqs(log.between(1, 9, is_down=True, limit=2)) == [9, 8]
        assert seqs(log.tail(2)) == [MANY - 1, MANY]
        newest = log.newest(holding('"case_id":"hyp_1"'))
        assert newest is not None and newest.seq == hundreds[-1]
        assert seqs(log.these([5, 3, MANY + 1])) == [3, 5]
        assert log.field(100, "type") == "HALT" and log.field(MANY + 1, "type") is None
        assert log.newest(holding("nobody said that")) is None


def test_a_damaged_row_has_no_fields_and_is_read_as_it_stands(path):
    with closing(connect(path)) as db:
        db.execute("UPDATE log SET json = '{' WHERE seq = 100")
        db.execute("UPDATE log SET json = x'00' WHERE seq = 200")
    with reading(path) as log:
        assert seqs(log.between(1, 300, having({"type": ["HALT"]}))) == [300]
        assert [log.field(n, "type") for n in (100, 200)] == [None, None]
        assert [row.text for row in log.these([100, 200])] == ["{", b"\0"]


def test_what_is_written_meanwhile_is_read_and_no_transaction_is_held(path):
    with reading(path) as log, closing(connect(path)) as db:
        rows = log.walk()
        next(rows)
        assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        db.execute("INSERT INTO log VALUES (?, 'new', 'd', '{}', x'00')", (MANY + 1,))
        assert seqs(rows)[-1] == MANY + 1


def test_a_reader_cannot_write(path):
    with pytest.raises(Exception, match="readonly"), reading(path) as log:
        log._db.execute("DELETE FROM log")


def test_ids_are_looked_up_and_a_log_is_read_where_it_is_attached(path):
    with closing(sqlite3.connect(":memory:", uri=True)) as db:
        attach(db, path, busy_s=1.0)
        assert LogRows(db, "log").head() == MANY
    with closing(connect(path)) as db:
        assert db.execute(*by_ids(["m3", "m9", "none"])).fetchall() == [("m3", 3, "d"), ("m9", 9, "d")]


def test_files_that_are_no_log_are_told_apart(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(EmptyLog, match="no society was ever started in it"), reading(tmp_path / "empty"):
        pass
    with closing(sqlite3.connect(tmp_path / "cats")) as db:
        db.execute("CREATE TABLE cats(name)")
    with pytest.raises(NotALog, match="another application"), reading(tmp_path / "cats"):
        pass
    (tmp_path / "noise").write_bytes(b"x" * 8192)
    with pytest.raises(CorruptLog, match="is damaged"), reading(tmp_path / "noise"):
        pass
