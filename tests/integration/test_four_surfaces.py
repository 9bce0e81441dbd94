"""One society on Discord, Slack, a platform that forgets, and a terminal at once; each is cut off for a while.

The society is a process of its own (`moot up`), the gateway runs here; the platforms are servers over real sockets.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from moot.channels.backoff import Backoff
from moot.channels.discord import DiscordSurface
from moot.channels.gateway.process import Mirroring, run_gateway
from moot.channels.log.lines import open_line
from moot.channels.showing.namebook import NameBook
from moot.channels.slack import SlackSurface
from moot.channels.terminal import TerminalSurface, line
from moot.config.settings import load_settings
from moot.protocols.kernel.officers import ANSWERED_BEFORE
from moot.protocols.rulebook import rulebook
from tests.doubles.discord_server import DiscordServer
from tests.doubles.fake_platform import FakePlatform, PlatformFile
from tests.doubles.read_back import from_discord, from_slack, from_slack_file
from tests.doubles.slack_server import SlackServer
from tests.doubles.up_society import ROOT, UpLog, up_society
from tests.doubles.waiting import until as eventually

until = partial(eventually, within_s=90.0)
NAMES = [channel.name for channel in rulebook().public]
ANN, EVE = "ann", "eve"

CONFIG = """
[schedules]
micro = {{ cron = "*/30 * * * *" }}

[admins]
discord = ["{discord}"]
slack = ["{slack}"]
fake = ["ann"]
"""

Seen = dict[str, Counter[str]]
"""Channel to the log lines that stand there, and how often."""


class Pipe:
    """A terminal's output that can be cut."""

    def __init__(self) -> None:
        self.text = ""
        self.is_cut = False

    def write(self, text: str) -> int:
        if self.is_cut:
            raise OSError(5, "nobody reads")
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


async def moot(*words: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "moot",
        *words,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()


def on_discord(server: DiscordServer) -> Seen:
    seen: Seen = {}
    for name in NAMES:
        posts = [m for m in server.messages(name.removeprefix("#")) if m.payload is not None]
        seen[name] = Counter(text for post in posts for text in from_discord(post.payload or b""))
    return seen


def on_slack(server: SlackServer) -> Seen:
    seen: Seen = {}
    for name in NAMES:
        found: Counter[str] = Counter()
        for post in server.posts(name.removeprefix("#")):
            if post.payload_file is not None:
                found.update(from_slack_file(post.payload_file.content))
            elif post.metadata is not None:
                found.update(from_slack(post.metadata))
        seen[name] = found
    return seen


def on_fake(file: PlatformFile) -> Seen:
    return {name: Counter(post.line for post in file.posts(name)) for name in NAMES}


def mirrored(lines: list[str]) -> list[str]:
    """Leave out what is told to one person alone: an answer to a resolved escalation (R-G13)."""
    return [text for text in lines if f'"event":"{ANSWERED_BEFORE}"' not in text]


def expected(lines: list[str], platform: str) -> Seen:
    """Return what must stand on a platform: all but the notes that people wrote there themselves."""
    seen: Seen = {name: Counter() for name in NAMES}
    for text in mirrored(lines):
        env = open_line(text)
        if env.body.type != "NOTE" or env.actor.platform != platform:
            seen[env.channel][text] += 1
    return seen


def as_shown(lines: list[str]) -> Iterator[str]:
    """Say what a terminal shows, people by the names that the log had given them by then."""
    book = NameBook()
    for text in mirrored(lines):
        envelope = open_line(text)
        book.note(envelope)
        yield line(envelope, book.who).plain


def difference(found: Mapping[str, Counter[str]], wanted: Mapping[str, Counter[str]]) -> str:
    """Say what is missing, and what is there twice; "" when nothing is."""
    said = []
    for name in NAMES:
        for text in (wanted[name] - found[name]).elements():
            said.append(f"{name} lacks {open_line(text).seq}, {open_line(text).body.type}")
        for text in (found[name] - wanted[name]).elements():
            said.append(f"{name} has {open_line(text).seq} too often")
    return "; ".join(said[:8])


def test_the_same_society_on_four_surfaces_each_cut_off_for_a_while(tmp_path: Path, monkeypatch: Any) -> None:
    """Issue of the platforms: nothing lost, nothing twice, and all show the same in the end."""
    names = [name.removeprefix("#") for name in NAMES]
    pipe = Pipe()
    directory, config = tmp_path / "data", tmp_path / "moot.toml"
    with (
        closing(PlatformFile(tmp_path / "platform.sqlite")) as file,
        DiscordServer() as discord,
        SlackServer(*names, scale=0.05) as slack,
    ):
        for name in names:
            discord.add_channel(name, "Moot")
        monkeypatch.setenv("MOOT_DISCORD_TOKEN", discord.token)
        monkeypatch.setenv("MOOT_SLACK_BOT_TOKEN", slack.bot_token)
        monkeypatch.setenv("MOOT_SLACK_APP_TOKEN", slack.app_token)
        config.write_text(CONFIG.format(discord=discord.user_id(ANN), slack=slack.user_id(ANN)))
        settings = load_settings(config)
        surfaces = {
            "discord": Mirroring(
                build=lambda: DiscordSurface(guild=discord.guild_id, api=discord.api, gateway=discord.gateway)
            ),
            "slack": Mirroring(build=lambda: SlackSurface(api=slack.api)),
            "fake": Mirroring(
                build=lambda: FakePlatform(path=str(tmp_path / "platform.sqlite"), plan={"duplicate": 0.3})
            ),
            "terminal": Mirroring(build=lambda: TerminalSurface(file=pipe)),  # type: ignore[arg-type]
        }
        views: dict[str, Callable[[], Seen]] = {
            "discord": lambda: on_discord(discord),
            "slack": lambda: on_slack(slack),
            "fake": lambda: on_fake(file),
        }

        def differences(log: UpLog) -> dict[str, str]:
            lines = log.read()
            found = {name: difference(view(), expected(lines, name)) for name, view in views.items()}
            wanted = Counter(as_shown(lines))
            shown = Counter(pipe.text.splitlines())
            found["terminal"] = str(sorted(((wanted - shown) + (shown - wanted)).elements())[:3]).strip("[]")
            return {name: said for name, said in found.items() if said}

        async def all_equal(log: UpLog) -> None:
            await moot("pause", str(directory))
            for _look in range(180):
                # On a thread: the gateway's loop is this one, and goes on meanwhile.
                if not (found := await asyncio.to_thread(differences, log)):
                    return
                await asyncio.sleep(0.5)
            raise AssertionError(found)

        async def live(log: UpLog) -> None:
            await until(lambda: log.head > 20)
            stop = asyncio.Event()
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
                await until(lambda: all(any(view().values()) for view in views.values()) and pipe.text)
                await cut_each_off(log)
                await people(log)
                await all_equal(log)
            finally:
                stop.set()
                await gateway

        async def cut_each_off(log: UpLog) -> None:
            cuts: list[tuple[Callable[[], None], Callable[[], None]]] = [
                (discord.stop, discord.start),
                (slack.stop, slack.start),
                (lambda: file.switch("down", "1"), lambda: file.switch("down", "0")),
                (lambda: setattr(pipe, "is_cut", True), lambda: setattr(pipe, "is_cut", False)),
            ]
            for cut, mend in cuts:
                cut()
                head = log.head
                await until(lambda head=head: log.head > head + 15)  # type: ignore[misc]
                mend()

        async def people(log: UpLog) -> None:
            on_slack_note = slack.person_writes(ANN, "a-arena", "Slack looks at tail risk")
            on_discord_note = discord.person_writes(EVE, "a-arena", "Discord asks about crowding")
            await until(lambda: log.count("NOTE") == 2)
            slack.person_commands(ANN, "b-risk", "/moot", "halt four surfaces, one desk")
            await until(lambda: log.count("ESCALATION") >= 1)
            await all_equal(log)
            asked = next(m for m in discord.messages("admin") if m.components and "halt" in m.text.lower())
            button = asked.components[1]["custom_id"]  # the post loses it once the escalation is resolved
            stranger = discord.person_clicks(EVE, asked.id, button)
            await until(lambda: any("Refused" in told.text for told in discord.replies(stranger)))
            assert all(told.is_ephemeral for told in discord.replies(stranger))
            click = discord.person_clicks(ANN, asked.id, button)
            await until(lambda: discord.replies(click))
            await until(lambda: log.count("ESCALATION_ANSWER") == 1)
            assert discord.acked_in_time(click) and discord.acked_in_time(stranger)
            same = next(p for p in slack.posts("admin") if p.blocks and "halt" in p.text.lower())
            late = slack.person_clicks(ANN, same.id, button)
            await until(lambda: any("changes nothing" in told.text for told in slack.replies(late)))
            assert on_slack_note and on_discord_note

        with up_society(directory, config) as log:
            asyncio.run(live(log))
        assert discord.pings == [] and slack.pings == []
