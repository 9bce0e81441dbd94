"""The pump: takes drafts out of the inbox and publishes them, in a running society (K3)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Final, Protocol

import structlog

from moot.channels.bus import Receipt
from moot.channels.errors import ChannelError, Refused
from moot.channels.guests.drafts import DecodeBody
from moot.channels.guests.inbox import (
    DELETE_OLD,
    SELECT_WAITING,
    UPDATE_RECEIPT,
    InboxReceipt,
    accepted,
    read_draft,
    refused,
)
from moot.channels.guests.loop_thread import LoopEnded, LoopThread
from moot.channels.log.file import connect
from moot.protocols.kernel.envelope import Draft
from moot.protocols.kernel.errors import Violation

POLL_S: Final = 0.05
"""The pump looks into the inbox this often, in wall time."""

Row = tuple[int, str, str]
"""n, key and draft of an inbox row."""

Outcome = tuple[list[tuple[int, InboxReceipt]], int]
"""The receipts by n, and the last n that is done with."""

OnMalformed = Callable[[str, Violation], None]
"""Told of a posted text that is no draft, for the audit line."""

_log = structlog.get_logger(__name__)


class Publisher(Protocol):
    """Whatever stands before the bus: it may refuse guests what the bus would take."""

    async def publish(self, draft: Draft) -> Receipt:
        """Publish as `Bus.publish` does."""
        ...


class InboxPump(LoopThread):
    """A thread that looks into the inbox, and a task that publishes what it finds.

    Order: drafts are published in the order in which they were posted, each after the one before is folded.
    A draft whose outcome the host did not live to write down is published again and found to be a duplicate.

    Time: the thread waits in wall time, off the loop, and holds no virtual time while nothing is posted (K2).
    It is a daemon with a connection of its own: it never keeps the interpreter alive (K25).

    Args:
        path: `log.sqlite`, which a `SqliteBus` has opened.
        bus: Where the drafts go: the bus, or a door before it.
        decode_body: Reads a body (`moot.protocols.codec.decode_body`).
        poll_s: Wall seconds between two looks.
        on_malformed: Told of a text that never reached the bus.
        hold: Keeps virtual time still while `close` waits for the thread.
    """

    def __init__(
        self,
        path: Path | str,
        bus: Publisher,
        decode_body: DecodeBody,
        *,
        poll_s: float = POLL_S,
        on_malformed: OnMalformed | None = None,
        hold: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        super().__init__("inbox pump", poll_s=poll_s, hold=hold)
        self._path = Path(path)
        self._bus = bus
        self._decode_body = decode_body
        self._on_malformed = on_malformed
        self._thread.start()

    def _run(self) -> None:
        """Look, hand over, write receipts, until stopped; in the thread."""
        try:
            with closing(connect(self._path, durability="process")) as db:
                db.execute(DELETE_OLD)
                done = 0
                while not self._stop.is_set():
                    done = self._look(db, done)
                    self._stop.wait(self._poll_s)
        except sqlite3.Error as exc:
            _log.error("inbox closed", path=str(self._path), why=str(exc))

    def _look(self, db: sqlite3.Connection, done: int) -> int:
        """Handle what waits after row `done`; return the last row that is done with."""
        try:
            rows = db.execute(SELECT_WAITING, (done,)).fetchall()
            if rows:
                receipts, done_now = self._on_loop(lambda: self._publish(rows))
                db.execute("BEGIN IMMEDIATE")
                db.executemany(UPDATE_RECEIPT, [(json.dumps(receipt), n) for n, receipt in receipts])
                db.execute("COMMIT")
                return max(done, done_now)
        except LoopEnded:
            # What still waits is for the next start.
            pass
        except sqlite3.Error as exc:
            _log.warning("inbox not served", path=str(self._path), why=str(exc))
            if db.in_transaction:
                db.execute("ROLLBACK")
        return done

    async def _publish(self, rows: Sequence[Row]) -> Outcome:
        """Publish a page in order, up to a draft that the bus cannot take now."""
        receipts: list[tuple[int, InboxReceipt]] = []
        done = 0
        for n, key, text in rows:
            if self._stop.is_set():
                break
            try:
                receipt = await published(self._bus, key, text, self._decode_body, self._on_malformed)
                receipts.append((n, receipt))
            except ChannelError as exc:
                _log.warning("posted draft waits", key=key, why=str(exc))
                break
            except Exception as exc:
                _log.error("posted draft left out until the next start", key=key, why=repr(exc))
            done = n
        return receipts, done


async def published(
    bus: Publisher,
    key: str,
    text: str,
    decode_body: DecodeBody,
    on_malformed: OnMalformed | None = None,
) -> InboxReceipt:
    """Publish what a guest posted, and return what the guest is told; also when it is no draft, or is refused.

    Raises:
        ChannelError: The bus cannot take it now.
    """
    try:
        draft = read_draft(text, key, decode_body)
    except Violation as violation:
        if on_malformed is not None:
            on_malformed(text, violation)
        return refused(key, violation)
    try:
        return accepted(await bus.publish(draft))
    except Refused as refusal:
        return refused(key, refusal.violation)
