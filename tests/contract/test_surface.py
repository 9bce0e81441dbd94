"""Every surface keeps the promises of `moot.channels.surface.Surface`."""

import asyncio
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from rich.console import Console

from moot.channels.discord import DiscordSurface
from moot.channels.showing.rendering import card
from moot.channels.slack import SlackSurface
from moot.channels.surface import (
    ActReply,
    InboundAct,
    Posting,
    Surface,
    SurfaceConfigError,
    SurfaceDown,
    SurfaceError,
    load_surface,
)
from moot.channels.terminal import TerminalSurface
from tests.doubles.discord_server import DiscordServer
from tests.doubles.fake_platform import FakePlatform, PlatformFile
from tests.doubles.slack_server import SlackServer
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until

CHANNELS = ("a-arena", "admin", "bridge")


@dataclass
class Platform:
    """A platform under test: how to build its surface, what it shows, and how a person acts there."""

    name: str
    build: Callable[[], Surface]
    shown: Callable[[], str]
    person_writes: Callable[[str], str] = lambda _text: ""
    replies: Callable[[str], object] = lambda _act_id: None
    user_id: str = "ana"
    memory: SurfaceMemory = field(default_factory=SurfaceMemory)


WRITABLE = ("fake", "forgetful", "discord", "slack")
"""Platforms on which people can act."""


@pytest.fixture(params=["terminal", "plain", *WRITABLE])
def platform(request, tmp_path, monkeypatch) -> Iterator[Platform]:
    match request.param:
        case "terminal" | "plain":
            yield on_terminal(is_terminal=request.param == "terminal")
        case "discord":
            with DiscordServer() as server:
                monkeypatch.setenv("MOOT_DISCORD_TOKEN", server.token)
                yield on_discord(server)
                assert server.pings == []
        case "slack":
            with SlackServer(*CHANNELS, scale=0.05) as server:
                monkeypatch.setenv("MOOT_SLACK_BOT_TOKEN", server.bot_token)
                monkeypatch.setenv("MOOT_SLACK_APP_TOKEN", server.app_token)
                yield on_slack(server)
                assert server.pings == []
        case how:
            file = PlatformFile(tmp_path / "platform.sqlite")
            yield on_fake(str(tmp_path / "platform.sqlite"), file, supports_nonce=how == "fake")
            file.close()


def on_terminal(*, is_terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, width=80)
    return Platform("terminal", lambda: TerminalSurface(console=console), out.getvalue)


def on_fake(path, file, *, supports_nonce):
    return Platform(
        "fake",
        lambda: FakePlatform(path=path, supports_nonce=supports_nonce),
        lambda: "\n".join(post.text for post in file.posts()),
        lambda text: file.person_does("note", "#a-arena", text=text),
        file.reply_to,
    )


def on_discord(server):
    for name in CHANNELS:
        server.add_channel(name, "Moot")
    return Platform(
        "discord",
        lambda: DiscordSurface(guild=server.guild_id, api=server.api, gateway=server.gateway),
        lambda: "\n".join(message.text for message in server.messages()),
        lambda text: server.person_writes("ana", "a-arena", text),
        server.replies,
        server.user_id("ana"),
    )


def on_slack(server):
    return Platform(
        "slack",
        lambda: SlackSurface(api=server.api),
        lambda: "\n".join(message.text for name in CHANNELS for message in server.messages(name)),
        lambda text: server.person_writes("ana", "a-arena", text),
        server.replies,
        server.user_id("ana"),
    )


def posting(log, text, channel="#a-arena", nonce=None):
    envelope = log.say(text, channel)
    return Posting(
        seq=envelope.seq,
        envelope=envelope,
        channel=channel,
        thread=None,
        root=None,
        in_reply_to=None,
        nonce=nonce or f"log:{envelope.seq}",
        rendering=card(envelope),
    )


async def nobody(_act):
    raise AssertionError("nobody acts here")


def on(platform, use, inbound=nobody):
    async def main():
        surface = platform.build()
        try:
            await surface.start(inbound, platform.memory)
            return await use(surface)
        finally:
            await surface.close()
            await surface.close()

    return asyncio.run(main())


def test_a_post_is_shown_and_has_an_id_of_its_own(platform):
    log = SmallLog()

    async def use(surface):
        return [await surface.post(posting(log, f"message {n}")) for n in range(3)]

    ids = on(platform, use)
    assert len(set(ids)) == 3
    assert all(isinstance(id_, str) and id_ for id_ in ids)
    for n in range(3):
        assert f"message {n}" in platform.shown()


def test_text_is_never_markup(platform):
    log = SmallLog()
    text = "[bold red]x[/bold red] *y* `z` <b>w</b> @everyone :smile: [/]"
    on(platform, lambda surface: surface.post(posting(log, text)))
    assert text in " ".join(platform.shown().split())


def test_several_channels_are_posted_to_at_once(platform):
    log = SmallLog()

    async def use(surface):
        await asyncio.gather(
            *(surface.post(posting(log, f"in {c}", c)) for c in ("#a-arena", "#admin", "#bridge"))
        )

    on(platform, use)
    assert all(f"in {c}" in platform.shown() for c in ("#a-arena", "#admin", "#bridge"))


def test_find_knows_every_post_also_after_a_new_start_or_says_nothing(platform):
    log = SmallLog()
    here, elsewhere = posting(log, "here"), posting(log, "never posted")

    async def post(surface):
        return await surface.post(here), surface.capabilities.supports_nonce

    id_, can_find = on(platform, post)
    found = on(platform, lambda surface: surface.find(here))
    assert found == (id_ if can_find else None)
    assert on(platform, lambda surface: surface.find(elsewhere)) is None


def test_watch_does_not_return_while_the_surface_works(platform):
    async def use(surface):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(surface.watch(), 0.02)

    on(platform, use)


async def test_a_surface_that_was_never_started_closes(platform):
    await platform.build().close()


@pytest.mark.parametrize("platform", WRITABLE, indirect=True)
def test_what_people_do_comes_in_with_platform_user_and_message_id(platform):
    acts: list[InboundAct] = []

    async def inbound(act):
        acts.append(act)
        return ActReply("thank you", seq=7)

    async def use(surface):
        act_id = platform.person_writes("look at the tail risk")
        await until(lambda: platform.replies(act_id))
        return act_id

    act_id = on(platform, use, inbound)
    (act,) = acts
    assert (act.platform, act.user_id, act.channel) == (platform.name, platform.user_id, "#a-arena")
    assert act.platform_message_id == act_id
    assert act.kind in ("note", "command") and act.fields == {"text": "look at the tail risk"}


@pytest.mark.parametrize("platform", WRITABLE, indirect=True)
def test_an_act_that_was_not_answered_comes_again_after_a_new_start(platform):
    acts: list[InboundAct] = []

    async def never(act):
        acts.append(act)
        await asyncio.Event().wait()

    async def inbound(act):
        acts.append(act)
        return ActReply("thank you")

    async def say(surface):
        act_id = platform.person_writes("hello?")
        await until(lambda: acts)
        return act_id

    act_id = on(platform, say, never)
    on(platform, lambda surface: until(lambda: platform.replies(act_id)), inbound)
    assert len(acts) >= 2 and {act.platform_message_id for act in acts} == {act_id}


@pytest.mark.parametrize("platform", WRITABLE, indirect=True)
def test_what_people_do_while_nobody_is_connected_comes_in_after_the_next_start(platform):
    acts: list[InboundAct] = []

    async def inbound(act):
        acts.append(act)
        return ActReply("thank you")

    async def say(surface):
        act_id = platform.person_writes("first")
        await until(lambda: platform.replies(act_id))

    on(platform, say, inbound)
    missed = [platform.person_writes(f"missed {n}") for n in range(3)]
    on(platform, lambda surface: until(lambda: all(platform.replies(act_id) for act_id in missed)), inbound)
    assert [act.fields["text"] for act in acts if act.platform_message_id in missed] == [
        f"missed {n}" for n in range(3)
    ]


def test_a_surface_is_built_from_a_dotted_name_and_options(tmp_path):
    surface = load_surface(
        "tests.doubles.fake_platform:FakePlatform", {"path": str(tmp_path / "p.sqlite"), "name": "chat"}
    )
    assert isinstance(surface, FakePlatform)
    assert surface.name == "chat"
    asyncio.run(surface.close())
    assert load_surface("moot.channels.terminal:TerminalSurface", {}).name == "terminal"


@pytest.mark.parametrize(
    ("dotted", "options", "says"),
    [
        ("moot.channels.terminal", {}, "write it as package.module:Class"),
        (":TerminalSurface", {}, "write it as package.module:Class"),
        ("moot.channels.nowhere:X", {}, "No module named 'moot.channels.nowhere'"),
        ("moot.channels.terminal:X", {}, "moot.channels.terminal has no X"),
        ("moot.channels.terminal:NARROW", {}, "it is no Surface"),
        (
            "moot.channels.terminal:TerminalSurface",
            {"colour": 1},
            "has no option 'colour'; it takes console, file",
        ),
    ],
)
def test_a_configuration_that_builds_nothing_gets_one_line(dotted, options, says):
    with pytest.raises(SurfaceConfigError) as caught:
        load_surface(dotted, options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, SurfaceError)


def test_the_terminal_is_plain_without_a_terminal_and_honours_no_color(monkeypatch):
    log = SmallLog()
    envelope = log.say("word " * 40)
    out = io.StringIO()
    TerminalSurface(file=out).show(envelope)
    (line,) = out.getvalue().splitlines()
    assert line.startswith("10:00  #a-arena     Critic        notes: word word")
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    TerminalSurface(console=Console(file=out, force_terminal=True, width=80)).show(envelope)
    assert "\x1b[3" not in out.getvalue()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm-256color")
    out = io.StringIO()
    TerminalSurface(console=Console(file=out, force_terminal=True, width=80)).show(envelope)
    assert "\x1b[1;31mCritic" in out.getvalue()


@pytest.mark.parametrize("error", [OSError(5, "nobody reads"), BrokenPipeError(32, "nobody reads")])
def test_a_terminal_that_is_gone_is_down_and_shows_each_message_once_when_it_is_back(error):
    class Pipe(io.StringIO):
        is_cut = True

        def write(self, text):
            if self.is_cut:
                raise error
            return super().write(text)

    log, out = SmallLog(), Pipe()
    surface = TerminalSurface(file=out)

    async def main():
        for _time in range(3):
            with pytest.raises(SurfaceDown) as caught:
                await surface.post(posting(log, "lost"))
            assert not caught.value.maybe_posted
        out.is_cut = False
        await surface.post(posting(log, "back"))

    asyncio.run(main())
    assert out.getvalue().count("lost") == 0 and out.getvalue().count("back") == 1


@pytest.mark.parametrize("width", [20, 40, 69, 70, 120])
def test_a_terminal_of_any_width_shows_every_word_within_its_columns(width):
    log = SmallLog()
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=width, color_system=None)
    TerminalSurface(console=console).show(log.say("alpha beta gamma delta " * 5))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert " ".join(out.getvalue().split()).endswith("alpha beta gamma delta")


def test_nothing_that_people_write_moves_the_cursor():
    log = SmallLog()
    out = io.StringIO()
    TerminalSurface(file=out).show(log.say("a\x1b[2J\rb\x07"))
    assert not [c for c in out.getvalue() if ord(c) < 32 and c != "\n"]
