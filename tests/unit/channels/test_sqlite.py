import asyncio
import sqlite3
import threading
from contextlib import closing, contextmanager

import pytest

from moot.channels.bus import Head, Receipt
from moot.channels.errors import BusClosed, CorruptLog, LeaseHeld, StorageError
from moot.channels.log import filed, sqlite, writer
from moot.channels.log.file import open_log
from moot.channels.log.head import read_head, write_head
from moot.channels.log.lease import Lease
from moot.channels.log.sqlite import SqliteBus
from moot.protocols.kernel.errors import Malformed
from tests.doubles.tiny import START, Ticks, TinyAdmission, decode, said


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.sqlite"


def opening(path, **options):
    options = {"admission": TinyAdmission(), "now": Ticks(), "decode": decode, **options}
    return SqliteBus.open(path, **options)


def play(path, scenario, **options):
    async def main():
        async with await opening(path, **options) as bus:
            await scenario(bus)
        return bus

    return asyncio.run(main())


async def fill(bus, count=10):
    await asyncio.gather(*(bus.publish(said(f"k{bus.head.seq + n}")) for n in range(count)))


def test_it_goes_on_where_it_was(path):
    first = play(path, fill)

    async def scenario(bus):
        assert bus.head == first.head
        assert bus.last_sent_at == first.last_sent_at > START
        assert await bus.publish(said("more")) == Receipt(11, "more")
        assert [e.seq async for e in bus.read()] == list(range(1, 12))

    again = play(path, scenario, now=lambda: START)
    assert again.last_sent_at == first.last_sent_at


@pytest.mark.parametrize(("durability", "synchronous"), [("power", 2), ("process", 1)])
def test_durability_is_the_synchronous_level(path, durability, synchronous):
    async def scenario(bus):
        assert await bus._writer._table.db.execute_fetchall("PRAGMA synchronous") == [(synchronous,)]
        assert await bus._writer._table.db.execute_fetchall("PRAGMA journal_mode") == [("wal",)]

    play(path, scenario, durability=durability)


def test_a_second_society_on_the_directory_is_refused_and_harms_nothing(path):
    async def scenario(bus):
        with pytest.raises(LeaseHeld, match="hosts a society on"):
            await opening(path)
        assert await bus.publish(said("a")) == Receipt(1, "a")

    play(path, scenario)


def test_a_lease_that_is_given_is_used_and_kept(path):
    with Lease.acquire(path.parent) as lease:
        play(path, fill, lease=lease)
        with pytest.raises(LeaseHeld):
            Lease.acquire(path.parent)
    Lease.acquire(path.parent).release()


def test_the_epoch_outlives_a_deleted_lock_file(path):
    for _ in range(3):
        play(path, fill)
        (path.parent / "lock").unlink()

    async def scenario(bus):
        assert await bus._writer._table.db.execute_fetchall("SELECT epoch FROM fence") == [(4,)]

    play(path, scenario)


def test_a_host_whose_lock_was_deleted_is_fenced_out_by_the_next(path):
    async def scenario(old):
        await old.publish(said("old"))
        (path.parent / "lock").unlink()
        async with await opening(path) as new:
            with pytest.raises(BusClosed, match="fenced out"):
                await old.publish(said("late"))
            assert await new.publish(said("new")) == Receipt(2, "new")
            await old.close()
            await new.note_head()
            assert read_head(path.parent).seq == 2
        assert isinstance(old.fault, LeaseHeld)

    play(path, scenario)


def test_the_head_file_stands_at_the_end_and_never_before_the_log(path, monkeypatch):
    monkeypatch.setattr(writer, "HEAD_EVERY", 3)
    seen = []

    async def scenario(bus):
        for n in range(20):
            await bus.publish(said(f"k{n}"))
            await asyncio.sleep(0.002)
            seen.append(((read_head(path.parent) or Head()).seq, bus.head.seq))

    bus = play(path, scenario)
    assert all(noted <= durable for noted, durable in seen)
    assert max(noted for noted, _ in seen) >= 15
    assert read_head(path.parent) == bus.head


def test_the_head_file_stands_from_the_first_batch_on(path):
    async def scenario(bus):
        await bus.publish(said("first"))
        while read_head(path.parent) is None:
            await asyncio.sleep(0.001)
        assert read_head(path.parent).seq == 1

    play(path, scenario)


def test_two_who_note_the_head_do_not_get_in_each_others_way(path, monkeypatch):
    busy = []

    def watch(*args, **options):
        assert not busy
        busy.append(True)
        write_head(*args, **options)
        busy.clear()

    async def scenario(bus):
        await asyncio.gather(*(bus.note_head() for _ in range(20)))

    monkeypatch.setattr(sqlite, "write_head", watch)
    play(path, scenario)


def test_a_head_that_cannot_be_written_stops_nothing(path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sqlite, "write_head", fail)
    monkeypatch.setattr(writer, "HEAD_EVERY", 1)
    assert play(path, fill).head.seq == 10


def test_a_row_that_was_changed_while_the_host_runs_is_found_when_it_is_read(path, monkeypatch):
    monkeypatch.setattr(filed, "WINDOW", 2)

    async def scenario(bus):
        await fill(bus, 30)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE log SET json = replace(json, 'critic', 'evolver') WHERE seq = 7")
        seen = []
        with pytest.raises(CorruptLog, match="seq 7: the hash does not fit"):
            async for envelope in bus.read(5):
                seen.append(envelope.seq)
        with pytest.raises(CorruptLog, match="seq 7"):
            async for envelope in bus.subscribe():
                seen.append(envelope.seq)

    play(path, scenario)


@pytest.mark.parametrize(
    "error", [Malformed("K4", "is not known", field="type"), ValueError("no JSON"), KeyError("v")]
)
def test_a_row_that_cannot_be_read_names_its_seq(path, error):
    def refuse(text, digest):
        raise error

    async def scenario(bus):
        with pytest.raises(CorruptLog, match="seq 1: no envelope"):
            await anext(bus.read())

    play(path, fill)
    play(path, scenario, decode=refuse)


def test_a_missing_row_is_found_when_it_is_read(path):
    async def scenario(bus):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM log WHERE seq IN (3, 4)")
        with pytest.raises(CorruptLog, match="seq 3: the row is missing"):
            [e async for e in bus.read()]
        with pytest.raises(CorruptLog, match="seq 4: the row is missing"):
            [e async for e in bus.read(5)]

    play(path, fill)
    play(path, scenario)


def test_every_wait_for_a_thread_holds_virtual_time(path, monkeypatch):
    monkeypatch.setattr(filed, "WINDOW", 1)
    state = {"held": 0, "times": 0}

    @contextmanager
    def hold():
        state["held"] += 1
        state["times"] += 1
        try:
            yield
        finally:
            state["held"] -= 1

    async def scenario(bus):
        opened = state["times"]
        execute = bus._writer._table.db.execute

        async def watch(*args):
            assert state["held"] >= 1
            return await execute(*args)

        monkeypatch.setattr(bus._writer._table.db, "execute", watch)
        await fill(bus)
        assert [e.seq async for e in bus.read()] == list(range(1, 11))
        await bus.note_head()
        assert state["held"] == 0
        assert state["times"] > opened + 1

    play(path, scenario, hold=hold)
    assert state["held"] == 0


def test_a_subscriber_that_is_behind_when_the_bus_closes_ends_with_its_cursor(path, monkeypatch):
    monkeypatch.setattr(filed, "WINDOW", 2)

    async def scenario(bus):
        await fill(bus, 50)
        subscription = bus.subscribe()
        await anext(aiter(subscription))
        await bus.close()
        rest = [e.seq async for e in subscription]
        assert subscription.cursor == (rest[-1] if rest else 1)

    play(path, scenario)


def test_reading_a_closed_bus_says_so(path):
    async def scenario(bus):
        await bus.close()
        with pytest.raises(BusClosed):
            await anext(bus.read())

    play(path, fill)
    play(path, scenario)


def test_no_thread_is_left_after_a_close_a_failed_opening_or_a_cancelled_one(path, monkeypatch):
    before = set(threading.enumerate())
    play(path, fill)
    assert set(threading.enumerate()) == before

    monkeypatch.setattr(sqlite, "pragmas", lambda durability: ("no pragma",))
    with pytest.raises(StorageError, match="syntax error"):
        asyncio.run(opening(path))
    assert set(threading.enumerate()) == before
    monkeypatch.undo()

    async def cancelled():
        for turns in range(0, 40, 3):
            task = asyncio.create_task(opening(path))
            for _ in range(turns):
                await asyncio.sleep(0.0005)
            if task.cancel():
                await asyncio.gather(task, return_exceptions=True)
            if not task.cancelled():
                await task.result().close()

    asyncio.run(cancelled())
    assert set(threading.enumerate()) == before
    Lease.acquire(path.parent).release()


async def test_a_cancelled_opening_keeps_its_lease_until_its_thread_is_done(path, monkeypatch):
    is_open, may_end = threading.Event(), threading.Event()

    def slow(*args, **options):
        is_open.set()
        may_end.wait(10)
        return open_log(*args, **options)

    monkeypatch.setattr(sqlite, "open_log", slow)
    task = asyncio.create_task(opening(path))
    await asyncio.to_thread(is_open.wait, 10)
    task.cancel()
    await asyncio.sleep(0.01)
    with pytest.raises(LeaseHeld):
        Lease.acquire(path.parent)
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    Lease.acquire(path.parent).release()


def test_a_bus_that_nobody_closes_ends_with_its_loop(path):
    before = set(threading.enumerate())

    async def main():
        bus = await opening(path)
        await bus.publish(said("a"))
        raise LookupError("something else went wrong")

    with pytest.raises(LookupError):
        asyncio.run(main())
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before
    play(path, fill)
