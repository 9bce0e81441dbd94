"""An SQLite file that one process at a time owns, used from one thread of its own.

The event loop never waits for the disk: every call is one hop to that thread. Ownership is an OS lock beside
the file, so it ends with the process, however that ends.

What is written outlives process and power cut: every transaction waits for the disk (synchronous=FULL), some
milliseconds, which no platform's pace notices.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from moot.channels.errors import ChannelError
from moot.channels.outbox.shared import SharedWrites, Statement

T = TypeVar("T")

MOST_SHARED: Final = 400_000
"""Characters of values that are shared as one write; more rows are several writes, each harmless when done again."""

_SHARED: Final = """
CREATE TABLE IF NOT EXISTS shared (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER NOT NULL);
INSERT OR IGNORE INTO shared VALUES (1, 0);
"""


class FileBusy(ChannelError):
    """Say that another process owns the file."""


class OwnedFile:
    """One SQLite file in WAL mode, its lock and its thread.

    Where it is shared with other hosts, whatever is written is kept there first, and `open` writes what they kept; so
    the files of all hosts come to say the same, and only the one that was opened last can write.
    """

    def __init__(self, path: Path, shared: SharedWrites | None = None) -> None:
        """Remember where, and what other hosts wrote; `open` does the work."""
        self.path = path
        self._shared = shared
        self._n = 0
        self._writing = asyncio.Lock()
        self._db: sqlite3.Connection | None = None
        self._lock_fd = -1
        self._thread: ThreadPoolExecutor | None = None

    async def open(self, schema: str) -> None:
        """Take the file and make its tables.

        Raises:
            FileBusy: Another process owns it.
            sqlite3.Error: It is no database, or the disk refuses.
        """
        if self._thread is not None:
            raise ChannelError(f"{self.path.name} is open")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=self.path.stem)
        try:
            await self.run(lambda: self._open(schema))
            if self._shared is not None:
                await self._take_over(self._shared)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Finish what is under way, close the file and let it go; safe to call twice (K25)."""
        thread, self._thread = self._thread, None
        if thread is not None:
            done = asyncio.wrap_future(thread.submit(self._close))
            thread.shutdown(wait=False)
            await asyncio.shield(done)

    @property
    def db(self) -> sqlite3.Connection:
        """Return the connection; only for work that `run` runs.

        Raises:
            ChannelError: The file is closed.
        """
        if self._db is None:
            raise ChannelError(f"{self.path.name} is closed")
        return self._db

    async def run(self, work: Callable[[], T]) -> T:
        """Run some work on the file's thread.

        Raises:
            ChannelError: The file is closed.
        """
        if self._thread is None:
            raise ChannelError(f"{self.path.name} is closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def query(self, sql: str, *values: object) -> list[Any]:
        """Run one statement, a transaction by itself, and return its rows."""
        return await self.run(lambda: self.db.execute(sql, values).fetchall())

    async def write(self, *statements: Statement) -> None:
        """Run statements, each for many rows of values, as one transaction.

        Raises:
            FileBusy: Another host's gateway runs the surface now.
        """
        if self._shared is None:
            return await self.run(lambda: self._write(statements))
        async with self._writing:
            for some in _parts(statements):
                await self._share(self._shared, some)

    async def _share(self, shared: SharedWrites, statements: Sequence[Statement]) -> None:
        n = await shared.append(statements, self._n)
        if n is None:
            raise FileBusy(f"{self.path.name} belongs to the gateway of another host")
        self._n = n
        await self.run(lambda: self._write([*statements, _number(n)]))

    async def _take_over(self, shared: SharedWrites) -> None:
        """Write what other hosts wrote meanwhile, and keep them from writing more."""
        await self.run(lambda: self.db.executescript(_SHARED))
        ((self._n,),) = await self.query("SELECT n FROM shared")
        for n, statements in await shared.after(self._n):
            await self.run(partial(self._write, [*statements, _number(n)]))
            self._n = n
        await self._share(shared, [])

    def _write(self, statements: Sequence[Statement]) -> None:
        with self.db:
            self.db.execute("BEGIN")
            for sql, rows in statements:
                self.db.executemany(sql, rows)

    def _open(self, schema: str) -> None:
        self._lock_fd = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            raise FileBusy(f"{self.path.name} belongs to another process") from exc
        self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript(schema)

    def _close(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close()
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1


def _number(n: int) -> Statement:
    return "UPDATE shared SET n = ?", [(n,)]


def _parts(statements: Sequence[Statement]) -> Iterator[Sequence[Statement]]:
    """Split the rows of a first statement that has too many; its last part goes with the other statements."""
    (sql, rows), *others = statements
    some: list[Sequence[object]] = []
    size = 0
    for row in rows:
        length = sum(len(value) for value in row if isinstance(value, str))
        if some and size + length > MOST_SHARED:
            yield [(sql, some)]
            some, size = [], 0
        some.append(row)
        size += length
    yield [(sql, some), *others]
