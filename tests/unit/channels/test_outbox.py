import asyncio
import random
import sqlite3
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from moot.channels.backoff import Backoff
from moot.channels.outbox.mirroring import only, public_but_own_notes
from moot.channels.outbox.outbox import CRASH_LIMIT, Outbox
from moot.channels.outbox.owned_file import FileBusy, OwnedFile
from moot.channels.outbox.pacing import Budget, Pace
from moot.channels.outbox.store import OutboxStore
from moot.channels.surface import (
    Capabilities,
    PlatformMessageId,
    PostRefused,
    RateLimited,
    Surface,
    SurfaceConfigError,
    SurfaceDown,
)
from moot.protocols.kernel.envelope import Actor
from moot.protocols.kernel.people import Stop
from tests.doubles.fake_platform import FakePlatform, PlatformFile
from tests.doubles.small_log import SmallLog
from tests.doubles.waiting import until

QUICK = Backoff(first_s=0.001, most_s=0.005)
NONCE = Capabilities(supports_nonce=True)


@pytest.fixture
def platform(tmp_path):
    file = PlatformFile(tmp_path / "platform.sqlite")
    yield file
    file.close()


def fake(tmp_path, **options):
    return FakePlatform(path=str(tmp_path / "platform.sqlite"), **options)


@asynccontextmanager
async def mirroring(log, surface, directory, *, log_id="log", store=None, **options):
    """Run an outbox; yields its store and its task."""
    store = store or OutboxStore(directory, surface.name, log_id)
    await store.open()
    outbox = Outbox(surface, store, **{"backoff": QUICK, **options})
    task = asyncio.create_task(outbox.run(log.subscribe))
    try:
        yield store, task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await surface.close()
        await store.close()


class Scripted(Surface):
    """A surface that does what `script` says at each post, and remembers when it was asked."""

    name = "scripted"

    def __init__(self, *script, capabilities=NONCE, finds=()):
        self.capabilities = capabilities
        self.script = list(script)
        self.finds = list(finds)
        self.posted = []
        self.asked = []
        self.found = []

    async def start(self, inbound, memory):
        pass

    async def post(self, item):
        self.asked.append((item.seq, asyncio.get_running_loop().time()))
        step = self.script.pop(0) if self.script else None
        if callable(step):
            step = await step(self, item)
        if isinstance(step, Exception):
            raise step
        self.posted.append(item)
        return PlatformMessageId(f"p{item.seq}")

    async def find(self, item):
        nonce = item.nonce
        self.found.append(nonce)
        step = self.finds.pop(0) if self.finds else None
        if isinstance(step, Exception):
            raise step
        return step or next((PlatformMessageId(f"p{p.seq}") for p in self.posted if p.nonce == nonce), None)

    async def close(self):
        pass


async def test_every_message_is_posted_once_in_order_with_its_rendering(tmp_path, platform):
    log = SmallLog()
    for n in range(30):
        log.say(f"message {n}", ("#a-arena", "#admin")[n % 2])
    async with mirroring(log, fake(tmp_path), tmp_path) as (store, _):
        await until(lambda: len(platform.posts()) == 30)
        log.say("one more")
        await until(lambda: len(platform.posts()) == 31)
        await until(lambda: store.cursor == 31)
    for channel in ("#a-arena", "#admin"):
        assert platform.seqs(channel) == [e.seq for e in log.envelopes if e.channel == channel]
    last = platform.posts()[-1]
    assert (last.text, last.nonce, last.line) == (
        "Critic notes: one more",
        "log:31",
        log.envelopes[-1].line,
    )


async def test_it_goes_on_from_its_cursor_after_a_stop(tmp_path, platform):
    log = SmallLog()
    log.say("before")
    async with mirroring(log, fake(tmp_path), tmp_path):
        await until(lambda: platform.seqs() == [1])
    log.say("meanwhile")
    async with mirroring(log, fake(tmp_path), tmp_path):
        await until(lambda: platform.seqs() == [1, 2])
        log.say("after")
        await until(lambda: platform.seqs() == [1, 2, 3])


async def test_an_outage_of_the_platform_loses_nothing(tmp_path, platform):
    log = SmallLog()
    platform.switch("down", "1")
    async with mirroring(log, fake(tmp_path), tmp_path) as (store, _):
        for n in range(20):
            log.say(str(n))
        await until(lambda: store.cursor == 20)
        assert platform.posts() == []
        assert (await store.counts())["waiting"] >= 19
        platform.switch("down", "0")
        await until(lambda: platform.seqs() == list(range(1, 21)))


@pytest.mark.parametrize("seed", range(5))
async def test_a_wild_platform_shows_every_message_once_and_in_order(tmp_path, platform, seed):
    plan = {"seed": seed, "drop_before": 0.2, "drop_after": 0.3, "rate_limit": 0.1, "retry_after_s": 0.001}

    log = SmallLog()
    for n in range(40):
        log.say(str(n), ("#a-arena", "#admin", "#bridge")[n % 3])
    async with mirroring(log, fake(tmp_path, plan=plan), tmp_path) as (store, _):
        await until(lambda: len(set(platform.seqs())) == 40)
        await settled(store, 40)
    assert sorted(platform.seqs()) == list(range(1, 41))
    for channel in ("#a-arena", "#admin", "#bridge"):
        assert platform.seqs(channel) == sorted(platform.seqs(channel))


async def test_without_a_look_up_an_unknown_outcome_is_posted_again_and_nothing_else_is(tmp_path, platform):
    log = SmallLog()
    for n in range(40):
        log.say(str(n))
    surface = fake(tmp_path, supports_nonce=False, plan={"drop_after": 0.3, "seed": 3})
    async with mirroring(log, surface, tmp_path) as (store, _):
        await settled(store, 40)
    seqs = platform.seqs()
    assert len(seqs) > 40
    assert seqs == sorted(seqs)
    assert set(seqs) == set(range(1, 41))


async def settled(store, n):
    async def count():
        counts = await store.counts()
        return counts.get("done", 0) + counts.get("refused", 0)

    for _ in range(5_000):
        if await count() == n:
            return
        await asyncio.sleep(0.002)
    raise AssertionError(await store.counts())


async def test_a_rate_limit_is_obeyed_and_holds_up_no_other_channel(tmp_path):
    log = SmallLog()
    surface = Scripted(RateLimited(0.04))
    log.say("limited", "#a-arena")
    async with mirroring(log, surface, tmp_path):
        await until(lambda: surface.asked)
        log.say("free", "#admin")
        await until(lambda: len(surface.posted) == 2)
    (_, first), (_, free), (_, again) = surface.asked
    assert [item.seq for item in surface.posted] == [2, 1]
    assert again - first >= 0.04
    assert free - first < 0.04
    assert surface.found == []


async def test_a_limit_everywhere_holds_up_every_channel(tmp_path):
    log = SmallLog()
    surface = Scripted(RateLimited(0.04, everywhere=True))
    log.say("limited", "#a-arena")
    async with mirroring(log, surface, tmp_path):
        await until(lambda: surface.asked)
        log.say("not free", "#admin")
        await until(lambda: len(surface.posted) == 2)
    (_, first), *rest = surface.asked
    assert min(at for _, at in rest) - first >= 0.04


async def test_failures_back_off(tmp_path):
    log = SmallLog()
    surface = Scripted(*(SurfaceDown("down", maybe_posted=False) for _ in range(4)))
    log.say("x")
    async with mirroring(log, surface, tmp_path, backoff=Backoff(first_s=0.004, most_s=0.016)):
        await until(lambda: surface.posted)
    times = [at for _, at in surface.asked]
    pauses = [after - before for before, after in pairwise(times)]
    assert all(pause >= least for pause, least in zip(pauses, (0.004, 0.008, 0.016, 0.016), strict=True))
    assert surface.found == []


async def test_a_refused_message_is_recorded_and_skipped(tmp_path, platform):
    log = SmallLog()
    for n in range(3):
        log.say(str(n))
    refusals = []
    platform.switch("refuse 2", "1")
    async with mirroring(log, fake(tmp_path), tmp_path, on_refused=refusals.append) as (store, _):
        await until(lambda: platform.seqs() == [1, 3])
        await settled(store, 3)
        assert await store.counts() == {"done": 2, "refused": 1}
    (refusal,) = refusals
    assert (refusal.surface, refusal.seq, refusal.channel) == ("fake", 2, "#a-arena")
    assert refusal.why == "the platform does not like it"


async def test_a_message_that_breaks_the_surface_is_refused_in_the_end(tmp_path, platform):
    log = SmallLog()
    for n in range(3):
        log.say(str(n))
    platform.switch("crash 2", "1")
    refusals = []
    crashes = 0
    for _ in range(CRASH_LIMIT):
        surface = fake(tmp_path)
        async with mirroring(log, surface, tmp_path, on_refused=refusals.append) as (store, task):
            await until(lambda task=task: task.done() or platform.seqs() == [1, 3])
            if task.done():
                crashes += 1
                with pytest.raises(LookupError):
                    task.result()
            else:
                await settled(store, 3)
    assert crashes == CRASH_LIMIT - 1
    assert [refusal.seq for refusal in refusals] == [2]
    assert platform.seqs() == [1, 3]


@pytest.mark.parametrize("had_arrived", [True, False])
async def test_after_a_crash_an_open_intent_is_looked_up_first(tmp_path, had_arrived):
    log = SmallLog()
    log.say("in doubt")
    surface = Scripted()
    async with mirroring(log, Scripted(stuck), tmp_path, grace_s=0.0) as (store, _):
        while not (await store.counts()).get("intent"):
            await asyncio.sleep(0.001)
    surface.finds = [PlatformMessageId("p1")] if had_arrived else []
    async with mirroring(log, surface, tmp_path) as (store, _):
        await settled(store, 1)
        assert await store.post_of("#a-arena", "m1") == "p1"
    assert surface.found == ["log:1"]
    assert len(surface.posted) == (0 if had_arrived else 1)


async def stuck(_surface, _item):
    await asyncio.Event().wait()


async def test_a_look_up_that_fails_leaves_the_doubt(tmp_path):
    log = SmallLog()
    log.say("x")
    surface = Scripted(
        SurfaceDown("after"), finds=[RateLimited(0.001), SurfaceDown("no"), PlatformMessageId("p1")]
    )
    async with mirroring(log, surface, tmp_path) as (store, _):
        await settled(store, 1)
    assert len(surface.found) == 3
    assert surface.posted == []
    assert len(surface.asked) == 1


async def test_a_post_that_never_returns_is_taken_for_an_outage(tmp_path):
    log = SmallLog()
    log.say("x")
    surface = Scripted(stuck)
    async with mirroring(log, surface, tmp_path, post_timeout_s=0.01):
        await until(lambda: surface.posted)
    assert surface.found == ["log:1"]


async def test_stopping_finishes_the_post_under_way(tmp_path):
    log = SmallLog()
    log.say("x")
    going = asyncio.Event()

    async def slow(_surface, _item):
        going.set()
        await asyncio.sleep(0.02)

    surface = Scripted(slow)
    async with mirroring(log, surface, tmp_path) as (store, task):
        await going.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await store.counts() == {"done": 1}


class CrashingStore(OutboxStore):
    """A store whose process dies at a chosen write: before it, or after it."""

    fuse = 10**9

    async def _dying(self, write, *args):
        type(self).fuse -= 1
        if self.fuse == 0:
            raise SystemError("killed before the write")
        await write(*args)
        type(self).fuse -= 1
        if self.fuse == 0:
            raise SystemError("killed after the write")

    async def take(self, found, cursor):
        await self._dying(super().take, found, cursor)

    async def intend(self, seqs, nonce):
        await self._dying(super().intend, seqs, nonce)

    async def done(self, seqs, platform_id):
        await self._dying(super().done, seqs, platform_id)

    async def crashed(self, seqs):
        """A killed process counts nothing."""


@pytest.mark.parametrize("seed", range(4))
async def test_killed_at_any_write_it_posts_everything_once(tmp_path, platform, seed):
    chance = random.Random(seed)

    log = SmallLog(batch=3)
    for n in range(15):
        log.say(str(n), ("#a-arena", "#admin")[n % 2])
    kills = 0
    for _ in range(8):
        CrashingStore.fuse = chance.randint(1, 8)
        store = CrashingStore(tmp_path, "fake", "log")
        async with mirroring(log, fake(tmp_path), tmp_path, store=store, grace_s=0.0) as (_, task):
            await until(lambda task=task: task.done() or len(set(platform.seqs())) == 15)
            if task.done():
                kills += 1
                with pytest.raises(SystemError):
                    task.result()
    assert kills >= 4
    async with mirroring(log, fake(tmp_path), tmp_path) as (store, _):
        await settled(store, 15)
    assert sorted(platform.seqs()) == list(range(1, 16))
    for channel in ("#a-arena", "#admin"):
        assert platform.seqs(channel) == sorted(platform.seqs(channel))


async def test_it_shows_what_its_filter_lets_through(tmp_path, platform):
    ana = Actor("human", "fake", "ana")

    log = SmallLog()
    log.say("mine", actor=ana)
    log.say("elsewhere", actor=ana._replace(platform="slack"))
    log.say("secret", "#admin")
    log.say("end")
    mirrors = only(frozenset({"#a-arena"}), public_but_own_notes("fake"))
    async with mirroring(log, fake(tmp_path), tmp_path, mirrors=mirrors) as (store, _):
        await until(lambda: store.cursor == 4)
        await settled(store, 2)
    assert platform.seqs() == [2, 4]


async def test_it_shows_no_private_channel(tmp_path, platform):
    log = SmallLog()
    log.say("said")
    log.say("for few", "#calls")
    log.say("end")
    async with mirroring(log, fake(tmp_path), tmp_path, mirrors=public_but_own_notes("fake")) as (store, _):
        await until(lambda: store.cursor == 3)
        await settled(store, 2)
    assert platform.seqs() == [1, 3]


async def test_a_posting_knows_its_thread_and_what_it_answers(tmp_path):
    log = SmallLog()
    first = log.say("opens", case_id="hyp_1")
    log.say("elsewhere", "#a-verdict", case_id="hyp_1")
    log.say("answers", case_id="hyp_1", in_reply_to=first.id)
    surface = Scripted()
    async with mirroring(log, surface, tmp_path) as (store, _):
        await settled(store, 3)
        assert await store.case_of(PlatformMessageId("p3")) == "hyp_1"
        assert await store.channel_of("hyp_1") == "#a-arena"
        assert await store.case_of(PlatformMessageId("p99")) is None
    items = {item.seq: item for item in surface.posted}
    assert [(n, items[n].thread, items[n].root, items[n].in_reply_to) for n in (1, 2, 3)] == [
        (1, "hyp_1", None, None),
        (2, "hyp_1", None, None),
        (3, "hyp_1", "p1", "p1"),
    ]


FOLDING = Pace(backlog=3, fold_most=4)


def shown(surface):
    return [(item.seq, [env.seq for env in item.folded]) for item in surface.posted]


async def test_a_backlog_is_folded_by_case_and_urgent_ones_go_first(tmp_path):
    log = SmallLog(batch=100)
    for n in range(9):
        log.say(str(n), case_id=("hyp_1", "hyp_2", None)[n % 3])
    log.append(Stop(scope="A", why="fire"), channel="#a-arena", case_id="hyp_1")
    surface = Scripted()
    async with mirroring(log, surface, tmp_path, pace=FOLDING) as (store, _):
        await until(lambda: store.cursor == 10)
        await settled(store, 10)
        assert await store.post_of("#a-arena", "m4") == "p1"
        assert await store.case_of(PlatformMessageId("p1")) == "hyp_1"
    assert shown(surface) == [(10, []), (1, [4, 7]), (2, [5, 8]), (3, []), (6, []), (9, [])]
    assert [item.root for item in surface.posted] == [None, "p10", None, None, None, None]
    assert surface.posted[1].nonce == "log:1"


async def test_the_surface_says_how_it_is_paced_unless_told_otherwise(tmp_path):
    log = SmallLog(batch=100)
    for n in range(6):
        log.say(str(n), case_id="hyp_1")
    surface = Scripted()
    surface.pace = Pace(backlog=1, fold_most=6)
    async with mirroring(log, surface, tmp_path) as (store, _):
        await settled(store, 6)
    assert shown(surface) == [(1, [2, 3, 4, 5, 6])]


async def test_an_escalation_deep_in_a_backlog_goes_first(tmp_path):
    deep = 9_000

    log = SmallLog(batch=3_000)
    for n in range(deep):
        log.say("x", case_id=f"hyp_{n % 300}")
    going, gate = asyncio.Event(), asyncio.Event()

    async def hold(_surface, _item):
        going.set()
        await gate.wait()

    surface = Scripted(hold)
    async with mirroring(log, surface, tmp_path, pace=Pace(backlog=10, fold_most=25)) as (store, _):
        await going.wait()
        log.append(Stop(scope="A", why="fire"), channel="#a-arena")
        await until(lambda: store.cursor == deep + 1)
        gate.set()
        await settled(store, deep + 1)
    assert [item.seq for item in surface.posted[:2]] == [1, deep + 1]
    assert surface.posted[1].folded == ()
    firsts = [item.seq for item in surface.posted if item.seq != deep + 1]
    assert firsts == sorted(firsts)
    folded = [env.seq for item in surface.posted for env in (item.envelope, *item.folded)]
    assert sorted(folded) == list(range(1, deep + 2))
    for item in surface.posted:
        assert {env.case_id for env in item.folded} <= {item.thread}
        assert [env.seq for env in item.folded] == sorted(env.seq for env in item.folded)


async def test_a_fold_that_a_crash_interrupted_is_posted_as_it_was(tmp_path):
    log = SmallLog(batch=100)
    for n in range(4):
        log.say(str(n), case_id="hyp_1")
    surface = Scripted(stuck)
    async with mirroring(log, surface, tmp_path, pace=Pace(backlog=3, fold_most=2), grace_s=0.0) as (
        store,
        _,
    ):
        while (await store.counts()).get("intent") != 2:
            await asyncio.sleep(0.001)
    surface = Scripted()
    async with mirroring(log, surface, tmp_path) as (store, _):
        await settled(store, 4)
    assert surface.found == ["log:1"]
    assert shown(surface) == [(1, [2]), (3, []), (4, [])]


@pytest.mark.parametrize("bad", [1, 2, 4])
async def test_of_a_fold_that_is_refused_only_the_message_that_it_is_about_is_skipped(tmp_path, bad):
    class Picky(Scripted):
        async def post(self, item):
            if bad in (item.seq, *(env.seq for env in item.folded)):
                raise PostRefused("banned words")
            return await super().post(item)

    log = SmallLog(batch=100)
    for n in range(4):
        log.say(str(n), case_id="hyp_1")
    refusals = []
    surface = Picky()
    async with mirroring(log, surface, tmp_path, pace=FOLDING, on_refused=refusals.append) as (store, _):
        await settled(store, 4)
    assert [(refusal.seq, refusal.why) for refusal in refusals] == [(bad, "banned words")]
    assert shown(surface) == [(n, []) for n in range(1, 5) if n != bad]


async def test_a_fold_that_breaks_the_surface_costs_no_message_but_the_bad_one(tmp_path):
    class Fragile(Scripted):
        async def post(self, item):
            if 3 in (item.seq, *(env.seq for env in item.folded)):
                raise LookupError("a bug in the surface")
            return await super().post(item)

    log = SmallLog(batch=100)
    for n in range(4):
        log.say(str(n), case_id="hyp_1")
    refusals, posted = [], []
    for _ in range(4 * CRASH_LIMIT):
        surface = Fragile()
        how = {"pace": FOLDING, "on_refused": refusals.append}
        async with mirroring(log, surface, tmp_path, **how) as (store, task):
            while not task.done() and (store.cursor < 4 or await left(store)):
                await asyncio.sleep(0.001)
            posted += shown(surface)
            is_done = not task.done()
        if is_done:
            break
    assert posted == [(1, []), (2, []), (4, [])]
    assert [refusal.seq for refusal in refusals] == [3]


async def left(store):
    return {"waiting", "intent"} & set(await store.counts())


async def test_a_channel_is_posted_to_no_faster_than_its_budget(tmp_path):
    log = SmallLog(batch=100)
    for n in range(8):
        log.say(str(n), ("#a-arena", "#admin")[n % 2])
    surface = Scripted()
    began = asyncio.get_running_loop().time()
    async with mirroring(log, surface, tmp_path, pace=Pace(channel=Budget(50.0, 2))) as (store, _):
        await settled(store, 8)
    for channel in ("#a-arena", "#admin"):
        seqs = {env.seq for env in log.envelopes if env.channel == channel}
        times = [at - began for seq, at in surface.asked if seq in seqs]
        assert all(at >= max(0, n - 1) / 50 for n, at in enumerate(times))


async def test_a_budget_for_the_platform_holds_for_all_channels_and_for_every_attempt(tmp_path):
    log = SmallLog(batch=100)
    for n in range(6):
        log.say(str(n), ("#a-arena", "#admin", "#bridge")[n % 3])
    down = [SurfaceDown("down", maybe_posted=False, everywhere=False) for _ in range(3)]
    surface = Scripted(*down)
    began = asyncio.get_running_loop().time()
    async with mirroring(log, surface, tmp_path, pace=Pace(everywhere=Budget(100.0))) as (store, _):
        await settled(store, 6)
    assert len(surface.asked) == 9
    times = [at - began for _, at in surface.asked]
    assert all(at >= n / 100 - 1e-6 for n, at in enumerate(times))


async def test_a_channel_with_something_urgent_goes_before_others_that_wait_for_the_platform(tmp_path):
    log = SmallLog(batch=1)
    going = asyncio.Event()

    async def first(_surface, _item):
        going.set()

    surface = Scripted(first)
    for channel in ("#a-arena", "#admin", "#bridge", "#b-ops"):
        log.say("routine", channel)
    async with mirroring(log, surface, tmp_path, pace=Pace(everywhere=Budget(4.0))) as (store, _):
        await going.wait()
        await until(lambda: store.cursor == 4)
        log.append(Stop(scope="A", why="fire"), channel="#b-risk")
        await until(lambda: len(surface.posted) == 3)
    assert 5 in [item.seq for item in surface.posted[1:3]]


def test_one_channel_that_is_down_holds_up_no_other_and_is_told_once(tmp_path):
    async def main():
        log = SmallLog()
        troubles = []
        is_back = False

        class Deleted(Scripted):
            async def post(self, item):
                if item.channel == "#admin" and not is_back:
                    self.asked.append((item.seq, 0.0))
                    raise SurfaceDown("#admin is gone; run: moot fake setup", everywhere=False)
                return await super().post(item)

        surface = Deleted()
        log.say("waits", "#admin")
        log.say("waits too", "#admin")
        async with mirroring(log, surface, tmp_path, on_trouble=troubles.append) as (store, _):
            await until(lambda: len(surface.asked) >= 3)
            for n in range(20):
                log.say(str(n), ("#a-arena", "#bridge")[n % 2])
            await until(lambda: len(surface.posted) == 20)
            assert (await store.counts())["done"] <= 20
            is_back = True
            await settled(store, 22)
            await until(lambda: len(troubles) == 2)
        assert [item.seq for item in surface.posted if item.channel == "#admin"] == [1, 2]
        assert [(t.surface, t.channel, t.why) for t in troubles] == [
            ("scripted", "#admin", "#admin is gone; run: moot fake setup"),
            ("scripted", "#admin", ""),
        ]

    asyncio.run(main())


async def test_a_channel_that_fails_again_after_it_was_well_is_told_again(tmp_path):
    log = SmallLog()
    troubles = []
    gone = SurfaceDown("gone", everywhere=False)
    surface = Scripted(gone, gone, None, gone, SurfaceDown("no permission", everywhere=False))
    log.say("1")
    log.say("2")
    async with mirroring(log, surface, tmp_path, on_trouble=troubles.append) as (store, _):
        await settled(store, 2)
        await until(lambda: len(troubles) == 5)
    assert [trouble.why for trouble in troubles] == ["gone", "", "gone", "no permission", ""]


async def test_a_surface_whose_token_is_revoked_loses_no_message_over_it(tmp_path):
    log = SmallLog()
    log.say("1")
    refusals = []
    for _ in range(CRASH_LIMIT + 1):
        surface = Scripted(SurfaceConfigError("the token was revoked"))
        async with mirroring(log, surface, tmp_path, on_refused=refusals.append) as (_, task):
            with pytest.raises(SurfaceConfigError):
                await task
    async with mirroring(log, Scripted(), tmp_path) as (store, _):
        await settled(store, 1)
        assert await store.counts() == {"done": 1}
    assert refusals == []


async def test_an_outage_of_the_whole_platform_is_no_trouble_of_a_channel(tmp_path):
    log = SmallLog()
    troubles = []
    log.say("1")
    surface = Scripted(SurfaceDown("down"))
    async with mirroring(log, surface, tmp_path, on_trouble=troubles.append) as (store, _):
        await settled(store, 1)
    assert troubles == []


@pytest.mark.parametrize(
    ("public_url", "link"),
    [("", None), ("https://moot.example", "https://moot.example/m/1"), ("http://x/y/", "http://x/y/m/1")],
)
async def test_a_posting_links_to_the_whole_message_where_there_is_a_page(tmp_path, public_url, link):
    log = SmallLog()
    log.say("1")
    surface = Scripted()
    async with mirroring(log, surface, tmp_path, public_url=public_url) as (store, _):
        await settled(store, 1)
    assert surface.posted[0].link == link


async def test_what_a_surface_remembers_is_there_after_a_restart(tmp_path):
    for before, now in ((None, "17"), ("17", "18 ü\n"), ("18 ü\n", "")):
        store = OutboxStore(tmp_path, "fake", "log")
        await store.open()
        assert await store.get("seen/#a") == before
        await store.put("seen/#a", "x")
        await store.put("seen/#a", now)
        assert await store.get("seen/#b") is None
        await store.close()


async def test_two_gateways_cannot_share_an_outbox(tmp_path):
    first, second = (OutboxStore(tmp_path, "fake", "log") for _ in range(2))
    await first.open()
    with pytest.raises(FileBusy, match=r"outbox-fake\.sqlite belongs to another process"):
        await second.open()
    await first.close()
    await first.close()
    await second.open()
    await second.close()


@pytest.mark.rule("K25")
@pytest.mark.parametrize("at", range(3))
async def test_k25_a_start_that_is_cancelled_anywhere_lets_go_of_the_outbox(tmp_path, monkeypatch, at):
    """The first wait takes the file, the second writes, the third reads."""
    store, waits, is_there = OutboxStore(tmp_path, "fake", "log"), iter(range(3)), asyncio.Event()
    run = OwnedFile.run

    async def held(file, work):
        done = await run(file, work)
        if file is store._file and next(waits, None) == at:
            is_there.set()
            await asyncio.Event().wait()
        return done

    monkeypatch.setattr(OwnedFile, "run", held)
    opening = asyncio.create_task(store.open())
    await is_there.wait()
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    assert opening.cancelled()
    after = OutboxStore(tmp_path, "fake", "log")
    await after.open()
    await after.close()


async def test_another_log_starts_at_its_beginning(tmp_path, platform):
    for log_id in ("one", "two"):
        log = SmallLog()
        log.say(f"first of {log_id}")
        async with mirroring(log, fake(tmp_path), tmp_path, log_id=log_id) as (store, _):
            await settled(store, 1)
    assert [post.nonce for post in platform.posts()] == ["one:1", "two:1"]


async def test_a_log_that_lost_its_end_is_mirrored_anew_from_there(tmp_path, platform):
    log = SmallLog()
    for n in range(3):
        log.say(str(n))
    async with mirroring(log, fake(tmp_path), tmp_path) as (store, _):
        await settled(store, 3)
    shorter = SmallLog()
    shorter.say("0")
    store = OutboxStore(tmp_path, "fake", "log")
    await store.open()
    await store.rewind(1)
    await store.close()
    shorter.say("another second")
    async with mirroring(shorter, fake(tmp_path), tmp_path) as (store, _):
        await settled(store, 2)
    assert [post.nonce for post in platform.posts()] == ["log:1", "log:2", "log:3", "log.1:2"]


async def test_a_file_that_is_no_outbox_is_refused(tmp_path):
    (tmp_path / "outbox-fake.sqlite").write_bytes(b"not a database, " * 100)

    store = OutboxStore(tmp_path, "fake", "log")
    with pytest.raises(sqlite3.DatabaseError):
        await store.open()
    await store.close()


async def test_acts_of_people_are_kept_until_they_are_dropped(tmp_path):
    store = OutboxStore(tmp_path, "fake", "log")
    await store.open()
    await store.keep_act("fake/1", "{}")
    await store.keep_act("fake/2", "[]")
    await store.keep_act("fake/1", "later")
    await store.close()
    store = OutboxStore(tmp_path, "fake", "log")
    await store.open()
    assert await store.acts() == [("fake/1", "{}"), ("fake/2", "[]")]
    await store.drop_act("fake/1")
    assert await store.count_acts() == 1
    await store.close()
