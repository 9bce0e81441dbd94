"""Bad luck: lost connections, repeated deliveries, slow answers and crashes against the Slack surface."""

import asyncio
import time

import pytest
import structlog

from moot.channels.surface import ActReply, PostRefused, SurfaceDown
from tests.doubles.slack_scenes import (
    BUTTONS,
    NASTY,
    Society,
    by_http,
    mirrored,
    one_line,
    posting,
    read,
    workspace,
)
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until


@pytest.fixture
def server(monkeypatch):
    with workspace(monkeypatch) as server:
        yield server


def test_what_is_delivered_twice_or_out_of_order_is_handed_in_once(server):
    async def scene():
        async with mirrored(server) as (_, society):
            server.faults.events("duplicate", 3)
            server.person_writes("ana", "a-arena", "one")
            server.person_writes("ana", "a-arena", "@moot status")
            server.person_commands("ana", "admin", "/moot", "halt")
            server.faults.events("reorder", 4)
            for n in range(4):
                server.person_writes("ana", "a-arena", f"n{n}")
            server.person_writes("zoe", "admin", "the end")
            await until(lambda: len(society.acts) >= 8)
            server.settle()
            return sorted(society.texts)

    assert asyncio.run(scene()) == sorted(["one", "/status", "/halt", "n0", "n1", "n2", "n3", "the end"])


def test_what_could_not_be_written_down_is_not_acknowledged_and_comes_again(server):
    class Full(SurfaceMemory):
        fails = 0

        async def put(self, key, value):
            if key == "open" and value != "[]" and self.fails:
                self.fails -= 1
                raise OSError("no space left")
            await super().put(key, value)

    memory = Full()
    server.courier.redeliver_after_s = 0.2

    async def scene():
        async with mirrored(server, memory) as (_, society):
            await read(server, memory)
            memory.fails = 1
            # Not in the history, so that it cannot come in by that way.
            room, who, ts = server.channel("a-arena").id, server.user_id("ana"), "1795000000.000100"
            name = server.publish({"type": "message", "channel": room, "user": who, "text": "note", "ts": ts})
            await until(lambda: society.acts)
            await until(lambda: server.delivery(name).is_over)
            return society.texts, len(server.delivery(name).attempts)

    assert asyncio.run(scene()) == (["note"], 2)


@pytest.mark.parametrize(
    "raw",
    [
        "not json", "[]", "{", '"x"', "{}", "null", '{"type": "events_api"}', "\u0000",
        '{"type": "events_api", "envelope_id": "e", "payload": {}}',
        '{"type": "events_api", "envelope_id": "e", "payload": {"event": null, "type": "event_callback"}}',
        '{"type": "events_api", "envelope_id": "e", "payload": {"event": {"type": "message"}}}',
        '{"type": "events_api", "envelope_id": "e", "payload": {"event": {"type": "message", "channel": 7}}}',
        '{"type": "events_api", "envelope_id": "e", "payload": {"event": {"type": {}, "text": []}}}',
        '{"type": "events_api", "envelope_id": ["e"], "payload": {"event": {"type": "message", "user": {}}}}',
        '{"type": "interactive", "envelope_id": "e", "payload": {"type": "block_actions", "actions": [7]}}',
        '{"type": "interactive", "envelope_id": "e", "payload": {"type": "view_submission", "view": {}}}',
        '{"type": "slash_commands", "envelope_id": "e", "payload": {"command": "/moot"}}',
        '{"type": "nonsense", "envelope_id": "e", "payload": 7}',
        '{"type": "hello"}', '{"type": "disconnect", "reason": "nonsense"}',
    ],
)  # fmt: skip
def test_nonsense_on_the_connection_ends_nothing(server, raw):
    async def scene():
        async with mirrored(server) as (surface, society):
            watching = asyncio.create_task(surface.watch())
            server.send_raw(raw)
            server.person_writes("ana", "a-arena", "still there?")
            await until(lambda: society.acts)
            assert not watching.done()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            return society.texts

    assert asyncio.run(scene()) == ["still there?"]


def test_our_own_messages_are_never_acts(server):
    async def scene():
        log = SmallLog()
        async with mirrored(server) as (surface, society):
            for n in range(3):
                await surface.post(posting(log, f"/halt {n}"))
            server.person_writes("zoe", "admin", "the end")
            await until(lambda: society.acts)
            server.settle()
            return society.texts

    assert asyncio.run(scene()) == ["the end"]


@pytest.mark.parametrize("how", ["refresh_requested", "warning", "too_many_websockets"])
def test_it_follows_when_slack_asks_for_a_new_connection(server, how):
    async def scene():
        async with mirrored(server) as (_, society):
            server.disconnect(how)
            await until(lambda: server.opened >= 2 and server.connections, within_s=50)
            server.person_writes("ana", "a-arena", "afterwards")
            await until(lambda: society.acts, within_s=50)
            server.settle()
            return society.texts

    assert asyncio.run(scene()) == ["afterwards"]


@pytest.mark.parametrize(
    ("how", "is_fresh"),
    [
        ("cut", True),
        ("cut", False),
        ("stale ticket", False),
        ("refused for a while", False),
        ("restart", False),
    ],
)
def test_what_was_said_while_the_connection_was_lost_is_handed_in(server, how, is_fresh):
    memory = SurfaceMemory()

    async def scene():
        async with mirrored(server, memory) as (_, society):
            if not is_fresh:
                await read(server, memory)
            if how == "stale ticket":
                server.faults.add("socket", 1, "status", status=408)
            elif how == "refused for a while":
                server.faults.add("apps.connections.open", 2, "status", status=503)
            server.faults.events("drop", 1)
            server.restart() if how == "restart" else server.cut()
            server.person_writes("ana", "a-arena", "meanwhile")
            await until(lambda: server.opened >= 2 and server.connections, within_s=50)
            server.person_writes("ana", "a-arena", "afterwards")
            await until(lambda: len(society.acts) >= 2, within_s=50)
            server.settle()
            return sorted(society.texts)

    assert asyncio.run(scene()) == ["afterwards", "meanwhile"]


def test_what_was_said_while_nobody_listened_is_handed_in_once_and_in_order(server):
    memory = SurfaceMemory()

    async def scene():
        log = SmallLog()
        async with mirrored(server, memory) as (surface, society):
            root = await surface.post(posting(log, "a case", thread="CASE-1"))
            server.person_writes("ana", "a-arena", "before")
            await until(lambda: society.acts)
            server.settle()
        server.person_writes("ana", "a-arena", "one")
        server.person_writes("bob", "a-arena", "two", reply_to=root)
        gone = server.person_writes("bob", "a-arena", "taken back")
        server.person_deletes(gone)
        server.person_writes("other", "a-arena", "a bot", is_bot=True)
        server.person_writes("ana", "a-arena", "three")
        server.settle()
        async with mirrored(server, memory) as (_, society):
            await until(lambda: len(society.acts) >= 3)
            server.person_writes("ana", "a-arena", "four")
            await until(lambda: "four" in society.texts)
            server.settle()
            return society.acts, root

    acts, root = asyncio.run(scene())
    assert [act.fields["text"] for act in acts] == ["one", "two", "three", "four"]
    assert acts[1].reply_to == root


def test_a_question_is_not_answered_again_when_slack_renews_the_connection_hours_later(server):
    memory = SurfaceMemory()

    async def scene():
        loop = asyncio.get_running_loop()
        ahead_s, real = [0.0], loop.time
        loop.time = lambda: real() + ahead_s[0]
        async with mirrored(server, memory) as (_, society):
            await read(server, memory)
            society.answer = lambda act: ActReply("All is well.")
            asked = server.person_writes("ana", "a-arena", "/status")
            await until(lambda: server.replies(asked))
            ahead_s[0] = 2 * 3600.0
            before = len([c for c in server.calls if c.method == "conversations.history"])
            opened = server.opened
            server.disconnect("refresh_requested")
            await until(lambda: server.opened > opened and server.connections, within_s=7300)
            wanted = before + len(server.workspace.channels)
            await until(
                lambda: len([c for c in server.calls if c.method == "conversations.history"]) >= wanted
            )
            server.person_writes("zoe", "admin", "the end")
            await until(lambda: "the end" in society.texts)
            server.settle()
            return society.texts, [reply.text for reply in server.replies(asked)]

    assert asyncio.run(scene()) == (["/status", "the end"], ["All is well."])


def test_a_backlog_of_several_pages_is_handed_in_once_and_in_order(server):
    memory = SurfaceMemory()

    async def scene():
        async with mirrored(server, memory):
            await read(server, memory)
        server.people_write("ana", "a-arena", *(f"n{n}" for n in range(410)))
        async with mirrored(server, memory) as (_, society):
            await until(lambda: len(society.acts) >= 410, within_s=60)
            return society.texts

    assert asyncio.run(scene()) == [f"n{n}" for n in range(410)]


def test_threads_are_read_to_the_end_although_slack_slows_the_reading_down(server):
    memory = SurfaceMemory()
    case = "CASE-{}"

    async def scene():
        log = SmallLog()
        rooms = ("#a-arena",)
        async with mirrored(server, memory) as (surface, society):
            await read(server, memory)
            roots = {
                room: [
                    await surface.post(posting(log, "root", room, thread=case.format(n))) for n in range(28)
                ]
                for room in rooms
            }
            # So many above them that the threads are far back.
            for room in rooms:
                server.people_write("ana", room, *(f"n{n}" for n in range(205)))
            server.workspace.ahead_s = 600.0
            for room in rooms:
                server.person_writes("ana", room, "much later")
            await until(lambda: len(society.acts) == 206 * len(rooms), within_s=60)
            server.settle()
        said = [server.person_writes("ana", room, "reply", reply_to=ids[-1]) for room, ids in roots.items()]
        server.settle()
        # Few calls are left, and few more come with every pause.
        server.limits.scale = 10.0
        server.limits.buckets["conversations.replies"] = (3.0, time.monotonic())
        async with mirrored(server, memory) as (_, society):
            for room in rooms:
                server.person_writes("ana", room, "live")
            await until(lambda: society.texts.count("reply") == len(said), within_s=40)
            return sorted(society.texts)

    assert asyncio.run(scene()) == ["live", "reply"]
    assert any(call.status == 429 for call in server.calls)


def test_people_whose_names_slack_will_not_say_hold_up_nobody(server):
    async def scene():
        async with mirrored(server) as (surface, society):
            message = await surface.post(posting(SmallLog(), "halt?", "#admin", buttons=BUTTONS))
            server.faults.add("users.info", 100, "delay", seconds=120)
            for n in range(12):
                server.person_writes(f"guest{n}", "a-arena", "hello")
            click = server.person_clicks("ana", message, "Acknowledge")
            await until(lambda: server.replies(click), within_s=50)
            return [act.kind for act in society.acts]

    assert "ack" in asyncio.run(scene())


@pytest.mark.parametrize(
    "text", [NASTY, NASTY * 300, "\n".join([NASTY] * 400), "", "x" * 50_000, "\u0000\n\n"]
)
@pytest.mark.parametrize("is_ok", [True, False])
def test_any_answer_is_told_plainly_and_to_nobody_else(server, text, is_ok):
    async def scene():
        async with mirrored(server) as (surface, society):
            society.answer = lambda act: ActReply(text, ok=is_ok)
            message = await surface.post(posting(SmallLog(), "halt?", "#admin", buttons=BUTTONS))
            names = [
                server.person_clicks("ana", message, "Acknowledge"),
                server.person_commands("ana", "admin", "/moot", "status"),
                server.person_writes("ana", "a-arena", "/status"),
            ]
            await until(lambda: all(server.replies(name) for name in names))
            return [server.replies(name) for name in names]

    for told in asyncio.run(scene()):
        assert [reply.is_ephemeral for reply in told] == [True]
    assert len(server.posts("a-arena")) == 0


def test_a_port_that_is_taken_is_told(server):
    async def scene():
        async with by_http(server) as (_, surface, _):
            with pytest.raises(SurfaceDown) as caught:
                async with mirrored(server, mode="http", port=surface.port):
                    pass
            return one_line(caught.value)

    assert "port" in asyncio.run(scene())


def test_no_ticket_of_a_connection_is_logged(server):
    async def scene():
        with structlog.testing.capture_logs() as logs:
            async with mirrored(server):
                server.faults.add("socket", 1, "status", status=408)
                server.cut()
                await until(lambda: server.opened >= 2 and server.connections, within_s=50)
            return str(logs)

    assert "ticket-" not in asyncio.run(scene())


def test_what_was_acknowledged_and_not_done_when_the_process_died_is_done_by_the_next(server):
    memory = SurfaceMemory()

    async def scene():
        dying = Society()
        dying.may_go_on.clear()
        async with mirrored(server, memory, dying) as (surface, _):
            message = await surface.post(posting(SmallLog(), "halt?", "#admin", buttons=BUTTONS))
            names = [
                server.person_clicks("ana", message, "Acknowledge"),
                server.person_commands("ana", "admin", "/moot", "halt now"),
                server.person_writes("ana", "a-arena", "note"),
            ]
            await until(lambda: all(server.acked_in_time(name) for name in names) and len(dying.acts) == 3)
        server.settle()
        async with mirrored(server, memory) as (_, society):
            await until(lambda: all(server.replies(name) for name in names))
            await read(server, memory)
            ids = {act.platform_message_id for act in society.acts}
            return ids == {act.platform_message_id for act in dying.acts}, len(society.acts)

    assert asyncio.run(scene()) == (True, 3)


def test_a_message_that_slack_never_delivered_is_found_after_a_restart_though_a_later_one_came(server):
    memory, first, second = SurfaceMemory(), Society(), Society()

    async def scene():
        async with mirrored(server, memory, first) as (surface, _):
            await until(lambda: surface.is_caught_up)
            server.faults.events("drop", 1)
            server.person_writes("ana", "a-arena", "lost on the way")
            server.person_writes("ana", "a-arena", "arrived")
            await until(lambda: "arrived" in first.texts)
            server.settle()
        assert first.texts == ["arrived"]
        async with mirrored(server, memory, second):
            await until(lambda: second.texts)

    asyncio.run(scene())
    assert second.texts == ["lost on the way"]


@pytest.mark.parametrize(
    "code", ["is_archived", "msg_too_long", "invalid_blocks", "restricted_action", "no_such_code"]
)
def test_what_slack_refuses_is_told_in_one_line_and_is_surely_not_posted(server, code):
    server.faults.add("chat.postMessage", 1, "error", code=code)

    async def scene():
        async with mirrored(server) as (surface, _):
            item = posting(SmallLog())
            with pytest.raises((SurfaceDown, PostRefused)) as caught:
                await surface.post(item)
            assert not getattr(caught.value, "maybe_posted", False)
            await surface.post(item)
            return one_line(caught.value)

    asyncio.run(scene())
    assert len(server.posts("a-arena")) == 1
