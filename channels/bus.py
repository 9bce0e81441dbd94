"""The bus: one append-only, totally ordered, hash-chained log of envelopes, and its promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Literal, NamedTuple, Protocol, Self

from moot.protocols.kernel.envelope import GENESIS, Draft, Envelope
from moot.protocols.kernel.message import Message


class Head(NamedTuple):
    """The end of the log: its last seq (0 when empty) and 32 hash bytes."""

    seq: int = 0
    hash: bytes = GENESIS


class Receipt(NamedTuple):
    """What became of a draft.

    Attributes:
        seq: Where it stands in the log; for a duplicate, where the first one stands.
        id: Its envelope id.
        status: `accepted`; `duplicate` (same id, same draft: nothing happened); `superseded` (same id,
            other draft: the first one counts, K1).
        note: What its author should hear beside, from whoever stands before the bus: why it changes nothing (R-E4).
        opened: The case that it opened, from the same; "" for none.
    """

    seq: int
    id: str
    status: Literal["accepted", "duplicate", "superseded"] = "accepted"
    note: str = ""
    opened: str = ""


class Admission(Protocol):
    """What the sequencer asks of the rules; pure but for the counters of `mint`.

    Drafts are admitted, minted and sealed at once, in the order in which they arrive; `on_append` follows
    when they are durable. So the counters of `mint` run ahead of every fold.
    """

    def admit(self, draft: Draft) -> Draft:
        """Complete a draft (its case id) and check it against the permission matrix.

        Raises:
            Violation: It may not be published; the bus turns it into `Refused`.
        """
        ...

    def mint(self, draft: Draft, sent_at: datetime) -> Message:
        """Return the body with the ids that the sequencer counts (K20); often the draft's own body.

        Raises:
            Violation: It has one that it may not choose; nothing was counted, and the bus turns it into `Refused`.
        """
        ...

    def unmint(self, draft: Draft, body: Message) -> None:
        """Take back what `mint` counted for this body, latest first: the disk did not take it.

        Args:
            draft: As it was sent.
            body: As it was minted.
        """
        ...


OnAppend = Callable[[Envelope], None]
"""Called for every envelope in seq order, after it is durable and before its publisher hears of it (K13).

It may not fail: an exception reaches the publisher and stops the bus, for the folds are behind the log (K5).
"""

OnFault = Callable[[Exception], None]
"""Told once what stopped the bus before it was closed; its publishers get `BusClosed` from then on.

A fold that failed (K5), another host that took over (K3), a log that was changed: whoever runs the host ends it.
"""

Decode = Callable[[str, str], Envelope]
"""Read a stored row: canonical text without `hash`, hash as hex (`moot.protocols.codec.decode_stored`).

Raises a `Violation` when it is no envelope.
"""


class Subscription(ABC):
    """A cursor into the log; `async for envelope in subscription`."""

    cursor: int
    """Seq of the last envelope handed out."""

    @abstractmethod
    def __aiter__(self) -> AsyncIterator[Envelope]:
        """Iterate from the cursor on, waiting for what is not there yet, until closed.

        For one task at a time. Cancelled while it waits, it loses nothing: the cursor moves when an envelope
        is handed out.
        """

    @abstractmethod
    def close(self) -> None:
        """End the iteration after the envelope in hand; safe to call twice."""


class Bus(ABC):
    """Publish and subscribe over one log.

    Promises, which `tests/contract/test_bus.py` holds every backend to:

    * Total order: `seq` is dense from 1, `sent_at` never runs backwards, everybody sees the same order.
    * Exactly once per envelope id: a second draft of the same id adds nothing (`Receipt.status`).
    * Admission first: the permission check comes before deduplication (K1).
    * `publish` returns when the envelope is durable and `on_append` has run for it (K13). Cancelling a
      publisher does not undo it: retry with the same id and read the receipt.
    * A subscriber sees every envelope after its cursor, in order, none twice; a slow one slows nobody and
      loses nothing: it holds a seq, not a queue of messages.
    * Closing hands subscribers what is in memory, then ends their iteration; the cursor says where to go on.
    * A crash loses no acknowledged envelope and leaves no half one (durable backends).
    * Each envelope's `hash` chains it to its predecessor (K15).
    """

    on_append: OnAppend | None = None
    on_fault: OnFault | None = None

    @property
    @abstractmethod
    def head(self) -> Head:
        """Return the end of the durable log."""

    @property
    @abstractmethod
    def last_sent_at(self) -> datetime | None:
        """Return `sent_at` of the last envelope, None while the log is empty."""

    @abstractmethod
    async def publish(self, draft: Draft) -> Receipt:
        """Append a draft.

        Raises:
            Refused: The admission refused it, nothing was logged.
            StorageError: The disk did not take it, nothing was logged.
            BusClosed: The bus is closed.
        """

    @abstractmethod
    def subscribe(self, cursor: int = 0) -> Subscription:
        """Subscribe to everything after `cursor`."""

    @abstractmethod
    def read(self, first: int = 1, last: int | None = None) -> AsyncIterator[Envelope]:
        """Read envelopes `first` to `last` (inclusive; None: to the head as it is now)."""

    @abstractmethod
    async def seq_of(self, envelope_id: str) -> int | None:
        """Return the seq of a durable envelope by its id, None when the log holds none of that id."""

    async def look(self) -> None:
        """Look whether another host has taken the log over, which else shows with the next message only (K3)."""
        return

    @abstractmethod
    async def close(self) -> None:
        """Take nothing more, finish what is under way, end subscriptions; safe to call twice (K25)."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
