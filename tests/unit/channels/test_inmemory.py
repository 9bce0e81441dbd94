import asyncio

import pytest

from moot.channels.errors import BusClosed
from moot.channels.log.inmemory import BURST, InMemoryBus
from tests.doubles.tiny import Ticks, TinyAdmission, said


def test_entries_stream_out_in_order_after_the_fold():
    seen = []
    bus = InMemoryBus(
        admission=TinyAdmission(), now=Ticks(), on_entry=lambda e: seen.append(("out", e.envelope.seq))
    )
    bus.on_append = lambda envelope: seen.append(("fold", envelope.seq))

    async def main():
        await bus.publish(said("a"))
        await bus.publish(said("a"))
        await bus.publish(said("b"))

    asyncio.run(main())
    assert seen == [("fold", 1), ("out", 1), ("fold", 2), ("out", 2)]


async def test_a_stream_out_that_fails_stops_the_bus():
    def out(entry):
        raise OSError("disk full")

    bus = InMemoryBus(admission=TinyAdmission(), now=Ticks(), on_entry=out)

    with pytest.raises(OSError, match="disk full"):
        await bus.publish(said("a"))
    with pytest.raises(BusClosed):
        await bus.publish(said("b"))


def test_publishing_suspends_at_every_sixty_fourth_call_only():
    bus = InMemoryBus(admission=TinyAdmission(), now=Ticks())
    suspended = []
    for n in range(1, 3 * BURST + 1):
        coroutine = bus.publish(said(f"k{n}"))
        try:
            coroutine.send(None)
        except StopIteration:
            continue
        suspended.append(n)
        with pytest.raises(StopIteration):
            coroutine.send(None)
    assert suspended == [BURST, 2 * BURST, 3 * BURST]
