"""The memory file: write-behind, full disks, damaged files, closing (K2, K18, K25)."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiosqlite
import pytest

from moot.memory import sqlite_file
from moot.memory.errors import CorruptStore, MemoryStoreError, StoreClosed, StoreUnavailable
from moot.memory.inmemory import InMemoryStore
from moot.memory.shelves import HYPOTHESES, PROPOSALS
from moot.memory.sqlite import SqliteStore
from moot.memory.store import digest, rebuild
from tests.doubles.memory_log import REVERSION, Log, a_week, many

ROOT = Path(__file__).resolve().parents[3]


def folded(log: Log) -> InMemoryStore:
    store = InMemoryStore()
    for env in log.envelopes:
        store.apply(env, True)
    return store


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def change(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    try:
        connection.execute(sql)
        connection.commit()
    finally:
        connection.close()


def assert_no_thread_is_left() -> None:
    """Wait for workers that are on their way out; one that was not told to go would stay for ever (K25)."""
    workers = [thread for thread in threading.enumerate() if "_connection_worker" in thread.name]
    for worker in workers:
        worker.join(5)
    assert not [worker for worker in workers if worker.is_alive()]


async def quiet(store: SqliteStore) -> None:
    while store._writer is not None:
        await asyncio.wait([store._writer])


# -------------------------------------------------------------- write-behind


def test_a_batch_is_written_behind_without_anybody_asking(tmp_path: Path) -> None:
    log = many(30)

    async def scene() -> None:
        async with await SqliteStore.open(tmp_path / "m", batch=10) as store:
            for env in log.envelopes[:9]:
                store.apply(env, True)
            await quiet(store)
            assert store.stored_seq == 0
            store.apply(log.envelopes[9], True)
            assert store.stored_seq == 0, "apply does not wait for the disk"
            await quiet(store)
            assert store.stored_seq == 10
            assert rows(tmp_path / "m", "SELECT applied_seq, applied_hash FROM state") == [
                (10, log.envelopes[9].hash)
            ]

    asyncio.run(scene())


def test_a_batch_of_chatter_still_moves_the_resume_point(tmp_path: Path) -> None:
    log = Log()
    for _ in range(10):
        log.note()

    async def scene() -> None:
        async with await SqliteStore.open(tmp_path / "m", batch=10) as store:
            for env in log.envelopes:
                store.apply(env, True)
            await quiet(store)
            assert store.stored_seq == 10

    asyncio.run(scene())


async def test_a_prompt_store_writes_whatever_brings_a_record(tmp_path: Path) -> None:
    """People look into the file of a living society: what it remembers is there, not a batch later."""

    async with await SqliteStore.open(tmp_path / "m", is_prompt=True) as store:
        for env in a_week().envelopes:
            is_new = bool(store.apply(env, True))
            await quiet(store)
            if is_new:
                assert store.stored_seq == env.seq
        ((known,),) = rows(tmp_path / "m", "SELECT count(*) FROM record")
        assert known


def test_apply_works_without_a_loop_and_the_next_flush_writes(tmp_path: Path) -> None:
    log = many(30)
    with asyncio.Runner() as runner:
        store = runner.run(SqliteStore.open(tmp_path / "m", batch=10))
        for env in log.envelopes:
            store.apply(env, True)
        assert store.stored_seq == 0
        runner.run(store.flush())
        assert store.stored_seq == store.applied_seq
        runner.run(store.close())


def test_messages_that_come_while_a_batch_is_written_are_not_lost(tmp_path: Path) -> None:
    log = many(100)

    async def scene() -> None:
        async with await SqliteStore.open(tmp_path / "m", batch=10) as store:
            for env in log.envelopes:
                store.apply(env, True)
                await asyncio.sleep(0)
        async with await SqliteStore.open(tmp_path / "m") as store:
            assert digest(store.read()) == digest(folded(log).read())

    asyncio.run(scene())


def test_virtual_time_is_held_while_a_thread_works(tmp_path: Path) -> None:
    depth: list[int] = [0]
    held: list[int] = []

    @contextmanager
    def hold() -> Iterator[None]:
        depth[0] += 1
        held.append(depth[0])
        try:
            yield
        finally:
            depth[0] -= 1

    async def scene() -> None:
        store = await SqliteStore.open(tmp_path / "m", hold=hold)
        real = store._file._connection.executemany

        def watched(*args: object) -> object:
            assert depth[0] == 1
            return real(*args)  # type: ignore[arg-type]

        store._file._connection.executemany = watched  # type: ignore[assignment,method-assign]
        store.apply(a_week().envelopes[0], True)
        await store.flush()
        await store.clear()
        await store.close()

    asyncio.run(scene())
    assert depth == [0]
    assert len(held) == 4, "opening, writing, clearing, closing"


def test_a_cancelled_flush_does_not_tear_the_batch(tmp_path: Path) -> None:
    log = many(200)

    async def scene() -> None:
        async with await SqliteStore.open(tmp_path / "m", batch=10_000) as store:
            for env in log.envelopes:
                store.apply(env, True)
            flush = asyncio.ensure_future(store.flush())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            flush.cancel()
            with pytest.raises(asyncio.CancelledError):
                await flush
            await quiet(store)
            assert store.stored_seq == 200, "what was begun is ended"
        async with await SqliteStore.open(tmp_path / "m") as store:
            assert digest(store.read()) == digest(folded(log).read())

    asyncio.run(scene())


# ----------------------------------------------------------------- full disk


def test_a_full_disk_fails_the_flush_and_loses_nothing(tmp_path: Path) -> None:
    log = many(600)

    async def scene() -> None:
        async with await SqliteStore.open(tmp_path / "m", batch=100) as store:
            for env in log.envelopes[:50]:
                store.apply(env, True)
            await store.flush()
            await store._file._connection.execute("PRAGMA max_page_count = 10")
            for env in log.envelopes[50:400]:
                store.apply(env, True)
                await asyncio.sleep(0)
            await quiet(store)
            assert isinstance(store.failure, StoreUnavailable)
            assert store.stored_seq == 50
            assert rows(tmp_path / "m", "SELECT applied_seq FROM state") == [(50,)]
            assert rows(tmp_path / "m", "SELECT max(seq) <= 50 FROM record") == [(1,)]
            with pytest.raises(StoreUnavailable, match="full"):
                await store.flush()
            assert digest(store.read()) == digest(folded(log).read(400)), "the society lives on"
            await store._file._connection.execute("PRAGMA max_page_count = 1000000")
            for env in log.envelopes[400:]:
                store.apply(env, True)
            await store.flush()
            assert store.failure is None
        async with await SqliteStore.open(tmp_path / "m") as store:
            assert digest(store.read()) == digest(folded(log).read())

    asyncio.run(scene())


def test_a_failing_write_is_not_tried_again_at_every_message(tmp_path: Path) -> None:
    log = many(400)

    async def scene() -> None:
        store = await SqliteStore.open(tmp_path / "m", batch=100)
        await store._file._connection.execute("PRAGMA query_only = 1")
        tries = 0
        for env in log.envelopes[:350]:
            store.apply(env, True)
            tries += store._writer is not None
            await quiet(store)
        assert tries == 3
        with pytest.raises(StoreUnavailable, match="readonly"):
            await store.close()
        await store.close()
        with pytest.raises(StoreClosed):
            await store.flush()

    asyncio.run(scene())
    assert_no_thread_is_left()


# ------------------------------------------------------------- working notes


def test_working_notes_in_the_file_are_as_few_as_in_ram(tmp_path: Path) -> None:
    log = Log()
    for n in range(20):
        log.hypothesis(f"hyp_{n}")
        log.proposals("2026-W09", **{f"arch_{n}{k}": "x" for k in "cab"})
        if n % 5 == 0:
            log.revised(f"hyp_{max(n - 2, 0)}", REVERSION)
    log.revised("hyp_19", REVERSION)

    async def scene() -> None:
        async with await SqliteStore.open(tmp_path / "m", batch=3, working_kept=4) as store:
            for env in log.envelopes:
                store.apply(env, True)
                await quiet(store)
            expected = {
                shelf: [(note.key, note.seq) for note in store._ram.tables[shelf].versions()]
                for shelf in (HYPOTHESES, PROPOSALS)
            }
        found = rows(tmp_path / "m", "SELECT count(*) FROM record WHERE shelf = 'hypotheses'")
        assert found == [(4,)]
        async with await SqliteStore.open(tmp_path / "m", working_kept=4) as store:
            for shelf, notes in expected.items():
                assert len(notes) == 4
                assert [(note.key, note.seq) for note in store._ram.tables[shelf].versions()] == notes

    asyncio.run(scene())


# ------------------------------------------------------------- damaged files


def filled(path: Path) -> None:
    async def scene() -> None:
        async with await SqliteStore.open(path) as store:
            for env in many(300).envelopes:
                store.apply(env, True)

    asyncio.run(scene())


def noise(path: Path) -> None:
    path.write_bytes(b"this is no database, it is a shopping list: milk, bread" * 100)


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 // 4096 * 4096])


def torn_page(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:8192] = bytes(4096)
    path.write_bytes(data)


def foreign(path: Path) -> None:
    path.unlink()
    change(path, "CREATE TABLE envelope (seq INTEGER)")


def older_fold(path: Path) -> None:
    change(path, "PRAGMA user_version = 99")


def no_state(path: Path) -> None:
    change(path, "DELETE FROM state")


def behind(path: Path) -> None:
    change(path, "UPDATE state SET applied_seq = 3")


def odd_record(path: Path) -> None:
    change(path, 'UPDATE record SET body = replace(body, \'"kind":"success"\', \'"kind":"luck"\')')


def swapped(path: Path) -> None:
    change(path, "UPDATE record SET key = 'else' WHERE shelf = 'causal' AND key = 'cau_001'")


def no_shelf(path: Path) -> None:
    change(path, "UPDATE record SET shelf = 'rumours' WHERE shelf = 'causal' AND key = 'cau_001'")


def no_text(path: Path) -> None:
    change(path, "UPDATE record SET body = CAST(body || x'ff' AS TEXT) WHERE key = 'cau_001'")


def bytes_for_text(path: Path) -> None:
    change(path, "UPDATE record SET body = x'ff7b' WHERE shelf = 'causal' AND key = 'cau_001'")


def text_for_a_number(path: Path) -> None:
    change(path, "UPDATE state SET applied_seq = 'many'")


def no_table(path: Path) -> None:
    change(path, "DROP TABLE record")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (bytes_for_text, "causal is damaged"),
        (text_for_a_number, "how far it came"),
        (no_table, "no such table"),
        (noise, "not a database"),
        (cut, "delete it"),
        (torn_page, "delete it"),
        (foreign, "no memory file of Moot"),
        (older_fold, "version 99 of the fold"),
        (no_state, "how far it came"),
        (behind, "it came to 3"),
        (odd_record, "causal is damaged (kind)"),
        (swapped, "causal else of seq"),
        (no_shelf, "no shelf 'rumours'"),
        (no_text, "a text in it is no UTF-8"),
    ],
)
def test_a_damaged_file_says_what_is_wrong_and_can_be_rebuilt(
    tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    path = tmp_path / "moot.memory.sqlite"
    filled(path)
    damage(path)
    log = many(300)

    async def scene() -> None:
        with pytest.raises(CorruptStore) as caught:
            await SqliteStore.open(path)
        assert says in str(caught.value)
        assert str(caught.value).startswith(f"{path}: ")
        assert "delete it, the log rebuilds it" in str(caught.value)
        assert "\n" not in str(caught.value)
        SqliteStore.discard(path)
        assert list(tmp_path.iterdir()) == []
        async with await SqliteStore.open(path) as store:
            await rebuild(store, [(env, True) for env in log.envelopes])
            assert digest(store.read()) == digest(folded(log).read())

    asyncio.run(scene())
    assert_no_thread_is_left()


def test_a_place_that_cannot_be_written_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        with pytest.raises(StoreUnavailable, match="unable to open") as caught:
            await SqliteStore.open(tmp_path / "nowhere" / "moot.memory.sqlite")
        assert "nowhere" in str(caught.value)

    # A thread that aiosqlite started for a failed attempt would outlive the loop now and then.
    monkeypatch.setattr(aiosqlite, "connect", lambda *_args, **_options: pytest.fail("a thread was started"))
    asyncio.run(scene())


# ------------------------------------------------------------------- closing


def test_cancelling_an_open_leaves_no_thread_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "m")
    reached = asyncio.Event()
    real = sqlite_file.MemoryFile.load

    async def slow(file: sqlite_file.MemoryFile) -> object:
        reached.set()
        await asyncio.sleep(3600)
        return await real(file)

    monkeypatch.setattr(sqlite_file.MemoryFile, "load", slow)

    async def scene() -> None:
        opening = asyncio.ensure_future(SqliteStore.open(tmp_path / "m"))
        await reached.wait()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(scene())
    assert_no_thread_is_left()


def test_cancelling_an_open_while_it_connects_leaves_no_thread_behind(tmp_path: Path) -> None:
    async def scene() -> None:
        opening = asyncio.ensure_future(SqliteStore.open(tmp_path / "m"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    for _ in range(20):
        asyncio.run(scene())
    assert_no_thread_is_left()


def test_a_cancelled_close_still_closes(tmp_path: Path) -> None:
    log = many(50)

    async def scene() -> None:
        store = await SqliteStore.open(tmp_path / "m")
        for env in log.envelopes:
            store.apply(env, True)
        closing = asyncio.ensure_future(store.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await store.close()
        assert store.stored_seq == 50

    asyncio.run(scene())
    assert_no_thread_is_left()


@pytest.mark.timeout(60)
def test_the_interpreter_exits_although_the_society_crashed_inside_the_store(tmp_path: Path) -> None:
    program = """
import asyncio, sys
from pathlib import Path
from moot.memory.sqlite import SqliteStore
from tests.doubles.memory_log import many
from tests.doubles.copying import replace

async def society():
    async with await SqliteStore.open(Path(sys.argv[1]), batch=5) as store:
        for env in many(40).envelopes:
            store.apply(env, True)
            await asyncio.sleep(0)
        raise SystemExit(7)

asyncio.run(society())
"""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path / "m")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (7, "")
    assert rows(tmp_path / "m", "SELECT applied_seq FROM state") == [(40,)]


def test_an_error_while_closing_the_driver_still_ends_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        store = await SqliteStore.open(tmp_path / "m")
        real = aiosqlite.Connection.close

        async def broken(connection: aiosqlite.Connection) -> None:
            await real(connection)
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(aiosqlite.Connection, "close", broken)
        with pytest.raises(MemoryStoreError, match="disk I/O error"):
            await store.close()
        await store.close()

    asyncio.run(scene())
