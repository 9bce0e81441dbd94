"""Fills the index behind the society, newest first, a slice at a time, on a thread of its own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, TypeVar

import structlog

from moot.channels.backoff import Backoff
from moot.channels.errors import CorruptLog
from moot.channels.log.lines import open_line
from moot.channels.showing.rendering import predicate
from moot.channels.showing.wording import clean, seat_name
from moot.console.model.interface import Progress
from moot.console.reading.courtesy import LONG_SLICES, Courtesy, Worker
from moot.console.reading.index import Index
from moot.console.reading.stories import Stories

ROWS: Final = 10_000
"""Messages whose columns are taken in at a time."""

TEXTS: Final = 500
"""Messages whose sentences are taken in at a time."""

REST: Final = 0.2
"""Between two slices of the past the thread rests for this part of the time that a slice took."""

MOST_ROWS: Final = 4
"""Slices of columns of the past for each slice of sentences: they are quick, and windows want them."""

LOOK_S: Final = 0.2
"""How often it is looked whether a folding thread has told something."""

PATIENCE: Final = Backoff(first_s=0.5, most_s=30.0)

T = TypeVar("T")

_log = structlog.get_logger("moot.console")


class Indexer:
    """Owns the index: everything that is written to it is written on its thread.

    Attributes:
        index: The index.
        problem: Why nothing is written now; "" when it is.
    """

    def __init__(self, index: Index, courtesy: Courtesy) -> None:
        """Start the thread; it steps back for whoever `courtesy` knows of."""
        self.index = index
        self._worker = Worker(courtesy, slices=LONG_SLICES)
        self.problem = ""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="console index")
        self._woken = asyncio.Event()
        self._stories: list[Stories] = []
        self._waits = False

    def let_others_first(self, is_so: bool) -> None:
        """Leave the sentences of the past until the docket is folded: both want the interpreter.

        Who owes what is asked for sooner than what was said long ago.
        """
        self._waits = is_so
        self.wake()

    async def open(self, log_id: str, head: int) -> None:
        """Open the index; without any disk for it, windows look through the log itself."""
        try:
            await self.run(lambda: self.index.open(log_id, head))
        except (OSError, sqlite3.Error) as exc:
            self.problem = f"no index: {exc}"
            _log.warning("no index", why=str(exc))
        else:
            if self.index.why_elsewhere:
                _log.warning(
                    "the index is temporary", why=self.index.why_elsewhere, path=str(self.index.path)
                )

    @property
    def is_open(self) -> bool:
        """Say whether there is an index."""
        return self.index.is_open

    def listen_to(self, *stories: Stories) -> None:
        """Write down what these tell."""
        self._stories = list(stories)
        self.wake()

    def wake(self) -> None:
        """Look for something to do."""
        self._woken.set()

    async def keep_up(self, head: Callable[[], int], on_written: Callable[[], None]) -> None:
        """Read in what there is, newest first, and what comes; until cancelled.

        Args:
            head: The log's end now.
            on_written: Called after something was written.
        """
        loop = asyncio.get_running_loop()
        failures = 0
        turn = 0
        while self.is_open:
            self._woken.clear()
            began = loop.time()
            try:
                is_new = await self.run(lambda: self._present(head()))
                turn += 1
                await self._worker.step_back_on_loop()
                is_more = await self.run(lambda: self._past(turn)) or is_new  # noqa: B023  # awaited here
            except sqlite3.Error as exc:
                failures += 1
                self.problem = f"the index cannot be written: {exc}"
                if failures in (1, 10, 100):
                    _log.warning("index not written", why=str(exc))
                await asyncio.sleep(PATIENCE.delay_s(failures))
                continue
            failures, self.problem = 0, ""
            if is_new or is_more:
                on_written()
            if is_more:
                await asyncio.sleep(0 if is_new else REST * (loop.time() - began))
            else:
                await self._something_to_do()

    async def take_in(self, head: int) -> None:
        """Take in a slice of what came last, at once and before anything else.

        Raises:
            sqlite3.Error: It cannot be written.
        """
        await self.run(lambda: self._present(head))

    async def _something_to_do(self) -> None:
        """Wait until somebody wakes us, or a folding thread has told something."""
        while not self._woken.is_set() and all(stories.is_written for stories in self._stories):
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._woken.wait()

    async def finish(self, head: int) -> None:
        """Write down what still waits, as far as the disk takes it."""
        if not self.is_open:
            return
        try:
            while await self.run(lambda: self._present(head)):
                pass
        except sqlite3.Error as exc:
            _log.warning("index not written", why=str(exc))

    async def close(self) -> None:
        """Close the index and end the thread (K25)."""
        done = asyncio.wrap_future(self._thread.submit(self.index.close))
        self._thread.shutdown(wait=False)
        await asyncio.shield(done)

    def progress(self, head: int) -> Progress:
        """Return how far the index is: columns and sentences, whichever is behind."""
        done = min(self.index.rows.size, self.index.texts.size)
        return Progress(min(done, head), head, "indexing", self.problem)

    async def run(self, work: Callable[[], T]) -> T:
        """Run some work on the index's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _present(self, head: int) -> bool:
        """Take in what came since, and what was told; returns whether there was anything."""
        index = self.index
        is_new = False
        rows = index.rows
        if not rows.size:
            if head:
                index.add_rows(max(1, head - ROWS + 1), head)
                is_new = True
        elif rows.high < head:
            index.add_rows(rows.high + 1, min(head, rows.high + ROWS))
            is_new = True
        texts = index.texts
        if texts.size and texts.high < head:
            self._take_texts(texts.high + 1, min(head, texts.high + TEXTS))
            is_new = True
        for stories in self._stories:
            seq, statements = stories.waiting()
            if not statements:
                continue
            try:
                index.write(statements)
            except sqlite3.Error:
                stories.put_back(statements)
                raise
            stories.written(seq)
            is_new = True
        return is_new

    def _past(self, turn: int) -> bool:
        """Take in a slice of what came before; returns whether there is more."""
        index = self.index
        rows, texts = index.rows, index.texts
        if not rows.size:
            return False
        if rows.low > 1 and turn % (MOST_ROWS + 1):
            index.add_rows(max(1, rows.low - ROWS), rows.low - 1)
        elif not texts.size:
            self._take_texts(max(1, rows.high - TEXTS + 1), rows.high)
        elif texts.low > 1 and not self._waits:
            self._take_texts(max(1, texts.low - TEXTS), texts.low - 1)
        return index.rows.low > 1 or (index.texts.low > 1 and not self._waits)

    def _take_texts(self, low: int, high: int) -> None:
        said = [(seq, words) for seq, text in self.index.texts_of(low, high) if (words := said_in(text))]
        self.index.add_texts(low, high, said)


def said_in(text: Any) -> str:
    """Return the sentence of a stored line, with its case; "" for one that is no message."""
    if not isinstance(text, str):
        return ""
    try:
        env = open_line(text)
    except (CorruptLog, ValueError, RecursionError):
        return ""
    who = f"{env.actor.user_id} on {env.actor.platform}" if env.actor.kind == "human" else ""
    return f"{seat_name(clean(str(env.author), 40))} {predicate(env)} {env.case_id or ''} {who}"
