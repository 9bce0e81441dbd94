"""The bridge from the society's loop to the I/O thread: complete, in order, bounded, and in nobody's way."""

import asyncio
import threading
from contextlib import aclosing, asynccontextmanager, contextmanager
from datetime import UTC, datetime

import pytest
import structlog

from moot.channels.gateway.bridge import BusBridge
from moot.channels.gateway.client import LogStream
from moot.channels.gateway.guest import GuestHost
from moot.channels.gateway.link import Link
from moot.channels.gateway.protocol import HungUp, encode
from moot.channels.gateway.server import GatewayServer
from moot.channels.log.inmemory import InMemoryBus
from moot.guests import keep_feeding
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN
from tests.doubles.waiting import until

AT = datetime(2026, 2, 23, 10, tzinfo=UTC)


class Anything:
    """Rules that allow everything."""

    def admit(self, draft):
        return draft

    def mint(self, draft, _sent_at):
        return draft.body


@contextmanager
def io_thread():
    """Run an ordinary loop on a thread of its own, as the society's I/O thread does."""
    started = threading.Event()
    made = {}

    async def live():
        made["loop"], made["stop"] = asyncio.get_running_loop(), asyncio.Event()
        started.set()
        await made["stop"].wait()

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    started.wait()
    try:
        yield made["loop"]
    finally:
        made["loop"].call_soon_threadsafe(made["stop"].set)
        thread.join()


@asynccontextmanager
async def bridged(**options):
    """A bus on this loop, and a bridge from it to another thread's loop."""
    bus = InMemoryBus(admission=Anything(), now=lambda: AT)
    with io_thread() as io_loop:
        bridge = BusBridge(bus, io_loop, **options)
        running = asyncio.create_task(bridge.run())
        try:
            yield bus, bridge, io_loop
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await bus.close()


async def say(bus, n, text="hello"):
    for _ in range(n):
        seq = bus.head.seq + 1
        await bus.publish(
            Draft(channel="#admin", author=ADMIN, body=Note(text=f"{text} {seq}"), key=f"m{seq}")
        )


async def read(bridge, cursor, n):
    lines = []
    news = bridge.subscribe(cursor)
    async for batch in news:
        lines += batch
        if len(lines) >= n:
            break
    await news.aclose()
    return lines


def on(io_loop, work):
    return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, io_loop))


@pytest.mark.parametrize("ring", [1, 16, 4096])
async def test_every_guest_gets_every_line_once_and_in_order_whatever_the_ring_holds(ring):
    async with bridged(ring=ring, page=7) as (bus, bridge, io_loop):
        await say(bus, 50)
        reading = [on(io_loop, read(bridge, cursor, 500 - cursor)) for cursor in (0, 30, 50, 200)]
        for _ in range(45):
            await say(bus, 10)
            await asyncio.sleep(0)
        expected = [envelope.line async for envelope in bus.read()]
        assert len(expected) == 500
        for cursor, lines in zip((0, 30, 50, 200), await asyncio.gather(*reading), strict=True):
            assert lines == expected[cursor:]
        assert bridge.head == 500


@pytest.mark.parametrize("ring", [64, 2_048])
async def test_a_stuck_io_thread_neither_delays_the_society_nor_grows(ring):
    async with bridged(ring=ring) as (bus, bridge, io_loop):
        await say(bus, 400)
        await until(lambda: bridge.head == 400)
        go_on = threading.Event()
        io_loop.call_soon_threadsafe(go_on.wait)
        await say(bus, 4_600)
        assert bus.head.seq == 5_000
        assert bridge.head == 400
        assert len(bridge._arriving) <= ring
        readings = [on(io_loop, read(bridge, cursor, 5_000 - cursor)) for cursor in (0, 390)]
        go_on.set()
        expected = [envelope.line async for envelope in bus.read()]
        assert await asyncio.gather(*readings) == [expected, expected[390:]]


async def test_an_overflow_leaves_no_hole_and_long_arrivals_let_others_run():
    bus = InMemoryBus(admission=Anything(), now=lambda: AT)
    bridge = BusBridge(bus, asyncio.get_running_loop(), ring=2_000)
    await say(bus, 3_000)
    envelopes = [envelope async for envelope in bus.read()]
    bridge._arriving.extend(envelopes[:400])
    bridge._arrive()
    bridge._arriving.extend(envelopes[1_000:])  # 401 to 1000 found no room
    bridge._arrive()
    assert 1_000 < bridge.head < 3_000
    async with aclosing(bridge.subscribe(800)) as news:
        assert (await anext(news))[0] == envelopes[800].line
    await until(lambda: bridge.head == 3_000)
    await bus.close()


@asynccontextmanager
async def served(bridge, io_loop, directory):
    """Serve the bridge on a socket, from the I/O thread; yields the socket's path."""

    async def publish(_draft, _key):
        raise AssertionError("nobody publishes")

    ready = asyncio.Event()
    tell = asyncio.get_running_loop().call_soon_threadsafe
    server = GatewayServer(GuestHost(log_id="log", source=bridge, publish=publish), data_dir=directory)
    serving = asyncio.run_coroutine_threadsafe(server.serve(lambda _path: tell(ready.set)), io_loop)
    await ready.wait()
    try:
        yield directory / "gateway.sock"
    finally:
        serving.cancel()
        await until(lambda: not (directory / "gateway.sock").exists())


def test_a_guest_that_reads_nothing_costs_the_society_a_few_pages(tmp_path):
    async def main():
        async with bridged(ring=64, page=50) as (bus, bridge, io_loop):
            pages = 0
            read_page = bridge._read

            async def counting(first, last):
                nonlocal pages
                pages += 1
                return await read_page(first, last)

            bridge._read = counting
            await say(bus, 5_000, "x" * 1_000)
            async with served(bridge, io_loop, tmp_path) as path:
                stuck = await Link.open(path)
                await stuck.send(encode("subscribe", cursor=0))
                async with aclosing(LogStream(lambda: path, "log")(0)) as news:
                    got = 0
                    async for lines in news:
                        got += len(lines)
                        if got == 5_000:
                            break
                stuck.close()
            assert 95 <= pages < 125

    asyncio.run(main())


def test_a_bridge_whose_bus_cannot_be_read_goes_on_where_it_was_when_it_can():
    async def main():
        bus = InMemoryBus(admission=Anything(), now=lambda: AT)
        subscribe, begun, pauses = bus.subscribe, [], []

        class Breaking:
            def __init__(self, cursor):
                begun.append(cursor)
                self.inner = subscribe(cursor)

            async def __aiter__(self):
                n = 0
                async for envelope in self.inner:
                    if n == 3 and len(begun) < 4:
                        raise OSError("the disk has gone")
                    n += 1
                    yield envelope

            def close(self):
                self.inner.close()

        async def pause():
            pauses.append(1)

        bus.subscribe = Breaking
        with io_thread() as io_loop:
            bridge = BusBridge(bus, io_loop)
            feeding = asyncio.create_task(keep_feeding(bridge, pause))
            await say(bus, 20)
            lines = await asyncio.wait_for(on(io_loop, read(bridge, 0, 20)), 60)
            assert [*lines] == [envelope.line async for envelope in bus.read(1, 20)]
            assert begun == [0, 3, 6, 9] and len(pauses) == 3
            await bus.close()
            await asyncio.wait_for(feeding, 60)

    with structlog.testing.capture_logs() as said:
        asyncio.run(main())
    assert {line["why"] for line in said} == {"OSError: the disk has gone"}


def test_work_from_the_io_thread_runs_on_the_societys_loop_until_that_is_gone():
    made = {}

    async def society(io_loop):
        bus = InMemoryBus(admission=Anything(), now=lambda: AT)
        made["bridge"] = bridge = BusBridge(bus, io_loop)

        async def which():
            return asyncio.get_running_loop()

        assert await on(io_loop, bridge.on_society(which)) is asyncio.get_running_loop()
        await bus.close()

    with io_thread() as io_loop:
        asyncio.run(society(io_loop))

        async def never():
            raise AssertionError

        async def ask():
            with pytest.raises(HungUp, match="the society has ended"):
                await made["bridge"].on_society(never)

        asyncio.run_coroutine_threadsafe(ask(), io_loop).result(10)
