"""How long hosts of a society on NATS with a million messages take to begin: `python -m tests.soak.hosts_growth`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from moot.hosts.moving import to_nats
from tests.benchmarks.bench_growth import MILLION, write
from tests.doubles.hosts import Hosts, wait_for
from tests.doubles.nats import running

START: Final = datetime(2000, 1, 3, tzinfo=UTC)
"""Long ago, so that a million messages are in the past."""
PATIENCE_S: Final = 1_200.0


def took(what: str, work: Callable[[], Any]) -> None:
    """Do something, and say how long it took."""
    began = time.perf_counter()
    work()
    print(f"{what}: {time.perf_counter() - began:.1f} s", flush=True)


def measure(folder: Path, messages: int) -> None:
    """Say how long each step takes."""
    had = folder / "had"
    had.mkdir()
    took(f"{messages:,} messages are written", lambda: write(had, messages, start=START))
    with running(folder / "nats") as server:
        address = server.address("desk")
        took("they are imported", lambda: to_nats(had, address))
        with Hosts(folder, address) as hosts:

            def led(name: str, lives: int) -> None:
                hosts.start(name)
                wait_for(lambda: hosts.told(name).count("leads nats:") == lives, PATIENCE_S)
                head = int(hosts.standing()["head"])
                wait_for(lambda: hosts.standing()["head"] > head or lives_on(name), PATIENCE_S)

            def lives_on(name: str) -> bool:
                return hosts.told(name).count("the society lives at") >= hosts.told(name).count("leads nats:")

            took("a host with the mirror leads, without a snapshot", lambda: led("had", 1))
            took("it ends, and writes a snapshot", lambda: hosts.stop("had"))
            took("it leads again, with mirror and snapshot", lambda: led("had", 2))

            def followed() -> None:
                hosts.start("fresh")
                wait_for(lambda: "this host follows" in hosts.told("fresh"), PATIENCE_S)

            took("a fresh host fills its mirror, folds it and follows", followed)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--messages", type=int, default=MILLION, help="how long the log is; default a million"
    )
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="moot-hosts-") as folder:
        measure(Path(folder), options.messages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
