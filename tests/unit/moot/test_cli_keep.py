"""`moot rebuild`, `export`, `backup`."""

import asyncio
import json
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from moot.channels.log.head import read_head
from moot.channels.log.lease import Lease
from moot.cli.keep.keeping import _applied
from moot.cli.reading import Log
from moot.memory.evidence import DirectoryEvidence
from moot.memory.inmemory import InMemoryStore
from moot.memory.store import rebuild
from tests.doubles.command_line import complaint, data, done, write
from tests.doubles.data_dir import a_debate, write_log
from tests.doubles.small_disk import fill, mounted


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return write_log(tmp_path / "data", a_debate().log)


def digest_of(place: Path) -> str:
    store = InMemoryStore()
    asyncio.run(rebuild(store, _applied(Log(place))))
    return store.read().digest()


def test_rebuild_makes_memory_from_the_log_alone(place: Path) -> None:
    found = data("rebuild", place)

    assert found == {"seq": 11, "digest": digest_of(place)}
    assert done("rebuild", place) == f"memory is that of 11 messages again, digest {found['digest'][:16]}\n"


def test_rebuild_replaces_a_damaged_memory_file(place: Path) -> None:
    write(place / "moot.memory.sqlite", "no database")

    assert data("rebuild", place)["seq"] == 11


def test_rebuild_leaves_a_running_society_alone(place: Path) -> None:
    with Lease.acquire(place):
        assert "hosts a society" in complaint(3, "rebuild", place)

    assert not (place / "moot.memory.sqlite").exists()


def test_export_writes_the_log_line_by_line(place: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.jsonl"

    assert done("export", place, target) == f"11 messages in {target}\n"
    assert target.read_text() == done("log", place, "--json")
    assert done("export", place, "-") == target.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "x.jsonl"]


def test_export_writes_over_nothing_unless_told(place: Path, tmp_path: Path) -> None:
    target = write(tmp_path / "x.jsonl", "mine")

    assert "exists" in complaint(2, "export", place, target)
    assert target.read_text() == "mine"
    done("export", place, target, "--force")
    assert target.read_text() != "mine"


def test_export_into_nowhere_is_usage(place: Path, tmp_path: Path) -> None:
    target = tmp_path / "no" / "x.jsonl"

    assert complaint(2, "export", place, target) == (
        f"moot export: {target}: there is no directory {target.parent}"
    )
    assert f"{tmp_path} is a directory: name a file in it" in complaint(2, "export", place, tmp_path)


def test_export_replaces_nothing_that_is_no_file(place: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    assert f"{pipe} is no file: - writes to the output" in complaint(2, "export", place, pipe, "--force")
    assert pipe.is_fifo()


def test_export_tells_programs_how_much_and_where(place: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.jsonl"

    assert data("export", place, target) == {"messages": 11, "file": str(target)}
    assert "leave --json out" in complaint(2, "export", place, "-", "--json")


def test_an_export_that_finds_the_disk_full_names_the_file_and_leaves_none(
    place: Path, tmp_path: Path
) -> None:
    with mounted(tmp_path / "small") as small:
        fill(small).touch()
        said = complaint(1, "export", place, small / "x.jsonl")
        left = [path.name for path in small.iterdir()]

    assert said == f"moot export: {small / 'x.jsonl'}: No space left on device"
    assert left == ["ballast"]


def test_a_backup_is_a_data_directory_with_a_head_that_fits(place: Path, tmp_path: Path) -> None:
    done("rebuild", place)
    ref = DirectoryEvidence(place / "evidence").put("equity", {"curve": [1.0, 1.1]})
    copy = tmp_path / "copy"

    found = data("backup", place, copy)

    assert sorted(path.name for path in copy.iterdir()) == [
        "evidence",
        "head",
        "log.sqlite",
        "moot.memory.sqlite",
    ]
    head = read_head(copy)
    assert head is not None
    assert found == {"directory": str(copy), "seq": 11, "hash": head.hash.hex()}
    assert done("log", copy, "--json") == done("log", place, "--json")
    assert DirectoryEvidence(copy / "evidence").get(ref) == {"curve": [1.0, 1.1]}
    assert data("rebuild", copy)["digest"] == digest_of(place)


def test_a_backup_is_of_one_moment_while_the_log_grows(tmp_path: Path) -> None:
    table = a_debate()
    place = write_log(tmp_path / "d", table.log[:1])
    stop = threading.Event()
    thread = threading.Thread(target=grow, args=(place, table.log[1:], stop))
    thread.start()
    try:
        for n in range(5):
            copy = tmp_path / f"copy-{n}"
            found = data("backup", place, copy)
            lines = [json.loads(line) for line in done("log", copy, "--json").splitlines()]
            assert [line["seq"] for line in lines] == [*range(1, found["seq"] + 1)]
            assert lines[-1]["hash"] == found["hash"]
            head = read_head(copy)
            assert head is not None
            assert head.seq == found["seq"]
    finally:
        stop.set()
        thread.join()


def grow(place: Path, envelopes: list[object], stop: threading.Event) -> None:
    with closing(sqlite3.connect(place / "log.sqlite", timeout=60)) as db:
        for e in envelopes:
            stop.wait(0.1)
            row = (e.seq, e.id, e.json, bytes.fromhex(e.hash))  # type: ignore[attr-defined]
            db.execute("INSERT INTO log VALUES (?, ?, '', ?, ?)", row)
            db.commit()


def test_a_backup_never_mixes_with_what_is_there(place: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    done("backup", place, tmp_path / "copy")

    assert "exists and is not empty" in complaint(2, "backup", place, tmp_path / "copy")
    assert "exists and is not empty" in complaint(2, "backup", place, write(tmp_path / "file", ""))


def test_a_backup_of_a_damaged_log_leaves_nothing_behind(place: Path, tmp_path: Path) -> None:
    content = bytearray((place / "log.sqlite").read_bytes())
    content[8192:] = bytes(len(content) - 8192)
    (place / "log.sqlite").write_bytes(content)

    complaint(1, "backup", place, tmp_path / "copy")

    assert [path.name for path in tmp_path.iterdir()] == ["data"]
