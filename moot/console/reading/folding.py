"""Folding the log into a docket beside whoever writes it: from a snapshot where one fits, in slices, in a thread.

A thread folds what the log holds; once it has come near the end, what arrives is folded on the loop, so that
pages always read a docket of one moment.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import structlog

from moot.channels.log.file import LOG_NAME
from moot.channels.log.reader import LogRows, Row, connect_to_read
from moot.console.model.interface import Progress
from moot.console.reading.courtesy import Courtesy, Worker
from moot.console.reading.index import BUSY_S
from moot.console.reading.stories import Stories
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import LocalProtocolError, Violation
from moot.protocols.kernel.rules import Rules
from moot.snapshot import NAME as SNAPSHOT
from moot.snapshot import collector_off, read_snapshot, write_snapshot
from moot.stored import hash_at

PAGE: Final = 256
"""Rows of one read."""

SLICE: Final = 64
"""Messages after which a folding thread steps back, so that the loop gets its turn at once."""

REST_S: Final = 0.0005

STATE_DIR: Final = "console-state"
"""Where the console keeps its own snapshot, so that it need not tell all stories again after a restart."""

KEPT_FROM: Final = 2_000
"""A shorter log is folded faster than a snapshot is worth."""

_log = structlog.get_logger("moot.console")


class Stuck(Exception):
    """Say in one line why the log cannot be folded further."""


def fold_file(
    directory: Path,
    docket: Docket,
    last: int,
    *,
    stop: threading.Event,
    stories: Stories | None = None,
    worker: Worker | None = None,
) -> None:
    """Fold what the log holds after the docket's seq, up to `last` or until stopped; in a thread.

    Args:
        directory: The data directory.
        docket: What is folded further.
        last: The last message to fold.
        stop: Ends it early.
        stories: Told what each message did.
        worker: Steps back between slices while somebody waits for an answer; None: it never does.

    Raises:
        Stuck: A line is damaged or breaks the rules.
    """
    try:
        # What folding makes lives: a collection in between would walk all of it and hold up the loop for seconds.
        with (
            collector_off(),
            closing(connect_to_read(directory / LOG_NAME, busy_s=BUSY_S)) as db,
        ):
            log = LogRows(db)
            while docket.seq < last and not stop.is_set():
                rows = log.between(docket.seq + 1, last, limit=PAGE)
                if not rows:
                    break
                for n in range(0, len(rows), SLICE):
                    for row in rows[n : n + SLICE]:
                        fold_one(docket, read_row(row), stories)
                    time.sleep(REST_S)
                    if worker is not None:
                        worker.step_back()
                while stories is not None and not stop.is_set() and not stories.wait_for_room(0.2):
                    pass
            if stories is not None:
                gc.freeze()
    except sqlite3.Error as exc:
        raise Stuck(f"the log cannot be read after message {docket.seq}: {exc}") from exc


def seq_of(place: Path) -> int:
    """Return the seq at which the snapshot in a directory stands by its own word, 0 where there is none."""
    try:
        with (place / SNAPSHOT).open("rb") as file:
            return int(json.loads(file.readline(10_000))["seq"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def read_row(row: Row) -> Envelope:
    """Read a row for folding.

    Raises:
        Stuck: It is no message.
    """
    try:
        return decode_stored(row.text, row.hash.hex())
    except (Violation, ValueError, TypeError, AttributeError) as exc:
        raise Stuck(f"message {row.seq} is damaged ({exc}): moot verify says more") from exc


def fold_one(docket: Docket, env: Envelope, stories: Stories | None) -> None:
    """Fold the next message and tell what it did.

    Raises:
        Stuck: It breaks the rules.
    """
    try:
        fx = docket.fold(env)
    except LocalProtocolError as exc:
        raise Stuck(f"message {env.seq} cannot be folded ({exc}): moot verify says more") from exc
    if stories is not None:
        stories.take(env, fx, docket)


class Folding:
    """The docket of the present, and the stories of the past.

    Attributes:
        docket: What has been folded; of the present once `is_ready`.
        is_ready: Whether it is as far as the log, so that messages are folded as they arrive.
        stories: What folding tells from `stories_from` on.
        past: What folding the messages before tells, while that is still to be done; None when it is not.
    """

    def __init__(self, directory: Path, rules: Rules, courtesy: Courtesy) -> None:
        """Prepare to fold the log of a data directory, stepping back for whoever `courtesy` knows of."""
        self._worker = Worker(courtesy)
        self._directory = directory
        self._rules = rules
        self._stop = threading.Event()
        self._problem = ""
        self.docket = Docket(rules)
        self.is_ready = False
        self.stories = Stories("told")
        self.past: Stories | None = None
        self._past_docket: Docket | None = None
        self._past_to = 0
        self._past_problem = ""

    def start(self, told: int, head: int) -> None:
        """Begin at the nearest snapshot that fits; in a thread.

        Args:
            told: How far the index has stories.
            head: The log's end.
        """
        places = [
            (seq, place) for place in (self._directory, self._own) if 0 < (seq := seq_of(place)) <= head
        ]
        # One up to which everything has been told comes first; then the nearest.
        places.sort(key=lambda one: (one[0] <= told, one[0]), reverse=True)
        with collector_off():
            found = next(
                (docket for _, place in places if (docket := self._snapshot(place)) is not None), None
            )
            # It lives as long as the process: the collector need not walk millions of objects, and hold up the loop.
            gc.freeze()
        if found is not None:
            self.docket = found
        if found is not None and found.seq > told:
            # Stories before the snapshot are told behind, under the name that a restart goes by.
            self.stories = Stories("")
            self.past = Stories("told")
            self._past_docket = Docket(self._rules)
            self._past_to = found.seq
        self.stories.know(self.docket)

    @property
    def _own(self) -> Path:
        return self._directory / STATE_DIR

    def _snapshot(self, place: Path) -> Docket | None:
        found = read_snapshot(place, rules=self._rules, hash_at=lambda seq: hash_at(self._directory, seq))
        if found is None or not isinstance(found[1], dict):
            return None
        docket = found[1].get("docket")
        return docket if isinstance(docket, Docket) and docket.seq == found[0] else None

    async def catch_up(self, head: Callable[[], int], recent: Callable[[int], list[Envelope] | None]) -> None:
        """Fold up to the end, then hand over to `take`; returns once the docket is of the present.

        Args:
            head: The log's end now.
            recent: Messages after a seq that arrived live; None when some are not kept any more.
        """
        try:
            while True:
                await self._in_thread(self.docket, head(), self.stories)
                rest = recent(self.docket.seq)
                if rest is not None and len(rest) <= PAGE and self.docket.seq + len(rest) >= head():
                    for env in rest:
                        fold_one(self.docket, env, self.stories)
                    self.is_ready = True
                    return
        except Stuck as exc:
            self._fail(exc)

    async def catch_up_past(self) -> None:
        """Tell the stories from before the snapshot, if they have not been told."""
        if self.past is None or self._past_docket is None:
            return
        try:
            await self._in_thread(self._past_docket, self._past_to, self.past)
        except Stuck as exc:
            self._past_problem = str(exc)
            _log.warning("stories end early", why=str(exc))
        else:
            self._past_docket = None

    @property
    def is_past_folded(self) -> bool:
        """Say whether the messages before the snapshot have been folded, told or not."""
        return self.past is not None and self._past_docket is None

    def past_is_told(self) -> None:
        """Go on as one: all that `past` told is in the index, and a restart may begin at the present."""
        self.past = None
        self.stories.note_as("told")

    def take(self, envelopes: Sequence[Envelope]) -> None:
        """Fold what arrived; on the loop."""
        if not self.is_ready:
            return
        try:
            for env in envelopes:
                if env.seq > self.docket.seq:
                    fold_one(self.docket, env, self.stories)
        except Stuck as exc:
            self._fail(exc)

    def progress(self, head: int) -> Progress:
        """Return how far the docket is."""
        done = head if self.is_ready else min(self.docket.seq, head - 1) if head else 0
        return Progress(done, head, "reading the log", self._problem)

    def past_progress(self, head: int) -> Progress:
        """Return how far the stories of cases are told."""
        if self.past is not None and self._past_docket is not None:
            done = self._past_docket.seq + head - self._past_to
            return Progress(min(done, head - 1), head, "reading the history", self._past_problem)
        return self.progress(head)

    async def close(self, told: int) -> None:
        """Stop, and keep what was folded for the next start.

        Args:
            told: How far the index has stories from the first message on.
        """
        self._stop.set()
        is_new = self.docket.seq != seq_of(self._own)
        if self.is_ready and is_new and KEPT_FROM <= self.docket.seq <= told:
            await asyncio.to_thread(self._keep)

    def _keep(self) -> None:
        with suppress(OSError):
            self._own.mkdir(mode=0o700, exist_ok=True)
            seq = self.docket.seq
            digest = hash_at(self._directory, seq)
            if digest is not None:
                state = {"docket": self.docket}
                write_snapshot(self._own, seq=seq, log_hash=digest, rules=self._rules, state=state)

    async def _in_thread(self, docket: Docket, last: int, stories: Stories) -> None:
        work = asyncio.to_thread(
            fold_file, self._directory, docket, last, stop=self._stop, stories=stories, worker=self._worker
        )
        task = asyncio.ensure_future(work)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            # A thread cannot be cancelled: it is told, and waited for, so that nothing outlives us (K25).
            self._stop.set()
            await asyncio.gather(task, return_exceptions=True)
            raise

    def _fail(self, exc: Stuck) -> None:
        self.is_ready = False
        self._problem = str(exc)
        _log.warning("docket stands still", why=str(exc))
