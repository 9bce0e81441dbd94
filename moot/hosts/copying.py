"""Copying what stands beside the log into a host's directory, so that it has all that its mirror names."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Final, Self

import structlog

from moot.channels.errors import ChannelError
from moot.channels.nats.objects import Objects
from moot.channels.nats.thread import CLOSE_S, NatsThread
from moot.hosts.travelling import CALLS, REPLIES, TravellingBodies, TravellingEvidence
from moot.memory.bodies_file import CALLS_NAME, BodiesFile
from moot.memory.errors import MemoryStoreError, StoreUnavailable
from moot.memory.evidence import DirectoryEvidence
from moot.place import EVIDENCE

LOOK_S: Final = 0.5
"""So often it is looked whether there is more."""

KINDS: Final = frozenset({EVIDENCE, CALLS, REPLIES})

_log = structlog.get_logger(__name__)


class Copies:
    """The copies in one directory; calls block. Use it as a context manager.

    All that the servers keep is copied, in the order in which it came there, which is before a message names it.
    """

    def __init__(self, there: Objects, directory: Path) -> None:
        """Copy from the servers into a data directory; nothing is made there before the first body comes."""
        self._there = there
        self._calls = directory / CALLS_NAME
        self._evidence = TravellingEvidence(DirectoryEvidence(directory / EVIDENCE), there)
        self._bodies: TravellingBodies | None = None
        self._seq = 0
        self._waiting: deque[str] = deque()

    def __enter__(self) -> Self:
        """Return the copies."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the files."""
        if self._bodies is not None:
            self._bodies.close()

    def catch_up(self, kinds: Collection[str] = KINDS) -> None:
        """Copy what is not here yet; what is not whole on the servers is left for the next time.

        Args:
            kinds: Of what to copy.

        Raises:
            StorageError: No server answers.
            StoreUnavailable: No server gives it, or the disk does not take it.
        """
        while (found := self._there.after(self._seq)) is not None:
            self._seq, name = found
            if name.partition("/")[0] in kinds:
                self._waiting.append(name)
        for _ in range(len(self._waiting)):
            name = self._waiting[0]
            try:
                self._copy(name)
            except StoreUnavailable:
                raise
            except MemoryStoreError as fault:
                _log.warning("what the servers keep is not copied", name=name, why=str(fault))
                self._waiting.append(name)
            self._waiting.popleft()

    def _copy(self, name: str) -> None:
        kind, _, ref = name.partition("/")
        if kind == EVIDENCE:
            self._evidence.get(ref)
        else:
            if self._bodies is None:
                self._bodies = TravellingBodies(BodiesFile(self._calls), self._there)
            if kind == CALLS:
                self._bodies.get(ref)
            else:
                self._bodies.reply_of(ref)


class Copier:
    """Copies on a thread of its own for as long as a host lives; nothing waits for it. Close it, or use `with`."""

    def __init__(self, nats: NatsThread, directory: Path) -> None:
        """Copy from now on, over a connection, into a data directory."""
        self._nats = nats
        self._directory = directory
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="copier", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Copy nothing more; blocks until a body that is under way is here. Safe to call twice."""
        self._closing.set()
        self._thread.join(CLOSE_S)

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _run(self) -> None:
        told = ""
        with Copies(Objects(self._nats), self._directory) as copies:
            while not self._closing.is_set():
                try:
                    copies.catch_up()
                    told = ""
                except CancelledError:
                    return
                except (ChannelError, MemoryStoreError) as fault:
                    if str(fault) != told:
                        told = str(fault)
                        _log.warning("what stands beside the log is not copied for now", why=told)
                self._closing.wait(LOOK_S)
