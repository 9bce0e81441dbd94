"""Memory in RAM: all of it that a simulation needs, and the working set of every other backend."""

from __future__ import annotations

from collections.abc import Iterable

from moot.memory.errors import StoreClosed, StoreGap
from moot.memory.fold import changes
from moot.memory.shelves import WORKING_KEPT, Put
from moot.memory.store import Store
from moot.memory.tables import Tables
from moot.memory.view import MemoryView
from moot.protocols.kernel.envelope import Envelope


class InMemoryStore(Store):
    """A store that lives and dies with its process."""

    def __init__(self, *, working_kept: int = WORKING_KEPT) -> None:
        """Start before the first message."""
        self._working_kept = working_kept
        self._is_closed = False
        self._start()

    def _start(self) -> None:
        self.tables = Tables(working_kept=self._working_kept)
        self._applied_seq = 0
        self._applied_hash = ""

    @property
    def applied_seq(self) -> int:
        return self._applied_seq

    @property
    def applied_hash(self) -> str:
        return self._applied_hash

    @property
    def stored_seq(self) -> int:
        """Return 0: a crash loses everything."""
        return 0

    @property
    def low_water(self) -> int:
        return self.tables.low_water

    def read(self, as_of: int | None = None) -> MemoryView:
        seq = self._applied_seq if as_of is None else as_of
        if seq > self._applied_seq:
            raise StoreGap(f"memory as of seq {seq}: only {self._applied_seq} is applied")
        return MemoryView(self.tables, seq)

    def apply(self, env: Envelope, in_effect: bool) -> tuple[Put, ...]:
        if self._is_closed:
            raise StoreClosed(f"seq {env.seq} came after memory was closed")
        if env.seq <= self._applied_seq:
            return ()
        if env.seq != self._applied_seq + 1:
            raise StoreGap(f"seq {env.seq} after {self._applied_seq}: memory takes every message in order")
        puts = changes(env, self.tables, in_effect=in_effect)
        for put in puts:
            self.tables.put(put)
        self._applied_seq = env.seq
        self._applied_hash = env.hash
        return puts

    def prune(self, below_seq: int) -> int:
        return self.tables.prune(min(below_seq, self._applied_seq))

    def restore(self, puts: Iterable[Put], *, applied_seq: int, applied_hash: str, low_water: int) -> None:
        """Take over what another backend kept.

        Args:
            puts: Every version kept, in order of seq, then key.
            applied_seq: The last message they know of.
            applied_hash: Its hash.
            low_water: The oldest seq that can be read.
        """
        self._start()
        for put in puts:
            self.tables.put(put)
        self._applied_seq = applied_seq
        self._applied_hash = applied_hash
        self.tables.low_water = low_water

    async def flush(self) -> None:
        """Do nothing: there is nowhere to write."""

    async def clear(self) -> None:
        if self._is_closed:
            raise StoreClosed("memory is closed")
        self._start()

    async def close(self) -> None:
        self._is_closed = True
