"""Memory that survives its process: the working set in RAM, a file written behind it in batches (K25)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

from moot.memory.errors import MemoryStoreError, StoreClosed
from moot.memory.inmemory import InMemoryStore
from moot.memory.shelves import WORKING_KEPT, Put
from moot.memory.sqlite_file import MemoryFile, State
from moot.memory.store import Store
from moot.memory.view import MemoryView
from moot.protocols.kernel.envelope import Envelope

BATCH: Final = 256
"""So many messages are applied before a write starts behind them."""

HoldTime = Callable[[], AbstractContextManager[object]]
"""`clock.hold` of the society: keeps virtual time still while a thread writes (K2)."""


class SqliteStore(Store):
    """A store in a file. Open it with `open`, close it on every exit path (K25).

    Reading and applying touch RAM only. A write starts behind every `BATCH` messages and at every `flush`:
    records and how far they go in one transaction, so a crash loses whole batches, never a part of one. When
    a write fails, RAM keeps what it held, `failure` says why, and the next batch or flush tries again.

    Attributes:
        path: The file; its WAL stands beside it.
        failure: Why the last write failed, None while all is well.
    """

    def __init__(
        self, file: MemoryFile, ram: InMemoryStore, hold: HoldTime, batch: int, is_prompt: bool
    ) -> None:
        """Take over an open file and what was loaded from it; see `open`."""
        self.path = file.path
        self.failure: MemoryStoreError | None = None
        self._file = file
        self._ram = ram
        self._hold = hold
        self._batch = batch
        self._is_prompt = is_prompt
        self._waiting: list[Put] = []
        self._stored_seq = ram.applied_seq
        self._stored_low = ram.low_water
        self._write_at = ram.applied_seq + batch
        self._writer: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._is_open = True

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        hold: HoldTime = nullcontext,
        batch: int = BATCH,
        is_prompt: bool = False,
        working_kept: int = WORKING_KEPT,
    ) -> SqliteStore:
        """Open or create a memory file and load it; the log is then applied, and what it holds passed over.

        Args:
            path: The file; its directory exists.
            hold: Holds virtual time during I/O (K2).
            batch: Messages between two writes.
            is_prompt: Also write behind whatever brings a record, for people who read the file beside us.
            working_kept: Notes of the fold to keep; tests make it small.

        Raises:
            CorruptStore: It is damaged, no memory file, or of another version: `discard` and rebuild it.
            StoreUnavailable: It cannot be opened.
        """
        ram = InMemoryStore(working_kept=working_kept)
        with hold():
            file = await MemoryFile.open(path)
            try:
                state, puts = await file.load()
            except BaseException:
                await file.close()
                raise
        ram.restore(puts, applied_seq=state.seq, applied_hash=state.hash, low_water=state.low_water)
        return cls(file, ram, hold, batch, is_prompt)

    @staticmethod
    def discard(path: Path) -> None:
        """Delete a memory file that nobody has open; the log rebuilds it."""
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)

    @property
    def applied_seq(self) -> int:
        return self._ram.applied_seq

    @property
    def applied_hash(self) -> str:
        return self._ram.applied_hash

    @property
    def stored_seq(self) -> int:
        return self._stored_seq

    @property
    def low_water(self) -> int:
        return self._ram.low_water

    def read(self, as_of: int | None = None) -> MemoryView:
        return self._ram.read(as_of)

    def apply(self, env: Envelope, in_effect: bool) -> tuple[Put, ...]:
        if self._closing is not None:
            raise StoreClosed(f"seq {env.seq} came after memory was closed")
        puts = self._ram.apply(env, in_effect)
        if puts:
            self._waiting.extend(puts)
        if self._writer is None and (
            self._ram.applied_seq >= self._write_at
            or (self._is_prompt and self._waiting and self.failure is None)
        ):
            self._write_behind()
        return puts

    def prune(self, below_seq: int) -> int:
        return self._ram.prune(below_seq)

    async def flush(self) -> None:
        seq, low = self._ram.applied_seq, self._ram.low_water
        while self._stored_seq < seq or self._stored_low < low:
            if not self._is_open:
                raise StoreClosed(f"{self.path} is closed, it came to seq {self._stored_seq}")
            if self._writer is not None:
                # Its failure, if any, is overcome or met by the attempt that follows.
                await asyncio.shield(self._writer)
                continue
            await asyncio.shield(self._start_writing())
            if self.failure is not None:
                raise self.failure

    async def clear(self) -> None:
        while self._writer is not None:
            await asyncio.shield(self._writer)
        if self._closing is not None:
            raise StoreClosed(f"{self.path} is closed")
        self._writer = asyncio.get_running_loop().create_task(self._wipe())
        await asyncio.shield(self._writer)

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        if self._is_open:
            await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            await self.flush()
        finally:
            try:
                with self._hold():
                    await self._file.close()
            finally:
                self._is_open = False

    async def _wipe(self) -> None:
        try:
            with self._hold():
                await self._file.clear()
            await self._ram.clear()
            self._waiting = []
            self._stored_seq = self._stored_low = 0
            self._write_at = self._batch
        finally:
            self._writer = None

    def _write_behind(self) -> None:
        """Start writing, if there is a loop to write on; without one the next flush does it."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        self._start_writing()

    def _start_writing(self) -> asyncio.Task[None]:
        self._writer = asyncio.get_running_loop().create_task(self._write())
        return self._writer

    async def _write(self) -> None:
        """Write what waits now; a failure is kept, not raised, for nobody may be waiting."""
        ram = self._ram
        state = State(ram.applied_seq, ram.applied_hash, ram.low_water)
        oldest = {shelf.name: table.oldest_seq for shelf, table in ram.tables.working.items()}
        puts, self._waiting = self._waiting, []
        self._write_at = state.seq + self._batch
        try:
            with self._hold():
                await self._file.write(puts, state, oldest=oldest, prune=state.low_water > self._stored_low)
        except MemoryStoreError as error:
            self.failure = error
            self._waiting = [*puts, *self._waiting]
        except BaseException:
            self._waiting = [*puts, *self._waiting]
            raise
        else:
            self.failure = None
            self._stored_seq = state.seq
            self._stored_low = state.low_water
        finally:
            self._writer = None
