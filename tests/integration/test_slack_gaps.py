"""What was missed, where Slack does not let history be read at once, and where it is very much."""

import asyncio

import pytest
from structlog.testing import capture_logs

from moot.channels.backoff import Backoff
from moot.channels.slack import catching_up
from moot.channels.slack.catching_up import Reader
from moot.channels.slack.events import order
from moot.channels.slack.gaps import Gaps
from moot.channels.slack.marks import Marks
from moot.channels.slack.rooms import Rooms
from moot.channels.slack.web import Web
from moot.channels.surface import SurfaceDown
from moot.channels.turns import settle
from tests.doubles.live_slack import Society, living, posting, slack_server
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(catching_up, "PATIENT", Backoff(first_s=0.02))
    with slack_server(monkeypatch) as running:
        yield running


def asked(server, method):
    return sum(call.method == method for call in server.calls)


async def away(server, memory):
    """Run once, with a thread of ours, and end."""
    async with living(server, memory=memory) as surface:
        root = await surface.post(posting(SmallLog().say("x", case_id="hyp_1")))
        await until(lambda: surface.is_caught_up)
    return root


@pytest.mark.parametrize("method", ["conversations.history", "conversations.replies"])
@pytest.mark.parametrize("code", ["internal_error", "fatal_error", "service_unavailable", "a_new_reason"])
def test_what_slack_refuses_to_show_for_a_while_is_read_afterwards(server, method, code):
    memory, society = SurfaceMemory(), Society()

    async def scene():
        root = await away(server, memory)
        missed = [
            server.person_writes("ana", "a-arena", "missed"),
            server.person_writes("bob", "a-arena", "in its thread", reply_to=root),
        ]
        refusals = server.faults.add(method, 100_000, "error", code=code)
        async with living(server, society, memory):
            # More than the readings that a start asks for by itself, of every channel.
            await until(
                lambda: refusals.hits >= (40 if method.endswith("history") and code == "a_new_reason" else 4)
            )
            server.faults.clear()
            await until(lambda: all(map(server.replies, missed)), within_s=40.0)

    asyncio.run(scene())
    assert sorted(map(str, society.texts)) == ["in its thread", "missed"]


@pytest.mark.parametrize("code", ["internal_error", "is_archived", "a_new_reason"])
def test_what_comes_in_live_does_not_move_the_mark_of_a_channel_that_cannot_be_read(server, code):
    memory, society = SurfaceMemory(), Society()

    async def scene():
        await away(server, memory)
        mark = await memory.get("seen/#a-arena")
        server.person_writes("ana", "a-arena", "missed")
        refusals = server.faults.add("conversations.history", 100_000, "error", code=code)
        async with living(server, society, memory) as surface:
            await until(lambda: refusals.hits >= 1)
            if code != "internal_error":
                await until(lambda: surface.is_caught_up)
            live = server.person_writes("ana", "a-arena", "live")
            await until(lambda: server.replies(live))
            assert await memory.get("seen/#a-arena") == mark
            server.faults.clear()
            await until(
                lambda: "missed" in society.texts and memory.texts["seen/#a-arena"] != mark, within_s=40.0
            )

    asyncio.run(scene())
    assert sorted(map(str, society.texts)) == ["live", "missed"]


def test_that_a_channel_cannot_be_read_is_said_once_and_tried_on(server):
    memory = SurfaceMemory()

    async def scene():
        await away(server, memory)
        server.faults.add("conversations.history", 40, "error", code="a_new_reason")
        before = asked(server, "conversations.history")
        async with living(server, memory=memory):
            await until(lambda: asked(server, "conversations.history") >= before + 40, within_s=40.0)

    with capture_logs() as lines:
        asyncio.run(scene())
    told = [line["channel"] for line in lines if line["event"] == "slack history not read"]
    assert told
    assert len(told) == len(set(told))


def test_a_fault_of_slacks_at_the_first_start_is_told_for_nothing_may_begin_unmarked(server):
    server.faults.add("conversations.history", 1, "error", code="internal_error")

    async def scene():
        async with living(server):
            pass

    with pytest.raises(SurfaceDown, match="a fault of its own"):
        asyncio.run(scene())


@pytest.mark.parametrize("most_kept", [7, 200, 450, 5_000])
def test_however_much_was_missed_all_of_it_is_handed_in_the_oldest_first(server, most_kept):
    memory, taken, held = SurfaceMemory(), [], []
    server.faults.events("drop", 100_000)
    root = server.person_writes("ana", "a-arena", "0")
    said = [root, *[server.person_writes("ana", "a-arena", str(n)) for n in range(1, 450)]]
    replies = [server.person_writes("bob", "a-arena", "reply", reply_to=root) for _ in range(30)]

    class Counting(Reader):
        async def _hand_in(self, channel, room, found):
            held.append(len(found))
            await super()._hand_in(channel, room, found)

    async def take(_room, message):
        taken.append(message["ts"])

    async def scene():
        async with Web(server.api, server.bot_token) as web:
            rooms = Rooms(web.client, "", memory)
            await rooms.find()
            room = dict(rooms)["#a-arena"]
            await memory.put("seen/#a-arena", f"{room}/1.000000")
            marks = Marks(rooms, memory)
            gaps = Gaps(rooms, marks, Counting(web.client, marks, take, most_kept=most_kept))
            await gaps.begin()
            gaps.want()
            reading = asyncio.create_task(gaps.run())
            await until(lambda: gaps.is_caught_up, within_s=40.0)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            mark = await memory.get("seen/#a-arena")
        await settle()
        return mark

    mark = asyncio.run(scene())
    top = [one.partition("/")[2] for one in said]
    in_thread = [one.partition("/")[2] for one in replies]
    assert sorted(taken) == sorted([*top, *in_thread])
    assert [ts for ts in taken if ts in set(top)] == top
    assert [ts for ts in taken if ts in set(in_thread)] == in_thread
    assert max(held) <= 2 * most_kept
    assert mark.partition("/")[2] == max(top, key=order)
