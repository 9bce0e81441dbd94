"""A console that strangers and viewers crowd around: half a request, a long body, too many questions hold up nobody."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from moot.console.serving import allowance, bodies, front
from tests.doubles.console import Served, served, written
from tests.doubles.waiting import until

pytestmark = pytest.mark.anyio
ROOM = front.Room(40, 40)
CROWD = 300
MADE = ("console-token", "console.sqlite", "log.sqlite", "head", "lock")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@contextmanager
def society(directory: Path, *words: str, files: int | None = None) -> Iterator[None]:
    """Run `moot up` on a directory, with so many file descriptors."""
    command = [sys.executable, "-m", "moot", "up", "--data", str(directory), "--speed", "600", *words]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    with (directory.parent / "up.out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, "NO_COLOR": "1"})
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def half_sent(
    port: int, what: bytes = b"GET /api/log HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
) -> socket.socket:
    """Open a connection and send the beginning of a request."""
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(("127.0.0.1", port))
    asyncio.get_running_loop().call_later(0.2, _say, connection, what)
    return connection


def _say(connection: socket.socket, what: bytes) -> None:
    with suppress(OSError):
        connection.send(what)


def is_open(connection: socket.socket) -> bool:
    try:
        return bool(connection.recv(65_536))
    except BlockingIOError:
        return True
    except OSError:
        return False


@asynccontextmanager
async def crowd(port: int, size: int = CROWD) -> AsyncIterator[list[socket.socket]]:
    """Keep so many half-sent requests open, or try to."""
    connections: list[socket.socket] = []
    try:
        for n in range(size):
            connections.append(half_sent(port))
            if n % 50 == 49:
                await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
        yield connections
    finally:
        for connection in connections:
            connection.close()


@asynccontextmanager
async def at(console: Served, token: str) -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(console.base, headers=headers) as session:
        yield session


async def told(session: Any, key: str, **act: Any) -> tuple[int, str]:
    async with session.post("/api/acts", json={"key": key, "channel": "#a-arena", **act}) as answer:
        return answer.status, (await answer.json())["text"]


async def taken(session: Any) -> None:
    """Wait until the society takes what a person says."""
    while (await told(session, "first", kind="note", fields={"text": "I am here"}))[0] != 200:
        await asyncio.sleep(0.2)


async def test_among_half_sent_requests_the_owners_halt_lands_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front, "room_for", lambda _files: ROOM)
    monkeypatch.setattr(front, "HEAD_S", 10.0)
    halt = {"kind": "command", "fields": {"text": "/halt I have seen enough"}}
    with society(tmp_path / "data", "--no-console"):
        await until((tmp_path / "data" / "log.sqlite").exists, within_s=60)
        async with served(tmp_path / "data") as console, at(console, console.owner) as owner:
            port = int(console.host.rpartition(":")[2])
            await taken(owner)
            async with crowd(port) as connections:
                await until(lambda: sum(map(is_open, connections)) <= ROOM.strangers)
                status, text = await told(owner, "halt", **halt)
                assert status == 200, text
                # It did not wait for any of them to go.
                assert any(map(is_open, connections))
                # Whoever holds a connection and says nothing does not hold it for long.
                await until(lambda: not any(map(is_open, connections)), within_s=60)


async def test_a_console_starts_in_a_crowd_with_few_file_descriptors(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    stop = asyncio.Event()

    async def press(connections: list[socket.socket]) -> None:
        # Again and again, for nobody listens before the console has begun.
        while not stop.is_set():
            gone = [n for n, connection in enumerate(connections) if not is_open(connection)]
            for n in gone:
                connections[n].close()
                connections[n] = half_sent(port)
            await asyncio.sleep(0.5)

    with society(tmp_path / "data", "--port", str(port), files=300):
        async with crowd(port) as connections, aiohttp.ClientSession() as session:
            pressing = asyncio.create_task(press(connections))

            async def lives() -> bool:
                try:
                    patience = aiohttp.ClientTimeout(total=20)
                    async with session.get(f"http://127.0.0.1:{port}/healthz", timeout=patience) as answer:
                        return answer.status == 200
                except (aiohttp.ClientError, TimeoutError, OSError):
                    return False

            answers = 0
            # A stranger may have to make room for others, before it has been heard too, and comes again.
            with suppress(TimeoutError):
                async with asyncio.timeout(200):
                    while answers < 6:
                        answers += await lives()
                        await asyncio.sleep(0.2)
            stop.set()
            await pressing
    assert answers == 6
    logs = [(tmp_path / "data" / name) for name in ("gateway.log", "moot.log")]
    said = "".join(log.read_text() for log in logs if log.exists())
    assert "gateway ended" not in said and "Too many open files" not in said


def test_what_a_society_writes_is_its_owners_only(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with society(data, "--port", "0"):
        asyncio.run(until(lambda: all((data / name).exists() for name in MADE), within_s=60, look_s=0.2))
        found = {path: path.stat().st_mode & 0o777 for path in data.rglob("*")}
        moot = [sys.executable, "-m", "moot"]
        subprocess.run([*moot, "backup", str(data), str(tmp_path / "copy")], check=True, capture_output=True)
        exported = ["export", str(data), str(data / "log.jsonl")]
        subprocess.run([*moot, *exported], check=True, capture_output=True)
    for path in (data, tmp_path / "copy", *data.rglob("*"), *(tmp_path / "copy").rglob("*")):
        found[path] = path.stat().st_mode & 0o777
    assert not {path.name: oct(mode) for path, mode in found.items() if mode & 0o077}


async def test_a_body_is_taken_in_within_a_size_and_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_S", 4.0)
    written(tmp_path, 50)
    async with served(tmp_path) as console, at(console, console.viewer) as viewer:
        port = int(console.host.rpartition(":")[2])
        head = (
            f"POST /api/acts HTTP/1.1\r\nHost: {console.host}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {console.viewer}\r\n"
        )
        for more, status in (
            (f"Content-Length: {300 * 2**20}\r\n\r\n", b"413"),
            ("Content-Length: 1000\r\n\r\n{", b"408"),
            ("Transfer-Encoding: chunked\r\n\r\n" + ("10000\r\n" + "x" * 65_536 + "\r\n") * 17, b"413"),
            ("Content-Length: 9999999999999999999999\r\n\r\n", b"4"),
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write((head + more).encode())
            answer = await asyncio.wait_for(reader.read(100), 60)
            assert answer.startswith(b"HTTP/1.1 " + status), (more[:60], answer)
            # And the rest is not waited for.
            assert await asyncio.wait_for(_rest(reader), 60) == b""
            writer.close()
        # Nobody's body is read before it is known whose it is.
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"POST /api/acts HTTP/1.1\r\nHost: {console.host}\r\nContent-Length: 1000\r\n\r\n".encode()
        )
        assert (await asyncio.wait_for(reader.read(100), 60)).startswith(b"HTTP/1.1 401")
        writer.close()
        async with viewer.post("/api/acts", data=b"x" * bodies.MOST_BODY) as answer:
            assert answer.status == 422
            assert (await answer.json())["why"].startswith("body: give an object with named fields, not ")
        as_json = {"content-type": "application/json"}
        async with viewer.post("/api/acts", data=b"xx", headers=as_json) as answer:
            assert (await answer.json())["why"].startswith("body: is not JSON: ")


async def _rest(reader: asyncio.StreamReader) -> bytes:
    with suppress(ConnectionError):
        await reader.read()
    return b""


async def test_a_viewer_who_asks_and_says_too_much_is_told_so_and_slows_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a machine that is slow a bucket would fill as fast as it is emptied here.
    for name in ("ACTING", "STRANGERS"):
        monkeypatch.setattr(allowance, name, getattr(allowance, name)._replace(per_s=0.01))
    with society(tmp_path / "data", "--no-console"):
        await until((tmp_path / "data" / "log.sqlite").exists, within_s=60)
        async with (
            served(tmp_path / "data") as console,
            at(console, console.owner) as owner,
            at(console, console.viewer) as viewer,
        ):
            await taken(owner)
            said = [await told(viewer, f"n{n}", kind="note", fields={"text": "more"}) for n in range(45)]
            assert said[0][0] == 200
            assert any("too much at once" in text for _, text in said), said[-1]

            async def asks() -> int:
                async with viewer.get("/api/channels") as answer:
                    await answer.read()
                    return int(answer.status)

            asking = [asyncio.create_task(asks()) for _ in range(1_500)]
            await asyncio.sleep(0.5)
            status, text = await told(owner, "halt", kind="command", fields={"text": "/halt enough"})
            assert status == 200, text
            answers = await asyncio.gather(*asking)
            assert answers.count(200) > 100 and answers.count(429) > 100
            # Nothing of it stands in the gateway's log.
            for _ in range(150):
                async with (
                    aiohttp.ClientSession(console.base) as stranger,
                    stranger.get("/api/log") as answer,
                ):
                    last = answer.status
            assert last == 429
