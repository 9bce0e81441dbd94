import asyncio
import gc
import json
import os
import socket
import sqlite3
import stat
import threading
import warnings
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
import structlog

from moot.channels.bus import Receipt
from moot.channels.errors import Refused
from moot.channels.gateway import address
from moot.channels.gateway.client import LogStream
from moot.channels.gateway.guest import GuestHost
from moot.channels.gateway.intake import Intake
from moot.channels.gateway.link import Link, LogReplaced, SocietyAway
from moot.channels.gateway.process import Mirroring, run_gateway
from moot.channels.gateway.protocol import GatewayError, HungUp, decode, encode, envelope_frame, envelope_line
from moot.channels.gateway.server import GatewayServer
from moot.channels.guests.inbox import accepted
from moot.channels.outbox.store import Mirrored, OutboxStore
from moot.channels.surface import ActReply, InboundAct, PlatformMessageId, SurfaceConfigError
from moot.channels.terminal import TerminalSurface
from moot.clock import IoThread, RealClock
from moot.clock.errors import WallTimeout
from moot.protocols.kernel.errors import Forbidden
from moot.protocols.kernel.seats import ADMIN, VIEWER
from tests.doubles.hosting import QUICK, asking, hosting
from tests.doubles.small_log import SmallLog
from tests.doubles.waiting import until


async def collect(stream, n):
    lines = []
    async for batch in stream:
        lines += batch
        if len(lines) >= n:
            await stream.aclose()
            return lines


def stream(data_dir, cursor=0, log_id="log"):
    return LogStream(lambda: address.find(data_dir), log_id, backoff=QUICK)(cursor)


async def test_a_guest_reads_the_log_from_its_cursor_and_what_comes(tmp_path):
    async with hosting(tmp_path) as log:
        for n in range(20):
            log.say(f"größer {n}")
        reading = asyncio.create_task(collect(stream(tmp_path, 5), 16))
        await asyncio.sleep(0)
        log.say("late")
        assert await reading == [envelope.line for envelope in log.envelopes[5:]]


async def test_the_stream_goes_on_where_it_was_when_the_society_restarts(tmp_path):
    log = SmallLog()
    news = stream(tmp_path)
    for n in range(5):
        async with hosting(tmp_path, log):
            log.say(str(n))
            assert await anext(news) == [log.envelopes[-1].line]
    await news.aclose()


@pytest.mark.parametrize(("log_id", "cursor"), [("other", 0), ("log", 3)])
async def test_a_replaced_or_shortened_log_is_noticed(tmp_path, log_id, cursor):
    async with hosting(tmp_path) as log:
        log.say("x")
        with pytest.raises(LogReplaced):
            await anext(stream(tmp_path, cursor, log_id))


async def test_a_society_that_falls_silent_counts_as_gone(tmp_path):
    async with hosting(tmp_path, heartbeat_s=3600.0):
        link = await Link.open(address.find(tmp_path))
        link.welcome = link.welcome.__class__("log", 0, 0.005)
        with pytest.raises(HungUp, match="fell silent"):
            await link.receive()
        link.close()
    async with hosting(tmp_path, heartbeat_s=0.1):
        link = await Link.open(address.find(tmp_path))
        for _ in range(2):
            assert decode((await link.receive())[0])["op"] == "beat"
        link.close()


async def test_a_slow_guest_holds_up_neither_the_society_nor_other_guests(tmp_path):
    async with hosting(tmp_path, SmallLog(batch=100)) as log:
        slow = await Link.open(address.find(tmp_path))
        await slow.send(encode("subscribe", cursor=0))
        for _ in range(3_000):
            log.say("x" * 2_000)
        assert len(await collect(stream(tmp_path), 3_000)) == 3_000
        slow.close()


def test_a_guest_that_says_goodbye_and_then_reads_what_is_left_gets_it_without_a_fuss(tmp_path):
    troubles = []

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: troubles.append(context))
        log = SmallLog(batch=100)
        for _ in range(600):
            log.say("x" * 10_000)
        async with hosting(tmp_path, log):
            reader, writer = await asyncio.open_unix_connection(str(address.find(tmp_path)), limit=1_000)
            writer.write(encode("hello", version=1) + encode("subscribe", cursor=0))
            await until(lambda: reader._paused)
            writer.write_eof()
            assert len(await reader.read()) > 100_000
            writer.close()
            await writer.wait_closed()
            gc.collect()

    asyncio.run(main())
    assert troubles == []


def test_requests_are_answered_and_drafts_get_their_receipts(tmp_path):
    asked = []
    reported = []

    async def ask(question, args):
        asked.append((question, args))
        return "all is well"

    async def report(event):
        reported.append(event)

    async def main():
        async with hosting(tmp_path, ask=ask, report=report) as log, asking(tmp_path) as requests:
            await requests.connected()
            draft = draft_json("hi")
            first = await requests.publish(draft, "fake/1")
            again = await requests.publish(draft, "fake/1")
            assert (first["seq"], first["status"]) == (1, "accepted")
            assert (again["seq"], again["status"]) == (1, "duplicate")
            assert log.envelopes[0].body.text == "hi"
            assert await requests.ask("status", {"user_id": "ana"}) == "all is well"
            assert await requests.head() == 1
            await requests.report("post_refused", seq=3)
            await until(lambda: reported)

    asyncio.run(main())
    ((question, args),) = asked
    assert (question, args["user_id"], set(args)) == ("status", "ana", {"user_id", "guest"})
    assert reported == [{"event": "post_refused", "seq": 3}]


async def test_a_note_on_a_receipt_reaches_the_guest(tmp_path):
    async def publish(_draft, key):
        return accepted(Receipt(4, key, note="esc_1 was answered before"))

    async with hosting(tmp_path, publish=publish), asking(tmp_path) as requests:
        await requests.connected()
        receipt = await requests.publish(draft_json("hi"), "fake/1")
        assert (receipt["seq"], receipt["note"]) == (4, "esc_1 was answered before")


def draft_json(text):
    actor = {"kind": "human", "platform": "fake", "user_id": "ana"}
    return {"channel": "#admin", "author": "admin", "actor": actor, "body": {"type": "NOTE", "text": text}}


async def test_a_refusal_says_why_and_anything_else_means_try_again(tmp_path):
    problems = [Refused(Forbidden("R-E5", "viewers may not")), Forbidden("K1", "no"), OSError("disk full")]

    async def publish(_draft, _key):
        raise problems.pop(0)

    async with hosting(tmp_path, publish=publish), asking(tmp_path) as requests:
        await requests.connected()
        refused = await requests.publish({}, "a")
        assert (refused["status"], refused["why"], refused["rule"]) == (
            "refused",
            "viewers may not",
            "R-E5",
        )
        assert (await requests.publish({}, "a"))["status"] == "refused"
        unavailable = await requests.publish({}, "a")
        assert (unavailable["status"], unavailable["why"]) == ("unavailable", "OSError: disk full")
        assert (await requests.publish({}, ""))["status"] == "refused"
        assert await requests.ask("weather", {}) == "nobody answers questions here"


async def test_a_request_without_a_society_fails_at_once_and_one_under_way_when_it_goes(tmp_path):
    async def publish(_draft, _key):
        await asyncio.Event().wait()

    async with asking(tmp_path) as requests:
        with pytest.raises(SocietyAway):
            await requests.publish({}, "a")
        async with hosting(tmp_path, publish=publish):
            await requests.connected()
            hanging = asyncio.create_task(requests.publish({}, "a"))
            await asyncio.sleep(0.01)
        with pytest.raises(SocietyAway):
            await hanging
        async with hosting(tmp_path):
            await requests.connected()
            assert await requests.head() == 0


async def test_a_gateway_that_is_cut_off_reaches_nobody_until_it_is_let_in_again(tmp_path):
    log = SmallLog()
    server = GatewayServer(GuestHost(log_id="log", source=log, publish=log.publish), data_dir=tmp_path)
    ready = asyncio.Event()
    serving = asyncio.create_task(server.serve(lambda _path: ready.set()))
    await ready.wait()
    async with asking(tmp_path) as requests:
        await requests.connected()
        server.cut_off(True)
        while True:
            # The guest notices when its connection ends, and what it tries meanwhile is not answered.
            try:
                await requests.head()
            except SocietyAway:
                break
        line = b""
        with suppress(OSError):
            reader, writer = await asyncio.open_unix_connection(address.find(tmp_path))
            writer.write(b'{"op":"hello","version":1}\n')
            line = await reader.readline()
            writer.close()
        assert line == b"", "whoever comes meanwhile is sent away"
        server.cut_off(False)
        await requests.connected()
        assert await requests.head() == 0
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


@pytest.mark.rule("K25")
def test_k25_who_comes_in_the_moment_in_which_a_society_ends_is_let_go(tmp_path):
    """asyncio accepts in a task of its own, which leaves the socket open when it is cancelled before it has begun."""
    log = SmallLog()
    server = GatewayServer(GuestHost(log_id="log", source=log, publish=log.publish), data_dir=tmp_path)
    is_busy, goes_on = threading.Event(), threading.Event()
    ready = Future()

    async def be_busy():
        is_busy.set()
        goes_on.wait(60)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResourceWarning)
        with IoThread(RealClock()) as io, socket.socket(socket.AF_UNIX) as guest:
            io.spawn(lambda: server.serve(ready.set_result))
            path = str(ready.result(60))
            io.spawn(be_busy)
            assert is_busy.wait(60)
            # The thread finds both at once: somebody who waits to be accepted, and that it is to end.
            guest.connect(path)
            with pytest.raises(WallTimeout):
                io.close(wall_timeout_s=0.0)
            goes_on.set()
            guest.settimeout(60)
            assert guest.recv(1) == b""
        gc.collect()
    assert [str(one.message) for one in told if path in str(one.message)] == []


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b'{"op":"head"}\n', "say hello first"),
        (b'{"op":"hello","version":2}\n', "this society speaks version 1, not 2"),
        (b"garbage\n", "not a frame"),
        (b"[1]\n", "not a frame: no op"),
        (b'{"op":"hello","version":1}\n{"op":"subscribe","cursor":-1}\n', "subscribe once"),
        (b'{"op":"hello","version":1}\n{"op":"subscribe","cursor":true}\n', "subscribe once"),
        (
            b'{"op":"hello","version":1}\n{"op":"subscribe","cursor":0}\n{"op":"subscribe","cursor":0}\n',
            "subscribe once",
        ),
    ],
)
async def test_a_guest_that_breaks_the_protocol_is_told_and_sent_away(tmp_path, said, answer):
    async with hosting(tmp_path):
        reader, writer = await asyncio.open_unix_connection(str(address.find(tmp_path)))
        writer.write(said)
        *_, last = (await reader.read()).splitlines()
        assert json.loads(last)["op"] == "error"
        assert answer in json.loads(last)["why"]
        writer.close()
        await writer.wait_closed()


async def test_an_unknown_op_of_a_newer_guest_is_answered(tmp_path):
    async with hosting(tmp_path):
        link = await Link.open(address.find(tmp_path))
        await link.send(encode("dance", n=1))
        frames = [decode(line) for line in await link.receive()]
        assert frames[0]["text"] == "unknown op 'dance'"
        link.close()


async def test_a_guest_from_another_version_of_us_is_not_let_in(tmp_path, monkeypatch):
    async with hosting(tmp_path):
        monkeypatch.setattr("moot.channels.gateway.link.VERSION", 99)
        with pytest.raises(GatewayError, match="version 1, not 99"):
            await Link.open(address.find(tmp_path))


async def misread(reader, writer, *frames):
    """Answer one guest with these frames, as no society would."""
    with suppress(OSError, asyncio.CancelledError):
        await reader.readline()
        for frame in frames:
            writer.write(frame)
            await asyncio.sleep(0.01)
        await reader.read()
    writer.close()


@pytest.mark.parametrize(
    "welcome",
    [
        encode("welcome", version=1, head=0, heartbeat_s=5.0),
        encode("welcome", version=1, log_id="log", head="many", heartbeat_s=5.0),
        encode("welcome", version=1, log_id="log", head=0, heartbeat_s=[]),
        encode("welcome", version=1, log_id="log", head=0, heartbeat_s=0),
        encode("welcome", version=1, log_id="log", head=0, heartbeat_s=float("nan")),
        b"[" * 100_000 + b"\n",
    ],
)
async def test_a_welcome_that_says_too_little_is_tried_again_until_a_society_answers(tmp_path, welcome):
    knocks = []

    async def answer(reader, writer):
        knocks.append(1)
        await misread(reader, writer, welcome)

    async with asking(tmp_path) as requests:
        server = await asyncio.start_unix_server(answer, tmp_path / "gateway.sock")
        await until(lambda: len(knocks) > 2)
        assert not requests.is_connected
        server.close()
        async with hosting(tmp_path):
            await requests.connected()
            assert await requests.head() == 0


@pytest.mark.parametrize("spoil", [Path.mkdir, lambda note: note.write_bytes(b"\xff")])
async def test_a_note_that_cannot_be_read_is_looked_at_again(tmp_path, spoil):
    note = tmp_path / "gateway.addr"
    spoil(note)

    async with asking(tmp_path) as requests:
        await asyncio.sleep(0.02)
        note.rmdir() if note.is_dir() else note.unlink()
        async with hosting(tmp_path):
            await until(lambda: requests.is_connected)


def test_what_no_society_says_ends_a_connection_and_the_next_one_serves(tmp_path):
    hello = encode("welcome", version=1, log_id="log", head=0, heartbeat_s=5.0)

    async def main():
        async with asking(tmp_path) as requests:
            server = await asyncio.start_unix_server(
                lambda reader, writer: misread(reader, writer, hello, encode("receipt", n=[])),
                tmp_path / "gateway.sock",
            )
            await until(lambda: requests.connections > 1)
            server.close()
            async with hosting(tmp_path):
                known = requests.connections
                await until(lambda: requests.connections > known and requests.is_connected)
                assert await requests.head() == 0

    with structlog.testing.capture_logs() as said:
        asyncio.run(main())
    assert "the connection to the society failed" in {line["event"] for line in said}


async def test_a_report_says_whether_it_was_sent(tmp_path):
    async with asking(tmp_path) as requests:
        assert not await requests.report("trouble", why="nobody is there")
        async with hosting(tmp_path):
            await requests.connected()
            assert await requests.report("trouble", why="somebody is")


def test_frames_carry_lines_unchanged():
    line = SmallLog().say('quotes " and \u2028 and ü').line
    assert envelope_line(envelope_frame(line)[:-1]) == line
    assert decode(envelope_frame(line))["line"] == json.loads(line)
    assert envelope_line(encode("beat", head=1)) is None


async def test_the_socket_is_private_and_gone_afterwards(tmp_path):
    async with hosting(tmp_path):
        path = address.find(tmp_path)
        assert path == tmp_path / "gateway.sock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("turns", range(12))
def test_a_guest_that_comes_while_the_society_ends_is_let_go(tmp_path, turns):
    """In whichever turn of the loop it is accepted, greeted or served: its connection outlives nothing."""

    async def main():
        knocking = []
        async with hosting(tmp_path):
            for _ in range(8):
                knocking.append(socket.socket(socket.AF_UNIX))
                knocking[-1].connect(str(address.find(tmp_path)))
            for _ in range(turns):
                await asyncio.sleep(0)
        return knocking

    for one in asyncio.run(main()):
        one.close()
    gc.collect()


async def test_a_deep_data_directory_gets_a_short_private_socket(tmp_path):
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)

    async with hosting(deep) as log:
        path = address.find(deep)
        assert len(os.fsencode(path)) <= address.MOST_PATH
        assert Path((deep / "gateway.addr").read_text().strip()) == path
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        log.say("x")
        assert len(await collect(stream(deep), 1)) == 1
    assert not path.parent.exists()
    assert list(deep.iterdir()) == []


async def test_what_a_crashed_host_left_is_replaced(tmp_path):
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "gateway.sock"))
    left.close()

    async with hosting(tmp_path) as log:
        log.say("x")
        assert len(await collect(stream(tmp_path), 1)) == 1


@pytest.mark.parametrize("name", ["d", "d" * 120])
async def test_a_host_that_was_fenced_out_leaves_its_successors_socket_alone(tmp_path, name):
    """Whoever deletes the lock file lets a second society in (K3); the first ends, the second goes on."""
    data = tmp_path / name
    data.mkdir()

    async with AsyncExitStack() as first:
        await first.enter_async_context(hosting(data))
        async with hosting(data) as log:
            await first.aclose()
            log.say("x")
            assert len(await collect(stream(data), 1)) == 1
    assert not address.find(data).exists()


def test_a_forged_note_makes_nobody_delete_foreign_directories(tmp_path):
    foreign = tmp_path / "moot-foreign"
    foreign.mkdir(mode=0o755)
    data = tmp_path / "data"
    data.mkdir()
    (data / "gateway.addr").write_text(str(foreign / "gateway.sock"))
    address.forget(data)
    assert foreign.exists()
    assert not (data / "gateway.addr").exists()


class Answering:
    """Stands for `Requests`."""

    def __init__(self, *receipts):
        self.receipts = list(receipts)
        self.published = []
        self.is_connected = True
        self.poison = None

    async def connected(self):
        pass

    async def publish(self, draft, key):
        self.published.append((key, draft))
        if key == self.poison:
            return {"status": "unavailable", "why": "it makes us ill"}
        receipt = self.receipts.pop(0) if self.receipts else {"seq": 9, "id": key, "status": "accepted"}
        if isinstance(receipt, Exception):
            raise receipt
        if receipt == "never":
            await asyncio.Event().wait()
        return receipt

    async def ask(self, question, args):
        return f"{question} for {args['seat']}"


def act(kind="note", n=1, **fields):
    reply_to = fields.pop("reply_to", None)
    return InboundAct(
        platform="fake",
        user_id="ana",
        user_name="Ana",
        platform_message_id=str(n),
        channel="#admin",
        kind=kind,
        fields=fields,
        reply_to=reply_to,
    )


def taking_in(tmp_path, requests, use, authority=lambda _platform, _user: ADMIN, reply_s=20.0):
    async def main():
        store = OutboxStore(tmp_path, "fake", "log")
        await store.open()
        try:
            return await use(
                Intake(store, requests, authority=authority, backoff=QUICK, reply_s=reply_s), store
            )
        finally:
            await store.close()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("receipt", "reply"),
    [
        ({"seq": 3, "status": "accepted"}, ActReply("Noted as message 3.", seq=3)),
        ({"seq": 3, "status": "duplicate"}, ActReply("Noted as message 3.", seq=3)),
        (
            {"seq": 3, "status": "accepted", "opened": "motion_1"},
            ActReply("Noted as message 3, which opens motion_1.", seq=3),
        ),
        (
            {"seq": 3, "status": "superseded"},
            ActReply("Message 3 stands as it was first said.", ok=False, seq=3),
        ),
        ({"status": "refused", "why": "viewers may not"}, ActReply("Refused: viewers may not", ok=False)),
        (
            {"seq": 3, "status": "accepted", "note": "esc_1 was answered before"},
            ActReply(
                "Message 3 is in the log and changes nothing: esc_1 was answered before.", ok=False, seq=3
            ),
        ),
    ],
)
def test_a_person_hears_what_became_of_an_act(tmp_path, receipt, reply):
    requests = Answering(receipt)

    async def use(intake, store):
        assert await intake(act(text="hi")) == reply
        assert await store.acts() == []

    taking_in(tmp_path, requests, use)
    ((key, draft),) = requests.published
    assert key == "fake/ana/1"
    assert draft["body"] == {"type": "NOTE", "text": "hi", "about_case_id": None}
    assert draft["actor"] == {"kind": "human", "platform": "fake", "user_id": "ana"}


def test_an_act_that_is_delivered_again_gets_the_same_answer_and_is_handed_over_once(tmp_path):
    requests = Answering({"status": "refused", "why": "viewers may not"})

    async def use(intake, _store):
        replies = await asyncio.gather(*(intake(act(text="hi")) for _ in range(3)))
        replies.append(await intake(act(text="hi")))
        assert {reply.text for reply in replies} == {"Refused: viewers may not"}
        assert len(requests.published) == 1
        assert (await intake(act(text="edited"))).ok
        assert len(requests.published) == 2

    taking_in(tmp_path, requests, use)


@pytest.mark.parametrize("problem", [SocietyAway("gone"), "never", {"status": "unavailable", "why": "disk"}])
def test_an_act_without_an_answer_is_kept_and_handed_over_later(tmp_path, problem):
    requests = Answering(problem)

    async def use(intake, store):
        reply = await intake(act(text="hi"))
        assert (reply.ok, reply.text) == (
            True,
            "Kept: the society is away and gets it when it is back.",
        )
        assert len(await store.acts()) == 1
        handing = asyncio.create_task(intake.run())
        await until(lambda: len(requests.published) == 2)
        while await store.acts():
            await asyncio.sleep(0.001)
        handing.cancel()
        await asyncio.gather(handing, return_exceptions=True)

    taking_in(tmp_path, requests, use, reply_s=0.02)
    first, second = requests.published
    assert first == second


def test_one_act_that_the_society_cannot_take_holds_up_no_other(tmp_path):
    requests = Answering(SocietyAway("gone"))
    requests.poison = "fake/ana/1"

    async def use(intake, store):
        await intake(act(n=1, text="poison"))
        await intake(act(n=2, text="fine"))
        handing = asyncio.create_task(intake.run())
        while [key for key, _ in await store.acts()] != ["fake/ana/1"]:
            await asyncio.sleep(0.001)
        requests.poison = None
        while await store.acts():
            await asyncio.sleep(0.001)
        handing.cancel()
        await asyncio.gather(handing, return_exceptions=True)

    taking_in(tmp_path, requests, use)


async def kept(intake, *acts):
    """Have acts kept, for nobody takes them."""
    for one in acts:
        assert "Kept" in (await intake(one)).text


def keys(requests):
    return [key for key, _ in requests.published]


def test_what_was_kept_goes_before_what_is_done_now(tmp_path):
    """A halt from the outage does not follow the resume that came after it."""
    requests = Answering(SocietyAway("gone"), SocietyAway("gone"))

    async def use(intake, store):
        await kept(intake, act("halt", 1, reason="they fall"), act(n=2, text="first"))
        requests.published.clear()
        assert (await intake(act("resume", 3, reason="they rise"))).ok
        assert await store.acts() == []

    taking_in(tmp_path, requests, use)
    assert keys(requests) == ["fake/ana/1", "fake/ana/2", "fake/ana/3"]


def test_what_waits_for_its_turn_is_kept_and_goes_in_order(tmp_path):
    requests = Answering("never", "never")

    async def use(intake, store):
        await kept(intake, act(n=1, text="one"), act(n=2, text="two"))
        requests.published.clear()
        handing = asyncio.create_task(intake.run())
        replies = await asyncio.gather(*(intake(act(n=n, text=str(n))) for n in (3, 4, 5)))
        await until(lambda: len(set(keys(requests))) == 5)
        while await store.acts():
            await asyncio.sleep(0.001)
        handing.cancel()
        await asyncio.gather(handing, return_exceptions=True)
        assert all(reply.ok for reply in replies)

    taking_in(tmp_path, requests, use, reply_s=0.05)
    assert list(dict.fromkeys(keys(requests))) == [f"fake/ana/{n}" for n in range(1, 6)]


def test_an_act_that_makes_the_society_ill_loses_its_place_once(tmp_path):
    requests = Answering()
    requests.poison = "fake/ana/1"

    async def use(intake, store):
        await kept(intake, act(n=1, text="poison"))
        for n in (2, 3):
            assert (await intake(act(n=n, text="fine"))).seq == 9
        assert [key for key, _ in await store.acts()] == ["fake/ana/1"]

    taking_in(tmp_path, requests, use)
    assert keys(requests) == ["fake/ana/1", "fake/ana/2", "fake/ana/3"]


def test_an_act_that_is_in_the_log_is_told_as_done_although_it_cannot_be_struck_off(tmp_path):
    requests = Answering()

    async def use(intake, store):
        async def full(_key):
            raise sqlite3.OperationalError("database or disk is full")

        drop, store.drop_act = store.drop_act, full
        assert (await intake(act(text="hi"))).seq == 9
        store.drop_act = drop
        handing = asyncio.create_task(intake.run())
        while await store.acts():
            await asyncio.sleep(0.001)
        handing.cancel()
        await asyncio.gather(handing, return_exceptions=True)

    taking_in(tmp_path, requests, use)
    assert keys(requests) == ["fake/ana/1", "fake/ana/1"]


def test_commands_are_read_and_questions_answered_without_a_draft(tmp_path):
    requests = Answering()

    async def use(intake, _store):
        assert (await intake(act("command", 1, text="/ack esc_1"))).ok
        assert await intake(act("command", 2, text="/status")) == ActReply("status for viewer")
        assert "/override CASE VERDICT WHY" in (await intake(act("command", 3, text="/help"))).text
        typo = await intake(act("command", 4, text="/akc esc_1"))
        assert typo == ActReply("no command /akc; did you mean /ack ID ?", ok=False)
        assert not (await intake(act("answer", 5, option=True))).ok
        assert not (await intake(act("halt", 6, why="x"))).ok
        assert await intake(act("command", 7, text="/positions")) == ActReply("positions for viewer")

    taking_in(tmp_path, requests, use, lambda _platform, _user: VIEWER)
    ((_, draft),) = requests.published
    assert (draft["author"], draft["body"]["type"], draft["case_id"]) == ("viewer", "ESCALATION_ACK", "esc_1")


@pytest.mark.parametrize("name", ["", "../up", "Big", "a b"])
def test_a_surface_whose_name_can_be_no_file_is_refused(tmp_path, name):
    surfaces = {name: Mirroring(build=TerminalSurface)}
    running = run_gateway(
        None, surfaces, data_dir=tmp_path, authority=lambda _p, _u: VIEWER, stop=asyncio.Event()
    )
    with pytest.raises(SurfaceConfigError, match="a name is 1 to 40 of"):
        asyncio.run(running)


def test_a_note_in_a_thread_is_about_its_case(tmp_path):
    requests = Answering()
    log = SmallLog()
    log.say("opens", case_id="hyp_1")

    async def use(intake, store):
        await store.take([Mirrored(1, "#a-arena", "hyp_1", "m1", "NOTE", log.envelopes[0].line)], 1)
        await store.done([1], PlatformMessageId("p1"))
        await intake(act(text="hm", reply_to=PlatformMessageId("p1")))
        await intake(act("override", 2, case_id="hyp_1", verdict="REJECT", why="no"))

    taking_in(tmp_path, requests, use)
    (_, note), (_, override) = requests.published
    assert note["body"]["about_case_id"] == "hyp_1"
    assert override["channel"] == "#a-arena"


def test_a_broken_authority_is_a_calm_reply(tmp_path):
    async def use(intake, _store):
        reply = await intake(act(text="hi"))
        assert not reply.ok
        assert "could not be taken in" in reply.text

    def authority(_platform, _user):
        raise KeyError("config")

    taking_in(tmp_path, Answering(), use, authority)


async def with_an_escalation(store):
    """Put an escalation and a debate into the outbox as they were mirrored."""
    line = SmallLog().say("x").line
    await store.take(
        [
            Mirrored(1, "#admin", "esc_1", "m1", "ESCALATION", line),
            Mirrored(2, "#admin", "esc_1", "m2", "NOTE", line),
            Mirrored(3, "#a-arena", "hyp_1", "m3", "HYPOTHESIS", line),
        ],
        3,
    )
    for seq in (1, 2, 3):
        await store.done([seq], PlatformMessageId(f"p{seq}"))


@pytest.mark.parametrize("post", ["p1", "p2"])
@pytest.mark.parametrize(
    ("made", "type"),
    [
        (lambda to: act("ack", reply_to=to), "ESCALATION_ACK"),
        (lambda to: act("ack", escalation_id="", reply_to=to), "ESCALATION_ACK"),
        (
            lambda to: act("answer", escalation_id=None, option=2, text=None, reply_to=to),
            "ESCALATION_ANSWER",
        ),
        (lambda to: act("command", text="2", reply_to=to), "ESCALATION_ANSWER"),
        (lambda to: act("command", text="/reply 2", reply_to=to), "ESCALATION_ANSWER"),
        (lambda to: act("command", text="ack", reply_to=to), "ESCALATION_ACK"),
    ],
)
def test_an_answer_under_an_escalation_needs_no_id(tmp_path, made, type, post):
    requests = Answering()

    async def use(intake, store):
        await with_an_escalation(store)
        assert await intake(made(PlatformMessageId(post))) == ActReply("Noted as message 9.", seq=9)

    taking_in(tmp_path, requests, use)
    ((_, draft),) = requests.published
    assert (draft["body"]["type"], draft["case_id"]) == (type, "esc_1")
    assert draft["body"]["escalation_id"] == "esc_1"
    assert draft["body"].get("option", 2) == 2


@pytest.mark.parametrize("post", ["p3", "p99", None])
@pytest.mark.parametrize("kind", ["ack", "answer"])
def test_a_button_of_an_unknown_message_is_told_how_to_answer(tmp_path, kind, post):
    requests = Answering()

    async def use(intake, store):
        await with_an_escalation(store)
        to = None if post is None else PlatformMessageId(post)
        reply = await intake(act(kind, option=1, reply_to=to))
        assert not reply.ok
        assert reply.text.startswith("Which escalation? That message is none that is known here:")
        assert "/reply ID OPTION" in reply.text

    taking_in(tmp_path, requests, use)
    assert requests.published == []


def test_chat_under_an_escalation_is_a_note_and_its_author_hears_how_to_answer(tmp_path):
    requests = Answering()

    async def use(intake, store):
        await with_an_escalation(store)
        reply = await intake(act("command", text="let us wait", reply_to=PlatformMessageId("p1")))
        assert reply.ok
        assert reply.seq is None
        assert reply.text.startswith("Noted as message 9. A note answers nothing: write an option's number")
        meant = await intake(act("command", 2, text="/note let us wait", reply_to=PlatformMessageId("p1")))
        elsewhere = await intake(act("command", 3, text="2", reply_to=PlatformMessageId("p3")))
        assert meant.text == elsewhere.text == "Noted as message 9."

    taking_in(tmp_path, requests, use)
    bodies = [draft["body"] for _, draft in requests.published]
    assert [body["type"] for body in bodies] == ["NOTE"] * 3
    assert [body["about_case_id"] for body in bodies] == ["esc_1", "esc_1", "hyp_1"]


def test_a_text_that_is_too_long_is_told_the_limit(tmp_path):
    requests = Answering()

    async def use(intake, _store):
        for kind in ("note", "command"):
            reply = await intake(act(kind, text="x" * 40_000))
            assert reply == ActReply(
                "Not taken: text: has 40,000 characters, 20,000 are the most: shorten it", ok=False
            )
        assert (await intake(act("command", text="x" * 20_000))).ok

    taking_in(tmp_path, requests, use)
    assert len(requests.published) == 1


def test_a_stranger_who_is_refused_hears_who_can_let_them(tmp_path):
    requests = Answering({"status": "refused", "why": "only admins may"})

    async def use(intake, _store):
        reply = await intake(act("command", text="/halt now"))
        assert not reply.ok
        assert reply.text == (
            'Refused: only admins may. Who runs this society can let you: [admins] fake = ["ana"]'
        )

    taking_in(tmp_path, requests, use, lambda _platform, _user: VIEWER)


@pytest.mark.parametrize("text", ["🎉", "👍🏽", "\u200d", "a\u0000b"])
def test_emoji_and_odd_characters_are_notes_or_one_calm_line(tmp_path, text):
    async def use(intake, _store):
        reply = await intake(act("command", text=text))
        assert reply.text == "Noted as message 9."

    taking_in(tmp_path, Answering(), use)


def test_the_society_hears_which_guest_asked_and_that_it_has_left(tmp_path):
    asked, left = [], []

    async def ask(question, args):
        asked.append(args["guest"])
        return "noted"

    async def hear(guest):
        left.append(guest)

    async def main():
        async with hosting(tmp_path, ask=ask, left=hear):
            async with asking(tmp_path) as one, asking(tmp_path) as two:
                await asyncio.gather(one.connected(), two.connected())
                for requests in (one, two, one):
                    assert await requests.ask("escalation_shown", {"guest": "a forged one"}) == "noted"
                assert left == []
            await until(lambda: len(left) == 2)

    asyncio.run(main())
    assert asked[0] == asked[2] != asked[1] and sorted(left) == sorted(set(asked))
    assert "a forged one" not in asked
