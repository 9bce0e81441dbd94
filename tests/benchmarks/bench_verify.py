"""How fast a log is verified. Run as a script: messages per second, and a long log by its number of messages."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from moot.logs import open_log
from moot.verify import verify
from tests.doubles.biglog import write_log

MESSAGES = 50_000
ROUNDS = 3


def _judge(path: Path) -> float:
    """Verify a log that must hold; return its messages per second."""
    with open_log(path) as source:
        began = perf_counter()
        report = verify(source)
        took = perf_counter() - began
    assert report.ok, report.findings
    return report.messages / took


def verify_messages_per_s(messages: int = MESSAGES) -> float:
    """Measure the verification of a year of a society by chance, from JSON Lines with hashes."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / "log.jsonl"
        write_log(path, messages)
        return median(_judge(path) for _ in range(ROUNDS))


def main() -> None:
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    with TemporaryDirectory() as directory:
        path = Path(directory) / "log.jsonl"
        write_log(path, messages)
        rate = _judge(path)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{messages:,} messages: {rate:,.0f} messages/s, {messages / rate:.1f} s, {peak_mib:.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
