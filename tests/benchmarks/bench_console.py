"""The console over a log of a million messages: first window, memory, catching up; and what it delays."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter

from tests.benchmarks.bench_growth import million

WINDOWS = 50
"""Windows whose median is taken."""


def _child(what: str) -> dict[str, float]:
    """Run a part of this module in a process of its own, so that its memory is its own."""
    done = subprocess.run(
        [sys.executable, __file__, what, str(million())],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _rss_mib() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def watch(directory: Path, *, is_new: bool) -> dict[str, float]:
    """Watch a directory until everything is read.

    Args:
        directory: A log that nobody writes.
        is_new: Begin without what an earlier console left.
    """
    import shutil

    from tests.doubles.console import is_read, watched

    if is_new:
        for path in directory.glob("console*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    found: dict[str, float] = {}
    base = _rss_mib()
    loop = asyncio.get_running_loop()
    began = perf_counter()
    lags: list[float] = []

    async def lag() -> None:
        while True:
            wanted = loop.time() + 0.01
            await asyncio.sleep(0.01)
            lags.append(loop.time() - wanted)

    lagging = asyncio.create_task(lag())
    async with watched(directory, is_whole=False) as model:
        window = await model.window(limit=100)
        found["first_window_s"] = perf_counter() - began
        assert len(window.envelopes) == 100
        rare = perf_counter()
        await model.window(channel="#a-report", limit=100)
        found["first_channel_s"] = perf_counter() - rare
        while not model.progress().is_complete:
            await asyncio.sleep(0.05)
        found["docket_s"] = perf_counter() - began
        while not is_read(model):
            await asyncio.sleep(0.05)
        found["whole_s"] = perf_counter() - began
        found["lag_most_s"] = max(lags)
        found["lag_p99_s"] = sorted(lags)[int(len(lags) * 0.99)]
        took = []
        for n in range(WINDOWS):
            at = perf_counter()
            await model.window(channel="#a-arena", before=1_000_000 - n * 15_000, limit=100)
            took.append(perf_counter() - at)
        found["window_s"] = median(took)
        at = perf_counter()
        assert (await model.search("critic rates overfitting", limit=50)).envelopes
        found["search_s"] = perf_counter() - at
        found["mib"] = _rss_mib() - base
        lagging.cancel()
    return found


@cache
def _first() -> dict[str, float]:
    return _child("new")


@cache
def _again() -> dict[str, float]:
    _first()
    return _child("again")


def first_window_1000000_s() -> float:
    """Seconds from the start to the first window of 100 messages, with no index yet."""
    return _first()["first_window_s"]


def catch_up_1000000_s() -> float:
    """Seconds until docket, index and texts of a log that was never read are complete."""
    return _first()["whole_s"]


def loop_lag_1000000_s() -> float:
    """The longest that the loop was held up meanwhile, in seconds."""
    return _first()["lag_most_s"]


def reopen_1000000_s() -> float:
    """Seconds until everything answers after a restart of the console."""
    return _again()["whole_s"]


def window_1000000_s() -> float:
    """Median seconds of a window of a channel anywhere in the log."""
    return _again()["window_s"]


def search_1000000_s() -> float:
    """Seconds of a search for three words."""
    return _again()["search_s"]


def model_1000000_mib() -> float:
    """Memory that the model of a million messages takes, in MiB, with its docket."""
    return _again()["mib"]


if __name__ == "__main__":
    part, word = sys.argv[1], sys.argv[2]
    import structlog

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    print(json.dumps(asyncio.run(watch(Path(word), is_new=part == "new"))))
