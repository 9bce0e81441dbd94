import asyncio

import pytest

from moot.channels.errors import BusClosed
from moot.channels.log.feed import FAIR, Feed, Reader
from moot.channels.log.sequencer import Sequencer
from tests.doubles.tiny import Ticks, TinyAdmission, said


def some(count):
    sequencer = Sequencer(TinyAdmission(), Ticks())
    return [sequencer.take(said(f"k{n}"))[1].envelope for n in range(count)]


def filled(count, **options):
    feed = Feed(**options)
    for envelope in some(count):
        feed.append(envelope)
    return feed


async def seqs(reader, count):
    return [(await anext(reader)).seq for _ in range(count)]


def suspensions(awaitable):
    """Run a coroutine by hand and count how often it lets go."""
    coroutine, count = awaitable, 0
    try:
        while True:
            coroutine.send(None)
            count += 1
    except StopIteration:
        return count


def test_a_reader_with_something_to_read_does_not_suspend():
    reader = Reader(filled(FAIR - 1), 1)
    assert suspensions(seqs(reader, FAIR - 2)) == 0


def test_a_reader_with_plenty_to_read_lets_go_now_and_then():
    reader = Reader(filled(FAIR * 3 + 1))
    assert suspensions(seqs(reader, FAIR * 3)) == 3


def test_a_window_drops_the_oldest_and_keeps_at_least_so_many():
    feed = Feed(window=10)
    for envelope in some(100):
        feed.append(envelope)
        assert min(10, envelope.seq) <= len(feed.items) <= 20
        assert feed.base + len(feed.items) == envelope.seq


def test_a_reader_behind_the_window_reads_pages_then_memory():
    log = some(60)
    asked = []

    async def page(first):
        asked.append(first)
        return log[first - 1 : first + 3]

    feed = Feed(window=10, page=page)
    for envelope in log:
        feed.append(envelope)
    assert asyncio.run(seqs(Reader(feed, 2), 58)) == list(range(3, 61))
    assert asked[:3] == [3, 7, 11]
    assert max(asked) <= feed.base


async def test_a_window_that_moves_on_meanwhile_loses_nothing():
    log = some(80)

    async def page(first):
        await asyncio.sleep(0)
        return log[first - 1 : first + 3]

    feed = Feed(window=5, page=page)
    slow = asyncio.create_task(seqs(Reader(feed), 80))
    for envelope in log:
        feed.append(envelope)
        feed.wake()
        if envelope.seq % 3 == 0:
            await asyncio.sleep(0)
    assert await slow == list(range(1, 81))


async def test_those_who_wait_are_woken_in_the_order_in_which_they_began_to_wait():
    feed, order = Feed(), []

    async def wait(name):
        await feed.wait()
        order.append(name)

    async with asyncio.TaskGroup() as group:
        for name in "cab":
            group.create_task(wait(name))
        await asyncio.sleep(0)
        feed.wake()
    assert order == ["c", "a", "b"]


async def test_waiters_that_give_up_leave_nothing_behind():
    feed = Feed()
    reader = Reader(feed)
    for _ in range(50):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(reader), 0)
        task = asyncio.create_task(anext(reader))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert not feed._waiting


async def test_a_closed_feed_ends_where_nothing_fetches_what_is_behind():
    async def page(first):
        raise BusClosed("gone")

    feed = Feed(window=2, page=page)
    for envelope in some(20):
        feed.append(envelope)
    feed.close()
    behind, near = Reader(feed), Reader(feed, 18)
    assert [e.seq async for e in behind] == []
    assert behind.cursor == 0
    assert [e.seq async for e in near] == [19, 20]


async def test_a_reader_may_wait_beyond_the_end():
    feed = Feed()
    task = asyncio.create_task(seqs(Reader(feed, 3), 2))
    for envelope in some(5):
        feed.append(envelope)
        feed.wake()
        await asyncio.sleep(0)
    assert await task == [4, 5]
