"""A host's mirror of the stream: its own `log.sqlite`, written behind, in which older messages and ids are found."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Self

from moot.channels.bus import Head
from moot.channels.errors import ChannelError, StorageError
from moot.channels.log import filed
from moot.channels.log.file import BUSY_S, disk_errors
from moot.channels.log.head import write_head
from moot.channels.log.lease import Lease
from moot.channels.log.reader import LogRows, by_ids, connect_to_read
from moot.channels.log.sequencer import Entry, Known, Stored
from moot.channels.log.write_behind import LogWriter
from moot.protocols.kernel.envelope import GENESIS

GATHER_S: Final = 0.02
"""How long rows are gathered before they are written."""
GATHERED: Final = 64
"""How many at most."""


class Mirror:
    """The rows of the stream on this host's disk.

    It is behind the stream by what its thread has not written yet; after a crash it is filled up from the stream.
    Ids are looked up on the loop, without a thread: the index of a log in use is in memory.

    Args:
        path: The file.
        writer: Writes it.
        reading: A connection that only reads.
    """

    def __init__(self, path: Path, writer: LogWriter, reading: sqlite3.Connection) -> None:
        self.path = path
        self._writer = writer
        self._reading = reading
        self._last = writer.head.seq
        self._rows: list[Stored] = []
        self._fault: ChannelError | None = None

    @classmethod
    def open(cls, path: Path, *, lease: Lease | None = None) -> Self:
        """Open or create a mirror; blocks.

        Raises:
            LeaseHeld: Another process hosts a society on its directory.
            CorruptLog: It is not what was written.
            NotALog: It is another application's file, or a newer Moot's.
            StorageError: The disk does not let it be written.
        """
        writer = LogWriter(path, after=None, lease=lease)
        try:
            with disk_errors(path):
                reading = connect_to_read(path, busy_s=BUSY_S)
        except BaseException:
            writer.close()
            raise
        return cls(path, writer, reading)

    @property
    def head(self) -> Head:
        """Return where it ended when it was opened."""
        return self._writer.head

    def write(self, entry: Entry) -> None:
        """Take the next entry; returns at once.

        Raises:
            StorageError: An earlier one could not be written.
            LeaseHeld: Another process took the directory over.
        """
        self.write_row(entry.row)

    def write_row(self, row: Stored) -> None:
        """Take the next row; as `write`."""
        if self._fault is not None:
            raise self._fault
        self._rows.append(row)
        self._last = row[0]
        if len(self._rows) == 1:
            asyncio.get_running_loop().call_later(GATHER_S, self._hand_over)
        elif len(self._rows) >= GATHERED:
            self._hand_over()

    def _hand_over(self) -> None:
        """Give the thread what was gathered; waking it for every row would cost more than writing them all."""
        rows, self._rows = self._rows, []
        try:
            for row in rows:
                self._writer.write_row(row)
        except ChannelError as fault:
            self._fault = fault

    async def keep_up(self) -> None:
        """Wait while it lacks ids that the sequencer may have forgotten."""
        most = filed.IDS // 2
        if self._last - most > self._writer.written_seq:
            await self.written(self._last - most // 2)

    async def all_written(self) -> None:
        """Wait until the file holds everything that was taken; as `written`."""
        await self.written(self._last)

    async def written(self, seq: int) -> None:
        """Wait until the file holds the log up to a seq.

        Raises:
            StorageError: The disk did not take it.
            LeaseHeld: Another process took the directory over.
        """
        if self._writer.written_seq < seq:
            self._hand_over()
            await asyncio.wrap_future(self._writer.written(seq))

    def known(self, ids: Sequence[str]) -> dict[str, Known]:
        """Look up which of these ids stand in the file.

        Raises:
            StorageError: The disk cannot be read.
        """
        with disk_errors(self.path):
            found = self._reading.execute(*by_ids(ids)).fetchall()
        return {envelope_id: (seq, digest) for envelope_id, seq, digest in found}

    def hash_at(self, seq: int) -> bytes:
        """Return the hash of a row that the file holds, that of an empty log for none."""
        with disk_errors(self.path):
            row = LogRows(self._reading).at(seq)
        return GENESIS if row is None else bytes(row.hash)

    def last_text(self) -> str | None:
        """Return the text of the last row, None of an empty file."""
        with disk_errors(self.path):
            row = LogRows(self._reading).newest()
        return None if row is None else str(row.text)

    def note_head(self) -> None:
        """Write the file `head` to where the file ends now, so that a tail that is cut shows; blocks.

        Raises:
            StorageError: The disk does not take it.
        """
        seq = self._writer.written_seq
        if not seq:
            return
        try:
            wal = self.path.with_name(f"{self.path.name}-wal")
            write_head(self.path.parent, Head(seq, self.hash_at(seq)), first_sync=wal)
        except OSError as exc:
            raise StorageError(f"{self.path.parent}: {exc.strerror}") from exc

    def close(self) -> None:
        """Write what is left and close it; blocks.

        Raises:
            StorageError: Not everything could be written.
        """
        self._hand_over()
        with closing(self._reading):
            self._writer.close()
