"""The gateway: how soon an act is in the log, how fast a backlog drains and in what memory, what mirroring costs.

Real processes over real sockets; the platform is the fake one, whose own work is a row in an SQLite file.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any, NamedTuple

from moot.channels.gateway.bridge import BusBridge
from moot.channels.gateway.guest import GuestHost
from moot.channels.gateway.server import GatewayServer
from moot.channels.log.sqlite import SqliteBus
from moot.channels.outbox.pacing import DISCORD, SLACK, Budget, Pace
from moot.clock import RealClock
from moot.clock.io_thread import IoThread
from moot.gateway import NICE
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.envelope import Actor
from moot.protocols.kernel.rules import Gate
from tests.benchmarks import bench_debates
from tests.doubles.fake_platform import PlatformFile
from tests.doubles.small_log import SmallLog

ROOT = Path(__file__).parents[2]
FAKE = "tests.doubles.fake_platform:FakePlatform"
PATIENCE_S = 120.0

ACTS = 60
QUEUED = 10_000
CHANNELS = 5
FASTER = 50
"""The drain is measured at fifty times Slack's pace, so that what is slow of our own shows."""
DEBATES = 3_000
ROUNDS = 5


def wait_for(is_true: Callable[[], object], what: str, look_s: float = 0.01) -> None:
    end = perf_counter() + PATIENCE_S
    while not is_true():
        if perf_counter() > end:
            raise AssertionError(f"no {what} in {PATIENCE_S:g} s")
        sleep(look_s)


@contextmanager
def gateway(directory: Path, surfaces: dict[str, dict[str, Any]]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a gateway process with fake platforms, as nice as Moot's own."""
    options = {
        "data_dir": str(directory),
        "surfaces": {
            name: [FAKE, {"name": name, "path": str(directory / f"{name}.platform"), **how}]
            for name, how in surfaces.items()
        },
        "nice": NICE,
    }
    command = [sys.executable, "-m", "tests.doubles.gateway_process", json.dumps(options)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        assert process.stdin is not None
        process.stdin.close()


# ------------------------------------------------------------ an act


def act_to_log_ms() -> float:
    """From a person's act on the platform to the message in the log of a living society, on the disk; median.

    It includes the millisecond in which the fake platform looks for acts, as a platform's own latency would be.
    """
    with tempfile.TemporaryDirectory() as folder:
        directory, config = Path(folder) / "data", Path(folder) / "moot.toml"
        platform = PlatformFile(Path(folder) / "platform.sqlite")
        config.write_text(
            f'[surfaces]\nfake = {{ module = "{FAKE}", path = "{folder}/platform.sqlite",'
            ' plan = { poll_s = 0.001 } }\n[admins]\nfake = ["ana"]\n'
        )
        words = ["up", "--no-console", "--data", str(directory), "--config", str(config)]
        with (Path(folder) / "out").open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "moot", *words], cwd=ROOT, stdout=out, stderr=out
            )
        try:
            wait_for(platform.posts, "first post")
            with closing(sqlite3.connect(f"file:{directory}/log.sqlite?mode=ro", uri=True)) as log:
                return 1_000 * median(_act(platform, log, n) for n in range(ACTS))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
            platform.close()


def _act(platform: PlatformFile, log: sqlite3.Connection, n: int) -> float:
    before = log.execute("SELECT max(seq) FROM log").fetchone()[0]
    began = perf_counter()
    act = platform.person_does("note", "#a-arena", text=f"what about the tail risk ({n})")
    sql = "SELECT 1 FROM log WHERE seq > ? AND id = ?"
    key = Actor("human", "fake", "ana").own(act)
    wait_for(lambda: log.execute(sql, (before, key)).fetchone(), "message", 0.0005)
    took = perf_counter() - began
    sleep(0.05)
    return took


# ------------------------------------------------------------ a backlog


class Drain(NamedTuple):
    """How a backlog was worked off."""

    share_of_rate: float
    gateway_mib: float


def _plain(pace: Pace) -> dict[str, Any]:
    def budget(one: Budget | None, faster: int = 1) -> list[float] | None:
        return None if one is None else [one.per_s * faster, one.burst]

    return {
        "channel": budget(pace.channel),
        "everywhere": budget(pace.everywhere),
        "backlog": pace.backlog,
        "fold_most": pace.fold_most,
    }


@cache
def _drain() -> Drain:
    """Let a gateway post what was said while its platform was down, message by message."""
    assert SLACK.channel is not None
    assert SLACK.everywhere is not None
    channel = Budget(SLACK.channel.per_s * FASTER, SLACK.channel.burst)
    everywhere = Budget(SLACK.everywhere.per_s * FASTER, SLACK.everywhere.burst)
    pace = Pace(channel=channel, everywhere=everywhere, backlog=SLACK.backlog, fold_most=1)
    log = SmallLog(batch=128)
    for n in range(QUEUED):
        log.say(
            "the gap between train and validation is wide " * 8, f"#c-{n % CHANNELS}", case_id=f"hyp_{n % 50}"
        )
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_drain_in(Path(folder), log, pace))


async def _drain_in(directory: Path, log: SmallLog, pace: Pace) -> Drain:
    platform = PlatformFile(directory / "slack.platform")
    host = GuestHost(log_id="log", source=log, publish=log.publish)
    server = asyncio.create_task(GatewayServer(host, data_dir=directory).serve())
    platform.switch("limited", "1")
    with gateway(directory, {"slack": {"pace": _plain(pace), "plan": {"retry_after_s": 0.01}}}) as process:
        await asyncio.to_thread(wait_for, lambda: _taken(directory) == QUEUED, "backlog")
        began = perf_counter()
        platform.switch("limited", "0")
        await asyncio.to_thread(wait_for, lambda: _count(platform) == QUEUED, "drained backlog")
        took = perf_counter() - began
        peak = _peak_mib(process.pid)
    assert sorted(platform.seqs()) == list(range(1, QUEUED + 1))
    platform.close()
    server.cancel()
    await asyncio.gather(server, return_exceptions=True)
    assert pace.everywhere is not None
    return Drain((QUEUED - pace.everywhere.burst) / pace.everywhere.per_s / took, peak)


def _taken(directory: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{directory}/outbox-slack.sqlite?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT max(cursor) FROM logs").fetchone()[0] or 0)
    except sqlite3.Error:
        return 0


def _count(platform: PlatformFile) -> int:
    return int(platform.db.execute("SELECT count(*) FROM posts").fetchone()[0])


def _peak_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no peak of memory")


def drain_ratio() -> float:
    """How much of the allowed rate 10,000 queued messages drain at."""
    return _drain().share_of_rate


def drain_gateway_mib() -> float:
    """Peak memory of the gateway's process meanwhile."""
    return _drain().gateway_mib


# ------------------------------------------------------------ what mirroring costs


def mirrored_throughput_ratio() -> float:
    """Debates a second while a gateway mirrors on two platforms, over debates a second alone.

    The median of rounds in which both take turns, so that what else the machine does falls on both.
    """
    ratios = []
    for _ in range(ROUNDS):
        alone, mirrored, again, alone_again = (_debates(how) for how in (False, True, True, False))
        ratios.append((mirrored + again) / (alone + alone_again))
    return median(ratios)


def _debates(is_mirrored: bool) -> float:
    surfaces = {
        name: {"pace": _plain(pace), "plan": {"poll_s": 0.1}}
        for name, pace in (("slack", SLACK), ("discord", DISCORD))
    }
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        with gateway(directory, surfaces) if is_mirrored else nullcontext():
            return DEBATES / asyncio.run(_hold(directory, is_mirrored))


async def _hold(directory: Path, is_mirrored: bool) -> float:
    """Hold the debates on a bus that is served to guests, as `moot up` does."""
    io = IoThread(RealClock())
    feeding: list[asyncio.Task[None]] = []
    guests: set[int] = set()

    async def make(gate: Gate) -> SqliteBus:
        bus = await SqliteBus.open(
            directory / "log.sqlite",
            admission=gate,
            now=bench_debates.StillClock().now,
            decode=decode_stored,
            durability="process",
            hold=nullcontext,
        )
        bridge = Watched(bus, await io.call(_running_loop, wall_timeout_s=5.0), guests)
        feeding.append(asyncio.create_task(bridge.run()))
        io.spawn(
            GatewayServer(GuestHost(log_id="log", source=bridge, publish=_nobody), data_dir=directory).serve
        )
        if is_mirrored:
            await asyncio.to_thread(wait_for, lambda: len(guests) == 2, "guests")
        return bus

    try:
        return await bench_debates.run(DEBATES, 64, make)
    finally:
        for task in feeding:
            task.cancel()
        await asyncio.gather(*feeding, return_exceptions=True)
        await io.aclose()


class Watched(BusBridge):
    """A bridge that counts who reads from it."""

    def __init__(self, bus: SqliteBus, io_loop: asyncio.AbstractEventLoop, guests: set[int]) -> None:
        super().__init__(bus, io_loop)
        self._guests = guests

    def subscribe(self, cursor: int) -> Any:
        self._guests.add(len(self._guests))
        return super().subscribe(cursor)


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def _nobody(_draft: Any, _key: str) -> Any:
    raise AssertionError("nobody acts here")


if __name__ == "__main__":
    print(f"an act is in the log after {act_to_log_ms():.1f} ms")
    print(f"a backlog drains at {drain_ratio():.3f} of the allowed rate, in {drain_gateway_mib():.0f} MiB")
    print(f"mirrored on two platforms a society holds {mirrored_throughput_ratio():.3f} of the debates")
