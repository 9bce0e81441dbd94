"""The whole chain: a log, its gateway process, Slack's libraries, and a Slack that misbehaves."""

import asyncio
import random
import signal
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from moot.protocols.escalation.messages import Escalation
from moot.protocols.kernel.seats import ADMIN, REFEREE, VIEWER
from tests.doubles import gateway_running, read_back
from tests.doubles.gateway_running import society
from tests.doubles.live_slack import slack_server
from tests.doubles.small_log import SmallLog
from tests.doubles.waiting import until as eventually

until = partial(eventually, within_s=60.0)
ROOT = Path(__file__).parents[2]
CHANNELS = ("a-arena", "a-verdict", "admin")


@pytest.fixture
def server(monkeypatch):
    with slack_server(monkeypatch) as running:
        yield running
        assert running.pings == running.formatted == []


def gateway(tmp_path, server, **options):
    """Run a gateway process whose only surface is Slack."""
    slack = ("tests.doubles.live_slack:UnpacedSlack", {"api": server.api, **options})
    return gateway_running.gateway(tmp_path, {"slack": slack}, admins=["U0ANA"])


def seqs(server, channel):
    return [int(message.nonce.rpartition(":")[2]) for message in server.posts(channel)]


def posted(server):
    return [seq for channel in CHANNELS for seq in seqs(server, channel)]


def mirrored(log):
    return [envelope for envelope in log.envelopes if envelope.actor.platform != "slack"]


def acts(log):
    """Return the platform's ids of what people did, each without the person whose it is."""
    found = [envelope for envelope in log.envelopes if envelope.actor.platform == "slack"]
    return [envelope.id.removeprefix(f"slack/{envelope.actor.user_id}/") for envelope in found]


def everything_is_there_once_and_in_order(server, log):
    assert Counter(posted(server)) == Counter(envelope.seq for envelope in mirrored(log))
    lines = {envelope.seq: envelope.line for envelope in log.envelopes}
    for channel in CHANNELS:
        assert seqs(server, channel) == sorted(seqs(server, channel))
        for message, seq in zip(server.posts(channel), seqs(server, channel), strict=True):
            assert read_back.from_slack(message.metadata) == [lines[seq]]


def say(log, n):
    channel = CHANNELS[n % 3]
    case = f"hyp_{n % 2}" if n % 3 == 0 else None
    log.say(f"message {n} *b* <!channel>", f"#{channel}", case_id=case)


def misbehave(server, chance):
    for fault in ("drop_before", "drop_after", "drop_after", "status", "fatal"):
        server.faults.add("chat.postMessage", chance.randint(0, 2), fault)
    server.faults.add("chat.postMessage", 1, "ratelimited", retry_after_s=0)
    server.faults.add("conversations.*", chance.randint(0, 2), "drop_after")


async def test_a_channel_that_must_pause_holds_up_no_other(tmp_path, server):
    limited = server.faults.add(
        "chat.postMessage", 1, "ratelimited", channel=CHANNELS[0], retry_after_s=3_600
    )

    log = SmallLog()
    async with society(tmp_path, log):
        with gateway(tmp_path, server):
            log.say("waits", f"#{CHANNELS[0]}")
            await until(lambda: limited.hits)
            for n in range(3):
                log.say(f"goes on {n}", f"#{CHANNELS[1]}")
            await until(lambda: len(server.posts(CHANNELS[1])) == 3)
    assert server.posts(CHANNELS[0]) == []


async def test_killed_at_random_moments_it_posts_everything_once_in_order_and_takes_every_act_once(
    tmp_path, server
):
    """K3, K22: `kill -9` of the gateway while Slack drops, limits, refuses and repeats."""
    chance = random.Random(5)

    log, said = SmallLog(), []
    async with society(tmp_path, log):
        for _ in range(6):
            with gateway(tmp_path, server) as process:
                misbehave(server, chance)
                server.faults.events("duplicate", 2, "message")
                start = len(posted(server))
                for n in range(20):
                    say(log, n)
                wanted = start + chance.randint(1, 15)
                await until(lambda wanted=wanted: len(posted(server)) >= wanted)
                said += [server.person_writes("ana", c, f"note {len(said)}") for c in CHANNELS]
                await asyncio.sleep(chance.random() * 0.02)
                process.send_signal(signal.SIGKILL)
                process.wait(60)
                said.append(server.person_writes("bob", "a-arena", "while nobody runs"))
        with gateway(tmp_path, server):
            await until(lambda: len(set(posted(server))) >= len(mirrored(log)))
            await until(lambda: all(server.replies(one) for one in said))
    everything_is_there_once_and_in_order(server, log)
    assert Counter(acts(log)) == Counter(said)


async def test_through_restarts_and_cuts_of_slack_nothing_is_lost_doubled_or_out_of_order(tmp_path, server):
    chance = random.Random(6)

    log, said = SmallLog(), []
    async with society(tmp_path, log):
        with gateway(tmp_path, server) as process:
            for round_ in range(4):
                misbehave(server, chance)
                for n in range(15):
                    say(log, n)
                half = len(mirrored(log)) - 8
                await until(lambda half=half: len(set(posted(server))) >= half)
                said.append(server.person_writes("ana", "a-arena", f"note {round_}"))
                if round_ % 2:
                    server.cut()
                else:
                    await asyncio.to_thread(server.restart)
                said.append(server.person_writes("ana", "admin", f"in between {round_}"))
            await until(lambda: len(set(posted(server))) >= len(mirrored(log)))
            await until(lambda: all(server.replies(one) for one in said))
            assert process.poll() is None
    everything_is_there_once_and_in_order(server, log)
    assert Counter(acts(log)) == Counter(said)


async def test_a_button_pressed_before_and_after_a_restart_is_two_acts_each_once(tmp_path, server):
    log = SmallLog()
    body = Escalation(
        escalation_id="esc_1", level="URGENT", system="A", trigger="t", context="c", suggested_actions=("s",),
        trigger_code="x", evidence_seqs=(1,), options=({"n": 1, "label": "Stop", "effect": "none"},),
    )  # fmt: skip
    log.append(body, channel="#admin", author=REFEREE, case_id="esc_1")
    clicks = []
    async with society(tmp_path, log):
        for _ in range(2):
            with gateway(tmp_path, server):
                await until(lambda: server.posts("admin"))
                await until(lambda: server.connections)
                (message,) = server.posts("admin")
                clicks.append(server.person_clicks("ana", message.id, "moot|ack|esc_1"))
                await until(lambda: server.replies(clicks[-1]))
    assert acts(log) == [f"trigger/{click}" for click in clicks]
    assert [e.author for e in log.envelopes[1:]] == [ADMIN, ADMIN]
    assert all(reply.is_ephemeral for click in clicks for reply in server.replies(click))


async def test_a_strangers_click_is_handed_in_as_a_viewers_and_answered_privately(tmp_path, server):
    """R-E5: who may answer is judged by the society, under the person's own id."""

    log = SmallLog()
    async with society(tmp_path, log):
        with gateway(tmp_path, server):
            await until(lambda: server.connections)
            mine = server.person_commands("ana", "admin", "/moot", "stop society drill")
            theirs = server.person_commands("bob", "admin", "/moot", "stop society prank")
            typo = server.person_commands("bob", "admin", "/moot", "stpo")
            await until(lambda: all(map(server.replies, (mine, theirs, typo))))
    assert {(e.author, e.actor.user_id, e.actor.platform) for e in log.envelopes} == {
        (ADMIN, "U0ANA", "slack"),
        (VIEWER, "U0BOB", "slack"),
    }
    assert [reply.text for reply in server.replies(typo)] == [
        "no command /stpo; did you mean /stop SCOPE WHY ?"
    ]


async def test_a_token_that_is_revoked_and_given_anew_stops_and_resumes_the_mirror_without_loss(
    tmp_path, server
):
    log = SmallLog()
    async with society(tmp_path, log):
        with gateway(tmp_path, server) as process:
            say(log, 0)
            await until(lambda: posted(server) == [1])
            server.spoil_token("token_revoked")
            for n in range(1, 6):
                say(log, n)
            await until(lambda: b"it was revoked" in (tmp_path / "gateway.err").read_bytes())
            assert process.poll() is None
        server.spoil_token("active")
        with gateway(tmp_path, server):
            await until(lambda: len(set(posted(server))) == 6)
    everything_is_there_once_and_in_order(server, log)
    assert server.bot_token.encode() not in (tmp_path / "gateway.err").read_bytes()


async def test_a_deleted_channel_holds_up_no_other_and_loses_nothing(tmp_path, server):
    log = SmallLog()
    async with society(tmp_path, log):
        with gateway(tmp_path, server):
            say(log, 0)
            await until(lambda: posted(server) == [1])
            server.delete_channel("a-arena")
            for n in range(1, 9):
                say(log, n)
            await until(lambda: len(seqs(server, "a-verdict")) == len(seqs(server, "admin")) == 3)
            server.add_channel("a-arena", is_member=False)
            await until(lambda: len(seqs(server, "a-arena")) == 2)
    assert seqs(server, "a-arena") == [4, 7]
