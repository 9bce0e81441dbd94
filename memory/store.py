"""The store: the interface of memory, its promises, and how it is rebuilt from the log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, Iterable
from types import TracebackType
from typing import Final, Self

from moot.memory.shelves import Put
from moot.memory.view import MemoryView
from moot.protocols.kernel.envelope import Envelope

__all__ = ["Applied", "MemoryView", "Store", "digest", "rebuild"]

REBUILD_BATCH: Final = 1000
"""So many messages are applied between two flushes of a rebuild."""


class Store(ABC):
    """Memory: a fold of the log.

    Promises, which `tests/contract/test_store.py` holds every backend to:

    * Every message is applied once and in seq order; one that was applied already is passed over, so a log
      may be applied again from any earlier point. A gap is refused.
    * A view shows memory exactly as of its seq, however much is applied later, until it is pruned.
    * `apply` and the view touch neither disk nor loop; durable backends write behind and say in
      `stored_seq` how far they came. After a crash the log is applied again, from there or from its start.
    * A store rebuilt from the log equals the one that lived through it (`digest`).
    """

    @property
    @abstractmethod
    def applied_seq(self) -> int:
        """Return the seq of the last message applied, 0 at the start."""

    @property
    @abstractmethod
    def applied_hash(self) -> str:
        """Return the hash of that message; another one at its place in the log means another log (K15)."""

    @property
    @abstractmethod
    def stored_seq(self) -> int:
        """Return the seq up to which a crash would lose nothing."""

    @property
    @abstractmethod
    def low_water(self) -> int:
        """Return the oldest seq that can be read."""

    @abstractmethod
    def read(self, as_of: int | None = None) -> MemoryView:
        """Look at memory as of a seq; None for now.

        Raises:
            StoreGap: That seq was not applied yet.
            StorePruned: It lies below the low-water mark.
        """

    @abstractmethod
    def apply(self, env: Envelope, in_effect: bool) -> tuple[Put, ...]:
        """Take in the next message; cheap, called for every message on the society's loop (K13).

        Args:
            env: The message.
            in_effect: Whether it broke no rule and came in time; False writes nothing.

        Returns:
            What it wrote; nothing for a message that was applied before.

        Raises:
            StoreGap: Its seq is not the next one.
            StoreClosed: The store is closed.
        """

    @abstractmethod
    def prune(self, below_seq: int) -> int:
        """Let go of versions that only views below a seq show.

        Args:
            below_seq: The new low-water mark, at most `applied_seq`; a lower one than before does nothing.

        Returns:
            How many versions went.
        """

    @abstractmethod
    async def flush(self) -> None:
        """Wait until everything applied so far is durable.

        Raises:
            StoreUnavailable: The disk did not take it; RAM has it still, flush again.
        """

    @abstractmethod
    async def clear(self) -> None:
        """Forget everything: the state before the first message; apply nothing meanwhile.

        Raises:
            StoreClosed: The store is closed.
            StoreUnavailable: The disk did not take it; nothing is forgotten.
        """

    @abstractmethod
    async def close(self) -> None:
        """Flush and close; safe to call twice (K25). Views stay readable."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


Applied = tuple[Envelope, bool]
"""A message and whether it is in effect."""


async def rebuild(store: Store, log: Iterable[Applied] | AsyncIterable[Applied]) -> None:
    """Fold a log into a store anew, from its first message on; the store is durable afterwards.

    Args:
        store: Emptied first.
        log: Every message with whether it is in effect, as the docket decides.

    Raises:
        StoreGap: The log is not dense.
        StoreUnavailable: The disk did not take it.
    """
    await store.clear()
    if isinstance(log, AsyncIterable):
        async for env, in_effect in log:
            store.apply(env, in_effect)
            await _now_and_then(store)
    else:
        for env, in_effect in log:
            store.apply(env, in_effect)
            await _now_and_then(store)
    await store.flush()


def digest(view: MemoryView) -> str:
    """Return hex SHA-256 of a view's content; equal content, equal digest, on any backend."""
    return view.digest()


async def _now_and_then(store: Store) -> None:
    if store.applied_seq % REBUILD_BATCH == 0:
        await store.flush()
