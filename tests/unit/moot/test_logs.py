"""Opening what a user names as a log; every mistake is one line that says what is wrong and where."""

from __future__ import annotations

import gzip
import io
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from moot.channels.bus import Head
from moot.channels.log.file import open_log as create_log
from moot.logs import Damaged, LogError, open_log
from moot.logs.jsonlines import MAX_LINE
from tests.doubles.data_dir import a_debate, write_log
from tests.system_programs import Unavailable

LOG = a_debate().log
TEXT = "".join(env.line + "\n" for env in LOG)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return write_log(tmp_path / "data", LOG)


def put(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def trouble(path: Path | str, kind: type[LogError] = LogError) -> str:
    """Return the one line that reading a log to its end complains with."""
    with pytest.raises(kind) as caught, open_log(path) as source:
        for _ in source.lines():
            pass
    text = str(caught.value)
    assert text.isprintable()
    return text


# ---------------------------------------------------------------- what can be opened


def test_a_directory_yields_its_rows_and_its_head(directory: Path) -> None:
    with open_log(directory) as source:
        lines = list(source.lines())

    assert source.kind == "directory"
    assert source.head == Head(len(LOG), bytes.fromhex(LOG[-1].hash))
    assert [(n, text, digest) for n, text, digest in lines] == [(e.seq, e.json, e.hash) for e in LOG]


def test_the_database_itself_may_be_named(directory: Path) -> None:
    with open_log(directory / "log.sqlite") as source:
        assert source.kind == "directory"
        assert len(list(source.lines())) == len(LOG)


def test_a_directory_without_a_head_has_none(directory: Path) -> None:
    (directory / "head").unlink()
    with open_log(directory) as source:
        assert source.head is None


def test_json_lines_yield_their_lines_as_they_stand(tmp_path: Path) -> None:
    with open_log(put(tmp_path / "log.jsonl", TEXT)) as source:
        lines = list(source.lines())

    assert (source.kind, source.head) == ("file", None)
    assert [line.number for line in lines] == list(range(1, len(LOG) + 1))
    assert [line.text for line in lines] == TEXT.splitlines()
    assert {line.hash for line in lines} == {""}


@pytest.mark.parametrize("name", ["log.jsonl.gz", "log.jsonl", "anything"])
def test_gzip_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    with open_log(put(tmp_path / name, gzip.compress(TEXT.encode()))) as source:
        assert [line.text for line in source.lines()] == TEXT.splitlines()


@pytest.mark.parametrize("packed", [False, True])
def test_the_standard_input_is_read_and_stays_open(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    data = gzip.compress(TEXT.encode()) if packed else TEXT.encode()
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdin", stdin)

    with open_log("-") as source:
        assert source.kind == "stdin"
        assert len(list(source.lines())) == len(LOG)
    assert not stdin.buffer.closed


def test_a_pipe_is_read(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(TEXT.encode())
    with os.fdopen(reading), open_log(f"/dev/fd/{reading}") as source:
        assert len(list(source.lines())) == len(LOG)


def test_empty_lines_and_windows_line_ends_are_no_trouble(tmp_path: Path) -> None:
    data = TEXT.replace("\n", "\r\n\r\n") + "  \n"
    with open_log(put(tmp_path / "log.jsonl", data)) as source:
        lines = list(source.lines())

    assert [line.text for line in lines] == TEXT.splitlines()
    assert [line.number for line in lines][:3] == [1, 3, 5]


def test_the_last_line_needs_no_line_feed(tmp_path: Path) -> None:
    with open_log(put(tmp_path / "log.jsonl", TEXT.rstrip("\n"))) as source:
        assert len(list(source.lines())) == len(LOG)


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    with open_log(put(tmp_path / "log.jsonl", "")) as source:
        assert list(source.lines()) == []


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_envelopes_are_those_that_were_written(tmp_path: Path, directory: Path, kind: str) -> None:
    place = directory if kind == "directory" else put(tmp_path / "log.jsonl", TEXT)
    with open_log(place) as source:
        read = list(source.envelopes())

    assert read == LOG
    assert [env.line for env in read] == TEXT.splitlines()


def test_a_log_is_read_while_a_society_writes_it(directory: Path) -> None:
    with closing(sqlite3.connect(directory / "log.sqlite", isolation_level=None)) as host:
        host.execute("PRAGMA journal_mode=WAL")
        host.execute("BEGIN IMMEDIATE")
        host.execute("INSERT INTO log VALUES (?, 'x', 'd', '{}', x'00')", (len(LOG) + 1,))
        with open_log(directory) as source:
            assert len(list(source.lines())) == len(LOG)
        host.execute("ROLLBACK")


def test_reading_writes_nothing_into_the_log(directory: Path) -> None:
    before = (directory / "log.sqlite").read_bytes()
    with open_log(directory) as source:
        list(source.lines())
    assert (directory / "log.sqlite").read_bytes() == before


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """Make a directory that nobody can write: for root, whom no mode stops, on a read-only mount."""
    if os.geteuid() != 0:
        directory.chmod(0o555)
        yield
        directory.chmod(0o755)
        return
    done = subprocess.run(
        ["mount", "--bind", directory, directory], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unavailable(
            f"cannot mount a directory read-only ({done.stderr.strip()}): run as another user than root"
        )
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", directory], check=True)
        yield
    finally:
        subprocess.run(["umount", directory], check=True)


def test_a_directory_that_cannot_be_written_is_read(directory: Path) -> None:
    with read_only(directory):
        with pytest.raises(OSError):
            (directory / "probe").touch()
        with open_log(directory) as source:
            assert len(list(source.lines())) == len(LOG)


# ---------------------------------------------------------------- what cannot


def test_no_such_file_says_so(tmp_path: Path) -> None:
    assert "there is no such file or directory: give a data directory" in trouble(tmp_path / "nothing")


def test_a_directory_without_a_log_says_so(tmp_path: Path) -> None:
    assert "is a directory without log.sqlite" in trouble(tmp_path)


def test_an_empty_database_says_so(tmp_path: Path) -> None:
    put(tmp_path / "log.sqlite", b"")
    assert "is empty: no society was ever started in it" in trouble(tmp_path)


def test_a_name_with_control_characters_stays_on_one_line(tmp_path: Path) -> None:
    assert "a\\nb" in trouble(tmp_path / "a\nb")
    assert "cannot be opened: embedded null byte" in trouble("a\0b")


@pytest.mark.parametrize("data", ["hello\n", "[1, 2]\n", b"PK\x03\x04", "\ufeff{}"])
def test_what_is_no_log_says_so(tmp_path: Path, data: str | bytes) -> None:
    assert "is no Moot log, whose lines begin with {" in trouble(put(tmp_path / "x", data))


def test_a_database_of_another_application_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
        db.execute("CREATE TABLE log(seq, id, json, hash)")
    assert "is a database of another application" in trouble(tmp_path)


def test_a_newer_schema_asks_for_an_upgrade(tmp_path: Path) -> None:
    create_log(tmp_path / "log.sqlite", epoch=1)
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
        db.execute("PRAGMA user_version=99")
    assert "has schema 99" in trouble(tmp_path)


def test_garbage_instead_of_a_database_is_damage(tmp_path: Path) -> None:
    put(tmp_path / "log.sqlite", b"no database at all, whatever its name says")
    assert "is damaged: file is not a database" in trouble(tmp_path, Damaged)


def test_a_truncated_database_is_damage(directory: Path) -> None:
    path = directory / "log.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    put(path, path.read_bytes()[:9000])
    assert "is damaged" in trouble(directory, Damaged)


def test_an_unreadable_head_says_what_to_do(directory: Path) -> None:
    put(directory / "head", "{")
    assert "remove it to accept the log as it stands" in trouble(directory, Damaged)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("UPDATE log SET json = x'00' WHERE seq = 4", "row 4 holds no text with a hash"),
        ("UPDATE log SET hash = 'x' WHERE seq = 4", "row 4 holds no text with a hash"),
        ("UPDATE log SET id = 'other' WHERE seq = 4", "row 4 is stored under another id than its text names"),
    ],
)
def test_a_row_that_is_no_row_is_named(directory: Path, change: str, complaint: str) -> None:
    with closing(sqlite3.connect(directory / "log.sqlite")) as db, db:
        db.execute(change)
    assert complaint in trouble(directory)


def test_bytes_that_are_no_utf8_are_placed(tmp_path: Path) -> None:
    lines = TEXT.encode().splitlines(keepends=True)
    lines[2] = lines[2][:50] + b"\xff" + lines[2][50:]
    assert "line 3 is not UTF-8, at byte 51 of the line" in trouble(put(tmp_path / "x", b"".join(lines)))


def test_half_a_line_at_the_end_is_named(tmp_path: Path) -> None:
    assert "line 2 is cut off in the middle" in trouble(
        put(tmp_path / "x", LOG[0].line + "\n" + LOG[1].line[:99])
    )


def test_a_line_without_an_end_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = put(tmp_path / "x", "{")
    os.truncate(path, MAX_LINE + 10)
    assert "line 1 is longer than 16 MiB" in trouble(path)


def test_damaged_gzip_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT.encode())
    assert "cannot be read after line" in trouble(put(tmp_path / "a.gz", packed[: len(packed) // 2]))
    assert "cannot be read after line" in trouble(
        put(tmp_path / "b.gz", packed[:40] + b"\0" * 40 + packed[80:])
    )


def test_envelopes_of_a_log_that_is_none_name_the_line(tmp_path: Path) -> None:
    path = put(tmp_path / "x", LOG[0].line + "\n{}\n")
    with open_log(path) as log, pytest.raises(Damaged, match="line 2 is no envelope") as caught:
        list(log.envelopes())
    assert caught.value.line == 2


def test_a_file_that_may_not_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    path = put(tmp_path / "secret", TEXT)
    path.chmod(0)
    why = "Permission denied"
    if os.access(path, os.R_OK):
        # Root reads everything; a link to itself is refused to root as well.
        path.unlink()
        path.symlink_to(path)
        why = "Too many levels of symbolic links"
    assert f"cannot be opened: {why}" in trouble(path)
