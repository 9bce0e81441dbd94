"""An escalation as people live it on each platform: what the how-to pages quote is what really happened here.

`MOOT_WRITE_DOCS=1` writes the quotes anew.
"""

from __future__ import annotations

import asyncio
import os
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot.channels.discord import DiscordSurface
from moot.channels.gateway.process import Mirroring, run_gateway
from moot.channels.slack import SlackSurface
from moot.config.settings import load_settings
from moot.protocols.rulebook import rulebook
from tests.doubles.discord_server import DiscordServer
from tests.doubles.slack_server import SlackServer
from tests.doubles.still_society import still_society
from tests.doubles.waiting import until as eventually

until = partial(eventually, within_s=60.0)
PAGES = Path(__file__).parents[2] / "docs" / "how-to"
NAMES = [channel.name.removeprefix("#") for channel in rulebook().public]
MARK = f"<!-- transcript: tests/integration/{Path(__file__).name} -->"
QUIET = re.compile(r"message \d+ · [0-9a-f]{16}|.* · message \d+")
"""Footers: the number, and the mark that the outbox looks for."""


def wrapped(lines: list[str], indent: str) -> Iterator[str]:
    for line in lines:
        if line and not QUIET.fullmatch(line):
            yield from textwrap.wrap(line, 110, initial_indent=indent, subsequent_indent=indent)


def as_read(who: str, in_thread: bool, lines: list[str], buttons: list[str]) -> Iterator[str]:
    """Write a message as somebody reads it."""
    indent = "  └ " if in_thread else ""
    yield f"{indent}{who}"
    yield from wrapped([*lines, " ".join(f"[ {label} ]" for label in buttons)], " " * len(indent) + "    ")


def on_discord(server: DiscordServer, channel: str) -> Iterator[str]:
    for message in server.messages(channel):
        if message.payload is not None and "opens the society" not in message.text:
            labels = [one["label"] for one in message.components]
            lines = message.text.splitlines()
            yield from as_read(message.author_name, message.thread_id is not None, lines, labels)


def on_slack(server: SlackServer, channel: str) -> Iterator[str]:
    for message in server.posts(channel):
        if message.metadata is not None and "opens the society" not in message.text:
            labels = [button["text"]["text"] for button in message.buttons]
            who = f"{message.icon_emoji} {message.author_name}"
            yield from as_read(who, message.thread_ts is not None, message.text.splitlines(), labels)


def quoted(page: Path, text: str) -> None:
    """Hold what a page quotes to what happened."""
    mark = re.compile(rf"({re.escape(MARK)}\n```\n)(.*?)(```\n)", re.DOTALL)
    written = page.read_text(encoding="utf-8")
    found = mark.search(written)
    assert found is not None, f"{page.name} quotes no transcript"
    if os.environ.get("MOOT_WRITE_DOCS") == "1":
        page.write_text(mark.sub(lambda m: m[1] + text + m[3], written), encoding="utf-8")
        return
    assert found[2] == text, f"{page.name} quotes what is no longer so: MOOT_WRITE_DOCS=1 writes it anew"


async def lived(tmp_path: Path, settings: Any, platform: Platform, people: Callable[[list[Any]], Any]) -> str:
    """Host a society, mirror it, and let people act; returns what `people` does."""
    async with still_society(tmp_path, settings) as log:
        stop = asyncio.Event()
        gateway = asyncio.create_task(
            run_gateway(
                None,
                {platform.name: Mirroring(build=platform.build)},
                data_dir=tmp_path,
                authority=settings.seat_of,
                stop=stop,
                lifeline=None,
            )
        )
        try:
            return str(await people(log))
        finally:
            stop.set()
            await gateway


def types(log: list[Any]) -> list[str]:
    return [env.body.type for env in log]


def config(tmp_path: Path, platform: str, admin: str) -> Any:
    file = tmp_path / "moot.toml"
    file.write_text(f'[admins]\n{platform} = ["{admin}"]\n')
    return load_settings(file)


@dataclass(frozen=True)
class Platform:
    """One platform in this story: where Ann halts the desk, and who presses what."""

    name: str
    server: Any
    build: Callable[[], Any]
    halts: Callable[[], str]
    said: str
    read: Callable[[Any, str], Iterator[str]]

    def texts(self, channel: str) -> str:
        return "\n".join(self.read(self.server, channel))

    def told(self, act: str) -> list[str]:
        return [reply.text for reply in self.server.replies(act)]


def discord_platform(server: DiscordServer) -> Platform:
    for name in NAMES:
        server.add_channel(name, "Moot")
    return Platform(
        "discord",
        server,
        partial(DiscordSurface, guild=server.guild_id, api=server.api, gateway=server.gateway),
        partial(server.person_writes, "ann", "b-risk", "/halt the quotes look wrong"),
        "Ann writes in #b-risk: /halt the quotes look wrong",
        on_discord,
    )


def slack_platform(server: SlackServer) -> Platform:
    return Platform(
        "slack",
        server,
        partial(SlackSurface, api=server.api),
        partial(server.person_commands, "ann", "b-risk", "/moot", "halt the quotes look wrong"),
        "Ann in #b-risk: /moot halt the quotes look wrong",
        on_slack,
    )


async def story(platform: Platform, log: list[Any]) -> str:
    """Ann halts the desk, Eve tries to answer the escalation, Ann answers it, and answers it again."""
    server, lines = platform.server, []
    await until(lambda: "opens" in "".join(m.text for m in server.messages("admin")))
    halt = platform.halts()
    await until(lambda: "ESCALATION" in types(log) and platform.told(halt))
    lines += [platform.said, f"    Moot: {platform.told(halt)[0]}", "", "#b-risk"]
    await until(lambda: "[ 1: " in platform.texts("admin") and platform.texts("b-risk"))
    lines += [*platform.read(server, "b-risk"), "", "#admin", *platform.read(server, "admin"), ""]
    label = re.search(r"\[ (1: [^\]]+) \]", platform.texts("admin").replace("\n    ", " "))
    assert label is not None
    asked = next(m for m in server.messages("admin") if "escalates" in m.text)
    seen = len(list(platform.read(server, "admin")))
    for who in ("eve", "ann", "ann"):
        act = server.person_clicks(who, asked.id, label[1])
        await until(lambda act=act: platform.told(act))  # type: ignore[misc]
        lines += [f"{who.capitalize()} presses [ {label[1]} ]"]
        lines += wrapped(
            [f"Moot, to {who.capitalize()} alone: {text}" for text in platform.told(act)], " " * 4
        )
    await until(lambda: "[ 1: " not in (told := platform.texts("admin")) and "resolves esc" in told)
    lines += ["", "#admin", *list(platform.read(server, "admin"))[seen:], ""]
    return "\n".join(lines)


@pytest.fixture(params=["discord", "slack"])
def platform(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    if request.param == "discord":
        with DiscordServer() as server:
            monkeypatch.setenv("MOOT_DISCORD_TOKEN", server.token)
            yield discord_platform(server)
    else:
        with SlackServer(*NAMES, scale=0.05) as workspace:
            monkeypatch.setenv("MOOT_SLACK_BOT_TOKEN", workspace.bot_token)
            monkeypatch.setenv("MOOT_SLACK_APP_TOKEN", workspace.app_token)
            yield slack_platform(workspace)


def test_an_escalation_goes_as_the_page_says(platform: Platform, tmp_path: Path) -> None:
    server = platform.server
    settings = config(tmp_path, platform.name, server.user_id("ann"))
    text = asyncio.run(lived(tmp_path, settings, platform, partial(story, platform)))
    for user in ("ann", "eve"):
        text = text.replace(server.user_id(user), f"{user.upper()}S_ID")
    assert server.pings == []
    quoted(PAGES / f"{platform.name}.md", text)
