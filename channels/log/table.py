"""What the writer asks of whatever keeps the log: rows that are added in order, all of a batch or its beginning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from moot.channels.errors import ChannelError, LeaseHeld
from moot.channels.log.sequencer import Entry, Known


class Unwritten(NamedTuple):
    """Why not all of a batch was written.

    Attributes:
        last: What stands in the batch up to this seq, and is not in the log, has failed.
        error: What its publishers get; None: the log is not as its host left it, so the host ends.
        may_be_known: An id of the batch may stand in the log already.
    """

    last: int
    error: ChannelError | None = None
    may_be_known: bool = False


class Table(ABC):
    """Where batches go. Two may be on their way at once: they come back in the order in which they left."""

    @abstractmethod
    async def insert(self, entries: Sequence[Entry]) -> Unwritten | None:
        """Write a batch behind the seq before it; it writes nothing where the log does not end there.

        What it returns is certain: an entry that it gives up is never written later.
        """

    @abstractmethod
    async def hashes_after(self, seq: int) -> list[bytes]:
        """Return the hashes of all rows after a seq, in order."""

    @abstractmethod
    async def known(self, ids: Sequence[str]) -> dict[str, Known]:
        """Look up which of these ids stand in the log."""

    @abstractmethod
    async def successor(self) -> LeaseHeld | None:
        """Say who holds the log now, if it is no longer this host."""

    @abstractmethod
    async def stranger(self, head: int) -> Exception:
        """Say who else wrote into the log after `head`."""
