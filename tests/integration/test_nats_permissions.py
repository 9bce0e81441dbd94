"""What hosts, readers and guests may do on a server with the users of docs/how-to/several-hosts.md, and what not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from moot.channels.errors import ChannelError
from moot.channels.nats import connection as connecting
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.bucket import Bucket
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.inbox import NatsInbox, deliver
from moot.channels.nats.lease import NatsLease
from moot.channels.nats.objects import Objects
from moot.channels.nats.outbox import NatsOutbox
from moot.channels.nats.thread import NatsThread
from moot.hosts.presence import hosts_json
from moot.protocols.kernel.canonical import canonical_json
from tests.doubles.nats import NatsServer, leading, running
from tests.doubles.tiny import Ticks, TinyAdmission, decode, said

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "several-hosts.md"
LONG_S = 60.0

Try = Callable[[NatsConnection], Awaitable[object]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """Run a server with the configuration of the page."""
    found = re.search(r"^```\njetstream .*?\n(accounts .*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    config = re.sub(r"\$([A-Z]+)_PASSWORD", lambda name: name[1].lower(), found[1])
    with running(tmp_path_factory.mktemp("nats"), config) as server:
        yield server


async def tell(connection: NatsConnection) -> None:
    """Say how far a host is."""
    await (await Bucket.open(connection, "hosts")).put("alpha", b'{"seq":1,"behind":0}')


@pytest.fixture(scope="module")
def live(server: NatsServer, tmp_path_factory: pytest.TempPathFactory) -> NatsAddress:
    """Have a host lead once, with all that a society keeps on the servers; return the host's address."""
    address = server.address("desk", "host:host@")

    async def lived() -> None:
        async with leading(address, tmp_path_factory.mktemp("host"), TinyAdmission(), Ticks()) as bus:
            await bus.publish(said("k1", "x"))

    asyncio.run(lived())
    with NatsThread(address) as nats:
        with NatsLease(nats, name="host", token="t", since=lambda: "") as lease:
            assert lease.gained.result(LONG_S)
        Objects(nats).put("evidence/a", b"a body")
        nats.wait(NatsInbox.open)
        nats.wait(tell)
        outbox = NatsOutbox(nats, "discord")
        assert asyncio.run(outbox.after(0)) == []
        assert asyncio.run(outbox.append([("INSERT", [])], 0)) == 1
    return address


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no answer for long: to a question that is not allowed there is none."""
    monkeypatch.setattr(connecting, "ANSWER_S", 1.0)


def asked(address: NatsAddress, what: Try) -> object:
    async def run() -> object:
        async with await NatsConnection.open(address) as connection:
            return await what(connection)

    return asyncio.run(run())


def test_a_guest_posts_and_reads_the_receipt(server: NatsServer, live: NatsAddress) -> None:
    guest = server.address("desk", "guest:guest@")

    async def serve(connection: NatsConnection) -> None:
        inbox = await NatsInbox.open(connection)
        async for posted in inbox.take_over(10_000):
            await inbox.answer(posted, {"id": posted.key, "status": "accepted", "seq": 7})
            return

    async def post(connection: NatsConnection) -> object:
        async with await NatsConnection.open(live) as host:
            serving = asyncio.create_task(serve(host))
            receipt = await deliver(connection, canonical_json({"text": "hello"}), "k", LONG_S)
            await serving
        return receipt

    assert asked(guest, post) == {"id": "k", "status": "accepted", "seq": 7}


def subjects(live: NatsAddress) -> list[str]:
    """Return what nobody but a host may publish."""
    return [
        live.subject,
        live.outbox_subject("discord"),
        f"$KV.{live.bucket('lease')}.leader",
        f"$KV.{live.bucket('hosts')}.x",
        f"$KV.{live.bucket('receipts')}.x",
        f"$O.{live.bucket('objects')}.M.x",
        f"$O.{live.bucket('objects')}.C.x",
        *(
            f"$JS.API.STREAM.{verb}.{stream}"
            for verb in ("DELETE", "PURGE", "UPDATE", "MSG.DELETE")
            for stream in (live.stream, live.outbox_stream, f"KV_{live.bucket('lease')}")
        ),
    ]


async def state(connection: NatsConnection, *, without: str = "") -> dict[str, tuple[int, int]]:
    """Return how much every stream holds."""
    found = await connection.js.streams_info()
    return {
        one.config.name or "": (one.state.messages, one.state.last_seq)
        for one in found
        if one.config.name != without
    }


@pytest.mark.parametrize("who", ["guest", "reader"])
def test_neither_guests_nor_readers_write_or_delete_anything(
    server: NatsServer, live: NatsAddress, who: str
) -> None:
    async def attempt(connection: NatsConnection) -> None:
        async with await NatsConnection.open(live) as host:
            before = await state(host)
            assert before[live.stream] == (1, 1) and len(before) >= 5
            for subject in subjects(live):
                with suppress(ChannelError), connection.errors():
                    await connection.client.request(subject, b"{}", timeout=0.1)
            await connection.client.flush()
            assert await state(host) == before

    asked(server.address("desk", f"{who}:{who}@"), attempt)


def test_what_a_guest_is_answered_never_lands_in_the_log(server: NatsServer, live: NatsAddress) -> None:
    async def attempt(connection: NatsConnection) -> None:
        async with await NatsConnection.open(live) as host:
            before = await state(host, without=live.inbox_stream)
            for subject in (live.subject, f"$KV.{live.bucket('lease')}.leader"):
                for question in ("$JS.API.INFO", f"$JS.API.STREAM.INFO.{live.inbox_stream}"):
                    await connection.client.publish(question, b"", reply=subject)
                await connection.client.publish(live.inbox_subject, b"{}", reply=subject)
            await connection.js.account_info()
            await host.js.account_info()
            assert await state(host, without=live.inbox_stream) == before

    asked(server.address("desk", "guest:guest@"), attempt)


def test_a_reader_reads_log_and_bodies(server: NatsServer, live: NatsAddress, tmp_path: Path) -> None:
    reader = server.address("desk", "reader:reader@")

    async def read(connection: NatsConnection) -> int:
        async with await NatsBus.open(connection, tmp_path, decode=decode, create=False) as bus:
            bus.follow()
            return bus.head.seq

    assert asked(reader, read) == 1
    with NatsThread(reader) as nats:
        bodies = Objects(nats)
        found = bodies.after(0)
        assert found is not None and found[1] == "evidence/a" and bodies.after(found[0]) is None
        assert bodies.get("evidence/a") == b"a body"
        assert nats.wait(hosts_json)["hosts"] == [{"name": "alpha", "seq": 1, "behind": 0}]


async def lead(connection: NatsConnection, directory: Path) -> None:
    async with await NatsBus.open(connection, directory, decode=decode) as bus:
        await bus.lead(TinyAdmission(), Ticks(), epoch=9)


@pytest.mark.parametrize("who", ["guest", "reader"])
def test_who_asks_for_more_than_allowed_reads_a_line(
    server: NatsServer, live: NatsAddress, tmp_path: Path, who: str
) -> None:
    async def attempt(connection: NatsConnection) -> object:
        if who == "guest":
            return await lead(connection, tmp_path)
        return await deliver(connection, canonical_json({"text": "x"}), "k", 1.0)

    with pytest.raises(ChannelError) as caught:
        asked(server.address("desk", f"{who}:{who}@"), attempt)
    told = str(caught.value)
    assert f"the user {who} " in told and "permissions of that user" in told
    assert "\n" not in told and "Error" not in told


def test_a_host_leads_and_cannot_delete_the_log(
    server: NatsServer, live: NatsAddress, tmp_path: Path
) -> None:
    async def attempt(connection: NatsConnection) -> None:
        await lead(connection, tmp_path)
        with pytest.raises(ChannelError, match="does not let the user host use"), connection.errors():
            await connection.js.delete_stream(live.stream)
        assert (await state(connection))[live.stream] == (1, 1)

    asked(live, attempt)
