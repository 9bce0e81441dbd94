"""The gateway as a process of its own, over a real socket, killed and cut off at will."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest

from tests.doubles import gateway_running
from tests.doubles.fake_platform import PlatformFile
from tests.doubles.gateway_running import society
from tests.doubles.small_log import SmallLog
from tests.doubles.waiting import until as eventually

until = partial(eventually, within_s=60.0)
ROOT = Path(__file__).parents[2]
CHANNELS = ("#a-arena", "#a-verdict", "#admin")
WILD = {
    "seed": 4,
    "delay_s": 0.004,
    "drop_before": 0.05,
    "drop_after": 0.1,
    "rate_limit": 0.05,
    "retry_after_s": 0.002,
    "duplicate": 0.5,
    "reorder": True,
}


@pytest.fixture
def platform(tmp_path):
    file = PlatformFile(tmp_path / "platform.sqlite")
    yield file
    file.close()


def fake(tmp_path, name, **options):
    path = str(tmp_path / "platform.sqlite")
    return ["tests.doubles.fake_platform:FakePlatform", {"path": path, "name": name, **options}]


def spawn(command, **how):
    return subprocess.Popen(command, cwd=ROOT, **how)


def gateway(tmp_path, surfaces=None, **options):
    """Run a gateway process with fake platforms."""
    surfaces = surfaces or {"fake": {"plan": WILD}}
    fakes = {name: fake(tmp_path, name, **how) for name, how in surfaces.items()}
    return gateway_running.gateway(tmp_path, fakes, **{"admins": ["ana"], **options})


def everything_is_there_once_and_in_order(platform, log):
    mirrored = [e.seq for e in log.envelopes if e.actor.platform != "fake"]
    assert Counter(platform.seqs()) == Counter(mirrored)
    for channel in CHANNELS:
        assert platform.seqs(channel) == sorted(platform.seqs(channel))
    assert all(post.nonce == f"log:{post.seq}" for post in platform.posts())


def every_act_is_in_the_log_once(log, acts):
    keys = Counter(e.id for e in log.envelopes if e.actor.platform == "fake")
    assert keys == Counter(f"fake/ana/{act}" for act in acts)


def open_intents(directory):
    """Count the posts that a killed gateway had begun and not recorded."""
    with closing(sqlite3.connect(directory / "outbox-fake.sqlite")) as db:
        return db.execute("SELECT count(*) FROM posts WHERE state = 'intent'").fetchone()[0]


async def test_killed_at_random_moments_it_posts_everything_once_and_takes_every_act_once(tmp_path, platform):
    """K3, K22: twelve times `kill -9` while the platform drops, limits, duplicates and reorders."""
    chance = random.Random(11)

    log = SmallLog()
    acts = []
    in_flight = 0
    async with society(tmp_path, log):
        for _ in range(12):
            with gateway(tmp_path) as process:
                start = len(platform.posts())
                for n in range(25):
                    log.say(f"message {n}", CHANNELS[n % 3])
                for n in range(3):
                    acts.append(platform.person_does("note", CHANNELS[n], text=f"note {len(acts)}"))
                wanted = start + chance.randint(1, 15)
                await until(lambda wanted=wanted: len(platform.posts()) >= wanted, look_s=0.001)
                await asyncio.sleep(chance.random() * 0.01)
                process.send_signal(signal.SIGKILL)
                process.wait(60)
                in_flight += open_intents(tmp_path)
        with gateway(tmp_path):
            await until(lambda: all(platform.reply_to(act) for act in acts))
            await until(lambda: len(set(platform.seqs())) >= log.head - len(acts))
            await asyncio.sleep(0.05)
    everything_is_there_once_and_in_order(platform, log)
    every_act_is_in_the_log_once(log, acts)
    assert in_flight >= 10
    assert platform.deliveries() > len(acts)


async def test_when_the_society_restarts_the_gateway_connects_again_and_catches_up(tmp_path, platform):
    log = SmallLog()
    acts = []
    with gateway(tmp_path) as process:
        for n in range(4):
            async with society(tmp_path, log):
                for m in range(10):
                    log.say(f"message {m}", CHANNELS[m % 3])
                await until(lambda: len(set(platform.seqs())) >= log.head - len(acts))
            acts.append(platform.person_does("note", text=f"while you were away {n}"))
            log.say("said while nobody listened")
            await until(lambda: platform.reply_to(acts[-1]))
            assert "Kept" in platform.reply_to(acts[-1]).text
        async with society(tmp_path, log):
            await until(lambda: log.head - len(acts) == len(set(platform.seqs())) == 44)
            await until(lambda: sum(e.actor.platform == "fake" for e in log.envelopes) == len(acts))
        assert process.poll() is None
    everything_is_there_once_and_in_order(platform, log)
    every_act_is_in_the_log_once(log, acts)


async def test_a_crash_of_one_surface_does_not_touch_the_other(tmp_path, platform):
    log = SmallLog()
    calm_path = tmp_path / "calm.sqlite"
    calm = PlatformFile(calm_path)
    surfaces = {"fake": {"plan": {"crash": 0.2, "seed": 2}}, "calm": {"path": str(calm_path)}}
    async with society(tmp_path, log):
        with gateway(tmp_path, surfaces) as process:
            for n in range(30):
                log.say(str(n), CHANNELS[n % 3])
            await until(lambda: len(calm.seqs()) == 30)
            await until(lambda: len(set(platform.seqs())) == 30)
            platform.switch("crash", "1")
            await until(lambda: not platform.is_on("crash"))
            log.say("after the crash")
            await until(lambda: 31 in platform.seqs() and 31 in calm.seqs())
            assert process.poll() is None
    assert Counter(calm.seqs()) == Counter(platform.seqs()) == Counter(range(1, 32))
    assert b"a bug in the surface" in (tmp_path / "gateway.err").read_bytes()
    calm.close()


async def test_an_admin_and_a_viewer_act_under_their_own_seats(tmp_path, platform):
    log = SmallLog()
    async with society(tmp_path, log):
        with gateway(tmp_path, {"fake": {}}):
            by_ana = platform.person_does("command", "#admin", "ana", text="/stop society fire drill")
            by_bob = platform.person_does("note", "#a-arena", "bob", text="why?")
            typo = platform.person_does("command", "#admin", "bob", text="/stpo")
            await until(lambda: all(map(platform.reply_to, (by_ana, by_bob, typo))))
    assert {(e.author, e.actor.user_id, e.channel, e.body.text) for e in log.envelopes} == {
        ("admin", "ana", "#admin", "STOP"),
        ("viewer", "bob", "#a-arena", "why?"),
    }
    assert platform.reply_to(typo).text == "no command /stpo; did you mean /stop SCOPE WHY ?"


@pytest.mark.parametrize("how", ["end of the pipe", "SIGTERM", "SIGINT"])
async def test_the_gateway_ends_with_its_parent_and_on_signals(tmp_path, platform, how):
    log = SmallLog()
    log.say("x")
    async with society(tmp_path, log):
        with gateway(tmp_path, {"fake": {}}) as process:
            await until(lambda: platform.seqs() == [1])
            if how == "end of the pipe":
                process.stdin.close()
            else:
                process.send_signal(getattr(signal, how))
            await until(lambda: process.poll() is not None)
            assert process.returncode == 0


PARENT = """
import subprocess, sys, time
command = [sys.executable, "-m", "tests.doubles.gateway_process", sys.argv[1]]
child = subprocess.Popen(command, stdin=getattr(subprocess, sys.argv[2]))
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("stdin", ["PIPE", "DEVNULL"])
async def test_the_gateway_ends_when_its_parent_is_killed(tmp_path, platform, stdin):
    """The parent spawns it as `moot up` does, and is killed with no chance to say goodbye (K25)."""
    config = json.dumps({"data_dir": str(tmp_path), "surfaces": {"fake": fake(tmp_path, "fake")}})

    def is_gone(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
        except FileNotFoundError:
            return True

    log = SmallLog()
    log.say("x")
    async with society(tmp_path, log):
        parent = spawn([sys.executable, "-c", PARENT, config, stdin], stdout=subprocess.PIPE)
        child = int(parent.stdout.readline())
        try:
            await until(lambda: platform.seqs() == [1])
            assert not is_gone(child)
            parent.kill()
            await until(lambda: is_gone(child))
        finally:
            parent.kill()
            parent.wait(60)
            parent.stdout.close()
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
