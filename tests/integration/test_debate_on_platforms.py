"""A question that people put on Discord and on Slack: debated and judged there, every answer with whose word it is.

The society is a process of its own (`moot up`), the gateway runs here; the platforms are servers over real sockets.
"""

from __future__ import annotations

import asyncio
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
from tests.doubles.read_back import from_discord, from_slack, from_slack_file
from tests.doubles.slack_server import SlackServer
from tests.doubles.up_society import UpLog, up_society
from tests.doubles.waiting import until as eventually

until = partial(eventually, within_s=90.0)
NAMES = [channel.name.removeprefix("#") for channel in rulebook().public]
ANN, EVE = "ann", "eve"
SEATS = ("advocate", "critic", "judge")
LAST = ("claim", "judgment", "conclusion")
"""Steps of a motion that end it where nobody answers."""
LABEL = "(simulated, no model)"

CONFIG = """
[schedules]

[clock]
human_wall_s = 0

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


def over(log: UpLog) -> int:
    """Count the motions that were judged, or ended because nobody claimed or judged anything."""
    ended = set()
    for env in map(open_line, log.read()):
        obligation = str(env.body.model_dump().get("obligation_id")) if env.body.type == "RULING" else ""
        if env.body.type == "JUDGMENT" or any(f"/{step}/" in obligation for step in LAST):
            ended.add(env.case_id or obligation.partition("/")[0])
    return len(ended)


def by_seats(lines: list[str]) -> set[int]:
    """Return the numbers of the messages that the seats of motions said."""
    return {env.seq for env in map(open_line, lines) if env.author in SEATS and env.channel == "#motions"}


def lines_on_discord(post: Any) -> list[str]:
    return list(from_discord(post.payload)) if post.payload is not None else []


def lines_on_slack(post: Any) -> list[str]:
    if post.payload_file is not None:
        return list(from_slack_file(post.payload_file.content))
    return list(from_slack(post.metadata)) if post.metadata is not None else []


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
            # A simulated seat may be silent: then the motion ends by a ruling.
            await until(lambda: over(log) == 2, look_s=0.2)
            said = by_seats(log.read())
            for platform in (on_discord, on_slack):
                await until(lambda platform=platform: said <= by_seats(platform()), look_s=0.2)  # type: ignore[misc]

        def on_discord() -> list[str]:
            return [text for post in discord.messages("motions") for text in lines_on_discord(post)]

        def on_slack() -> list[str]:
            return [text for post in slack.posts("motions") for text in lines_on_slack(post)]

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

        shown = [(post, lines_on_discord(post)) for post in discord.messages("motions")]
        shown += [(post, lines_on_slack(post)) for post in slack.posts("motions")]
        for post, lines in shown:
            if by_seats(lines):
                assert LABEL in post.text, post.text
                # What had to wait may stand in one summary, under the society's own name.
                assert len(lines) > 1 or post.author_name.endswith(LABEL), post.author_name
        assert discord.pings == [] and slack.pings == []
