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
from moot.channels.outbox.pacing import UNPACED, URGENT, Pace
from moot.channels.outbox.store import MOST_UNRECORDED, MOST_UNTAKEN, Mirrored, OutboxStore
from moot.channels.surface import PlatformMessageId, PostRefused
from moot.protocols.kernel.people import Stop
from tests.doubles.fake_platform import FakePlatform
from tests.doubles.small_log import SmallLog

QUICK = Backoff(first_s=0.0001, most_s=0.001)
FOLDING = Pace(backlog=6, fold_most=5)
BACKLOG = Pace(backlog=5, fold_most=25)
CHANNELS = ("#a-arena", "#admin", "#bridge")
NO_FILE = b""


class CutFile(OwnedFile):
    """An outbox's file that knows what a power cut could leave of it: what it was when last synced, or later.

    What SQLite syncs is read off its statements: a commit under FULL that changed something.
    """

    def __init__(self, path, left, happens):
        super().__init__(path)
        self.left = left
        self.now = left[-1]
        self._happens = happens
        self._is_full = False
        self._was_synced = False
        self._changes = -1

    def _open(self, schema):
        super()._open(schema)
        self.db.set_trace_callback(self._traced)

    def _traced(self, sql):
        if sql.startswith("PRAGMA synchronous"):
            self._is_full = sql.endswith("FULL")
        self._was_synced |= self._is_full and sql == "COMMIT"

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
        was, self.now = self.now, self.db.serialize()
        self._changes = self.db.total_changes
        if self._was_synced and was != self.now:
            self.left = [self.now]
        else:
            self.left = [*self.left, self.now]
        self._was_synced = False


class Machine:
    """A data directory on a machine whose power fails."""

    def __init__(self, directory, chance=None):
        self.directory = directory
        self.chance = chance or random.Random(0)
        self.left = [NO_FILE]
        self.boot = 1
        self.file = None
        self.moment = None

    @asynccontextmanager
    async def store(self, log_id="log", **how):
        store = OutboxStore(self.directory, "fake", log_id)
        store._file = self.file = CutFile(store._file.path, self.left, self.happens)
        try:
            await store.open(**{"boot": str(self.boot), **how})
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
        """Go back to the moment: to what was synced then, or somewhat later; the next life is in another boot."""
        left, _ = self.moment
        image = left[0] if oldest else self.chance.choice(left)
        self._go_back(image, [image])
        self.boot += 1

    def kill(self):
        """Go back to the moment in the same boot: nothing is forgotten, and nothing more is on the disk."""
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
        async with self.store(head=self.log.head) as store:
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
            urgent = [seqs for seqs in posts if by_seq[seqs[0]].body.type in URGENT]
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
def test_whatever_the_moment_of_a_power_cut_everything_is_posted_once_and_in_order(tmp_path, seed):
    chance = random.Random(seed)
    wild = {
        "seed": seed,
        "drop_before": 0.02,
        "drop_after": 0.05,
        "rate_limit": 0.02,
        "retry_after_s": 0.0005,
    }

    async def main():
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

    asyncio.run(main())


@pytest.mark.parametrize("is_urgent", [False, True])
def test_after_a_power_cut_the_posts_that_the_file_forgot_are_looked_up_and_the_backlog_is_folded(
    tmp_path, is_urgent
):
    async def main():
        log = SmallLog(batch=500)
        for n in range(1_500):
            log.say("x", case_id=f"hyp_{n % 3}")
        for _ in range(100):
            log.append(Stop(scope="A", why="fire"), channel="#a-arena")
        # Unpaced the oldest go one by one, in a backlog the urgent ones do: the file forgets as many as it may.
        world = World(tmp_path, log, pace=BACKLOG if is_urgent else UNPACED)
        async with world.living() as store:
            while store.cursor < log.head or len(world.shown) < MOST_UNRECORDED:
                await asyncio.sleep(0)
        world.pace = BACKLOG
        world.cut_the_power()
        async with world.living() as store:
            assert not await world.over(store)
        world.check()
        assert len(set(world.looked_up)) == len(world.looked_up) <= 2 * MOST_UNRECORDED + MOST_UNTAKEN
        folded = [seqs for seqs in world.shown.values() if len(seqs) > 1]
        assert sum(map(len, folded)) > 1_000

    asyncio.run(main())


# ------------------------------------------------------------ the limits, message by message


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def on(machine, use, log_id="log", **how):
    async def main():
        async with machine.store(log_id, **how) as store:
            return await use(store)

    return asyncio.run(main())


async def nothing(_store):
    pass


def mirrored(seq, type="NOTE", case="hyp_1", channel="#a"):
    return Mirrored(seq, channel, case, f"m{seq}", type, "{}")


def notes(first, last):
    return [mirrored(n) for n in range(first, last + 1)]


async def drain(store, pace=BACKLOG, channel="#a"):
    """Post everything; returns what was in doubt, and the seqs of each post."""
    doubtful, posts = [], []
    while items := (await store.next_up(channel, pace)).items:
        seqs = [item.seq for item in items]
        doubtful += [item.seq for item in items if item.is_doubtful]
        await store.intend(seqs, items[0].nonce or store.nonce(seqs[0]))
        await store.done(seqs, PlatformMessageId(f"p{seqs[0]}"))
        posts.append(seqs)
    return doubtful, posts


def asked(image, sql):
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(image[:18] + b"\x01\x01" + image[20:])  # memory has no write-ahead log
        return db.execute(sql).fetchall()


def states(image):
    return dict(asked(image, "SELECT state, count(*) FROM posts GROUP BY state"))


def test_so_many_posts_at_most_are_not_on_the_disk(machine):
    many = 4 * MOST_UNRECORDED

    async def use(store):
        await store.take(notes(1, many + 1), many + 1)
        forgotten = []
        for n in range(1, many + 1):
            await store.intend([n], store.nonce(n))
            recorded = many + 1 - states(store._file.left[0])["waiting"]
            forgotten.append(n - recorded)
            await store.done([n], PlatformMessageId(f"p{n}"))
        return forgotten

    forgotten = on(machine, use)
    assert max(forgotten) == MOST_UNRECORDED
    assert forgotten.count(0) == many // (MOST_UNRECORDED + 1)


def test_so_many_lines_at_most_are_taken_and_not_on_the_disk(machine):
    async def use(store):
        async def forgotten(n):
            await store.take([], store.cursor + n)
            return store.cursor - asked(store._file.left[0], "SELECT cursor FROM logs")[0][0]

        assert [await forgotten(100) for _ in range(4)] == [100, 200, 0, 100]
        assert [await forgotten(MOST_UNTAKEN - 100), await forgotten(1)] == [MOST_UNTAKEN, 0]
        assert await forgotten(MOST_UNTAKEN + 1) == 0

    on(machine, use)


def test_what_a_killed_process_wrote_is_on_the_disk_before_the_next_one_posts(machine):
    async def use(store):
        await store.take(notes(1, 8), 8)
        await store.intend([1], "log:1")
        assert len(store._file.left) > 1

    async def look(store):
        (image,) = store._file.left
        assert states(image) == {"intent": 1, "waiting": 7}

    on(machine, use)
    for _ in range(2):
        machine.kill()
        on(machine, look)


def test_what_is_written_again_is_on_the_disk_with_all_before_it(machine):
    """A commit that changes nothing syncs nothing."""

    async def use(store):
        await store.take(notes(1, 8), 8)
        await store.intend([1, 2], "log:1")
        await store.done([1, 2], PlatformMessageId("p1"))
        await store.intend([3, 4], "log:3")
        await store.intend([5], "log:5")
        await store.intend([3, 4], "log:3")
        assert states(store._file.left[0]) == {"done": 2, "intent": 3, "waiting": 3}

    on(machine, use)


def test_a_fold_and_its_breaking_up_are_on_the_disk_at_once(machine):
    async def use(store):
        await store.take(notes(1, 8), 8)
        await store.intend([1, 2, 3], "log:1")
        assert states(store._file.left[0]) == {"intent": 3, "waiting": 5}
        await store.break_up([1, 2, 3])
        assert states(store._file.left[0]) == {"intent": 1, "waiting": 7}

    on(machine, use)


def test_at_another_boot_the_oldest_of_each_channel_and_its_oldest_urgent_ones_are_in_doubt(machine):
    urgent = range(501, 601)

    async def use(store):
        found = [*notes(1, 500), *(mirrored(n, "RULING") for n in urgent)]
        await store.take([*found, mirrored(601, channel="#b"), mirrored(602, channel="#b")], 602)
        await store.intend([1, 2], "log:1")

    async def again(store):
        ((first, second),) = await store.interrupted("#a")
        assert (first.is_doubtful, second.is_doubtful) == (True, True)
        await store.done([1, 2], PlatformMessageId("p1"))
        doubtful, posts = await drain(store)
        ordinary = [[n] for n in range(3, 3 + MOST_UNRECORDED)]
        assert doubtful == [*urgent[:MOST_UNRECORDED], *(n for (n,) in ordinary)]
        assert posts[: 100 + MOST_UNRECORDED] == [*([n] for n in urgent), *ordinary]
        assert all(len(seqs) == 25 for seqs in posts[100 + MOST_UNRECORDED : -1])
        assert (await drain(store, channel="#b"))[0] == [601, 602]

    on(machine, use)
    machine.cut_the_power()
    on(machine, again, head=602)


def test_in_the_same_boot_nothing_is_in_doubt(machine):
    async def use(store):
        await store.take(notes(1, 50), 50)

    async def again(store):
        assert await drain(store) == ([], [[*range(1, 26)], [*range(26, 51)]])

    on(machine, use)
    machine.kill()
    on(machine, again, head=50)


@pytest.mark.parametrize(("head", "lost_to"), [(1_000, 10 + MOST_UNTAKEN), (100, 100), (10, 10)])
def test_what_was_taken_and_forgotten_is_in_doubt_as_far_as_the_log_held_it(machine, head, lost_to):
    async def use(store):
        await store.intend([1, 2], "log:1")  # through, and so the cursor of before
        await store.take(notes(11, 200), 200)

    async def again(store):
        assert store.cursor == 10
        await store.take(notes(11, 300), 300)
        await store.take(notes(301, 600), 600)
        doubtful, posts = await drain(store)
        assert doubtful == list(range(11, lost_to + 1))
        assert posts[: len(doubtful)] == [[n] for n in doubtful]

    on(machine, lambda store: store.take([], 10))
    machine.kill()
    on(machine, use)
    machine.cut_the_power()
    on(machine, again, head=head)


def test_a_second_power_cut_finds_the_doubt_of_the_first(machine):
    async def use(store):
        await store.take(notes(1, 200), 200)
        await store.intend([1, 2], "log:1")

    async def again(store):
        (items,) = await store.interrupted("#a")
        await store.done([item.seq for item in items], PlatformMessageId("p1"))
        await store.take(notes(201, 700), 700)
        doubtful, _ = await drain(store)
        assert doubtful == [*range(3, 3 + MOST_UNRECORDED), *range(201, 201 + MOST_UNTAKEN)]
        left = "SELECT count(*) FROM posts WHERE is_doubtful"
        assert await store._file.query(left) == [(0,)]

    on(machine, use)
    for _ in range(2):
        machine.cut_the_power()
        on(machine, nothing, head=700)
    machine.kill()
    on(machine, again, head=700)


def test_a_fold_ends_before_what_is_in_doubt(machine):
    async def use(store):
        await store.take(notes(1, 100), 100)
        await store.intend([1, 2], "log:1")
        await store.done([1, 2], PlatformMessageId("p1"))

    async def again(store):
        await store.take(notes(101, 120), 120)
        (items,) = await store.interrupted("#a")
        await store.done([item.seq for item in items], PlatformMessageId("p1"))
        doubtful, posts = await drain(store)
        assert doubtful == [*range(3, 67), *range(101, 106)]
        assert posts[MOST_UNRECORDED:] == [
            [*range(67, 92)], [*range(92, 101)], *([n] for n in range(101, 106)), [*range(106, 121)]
        ]  # fmt: skip

    on(machine, use)
    machine.cut_the_power()
    on(machine, again, head=105)


def test_what_is_in_doubt_keeps_its_nonce_when_its_log_lost_its_end_too(machine):
    async def use(store):
        await store.take(notes(1, 300), 300)

    async def again(store):
        await store.rewind(4)
        (image,) = store._file.left
        assert asked(image, "SELECT cursor, rewinds FROM logs") == [(4, 1)]
        await store.take(notes(5, 6), 6)
        seen = []
        while items := (await store.next_up("#a", UNPACED)).items:
            (item,) = items
            seen.append((item.seq, item.is_doubtful, item.nonce or store.nonce(item.seq)))
            await store.intend([item.seq], item.nonce or store.nonce(item.seq))
            await store.done([item.seq], PlatformMessageId(f"p{item.seq}"))
        return seen

    on(machine, use)
    machine.cut_the_power()
    seen = on(machine, again, head=4)
    assert seen == [
        *((n, True, f"log:{n}") for n in range(1, 5)),
        (5, False, "log.1:5"),
        (6, False, "log.1:6"),
    ]


def test_what_a_log_grows_anew_after_it_lost_its_end_is_not_in_doubt(machine):
    async def again(store):
        await store.take(notes(11, 60), 60)
        await store.rewind(50)
        await store.take(notes(51, 80), 80)
        assert (await drain(store))[0] == list(range(11, 51))

    on(machine, lambda store: store.take([], 10))
    machine.kill()
    on(machine, nothing)
    machine.cut_the_power()
    on(machine, again, head=100)


def test_what_keeps_its_nonce_is_written_down_before_it_is_posted_like_all_others(tmp_path):
    """Else more posts than may be would go unrecorded in the next power cut."""
    log = SmallLog()
    for n in range(3):
        log.say(str(n))
    world = World(tmp_path, log)
    seen = []

    class Looking(Platform):
        async def find(self, item):
            seen.append((item.nonce, states(world.file.now)["intent"]))
            return await super().find(item)

    world.platform = lambda: Looking(world, path=str(tmp_path / "platform.sqlite"))

    async def main():
        async with world.store() as store:
            found = [Mirrored(e.seq, e.channel, e.case_id, e.id, e.body.type, e.line) for e in log.envelopes]
            await store.take(found, 5)
        world.boot += 1
        async with world.store(head=3) as store:
            await store.rewind(3)
        async with world.living() as store:
            assert not await world.over(store)
        assert seen == [("log:1", 1), ("log:2", 1), ("log:3", 1)]
        world.check()

    asyncio.run(main())


def test_each_log_in_a_file_has_its_own_doubt(machine):
    async def use(store):
        await store.take(notes(1, 300), 300)

    async def again(store):
        return (await drain(store))[0]

    on(machine, use, "one")
    machine.kill()
    on(machine, use, "two")
    machine.cut_the_power()
    first = list(range(1, MOST_UNRECORDED + 1))
    assert on(machine, again, "two", head=300) == first
    machine.kill()
    assert on(machine, again, "three", head=300) == []
    machine.kill()
    assert on(machine, again, "one", head=300) == first


# ------------------------------------------------------------ files of earlier versions

OLD = """
CREATE TABLE logs (
    log INTEGER PRIMARY KEY, log_id TEXT NOT NULL UNIQUE,
    cursor INTEGER NOT NULL DEFAULT 0, rewinds INTEGER NOT NULL DEFAULT 0,
    boot TEXT, doubtful_to INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE posts (
    log INTEGER NOT NULL, seq INTEGER NOT NULL, channel TEXT NOT NULL, case_id TEXT,
    envelope_id TEXT NOT NULL, type TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting',
    nonce TEXT, platform_id TEXT, crashes INTEGER NOT NULL DEFAULT 0, why TEXT, line TEXT,
    PRIMARY KEY (log, seq)
);
CREATE INDEX posts_open ON posts (log, channel, seq) WHERE state IN ('waiting', 'intent');
CREATE TABLE roots (
    log INTEGER NOT NULL, channel TEXT NOT NULL, case_id TEXT NOT NULL, seq INTEGER NOT NULL,
    platform_id TEXT NOT NULL, PRIMARY KEY (log, channel, case_id)
);
CREATE TABLE acts (n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, draft TEXT NOT NULL);
CREATE TABLE memory (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO logs VALUES (1, 'log', 400, 0, '1', 150), (2, 'other', 400, 0, '1', 0);
WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400)
INSERT INTO posts (log, seq, channel, case_id, envelope_id, type, line)
    SELECT log, n, '#a', 'hyp_1', 'm' || n, 'NOTE', '{}' FROM n, logs;
UPDATE posts SET state = 'done', nonce = 'log:' || seq, platform_id = 'p' || seq WHERE seq <= 90;
UPDATE posts SET state = 'intent', nonce = 'log:91' WHERE seq BETWEEN 91 AND 95;
INSERT INTO roots VALUES (1, '#a', 'hyp_1', 1, 'p1');
INSERT INTO memory VALUES ('seen/#a', '17');
PRAGMA user_version = 1;
"""


@pytest.fixture
def old(machine):
    with closing(sqlite3.connect(machine.directory / "outbox-fake.sqlite", isolation_level=None)) as db:
        db.executescript(OLD)
        machine.left = [db.serialize()]
    return machine


async def all_of_old(store):
    """Take 200 more and post all; returns what was in doubt but for what was interrupted."""
    (items,) = await store.interrupted("#a")
    assert [(item.seq, item.nonce, item.is_doubtful) for item in items] == [
        (n, "log:91", True) for n in range(91, 96)
    ]
    await store.done([item.seq for item in items], PlatformMessageId("p91"))
    await store.take(notes(401, 600), 600)
    doubtful, posts = await drain(store)
    assert [seq for seqs in posts for seq in seqs] == list(range(96, 601))
    return doubtful


def test_in_an_old_file_of_this_boot_what_was_in_doubt_still_is(old):
    assert on(old, all_of_old, head=600) == list(range(96, 151))


def test_in_an_old_file_of_another_boot_everything_that_waits_is_in_doubt(old):
    assert on(old, all_of_old, boot="2", head=500) == list(range(96, 501))
    old.kill()
    # Also in a log that is mirrored again only later.
    assert on(old, all_of_old, "other", boot="2", head=500) == list(range(96, 501))


def test_an_old_file_that_is_opened_once_is_one_of_now(old):
    async def nothing(store):
        assert await store.root_of("#a", "hyp_1") == "p1"
        assert await store.get("seen/#a") == "17"

    on(old, nothing, head=600)
    old.cut_the_power()
    # Of the old doubt 55 wait, of the new one 64; and what is taken now.
    doubtful = [*range(96, 96 + MOST_UNRECORDED), *range(401, 601)]
    assert on(old, all_of_old, head=600) == doubtful


def test_an_upgrade_that_a_power_cut_undoes_is_made_again(old):
    before = old.left
    on(old, nothing, head=600)
    old.kill()
    old.moment = (before, before[0])
    old.cut_the_power()
    assert on(old, all_of_old, head=600) == list(range(96, 601))
