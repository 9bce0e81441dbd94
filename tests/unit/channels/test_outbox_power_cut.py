"""The outbox through power cuts: the file goes back to what was synced, the platform keeps what it took."""

import asyncio
import random
import sqlite3
from contextlib import asynccontextmanager, closing
from itertools import groupby

import pytest

from moot.channels.backoff import Backoff
from moot.channels.outbox.outbox import Outbox
from moot.channels.outbox.owned_file import OwnedFile
from moot.channels.outbox.pacing import UNPACED, Pace
from moot.channels.outbox.store import Mirrored, OutboxStore
from moot.channels.surface import PlatformMessageId, PostRefused
from moot.protocols.kernel.people import Stop
from moot.protocols.rulebook import rulebook
from tests.doubles.fake_platform import FakePlatform
from tests.doubles.small_log import SmallLog

QUICK = Backoff(first_s=0.0001, most_s=0.001)
FOLDING = Pace(backlog=6, fold_most=5)
BACKLOG = Pace(backlog=5, fold_most=25)
CHANNELS = ("#a-arena", "#admin", "#bridge")
NO_FILE = b""


class CutFile(OwnedFile):
    """An outbox's file that knows what a power cut could leave of it: what it was when last synced, or later.

    What changed under `synchronous = FULL` was synced when the write returned.
    """

    def __init__(self, path, left, happens):
        super().__init__(path)
        self.left = left
        self.now = left[-1]
        self._happens = happens
        self._changes = -1

    async def run(self, work):
        def watched():
            try:
                return work()
            finally:
                self._look()

        result = await super().run(watched)
        self._happens()
        return result

    def _look(self):
        if self._db is None or self.db.total_changes == self._changes:
            return
        self.now = self.db.serialize()
        self._changes = self.db.total_changes
        is_synced = self.db.execute("PRAGMA synchronous").fetchone() == (2,)
        self.left = [self.now] if is_synced else [*self.left, self.now]


class Machine:
    """A data directory on a machine whose power fails."""

    def __init__(self, directory, chance=None):
        self.directory = directory
        self.chance = chance or random.Random(0)
        self.left = [NO_FILE]
        self.file = None
        self.moment = None

    @asynccontextmanager
    async def store(self, log_id="log"):
        store = OutboxStore(self.directory, "fake", log_id)
        store._file = self.file = CutFile(store._file.path, self.left, self.happens)
        try:
            await store.open()
            yield store
            if self.moment is None:
                self.freeze()
        finally:
            await store.close()

    def happens(self):
        """Note that something happened, on the loop."""

    def freeze(self):
        """Keep this moment: what comes later will not have been."""
        self.moment = (self.file.left, self.file.now)

    def cut_the_power(self, oldest=True):
        """Go back to the moment: to what was synced then, or somewhat later."""
        left, _ = self.moment
        image = left[0] if oldest else self.chance.choice(left)
        self._go_back(image, [image])

    def kill(self):
        """Go back to the moment: nothing is forgotten, and nothing more is on the disk."""
        left, now = self.moment
        self._go_back(now, left)

    def _go_back(self, image, left):
        for leftover in self.directory.glob("outbox-fake.*"):
            leftover.unlink()
        if image != NO_FILE:
            (self.directory / "outbox-fake.sqlite").write_bytes(image)
        self.left = left
        self.moment = None


class World(Machine):
    """Such a machine, a log and a platform."""

    def __init__(self, directory, log, *, pace=UNPACED, bad=(), plan=None, chance=None):
        super().__init__(directory, chance)
        self.log = log
        self.pace = pace
        self.bad = set(bad)
        self.plan = plan
        self.shown = {}
        self.looked_up = []
        self._shown_then = 0
        self._fuse = 0
        self._is_over = asyncio.Event()

    def platform(self):
        return Platform(self, path=str(self.directory / "platform.sqlite"), plan=self.plan)

    @asynccontextmanager
    async def living(self, fuse=10**9):
        """Run an outbox until something happens for the `fuse`th time; yields the store."""
        self._fuse = fuse
        self._is_over.clear()
        self.looked_up.clear()
        async with self.store() as store:
            surface = self.platform()
            outbox = Outbox(surface, store, pace=self.pace, backoff=QUICK, grace_s=0.0)
            task = asyncio.create_task(outbox.run(self.log.subscribe))
            try:
                yield store
            finally:
                if self.moment is None:
                    self.freeze()
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                await surface.close()

    def happens(self):
        self._fuse -= 1
        if self._fuse == 0 and self.moment is None:
            self.freeze()

    def freeze(self):
        super().freeze()
        self._shown_then = max(self.shown, default=0)
        self._is_over.set()

    async def over(self, store):
        """Wait until the moment has come or everything is settled; says whether it has come."""
        while not self._is_over.is_set():
            if await self.is_settled(store):
                return False
            await asyncio.sleep(0.001)
        return True

    async def is_settled(self, store):
        counts = await store.counts()
        return counts.get("done", 0) + counts.get("refused", 0) == self.log.head

    def _go_back(self, image, left):
        super()._go_back(image, left)
        self.shown = {n: seqs for n, seqs in self.shown.items() if n <= self._shown_then}
        with closing(sqlite3.connect(self.directory / "platform.sqlite", isolation_level=None)) as db:
            db.execute("DELETE FROM posts WHERE id > ?", (self._shown_then,))

    def check(self):
        """Everything stands there once, in order: urgent ones, cases, and routine posts by their first message."""
        posted = [seq for seqs in self.shown.values() for seq in seqs]
        assert sorted(posted) == [env.seq for env in self.log.envelopes if env.seq not in self.bad]
        by_seq = {env.seq: env for env in self.log.envelopes}
        for channel in {env.channel for env in self.log.envelopes}:
            posts = [seqs for _, seqs in sorted(self.shown.items()) if by_seq[seqs[0]].channel == channel]
            urgent = [seqs for seqs in posts if by_seq[seqs[0]].body.type in rulebook().urgent]
            routine = [seqs for seqs in posts if seqs not in urgent]
            for some in (urgent, [seqs[:1] for seqs in routine], *by_case(routine, by_seq)):
                seqs = [seq for post in some for seq in post]
                assert seqs == sorted(seqs)


def by_case(posts, by_seq):
    def case(seqs):
        return by_seq[seqs[0]].case_id or ""

    return [list(some) for key, some in groupby(sorted(posts, key=case), key=case) if key]


class Platform(FakePlatform):
    """Remembers what was folded, and refuses what is bad, folded or not."""

    def __init__(self, world, **how):
        super().__init__(**how)
        self._world = world

    async def post(self, item):
        seqs = [item.seq, *(env.seq for env in item.folded)]
        if self._world.bad & set(seqs):
            raise PostRefused("banned words")
        try:
            return await super().post(item)
        finally:
            (last,) = self.file.db.execute("SELECT coalesce(max(id), 0) FROM posts").fetchone()
            if last and last not in self._world.shown:
                self._world.shown[last] = seqs
            self._world.happens()

    async def find(self, item):
        self._world.looked_up.append(item.seq)
        return await super().find(item)


def say_anything(log, chance, channels):
    channel = chance.choice(channels)
    if chance.random() < 0.1:
        log.append(Stop(scope="A", why="fire"), channel=channel, case_id=chance.choice(("hyp_1", None)))
    else:
        log.say("x", channel, case_id=chance.choice(("hyp_1", "hyp_2", None, None)))


@pytest.mark.parametrize("seed", range(16))
async def test_whatever_the_moment_of_a_power_cut_everything_is_posted_once_and_in_order(tmp_path, seed):
    chance = random.Random(seed)
    wild = {
        "seed": seed,
        "drop_before": 0.02,
        "drop_after": 0.05,
        "rate_limit": 0.02,
        "retry_after_s": 0.0005,
    }

    channels = CHANNELS[: chance.choice((1, 3))]
    log = SmallLog(batch=chance.choice((3, 40, 300)))
    for _ in range(chance.randint(0, 250)):
        say_anything(log, chance, channels)
    world = World(
        tmp_path,
        log,
        pace=(UNPACED, FOLDING)[seed % 2],
        bad=chance.sample(range(1, 350), chance.choice((5, 50))),
        plan=wild if seed % 4 > 1 else None,
        chance=chance,
    )
    cuts = 0
    while cuts < 4:
        async with world.living(chance.choice((3, 40, 400, 900, 1_800))) as store:
            for _ in range(chance.randint(0, 100)):
                say_anything(log, chance, channels)
            await world.over(store)
        if chance.random() < 0.3:
            world.kill()
        else:
            world.cut_the_power(oldest=chance.random() < 0.7)
            cuts += 1
    async with world.living() as store:
        assert not await world.over(store)
    world.check()


@pytest.mark.parametrize("is_urgent", [False, True])
async def test_after_a_power_cut_only_what_was_about_to_be_posted_is_looked_up_and_the_backlog_is_folded(
    tmp_path, is_urgent
):
    log = SmallLog(batch=500)
    for n in range(300):
        log.say("x", case_id=f"hyp_{n % 3}")
    for _ in range(50):
        log.append(Stop(scope="A", why="fire"), channel="#a-arena")
    world = World(tmp_path, log, pace=BACKLOG if is_urgent else UNPACED)
    async with world.living() as store:
        while store.cursor < log.head or len(world.shown) < 20:
            await asyncio.sleep(0)
    world.pace = BACKLOG
    world.cut_the_power()
    async with world.living() as store:
        assert not await world.over(store)
    world.check()
    assert len(world.looked_up) <= 1
    folded = [seqs for seqs in world.shown.values() if len(seqs) > 1]
    assert sum(map(len, folded)) > 200


# ------------------------------------------------------------ what is on the disk, message by message


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def on(machine, use, log_id="log"):
    async def main():
        async with machine.store(log_id) as store:
            return await use(store)

    return asyncio.run(main())


def notes(first, last):
    return [Mirrored(n, "#a", "hyp_1", f"m{n}", "NOTE", "{}") for n in range(first, last + 1)]


def states(image):
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(image[:18] + b"\x01\x01" + image[20:])  # memory has no write-ahead log
        return dict(db.execute("SELECT state, count(*) FROM posts GROUP BY state").fetchall())


def test_an_intent_is_on_the_disk_before_the_post_and_with_it_what_was_written_before(machine):
    async def use(store):
        for n in range(1, 5):
            await store.take(notes(n, n), n)
            await store.intend([n], store.nonce(n))
            (image,) = store._file.left
            assert states(image) == {"intent": 1} | ({"done": n - 1} if n > 1 else {})
            await store.done([n], PlatformMessageId(f"p{n}"))

    on(machine, use)


def test_a_fold_and_its_breaking_up_are_on_the_disk_at_once(machine):
    async def use(store):
        await store.take(notes(1, 8), 8)
        await store.intend([1, 2, 3], "log:1")
        assert states(store._file.left[0]) == {"intent": 3, "waiting": 5}
        await store.break_up([1, 2, 3])
        assert states(store._file.left[0]) == {"intent": 1, "waiting": 7}

    on(machine, use)


def test_what_was_about_to_be_posted_keeps_its_nonce_when_its_log_lost_its_end_too(machine):
    async def use(store):
        await store.take(notes(1, 300), 300)
        await store.intend([1, 2], store.nonce(1))
        await store.intend([9], store.nonce(9))

    async def again(store):
        await store.rewind(4)
        await store.take(notes(5, 6), 6)
        (both,) = await store.interrupted("#a")
        assert [(item.seq, item.nonce) for item in both] == [(1, "log:1"), (2, "log:1")]
        await store.done([1, 2], PlatformMessageId("p1"))
        seen = []
        while items := (await store.next_up("#a", UNPACED)).items:
            (item,) = items
            seen.append((item.seq, item.nonce, store.nonce(item.seq)))
            await store.done([item.seq], PlatformMessageId(f"p{item.seq}"))
        return seen

    on(machine, use)
    machine.cut_the_power()
    assert on(machine, again) == [(n, None, f"log.1:{n}") for n in range(3, 7)]


def test_each_log_in_a_file_has_its_own_intents(machine):
    async def use(store):
        await store.take(notes(1, 3), 3)
        await store.intend([2], store.nonce(2))

    async def again(store):
        return [item.nonce for group in await store.interrupted("#a") for item in group]

    on(machine, use, "one")
    machine.kill()
    on(machine, use, "two")
    machine.cut_the_power()
    assert on(machine, again, "two") == ["two:2"]
    machine.kill()
    assert on(machine, again, "three") == []
    machine.kill()
    assert on(machine, again, "one") == ["one:2"]
