import asyncio
import sqlite3
from contextlib import closing

import pytest

from moot.channels.bus import Receipt
from moot.channels.errors import BusClosed, CorruptLog, LeaseHeld, StorageError
from moot.channels.log import batching
from moot.channels.log.sqlite import SqliteBus
from tests.doubles.tiny import Ticks, TinyAdmission, decode, numbered, said


class Disk:
    """The writing connection of a bus, which counts statements and fails as told."""

    def __init__(self, bus):
        self._db = bus._writer._table.db
        self.batches = []
        self.before = []
        self.after = []
        bus._writer._table.db = self

    async def execute(self, sql, values):
        self.batches.append((len(values) - 2) // 5)
        if self.before and (error := self.before.pop(0)) is not None:
            raise error
        cursor = await self._db.execute(sql, values)
        if self.after and (error := self.after.pop(0)) is not None:
            raise error
        return cursor

    def __getattr__(self, name):
        return getattr(self._db, name)


FULL = sqlite3.OperationalError("database or disk is full")
IO = sqlite3.OperationalError("disk I/O error")


def play(path, scenario):
    async def main():
        admission = TinyAdmission()
        bus = await SqliteBus.open(
            path / "log.sqlite", admission=admission, now=Ticks(), decode=decode, durability="process"
        )
        async with bus, asyncio.timeout(20):
            await scenario(bus, Disk(bus))

    asyncio.run(main())


async def publish(bus, *drafts):
    return await asyncio.gather(*map(bus.publish, drafts), return_exceptions=True)


async def log(bus):
    return [(e.seq, e.id) async for e in bus.read()]


def notes(*keys):
    return [said(str(key)) for key in keys]


def test_a_lone_publisher_pays_one_statement(tmp_path):
    async def scenario(bus, disk):
        for n in range(5):
            await bus.publish(said(f"k{n}"))
        assert disk.batches == [1] * 5

    play(tmp_path, scenario)


def test_a_few_share_one_statement(tmp_path):
    async def scenario(bus, disk):
        await publish(bus, *notes(*range(20)))
        assert disk.batches == [20]

    play(tmp_path, scenario)


def test_many_share_two_statements_so_that_one_half_is_served_while_the_other_is_written(tmp_path):
    async def scenario(bus, disk):
        async def each(who):
            for n in range(10):
                await bus.publish(said(f"{who}/{n}"))

        await asyncio.gather(*map(each, range(64)))
        assert disk.batches[:2] == [32, 32]
        assert len(disk.batches) <= 30

    play(tmp_path, scenario)


def test_a_batch_has_at_most_512_rows(tmp_path):
    async def scenario(bus, disk):
        await publish(bus, *notes(*range(1500)))
        assert max(disk.batches) <= 512
        assert bus.head.seq == 1500

    play(tmp_path, scenario)


def test_a_full_disk_fails_the_batch_and_the_loop_lives(tmp_path):
    async def scenario(bus, disk):
        await bus.publish(said("before"))
        disk.before = [FULL]
        outcomes = await publish(bus, *notes(1, 2, 3))
        assert [type(outcome) for outcome in outcomes] == [StorageError] * 3
        assert "database or disk is full" in str(outcomes[0])
        assert bus.head.seq == 1
        assert await publish(bus, *notes(3, 2, 1)) == [Receipt(2, "3"), Receipt(3, "2"), Receipt(4, "1")]
        assert await log(bus) == [(1, "before"), (2, "3"), (3, "2"), (4, "1")]

    play(tmp_path, scenario)


def test_counted_ids_are_taken_back_when_the_disk_fails(tmp_path):
    async def scenario(bus, disk):
        disk.before = [FULL]
        await publish(bus, numbered("a"), numbered("b"), said("c"), numbered("d"))
        await publish(bus, numbered("d"), numbered("e"))
        assert [e.body.number async for e in bus.read()] == ["n_1", "n_2"]

    play(tmp_path, scenario)


def test_who_waits_behind_a_failed_batch_notices_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(batching, "HALVE_FROM", 4)

    async def scenario(bus, disk):
        disk.before = [FULL]
        outcomes = await publish(bus, *notes(*range(6)), numbered("n"), numbered("m"))
        assert [type(outcome) for outcome in outcomes] == [StorageError] * 4 + [Receipt] * 4
        assert [outcome.seq for outcome in outcomes[4:]] == [1, 2, 3, 4]
        assert [e.body.number async for e in bus.read(3)] == ["n_1", "n_2"]

    play(tmp_path, scenario)


def test_the_twin_of_a_draft_that_failed_fails_with_it(tmp_path):
    async def scenario(bus, disk):
        disk.before = [FULL]
        outcomes = await publish(bus, said("a"), said("a"), said("a", "other"))
        assert [type(outcome) for outcome in outcomes] == [StorageError] * 3

    play(tmp_path, scenario)


def test_a_batch_that_is_on_the_disk_in_spite_of_an_error_counts(tmp_path):
    async def scenario(bus, disk):
        folded = []
        bus.on_append = lambda envelope: folded.append(envelope.seq)
        disk.after = [IO]
        assert await publish(bus, *notes("a", "b")) == [Receipt(1, "a"), Receipt(2, "b")]
        assert await bus.publish(said("c")) == Receipt(3, "c")
        assert folded == [1, 2, 3]

    play(tmp_path, scenario)


def test_an_id_beyond_memory_fails_its_own_publisher_only_and_leaves_no_gap(tmp_path):
    async def before(bus, disk):
        await publish(bus, *(said(f"k{n}", str(n)) for n in range(5)))

    async def scenario(bus, disk):
        outcomes = await publish(
            bus,
            said("new 1"),
            said("k3", "3"),
            numbered("new 2"),
            said("k3", "other"),
            said("k4", "4"),
            numbered("x"),
        )
        assert outcomes == [
            Receipt(6, "new 1"),
            Receipt(4, "k3", "duplicate"),
            Receipt(7, "new 2"),
            Receipt(4, "k3", "superseded"),
            Receipt(5, "k4", "duplicate"),
            Receipt(8, "x"),
        ]
        assert [e.body.number async for e in bus.read(7)] == ["n_1", "n_2"]

    play(tmp_path, before)
    play(tmp_path, scenario)


def test_a_refusal_while_the_rest_is_sequenced_anew_reaches_its_publisher(tmp_path, monkeypatch):
    """The rules may have changed their mind meanwhile."""
    monkeypatch.setattr(batching, "HALVE_FROM", 2)

    async def scenario(bus, disk):
        disk.before = [FULL]
        admission = bus._writer._sequencer._admission
        monkeypatch.setattr(admission, "unmint", lambda *_: setattr(admission, "admit", refuse))
        first, second = await publish(bus, *notes("a", "b"))
        assert (type(first), type(second)) == (StorageError, ZeroDivisionError)

    def refuse(draft):
        raise ZeroDivisionError

    play(tmp_path, scenario)


def test_a_host_that_was_fenced_out_stops(tmp_path):
    async def scenario(bus, disk):
        bus.on_fault = told.append
        await bus.publish(said("a"))
        with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
            db.execute("UPDATE fence SET epoch = epoch + 1")
        outcomes = await publish(bus, *notes("b", "c"))
        assert [type(outcome) for outcome in outcomes] == [BusClosed] * 2
        assert "this one is fenced out" in str(outcomes[0])
        with pytest.raises(BusClosed) as caught:
            await bus.publish(said("d"))
        assert isinstance(caught.value.__cause__, LeaseHeld)
        assert isinstance(bus.fault, LeaseHeld)
        assert told == [bus.fault]

    told = []
    play(tmp_path, scenario)
    assert rows(tmp_path) == ["a"]


def test_a_host_that_has_nothing_to_say_finds_out_that_it_was_fenced_out(tmp_path):
    async def scenario(bus, disk):
        bus.on_fault = told.append
        await bus.publish(said("a"))
        await bus.look()
        assert not told and bus.fault is None
        with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
            db.execute("UPDATE fence SET epoch = epoch + 1")
        await bus.look()
        assert [type(fault) for fault in told] == [LeaseHeld]
        with pytest.raises(BusClosed):
            await bus.publish(said("b"))
        await bus.look()
        await bus.close()
        await bus.look()
        assert len(told) == 1

    told = []
    play(tmp_path, scenario)
    assert rows(tmp_path) == ["a"]


@pytest.mark.parametrize("ids", [["x"], ["b"], ["x", "y", "z"]])
def test_a_log_that_somebody_else_wrote_into_stops_the_host(tmp_path, ids):
    async def scenario(bus, disk):
        await bus.publish(said("a"))
        with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db, db:
            for seq, key in enumerate(ids, start=2):
                db.execute("INSERT INTO log VALUES (?, ?, '', '', x'00')", (seq, key))
        (outcome,) = await publish(bus, said("b"))
        assert isinstance(outcome, BusClosed)
        assert isinstance(bus.fault, CorruptLog)
        assert "was changed behind its host" in str(bus.fault)

    play(tmp_path, scenario)


def rows(directory):
    with closing(sqlite3.connect(directory / "log.sqlite")) as db:
        return [key for (key,) in db.execute("SELECT id FROM log ORDER BY seq")]


def test_a_bug_of_ours_stops_the_bus_and_is_named(tmp_path):
    async def scenario(bus, disk):
        disk.before = [ZeroDivisionError("a bug")]
        outcomes = await publish(bus, *notes(1, 2))
        assert [str(outcome) for outcome in outcomes] == ["the bus stopped: a bug"] * 2
        assert isinstance(bus.fault, ZeroDivisionError)

    play(tmp_path, scenario)


def test_a_draft_that_arrives_while_the_disk_is_asked_what_it_has_waits_its_turn(tmp_path):
    async def scenario(bus, disk):
        disk.before = [FULL]
        first = asyncio.create_task(bus.publish(said("a")))
        while bus._writer._failure is None:
            await asyncio.sleep(0)
        assert await bus.publish(said("b")) == Receipt(1, "b")
        with pytest.raises(StorageError):
            await first

    play(tmp_path, scenario)


def test_closing_while_a_batch_fails_still_serves_those_behind_it(tmp_path):
    async def scenario(bus, disk):
        disk.before = [FULL]
        tasks = [asyncio.create_task(bus.publish(draft)) for draft in notes("a", "b")]
        await asyncio.sleep(0)
        late = asyncio.create_task(bus.publish(said("c")))
        await asyncio.sleep(0)
        await bus.close()
        outcomes = await asyncio.gather(*tasks, late, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] in (
            [StorageError, StorageError, Receipt],
            [StorageError, StorageError, StorageError],
        )

    play(tmp_path, scenario)
