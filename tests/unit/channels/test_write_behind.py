import asyncio
import errno
import sqlite3
import threading
from contextlib import closing
from os import fsync as os_fsync
from pathlib import Path

import pytest

from moot.channels.bus import Head
from moot.channels.errors import BusClosed, LeaseHeld, StorageError
from moot.channels.log.file import open_log
from moot.channels.log.head import read_head
from moot.channels.log.inmemory import InMemoryBus
from moot.channels.log.lease import Lease
from moot.channels.log.sqlite import SqliteBus
from moot.channels.log.write_behind import BATCH, LogWriter
from tests.doubles.tiny import Ticks, TinyAdmission, decode, said


def publish(bus, count):
    async def main():
        for n in range(bus.head.seq, bus.head.seq + count):
            await bus.publish(said(f"k{n}"))

    asyncio.run(main())


def test_the_log_behind_a_bus_in_memory_is_the_one_a_bus_on_disk_would_have_written(tmp_path):
    with LogWriter(tmp_path / "a" / "log.sqlite") as writer:
        memory = InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write)
        publish(memory, 3 * BATCH + 7)

    async def on_disk():
        bus = await SqliteBus.open(
            tmp_path / "b" / "log.sqlite", admission=TinyAdmission(), now=Ticks(), decode=decode
        )
        async with bus:
            await asyncio.gather(*(bus.publish(said(f"k{n}")) for n in range(3 * BATCH + 7)))

    asyncio.run(on_disk())
    rows = []
    for name in "ab":
        with closing(sqlite3.connect(tmp_path / name / "log.sqlite")) as db:
            rows.append(db.execute("SELECT * FROM log").fetchall())
    assert rows[0] == rows[1]
    assert read_head(tmp_path / "a") == memory.head == read_head(tmp_path / "b")


def test_it_writes_no_second_log_over_a_first(tmp_path):
    with LogWriter(tmp_path / "log.sqlite") as writer:
        publish(InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write), 2)
    with pytest.raises(StorageError, match="has 2 messages: choose another directory"):
        LogWriter(tmp_path / "log.sqlite")
    assert open_log(tmp_path / "log.sqlite", epoch=1).head.seq == 2
    Lease.acquire(tmp_path).release()


def test_it_takes_the_lease_or_uses_the_one_it_is_given(tmp_path):
    with Lease.acquire(tmp_path) as lease:
        with pytest.raises(LeaseHeld):
            LogWriter(tmp_path / "log.sqlite")
        LogWriter(tmp_path / "log.sqlite", lease=lease).close()
        with pytest.raises(LeaseHeld):
            Lease.acquire(tmp_path)
    with LogWriter(tmp_path / "log.sqlite"), pytest.raises(LeaseHeld):
        Lease.acquire(tmp_path)


def test_an_empty_log_has_an_empty_head(tmp_path):
    LogWriter(tmp_path / "log.sqlite").close()
    assert read_head(tmp_path) == Head()


def test_a_disk_that_does_not_take_it_stops_the_simulation_with_a_line(tmp_path):
    writer = LogWriter(tmp_path / "log.sqlite")
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
        db.execute("DROP TABLE log")
    bus = InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write)
    publish(bus, 1)
    writer._thread.join()
    with pytest.raises(StorageError, match="no such table"):
        publish(bus, 3)
    with pytest.raises(BusClosed):
        asyncio.run(bus.publish(said("more")))
    with pytest.raises(StorageError):
        writer.close()
    Lease.acquire(tmp_path).release()


@pytest.mark.parametrize(
    ("done", "fault"),
    [
        ("UPDATE fence SET epoch = epoch + 1", LeaseHeld),
        ("INSERT INTO log VALUES (1, 'x', '', '', x'00')", StorageError),
    ],
)
def test_what_another_process_did_meanwhile_is_told_for_what_it_is(tmp_path, done, fault):
    writer = LogWriter(tmp_path / "log.sqlite")
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
        db.execute(done)
    publish(InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write), 1)
    with pytest.raises(fault, match="fenced out" if fault is LeaseHeld else "changed behind its host"):
        writer.close()


class Syncs:
    """The syncs of the log's writer, which really happen, and what was in the file at each."""

    def __init__(self, path):
        self.path = path
        self.seqs = []
        self.names = []
        self.held = threading.Lock()

    def __call__(self, handle):
        with self.held:
            self._sync(handle)

    def _sync(self, handle):
        os_fsync(handle)
        self.names.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        with closing(sqlite3.connect(self.path)) as db:
            self.seqs.append(db.execute("SELECT max(seq) FROM log").fetchone()[0])


@pytest.fixture
def syncs(tmp_path, monkeypatch):
    syncs = Syncs(tmp_path / "log.sqlite")
    monkeypatch.setattr("moot.channels.log.write_behind.os.fsync", syncs)
    return syncs


def test_nothing_is_synced_that_nobody_waits_for(tmp_path, syncs):
    with LogWriter(tmp_path / "log.sqlite") as writer:
        publish(InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write), 2 * BATCH)
    assert "log.sqlite-wal" not in syncs.names


def test_what_somebody_waits_for_is_on_disk_before_they_are_told(tmp_path, syncs):
    with LogWriter(tmp_path / "log.sqlite") as writer:
        bus = InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write)
        publish(bus, 3)
        writer.synced(3).result(60)
        assert syncs.names == ["log.sqlite-wal", tmp_path.name], "the file, then its name"
        assert syncs.seqs[0] == 3
        writer.synced(2).result(60)
        assert len(syncs.names) == 2, "it was synced already"
        ahead = writer.synced(5)
        publish(bus, 1)
        writer.synced(4).result(60)
        assert not ahead.done()
        publish(bus, 1)
        ahead.result(60)
        assert syncs.seqs[-1] == 5


def test_many_who_wait_share_a_sync(tmp_path, syncs):
    writer = LogWriter(tmp_path / "log.sqlite")
    bus = InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write)
    publish(bus, 64)
    # The first wish is synced, and all others while that is done.
    with syncs.held:
        all_of_them = [writer.synced(seq) for seq in range(1, 65)]
    for one in all_of_them:
        one.result(60)
    writer.close()
    assert syncs.names.count("log.sqlite-wal") <= 2


def test_a_sync_that_fails_is_told_to_those_who_wait_and_stops_the_writing(tmp_path, monkeypatch):
    def fails(_handle):
        raise OSError(errno.EIO, "Input/output error")

    writer = LogWriter(tmp_path / "log.sqlite")
    bus = InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write)
    publish(bus, 1)
    monkeypatch.setattr("moot.channels.log.write_behind.os.fsync", fails)
    with pytest.raises(StorageError, match="Input/output error"):
        writer.synced(1).result(60)
    monkeypatch.undo()
    with pytest.raises(StorageError, match="Input/output error"):
        writer.synced(1).result(60)
    with pytest.raises(StorageError, match="Input/output error"):
        writer.close()


def test_who_waits_for_a_seq_that_never_comes_is_told_at_the_end(tmp_path):
    writer = LogWriter(tmp_path / "log.sqlite")
    publish(InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write), 2)
    never, come = writer.synced(3), writer.synced(2)
    writer.close()
    come.result(0)
    writer.synced(2).result(0)
    for one in (never, writer.synced(3)):
        with pytest.raises(StorageError, match="was closed at seq 2"):
            one.result(0)


def test_a_log_that_goes_on_is_on_disk_before_anything_is_added(tmp_path):
    with LogWriter(tmp_path / "log.sqlite") as writer:
        publish(InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=writer.write), 2)
    with LogWriter(tmp_path / "log.sqlite", after=2) as writer:
        writer.synced(2).result(60)


def test_closing_twice_is_fine(tmp_path):
    writer = LogWriter(tmp_path / "log.sqlite")
    writer.close()
    writer.close()
