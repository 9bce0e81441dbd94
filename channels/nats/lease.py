"""Who leads a society that several hosts could: a key that is only ever changed by compare-and-set (K3).

No clock is compared with another. Whoever leads rewrites the key every second; a candidate takes it over when it has
not changed for `LAPSE_S` of the candidate's own monotonic time, and the server lets only the first of two do so.
Revisions of the key grow for ever, so that of the taking over is the fencing epoch; whoever leads raises it above that
of the log, for a bucket can be lost.

A leader that cannot reach the server is not deposed by its own clock: it can write nothing meanwhile, for the log is on
that server. When it reaches it again, it finds the key as it left it, and goes on, or it finds that it was deposed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, Final, NamedTuple, Self

import structlog

from moot.channels.errors import BusClosed, LeaseHeld, StorageError
from moot.channels.nats.bucket import Bucket
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.thread import CLOSE_S, NatsThread
from moot.protocols.kernel.canonical import canonical_json

KEY: Final = "leader"
RENEW_S: Final = 1.0
"""The leader rewrites the key so often, and candidates look at it twice as often."""
LAPSE_S: Final = 5.0
"""A key that a candidate has seen unchanged for so long is its to take: of five renewals none came."""
_log = structlog.get_logger("moot.nats")


class Leader(NamedTuple):
    """Who leads: its name, its fencing epoch (0: it has only just taken over), since when by its own clock."""

    name: str
    epoch: int
    since: str


class Candidacy:
    """When a candidate may take the lease: a pure rule over what it sees, by its own monotonic clock, in seconds."""

    def __init__(self, lapse_s: float = LAPSE_S) -> None:
        """Begin to wait; nothing is seen yet."""
        self._lapse_s = lapse_s
        self._seen: tuple[int, float] | None = None
        self._looked_s = 0.0

    def may_take(self, revision: int, *, is_free: bool, now_s: float) -> bool:
        """Take in what the key says; return whether it may be taken over at this revision.

        Args:
            revision: That of the key, 0 for none.
            is_free: Whether nobody leads: the last leader said so when it ended.
            now_s: The candidate's monotonic time when it asked.
        """
        if revision == 0 or is_free:
            return True
        looked_s, self._looked_s = self._looked_s, now_s
        if self._seen is None or self._seen[0] != revision:
            self._seen = revision, now_s
            return False
        if now_s - looked_s > self._lapse_s / 2:
            # Nobody answered, so that the leader could renew nothing either, or this host stood.
            self._seen = revision, now_s
        return now_s - self._seen[1] >= self._lapse_s


class NatsLease:
    """One candidacy: it waits, leads, and ends. Its work is done on the connection's thread, so no busy loop loses it.

    Attributes:
        gained: Done with the fencing epoch when the lease is ours; cancelled when it never will be.
        lost: Done when it is no longer: another host took it over, or it was closed.
        leader: Who led when the key was last looked at; None: nobody.
        answered_s: When a server answered last, by the clock of the connection's loop.
    """

    def __init__(
        self,
        nats: NatsThread,
        *,
        name: str,
        token: str,
        since: Callable[[], str],
        lapse_s: float | None = LAPSE_S,
        renew_s: float = RENEW_S,
    ) -> None:
        """Stand for the lease from now on.

        Args:
            nats: The connection.
            name: Of this host, for people.
            token: Tells this candidacy from all others.
            since: Says what time it is, for people.
            lapse_s: Seconds without a renewal after which another may take over; None: this one only looks who leads.
            renew_s: Seconds between two renewals.
        """
        self.gained: Future[int] = Future()
        self.lost: Future[None] = Future()
        self.leader: Leader | None = None
        self.answered_s = 0.0
        self._nats = nats
        self._name = name
        self._token = token
        self._since = since
        self._began = ""
        self._renew_s = renew_s
        self._candidacy = None if lapse_s is None else Candidacy(lapse_s)
        self._epoch = 0
        self._revision = 0
        self._stop = asyncio.Event()
        self._living = nats.run(self._live)
        self._living.add_done_callback(self._ended)

    @property
    def epoch(self) -> int:
        """Return the fencing epoch, 0 while another host leads."""
        return self._epoch

    def raise_to(self, epoch: int) -> None:
        """Make the epoch, where it is ours, higher than one that the log knows: a bucket that was lost counts anew."""
        if 0 < self._epoch <= epoch:
            self._epoch += epoch

    def close(self) -> None:
        """Give the lease back, if it is ours, and end; blocks for `CLOSE_S` at most. Safe to call twice."""
        with suppress(BusClosed):
            self._nats.run(self._stopped)
        wait([self._living], CLOSE_S)
        self._living.cancel()

    def __enter__(self) -> Self:
        """Return the lease."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give it back."""
        self.close()

    async def _stopped(self, _connection: NatsConnection) -> None:
        self._stop.set()

    def _ended(self, living: Future[None]) -> None:
        if not living.cancelled() and (fault := living.exception()) is not None:
            _log.error("the lease is not kept any more", why=str(fault))
        self._epoch = 0
        self.gained.cancel()
        if not self.lost.done():
            self.lost.set_result(None)

    async def _live(self, connection: NatsConnection) -> None:
        bucket: Bucket | None = None
        while not self._stop.is_set():
            try:
                bucket = bucket or await Bucket.open(connection, "lease")
                if not self._epoch:
                    await self._ask(bucket)
                elif not await self._renew(bucket):
                    return
                self.answered_s = asyncio.get_running_loop().time()
            except StorageError as fault:
                what = "renewed" if self._epoch else "asked for"
                _log.warning(f"the lease cannot be {what}", why=str(fault))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), self._renew_s / (1 if self._epoch else 2))
        if bucket is not None and self._epoch:
            with suppress(StorageError):
                await bucket.set(KEY, self._value(""), self._revision)

    async def _ask(self, bucket: Bucket) -> None:
        """Look at the key, and take it if it is free or its leader has fallen silent."""
        now_s = asyncio.get_running_loop().time()
        value, revision = await bucket.get(KEY)
        said = _read(value)
        self.leader = _leader(said)
        if said.get("token") == self._token:
            # Our own taking over, whose answer was lost on its way.
            self._take(revision)
            return
        if self._candidacy is None:
            return
        if self._candidacy.may_take(revision, is_free=not said.get("holder"), now_s=now_s):
            self._began = self._since()
            taken = await bucket.set(KEY, self._value(self._name), revision)
            if taken is not None:
                self._take(taken)

    def _take(self, revision: int) -> None:
        self.answered_s = asyncio.get_running_loop().time()
        self._revision = self._epoch = revision
        self.leader = Leader(self._name, revision, self._began)
        if not self.gained.done():
            self.gained.set_result(revision)

    async def _renew(self, bucket: Bucket) -> bool:
        """Rewrite the key; return whether it is still ours."""
        renewed = await bucket.set(KEY, self._value(self._name), self._revision)
        if renewed is None:
            value, renewed = await bucket.get(KEY)
            said = _read(value)
            if said.get("token") != self._token or not said.get("holder"):
                self.leader = _leader(said)
                return False
        self._revision = renewed
        return True

    def _value(self, holder: str) -> bytes:
        text = {"holder": holder, "token": self._token, "epoch": self._epoch, "since": self._began}
        return canonical_json(text).encode()


def deposed(society: str, by: Leader | None) -> LeaseHeld:
    """Return what a host is told that leads no longer."""
    who = f"{by.name} leads it now" if by is not None and by.name else "another host took it over"
    return LeaseHeld(f"this host no longer leads {society}: {who}")


def leader_of(value: bytes) -> Leader | None:
    """Read a lease's value; None when nobody leads."""
    return _leader(_read(value))


def _leader(said: dict[str, Any]) -> Leader | None:
    if not said.get("holder"):
        return None
    epoch = said.get("epoch")
    return Leader(str(said["holder"]), epoch if isinstance(epoch, int) else 0, str(said.get("since", "")))


def _read(value: bytes) -> dict[str, Any]:
    try:
        said = json.loads(value or b"{}")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
