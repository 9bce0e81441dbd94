"""The contract of `moot.memory.store.Store`, on every backend.

Run as a program (`python tests/contract/test_store.py FILE`) it is the child of the crash test: it folds a
long log into a file until somebody kills it.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from moot.memory.errors import StoreClosed, StoreGap, StorePruned
from moot.memory.inmemory import InMemoryStore
from moot.memory.shelves import HYPOTHESES
from moot.memory.sqlite import SqliteStore
from moot.memory.store import Applied, Store, digest, rebuild
from moot.memory.view import MemoryView
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.seats import EVOLVER
from moot.protocols.trading.seats import OPERATOR
from tests.doubles.memory_log import Log, a_week, many, principle

T = TypeVar("T")
Open = Callable[[Path], Awaitable[Store]]


async def open_memory(_path: Path) -> Store:
    return InMemoryStore()


async def open_sqlite(path: Path) -> Store:
    return await SqliteStore.open(path / "moot.memory.sqlite", batch=5)


BACKENDS = {"memory": open_memory, "sqlite": open_sqlite}


@pytest.fixture(params=list(BACKENDS))
def opened(request: pytest.FixtureRequest) -> Open:
    return BACKENDS[request.param]


def folded(log: Log) -> InMemoryStore:
    store = InMemoryStore()
    for env in log.envelopes:
        store.apply(env, True)
    return store


# ------------------------------------------------------------------ applying


def test_a_store_starts_before_the_first_message(opened: Open, tmp_path: Path) -> None:
    async def scene() -> None:
        async with await opened(tmp_path) as store:
            assert (store.applied_seq, store.applied_hash, store.low_water) == (0, "", 0)
            assert digest(store.read()) == digest(InMemoryStore().read())

    asyncio.run(scene())


def test_applying_shows_at_once_and_says_what_it_wrote(opened: Open, tmp_path: Path) -> None:
    log = Log()
    env = log.record("ref_001")

    async def scene() -> None:
        async with await opened(tmp_path) as store:
            (put,) = store.apply(env, True)
            assert [put.record] == list(store.read().reflections())
            assert (store.applied_seq, store.applied_hash) == (1, env.hash)

    asyncio.run(scene())


def test_a_message_that_was_applied_already_is_passed_over(opened: Open, tmp_path: Path) -> None:
    log = a_week()

    async def scene() -> None:
        async with await opened(tmp_path) as store:
            for env in log.envelopes[:12]:
                store.apply(env, True)
            for env in log.envelopes:
                assert store.apply(env, True) == () or env.seq > 12
            assert digest(store.read()) == digest(folded(log).read())

    asyncio.run(scene())


def test_a_gap_is_refused_and_changes_nothing(opened: Open, tmp_path: Path) -> None:
    log = a_week()

    async def scene() -> None:
        async with await opened(tmp_path) as store:
            store.apply(log.envelopes[0], True)
            before = digest(store.read())
            with pytest.raises(StoreGap, match="seq 3 after 1"):
                store.apply(log.envelopes[2], True)
            assert (digest(store.read()), store.applied_seq) == (before, 1)

    asyncio.run(scene())


def test_what_is_not_in_effect_moves_the_seq_and_nothing_else(opened: Open, tmp_path: Path) -> None:
    async def scene() -> None:
        async with await opened(tmp_path) as store:
            for env in a_week().envelopes:
                assert store.apply(env, False) == ()
            assert store.applied_seq == 21
            assert digest(store.read()) == digest(InMemoryStore().read())

    asyncio.run(scene())


def test_a_closed_store_takes_nothing_and_its_views_stay_readable(opened: Open, tmp_path: Path) -> None:
    log = a_week()

    async def scene() -> None:
        store = await opened(tmp_path)
        for env in log.envelopes[:-1]:
            store.apply(env, True)
        view = store.read()
        before = view.digest()
        await store.close()
        await store.close()
        with pytest.raises(StoreClosed):
            store.apply(log.envelopes[-1], True)
        with pytest.raises(StoreClosed):
            await store.clear()
        await store.flush()
        assert view.digest() == before == store.read().digest()

    asyncio.run(scene())


# ---------------------------------------------------------------- rebuilding


def test_a_rebuilt_store_equals_the_live_one(opened: Open, tmp_path: Path) -> None:
    log = many(700)
    effects = [(env, env.seq % 11 != 0) for env in log.envelopes]

    async def stream() -> AsyncIterator[Applied]:
        for item in effects:
            yield item

    async def scene() -> None:
        async with await opened(tmp_path) as live:
            for env, in_effect in effects:
                live.apply(env, in_effect)
            expected = [digest(live.read(seq)) for seq in range(0, 701, 100)]
            async with InMemoryStore() as other:
                await rebuild(other, effects)
                assert [digest(other.read(seq)) for seq in range(0, 701, 100)] == expected
            live.prune(500)
            await rebuild(live, stream())
            assert live.low_water == 0
            assert [digest(live.read(seq)) for seq in range(0, 701, 100)] == expected
            assert (live.applied_seq, live.applied_hash) == (len(effects), effects[-1][0].hash)

    asyncio.run(scene())


def test_the_digest_tells_any_two_contents_apart() -> None:
    digests = {folded(Log()).read().digest()}
    for fields in (
        {},
        {"summary": "it failed."},
        {"causal": True},
        {"metrics": {"sharpe": -0.25, "trades": 12.0}},
        {"regime": None},
        {"regime": "None"},
    ):
        log = Log()
        log.record("ref_001", **fields)
        digests.add(folded(log).read().digest())
    assert len(digests) == 7


def test_a_pruned_store_shows_the_same_from_its_low_water_mark_on(opened: Open, tmp_path: Path) -> None:
    log = many(400)

    async def scene() -> None:
        async with await opened(tmp_path) as store:
            for env in log.envelopes:
                store.apply(env, True)
            expected = {seq: digest(store.read(seq)) for seq in (250, 251, 300, 400)}
            assert store.prune(250) > 0
            assert store.prune(250) == store.prune(3) == 0, "the mark only rises"
            assert store.low_water == 250
            assert {seq: digest(store.read(seq)) for seq in expected} == expected
            with pytest.raises(StorePruned):
                store.read(249)
            store.prune(10_000)
            assert store.low_water == store.applied_seq
            assert digest(store.read()) == digest(folded(log).read())

    asyncio.run(scene())


# ------------------------------------------------------------------ durable


def test_a_file_opened_again_goes_on_where_it_was() -> None:
    log = many(600)

    async def scene(path: Path) -> None:
        done = 0
        for until in (1, 7, 250, 251, 600):
            async with await open_sqlite(path) as store:
                assert store.applied_seq == done
                assert store.applied_hash == (log.envelopes[done - 1].hash if done else "")
                for env in log.envelopes[done:until]:
                    store.apply(env, True)
                done = until
        async with await open_sqlite(path) as store:
            live = folded(log)
            assert store.low_water == 0
            for seq in range(0, 601, 50):
                assert digest(store.read(seq)) == digest(live.read(seq))

    with TemporaryDirectory() as directory:
        asyncio.run(scene(Path(directory)))


def test_pruning_survives_in_the_file(tmp_path: Path) -> None:
    log = many(400)
    mark = next(env.seq for env in log.envelopes[300:] if getattr(env.body, "to", "") == "staging")

    async def scene() -> None:
        async with await open_sqlite(tmp_path) as store:
            for env in log.envelopes:
                store.apply(env, True)
            await store.flush()
            store.prune(mark)
        async with await open_sqlite(tmp_path) as store:
            live = folded(log)
            live.prune(mark)
            assert store.low_water == mark
            assert digest(store.read(mark)) == digest(live.read(mark))
            assert isinstance(store, SqliteStore)
            for shelf in ("principles", "strategies", "thresholds"):
                assert versions(store._ram, shelf) == versions(live, shelf), (
                    "the file let go of the same versions"
                )

    asyncio.run(scene())


def versions(store: InMemoryStore, name: str) -> set[tuple[str, int]]:
    (shelf,) = [shelf for shelf in store.tables._tables if shelf.name == name]
    return {(record.key, record.seq) for record in store.tables[shelf].versions()}


# ------------------------------------------------------------------ kill -9


@pytest.mark.timeout(120)
def test_kill_9_between_and_during_batches_loses_nothing_that_the_log_does_not_give_back(
    tmp_path: Path,
) -> None:
    log = many(3000)
    live = folded(log)
    path = tmp_path / "moot.memory.sqlite"
    came = 0
    for until in (40, 333, 1001, 1002, 1777, 2600):
        child = subprocess.Popen(
            [sys.executable, __file__, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        )
        assert child.stdout is not None
        with child, child.stdout:
            resumed = int(child.stdout.readline())
            assert resumed >= came + 1, "a write that was acknowledged is never lost"
            stored = 0
            for line in child.stdout:
                applied, stored = (int(word) for word in line.split())
                if applied >= until:
                    break
            child.send_signal(signal.SIGKILL)
        assert stored >= until - 24, "the child writes as it goes"
        came = stored

        async def check(stored: int = stored) -> None:
            async with await SqliteStore.open(path) as store:
                assert stored <= store.applied_seq <= len(log.envelopes)
                assert digest(store.read()) == digest(live.read(store.applied_seq)), "whole batches only"
                assert store.applied_hash == ("", *(env.hash for env in log.envelopes))[store.applied_seq]

        asyncio.run(check())

    async def finish() -> None:
        async with await SqliteStore.open(path) as store:
            for env in log.envelopes[store.applied_seq :]:
                store.apply(env, True)
            assert digest(store.read()) == digest(live.read())
            assert list(store._ram.tables[HYPOTHESES].versions()) == list(live.tables[HYPOTHESES].versions())

    asyncio.run(finish())


async def live_until_killed(path: Path) -> None:
    """Fold a long log into a file, saying how far it came."""
    store = await SqliteStore.open(path, batch=7)
    print(store.applied_seq + 1, flush=True)
    for env in many(3000).envelopes[store.applied_seq :]:
        store.apply(env, True)
        while env.seq - store.stored_seq > 20:
            await asyncio.sleep(0)
        if env.seq % 3 == 0:
            print(env.seq, store.stored_seq, flush=True)
    await asyncio.sleep(3600)


# ----------------------------------------------------------------- stateful

STAGES = ("candidates", "staging", "production", "withdrawn")
HELD = ("staging", "production")
IDS = st.integers(1, 4)


class Model:
    """What memory should hold: plain dicts, copied after every message."""

    def __init__(self) -> None:
        self.now: dict[str, Any] = {
            "causal": {},
            "reflections": {},
            "principles": {},
            "strategies": {},
            "architecture": {},
            "thresholds": {},
        }
        self.past = [deepcopy(self.now)]

    def commit(self) -> None:
        self.past.append(deepcopy(self.now))


def content(view: MemoryView) -> dict[str, Any]:
    return {
        "causal": {r.record_id: r.summary for r in view.causal()},
        "reflections": {r.record_id: r.summary for r in view.reflections()},
        "principles": {p.principle_id: p.evidence_count for p in view.principles()},
        "strategies": {s.strategy_id: (s.stage, [m.to for m in s.history]) for s in view.strategies()},
        "architecture": {c.change_id: c.status for c in view.architecture()},
        "thresholds": {c: s for c, s in view.thresholds().items() if s != 0.6},
    }


class StoreMachine(RuleBasedStateMachine):
    """A store against the model, through flushes, restarts, crashes and pruning."""

    backend: ClassVar[str]

    @initialize()
    def start(self) -> None:
        self.directory = TemporaryDirectory()
        self.path = Path(self.directory.name)
        self.runner = asyncio.Runner()
        self.model = Model()
        self.log = Log()
        self.effects: list[bool] = []
        self.low = 0
        self.views: list[MemoryView] = []
        self.store = self.run(BACKENDS[self.backend](self.path))

    def run(self, work: Awaitable[T]) -> T:
        async def wait() -> T:
            return await work

        return self.runner.run(wait())

    def applied(self, in_effect: bool) -> None:
        async def apply() -> None:
            self.store.apply(self.log.envelopes[-1], in_effect)

        self.effects.append(in_effect)
        self.run(apply())
        self.model.commit()

    @rule(n=IDS, causal=st.booleans(), in_effect=st.booleans())
    def record(self, n: int, causal: bool, in_effect: bool) -> None:
        summary = f"written {len(self.effects)}"
        self.log.record(f"r{n}", causal=causal, summary=summary)
        if in_effect:
            self.model.now["causal" if causal else "reflections"].setdefault(f"r{n}", summary)
        self.applied(in_effect)

    @rule(ids=st.lists(IDS, max_size=3), count=st.integers(3, 99), in_effect=st.booleans())
    def principles(self, ids: list[int], count: int, in_effect: bool) -> None:
        self.log.principles(*(principle(f"p{n}", count=count + k) for k, n in enumerate(ids)))
        if in_effect:
            self.model.now["principles"].update({f"p{n}": count + k for k, n in enumerate(ids)})
        self.applied(in_effect)

    @rule(n=IDS, to=st.sampled_from(STAGES), author=st.sampled_from([EVOLVER, OPERATOR]))
    def move(self, n: int, to: str, author: Seat) -> None:
        self.log.moved(f"s{n}", to, author=author)
        strategies = self.model.now["strategies"]
        stands, moves = strategies.get(f"s{n}", (None, []))
        if stands in HELD:
            may = author == OPERATOR
        else:
            may = (to == "candidates") == (author == EVOLVER)
        if may:
            strategies[f"s{n}"] = (to, [*moves, to])
        self.applied(True)

    @rule(n=IDS, status=st.sampled_from(["approved", "deferred", "rejected"]), in_effect=st.booleans())
    def decide(self, n: int, status: str, in_effect: bool) -> None:
        self.log.proposals("2026-W09", **{f"arch_{n}": "a change"})
        self.applied(True)
        self.log.architecture("2026-W09", **{status: (f"arch_{n}",)})
        if in_effect:
            self.model.now["architecture"][f"arch_{n}"] = status
        self.applied(in_effect)

    @rule(hundredths=st.integers(0, 100), week=st.integers(1, 52), in_effect=st.booleans())
    def adjust(self, hundredths: int, week: int, in_effect: bool) -> None:
        self.log.adjusted(f"2026-W{week:02d}", {"tail_risk": hundredths / 100})
        if in_effect:
            held = min(max(hundredths / 100, 0.2), 0.95)
            self.model.now["thresholds"].pop("tail_risk", None)
            if held != 0.6:
                self.model.now["thresholds"]["tail_risk"] = held
        self.applied(in_effect)

    @rule(count=st.integers(1, 12))
    def chatter(self, count: int) -> None:
        for _ in range(count):
            self.log.note()
            self.applied(True)

    @rule(share=st.floats(0, 1))
    def replay(self, share: float) -> None:
        for env, in_effect in list(zip(self.log.envelopes, self.effects, strict=True))[: int(share * 20)]:
            assert self.store.apply(env, in_effect) == ()

    @rule(share=st.floats(0, 1))
    def prune(self, share: float) -> None:
        seq = int(share * self.store.applied_seq)
        self.store.prune(seq)
        self.low = max(self.low, seq)

    @rule()
    def keep_a_view(self) -> None:
        self.views.append(self.store.read())

    @rule()
    def flush(self) -> None:
        self.run(self.store.flush())

    @rule()
    def restart(self) -> None:
        self.run(self.store.close())
        self.resume(everything=True)

    @rule()
    def crash(self) -> None:
        if isinstance(self.store, SqliteStore):
            store = self.store
            stored = store.stored_seq

            async def die() -> None:
                if store._writer is not None:
                    store._writer.cancel()
                    await asyncio.wait([store._writer])
                await store._file.close()

            self.run(die())
            self.resume(everything=False)
            assert stored <= len(self.effects)

    def resume(self, *, everything: bool) -> None:
        """Open again and apply what the log has more, as the dispatcher does at a start."""
        self.views.clear()
        stored = self.store.stored_seq
        self.store = self.run(BACKENDS[self.backend](self.path))
        if self.backend == "memory":
            self.low = 0
        else:
            assert stored <= self.store.applied_seq
            assert self.store.applied_seq == len(self.effects) or not everything
            assert self.store.low_water <= self.low
            self.low = self.store.low_water
            assert content(self.store.read()) == self.model.past[self.store.applied_seq]

        async def catch_up() -> None:
            for seq in range(self.store.applied_seq + 1, len(self.effects) + 1):
                self.store.apply(self.log.envelopes[seq - 1], self.effects[seq - 1])

        self.run(catch_up())

    @rule(share=st.floats(0, 1))
    def look_back(self, share: float) -> None:
        seq = int(share * self.store.applied_seq)
        if seq < self.low:
            with pytest.raises(StorePruned):
                self.store.read(seq)
        else:
            assert content(self.store.read(seq)) == self.model.past[seq]

    @invariant()
    def the_present_is_right(self) -> None:
        assert self.store.applied_seq == len(self.effects)
        assert content(self.store.read()) == self.model.now

    @invariant()
    def kept_views_do_not_change(self) -> None:
        for view in self.views:
            if view.as_of >= self.low:
                assert content(view) == self.model.past[view.as_of]
            else:
                with pytest.raises(StorePruned):
                    view.causal()

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        rebuilt = InMemoryStore()
        for env, in_effect in zip(self.log.envelopes, self.effects, strict=True):
            rebuilt.apply(env, in_effect)
        assert digest(self.store.read()) == digest(rebuilt.read())
        self.run(self.store.close())
        self.runner.close()
        self.directory.cleanup()


class MemoryMachine(StoreMachine):
    backend = "memory"


class SqliteMachine(StoreMachine):
    backend = "sqlite"


_settings = settings(
    max_examples=100,
    stateful_step_count=40,
)
TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = _settings
TestSqliteMachine = SqliteMachine.TestCase
TestSqliteMachine.settings = _settings


if __name__ == "__main__":
    asyncio.run(live_until_killed(Path(sys.argv[1])))
