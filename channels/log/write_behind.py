"""Writing the log out behind a bus in memory: for simulations, whose time no disk may hold up (K2)."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Self

from moot.channels.bus import Head
from moot.channels.errors import ChannelError, StorageError
from moot.channels.log.file import connect, disk_error, insert_sql, open_log
from moot.channels.log.head import write_head
from moot.channels.log.lease import Lease, fenced_out
from moot.channels.log.sequencer import Entry

BATCH: Final = 512


class LogWriter:
    """A thread that writes entries into a new `log.sqlite`, while nobody waits for it.

    Order: that of `write`, which is `InMemoryBus`'s `on_entry`. The log is complete, and the file `head`
    written, when `close` returns. A disk that does not take a batch stops the writing at a whole batch;
    `write` and `close` then say so.

    Args:
        path: The file, new or empty: a bus in memory begins at seq 1.
        lease: The lease on its directory; taken, and released by `close`, when not given.

    Raises:
        LeaseHeld: Another process hosts a society there.
        StorageError: There is a log with messages in it, or the disk does not take one.
    """

    def __init__(self, path: Path | str, *, lease: Lease | None = None) -> None:
        self._path = Path(path)
        self._fault: ChannelError | None = None
        self._queue: SimpleQueue[Entry | None] = SimpleQueue()
        with ExitStack() as exits:
            held = lease or exits.enter_context(Lease.acquire(self._path.parent))
            end = open_log(self._path, epoch=held.epoch)
            held.raise_to(end.epoch)
            if end.head.seq:
                raise StorageError(f"{self._path} has {end.head.seq} messages: choose another directory")
            self._exits = exits.pop_all()
        self._epoch = end.epoch
        self._head = end.head
        self._thread = threading.Thread(target=self._run, name="log writer", daemon=True)
        self._thread.start()

    def write(self, entry: Entry) -> None:
        """Take an entry; returns at once.

        Raises:
            StorageError: An earlier one could not be written.
            LeaseHeld: Another process took the log over.
        """
        if self._fault is not None:
            raise self._fault
        self._queue.put(entry)

    def close(self) -> None:
        """Write what is left, then the file `head`; blocks until then. Safe to call twice.

        Raises:
            StorageError: Not everything could be written.
            LeaseHeld: Another process took the log over.
        """
        self._queue.put(None)
        self._thread.join()
        self._exits.close()
        if self._fault is not None:
            raise self._fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        try:
            with closing(connect(self._path, durability="process")) as db:
                while batch := self._next_batch():
                    values = [value for entry in batch for value in entry.row]
                    values += (self._epoch, self._head.seq)
                    if db.execute(insert_sql(len(batch)), values).rowcount != len(batch):
                        (epoch,) = db.execute("SELECT epoch FROM fence").fetchone()
                        if epoch != self._epoch:
                            raise fenced_out(self._path.parent)
                        raise StorageError(f"{self._path} was changed behind its host")
                    self._head = Head(batch[-1].envelope.seq, batch[-1].hash)
            write_head(self._path.parent, self._head)
        except sqlite3.Error as exc:
            self._fault = disk_error(self._path, exc)
        except OSError as exc:
            self._fault = StorageError(f"{self._path.parent}: {exc.strerror}")
        except ChannelError as exc:
            self._fault = exc

    def _next_batch(self) -> list[Entry]:
        """Wait for entries and take what is there; empty at the end."""
        entry = self._queue.get()
        if entry is None:
            return []
        batch = [entry]
        while len(batch) < BATCH and not self._queue.empty():
            entry = self._queue.get()
            if entry is None:
                self._queue.put(None)
                break
            batch.append(entry)
        return batch
