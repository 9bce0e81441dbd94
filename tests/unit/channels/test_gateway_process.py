"""The keeper of a surface: one that fails is told of once, tried again, and troubles no other."""

import asyncio
import sqlite3
from contextlib import asynccontextmanager, closing, suppress

import pytest
import structlog

from moot.channels.gateway.client import Requests
from moot.channels.gateway.guest import GuestHost
from moot.channels.gateway.process import MOST_TOLD, Mirroring, run_gateway
from moot.channels.gateway.server import GatewayServer
from moot.channels.outbox.store import OutboxStore
from moot.channels.surface import PlatformMessageId, PostRefused, Surface, SurfaceConfigError, SurfaceDown
from moot.protocols.kernel.seats import VIEWER
from tests.doubles.hosting import QUICK, hosting
from tests.doubles.small_log import SmallLog
from tests.doubles.waiting import until


class Shown(Surface):
    """A surface that shows everything, but for what its hooks raise."""

    name = "shown"

    def __init__(self, posted, *, on_start=None, on_post=None, on_watch=None):
        self.posted = posted
        self.on_start, self.on_post, self.on_watch = on_start, on_post, on_watch

    async def start(self, inbound, memory):
        if self.on_start:
            self.on_start()

    async def post(self, item):
        if self.on_post:
            self.on_post(item)
        self.posted.append(item)
        return PlatformMessageId(f"p{item.seq}")

    async def watch(self):
        while True:
            if self.on_watch:
                self.on_watch()
            await asyncio.sleep(0.001)

    async def close(self):
        pass


class Faults:
    """Raises what is next in a list, each time it is called; None and an empty list let it pass."""

    def __init__(self, *faults):
        self.faults = list(faults)
        self.calls = 0

    def __call__(self, *_):
        self.calls += 1
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault


@asynccontextmanager
async def running(tmp_path, surfaces, **options):
    """Run a gateway over a small log; yields the log and what was reported."""
    log, reports = SmallLog(), []

    async def report(event):
        reports.append(event)

    stop = asyncio.Event()
    async with hosting(tmp_path, log, report=report):
        gateway = asyncio.create_task(
            run_gateway(
                None,
                {name: Mirroring(build=build) for name, build in surfaces.items()},
                data_dir=tmp_path,
                authority=lambda _platform, _user: VIEWER,
                stop=stop,
                lifeline=None,
                **{"backoff": QUICK, "config_pause_s": 0.001, **options},
            )
        )
        try:
            yield log, reports
        finally:
            stop.set()
            await gateway


def wrong(why="the token is wrong; run: moot fake setup"):
    return SurfaceConfigError(why)


@pytest.mark.parametrize("where", ["build", "start", "watch"])
async def test_a_surface_that_is_set_up_wrongly_is_told_once_and_works_when_it_is_put_right(tmp_path, where):
    faults = Faults(*[wrong() for _ in range(5)])
    ill, well = [], []

    def build():
        if where == "build":
            faults()
        return Shown(ill, **({} if where == "build" else {f"on_{where}": faults}))

    async with running(tmp_path, {"ill": build, "well": lambda: Shown(well)}) as (log, reports):
        log.say("hello")
        await until(lambda: ill and well)
        await until(lambda: faults.calls > 5 and reports)
        log.say("still here")
        await until(lambda: [item.seq for item in ill] == [item.seq for item in well] == [1, 2])
        assert reports == [
            {
                "event": "surface_trouble",
                "surface": "ill",
                "channel": "",
                "why": "the token is wrong; run: moot fake setup",
            }
        ]


async def test_each_distinct_trouble_is_told_and_their_number_is_bounded(tmp_path):
    starts = Faults(wrong("a"), SurfaceDown("b"), wrong("a"), *[wrong(f"c{n}") for n in range(2 * MOST_TOLD)])

    async with running(tmp_path, {"ill": lambda: Shown([], on_start=starts)}) as (_, reports):
        await until(lambda: not starts.faults, within_s=50)
        await until(lambda: len(reports) >= MOST_TOLD)
        assert [report["why"] for report in reports[:3]] == ["a", "b", "c0"]
        assert len(reports) == MOST_TOLD


def test_what_must_be_put_right_is_looked_at_again_only_after_its_pause(tmp_path):
    starts = Faults(*[wrong() for _ in range(9)])
    crashes = Faults(*[LookupError("a bug") for _ in range(9)])
    surfaces = {
        "ill": lambda: Shown([], on_start=starts),
        "broken": lambda: Shown([], on_start=crashes),
    }

    async def main():
        async with running(tmp_path, surfaces, config_pause_s=3_600.0) as (_, reports):
            await until(lambda: crashes.calls > 9 and len(reports) == 2)
            assert starts.calls == 1

    asyncio.run(main())


def test_expected_troubles_are_one_line_in_the_log_and_only_bugs_have_a_traceback(tmp_path):
    starts = Faults(wrong(), SurfaceDown("no network"), LookupError("a bug"))
    posts = Faults(SurfaceDown("#a-arena is gone", everywhere=False))
    shown = []

    async def main():
        surfaces = {"ill": lambda: Shown(shown, on_start=starts, on_post=posts)}
        async with running(tmp_path, surfaces) as (log, _):
            log.say("x")
            await until(lambda: shown)

    with structlog.testing.capture_logs() as lines:
        asyncio.run(main())
    told = {line["why"]: line for line in lines if line["log_level"] in ("warning", "error")}
    assert [why for why, line in told.items() if "exc_info" in line] == ["LookupError: a bug"]
    assert all("\n" not in why for why in told)
    assert len(told) == 4


async def test_a_channel_that_fails_alone_is_told_once_with_its_name_while_others_go_on(tmp_path):
    shown = []

    def post(item):
        if item.channel == "#admin":
            raise SurfaceDown("#admin is gone; run: moot fake setup", everywhere=False)

    surfaces = {"chat": lambda: Shown(shown, on_post=post)}
    async with running(tmp_path, surfaces) as (log, reports):
        for n in range(10):
            log.say(str(n), ("#a-arena", "#admin")[n % 2])
        await until(lambda: len(shown) == 5 and reports)
        assert reports == [
            {
                "event": "surface_trouble",
                "surface": "chat",
                "channel": "#admin",
                "why": "#admin is gone; run: moot fake setup",
            }
        ]


def test_posts_link_to_the_page_that_the_gateway_knows(tmp_path):
    shown = []

    async def main():
        surfaces = {"chat": lambda: Shown(shown)}
        async with running(tmp_path, surfaces, public_url="https://moot.example/") as (log, _):
            log.say("x")
            await until(lambda: shown)

    asyncio.run(main())
    assert shown[0].link == "https://moot.example/m/1"


async def test_what_a_surface_raises_in_groups_is_told_by_its_reason(tmp_path):
    def fail():
        raise ExceptionGroup("unhandled", [ExceptionGroup("in a task", [wrong("the token has ended")])])

    shown = []
    async with running(tmp_path, {"ill": lambda: Shown(shown, on_watch=fail)}) as (_, reports):
        await until(lambda: reports)
        assert {report["why"] for report in reports} == {"the token has ended"}


def test_a_refused_post_is_told_also_when_the_society_was_away_at_that_moment(tmp_path):
    refused = []

    async def main():
        log, reports, gate = SmallLog(), [], asyncio.Event()

        async def report(event):
            reports.append(event)

        class Refusing(Shown):
            async def post(self, item):
                await gate.wait()
                refused.append(item.seq)
                raise PostRefused("too large for ever")

        def hosted():
            host = GuestHost(log_id="log", source=log, publish=log.publish, report=report)
            return asyncio.create_task(GatewayServer(host, data_dir=tmp_path).serve())

        server, stop = hosted(), asyncio.Event()
        gateway = asyncio.create_task(
            run_gateway(
                None, {"shown": Mirroring(build=lambda: Refusing([]))}, data_dir=tmp_path,
                authority=lambda _platform, _user: VIEWER, stop=stop, lifeline=None, backoff=QUICK,
            )
        )  # fmt: skip
        log.say("one")
        store = tmp_path / "outbox-shown.sqlite"
        await until(lambda: store.exists() and waiting(store))
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)
        gate.set()
        await until(lambda: refused)
        assert reports == []
        server = hosted()
        await until(lambda: reports)
        assert [(one["event"], one["seq"], one["why"]) for one in reports] == [
            ("post_refused", 1, "too large for ever")
        ]
        stop.set()
        await gateway
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)

    asyncio.run(main())


async def test_what_could_not_be_sent_when_its_turn_came_is_sent_later(tmp_path, monkeypatch):
    sent, turns = Requests.report, []

    async def lost_at_first(self, event, **facts):
        turns.append(event)
        return len(turns) > 3 and await sent(self, event, **facts)

    monkeypatch.setattr(Requests, "report", lost_at_first)

    surface = {"ill": lambda: Shown([], on_start=Faults(wrong()))}
    async with running(tmp_path, surface) as (_, reports):
        await until(lambda: reports)
        assert [report["why"] for report in reports] == ["the token is wrong; run: moot fake setup"]
        assert turns == ["surface_trouble"] * 4


async def test_a_log_that_lost_its_end_is_told_also_when_the_society_is_slow_to_listen(tmp_path, monkeypatch):
    turns, sent = [], Requests.report

    async def lost_at_first(self, event, **facts):
        turns.append(event)
        return len(turns) > 1 and await sent(self, event, **facts)

    monkeypatch.setattr(Requests, "report", lost_at_first)

    store = OutboxStore(tmp_path, "shown", "log")
    await store.open()
    await store.close()
    with closing(sqlite3.connect(tmp_path / "outbox-shown.sqlite")) as db, db:
        db.execute("UPDATE logs SET cursor = 9")
    async with running(tmp_path, {"shown": lambda: Shown([])}) as (_, reports):
        await until(lambda: reports)
        assert [(one["event"], one["seen"], one["head"]) for one in reports] == [("log_shrank", 9, 0)]


def waiting(store):
    with closing(sqlite3.connect(store)) as db, suppress(sqlite3.OperationalError):
        return db.execute("SELECT count(*) FROM posts WHERE state = 'intent'").fetchone()[0]
