"""Open pages: what ten cost a society at work, how soon a message is on each, the first paint, the end.

Real processes over real sockets. A page is a stream of server-sent events of `/api/stream`, which is what the
console sends a page, without the drawing that a browser does.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # this file is run as a script too

from moot.gateway import NICE  # noqa: E402

PAGES = 10
ROUNDS = 4
DAYS = 2
BEGINS = datetime(2026, 2, 22, 20, 0, tzinfo=UTC)
NOTES = 60
PAINTS = 5
PATIENCE_S = 60.0


# ------------------------------------------------------------ pages


@contextmanager
def console(directory: Path) -> Iterator[tuple[str, str]]:
    """Serve a directory from a process as nice as the gateway; yields address and token."""
    words = ["-m", "moot.console", str(directory), "--port", "0"]
    process = subprocess.Popen(
        ["nice", "-n", str(NICE), sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        base, _, token = process.stdout.readline().removeprefix("console: ").strip().partition("/?token=")
        yield base, token
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@contextmanager
def pages(base: str, token: str, count: int) -> Iterator[subprocess.Popen[str]]:
    """Keep so many streams open from a process of their own, which says `up` and what each of them got."""
    process = subprocess.Popen(
        ["nice", "-n", str(NICE), sys.executable, __file__, base, token, str(count)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def stream(base: str, token: str) -> AsyncIterator[bytes]:
    """Yield what a stream sends, as it comes; the first piece is the answer's head."""
    host, _, port = base.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"GET /api/stream HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    writer.write(head.encode())
    try:
        first = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in first.splitlines()[0], first
        yield first
        while piece := await reader.read(1 << 18):
            yield piece
    finally:
        writer.close()


async def drain(base: str, token: str, count: int) -> None:
    """Read so many streams until told a seq on standard input; end once each has got that far."""
    seqs = [0] * count
    opened = [asyncio.Event() for _ in range(count)]

    async def read(n: int) -> None:
        rest = b""
        async for piece in stream(base, token):
            opened[n].set()
            whole = rest + piece
            at = whole.rfind(b"\nid: ")
            end = whole.find(b"\n", at + 5)
            if at >= 0 and end > 0:
                seqs[n] = int(whole[at + 5 : end])
            rest = whole[-40:]

    reading = [asyncio.create_task(read(n)) for n in range(count)]
    for one in opened:
        await one.wait()
    print("up", flush=True)
    wanted = int(await asyncio.to_thread(sys.stdin.readline))
    while min(seqs, default=wanted) < wanted:
        await asyncio.sleep(0.01)
    print("all", flush=True)
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)


# ------------------------------------------------------------ what they cost


def _lived(watchers: int | None) -> float:
    """Return the messages a second of a society that lives some days; None: without a console."""
    from moot.clock import VirtualClock
    from moot.config.settings import load_settings
    from moot.plan import Plan
    from moot.society import Society

    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(
            settings=load_settings(), seed=1, start=BEGINS, directory=Path(folder) / "data", bus="sqlite"
        )
        assert plan.directory is not None
        plan.directory.mkdir()

        async def main(clock: VirtualClock) -> float:
            async with await Society.open(plan, clock) as society, _served(society, clock):
                until = BEGINS + timedelta(hours=3)
                await society.run_until(until)
                if watchers is None:
                    return await _speed(society, until)
                with clock.hold():
                    shown = console(plan.directory)  # type: ignore[arg-type]
                    base, token = await asyncio.to_thread(shown.__enter__)
                    looking = pages(base, token, watchers)
                    process = looking.__enter__()
                    assert process.stdin is not None and process.stdout is not None
                    assert (await asyncio.to_thread(process.stdout.readline)).strip() == "up"
                try:
                    found = await _speed(society, until)
                    # They were real pages only if what was said has come to each of them.
                    process.stdin.write(f"{society.bus.head.seq if watchers else 0}\n")
                    process.stdin.flush()
                    with clock.hold():
                        said = await asyncio.to_thread(process.stdout.readline)
                    assert said.strip() == "all", said
                    return found
                finally:
                    with clock.hold():
                        looking.__exit__(None, None, None)
                        await asyncio.to_thread(shown.__exit__, None, None, None)

        return VirtualClock(BEGINS).run(main)


async def _speed(society: Any, since: datetime) -> float:
    before: int = society.bus.head.seq
    began = perf_counter()
    await society.run_until(since + timedelta(days=DAYS))
    said: int = society.bus.head.seq - before
    return said / (perf_counter() - began)


@asynccontextmanager
async def _served(society: Any, clock: Any) -> AsyncIterator[None]:
    """Serve the society's socket as `moot up` does."""
    from moot.channels.gateway.bridge import BusBridge
    from moot.channels.gateway.guest import GuestHost
    from moot.channels.gateway.server import GatewayServer
    from moot.clock import IoThread

    io = IoThread(clock)
    bridge = BusBridge(society.bus, await io.call(_running_loop, wall_timeout_s=5.0))
    feeding = asyncio.create_task(bridge.run())
    first = [envelope async for envelope in society.bus.read(1, 1)]
    host = GuestHost(log_id=first[0].hash, source=bridge, publish=_nobody)
    io.spawn(GatewayServer(host, data_dir=society.plan.directory).serve)
    try:
        yield
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        await io.aclose()


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def _nobody(_draft: Any, _key: str) -> Any:
    raise AssertionError("nobody acts here")


@cache
def _costs() -> tuple[float, float]:
    """Return the throughput with ten pages over that without a console, and over that with no page open.

    The medians of rounds in which all take turns, so that what else the machine does falls on each.
    """
    over_none, over_idle = [], []
    for _ in range(ROUNDS):
        found = dict.fromkeys((None, 0, PAGES), 0.0)
        for watchers in (None, 0, PAGES, PAGES, 0, None):
            found[watchers] += _lived(watchers)
        over_none.append(found[PAGES] / found[None])
        over_idle.append(found[PAGES] / found[0])
    return median(over_none), median(over_idle)


def ten_pages_throughput_ratio() -> float:
    """Messages a second of a society with a console and ten open pages, over those without a console."""
    return _costs()[0]


def ten_pages_over_idle_console_ratio() -> float:
    """The same over those with a console and no page."""
    return _costs()[1]


# ------------------------------------------------------------ how soon a message is there


@cache
def _delays() -> list[float]:
    """Return the seconds from a person's act until its message is on the last of ten pages, for many acts."""
    with tempfile.TemporaryDirectory() as folder:
        directory, config = Path(folder) / "data", Path(folder) / "moot.toml"
        config.write_text('[admins]\ncli = []\nconsole = ["owner"]\n')
        words = ["up", "--no-console", "--data", str(directory), "--config", str(config), "--speed", "120"]
        with (Path(folder) / "out").open("wb") as out:
            society = subprocess.Popen(
                [sys.executable, "-m", "moot", *words], cwd=ROOT, stdout=out, stderr=out
            )
        try:
            end = perf_counter() + PATIENCE_S
            while not (directory / "log.sqlite").exists():
                assert perf_counter() < end, "no log"
                asyncio.run(asyncio.sleep(0.05))
            with console(directory) as (base, token):
                return asyncio.run(_noted(base, token))
        finally:
            society.send_signal(signal.SIGINT)
            society.wait(60)


async def _noted(base: str, token: str) -> list[float]:
    import aiohttp

    arrived: dict[str, list[float]] = {}
    up = [asyncio.Event() for _ in range(PAGES)]

    async def read(n: int) -> None:
        rest = b""
        async for piece in stream(base, token):
            up[n].set()
            now = perf_counter()
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line.startswith(b"data: ") and b'"NOTE"' in line:
                    text = json.loads(line[6:])["body"]["text"]
                    arrived.setdefault(text, []).append(now)

    headers = {"Authorization": f"Bearer {token}"}
    took: list[float] = []
    async with aiohttp.ClientSession(base, headers=headers) as session:
        while True:
            async with session.get("/api/standing") as answer:
                said = await answer.json()
            if said["society"] and said["time"]["is_running"]:
                break
            await asyncio.sleep(0.1)
        reading = [asyncio.create_task(read(n)) for n in range(PAGES)]
        for one in up:
            await one.wait()
        for n in range(NOTES):
            text = f"what about the tail risk ({n})"
            act = {"kind": "note", "key": f"n{n}", "channel": "#a-arena", "fields": {"text": text}}
            began = perf_counter()
            async with session.post("/api/acts", json=act) as answer:
                assert answer.status == 200, await answer.text()
            while len(arrived.get(text, ())) < PAGES:
                await asyncio.sleep(0.002)
                assert perf_counter() - began < PATIENCE_S, f"{text} did not come to every page"
            took.append(max(arrived[text]) - began)
            await asyncio.sleep(0.05)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    return took


def message_on_ten_pages_p95_ms() -> float:
    """From a person's act to its message on the last of ten pages: 95 of 100 are sooner."""
    return 1_000 * sorted(_delays())[int(NOTES * 0.95)]


# ------------------------------------------------------------ the first paint, the end


def first_paint_1000000_s() -> float:
    """Median seconds until a new browser paints the page, while the console reads a million messages anew."""
    from tests.benchmarks.bench_growth import million
    from tests.doubles.browser import browser

    with browser() as shown:
        shown.new_page().goto("about:blank")
        return median(_painted(million(), shown) for _ in range(PAINTS))


def _painted(directory: Path, shown: Any) -> float:
    for path in directory.glob("console*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with console(directory) as (base, token):
        sleep(1.0)  # a person comes a moment after the start, in the middle of the reading
        context = shown.new_context()
        page = context.new_page()
        page.goto(f"{base}/?token={token}")
        name = "performance.getEntriesByName('first-contentful-paint')"
        page.wait_for_function(f"{name}.length > 0")
        painted_ms: float = page.evaluate(f"{name}[0].startTime")
        context.close()
    return painted_ms / 1_000


def stop_beside_half_a_request_s() -> float:
    """Seconds that a console takes to end while somebody does not finish what they ask."""
    from tests.doubles.console import written

    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), 300)
        shown = console(Path(folder))
        base, token = shown.__enter__()
        host, _, port = base.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as half:
            head = f"POST /api/acts HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
            half.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n".encode())
            sleep(1.0)
            began = perf_counter()
            shown.__exit__(None, None, None)
            return perf_counter() - began


if __name__ == "__main__":
    asyncio.run(drain(sys.argv[1], sys.argv[2], int(sys.argv[3])))
