"""Discord and Slack behind two hosts: whoever takes over posts what is left, and nothing a second time (K3, K22)."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests.doubles import gateway_running, on_discord
from tests.doubles.discord_faults import DROP_AFTER, DROP_BEFORE, delay
from tests.doubles.discord_server import DiscordServer
from tests.doubles.gateway_running import society
from tests.doubles.live_slack import slack_server
from tests.doubles.nats import running
from tests.doubles.on_discord import until
from tests.doubles.small_log import SmallLog

FOR_EVER_S = 600.0
CHANNELS = ("a-arena", "a-verdict", "admin")


class OnDiscord:
    """A guild, and gateways that post into it."""

    name = "discord"
    gateway = staticmethod(on_discord.gateway)

    def __init__(self, server: DiscordServer) -> None:
        self.server = server

    def take_and_say_nothing(self) -> None:
        """Take the next post, without an answer, and answer no question about it."""
        self.server.faults.add("GET *", None, delay(FOR_EVER_S))
        self.server.faults.add("POST /webhooks/*", 1, DROP_AFTER)

    def take_nothing(self) -> None:
        self.server.faults.add("POST /webhooks/*", None, DROP_BEFORE)

    def seqs(self, channel: str) -> list[int]:
        return on_discord.seqs(self.server, f"#{channel}")


class OnSlack:
    """A workspace, and gateways that post into it."""

    name = "slack"

    def __init__(self, server) -> None:
        self.server = server

    def gateway(self, directory, server, **more):
        slack = ("tests.doubles.live_slack:UnpacedSlack", {"api": server.api})
        return gateway_running.gateway(directory, {"slack": slack}, **more)

    def take_and_say_nothing(self) -> None:
        self.server.faults.add("conversations.*", 1000, "delay", seconds=FOR_EVER_S)
        self.server.faults.add("chat.postMessage", 1, "drop_after")

    def take_nothing(self) -> None:
        self.server.faults.add("chat.postMessage", 1000, "drop_before")

    def seqs(self, channel: str) -> list[int]:
        return [int(message.nonce.rpartition(":")[2]) for message in self.server.posts(channel)]


@pytest.fixture(params=["discord", "slack"])
def platform(request, monkeypatch):
    if request.param == "slack":
        with slack_server(monkeypatch) as found:
            yield OnSlack(found)
    else:
        with DiscordServer() as server:
            yield OnDiscord(on_discord.with_channels(server))


def posted(platform) -> list[int]:
    return [seq for channel in CHANNELS for seq in platform.seqs(channel)]


def intended(directory: Path, platform) -> int:
    """Count the posts that a host had begun and not recorded when it was killed."""
    with closing(sqlite3.connect(directory / f"outbox-{platform.name}.sqlite")) as db:
        return int(db.execute("SELECT count(*) FROM posts WHERE state = 'intent'").fetchone()[0])


async def test_no_platform_sees_a_message_twice_or_never_when_the_leader_is_killed_over_a_post(
    tmp_path: Path, platform
) -> None:
    log, directories = SmallLog(), [tmp_path / "one", tmp_path / "two"]
    for directory in directories:
        directory.mkdir()
    one, two = directories
    with running(tmp_path / "nats") as nats:
        where = nats.address("desk").secret

        def say() -> None:
            for channel in CHANNELS:
                log.say(f"message {log.head + 1}", f"#{channel}")

        def gateway(directory: Path):
            return platform.gateway(directory, platform.server, nats=where)

        async def all_there() -> None:
            await until(lambda: len(set(posted(platform))) >= log.head)

        async with society(one, log), society(two, log):
            for leader, follower, trouble in (
                (one, two, platform.take_and_say_nothing),
                (two, one, platform.take_nothing),
            ):
                with gateway(leader) as process:
                    say()
                    await all_there()
                    before = len(posted(platform))
                    trouble()
                    say()
                    await until(lambda leader=leader: intended(leader, platform))
                    is_taken = trouble == platform.take_and_say_nothing
                    if is_taken:
                        await until(lambda before=before: len(posted(platform)) > before)
                    process.send_signal(signal.SIGKILL)
                    await asyncio.to_thread(process.wait, 60)
                assert intended(leader, platform) or not is_taken
                platform.server.faults.clear()
                with gateway(follower):
                    await all_there()
    assert Counter(posted(platform)) == Counter(envelope.seq for envelope in log.envelopes)
    for channel in CHANNELS:
        assert platform.seqs(channel) == sorted(platform.seqs(channel))
