"""Discord behind a real gateway process: everything once and in order, whatever breaks."""

import asyncio
import random
import signal
from collections import Counter

import pytest

from tests.doubles.discord_faults import DROP_AFTER, DROP_BEFORE, GARBAGE_EVENT, limited, status
from tests.doubles.discord_server import DiscordServer
from tests.doubles.gateway_running import society
from tests.doubles.on_discord import escalation, gateway, posts, seqs, until, with_channels
from tests.doubles.small_log import SmallLog

CHANNELS = ("#a-arena", "#b-ops", "#admin")
POSTS = "POST /webhooks/*"


@pytest.fixture
def server():
    with DiscordServer() as running:
        yield with_channels(running)


def say(log, n, many=1):
    """Say as many messages in each channel, some of them of cases."""
    for m in range(many):
        for channel in CHANNELS:
            log.say(f"message {n}.{m}", channel, case_id=f"case_{n}" if m % 2 else None)


def mirrored(log):
    return [envelope.seq for envelope in log.envelopes if envelope.actor.platform != "discord"]


def everything_is_there_once_and_in_order(server, log):
    assert Counter(seqs(server)) == Counter(mirrored(log))
    for channel in CHANNELS:
        heads = [found[0] for found in posts(server, channel)]
        assert heads == sorted(heads)


async def caught_up(server, log):
    await until(lambda: len(set(seqs(server))) >= len(mirrored(log)), look_s=0.05)


@pytest.mark.parametrize(
    "fault",
    [
        DROP_BEFORE,
        DROP_AFTER,
        status(503),
        limited(0.05),
        limited(0.1, everywhere=True),
        limited(1, has_via=False),
    ],
)
async def test_each_message_is_posted_once_and_in_order_whatever_becomes_of_the_posts(
    tmp_path, server, fault
):
    log = SmallLog()
    say(log, 0, 2)
    async with society(tmp_path, log):
        with gateway(tmp_path, server):
            await caught_up(server, log)
            for n in range(1, 4):
                server.faults.add(POSTS, 2, fault)
                say(log, n)
                await caught_up(server, log)
    everything_is_there_once_and_in_order(server, log)


async def test_killed_at_random_moments_it_posts_everything_once(tmp_path, server):
    """K3, K22: `kill -9` in the middle of posts, with a platform that drops some before and some after."""
    chance = random.Random(7)

    log = SmallLog()
    async with society(tmp_path, log):
        for n in range(4):
            before = len(seqs(server))
            say(log, n, 5)
            server.faults.add(POSTS, 1, DROP_AFTER)
            with gateway(tmp_path, server) as process:
                wanted = before + chance.randint(1, 6)
                await until(lambda wanted=wanted: len(seqs(server)) >= wanted, look_s=0.001)
                process.send_signal(signal.SIGKILL)
                process.wait(60)
        with gateway(tmp_path, server):
            await caught_up(server, log)
    everything_is_there_once_and_in_order(server, log)


async def test_a_platform_that_goes_away_and_comes_back_gets_what_was_said_meanwhile(tmp_path, server):
    log = SmallLog()
    say(log, 0)
    async with society(tmp_path, log):
        with gateway(tmp_path, server) as process:
            await caught_up(server, log)
            for n in range(1, 4):
                server.stop()
                say(log, n, 3)
                server.start()
                await caught_up(server, log)
            heard = server.person_writes("ana", "a-arena", "are you there?")
            await until(lambda: server.replies(heard))
            assert process.poll() is None
    everything_is_there_once_and_in_order(server, log)
    assert [e.body.text for e in log.envelopes if e.actor.platform == "discord"] == ["are you there?"]


def test_acts_come_in_once_across_kills_garbage_and_a_society_that_is_away(tmp_path, server):
    async def main():
        log = SmallLog()
        said = []

        def writes(text):
            said.append(text)
            return server.person_writes("ana", "a-arena", text)

        async with society(tmp_path, log):
            log.say("the first")
            with gateway(tmp_path, server) as process:
                await caught_up(server, log)
                id = writes("one")
                await until(lambda: server.replies(id))
                process.kill()
                process.wait(60)
            writes("while the gateway was dead")
            with gateway(tmp_path, server):
                await until(lambda: len(log.envelopes) == 3)
                server.faults.add("GATEWAY MESSAGE_CREATE", 1, GARBAGE_EVENT)
                writes("unreadable")
                writes("right after it")
                await until(lambda: len(log.envelopes) == 5)
        with gateway(tmp_path, server):
            id = writes("while the society was away")
            # Without a society there is no surface; what was said waits in the history.
            async with society(tmp_path, log):
                await until(lambda: len(log.envelopes) == 6)
                await until(lambda: server.replies(id))
        assert [envelope.body.text for envelope in log.envelopes] == ["the first", *said]

    asyncio.run(main())


async def test_a_button_pressed_after_a_restart_of_everything_acts_on_the_log(tmp_path, server):
    log = SmallLog()
    ana, bob = server.user_id("ana"), server.user_id("bob")
    escalation(log)
    async with society(tmp_path, log):
        with gateway(tmp_path, server, admins=[ana]):
            await caught_up(server, log)
        (message,) = server.messages("admin")
        with gateway(tmp_path, server, admins=[ana]):
            await until(lambda: server.connections == 1)
            by_admin = server.person_clicks("ana", message.id, "Acknowledge")
            by_stranger = server.person_clicks("bob", message.id, "2: Deploy")
            await until(lambda: server.replies(by_admin) and server.replies(by_stranger))
    (reply,) = server.replies(by_stranger)
    assert reply.is_ephemeral
    acts = {e.actor.user_id: (e.author, e.id) for e in log.envelopes if e.actor.platform == "discord"}
    assert acts[ana] == ("admin", f"discord/{ana}/{by_admin}")
    assert acts[bob][0] == "viewer", "the log's own rules refuse a viewer's answer; here is only a small log"


def test_no_token_and_no_webhook_is_ever_in_the_log_of_the_gateway(tmp_path, server):
    async def main():
        log = SmallLog()
        say(log, 0)
        async with society(tmp_path, log):
            with gateway(tmp_path, server):
                await caught_up(server, log)
                for fault in (DROP_BEFORE, DROP_AFTER, status(503), limited(0.05)):
                    server.faults.add(POSTS, 1, fault)
                    say(log, 1)
                    await caught_up(server, log)
                server.restart(forget_sessions=True)
                say(log, 2)
                await caught_up(server, log)

    asyncio.run(main())
    said = (tmp_path / "gateway.err").read_text()
    assert said
    assert server.token not in said
    assert not [hook["id"] for hook in server.webhooks() if hook["token"] in said]
