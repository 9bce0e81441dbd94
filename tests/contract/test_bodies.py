"""The contract of `moot.memory.bodies.Bodies`, in memory and on disk.

Run as a program (`python -m tests.contract.test_bodies FILE`) it is the child of the crash test: it keeps bodies,
64 at a time, until somebody kills it, and prints the hash of each that is kept.
"""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from moot.memory.bodies import MOST_BYTES, Bodies, InMemoryBodies
from moot.memory.bodies_file import BATCH, BodiesFile, StoredBodiesFile
from moot.memory.errors import CorruptEvidence, CorruptStore, StoreClosed, StoreUnavailable, UnknownEvidence
from tests.doubles.small_disk import fill, mounted

PROMPT = b'{"messages":[{"content":"Who is right?","role":"user"}],"model":"tiny-1"}'
CALL = "o_17/1/1/1"

BACKENDS: dict[str, Callable[[Path], Bodies]] = {
    "memory": lambda _: InMemoryBodies(),
    "file": lambda path: BodiesFile(path / "calls.sqlite"),
}


@pytest.fixture(params=list(BACKENDS))
def bodies(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bodies]:
    with BACKENDS[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


def kept(done: Future[str]) -> str:
    return done.result(timeout=60)


def altered(path: Path, sql: str, *values: object) -> None:
    """Change the file as somebody with a tool would, who takes the triggers away first."""
    with closing(sqlite3.connect(path)) as db, db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute(sql, values)


@pytest.mark.parametrize("data", [PROMPT, b"", bytes(range(256)) * 999], ids=["prompt", "empty", "bytes"])
def test_what_was_put_comes_back_under_the_hash_of_its_bytes(bodies: Bodies, data: bytes) -> None:
    sha256 = kept(bodies.put(data))
    assert sha256 == hashlib.sha256(data).hexdigest()
    assert bodies.get(sha256) == data
    assert kept(bodies.put(data)) == sha256


@pytest.mark.parametrize(
    "sha256",
    ["", "0" * 64, hashlib.sha256(PROMPT).hexdigest().upper(), "../../etc/passwd", "é" * 64],
    ids=ascii,
)
def test_an_unknown_hash_says_so(bodies: Bodies, sha256: str) -> None:
    kept(bodies.put(PROMPT))
    with pytest.raises(UnknownEvidence, match="no body"):
        bodies.get(sha256)


def test_a_reply_is_found_by_its_call(bodies: Bodies) -> None:
    kept(bodies.put(PROMPT))
    assert bodies.reply_of(CALL) is None
    sha256 = kept(bodies.put(b"red", call_id=CALL))
    kept(bodies.put(b"blue", call_id="o_17/1/1/2"))
    assert bodies.reply_of(CALL) == b"red" == bodies.get(sha256)
    assert bodies.reply_of("o_17/1/1") is None
    kept(bodies.put(b"blue", call_id=CALL))
    assert bodies.reply_of(CALL) == b"blue"
    assert bodies.get(sha256) == b"red"


def test_many_threads_put_and_read_at_once(bodies: Bodies) -> None:
    def work(who: int) -> None:
        done = [bodies.put(b"%d/%d" % (who, n), call_id=f"{who}/{n}") for n in range(100)]
        for n, one in enumerate(done):
            assert bodies.get(kept(one)) == b"%d/%d" % (who, n) == bodies.reply_of(f"{who}/{n}")

    with ThreadPoolExecutor(8) as threads:
        for one in [threads.submit(work, who) for who in range(8)]:
            one.result()


def test_a_body_that_is_too_long_is_refused(bodies: Bodies) -> None:
    with pytest.raises(ValueError, match=f"at most {MOST_BYTES}"):
        bodies.put(bytes(MOST_BYTES + 1))
    kept(bodies.put(PROMPT))


def test_nothing_is_put_into_closed_bodies(bodies: Bodies) -> None:
    done = [bodies.put(b"%d" % n) for n in range(3 * BATCH)]
    bodies.close()
    assert all(one.done() for one in done), "closing waits for what was put"
    with pytest.raises(StoreClosed):
        bodies.put(PROMPT)
    bodies.close()


def test_the_next_process_reads_them_beside_the_one_that_writes(path: Path) -> None:
    with BodiesFile(path) as bodies:
        sha256 = kept(bodies.put(PROMPT))
        with StoredBodiesFile(path) as stored:
            assert stored.get(sha256) == PROMPT
            kept(bodies.put(b"red", call_id=CALL))
            assert stored.reply_of(CALL) == b"red"
    with BodiesFile(path) as bodies:
        assert bodies.get(sha256) == PROMPT


def test_a_file_that_was_closed_is_one_file(path: Path) -> None:
    with BodiesFile(path) as bodies:
        sha256 = kept(bodies.put(PROMPT))
        assert bodies.get(sha256) == PROMPT
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_readers_make_no_file(path: Path) -> None:
    with pytest.raises(UnknownEvidence, match=r"calls\.sqlite is not there"):
        StoredBodiesFile(path)
    assert not path.exists()


@pytest.mark.parametrize("sql", ["DELETE FROM body", "UPDATE body SET zlib = x'00'", "DELETE FROM reply"])
def test_the_file_is_only_added_to(path: Path, sql: str) -> None:
    with BodiesFile(path) as bodies:
        kept(bodies.put(b"red", call_id=CALL))
        with closing(sqlite3.connect(path)) as db, pytest.raises(sqlite3.IntegrityError, match="are never"):
            db.execute(sql)


@pytest.mark.parametrize(
    "other",
    [b"", b"rubbish", "other bytes", 7, None],
    ids=["nothing", "no zlib", "another body", "a number", "cut"],
)
def test_other_bytes_than_were_put_are_named_by_hash_and_call(path: Path, other: object) -> None:
    with BodiesFile(path) as bodies:
        sha256 = kept(bodies.put(b"red " * 50, call_id=CALL))
    whole = zlib.compress(b"red " * 50)
    new = zlib.compress(b"blue") if other == "other bytes" else whole[:-3] if other is None else other
    altered(path, "UPDATE body SET zlib = ?", new)
    with StoredBodiesFile(path) as stored:
        for read in (partial(stored.get, sha256), partial(stored.reply_of, CALL)):
            with pytest.raises(CorruptEvidence, match=f"{sha256}, the reply of call {CALL}, are other bytes"):
                read()


def test_a_reply_whose_body_was_taken_away_is_missed(path: Path) -> None:
    with BodiesFile(path) as bodies:
        kept(bodies.put(b"red", call_id=CALL))
    altered(path, "DELETE FROM body")
    with StoredBodiesFile(path) as stored, pytest.raises(UnknownEvidence):
        stored.reply_of(CALL)


def test_what_is_no_file_of_bodies_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE mine (n)")
    before = path.read_bytes()
    for opened in (BodiesFile, StoredBodiesFile):
        with pytest.raises(CorruptStore, match="something else: move it away"):
            opened(path)
    assert path.read_bytes() == before
    path.write_bytes(b"no database at all" * 100)
    for opened in (BodiesFile, StoredBodiesFile):
        with pytest.raises(CorruptStore, match="is damaged"):
            opened(path)


def test_a_file_of_a_newer_moot_says_so(path: Path) -> None:
    BodiesFile(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(CorruptStore, match="schema 99, this Moot knows 1: upgrade"):
        BodiesFile(path)


def test_a_place_that_cannot_be_opened_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="unable to open"):
        BodiesFile(tmp_path / "nowhere" / "calls.sqlite")


def test_a_full_disk_refuses_bodies_until_there_is_room(tmp_path: Path) -> None:
    with mounted(tmp_path / "small") as place, BodiesFile(place / "calls.sqlite") as bodies:
        first = kept(bodies.put(PROMPT))
        ballast = fill(place)
        with pytest.raises(StoreUnavailable, match="full"):
            kept(bodies.put(random.Random(1).randbytes(500_000), call_id=CALL))
        assert bodies.reply_of(CALL) is None
        assert bodies.get(first) == PROMPT
        ballast.unlink()
        kept(bodies.put(b"red", call_id=CALL))
        assert bodies.reply_of(CALL) == b"red"


def test_a_kill_at_any_moment_leaves_every_body_that_was_said_to_be_kept(path: Path) -> None:
    chance = random.Random(20260223)
    said: list[str] = []
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.contract.test_bodies", str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        said.append(process.stdout.readline().strip())
        for _ in range(chance.randrange(400)):
            said.append(process.stdout.readline().strip())
        process.kill()
        rest, _ = process.communicate()
        # The last line may be cut by the kill.
        said += [line for line in rest.splitlines() if len(line) == 64 + 1 + 9]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with BodiesFile(path) as bodies:
        for line in said:
            sha256, call_id = line.split(" ")
            record = bodies.get(sha256)
            assert bodies.reply_of(call_id) == record


def test_every_commit_waits_for_the_disk(path: Path) -> None:
    with BodiesFile(path) as bodies:
        assert bodies._db.execute("PRAGMA synchronous").fetchone() == (2,)


def main(path: str) -> None:
    begun = count(int.from_bytes(os.urandom(3), "big") * 10)
    lock = threading.Lock()

    def keep() -> None:
        while True:
            with lock:
                n = next(begun)
            call_id = f"{n:09d}"
            sha256 = bodies.put(call_id.encode() * (n * 37 % 900), call_id=call_id).result()
            os.write(1, f"{sha256} {call_id}\n".encode())

    bodies = BodiesFile(Path(path))
    with ThreadPoolExecutor(64) as threads:
        for one in [threads.submit(keep) for _ in range(64)]:
            one.result()


if __name__ == "__main__":
    main(sys.argv[1])
