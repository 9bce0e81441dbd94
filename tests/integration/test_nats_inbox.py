"""The guests' inbox on a real server of NATS: receipts, ids, and what a leader that dies leaves to the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.channels.bus import Bus, Receipt
from moot.channels.errors import BusClosed, StorageError
from moot.channels.guests.drafts import draft_to_json
from moot.channels.log.inmemory import InMemoryBus
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.inbox import NatsInbox, post
from moot.channels.nats.pump import NatsPump
from moot.channels.nats.thread import NatsThread
from moot.protocols.kernel.envelope import Draft
from tests.doubles.nats import NatsServer, running
from tests.doubles.tiny import Ticks, TinyAdmission, decode_body, said


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running(Path(tmp_path_factory.mktemp("nats"))) as found:
        yield found


@pytest.fixture
def nats(server: NatsServer) -> Iterator[NatsThread]:
    with NatsThread(server.address()) as thread:
        yield thread


def new_bus() -> InMemoryBus:
    return InMemoryBus(admission=TinyAdmission(), now=Ticks())


def play(
    nats: NatsThread, scenario: Callable[[Bus], Awaitable[None]], bus: Bus | None = None, epoch: int = 1
) -> None:
    async def main() -> None:
        async with bus or new_bus() as living:
            pump = NatsPump(nats, epoch, living, decode_body)
            try:
                await scenario(living)
            finally:
                await pump.close()

    asyncio.run(main())


async def guest(nats: NatsThread, draft: Draft, key: str) -> Any:
    return await asyncio.to_thread(post, nats, draft_to_json(draft), key, 60.0)


def test_a_guest_gets_its_receipt_and_gets_it_again(nats: NatsThread) -> None:
    async def scenario(bus: Bus) -> None:
        assert await guest(nats, said("-", "x"), "g1") == {"status": "accepted", "seq": 1, "id": "g1"}
        assert await guest(nats, said("-", "x"), "g1") == {"status": "accepted", "seq": 1, "id": "g1"}
        assert (await guest(nats, said("-", "y"), "g1"))["status"] == "superseded"
        assert bus.head.seq == 1

    play(nats, scenario)


def test_what_was_refused_may_be_corrected_and_posted_anew(nats: NatsThread) -> None:
    async def scenario(bus: Bus) -> None:
        for _ in range(2):
            receipt = await guest(nats, said("-", channel="#closed"), "g1")
            assert (receipt["status"], receipt["rule"], receipt["field"]) == ("refused", "tiny", "channel")
        assert (await guest(nats, said("-"), "g1"))["status"] == "accepted"
        assert bus.head.seq == 1

    play(nats, scenario)


def test_what_is_posted_while_nobody_leads_waits_for_a_leader(nats: NatsThread) -> None:
    for n in range(3):
        assert post(nats, draft_to_json(said("-", f"{n}")), f"g{n}", 0.0) is None
    assert nats.wait(_waiting) == 3

    async def scenario(bus: Bus) -> None:
        assert [(await guest(nats, said("-", f"{n}"), f"g{n}"))["seq"] for n in range(3)] == [1, 2, 3]

    play(nats, scenario)
    assert nats.wait(_waiting) == 0


async def _waiting(connection: NatsConnection) -> int:
    return await (await NatsInbox.open(connection)).waiting()


class DiesAfterLogging(InMemoryBus):
    """Logs, and never says so: its leader was killed in between."""

    async def publish(self, draft: Draft) -> Receipt:
        await super().publish(draft)
        self.logged.set()
        await asyncio.Event().wait()
        raise AssertionError

    logged: asyncio.Event


def test_an_act_that_was_logged_but_not_answered_for_is_logged_once(server: NatsServer) -> None:
    address = server.address()

    async def main() -> None:
        first = DiesAfterLogging(admission=TinyAdmission(), now=Ticks())
        first.logged = asyncio.Event()
        with NatsThread(address) as guests:
            waiting = asyncio.create_task(guest(guests, said("-", "halt"), "act"))
            with NatsThread(address) as nats:
                pump = NatsPump(nats, 1, first, decode_body)
                await first.logged.wait()
                # Its log is the next one's, which the crash left as it was.
                await pump.close()
            log = [envelope async for envelope in first.read()]
            assert [envelope.id for envelope in log] == ["act"]
            with NatsThread(address) as nats:
                pump = NatsPump(nats, 2, _Heir(first), decode_body)
                assert (await waiting)["status"] == "duplicate"
                await pump.close()
            assert first.head.seq == 1

    asyncio.run(main())


class _Heir:
    """Goes on with the log of a bus."""

    def __init__(self, bus: InMemoryBus) -> None:
        self._bus = bus

    async def publish(self, draft: Draft) -> Receipt:
        return await InMemoryBus.publish(self._bus, draft)


def test_what_the_log_cannot_take_now_is_handed_over_again(nats: NatsThread) -> None:
    class Full(InMemoryBus):
        refusals = 2

        async def publish(self, draft: Draft) -> Receipt:
            if self.refusals:
                self.refusals -= 1
                raise StorageError("full")
            return await super().publish(draft)

    async def scenario(bus: Bus) -> None:
        assert (await guest(nats, said("-"), "g1"))["status"] == "accepted"

    play(nats, scenario, Full(admission=TinyAdmission(), now=Ticks()))


def test_a_leader_of_the_past_hands_out_nothing(server: NatsServer) -> None:
    address: NatsAddress = server.address()

    class Past(InMemoryBus):
        async def publish(self, draft: Draft) -> Receipt:
            raise BusClosed("it is not asked")

    async def main() -> None:
        with NatsThread(address) as new, NatsThread(address) as old:
            bus = new_bus()
            leads = NatsPump(new, 7, bus, decode_body)
            assert (await guest(new, said("-", "a"), "a"))["seq"] == 1
            led = NatsPump(old, 6, Past(admission=TinyAdmission(), now=Ticks()), decode_body)
            while not led._serving.done():
                await asyncio.sleep(0.01)
            assert led._serving.result() is None
            assert (await guest(new, said("-", "b"), "b"))["seq"] == 2
            await leads.close()
            await led.close()

    asyncio.run(main())


def test_a_leader_that_was_overtaken_takes_no_receipt_back(nats: NatsThread) -> None:
    draft = draft_to_json(said("-"))
    assert post(nats, draft, "g1", 0.0) is None

    async def work(connection: NatsConnection) -> None:
        inbox = await NatsInbox.open(connection)
        overtaken = await anext(inbox.take_over(1))
        posted = await anext(inbox.take_over(2))
        await inbox.answer(posted, {"status": "accepted", "seq": 1, "id": "g1"})
        with pytest.raises(StorageError):
            await inbox.answer(overtaken, {"status": "refused", "message": "who posts is not known here"})

    nats.wait(work)
    assert post(nats, draft, "g1", 60.0) == {"status": "accepted", "seq": 1, "id": "g1"}
