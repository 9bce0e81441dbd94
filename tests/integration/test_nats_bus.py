"""Hosts of a society on a real server of NATS: following, taking over, and what goes wrong with the stream."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from nats.aio.msg import Msg

from moot.channels.bus import Bus, Receipt
from moot.channels.errors import BusClosed, ChannelError, CorruptLog, LeaseHeld, NotALog, StorageError
from moot.channels.log import filed
from moot.channels.log.sequencer import Sequencer
from moot.channels.log.sqlite import SqliteBus
from moot.channels.nats import stream
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.publishing import UNKNOWN, Publishing
from tests.doubles.nats import NatsServer, following, leading, running
from tests.doubles.tiny import Ticks, TinyAdmission, decode, numbered, said


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running(tmp_path_factory.mktemp("nats")) as found:
        yield found


@pytest.fixture
def own(tmp_path: Path) -> Iterator[NatsServer]:
    """Run a server of the test's own, which it may kill."""
    with running(tmp_path / "nats") as found:
        yield found


@asynccontextmanager
async def host(
    address: NatsAddress, directory: Path, *, epoch: int = 0, counted: int = 0
) -> AsyncIterator[NatsBus]:
    """Run a host that leads with an epoch, or follows."""
    if epoch:
        async with leading(address, directory, TinyAdmission(counted), Ticks(), epoch) as bus:
            yield bus
    else:
        async with following(address, directory) as bus:
            bus.follow()
            yield bus


async def heard(bus: Bus, last: int) -> None:
    async for envelope in bus.subscribe(0):
        if envelope.seq == last:
            return


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.01)


def rows(directory: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(directory / "log.sqlite")) as db:
        return db.execute("SELECT * FROM log ORDER BY seq").fetchall()


def play(scenario: Awaitable[None]) -> None:
    async def run() -> None:
        async with asyncio.timeout(90):
            await scenario

    asyncio.run(run())


async def publish(bus: Bus, *keys: object) -> list[Receipt]:
    return await asyncio.gather(*(bus.publish(said(f"k{key}", f"text {key}")) for key in keys))


def test_a_follower_hears_and_mirrors_what_the_leader_publishes(server: NatsServer, tmp_path: Path) -> None:
    a, b, c = (tmp_path / name for name in "abc")

    async def scenario(address: NatsAddress) -> None:
        folded: list[int] = []
        async with host(address, a, epoch=1) as leader, host(address, b) as follower:
            follower.on_append = lambda envelope: folded.append(envelope.seq)
            await publish(leader, *range(40))
            await heard(follower, 40)
            assert follower.head == leader.head
            assert follower.last_sent_at == leader.last_sent_at
            assert await follower.seq_of("k7") == 8
            with pytest.raises(BusClosed, match="this host follows: another one leads"):
                await follower.publish(said("x"))
        assert folded == list(range(1, 41))
        async with host(address, c):
            pass

    play(scenario(server.address()))
    assert len(rows(a)) == 40
    assert rows(a) == rows(b) == rows(c), "the digests of the drafts travel too"


def test_the_log_is_that_of_sqlite_byte_for_byte(server: NatsServer, tmp_path: Path) -> None:
    async def scenario(bus: Bus) -> None:
        await publish(bus, *range(30))
        await bus.publish(numbered("n"))
        await bus.publish(said("odd", "Žluťoučký kůň 🐎\n\t\\ \x00"))
        await bus.publish(said("an odd id: 100 %\r\nX: y ü", "x"))

    async def on_nats() -> None:
        async with host(server.address(), tmp_path / "nats", epoch=1) as bus:
            await scenario(bus)

    async def on_sqlite() -> None:
        async with await SqliteBus.open(
            tmp_path / "sqlite" / "log.sqlite", admission=TinyAdmission(), now=Ticks(), decode=decode
        ) as bus:
            await scenario(bus)

    play(on_nats())
    play(on_sqlite())
    assert rows(tmp_path / "nats") == rows(tmp_path / "sqlite")


def test_who_takes_over_goes_on_and_the_one_before_is_refused_by_the_server(
    server: NatsServer, tmp_path: Path
) -> None:
    async def scenario(address: NatsAddress) -> None:
        faults: list[Exception] = []
        async with host(address, tmp_path / "a", epoch=1) as old, host(address, tmp_path / "b") as new:
            old.on_fault = faults.append
            await publish(old, 1)
            await new.lead(TinyAdmission(), Ticks(), epoch=2)
            assert (await publish(new, 2)) == [Receipt(2, "k2")]
            with pytest.raises(BusClosed, match="another host leads"):
                await publish(old, 3)
            assert [type(fault) for fault in faults] == [LeaseHeld]
            assert (await publish(new, 3, 1)) == [Receipt(3, "k3"), Receipt(1, "k1", "duplicate")]

    play(scenario(server.address()))
    assert len(rows(tmp_path / "b")) == 3
    assert len(rows(tmp_path / "a")) == 1


def test_who_begins_to_lead_while_the_one_before_still_speaks_may_begin_anew(
    server: NatsServer, tmp_path: Path
) -> None:
    async def scenario(address: NatsAddress) -> None:
        faults: list[Exception] = []
        async with host(address, tmp_path / "a", epoch=1) as old:
            for had in range(2):
                await publish(old, *range(had))
                async with following(address, tmp_path / "b") as new:
                    new.on_fault = faults.append
                    await new.lead(TinyAdmission(), Ticks(), epoch=2)
                    await publish(old, f"late {had}")
                    with pytest.raises(BusClosed, match="spoke once more"):
                        await publish(new, "early")
            async with host(address, tmp_path / "b", epoch=2) as new:
                assert await publish(new, "anew") == [Receipt(4, "kanew")]
        assert [type(fault) for fault in faults] == [StorageError] * 2, "which a host outlives"

    play(scenario(server.address()))


def test_an_answer_that_a_copy_is_on_its_way_is_no_outcome(server: NatsServer) -> None:
    async def scenario(address: NatsAddress) -> None:
        async with await NatsConnection.open(address) as connection:
            # As a server of a cluster answers, from 2.10 on, when what it has taken in is not on most servers yet.
            said_so = (
                b'{"error": {"code": 409, "err_code": 10158, "description": "duplicate id is in process"}}'
            )
            await connection.client.subscribe(address.subject, cb=partial(Msg.respond, data=said_so))
            publishing = await Publishing.open(connection, 1)
            _, entry = Sequencer(TinyAdmission(), Ticks()).take(said("k1"))
            assert entry is not None
            assert await (await publishing.send([entry])) == UNKNOWN
            publishing.close()

    play(scenario(server.address()))


def test_who_looks_whether_another_host_leads_learns_it_before_the_next_message(
    server: NatsServer, tmp_path: Path
) -> None:
    async def scenario(address: NatsAddress) -> None:
        async with host(address, tmp_path / "a", epoch=1) as old, host(address, tmp_path / "b") as new:
            await publish(old, 1)
            await old.look()
            assert old.fault is None
            await new.lead(TinyAdmission(), Ticks(), epoch=2)
            await publish(new, 2)
            await old.look()
            assert isinstance(old.fault, LeaseHeld)

    play(scenario(server.address()))


def test_a_host_that_is_deposed_ends_at_once_though_no_server_answers(
    own: NatsServer, tmp_path: Path
) -> None:
    async def scenario(address: NatsAddress) -> None:
        async with host(address, tmp_path / "a", epoch=1) as bus:
            await publish(bus, 1)
            own.pause()
            waiting = asyncio.create_task(bus.publish(said("k2")))
            await asyncio.sleep(0)
            bus.depose(LeaseHeld("the lease lapsed"))
            with pytest.raises(BusClosed, match="the lease lapsed"):
                await waiting
            own.go_on()

    play(scenario(own.address()))


def test_a_message_that_is_too_large_fails_alone(tmp_path: Path) -> None:
    async def scenario(address: NatsAddress) -> None:
        async with host(address, tmp_path / "a", epoch=1) as bus:
            drafts = [said("a"), said("large", "x" * 9_000), said("b"), said("large", "ok"), numbered("n")]
            first, large, second, again, third = await asyncio.gather(
                *map(bus.publish, drafts), return_exceptions=True
            )
            assert isinstance(large, StorageError) and isinstance(again, StorageError)
            assert "takes 8192 at most; raise its max_payload" in str(large)
            assert [first, second, third] == [Receipt(1, "a"), Receipt(2, "b"), Receipt(3, "n")]
            assert await bus.publish(said("large", "small")) == Receipt(4, "large")

    with running(tmp_path / "nats", "max_payload: 8192") as server:
        play(scenario(server.address()))


def test_an_id_is_known_when_neither_server_nor_memory_know_it_any_more(
    server: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "DUPLICATES_S", 0.1)
    monkeypatch.setattr(filed, "IDS", 4)

    async def scenario(address: NatsAddress) -> None:
        async with host(address, tmp_path / "a", epoch=1) as bus:
            await publish(bus, *range(20))
            await asyncio.sleep(0.3)  # however long: the server has forgotten, or it helps
            assert await publish(bus, 3, 20) == [Receipt(4, "k3", "duplicate"), Receipt(21, "k20")]

    play(scenario(server.address()))


def test_a_server_whose_disk_is_full_fails_what_it_did_not_take_and_no_more(tmp_path: Path) -> None:
    async def scenario(address: NatsAddress) -> None:
        async with host(address, tmp_path / "a", epoch=1) as bus:
            outcomes = await asyncio.gather(
                *(bus.publish(said(f"k{n}", "x" * 3_000)) for n in range(60)), return_exceptions=True
            )
            taken = [outcome for outcome in outcomes if isinstance(outcome, Receipt)]
            failed = [outcome for outcome in outcomes if not isinstance(outcome, Receipt)]
            assert taken == [Receipt(n + 1, f"k{n}") for n in range(len(taken))] and 5 < len(taken) < 40
            assert all(isinstance(one, StorageError) and "has no room left" in str(one) for one in failed)
            assert bus.fault is None and bus.head.seq == len(taken)

    with running(tmp_path / "nats", jetstream="max_file_store: 100KB") as server:
        play(scenario(server.address()))


def test_a_server_that_is_started_again_amid_publishing_loses_nothing_and_doubles_nothing(
    own: NatsServer, tmp_path: Path
) -> None:
    async def scenario(address: NatsAddress) -> None:
        async with host(address, tmp_path / "a", epoch=1) as bus, host(address, tmp_path / "b") as follower:
            for round_ in range(2):
                sending = asyncio.create_task(publish(bus, *range(400 * round_, 400 * round_ + 400)))
                await until(lambda least=400 * round_ + 10: bus.head.seq > least)
                await asyncio.to_thread(own.kill if round_ else own.stop)
                own.start()
                receipts = await sending
                assert [receipt.status for receipt in receipts] == ["accepted"] * 400
            await heard(follower, 800)
            assert follower.head == bus.head

    play(scenario(own.address()))
    assert [row[1] for row in rows(tmp_path / "a")] == [f"k{n}" for n in range(800)]
    assert rows(tmp_path / "a") == rows(tmp_path / "b")


def test_a_stream_that_has_forgotten_messages_is_found_out_and_the_first_is_named(
    own: NatsServer, tmp_path: Path
) -> None:
    address = own.address()
    lost = "seq 4: .* has lost what it had acknowledged: it ends at seq 3, and this host has 9"

    async def before() -> None:
        async with host(address, tmp_path / "a", epoch=1) as bus:
            await publish(bus, 1, 2, 3)

    async def after(kept: Path) -> None:
        async with AsyncExitStack() as hosts:
            leader = await hosts.enter_async_context(host(address, tmp_path / "a", epoch=2))
            follower = await hosts.enter_async_context(host(address, tmp_path / "b"))
            await publish(leader, *range(4, 10))
            await heard(follower, 9)
            own.roll_back(kept)
            own.start()
            await until(lambda: follower.fault is not None)
            with pytest.raises(BusClosed, match=lost):
                await publish(leader, 10)
            for bus in (leader, follower):
                assert isinstance(bus.fault, CorruptLog) and bus.fault.seq == 4

    async def opened() -> None:
        with pytest.raises(CorruptLog, match=lost):
            async with host(address, tmp_path / "b"):
                pass

    play(before())
    kept = own.keep("kept")
    own.start()
    play(after(kept))
    play(opened())
    assert len(rows(tmp_path / "b")) == 9, "the mirror keeps what the server has lost"


def test_a_server_that_has_forgotten_a_whole_society_is_told_how_to_get_it_back(
    server: NatsServer, tmp_path: Path
) -> None:
    async def scenario(address: NatsAddress) -> None:
        async with host(address, tmp_path / "a", epoch=1) as bus:
            await publish(bus, 1)
        async with await NatsConnection.open(address) as connection:
            await connection.js.delete_stream(address.stream)
        with pytest.raises(CorruptLog, match=rf"up to seq 1: moot import {tmp_path / 'a'} {address} puts it"):
            async with host(address, tmp_path / "a"):
                pass

    play(scenario(server.address()))


def test_a_stream_that_tells_another_story_is_found_out_and_the_first_seq_is_named(
    server: NatsServer, tmp_path: Path
) -> None:
    address = server.address()

    async def write(directory: Path, *keys: object) -> None:
        async with host(address, directory, epoch=1) as bus:
            for key in keys:
                await publish(bus, key)

    async def forget() -> None:
        async with await NatsConnection.open(address) as connection:
            await connection.js.delete_stream(address.stream)

    play(write(tmp_path / "a", 1, 2, 3, 4, 5, 6))
    play(forget())
    play(write(tmp_path / "b", 1, 2, 3, "four", 5, 6, 7))
    with pytest.raises(CorruptLog, match=r"seq 4: .* says something else than this host has"):
        play(write(tmp_path / "a"))
    play(forget())
    play(write(tmp_path / "c", "one", 2, 3, 4, 5, 6))
    with pytest.raises(NotALog, match=r"mirrors another society than .*: name another directory"):
        play(write(tmp_path / "a"))
    play(forget())
    with pytest.raises(ChannelError, match=r"moot import .* puts it there again"):
        play(write(tmp_path / "a"))


@pytest.mark.parametrize(
    ("description", "why"),
    [
        ("orders", "is no society's log"),
        ("A society's log, version 2: x", "has version 2, this Moot knows 1: upgrade Moot"),
        ("A society's log, version 1: x", "is the log of another society"),
    ],
)
def test_a_stream_of_others_is_not_touched(
    server: NatsServer, tmp_path: Path, description: str, why: str
) -> None:
    address = server.address()

    async def scenario() -> None:
        async with await NatsConnection.open(address) as connection:
            await connection.js.add_stream(name=address.stream, subjects=["x.y"], description=description)
            try:
                with pytest.raises(NotALog, match=why):
                    await NatsBus.open(connection, tmp_path, decode=decode)
            finally:
                await connection.js.delete_stream(address.stream)

    play(scenario())
