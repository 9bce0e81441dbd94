"""Hosts of one society on NATS, each a process of its own with a directory of its own, and a client that posts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from moot.channels.bus import Head
from moot.channels.errors import StorageError
from moot.channels.guests.drafts import draft_to_json
from moot.channels.log.file import reading
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.following import Following
from moot.channels.nats.inbox import NatsInbox, post
from moot.channels.nats.stream import NatsStream, StreamRow
from moot.channels.nats.thread import NatsThread
from moot.hosts.presence import hosts_json
from moot.protocols.kernel.envelope import Actor, Draft
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import VIEWER

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0

_AHEAD = """
import runpy, sys, time
ahead_ns, true = int(sys.argv.pop(1)) * 10**9, time.time_ns
time.time_ns = lambda: true() + ahead_ns
runpy.run_module("moot", run_name="__main__", alter_sys=True)
"""
"""Moot on a machine whose clock is ahead."""


def note(n: int) -> str:
    """Return a note of a person, as JSON."""
    return draft_to_json(
        Draft(
            channel="#bridge",
            author=VIEWER,
            body=Note(text=f"note {n}"),
            actor=Actor("human", "cli", "ann"),
            key=f"{n}",
        )
    )


def rows_of(directory: Path) -> list[tuple[int, str, str, bytes]]:
    """Return seq, id, text and hash of every message in a host's mirror."""
    with reading(directory / "log.sqlite") as rows:
        return [(row.seq, row.id, row.text, row.hash) for row in rows.walk()]


class Came(NamedTuple):
    """A message of the stream, and when it came, in wall seconds that never run backwards."""

    row: StreamRow
    at_s: float


class Hosts:
    """Processes of `moot up`, by name; `with` kills what is left."""

    def __init__(self, folder: Path, address: NatsAddress, *, config: Path | None = None) -> None:
        self.folder = folder
        self.address = address
        self._config = config
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._nats = NatsThread(address, name="rehearsal")
        self.came: list[Came] = []
        self._watching: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in [*self._processes]:
            self.kill(name)
        self._nats.close()

    def directory(self, name: str) -> Path:
        return self.folder / name

    def start(
        self, name: str, address: NatsAddress | None = None, *, leads: bool = True, ahead_s: int = 0
    ) -> None:
        """Start a host, or a mirror that never leads; its output goes to a file beside its directory.

        Args:
            name: What it is called.
            address: Where it finds the servers, if not where the others do.
            leads: Whether it may lead.
            ahead_s: By how many seconds its clock is ahead.
        """
        where = address or self.address
        program = ["-c", _AHEAD, str(ahead_s)] if ahead_s else ["-m", "moot"]
        command = [sys.executable, *program, "up", "--no-console", "--data" if leads else "--mirror"]
        command += [str(self.directory(name)), "--bus", where.where, "--society", where.society]
        if self._config is not None:
            command += ["--config", str(self._config)]
        with (self.folder / f"{name}.out").open("ab") as out:
            environ = {**os.environ, "NO_COLOR": "1"}
            self._processes[name] = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, env=environ)

    def pause(self, name: str) -> None:
        """Let a host stand still, with all that it has in hand."""
        self._processes[name].send_signal(signal.SIGSTOP)

    def waiting(self) -> int:
        """Count the posts in the inbox of all hosts that nobody has answered for."""

        async def work(connection: NatsConnection) -> int:
            return await (await NatsInbox.open(connection)).waiting()

        return self._nats.wait(work)

    def kill(self, name: str) -> None:
        """Kill a host, as kill -9 does."""
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def stop(self, name: str) -> int:
        """Ask a host to end, and return its exit code."""
        process = self._processes.pop(name)
        process.send_signal(signal.SIGTERM)
        return process.wait(PATIENCE_S)

    def ended(self, name: str) -> int:
        """Wait until a host ended of itself, and return its exit code."""
        return self._processes.pop(name).wait(PATIENCE_S)

    def told(self, name: str) -> str:
        """Return what a host has printed."""
        return (self.folder / f"{name}.out").read_text()

    def standing(self) -> dict[str, Any]:
        """Return who leads, and how far each host is."""
        return self._nats.wait(hosts_json)

    def leader(self) -> str:
        """Wait until a host that runs leads, and has said something; return its name."""

        def look() -> str:
            found = self.standing()
            led = (found["leader"] or {}).get("name", "")
            named = [name for name in self._processes if led.endswith(f"-{name}")]
            return named[0] if named and found["head"] else ""

        return str(wait_for(look))

    def together(self) -> int:
        """Wait until every host that runs is as far as the stream is now; return how far that is."""
        head = int(self.standing()["head"])

        def look() -> int:
            hosts = self.standing()["hosts"]
            near = {host["name"].rpartition("-")[2] for host in hosts if host["seq"] >= head}
            return head if near >= set(self._processes) else 0

        return int(wait_for(look))

    def started_after(self, place: int) -> float:
        """Wait until a leader has begun after so many messages that were watched; return when that came."""

        def look() -> float | None:
            starts = (
                came.at_s for came in self.came[place:] if '"type":"SOCIETY_STARTED"' in came.row.row.text
            )
            return next(starts, None)

        return float(wait_for(look))

    def watch(self) -> None:
        """Note every message of the stream from now on when it comes."""

        async def work(connection: NatsConnection) -> None:
            def take(found: StreamRow) -> None:
                self.came.append(Came(found, time.monotonic()))

            await Following(NatsStream(connection), Head(), take).run()

        self._watching = self._nats.run(work)


class Client:
    """A person who posts all the time from a machine of their own; `with` lets them begin and end."""

    def __init__(self, address: NatsAddress, drafts: Any) -> None:
        self.acknowledged: dict[str, int] = {}
        self.waits: list[float] = []
        self._address = address
        self._drafts = drafts
        self._stop = threading.Event()
        self._fault: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="client")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        if self._fault is not None:
            raise self._fault

    def posts(self, more: int) -> None:
        """Wait until so many more of its posts are acknowledged."""
        until = len(self.acknowledged) + more
        wait_for(lambda: self._fault or len(self.acknowledged) >= until)

    def _run(self) -> None:
        try:
            with NatsThread(self._address, name="client") as nats:
                n = 0
                while not self._stop.is_set():
                    n += 1
                    began = time.monotonic()
                    receipt = None
                    while receipt is None and time.monotonic() - began < PATIENCE_S:
                        # Whatever is not known to be kept is posted again under the same key.
                        with suppress(StorageError):
                            receipt = post(nats, self._drafts(n), f"note-{n}")
                    assert receipt is not None and receipt["status"] in ("accepted", "duplicate"), receipt
                    self.acknowledged[receipt["id"]] = receipt["seq"]
                    self.waits.append(time.monotonic() - began)
        except BaseException as fault:
            self._fault = fault


def wait_for(look: Any, patience_s: float = PATIENCE_S) -> Any:
    """Look until there is something, and return it."""
    until = time.monotonic() + patience_s
    while not (found := look()):
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.02)
    return found
