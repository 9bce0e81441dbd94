"""Starting on Discord: what must be right first, and what a person is told when it is not."""

import asyncio
import os
import threading

import pytest

from moot.channels.discord.library import KeepAliveHandler
from moot.channels.surface import SurfaceConfigError, SurfaceDown, SurfaceError, load_surface
from tests.doubles.discord_faults import garbage, limited, status
from tests.doubles.discord_server import DiscordServer
from tests.doubles.on_discord import TOKEN, Inbox, options, posting, started, until, with_channels
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory


@pytest.fixture
def server():
    with DiscordServer() as running:
        yield with_channels(running)


def refused(server, *, token=None, **more):
    """Start, and return the error; no part of a token is in it, nor in what led to it."""

    async def main():
        surface = load_surface("moot.channels.discord:DiscordSurface", options(server, **more))
        try:
            with pytest.raises(SurfaceError) as caught:
                await surface.start(Inbox(), SurfaceMemory())
        finally:
            await surface.close()
        return caught.value

    os.environ[TOKEN] = server.token if token is None else token
    try:
        error = asyncio.run(main())
    finally:
        del os.environ[TOKEN]
    assert "\n" not in str(error)
    shown = (
        repr(error) + repr(error.__cause__) + ("" if error.__suppress_context__ else repr(error.__context__))
    )
    assert server.token not in shown
    return error


def test_a_wrong_token_is_told_with_where_to_get_a_right_one(server):
    error = refused(server, token="MTk.wrong.token")
    assert isinstance(error, SurfaceConfigError)
    assert "Developer Portal → your application → Bot → Reset Token" in str(error)
    assert "MTk" not in str(error)


@pytest.mark.parametrize(
    ("token", "says"), [("", "set MOOT_DISCORD_TOKEN"), ("   ", "it is blank"), ("a b", "white space")]
)
def test_a_missing_or_mangled_token_is_told(server, token, says):
    assert says in str(refused(server, token=token))


def test_a_missing_intent_is_told_with_where_to_click(server):
    server.message_content(False)
    error = refused(server)
    assert isinstance(error, SurfaceConfigError)
    assert 'Developer Portal open your application → Bot, switch on "Message Content Intent"' in str(error)


@pytest.mark.parametrize("code", [4014, 4004])
async def test_a_gateway_that_hangs_up_for_good_says_why(server, code):
    async with started(server) as surface:
        watching = asyncio.create_task(surface.watch())
        await until(lambda: server.connections == 1)
        server.close_gateway(code)
        with pytest.raises(SurfaceConfigError, match="Message Content" if code == 4014 else "bot's token"):
            await watching


@pytest.mark.parametrize("times", [1, 1_000])
def test_a_gateway_that_hangs_up_before_it_says_hello_is_told_in_one_line(server, times):
    server._gateway.hangs_up_first = times
    error = refused(server)
    assert isinstance(error, SurfaceDown)
    assert str(error) == "Discord's gateway hung up before it said hello"


def test_a_gateway_that_hangs_up_before_hello_again_and_again_ends_the_connection(server):
    """The library would resume at once, for ever."""

    async def main():
        async with started(server) as surface:
            watching = asyncio.create_task(surface.watch())
            await until(lambda: server.connections == 1)
            server._gateway.hangs_up_first = 1_000
            server.close_gateway(4000)
            with pytest.raises(SurfaceDown, match="hangs up as soon as it is reached"):
                await asyncio.wait_for(watching, 60)
            return 1_000 - server._gateway.hangs_up_first

    assert asyncio.run(main()) <= 10


@pytest.mark.parametrize("code", [1000, 4000, 4009, 1011])
async def test_a_gateway_that_hangs_up_for_now_is_connected_to_again(server, code):
    inbox = Inbox()

    async with started(server, inbox) as surface:
        id = server.person_writes("ana", "a-arena", "one")
        await until(lambda: server.replies(id))
        watching = asyncio.create_task(surface.watch())
        server.close_gateway(code)
        server.person_writes("ana", "a-arena", "two")
        await until(lambda: len(inbox.acts) == 2)
        assert not watching.done()
        watching.cancel()


def test_a_gateway_that_falls_silent_is_left_and_connected_to_again():
    inbox = Inbox()

    async def main(server):
        async with started(server, inbox, heartbeat_timeout_s=0.4) as surface:
            watching = asyncio.create_task(surface.watch())
            await until(lambda: server.connections == 1)
            server.zombie()
            server.person_writes("ana", "a-arena", "said into the silence")
            await until(lambda: inbox.acts or watching.done())
            watching.cancel()

    with DiscordServer(heartbeat_s=0.1) as server:
        asyncio.run(main(with_channels(server)))
    assert inbox.texts == ["said into the silence"]


def test_a_connection_that_is_still_being_made_leaves_no_heartbeat_behind():
    """Between the hello and a new identification the library waits for five seconds, its heartbeat already on."""

    async def main(server):
        async with started(server) as surface:
            watching = asyncio.create_task(surface.watch())
            await until(lambda: server.connections == 1)
            before = beating()
            server.invalidate(resumable=False)
            await until(lambda: beating() - before)
            watching.cancel()

    with DiscordServer(heartbeat_s=60.0) as server:
        asyncio.run(main(with_channels(server)))
    assert not beating()


def beating():
    """Return the library's heartbeats that live in this process."""
    return {one for one in threading.enumerate() if isinstance(one, KeepAliveHandler)}


def test_a_bot_that_is_not_in_the_server_gets_the_link_that_invites_it(server):
    error = refused(server, guild="123456789")
    assert isinstance(error, SurfaceConfigError)
    assert f"client_id={server.application_id}" in str(error)
    assert "https://discord.com/oauth2/authorize" in str(error)


def test_without_a_server_in_the_configuration_it_says_what_lists_them(server):
    assert "moot discord setup" in str(refused(server, guild=""))


def test_webhooks_that_are_not_shown_need_a_person(server):
    server.deny("MANAGE_WEBHOOKS")
    error = refused(server)
    assert isinstance(error, SurfaceConfigError)
    assert "see the webhooks" in str(error)
    assert "moot discord setup --check" in str(error)


def test_a_platform_that_is_away_is_tried_again(server):
    server.stop()
    error = refused(server)
    assert isinstance(error, SurfaceDown)
    assert "cannot be reached" in str(error)
    assert error.everywhere
    server.start()


@pytest.mark.parametrize("fault", [status(503), garbage(), limited(45), status(429, "error code: 1015")])
@pytest.mark.parametrize("path", ["GET /users/@me", "GET /guilds/*/webhooks", "GET /applications/*/emojis"])
def test_an_answer_that_cannot_be_used_is_no_crash(server, fault, path):
    server.faults.add(path, None, fault)
    error = refused(server)
    assert not isinstance(error, SurfaceConfigError)


def test_it_starts_again_and_again_and_leaves_nothing_behind(server):
    log = SmallLog()

    async def main():
        for n in range(5):
            async with started(server) as surface:
                if n % 2:
                    await surface.post(posting(log, str(n)))
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert rest == []

    asyncio.run(main())
    assert len(server.messages("a-arena")) == 2


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"guild": "my server"}, "guild is the server's id"),
        ({"api": "discord.com"}, "api is an address"),
        ({"gateway": "https://x"}, "gateway is an address"),
        ({"prefix": "Big "}, "prefix is at most 40"),
        ({"category": ""}, "category is a heading"),
        ({"token": "x"}, "token does not belong in a configuration"),
        ({"colour": "red"}, "no option 'colour'"),
    ],
)
def test_a_wrong_option_gets_one_line(more, says):
    with pytest.raises(SurfaceConfigError) as caught:
        load_surface("moot.channels.discord:DiscordSurface", more)
    assert says in str(caught.value)


def test_no_secret_is_logged_however_much_the_process_logs(server, caplog):
    log = SmallLog()

    async def main():
        async with started(server) as surface:
            await surface.post(posting(log, "x"))
            server.restart(forget_sessions=True)

    with caplog.at_level("DEBUG"):
        asyncio.run(main())
    secrets = [server.token, *(hook["token"] for hook in server.webhooks())]
    assert len(secrets) == 2
    assert not [secret for secret in secrets if secret in caplog.text]


def test_a_second_server_in_one_process_is_refused_and_the_first_goes_on(server):
    log = SmallLog()

    async def main(elsewhere):
        async with started(server) as surface:
            with pytest.raises(SurfaceConfigError, match="different api or gateway"):
                async with started(elsewhere):
                    pass
            os.environ["MOOT_DISCORD_TOKEN"] = server.token
            assert all(found.is_ok for found in await surface.check() if found.name == "token")
            await surface.post(posting(log, "still here"))
        async with started(elsewhere) as other:
            await other.post(posting(log, "now there"))

    with DiscordServer() as elsewhere:
        asyncio.run(main(with_channels(elsewhere)))
        assert len(elsewhere.messages("a-arena")) == 1
    assert len(server.messages("a-arena")) == 1
