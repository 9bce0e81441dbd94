"""The memory file: its schema, what one transaction writes, how it is loaded; knows SQL and no policy."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import aiosqlite

from moot.memory.errors import CorruptStore, MemoryStoreError, StoreUnavailable
from moot.memory.fold import FOLD_VERSION
from moot.memory.shelves import BY_NAME, SHELVES, Put

APPLICATION_ID: Final = 0x4D6F6F74
"""Marks the file as ours ("Moot")."""

SCHEMA: Final = f"""
BEGIN IMMEDIATE;
CREATE TABLE record (
    shelf TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (shelf, key, seq)
) WITHOUT ROWID;
CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    applied_seq INTEGER NOT NULL, applied_hash TEXT NOT NULL, low_water INTEGER NOT NULL
);
INSERT INTO state VALUES (1, 0, '', 0);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FOLD_VERSION};
COMMIT;
"""

DAMAGED: Final = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""What SQLite says of a file that is none, or whose tables are not those that were made."""

STATE: Final = "SELECT applied_seq, applied_hash, low_water FROM state"
LOAD: Final = "SELECT shelf, key, seq, body FROM record ORDER BY seq, key"
PUT: Final = "INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?)"
FORGET_OLDER: Final = "DELETE FROM record WHERE shelf = ? AND key = ? AND seq < ?"
FORGET_OLDEST: Final = "DELETE FROM record WHERE shelf = ? AND seq < ?"
ADVANCE: Final = "UPDATE state SET applied_seq = ?, applied_hash = ?, low_water = ?"
PRUNE: Final = f"""
DELETE FROM record WHERE shelf IN ({", ".join(f"'{shelf.name}'" for shelf in SHELVES)}) AND EXISTS (
    SELECT 1 FROM record AS newer WHERE newer.shelf = record.shelf AND newer.key = record.key
    AND newer.seq > record.seq AND newer.seq <= ?
)
"""


class State(NamedTuple):
    """How far a memory file came.

    Attributes:
        seq: The last message applied.
        hash: Its hash.
        low_water: The oldest seq that can be read.
    """

    seq: int = 0
    hash: str = ""
    low_water: int = 0


class MemoryFile:
    """An open memory file. Every error of the driver comes out as one of ours."""

    def __init__(self, path: Path, connection: aiosqlite.Connection) -> None:
        """Take over a connection; see `open`."""
        self.path = path
        self._connection = connection

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open or create a file.

        Raises:
            CorruptStore: It is damaged, no memory file, or of another version.
            StoreUnavailable: It cannot be opened.
        """
        try:
            connection = await _connect(path)
        except sqlite3.Error as error:
            raise _renamed(error, path) from error
        file = cls(path, connection)
        try:
            await file._prepare()
        except sqlite3.Error as error:
            await file.close()
            raise _renamed(error, path) from error
        except BaseException:
            await file.close()
            raise
        return file

    async def load(self) -> tuple[State, list[Put]]:
        """Read everything: how far it came, and every version in order of seq, then key.

        Raises:
            CorruptStore: It is damaged.
        """
        try:
            async with self._connection.execute(STATE) as cursor:
                row = await cursor.fetchone()
            puts: list[Put] = []
            async with self._connection.execute(LOAD) as cursor:
                while rows := await cursor.fetchmany(1000):
                    puts += [self._read(*row) for row in rows]
        except sqlite3.Error as error:
            raise _renamed(error, self.path) from error
        if row is None or tuple(map(type, row)) != (int, str, int):
            raise self._corrupt("it does not say how far it came")
        state = State(*row)
        if puts and puts[-1].record.seq > state.seq:
            raise self._corrupt(f"a record of seq {puts[-1].record.seq}, it came to {state.seq}")
        return state, puts

    async def write(self, puts: list[Put], state: State, *, oldest: dict[str, int], prune: bool) -> None:
        """Write a batch and how far it goes, all or nothing.

        Args:
            puts: Records, in order of seq.
            state: How far memory is with them.
            oldest: The oldest seq that each working shelf still knows.
            prune: Whether to let go of what the low-water mark hides.

        Raises:
            StoreUnavailable: The disk did not take it.
            CorruptStore: The file was damaged meanwhile.
        """
        connection = self._connection
        try:
            try:
                await connection.execute("BEGIN IMMEDIATE")
                await connection.executemany(PUT, _rows(puts))
                notes = [(s.name, r.key, r.seq) for s, r in puts if s.keeping == "working"]
                if notes:
                    await connection.executemany(FORGET_OLDER, notes)
                    await connection.executemany(FORGET_OLDEST, oldest.items())
                if prune:
                    await connection.execute(PRUNE, (state.low_water,))
                await connection.execute(ADVANCE, state)
                await connection.commit()
            except BaseException:
                await connection.rollback()
                raise
        except sqlite3.Error as error:
            raise _renamed(error, self.path) from error

    async def clear(self) -> None:
        """Delete every record.

        Raises:
            StoreUnavailable: The disk did not take it.
        """
        try:
            try:
                await self._connection.execute("BEGIN IMMEDIATE")
                await self._connection.execute("DELETE FROM record")
                await self._connection.execute(ADVANCE, State())
                await self._connection.commit()
            except BaseException:
                await self._connection.rollback()
                raise
        except sqlite3.Error as error:
            raise _renamed(error, self.path) from error

    async def close(self) -> None:
        """Close the connection and end its thread, which it does even when it raises (K25).

        Raises:
            StoreUnavailable: The disk did not take the last of it.
        """
        try:
            await self._connection.close()
        except sqlite3.Error as error:
            raise _renamed(error, self.path) from error

    async def _prepare(self) -> None:
        """Create the tables of a new file; refuse what is not ours, damaged, or of another version."""
        await self._connection.execute("PRAGMA journal_mode = WAL")
        # NORMAL may lose the last batches with the power, never their order: the log holds them.
        await self._connection.execute("PRAGMA synchronous = NORMAL")
        if not await self._value("SELECT count(*) FROM sqlite_master"):
            await self._connection.executescript(SCHEMA)
            return
        if await self._value("PRAGMA application_id") != APPLICATION_ID:
            raise self._corrupt("no memory file of Moot")
        version = await self._value("PRAGMA user_version")
        if version != FOLD_VERSION:
            raise self._corrupt(f"written by version {version} of the fold, this is {FOLD_VERSION}")

    async def _value(self, sql: str) -> Any:
        async with self._connection.execute(sql) as cursor:
            row = await cursor.fetchone()
        return None if row is None else row[0]

    def _read(self, name: str, key: str, seq: int, body: str) -> Put:
        shelf = BY_NAME.get(name)
        if shelf is None:
            raise self._corrupt(f"there is no shelf {name!r}")
        try:
            record = shelf.decode(body)
        except CorruptStore as error:
            raise self._corrupt(str(error)) from error
        if (record.key, record.seq) != (key, seq):
            raise self._corrupt(f"{name} {key} of seq {seq} holds another record")
        return Put(shelf, record)

    def _corrupt(self, why: str) -> CorruptStore:
        return CorruptStore(f"{self.path}: {why}; delete it, the log rebuilds it")


async def _connect(path: Path) -> aiosqlite.Connection:
    """Connect so that no thread outlives the loop: aiosqlite does not wait for one that failed (K25)."""
    sqlite3.connect(path).close()
    connecting = asyncio.ensure_future(aiosqlite.connect(path, isolation_level=None))
    try:
        return await asyncio.shield(connecting)
    except asyncio.CancelledError:
        await (await connecting).close()
        raise


def _rows(puts: list[Put]) -> Iterator[tuple[str, str, int, str]]:
    # Encoded as sqlite3 asks for them, in its thread: records never change.
    for shelf, record in puts:
        yield shelf.name, record.key, record.seq, shelf.encode(record)


UNDECODED: Final = "Could not decode to UTF-8"
"""How the driver begins to say that a text in a file is none."""


def _renamed(error: sqlite3.Error, path: Path) -> MemoryStoreError:
    """Turn a driver's error into ours, damaged files apart from disks that do not take it."""
    if str(error).startswith(UNDECODED):
        # The driver has no code for it, and quotes the bytes; we do not.
        return CorruptStore(f"{path}: a text in it is no UTF-8; delete it, the log rebuilds it")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in DAMAGED:
        return CorruptStore(f"{path}: {error}; delete it, the log rebuilds it")
    return StoreUnavailable(f"{path}: {error}")
