"""Growth: many open debates, a society that lives long, and a log of a million messages restarted and verified."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any

from moot.clock import VirtualClock
from moot.config.settings import load_settings
from moot.heap import settle_heap
from moot.plan import Plan
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.society import Society
from moot.stored import last_sent_at

MILLION = 1_000_000

YOUNG = 5_000
"""Messages of a society's first two weeks; the windows and most caches are full by then."""
OLD = 100_000


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _child(what: str, *words: str) -> dict[str, float]:
    """Run a part of this module in a process of its own, so that its memory is its own."""
    done = subprocess.run(
        [sys.executable, __file__, what, *words],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def open_debates(n: int) -> dict[str, float]:
    """Open so many debates at once, then bring all of them to their reports."""
    from moot.channels.log.inmemory import InMemoryBus
    from tests.benchmarks.bench_debates import StillClock, run

    took = asyncio.run(run(n, n, lambda gate: InMemoryBus(admission=gate, now=StillClock().now)))
    return {"seconds": took, "mib": _peak_mib()}


@cache
def _opened(n: int) -> dict[str, float]:
    return _child("open", str(n))


def open_debates_10000_mib() -> float:
    """Peak memory of a process that holds 10,000 open debates, in MiB."""
    return _opened(10_000)["mib"]


def open_debates_10000_vs_1000_ratio() -> float:
    """Time per debate with 10,000 open, over the same with 1,000: 1 is linear."""
    return (_opened(10_000)["seconds"] / 10_000) / (_opened(1_000)["seconds"] / 1_000)


def _directory() -> Path:
    """Name the directory after the rules that its log was made by: those of today must hold on it."""
    root = Path(__file__).resolve().parents[2]
    sources = (*(root / "protocols").rglob("*.py"), root / "tests" / "doubles" / "biglog.py")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources))).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"moot-bench-{MILLION}-{os.getuid()}-{digest}"


@cache
def million() -> Path:
    """Make a data directory with a log of a million messages; it is kept for the next time with the same rules."""
    directory = _directory()
    if (directory / "done").exists():
        return directory
    for outdated in directory.parent.glob(f"moot-bench-{MILLION}-{os.getuid()}-*"):
        shutil.rmtree(outdated)
    directory.mkdir(parents=True)
    write(directory, MILLION)
    (directory / "done").touch()
    return directory


def write(directory: Path, messages: int, **how: Any) -> None:
    """Write the log of a society that lived by chance; `how` says how, as `Chance` takes it."""
    from moot.channels.log.sequencer import Entry
    from moot.channels.log.write_behind import LogWriter
    from tests.doubles.biglog import Chance

    writer = LogWriter(directory / "log.sqlite")

    def sink(env: object) -> None:
        writer.write(Entry(env, bytes.fromhex(env.hash), "", None))  # type: ignore[attr-defined,arg-type]

    data = {"prices": {"spec": "sample", "start": "2026-02-23T10:00:00.000000Z", "seed": 1}}
    society = Chance(sink, silence=0.01, faults=0.005, data=data, **how)
    society.live(messages=messages - 1)
    society.stop()
    writer.close()


def restart(directory: Path) -> dict[str, float]:
    """Open and close a society on a directory; the seconds until it says SOCIETY_STARTED."""
    at = last_sent_at(directory)
    assert at is not None
    plan = Plan(settings=load_settings(), seed=1, start=at, directory=directory, bus="sqlite")
    took = 0.0

    async def main(clock: VirtualClock) -> None:
        nonlocal took
        began = perf_counter()
        async with await Society.open(plan, clock) as society:
            took = perf_counter() - began
            await society.run_until(at + timedelta(seconds=1))

    VirtualClock(at).run(main)
    return {"seconds": took, "mib": _peak_mib()}


def restart_1000000_s() -> float:
    """Seconds of a restart with a snapshot, after a first start that wrote it."""
    directory = str(million())
    _child("restart", directory)
    return _child("restart", directory)["seconds"]


def _present_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def live(messages: int) -> dict[str, float]:
    """Let the shipped society live on the disk, in virtual time, for so many messages.

    Nothing about it is made up: simulated minds, backtests, desk, memory and log are those of `moot up`, without
    gateway and console, which are processes of their own.

    Returns:
        Its memory when it was young, after `YOUNG` messages, and at the end, in MiB.
    """
    start = datetime(2026, 2, 23, tzinfo=UTC)
    found: dict[str, float] = {}

    async def main(clock: VirtualClock, directory: Path) -> None:
        grown = asyncio.Event()

        def listen(env: Envelope, _fx: Effects) -> None:
            if env.seq == YOUNG:
                found["young"] = _present_mib()
            if env.seq == messages:
                found["grown"] = _present_mib()
                grown.set()

        settings = load_settings(log={"durability": "process"})
        plan = Plan(
            settings=settings, seed=1, start=start, directory=directory, bus="sqlite", is_admin_simulated=True
        )
        async with await Society.open(plan, clock, listener=listen) as society:
            await society.run_until(start + timedelta(days=messages), grown)

    with tempfile.TemporaryDirectory(prefix="moot-bench-") as directory:
        VirtualClock(start).run(partial(main, directory=Path(directory)))
    return found


def society_100000_growth_mib() -> float:
    """What a society of 100,000 messages needs more than it did at 5,000, in MiB."""
    found = _child("live", str(OLD))
    return found["grown"] - found["young"]


def judge(directory: Path) -> dict[str, float]:
    """Verify a directory."""
    from moot.logs import open_log
    from moot.verify import verify

    began = perf_counter()
    with open_log(directory) as source:
        report = verify(source)
    assert report.ok, [str(finding) for finding in report.findings]
    helper_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": perf_counter() - began, "mib": _peak_mib() + helper_mib}


@cache
def _judged() -> dict[str, float]:
    return _child("judge", str(million()))


def verify_1000000_s() -> float:
    """Seconds of `moot verify` on a million messages."""
    return _judged()["seconds"]


def verify_1000000_mib() -> float:
    """Peak memory of that in MiB, its second process included."""
    return _judged()["mib"]


if __name__ == "__main__":
    part, word = sys.argv[1], sys.argv[2]
    run = {
        "open": lambda: open_debates(int(word)),
        "live": lambda: live(int(word)),
        "restart": lambda: restart(Path(word)),
        "judge": lambda: judge(Path(word)),
    }
    if part != "judge":
        settle_heap()  # as the commands do that run a society
    print(json.dumps(run[part]()))
