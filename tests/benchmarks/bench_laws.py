"""How fast a log is held against all laws at once."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from moot.laws import LAWS, Message, Watch
from tests.doubles.biglog import write_log

MESSAGES = 50_000
ROUNDS = 3


def _judge(log: list[Message]) -> float:
    """Hold a log that breaks none against the laws; return its messages per second."""
    watch = Watch(LAWS)
    began = perf_counter()
    found = [one for message in log for one in watch.see(message)]
    found += watch.end()
    took = perf_counter() - began
    assert not found, found[0]
    return len(log) / took


def laws_messages_per_s(messages: int = MESSAGES) -> float:
    """Measure a year of a society by chance, read already."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / "log.jsonl"
        write_log(path, messages)
        log = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return median(_judge(log) for _ in range(ROUNDS))


if __name__ == "__main__":
    print(f"{len(LAWS)} laws: {laws_messages_per_s():,.0f} messages/s")
