"""How far Slack was heard, and what was acknowledged and not done, across crashes."""

import asyncio

from moot.channels.slack.events import Heard, Where, order
from moot.channels.slack.journal import MOST, Journal
from moot.channels.slack.marks import MOST_THREADS, OVERLAP_S, Marks
from tests.doubles.surface_memory import SurfaceMemory

ROOMS = (("#a-arena", "C1"),)


def at(seconds):
    return f"{1_700_000_000 + seconds}.000100"


def marks(memory):
    return Marks(ROOMS, memory)


async def test_a_mark_is_there_after_a_crash_and_reads_a_minute_back_without_repeating():
    memory = SurfaceMemory()

    first = marks(memory)
    assert await first.since("#a-arena", "C1") is None
    await first.begin("#a-arena", [at(0)])
    await first.heard("#a-arena", at(100))
    again = marks(memory)
    since = await again.since("#a-arena", "C1")
    assert order(since)[0] == order(at(100))[0] - OVERLAP_S
    assert again.is_known("#a-arena", at(100))
    assert not again.is_known("#a-arena", at(99))


async def test_what_was_there_before_the_first_start_is_known_and_not_handed_in():
    memory = SurfaceMemory()

    await marks(memory).begin("#a-arena", [at(0), at(-5)])
    again = marks(memory)
    await again.since("#a-arena", "C1")
    assert again.is_known("#a-arena", at(-5))


async def test_while_a_gap_is_open_live_messages_do_not_move_the_written_mark():
    memory = SurfaceMemory()

    found = marks(memory)
    await found.begin("#a-arena", [at(0)])
    found.open("#a-arena")
    await found.heard("#a-arena", at(100))
    assert memory.texts["seen/#a-arena"] == f"C1/{at(0)}"
    await found.close("#a-arena", at(50))
    assert memory.texts["seen/#a-arena"] == f"C1/{at(100)}"


async def test_a_channel_made_anew_begins_anew():
    memory = SurfaceMemory()

    await marks(memory).begin("#a-arena", [at(0)])
    assert await marks(memory).since("#a-arena", "C2") is None


async def test_our_own_messages_move_the_written_mark_now_and_then():
    memory = SurfaceMemory()

    found = marks(memory)
    await found.begin("#a-arena", [at(0)])
    await found.heard("#a-arena", at(10), is_ours=True)
    assert memory.texts["seen/#a-arena"] == f"C1/{at(0)}"
    await found.heard("#a-arena", at(70), is_ours=True)
    assert memory.texts["seen/#a-arena"] == f"C1/{at(70)}"


async def test_the_threads_used_last_are_remembered():
    memory = SurfaceMemory()

    found = marks(memory)
    for n in range(MOST_THREADS + 5):
        await found.posted("#a-arena", at(n))
    assert await marks(memory).threads("#a-arena") == [at(n) for n in range(5, MOST_THREADS + 5)]
    memory.texts["threads/#a-arena"] = "garbage"
    assert await marks(memory).threads("#a-arena") == []


def heard(n):
    return Heard(f"C1/{n}", Where("C1", "U1", at(n)), "#a-arena", "command", {"text": "x"})


async def test_the_journal_keeps_what_is_open_and_forgets_what_is_done():
    memory = SurfaceMemory()

    journal = Journal(memory)
    await asyncio.gather(*(journal.add(heard(n)) for n in range(5)))
    await asyncio.gather(*(journal.done(heard(n)) for n in (1, 3)))
    assert await Journal(memory).load() == [heard(0), heard(2), heard(4)]
    memory.texts["open"] = '[{"key": 1}]'
    assert await Journal(memory).load() == []


async def test_a_flood_does_not_make_the_journal_endless():
    memory = SurfaceMemory()

    journal = Journal(memory)
    await asyncio.gather(*(journal.add(heard(n)) for n in range(MOST + 10)))
    assert len(await Journal(memory).load()) == MOST
