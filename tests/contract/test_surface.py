"""Every surface keeps the promises of `channels.surface.Surface`."""

import asyncio
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from rich.console import Console

from channels.rendering import card
from channels.surface import (
    ActReply,
    InboundAct,
    Posting,
    Surface,
    SurfaceConfigError,
    SurfaceError,
    load_surface,
)
from channels.terminal import TerminalSurface
from tests.doubles.fake_platform import FakePlatform, PlatformFile
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until


@dataclass
class Platform:
    """A platform under test: how to build its surface, what it shows, and how a person acts there."""

    build: Callable[[], Surface]
    shown: Callable[[], str]
    person_writes: Callable[[str], str] = lambda _text: ""
    reply: Callable[[str], ActReply | None] = lambda _act_id: None


WRITABLE = ("fake", "forgetful")
"""Platforms on which people can act."""


@pytest.fixture(params=["terminal", "plain", *WRITABLE])
def platform(request, tmp_path) -> Iterator[Platform]:
    if request.param in ("terminal", "plain"):
        out = io.StringIO()
        console = Console(file=out, force_terminal=request.param == "terminal", width=80)
        yield Platform(lambda: TerminalSurface(console=console), out.getvalue)
        return
    path = str(tmp_path / "platform.sqlite")
    file = PlatformFile(path)
    yield Platform(
        lambda: FakePlatform(path=path, supports_nonce=request.param == "fake"),
        lambda: "\n".join(post.text for post in file.posts()),
        lambda text: file.person_does("note", "#a-arena", text=text),
        file.reply_to,
    )
    file.close()


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
            await surface.start(inbound, SurfaceMemory())
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


def test_a_surface_that_was_never_started_closes(platform):
    async def main():
        await platform.build().close()

    asyncio.run(main())


@pytest.mark.parametrize("platform", WRITABLE, indirect=True)
def test_what_people_do_comes_in_with_platform_user_and_message_id(platform):
    acts: list[InboundAct] = []

    async def inbound(act):
        acts.append(act)
        return ActReply("thank you", seq=7)

    act_id = platform.person_writes("look at the tail risk")

    async def use(surface):
        await until(lambda: platform.reply(act_id))

    on(platform, use, inbound)
    (act,) = acts
    assert (act.platform, act.user_id, act.channel, act.kind) == ("fake", "ana", "#a-arena", "note")
    assert act.platform_message_id == act_id
    assert act.fields == {"text": "look at the tail risk"}
    assert platform.reply(act_id) == ActReply("thank you", seq=7)


@pytest.mark.parametrize("platform", WRITABLE, indirect=True)
def test_an_act_that_was_not_answered_comes_again_after_a_new_start(platform):
    acts: list[InboundAct] = []

    async def never(act):
        acts.append(act)
        await asyncio.Event().wait()

    async def inbound(act):
        acts.append(act)
        return ActReply("thank you")

    act_id = platform.person_writes("hello?")
    on(platform, lambda surface: until(lambda: acts), never)
    on(platform, lambda surface: until(lambda: platform.reply(act_id)), inbound)
    first, second = acts
    assert first.platform_message_id == second.platform_message_id == act_id


def test_a_surface_is_built_from_a_dotted_name_and_options(tmp_path):
    surface = load_surface(
        "tests.doubles.fake_platform:FakePlatform", {"path": str(tmp_path / "p.sqlite"), "name": "chat"}
    )
    assert isinstance(surface, FakePlatform)
    assert surface.name == "chat"
    asyncio.run(surface.close())
    assert load_surface("channels.terminal:TerminalSurface", {}).name == "terminal"


@pytest.mark.parametrize(
    ("dotted", "options", "says"),
    [
        ("channels.terminal", {}, "write it as package.module:Class"),
        (":TerminalSurface", {}, "write it as package.module:Class"),
        ("channels.nowhere:X", {}, "No module named 'channels.nowhere'"),
        ("channels.terminal:X", {}, "channels.terminal has no X"),
        ("channels.terminal:NARROW", {}, "it is no Surface"),
        ("channels.terminal:TerminalSurface", {"colour": 1}, "unexpected keyword argument 'colour'"),
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
