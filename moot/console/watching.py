"""One society as the console watches it: its log, live stream, index, docket and clock, for as long as it is asked.

`Watching` owns every file, thread and task of the console's read side. Models of any number of people look
through it.
"""

from __future__ import annotations

import asyncio
import importlib
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from moot.channels.backoff import Backoff
from moot.channels.gateway.client import LogStream, Requests
from moot.channels.gateway.link import FindAddress, LogReplaced
from moot.channels.log.file import LOG_NAME
from moot.channels.log.lease import holder
from moot.channels.log.lines import seq_of
from moot.channels.log.reader import LogRows, Row
from moot.clock.wall import utc_ns
from moot.config.settings import Settings
from moot.console.acts import ActStore
from moot.console.errors import ConsoleError, NotReady, Unreadable
from moot.console.hub import Hub
from moot.console.model.interface import OWNER, PLATFORM, Batch, Damage, Progress, SocietyTime
from moot.console.pace import SocietyClock
from moot.console.reaching import Reaching
from moot.console.reading.courtesy import LONG_SLICES, Courtesy, Worker
from moot.console.reading.folding import Folding
from moot.console.reading.index import Index, Reach
from moot.console.reading.indexing import Indexer
from moot.console.reading.readers import Readers
from moot.console.reading.windows import Wanted, opened, opened_line, stretch
from moot.console.serving.allowance import Allowances
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.rulebook import rules

if TYPE_CHECKING:
    from moot.console.suggesting import Suggesting

LOOK_S: Final = 0.5
"""How often it is looked whether a society runs and how far the reading is."""

KNOCKING: Final = Backoff(first_s=0.1, most_s=2.0)
"""The pauses while no society answers."""

CHUNK: Final = 100
"""Messages that are taken in before other work on the loop gets its turn."""

Hear = Callable[[Envelope], None]

_log = structlog.get_logger("moot.console")


class Watching:
    """Watches the society of a data directory.

    Attributes:
        directory: The data directory.
        settings: Who is an admin, and what viewers read.
        rules: The rules, with those rights.
        hub: What is new.
        courtesy: Who waits for an answer, so that reading steps back.
        allowances: How much each person may ask and do.
        readers: Threads for queries.
        reaching: The way to the society.
        hears: Called with every message that arrives.
        is_running: Whether a society runs on the directory.
        pasts: How many past moments are open, by who looks at them.
        publishing: Measures how long an act takes.
        log_id: Names the log: the hash of its first message; "" before there is one.
    """

    def __init__(
        self, directory: Path, settings: Settings, *, requests: Requests | None, find: FindAddress
    ) -> None:
        """Prepare; `run` does the work."""
        self.directory = directory
        self.settings = settings
        self.rules = rules(settings.viewers.viewers())
        self.hub = Hub()
        self.courtesy = Courtesy()
        self.allowances = Allowances()
        self.readers = Readers(directory)
        self.reaching = Reaching(requests, self.authority, on_change=self.hub.stir)
        self.hears: list[Hear] = []
        self.is_running = False
        self.pasts: Counter[Seat | None] = Counter()
        self.log_id = ""
        self.publishing: Callable[[], AbstractContextManager[None]] = nullcontext
        self._find = find
        self._clock = SocietyClock(asyncio.get_running_loop().time, utc_ns)
        self._indexer: Indexer | None = None
        self._folding = Folding(directory, self.rules, self.courtesy)
        self._started_seq = 0
        self._is_indexed = False
        self._suggesting: Suggesting | None = None

    # ------------------------------------------------------------ life

    async def run(self) -> None:
        """Watch until cancelled, across restarts of the society and replacements of its log."""
        try:
            while True:
                try:
                    await self._begin()
                    await self._follow()
                except LogReplaced as exc:
                    _log.warning("another log", why=str(exc))
                finally:
                    await asyncio.shield(asyncio.ensure_future(self._end()))
                await asyncio.sleep(KNOCKING.first_s)
        finally:
            self.hub.close()
            if self._suggesting is not None:
                await asyncio.shield(asyncio.ensure_future(self._suggesting.close()))
            await asyncio.shield(asyncio.ensure_future(self.readers.close()))

    async def _begin(self) -> None:
        """Wait for a log, and open what is beside it."""
        self.readers.turn_to(None)
        log_id, last = await self._first_sight()
        self.log_id = log_id
        indexer = Indexer(Index(self.directory), self.courtesy)
        self._indexer = indexer
        await indexer.open(log_id, last.seq)
        self.readers.turn_to(indexer.index.path if indexer.is_open else None)
        self._is_indexed = indexer.is_open
        self._folding = Folding(self.directory, self.rules, self.courtesy)
        self._clock = SocietyClock(asyncio.get_running_loop().time, utc_ns)
        if isinstance(last, Envelope):
            self._clock.take(last, self._written_ago_s())
        self._look_for_society()
        self.hub.start_at(last.seq)
        await self.reaching.open(self._act_store())

    async def _first_sight(self) -> tuple[str, Envelope | Damage]:
        """Return the log's name and its last message, as soon as there is one."""
        failures = 0
        while True:
            if (self.directory / LOG_NAME).exists():
                try:
                    first, last = await self.readers.run(_ends)
                except Unreadable as exc:
                    failures += 1
                    if failures in (3, 30, 300):
                        _log.warning("waiting for the log", why=str(exc))
                else:
                    if last is not None:
                        return _name(first), opened(last)
            await asyncio.sleep(KNOCKING.first_s)

    async def _follow(self) -> None:
        indexer = self._indexer
        assert indexer is not None
        head = self._head
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._listen(), name="console stream")
                tasks.create_task(self._fold(indexer), name="console docket")
                tasks.create_task(indexer.keep_up(head, self._written), name="console index")
                tasks.create_task(self._look(), name="console look")
                tasks.create_task(self._learn_clock(), name="console clock")
                tasks.create_task(self.reaching.hand_over(self._act_store), name="console acts")
                tasks.create_task(self.reaching.keep_asking(), name="console trouble")
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _end(self) -> None:
        folding, indexer = self._folding, self._indexer
        self._is_indexed = False
        await self.reaching.close()
        if indexer is not None:
            await indexer.finish(self.hub.head)
            told = int(await self._told(indexer) or 0)
            await folding.close(told)
            await indexer.close()
            self._indexer = None

    async def _told(self, indexer: Indexer) -> str:
        if not indexer.is_open:
            return ""
        try:
            return await indexer.run(lambda: indexer.index.meta("told"))
        except sqlite3.Error:
            return ""

    # ------------------------------------------------------------ tasks

    async def _listen(self) -> None:
        stream = LogStream(self._find, self.log_id, backoff=KNOCKING)
        while True:
            try:
                async for lines in stream(self.hub.head):
                    for n in range(0, len(lines), CHUNK):
                        self._take(lines[n : n + CHUNK])
                        await asyncio.sleep(0)
            except LogReplaced:
                if not await self._is_all_there():
                    raise
                await asyncio.sleep(KNOCKING.first_s)

    async def _is_all_there(self) -> bool:
        """Say whether the log is the one that was read, as far as it was.

        The file has a line before the society's gateway hears of it: on a busy machine it greets with an end that
        lies behind what was read here, and nothing is lost.
        """
        fresh = Readers(self.directory)
        try:
            first, last = await fresh.run(_ends)
        except Unreadable:
            return False
        finally:
            await fresh.close()
        return last is not None and _name(first) == self.log_id and opened(last).seq >= self.hub.head

    def _take(self, lines: Sequence[str]) -> None:
        envelopes = [env for env in map(opened_line, lines) if env is not None]
        for env in envelopes:
            self._clock.take(env)
        self._folding.take(envelopes)
        for env in envelopes:
            for hear in self.hears:
                hear(env)
        self.hub.put(envelopes, seq_of(lines[-1]))
        if self._indexer is not None:
            self._indexer.wake()

    async def _fold(self, indexer: Indexer) -> None:
        folding = self._folding
        told = int(await self._told(indexer) or 0)
        await asyncio.to_thread(folding.start, told, self.hub.head)
        self._tell_stories(indexer)
        indexer.let_others_first(True)
        try:
            await folding.catch_up(self._head, self.hub.after)
        finally:
            indexer.let_others_first(False)
        if folding.is_ready:
            context = folding.docket.context
            self._clock.speed, self._clock.is_paused = context.speed, context.paused
        self.hub.stir()
        await folding.catch_up_past()
        self._written()
        self.hub.stir()

    def _tell_stories(self, indexer: Indexer) -> None:
        folding = self._folding
        past = (folding.past,) if folding.past is not None else ()
        indexer.listen_to(folding.stories, *past)

    def _written(self) -> None:
        """Join the two ends of the stories once the earlier one is told."""
        folding = self._folding
        past = folding.past
        if past is not None and folding.is_past_folded and past.is_written:
            folding.past_is_told()
            if self._indexer is not None:
                self._tell_stories(self._indexer)

    async def _look(self) -> None:
        known: object = None
        while True:
            self._look_for_society()
            seen = (self.is_running, str(self.progress()), str(self.index_progress()))
            if seen != known:
                known = seen
                self.hub.stir()
            await asyncio.sleep(LOOK_S)

    def _look_for_society(self) -> None:
        self.is_running = holder(self.directory) is not None

    async def _learn_clock(self) -> None:
        """Find the last start and the last setting of the clock, which may lie far back."""
        for kind in ("SOCIETY_STARTED", "CLOCK_SET"):
            with suppress(ConsoleError):
                env = await self._last_of(kind)
                if env is not None and (kind == "SOCIETY_STARTED" or env.seq > self._started_seq):
                    self._clock.learn(env)
                    self._started_seq = env.seq
        self.hub.stir()

    async def _last_of(self, kind: str) -> Envelope | None:
        high: int | None = self.hub.head
        worker = Worker(self.courtesy, slices=LONG_SLICES)
        while high is not None:
            await worker.step_back_on_loop()
            wanted, top = Wanted(type=kind), high
            found = await self.readers.run(
                lambda db: stretch(db, self.reach, wanted, low=1, high=top, is_down=True, limit=1)  # noqa: B023
            )
            for row in found.rows:
                env = opened(row)
                return env if isinstance(env, Envelope) else None
            high = found.edge - 1 if found.edge is not None else None
        return None

    # ------------------------------------------------------------ acts

    def _act_store(self) -> ActStore:
        return ActStore(self.directory, self.log_id, case_of=self._case_of, channel_of=self._channel_of)

    def authority(self, platform: str, user_id: str) -> Seat:
        """Say what a person is: whoever has the printed address is an admin, others as configured (R-E5)."""
        if platform == PLATFORM and user_id == OWNER:
            return ADMIN
        return self.settings.seat_of(platform, user_id)

    async def _case_of(self, seq: str) -> str | None:
        if not seq.isascii() or not seq.isdigit() or len(seq) > 18:
            return None
        found = await self.readers.run(lambda db: LogRows(db, "log").field(int(seq), "case_id"))
        return None if found is None else str(found)

    async def _channel_of(self, case_id: str) -> str | None:
        wanted = Wanted(case_id=case_id)
        found = await self.readers.run(
            lambda db: stretch(db, self.reach, wanted, low=1, high=self.hub.head, is_down=False, limit=1)
        )
        env = opened(found.rows[0]) if found.rows else None
        return env.channel if isinstance(env, Envelope) else None

    async def suggester(self) -> Suggesting:
        """Return what asks simulated minds; loading them takes a moment, and is done when somebody wants them."""
        if self._suggesting is None:
            loaded = await asyncio.to_thread(importlib.import_module, "moot.console.suggesting")
            self._suggesting = self._suggesting or loaded.Suggesting(self)
        return self._suggesting

    # ------------------------------------------------------------ what models ask

    def _head(self) -> int:
        return self.hub.head

    @property
    def reach(self) -> Reach:
        """Return how far the index has columns."""
        return self._indexer.index.rows if self._indexer is not None and self._is_indexed else Reach()

    @property
    def texts_reach(self) -> Reach:
        """Return how far the index has sentences."""
        return self._indexer.index.texts if self._indexer is not None and self._is_indexed else Reach()

    async def texts_up_to(self, seq: int, within_s: float) -> None:
        """Have sentences up to a message taken in now, so that they can be searched; give up when it takes too long.

        Nothing happens while the index has none: what is new comes in with the rest.
        """
        await self._taken_in(lambda: not self.texts_reach.size or self.texts_reach.high >= seq, seq, within_s)

    async def rows_up_to(self, seq: int, within_s: float) -> None:
        """Have columns up to a message taken in now; give up when it takes too long."""
        await self._taken_in(lambda: self.reach.high >= seq, seq, within_s)

    async def _taken_in(self, is_done: Callable[[], bool], seq: int, within_s: float) -> None:
        with suppress(TimeoutError, sqlite3.Error):
            async with asyncio.timeout(within_s):
                while self._indexer is not None and self._is_indexed and not is_done():
                    await self._indexer.take_in(seq)

    @property
    def indexer_is_open(self) -> bool:
        """Say whether there is an index."""
        return self._is_indexed

    def docket(self) -> Docket:
        """Return the docket of the present.

        Raises:
            NotReady: It is still being folded, or cannot be.
        """
        if not self._folding.is_ready:
            raise NotReady(str(self.progress()))
        return self._folding.docket

    def progress(self) -> Progress:
        """Return how far the log is folded."""
        return self._folding.progress(self.hub.head)

    def story_progress(self) -> Progress:
        """Return how far cases have been told."""
        return self._folding.past_progress(self.hub.head)

    def story_rows(self, case_id: str) -> dict[str, list[tuple[object, ...]]]:
        """Return what is told of a case and not in the index yet."""
        return self._folding.stories.about(case_id)

    def index_progress(self) -> Progress:
        """Return how far the index is."""
        if self._indexer is None:
            return Progress(0, self.hub.head, "indexing")
        return self._indexer.progress(self.hub.head)

    def now(self) -> SocietyTime:
        """Return the society's time."""
        limit = self._folding.docket.next_instant() if self._folding.is_ready else None
        trouble = self.reaching.trouble
        if trouble and self._clock.clock != "real":
            # Its clock stands since the last message that could be written.
            limit = self._clock.at
        return replace(self._clock.now(is_running=self.is_running, limit=limit), trouble=trouble)

    @property
    def is_warm_up(self) -> bool:
        """Say whether the last start was that of a warm-up."""
        return self._clock.is_warm_up

    def changes(self, cursor: int) -> AsyncGenerator[Batch, None]:
        """Yield what is new."""
        return self.hub.changes(cursor)

    def _written_ago_s(self) -> float:
        """Say how long ago the log was written last."""
        times = []
        for name in (LOG_NAME, f"{LOG_NAME}-wal"):
            with suppress(OSError):
                times.append((self.directory / name).stat().st_mtime_ns)
        return max(0.0, min(86_400.0, (utc_ns() - max(times)) / 1e9)) if times else 0.0


def _name(first: Row | None) -> str:
    """Return what a log is named by: the hash of its first message, "" when that is damaged."""
    return first.hash.hex() if first is not None and isinstance(first.hash, bytes) else ""


def _ends(db: sqlite3.Connection) -> tuple[Row | None, Row | None]:
    """Return the first and the last row of the log."""
    log = LogRows(db, "log")
    return log.at(1), log.newest()
