"""A society that lives and its console, each in a process of its own, as a newcomer has them; for browsers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from moot.channels.gateway import address
from moot.channels.log.lease import Lease
from moot.clock import VirtualClock
from moot.config.settings import load_settings
from moot.plan import Plan
from moot.protocols.research.seats import CRITIC
from moot.society import Society

BEGINS: Final = datetime(2026, 2, 22, 20, 0, tzinfo=UTC)
SEED: Final = 2
"""With it, ten hours hold an escalation of a deployment and a debate in which the Critic owes."""
SLOW: Final = 2
"""The society's speed: slow enough that nothing is missed, and not the real clock, which cannot be set."""
CONFIG: Final = '[admins]\nconsole = ["owner", "ann"]\n'


def live_until_asked(directory: Path) -> None:
    """Let a society live in virtual time until a person is asked about a deployment while the Critic owes."""
    directory.mkdir(parents=True)
    plan = Plan(settings=load_settings(None), seed=SEED, start=BEGINS, directory=directory, is_warm_up=True)

    async def main(_clock: VirtualClock) -> None:
        until = BEGINS + timedelta(hours=4)
        async with await Society.open(plan, _clock, lease=lease) as society:
            while not is_asked(society):
                await society.run_until(until)
                until += timedelta(minutes=3)
            await society.close("the test begins")

    with Lease.acquire(directory) as lease:
        VirtualClock(BEGINS).run(main)


def is_asked(society: Society) -> bool:
    """Say whether an escalation is open and the Critic owes something."""
    docket = society.host.docket
    is_open = any(case.kind == "escalation" and case.phase == "open" for case in docket.cases.values())
    return is_open and any(owed.seat == CRITIC for owed in docket.open.values())


@dataclass(slots=True)
class Consoled:
    """A living society with its console.

    Attributes:
        directory: The data directory.
        work: The working directory of both processes.
        base: `http://127.0.0.1:PORT`.
        owner: The address that makes one an admin.
        viewer: The address that makes one a viewer.
    """

    directory: Path
    work: Path
    base: str = ""
    owner: str = ""
    viewer: str = ""
    _society: subprocess.Popen[bytes] | None = None
    _console: subprocess.Popen[bytes] | None = None
    _config: Path = field(init=False)

    def __post_init__(self) -> None:
        self._config = self.work / "moot.toml"
        self._config.write_text(CONFIG)

    def start_society(self) -> None:
        """Let it go on where it was."""
        words = ["moot", "up", "--no-console", "--speed", str(SLOW), "--data", str(self.directory)]
        self._society = self._run(words, "society.out")
        wait_for(lambda: address.find(self.directory).exists(), "the society's socket")

    def start_console(self) -> None:
        """Serve it, on the port it had before if it had one."""
        out = self.work / "console.out"
        out.unlink(missing_ok=True)
        port = self.base.rpartition(":")[2] or "0"
        self._console = self._run(["moot.console", str(self.directory), "--port", port], out.name)
        wait_for(lambda: "viewers: " in out.read_text(), "the console's address")
        told = dict(line.split(": ", 1) for line in out.read_text().splitlines() if ": http" in line)
        self.owner, self.viewer = told["console"], told["viewers"]
        self.base = self.owner.partition("/?")[0]

    def kill_console(self) -> None:
        """Kill the console without a farewell."""
        assert self._console is not None
        self._console.kill()
        self._console.wait()

    def stop(self) -> None:
        """End both."""
        for process in (self._console, self._society):
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(60)

    def _run(self, words: list[str], out: str) -> subprocess.Popen[bytes]:
        # The tree is importable from elsewhere, and the working directory is one that must stay clean.
        paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
        with (self.work / out).open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *words, "--config", str(self._config)],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.work,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "NO_COLOR": "1"},
            )


def wait_for(is_there: Callable[[], object], what: str, *, within_s: float = 60.0) -> None:
    """Return as soon as something is there; fail with its name when it never comes."""
    end = time.monotonic() + within_s
    while not is_there():
        if time.monotonic() > end:
            raise AssertionError(f"no {what} within {within_s:g} s")
        time.sleep(0.02)


@contextmanager
def consoled(place: Path) -> Iterator[Consoled]:
    """Have a society that waits for a person, living on, and its console."""
    work = place / "work"
    work.mkdir()
    found = Consoled(place / "data", work)
    live_until_asked(found.directory)
    try:
        found.start_society()
        found.start_console()
        yield found
    finally:
        found.stop()
