"""Any history of publishing, cancelling, reading, closing and reopening, against a model of the log."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from moot.channels.bus import Bus, Receipt, Subscription
from moot.channels.errors import BusClosed, Refused, StorageError
from moot.channels.log import batching, filed, writer
from moot.channels.log.inmemory import InMemoryBus
from moot.channels.log.sqlite import SqliteBus
from moot.protocols.kernel.envelope import Draft, Envelope, link
from tests.doubles.nats import NatsServer, leading
from tests.doubles.tiny import Said, Ticks, TinyAdmission, decode, said

KEYS = [f"k{n}" for n in range(12)]
DRAFTS = st.builds(
    said,
    st.sampled_from(KEYS),
    st.sampled_from(["x", "y"]),
    channel=st.sampled_from(["#open"] * 5 + ["#closed"]),
)


@dataclass
class Reading:
    """A subscriber of the machine and what it has heard."""

    subscription: Subscription
    heard: list[int]
    start: int


class BusMachine(RuleBasedStateMachine):
    """The model is a list of (id, text) in log order."""

    bus: Bus

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.log: list[tuple[str, str]] = []
        self.readings: list[Reading] = []
        self.folded: list[int] = []
        self.is_open = True
        self.clock = Ticks()

    def open(self) -> None:
        self.bus = self.runner.run(self.make())
        self.bus.on_append = lambda envelope: self.folded.append(envelope.seq)

    async def make(self) -> Bus:
        return InMemoryBus(admission=TinyAdmission(), now=self.clock)

    @initialize()
    def begin(self) -> None:
        self.open()

    def expect(self, draft: Draft) -> Receipt | type[Refused]:
        """Foretell an outcome and bring the model up to date."""
        if draft.channel == "#closed":
            return Refused
        assert isinstance(draft.body, Said)
        ids = [key for key, _ in self.log]
        if draft.key in ids:
            seq = ids.index(draft.key) + 1
            is_same = self.log[seq - 1][1] == draft.body.text
            return Receipt(seq, draft.key, "duplicate" if is_same else "superseded")
        self.log.append((draft.key, draft.body.text))
        return Receipt(len(self.log), draft.key)

    @precondition(lambda self: self.is_open)
    @rule(
        drafts=st.lists(DRAFTS, min_size=1, max_size=15),
        cancelled=st.sets(st.integers(0, 14)),
        turns=st.integers(1, 4),
    )
    def publish(self, drafts: list[Draft], cancelled: set[int], turns: int) -> None:
        expected = [self.expect(draft) for draft in drafts]

        async def go() -> list[Any]:
            tasks = [asyncio.create_task(self.bus.publish(draft)) for draft in drafts]
            for _ in range(turns):
                await asyncio.sleep(0)
            for n in cancelled & set(range(len(tasks))):
                tasks[n].cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            # The cancelled ones are on their way all the same: whoever asks again hears where they stand.
            for draft, wanted, outcome in zip(drafts, expected, outcomes, strict=True):
                if isinstance(outcome, asyncio.CancelledError) and wanted is not Refused:
                    assert (await self.bus.publish(draft)).status in ("duplicate", "superseded")
            return outcomes

        outcomes = self.runner.run(go())
        for wanted, outcome in zip(expected, outcomes, strict=True):
            if isinstance(outcome, asyncio.CancelledError):
                continue
            assert isinstance(outcome, Refused) if wanted is Refused else outcome == wanted

    @precondition(lambda self: self.is_open)
    @rule(back=st.integers(0, 20))
    def subscribe(self, back: int) -> None:
        start = max(0, len(self.log) - back)
        self.readings.append(Reading(self.bus.subscribe(start), [], start))

    @precondition(lambda self: self.is_open and self.readings)
    @rule(data=st.data(), count=st.integers(1, 30))
    def hear(self, data: st.DataObject, count: int) -> None:
        reading = data.draw(st.sampled_from(self.readings))

        async def go() -> None:
            iterator = aiter(reading.subscription)
            while len(reading.heard) < min(count, len(self.log) - reading.start):
                reading.heard.append((await anext(iterator)).seq)

        self.runner.run(go())
        assert reading.heard == list(range(reading.start + 1, reading.start + 1 + len(reading.heard)))

    @precondition(lambda self: self.is_open and self.readings)
    @rule(data=st.data())
    def stop_hearing(self, data: st.DataObject) -> None:
        reading = data.draw(st.sampled_from(self.readings))
        self.readings.remove(reading)
        reading.subscription.close()
        assert self.runner.run(self.rest(reading.subscription)) == []

    @staticmethod
    async def rest(subscription: Subscription) -> list[Envelope]:
        return [envelope async for envelope in subscription]

    @precondition(lambda self: self.is_open)
    @rule()
    def close(self) -> None:
        self.runner.run(self.bus.close())
        self.is_open = False
        for reading in self.readings:
            end = reading.subscription.cursor
            more = [envelope.seq for envelope in self.runner.run(self.rest(reading.subscription))]
            assert more == list(range(end + 1, end + 1 + len(more)))
        self.readings.clear()

    @precondition(lambda self: not self.is_open)
    @rule()
    def publish_after_the_end(self) -> None:
        try:
            self.runner.run(self.bus.publish(said("late")))
        except BusClosed:
            return
        raise AssertionError("a closed bus took a draft")

    @invariant()
    def the_log_is_the_model(self) -> None:
        if not self.is_open or not hasattr(self, "bus"):
            return
        envelopes = self.runner.run(self.read())
        assert [(e.id, e.body.text) for e in envelopes] == self.log  # type: ignore[attr-defined]
        assert [e.seq for e in envelopes] == list(range(1, len(self.log) + 1)) == self.folded
        assert self.bus.head.seq == len(self.log)
        previous = bytes(32)
        for envelope in envelopes:
            previous = link(previous, envelope.json)
            assert envelope.hash == previous.hex()
        instants = [e.sent_at for e in envelopes]
        assert instants == sorted(instants)

    async def read(self) -> list[Envelope]:
        return [envelope async for envelope in self.bus.read()]

    def teardown(self) -> None:
        if hasattr(self, "bus"):
            self.runner.run(self.bus.close())
        self.runner.close()


class FiledMachine(BusMachine):
    """The same with a log that is closed and opened again, and the shortest memory."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.patches = [
            mock.patch.object(filed, "IDS", 4),
            mock.patch.object(filed, "WINDOW", 3),
            mock.patch.object(filed, "PAGE", 4),
            mock.patch.object(batching, "MAX_ROWS", 3),
            mock.patch.object(writer, "HEAD_EVERY", 2),
            mock.patch.object(batching, "HALVE_FROM", 4),
        ]
        for patch in self.patches:
            patch.start()

    @precondition(lambda self: not self.is_open)
    @rule()
    def reopen(self) -> None:
        self.open()
        self.is_open = True

    def teardown(self) -> None:
        super().teardown()
        for patch in self.patches:
            patch.stop()
        shutil.rmtree(self.directory)


class SqliteMachine(FiledMachine):
    """And a disk that fails."""

    async def make(self) -> Bus:
        return await SqliteBus.open(
            self.directory / "log.sqlite",
            admission=TinyAdmission(),
            now=self.clock,
            decode=decode,
            durability="process",
        )

    @precondition(lambda self: self.is_open)
    @rule(keys=st.lists(st.integers(100, 10**6), min_size=1, max_size=12, unique=True))
    def publish_on_a_full_disk(self, keys: list[int]) -> None:
        """Batches fail or go through as a whole; the model takes over what the bus acknowledged."""
        before = len(self.log)

        async def go() -> list[Any]:
            db = self.bus._writer._table.db  # type: ignore[attr-defined]
            ((pages,),) = await db.execute_fetchall("PRAGMA page_count")
            await db.execute_fetchall(f"PRAGMA max_page_count={pages + 1}")
            tasks = [self.bus.publish(said(f"full {key}", "z" * 900)) for key in keys]
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            await db.execute_fetchall("PRAGMA max_page_count=1000000")
            return outcomes

        for key, outcome in zip(keys, self.runner.run(go()), strict=True):
            if isinstance(outcome, Receipt):
                if outcome.status == "accepted":
                    self.log.append((f"full {key}", "z" * 900))
            else:
                assert isinstance(outcome, StorageError), outcome
        assert self.bus.head.seq == len(self.log) >= before


@cache
def server() -> NatsServer:
    """Start the server of all examples; it ends with the process."""
    found = NatsServer(Path(tempfile.mkdtemp()))
    found.start()
    atexit.register(shutil.rmtree, found.directory)
    atexit.register(found.kill)
    return found


class NatsMachine(FiledMachine):
    """And a host whose directory is lost now and then, so that another one takes over with an empty mirror."""

    def __init__(self) -> None:
        super().__init__()
        self.address = server().address()
        self.hosts = 0
        self.epoch = 0
        self.exits = AsyncExitStack()

    async def make(self) -> Bus:
        self.epoch += 1
        directory = self.directory / f"host {self.hosts}"
        return await self.exits.enter_async_context(
            leading(self.address, directory, TinyAdmission(), self.clock, self.epoch)
        )

    @precondition(lambda self: not self.is_open)
    @rule()
    def lose_the_host(self) -> None:
        self.hosts += 1

    def teardown(self) -> None:
        self.runner.run(self.exits.aclose())
        super().teardown()


TestInMemoryBus = BusMachine.TestCase
TestInMemoryBus.settings = settings(max_examples=60, stateful_step_count=20)
TestSqliteBus = SqliteMachine.TestCase
TestSqliteBus.settings = settings(max_examples=40, stateful_step_count=20)
TestNatsBus = NatsMachine.TestCase
TestNatsBus.settings = settings(max_examples=15, stateful_step_count=20)
