"""Writing the log out behind a bus in memory: for simulations, whose time no disk may hold up (K2)."""

from __future__ import annotations

import os
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple, Self

from moot.channels.bus import Head
from moot.channels.errors import ChannelError, StorageError
from moot.channels.log.file import connect, disk_error, insert_sql, open_log
from moot.channels.log.head import write_head
from moot.channels.log.lease import Lease, fenced_out
from moot.channels.log.sequencer import Entry, Stored

BATCH: Final = 512


class _Wish(NamedTuple):
    """Somebody waits until the log up to a seq is in the file, or is kept by the disk."""

    seq: int
    done: Future[None]
    is_kept: bool


class LogWriter:
    """A thread that writes entries into a `log.sqlite`, while nobody waits for it.

    Attributes:
        head: Where the log ended when it was opened.

    Order: that of `write`, which is `InMemoryBus`'s `on_entry`. The log is complete, and the file `head`
    written, when `close` returns. A disk that does not take a batch stops the writing at a whole batch;
    `write`, `synced` and `close` then say so. The disk is made to keep it only when `synced` asks for that.

    Args:
        path: The file.
        after: The seq behind which it goes on, where the log that is there must end; 0: a new or empty file; None:
            wherever it ends.
        lease: The lease on its directory; taken, and released by `close`, when not given.

    Raises:
        LeaseHeld: Another process hosts a society there.
        StorageError: There is another log with messages in it, or the disk does not take one.
    """

    def __init__(self, path: Path | str, *, after: int | None = 0, lease: Lease | None = None) -> None:
        self._path = Path(path)
        self._fault: ChannelError | None = None
        self._queue: SimpleQueue[Stored | _Wish | None] = SimpleQueue()
        self._waiting: list[_Wish] = []
        self._synced_seq = 0
        self._lock = threading.Lock()
        self._has_ended = False
        with ExitStack() as exits:
            held = lease or exits.enter_context(Lease.acquire(self._path.parent))
            end = open_log(self._path, epoch=held.epoch)
            held.raise_to(end.epoch)
            if after is not None and end.head.seq != after:
                raise StorageError(f"{self._path} has {end.head.seq} messages: choose another directory")
            self._exits = exits.pop_all()
        self._epoch = end.epoch
        self.head = self._head = end.head
        self._thread = threading.Thread(target=self._run, name="log writer", daemon=True)
        self._thread.start()

    def write(self, entry: Entry) -> None:
        """Take an entry; returns at once.

        Raises:
            StorageError: An earlier one could not be written.
            LeaseHeld: Another process took the log over.
        """
        self.write_row(entry.row)

    def write_row(self, row: Stored) -> None:
        """Take what is stored of an entry; as `write`."""
        if self._fault is not None:
            raise self._fault
        self._queue.put(row)

    @property
    def written_seq(self) -> int:
        """Return up to which seq the file holds the log."""
        return self._head.seq

    def written(self, seq: int) -> Future[None]:
        """Return what is done when the file holds the log up to a seq, where whoever reads it finds it; as `synced`."""
        return self._wish(seq, is_kept=False)

    def synced(self, seq: int) -> Future[None]:
        """Return what is done when the log up to a seq is on disk, so that a power cut leaves it there.

        May be called from any thread. It raises StorageError or LeaseHeld when that cannot be, also when the log was
        closed before that seq.
        """
        return self._wish(seq, is_kept=True)

    def _wish(self, seq: int, *, is_kept: bool) -> Future[None]:
        wish = _Wish(seq, Future(), is_kept)
        # Under the lock, so that no wish can be queued behind the end and be lost.
        with self._lock:
            if self._has_ended:
                self._answer(wish)
            else:
                self._queue.put(wish)
        return wish.done

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
                while (batch := self._next_batch()) is not None:
                    if batch:
                        self._insert(db, batch)
                    self._sync()
            write_head(self._path.parent, self._head)
        except sqlite3.Error as exc:
            self._fault = disk_error(self._path, exc)
        except OSError as exc:
            self._fault = StorageError(f"{self._path.parent}: {exc.strerror}")
        except ChannelError as exc:
            self._fault = exc
        finally:
            self._end()

    def _insert(self, db: sqlite3.Connection, batch: list[Stored]) -> None:
        values: list[object] = [value for row in batch for value in row]
        values += (self._epoch, self._head.seq)
        if db.execute(insert_sql(len(batch)), values).rowcount != len(batch):
            (epoch,) = db.execute("SELECT epoch FROM fence").fetchone()
            if epoch != self._epoch:
                raise fenced_out(self._path.parent)
            raise StorageError(f"{self._path} was changed behind its host")
        self._head = Head(batch[-1][0], batch[-1][4])

    def _sync(self) -> None:
        """Have the disk keep what is written, if somebody waits for it, and say so."""
        written = [wish for wish in self._waiting if wish.seq <= self._head.seq]
        if any(wish.is_kept and wish.seq > self._synced_seq for wish in written):
            # What is in the file itself was synced when it was moved there from the write-ahead log.
            _fsync(self._path.with_name(self._path.name + "-wal"))
            if not self._synced_seq:
                _fsync(self._path.parent)
            self._synced_seq = self._head.seq
        self._waiting = [wish for wish in self._waiting if wish.seq > self._head.seq]
        for wish in written:
            if wish.done.set_running_or_notify_cancel():
                wish.done.set_result(None)

    def _end(self) -> None:
        """Tell all who still wait that nothing more will be written."""
        with self._lock:
            self._has_ended = True
        while not self._queue.empty():
            item = self._queue.get()
            if isinstance(item, _Wish):
                self._waiting.append(item)
        for wish in self._waiting:
            self._answer(wish)

    def _answer(self, wish: _Wish) -> None:
        """Tell somebody what came of it, now that nothing more is written."""
        if not wish.done.set_running_or_notify_cancel():
            return
        if wish.seq <= (self._synced_seq if wish.is_kept else self._head.seq):
            wish.done.set_result(None)
        else:
            closed = StorageError(f"{self._path} was closed at seq {self._head.seq}")
            wish.done.set_exception(self._fault or closed)

    def _next_batch(self) -> list[Stored] | None:
        """Wait for entries or wishes and take what is there; None at the end."""
        batch: list[Stored] = []
        item = self._queue.get()
        if item is None:
            return None
        while item is not None:
            if isinstance(item, _Wish):
                self._waiting.append(item)
            else:
                batch.append(item)
            if len(batch) == BATCH or self._queue.empty():
                return batch
            item = self._queue.get()
        self._queue.put(None)
        return batch


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
