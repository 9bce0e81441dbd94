"""Control requests: how a person in another process sets the pace of a running society (K7, K8).

Only the timekeeper may say CLOCK_SET, so these are no drafts: a table `control` beside the guests' inbox
holds one row a request, the host carries it out and writes the receipt. What follows stands in the log. A
request is for the society that runs now: one that nobody took is withdrawn, never kept for the next start.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import structlog

from moot.channels.errors import NotALog, StorageError
from moot.channels.guests.loop_thread import LoopEnded, LoopThread
from moot.channels.log.file import LOG_NAME, check_schema, connect, disk_errors
from moot.channels.log.lease import holder
from moot.clock import PacedClock
from moot.clock.wall import utc_ns
from moot.protocols.kernel.times import a_speed, rfc3339

if TYPE_CHECKING:
    from moot.society import Society

LOOK_S: Final = 0.02
"""A guest looks for its receipt this often."""
POLL_S: Final = 0.05
"""The pump looks for requests this often, in wall time."""

SHOWN: Final = "shown"
"""Operation of a row that reports an escalation displayed by a command; `by` holds its id."""

Op = Literal["pause", "resume", "step", "speed"]
"""What can be asked: stand still, go on, move by some timers, run at another speed (and go on)."""

Receipt = Mapping[str, Any]
"""`ok`, and `why` when it is false; else whatever the host tells: `society_at`, `speed`, `paused`."""

Handle = Callable[[str, float | None, str], Awaitable[Receipt]]
"""Carries out (op, value, by) on the society's loop; a ValueError it raises is told to the person."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS control(
    n INTEGER PRIMARY KEY AUTOINCREMENT, op TEXT NOT NULL, value REAL, by TEXT NOT NULL,
    asked_ns INTEGER NOT NULL, taken INTEGER NOT NULL DEFAULT 0, receipt TEXT
)
"""
INSERT: Final = "INSERT INTO control(op, value, by, asked_ns) VALUES (?, ?, ?, ?)"
SELECT_RECEIPT: Final = "SELECT receipt FROM control WHERE n = ?"
SELECT_TAKEN: Final = "SELECT taken FROM control WHERE n = ?"
WITHDRAW: Final = "DELETE FROM control WHERE n = ? AND NOT taken"
SELECT_WAITING: Final = "SELECT n, op, value, by FROM control WHERE NOT taken ORDER BY n LIMIT 100"
TAKE: Final = "UPDATE control SET taken = 1 WHERE n = ? AND NOT taken"
UPDATE_RECEIPT: Final = "UPDATE control SET receipt = ? WHERE n = ?"
DELETE_OLD: Final = "DELETE FROM control WHERE asked_ns < ?"

Row = tuple[int, str, float | None, str]

_log = structlog.get_logger(__name__)


class NobodyListens(NotALog):
    """Say that no society runs there, or that it did not take the request; nothing has changed."""


def ask(path: Path | str, op: Op, value: float | None, by: str, *, wait_s: float = 10.0) -> Receipt:
    """Ask a running society to change its pace, and wait for its receipt.

    Args:
        path: `log.sqlite` of the society.
        op: What to do.
        value: The speed, or how many timers to step by; None for the others.
        by: User id of the person, who has been found to be an admin.
        wait_s: How long to wait, in wall time.

    Returns:
        The receipt.

    Raises:
        NobodyListens: No society runs there, or it did not take the request in time; nothing has changed.
        StorageError: The disk did not take it.
    """
    place = Path(path)
    if holder(place.parent) is None:
        raise NobodyListens(f"no society runs on {place.parent}: start it with moot up --data {place.parent}")
    with disk_errors(place), closing(connect(place, durability="process")) as db:
        check_schema(db, place)
        db.execute(SCHEMA)
        n: int | None = None
        for _ in range(max(1, math.ceil(wait_s / LOOK_S))):
            found = db.execute(SELECT_RECEIPT, (n,)).fetchone()
            if found is None:
                # The first time, or a society that began meanwhile has dropped what came before it.
                n = db.execute(INSERT, (op, value, by, utc_ns())).lastrowid
            elif found[0] is not None:
                receipt: Receipt = json.loads(found[0])
                return receipt
            elif holder(place.parent) is None:
                break
            time.sleep(LOOK_S)
        if not db.execute(SELECT_TAKEN, (n,)).fetchone() or db.execute(WITHDRAW, (n,)).rowcount:
            raise NobodyListens(
                f"the society on {place.parent} did not take the request: nothing has changed"
            )
    return {"ok": True, "why": "the society has taken it and is still at it"}


def note_shown(directory: Path, escalation_ids: Iterable[str]) -> None:
    """Report escalations that a command has displayed to the society that runs here, if one does."""
    found = [*escalation_ids]
    path = directory / LOG_NAME
    if not found or not directory.is_dir() or holder(directory) is None:
        return
    with (
        suppress(StorageError, NotALog),
        disk_errors(path),
        closing(connect(path, durability="process")) as db,
    ):
        db.execute(SCHEMA)
        db.executemany(INSERT, [(SHOWN, None, one, utc_ns()) for one in found])


class ControlPump(LoopThread):
    """A thread that looks for requests, and a task on the loop that carries them out, one after the other.

    Time: the thread waits in wall time, off the loop, so a paused society can be told to go on (K22). It is a
    daemon with a connection of its own (K25). Requests that an earlier society left are dropped at the start.

    Args:
        path: `log.sqlite`, which a `SqliteBus` has opened.
        handle: Carries out a request, on the running loop.
        poll_s: Wall seconds between two looks.
        hold: Keeps virtual time still while `close` waits for the thread.
    """

    def __init__(
        self,
        path: Path | str,
        handle: Handle,
        *,
        poll_s: float = POLL_S,
        hold: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Start looking."""
        super().__init__("control pump", poll_s=poll_s, hold=hold)
        self._path = Path(path)
        self._handle = handle
        self._since_ns = utc_ns()
        self._thread.start()

    def _run(self) -> None:
        """Look, hand over, write receipts, until stopped; in the thread."""
        try:
            with closing(connect(self._path, durability="process")) as db:
                db.execute(SCHEMA)
                db.execute(DELETE_OLD, (self._since_ns,))
                while not self._stop.is_set():
                    self._look(db)
                    self._stop.wait(self._poll_s)
        except sqlite3.Error as exc:
            _log.error("control closed", path=str(self._path), why=str(exc))

    def _look(self, db: sqlite3.Connection) -> None:
        try:
            rows: list[Row] = db.execute(SELECT_WAITING).fetchall()
            for n, op, value, by in rows:
                # Taken first: whoever gives up waiting withdraws only what nobody took.
                if self._stop.is_set() or not db.execute(TAKE, (n,)).rowcount:
                    continue
                receipt = self._hand_over(op, value, by)
                db.execute(UPDATE_RECEIPT, (json.dumps(receipt, default=str), n))
        except sqlite3.Error as exc:
            _log.warning("control not served", path=str(self._path), why=str(exc))

    def _hand_over(self, op: str, value: float | None, by: str) -> Receipt:
        """Let the loop carry out a request and wait for it."""

        async def handled() -> Receipt:
            return await self._handle(op, value, by)

        try:
            return {"ok": True, **self._on_loop(handled)}
        except ValueError as exc:
            return {"ok": False, "why": str(exc)}
        except LoopEnded:
            return {"ok": False, "why": "the society has ended"}
        except Exception as exc:
            _log.error("control request failed", op=op, why=repr(exc))
            return {"ok": False, "why": f"{type(exc).__name__}: {exc}"}


async def control_clock(society: Society, op: str, value: float | None, by: str) -> dict[str, Any]:
    """Pause, step or change the speed of an accelerated society (K7).

    Returns:
        What the person is told: `ok`, and why not.
    """
    clock = society.clock
    if not isinstance(clock, PacedClock):
        return {"ok": False, "why": f"a {clock.kind} clock cannot be paused, stepped or sped up: use --speed"}
    try:
        if op == "pause":
            await society.set_clock(paused=True, reason=f"paused by {by}")
        elif op == "resume":
            await society.set_clock(paused=False, reason=f"resumed by {by}")
        elif op == "step":
            if not clock.paused:
                await society.set_clock(paused=True, reason=f"stepped by {by}")
            clock.step()
        elif op == "speed":
            await society.set_clock(speed=a_speed(value), paused=False, reason=f"set by {by}")
        else:
            return {"ok": False, "why": f"there is no control {op!r}"}
    except ValueError as exc:
        return {"ok": False, "why": str(exc)}
    return {"ok": True, "speed": clock.speed, "paused": clock.paused, "society_at": rfc3339(clock.now())}
