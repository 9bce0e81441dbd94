"""A question that people put on Discord and on Slack: debated and judged there, every answer with whose word it is.

The society is a process of its own (`moot up`), the gateway runs here; the platforms are servers over real sockets.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

from moot.channels.backoff import Backoff
from moot.channels.discord import DiscordSurface
from moot.channels.gateway.process import Mirroring, run_gateway
from moot.channels.log.lines import open_line
from moot.channels.slack import SlackSurface
from moot.config.settings import load_settings
from moot.protocols.rulebook import rulebook
from tests.doubles.discord_server import DiscordServer
from tests.doubles.on_discord import register, with_channels
from tests.doubles.slack_server import SlackServer
from tests.doubles.up_society import UpLog, up_society
from tests.doubles.waiting import until as eventually

until = partial(eventually, within_s=90.0)
NAMES = [channel.name.removeprefix("#") for channel in rulebook().channels]
ANN, EVE = "ann", "eve"
SEATS = ("Advocate", "Critic", "Judge")
LABEL = "(simulated, no model)"

CONFIG = """
[schedules]

[desk]
enabled = false

[admins]
discord = ["{discord}"]
slack = ["{slack}"]
"""


def motions(log: UpLog) -> dict[str, Any]:
    """Return the questions of the log by who asked: the body of each."""
    found = [open_line(line) for line in log.read()]
    return {env.actor.platform: env.body.model_dump() for env in found if env.body.type == "MOTION"}


def test_debate_on_discord_and_slack_with_options(tmp_path: Path, monkeypatch: Any) -> None:
    directory, config = tmp_path / "data", tmp_path / "moot.toml"
    with DiscordServer() as discord, SlackServer(*NAMES, scale=0.05) as slack:
        with_channels(discord)
        asyncio.run(register(discord))
        monkeypatch.setenv("MOOT_DISCORD_TOKEN", discord.token)
        monkeypatch.setenv("MOOT_SLACK_BOT_TOKEN", slack.bot_token)
        monkeypatch.setenv("MOOT_SLACK_APP_TOKEN", slack.app_token)
        config.write_text(CONFIG.format(discord=discord.user_id(ANN), slack=slack.user_id(ANN)))
        surfaces = {
            "discord": Mirroring(
                build=lambda: DiscordSurface(guild=discord.guild_id, api=discord.api, gateway=discord.gateway)
            ),
            "slack": Mirroring(build=lambda: SlackSurface(api=slack.api)),
        }

        async def ask_and_see(log: UpLog) -> None:
            await until(lambda: discord.messages("admin") and slack.posts("admin"))
            viewer = discord.person_commands(EVE, "admin", "debate", question="May I?")
            await until(lambda: any("Refused" in told.text for told in discord.replies(viewer)))
            discord.person_commands(
                ANN, "admin", "debate", question="Where do we meet?", options="Rome | Oslo"
            )
            slack.person_commands(ANN, "motions", "/moot", "debate Should we adopt a four-day week?")
            single = slack.person_commands(ANN, "motions", "/moot", "debate Where? | Rome")
            await until(lambda: any("one option is no choice" in told.text for told in slack.replies(single)))
            await until(lambda: log.count("MOTION") == 2)
            asked = motions(log)
            assert asked["discord"]["question"] == "Where do we meet?"
            assert asked["discord"]["options"] == ["Rome", "Oslo"]
            assert (asked["slack"]["question"], asked["slack"]["options"]) == (
                "Should we adopt a four-day week?", [],
            )  # fmt: skip
            await until(lambda: log.count("JUDGMENT") >= 2)
            await until(lambda: len(by_judge_on_discord()) >= 2 and len(by_judge_on_slack()) >= 2)

        def by_judge_on_discord() -> list[str]:
            return [
                post.author_name
                for post in discord.messages("motions")
                if post.author_name.startswith("Judge")
            ]

        def by_judge_on_slack() -> list[str]:
            return [
                post.author_name for post in slack.posts("motions") if post.author_name.startswith("Judge")
            ]

        async def live(log: UpLog) -> None:
            stop = asyncio.Event()
            settings = load_settings(config)
            gateway = asyncio.create_task(
                run_gateway(
                    None,
                    surfaces,
                    data_dir=directory,
                    authority=settings.seat_of,
                    stop=stop,
                    lifeline=None,
                    backoff=Backoff(first_s=0.02, most_s=0.5),
                )
            )
            try:
                await ask_and_see(log)
            finally:
                stop.set()
                await gateway

        with up_society(directory, config) as log:
            asyncio.run(live(log))

        for post in (*discord.messages("motions"), *slack.posts("motions")):
            if post.author_name.startswith(SEATS):
                assert post.author_name.endswith(LABEL), post.author_name
                assert LABEL in post.text, json.dumps(post.text)
        assert discord.pings == [] and slack.pings == []
