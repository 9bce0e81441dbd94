"""The log on disk against kill -9, full disks, second hosts and careless exits, in processes of their own."""

from __future__ import annotations

import asyncio
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from moot.channels.errors import LeaseHeld, StorageError
from moot.channels.log.file import open_log
from moot.channels.log.head import read_head
from moot.channels.log.lease import Lease, holder
from moot.channels.log.sqlite import SqliteBus
from moot.protocols.kernel.envelope import GENESIS, link
from tests.doubles.data_dir import read_lines
from tests.doubles.tiny import Ticks, TinyAdmission, decode, said

ROUNDS = 12


def start(
    directory: Path, prefix: str, *, durability: str = "process", publishers: int = 40
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.doubles.publishing_process",
            str(directory),
            durability,
            str(publishers),
            prefix,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )


def check(directory: Path) -> dict[int, str]:
    """Open the log as a host does, check its whole chain, and return the ids by seq."""
    Lease.acquire(directory).release()
    end = open_log(directory / "log.sqlite", epoch=0)
    with closing(sqlite3.connect(directory / "log.sqlite")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = db.execute("SELECT seq, id, json, hash FROM log ORDER BY seq").fetchall()
    assert [row[0] for row in rows] == list(range(1, end.head.seq + 1))
    previous = GENESIS
    for _, _, text, digest in rows:
        previous = link(previous, text)
        assert digest == previous
    assert (read_head(directory) or (0, b""))[0] <= end.head.seq
    return {row[0]: row[1] for row in rows}


def test_kill_9_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(20260223)
    acknowledged: dict[int, str] = {}
    grown = 0
    for turn in range(ROUNDS):
        process = start(tmp_path, f"r{turn}", durability="power" if turn % 3 == 0 else "process")
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, "the host said nothing"
        time.sleep(chance.uniform(0.0, 0.12))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        lines = (first + out).splitlines(keepends=True)
        for line in lines:
            if line.endswith("\n"):
                seq, key = line.split()
                assert acknowledged.setdefault(int(seq), key) == key
        log = check(tmp_path)
        assert acknowledged.items() <= log.items()
        assert len(log) > grown
        grown = len(log)


def test_a_second_host_is_refused_by_the_pid_of_the_first(tmp_path: Path) -> None:
    process = start(tmp_path, "a", publishers=1)
    try:
        assert process.stdout is not None and process.stdout.readline()
        assert holder(tmp_path) == process.pid
        with pytest.raises(LeaseHeld, match=f"process {process.pid} hosts a society"):
            asyncio.run(opened(tmp_path))
        assert process.stdout.readline()
    finally:
        process.kill()
        process.communicate()
    asyncio.run(opened(tmp_path))
    check(tmp_path)


async def opened(directory: Path) -> None:
    bus = await SqliteBus.open(
        directory / "log.sqlite", admission=TinyAdmission(), now=Ticks(), decode=decode, durability="process"
    )
    await bus.close()


def test_a_disk_that_fills_up_fails_batches_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """The kernel refuses to let the write-ahead log grow; the batch fails, the loop lives."""

    async def main() -> None:
        bus = await SqliteBus.open(
            tmp_path / "log.sqlite", admission=TinyAdmission(), now=Ticks(), decode=decode, durability="power"
        )
        async with bus:
            for n in range(10):
                await bus.publish(said(f"before {n}"))
            with file_size_limit((tmp_path / "log.sqlite-wal").stat().st_size + 60_000):
                outcomes = await asyncio.gather(
                    *(bus.publish(said(f"full {n}", "x" * 2000)) for n in range(60)), return_exceptions=True
                )
            failed = [o for o in outcomes if isinstance(o, StorageError)]
            assert failed and all(
                isinstance(o, StorageError) or not isinstance(o, Exception) for o in outcomes
            )
            assert "\n" not in str(failed[0])
            again = await asyncio.gather(*(bus.publish(said(f"full {n}", "x" * 2000)) for n in range(60)))
            assert sorted(receipt.seq for receipt in again) == list(range(11, 71))

    asyncio.run(main())
    assert len(check(tmp_path)) == 70


class file_size_limit:
    """RLIMIT_FSIZE for this process, with the signal that goes with it ignored."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __enter__(self) -> None:
        self.handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self.limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.limits[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self.limits)
        signal.signal(signal.SIGXFSZ, self.handler)


OPEN = """
import asyncio, sys
from pathlib import Path
from moot.channels.log.sqlite import SqliteBus
from moot.channels.guests.inbox import post
from moot.channels.guests.pump import InboxPump
from tests.doubles.tiny import *

async def opened():
    return await SqliteBus.open(
        Path(sys.argv[1]) / "log.sqlite", admission=TinyAdmission(), now=Ticks(), decode=decode
    )
"""

EXITS = {
    "an exception while the bus is open": """
async def main():
    bus = await opened()
    await bus.publish(said("a"))
    raise LookupError("boom")
asyncio.run(main())
""",
    "an exception while drafts are on their way": """
async def main():
    bus = await opened()
    tasks = [asyncio.create_task(bus.publish(said(f"k{n}"))) for n in range(200)]
    await asyncio.sleep(0)
    raise LookupError("boom")
asyncio.run(main())
""",
    "an exception beside a pump": """
async def main():
    bus = await opened()
    pump = InboxPump(Path(sys.argv[1]) / "log.sqlite", bus, decode_body)
    await bus.publish(said("a"))
    raise LookupError("boom")
asyncio.run(main())
""",
    "an exception in a fold": """
async def main():
    async with await opened() as bus:
        def fold(envelope): raise LookupError("boom")
        bus.on_append = fold
        await bus.publish(said("a"))
asyncio.run(main())
""",
    "an exception in a subscriber": """
async def main():
    async with await opened() as bus:
        async with asyncio.TaskGroup() as group:
            async def listen():
                async for envelope in bus.subscribe():
                    raise LookupError("boom")
            group.create_task(listen())
            await bus.publish(said("a"))
            await asyncio.sleep(60)
asyncio.run(main())
""",
    "sys.exit": """
async def main():
    bus = await opened()
    await bus.publish(said("a"))
    sys.exit("boom")
asyncio.run(main())
""",
}


@pytest.mark.parametrize("name", EXITS)
def test_the_interpreter_exits_after(tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", OPEN + EXITS[name], str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 1
    assert "boom" in done.stderr
    assert "never retrieved" not in done.stderr and "was destroyed" not in done.stderr
    assert "ResourceWarning" not in done.stderr
    check(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_host_leaves_a_good_log(tmp_path: Path, number: signal.Signals) -> None:
    process = start(tmp_path, "a")
    assert process.stdout is not None and process.stdout.readline()
    process.send_signal(number)
    process.communicate(timeout=90)
    assert check(tmp_path)


def test_guests_post_from_other_processes_while_the_host_is_killed_and_started_again(tmp_path: Path) -> None:
    """Whatever the host's end, each post is logged exactly once."""
    host = (
        OPEN
        + """
async def main():
    async with await opened() as bus:
        async with InboxPump(Path(sys.argv[1]) / "log.sqlite", bus, decode_body, poll_s=0.002):
            print("up", flush=True)
            await asyncio.sleep(60)
asyncio.run(main())
"""
    )
    guest = (
        OPEN
        + """
from moot.channels.guests.drafts import draft_to_json
directory, name = sys.argv[1:]
for n in range(60):
    post(Path(directory) / "log.sqlite", draft_to_json(said("-", f"{name} {n}")), f"{name}/{n}", 0.02)
"""
    )
    asyncio.run(opened(tmp_path))
    guests = [subprocess.Popen([sys.executable, "-c", guest, str(tmp_path), name]) for name in ("ann", "bob")]
    chance = random.Random(7)

    def living() -> bool:
        return any(process.poll() is None for process in guests)

    def waiting() -> int:
        with closing(sqlite3.connect(tmp_path / "log.sqlite")) as db:
            return int(db.execute("SELECT count(*) FROM inbox WHERE receipt IS NULL").fetchone()[0])

    while living() or waiting():
        process = subprocess.Popen(
            [sys.executable, "-c", host, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.02, 0.3))
        process.kill()
        process.communicate()
    assert [process.returncode for process in guests] == [0, 0]
    ids = sorted(check(tmp_path).values())
    assert ids == sorted(f"{name}/{n}" for name in ("ann", "bob") for n in range(60))
    assert len(read_lines(tmp_path / "log.sqlite")) == 120


class SmallDisk:
    """A file system of 400 KiB; who may not mount one gets a directory that limits and rights make like it."""

    def __init__(self, place: Path) -> None:
        place.mkdir()
        self.place = place
        self.is_mounted = mount("-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place))

    def make_read_only(self) -> str:
        """Let nothing be written any more; return what the system says of a file that is to be."""
        if self.is_mounted:
            assert mount("-o", "remount,ro", str(self.place))
            return "Read-only file system"
        for path in (*self.place.iterdir(), self.place):
            path.chmod(path.stat().st_mode & ~0o222)
        return "Permission denied"

    @contextmanager
    def filled(self) -> Iterator[None]:
        """Let there be room for a little, until it is left."""
        if not self.is_mounted:
            with file_size_limit(250_000):
                yield
            return
        ballast = self.place / "ballast"
        ballast.write_bytes(bytes(150_000))
        yield
        ballast.unlink()

    def remove(self) -> None:
        if self.is_mounted:
            subprocess.run(["umount", str(self.place)], check=True)
        else:
            self.place.chmod(0o700)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    disk = SmallDisk(tmp_path / "small")
    yield disk
    disk.remove()


def mount(*options: str) -> bool:
    return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0


def test_a_read_only_disk_is_a_storage_error(small_disk: SmallDisk) -> None:
    asyncio.run(opened(small_disk.place))
    why = small_disk.make_read_only()
    with pytest.raises(StorageError, match=why):
        asyncio.run(opened(small_disk.place))


def test_a_disk_that_is_full_is_a_storage_error_until_there_is_room(small_disk: SmallDisk) -> None:
    asyncio.run(fill_up(small_disk))
    check(small_disk.place)


async def fill_up(disk: SmallDisk) -> None:
    place = disk.place
    bus = await SqliteBus.open(
        place / "log.sqlite", admission=TinyAdmission(), now=Ticks(), decode=decode, durability="power"
    )
    async with bus:
        await bus.publish(said("first"))
        n = 0
        with disk.filled():
            while True:
                try:
                    await bus.publish(said(f"k{n}", "x" * 2000))
                except StorageError as exc:
                    assert "\n" not in str(exc)
                    break
                n += 1
            with pytest.raises(StorageError):
                await bus.publish(said("still full", "x" * 8000))
        receipt = await bus.publish(said(f"k{n}", "x" * 2000))
        assert receipt.seq == n + 2
