"""A gap of many pages on Discord: read a page at a time, and gone on with where it was cut."""

import asyncio

import pytest

from tests.doubles.discord_faults import DROP_BEFORE, LOSE
from tests.doubles.discord_server import DiscordServer
from tests.doubles.on_discord import Inbox, posting, started, until, with_channels
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory

CASE = "hyp_20260223_1018"
GAP = 450
"""Words that were missed: two thirds of them in the channel, four pages; the others in a thread, two pages."""


@pytest.fixture
def server():
    with DiscordServer() as running:
        yield with_channels(running)


@pytest.fixture
def memory():
    return SurfaceMemory()


class Minded(Inbox):
    """An intake that does something before it takes a certain message."""

    def __init__(self, **before):
        super().__init__()
        self._before = {text.replace("_", " "): then for text, then in before.items()}

    async def __call__(self, act):
        if (then := self._before.get(act.fields["text"])) is not None:
            await then()
        return await super().__call__(act)


async def a_gap(server, memory):
    """Have the surface listen once and end; then have things said in a channel and its thread by turns."""
    log = SmallLog()
    async with started(server, Inbox(), memory) as surface:
        root = await surface.post(posting(log, "a case", thread=CASE))
        await surface.post(posting(log, "more", thread=CASE, root=root))
        id = server.person_writes("ana", "a-arena", "before")
        await until(lambda: server.replies(id))
    thread = root.split("/")[1]
    for n in range(GAP):
        server.person_writes("ana", "a-arena", f"words {n}", thread=thread if n % 3 == 2 else None)
    return thread


def pages_read(server, thread):
    """Count the calls for the history of the channel and its thread that came not too soon for the rate limit."""
    paths = {f"/channels/{id}/messages" for id in (server.channel_id("a-arena"), thread)}
    return sum(call.status != 429 and call.method == "GET" and call.path in paths for call in server.calls)


WANTED = [f"words {n}" for n in range(GAP)]


def test_a_gap_of_many_pages_is_handed_in_while_it_is_read(server, memory):
    read_at_first = []

    async def main():
        thread = await a_gap(server, memory)
        before = pages_read(server, thread)

        async def look():
            read_at_first.append(pages_read(server, thread) - before)

        inbox = Minded(words_0=look)
        async with started(server, inbox, memory):
            await until(lambda: len(inbox.acts) >= GAP)
            last = server.person_writes("ana", "a-arena", "last")
            await until(lambda: server.replies(last))
        assert inbox.texts == [*WANTED, "last"]
        assert pages_read(server, thread) - before == 6

    asyncio.run(main())
    assert read_at_first == [2]


async def test_a_gap_whose_reading_is_cut_goes_on_from_there(server, memory):
    thread = await a_gap(server, memory)
    before = pages_read(server, thread)

    async def cut():
        server.faults.add(f"GET /channels/{server.channel_id('a-arena')}/messages", 2, DROP_BEFORE)

    inbox = Minded(words_250=cut)
    async with started(server, inbox, memory):
        await until(lambda: len(inbox.acts) >= GAP)
        last = server.person_writes("ana", "a-arena", "last")
        await until(lambda: server.replies(last))
    assert inbox.texts == [*WANTED, "last"]
    # Six as ever and the two that were cut, one page less far each time, and not all from the beginning.
    assert pages_read(server, thread) - before <= 6 + 2 + 2


async def test_a_gap_over_which_the_process_ends_goes_on_in_the_next(server, memory):
    came = asyncio.Event()

    async def never():
        came.set()
        await asyncio.Event().wait()

    thread = await a_gap(server, memory)
    first = Minded(words_250=never)
    async with started(server, first, memory):
        await came.wait()
    before = pages_read(server, thread)
    second = Inbox()
    async with started(server, second, memory):
        await until(lambda: len(first.acts) + len(second.acts) >= GAP)
        last = server.person_writes("ana", "a-arena", "last")
        await until(lambda: server.replies(last))
    assert [*first.texts, *second.texts] == [*WANTED, "last"]
    assert pages_read(server, thread) - before <= 4


async def test_what_is_said_in_a_thread_that_was_read_already_is_not_passed_over(server, memory):
    """Its event is lost, the channel's reading passes it by, and then the process ends."""

    thread = await a_gap(server, memory)

    async def say_more():
        server.faults.add("GATEWAY MESSAGE_CREATE", None, LOSE)
        server.person_writes("ana", "a-arena", "in the thread", thread=thread)
        server.person_writes("ana", "a-arena", "in the channel")

    # The thread's last page is there by then, the channel's is not.
    first = Minded(words_440=say_more)
    async with started(server, first, memory):
        await until(lambda: len(first.acts) > GAP)
    assert first.texts == [*WANTED, "in the channel"]
    server.faults.clear()
    second = Inbox()
    async with started(server, second, memory):
        await until(lambda: "in the thread" in second.texts)
