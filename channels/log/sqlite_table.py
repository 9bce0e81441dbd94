"""The table `log` through aiosqlite: one thread hop a call."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import aiosqlite

from moot.channels.errors import CorruptLog, LeaseHeld
from moot.channels.log.file import disk_error, insert_sql
from moot.channels.log.lease import fenced_out
from moot.channels.log.reader import MOST, Row, between, by_ids
from moot.channels.log.sequencer import Entry, Known
from moot.channels.log.table import Table, Unwritten


class SqliteTable(Table):
    """The table of a `log.sqlite`.

    Args:
        db: The writing connection, in autocommit.
        path: The file, for messages.
        epoch: The fencing epoch of this host.
        hold: Keeps virtual time still during a hop (K2).
    """

    def __init__(
        self,
        db: aiosqlite.Connection,
        *,
        path: Path,
        epoch: int,
        hold: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self.path = path
        self.db = db
        self._epoch = epoch
        self._hold = hold

    async def insert(self, entries: Sequence[Entry]) -> Unwritten | None:
        """Write a batch as one statement in autocommit (K17): all of it, or nothing and the reason."""
        last = entries[-1].envelope.seq
        values: list[object] = []
        for entry in entries:
            values += entry.row
        values += (self._epoch, entries[0].envelope.seq - 1)
        try:
            with self._hold():
                cursor = await self.db.execute(insert_sql(len(entries)), values)
        except sqlite3.IntegrityError as exc:
            return Unwritten(last, disk_error(self.path, exc), may_be_known=True)
        except sqlite3.Error as exc:
            return Unwritten(last, disk_error(self.path, exc))
        return None if cursor.rowcount == len(entries) else Unwritten(last)

    async def hashes_after(self, seq: int) -> list[bytes]:
        return [Row._make(row).hash for row in await self._fetch(*between(seq + 1, MOST))]

    async def known(self, ids: Sequence[str]) -> dict[str, Known]:
        rows = await self._fetch(*by_ids(ids))
        return {envelope_id: (seq, digest) for envelope_id, seq, digest in rows}

    async def successor(self) -> LeaseHeld | None:
        rows = await self._fetch("SELECT epoch FROM fence", ())
        if not rows or rows[0][0] == self._epoch:
            return None
        return fenced_out(self.path.parent)

    async def stranger(self, head: int) -> Exception:
        return await self.successor() or CorruptLog(f"{self.path} was changed behind its host", seq=head)

    async def _fetch(self, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Run a query; nothing on a disk that cannot even be read."""
        try:
            with self._hold():
                return [tuple(row) for row in await self.db.execute_fetchall(sql, values)]
        except sqlite3.Error:
            return []
