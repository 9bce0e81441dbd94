"""Asking a society of 100,000 messages: `moot why` and `moot log`, each as a command in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter

MESSAGES = 100_000
TIMES = 5
_PLACE = tempfile.TemporaryDirectory(prefix="moot-bench-why-")


@cache
def _society() -> tuple[Path, str]:
    """Make a data directory with so many messages; return it with the id of a debate in its middle."""
    from moot.channels.log.sequencer import Entry
    from moot.channels.log.write_behind import LogWriter
    from tests.doubles.biglog import Chance

    directory = Path(_PLACE.name)
    writer = LogWriter(directory / "log.sqlite")
    debates: list[str] = []

    def sink(env: object) -> None:
        writer.write(Entry(env, bytes.fromhex(env.hash), "", None))  # type: ignore[attr-defined,arg-type]
        if env.body.type == "VERDICT":  # type: ignore[attr-defined]
            debates.append(env.case_id)  # type: ignore[attr-defined]

    society = Chance(sink, silence=0.01, faults=0.005)
    society.live(messages=MESSAGES - 1)
    society.stop()
    writer.close()
    return directory, debates[len(debates) // 2]


def _took(*words: object) -> float:
    command = [sys.executable, "-m", "moot", *map(str, words)]
    took = []
    for _ in range(TIMES):
        began = perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        took.append(perf_counter() - began)
    return median(took)


def why_100000_s() -> float:
    """Median of 5 commands: why a debate in the middle came out as it did."""
    return _took("why", *_society())


def log_100000_s() -> float:
    """Median of 5 commands: the last 200 messages, as a terminal shows them."""
    return _took("log", _society()[0], "--last", 200)
