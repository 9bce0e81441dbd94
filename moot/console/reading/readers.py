"""Reading threads: each with a connection of its own to the index and, attached, to the log."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from moot.channels.log.file import LOG_NAME
from moot.channels.log.reader import attach
from moot.console.errors import Unreadable
from moot.console.reading.index import BUSY_S

T = TypeVar("T")

THREADS: Final = 3
"""So many queries run at once; a long one does not hold up the others."""


class Readers:
    """Runs queries off the loop. SQLite lets go of the interpreter while it works."""

    def __init__(self, directory: Path) -> None:
        """Start without connections; each thread opens its own when it is first asked."""
        self._log = directory / LOG_NAME
        self._index: Path | None = None
        self._generation = 0
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="console reader")

    def turn_to(self, index: Path | None) -> None:
        """Read this index, and the log as it is now, from the next query on; None: no index."""
        self._index = index
        self._generation += 1

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query.

        Raises:
            Unreadable: A file cannot be read; one line says why.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, work)
        except sqlite3.Error as exc:
            raise Unreadable(f"{self._log.parent}: {exc}") from exc
        except RuntimeError as exc:
            raise Unreadable(f"the console is closing: {exc}") from exc

    async def close(self) -> None:
        """Finish what is under way and close all connections (K25)."""
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)
        with self._lock:
            for db in self._opened:
                db.close()
            self._opened.clear()

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        local = self._local
        if getattr(local, "generation", -1) != self._generation:
            generation = self._generation
            old = getattr(local, "db", None)
            local.db = self._connect()
            local.generation = generation
            with self._lock:
                self._opened.append(local.db)
                if old is not None:
                    self._opened.remove(old)
                    old.close()
        try:
            return work(local.db)
        except sqlite3.DatabaseError:
            # A file that was replaced or repaired meanwhile is opened anew next time.
            local.generation = -1
            raise

    def _connect(self) -> sqlite3.Connection:
        where = ":memory:" if self._index is None else f"{self._index.absolute().as_uri()}?mode=ro"
        db = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_S)
        try:
            attach(db, self._log, busy_s=BUSY_S)
        except BaseException:
            db.close()
            raise
        return db
