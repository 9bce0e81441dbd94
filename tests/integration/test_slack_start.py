"""What keeps a Slack surface from starting or working is told in one calm line."""

import asyncio
import logging

import pytest
from structlog.testing import capture_logs

from moot.channels.slack import SlackSurface, socket_mode
from moot.channels.surface import SurfaceConfigError, SurfaceDown, load_surface
from tests.doubles.live_slack import Society, living, slack_server
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until


@pytest.fixture
def server(monkeypatch):
    with slack_server(monkeypatch) as running:
        yield running


def refusal(server, **options):
    async def main():
        surface = SlackSurface(api=server.api, **options)
        with pytest.raises((SurfaceConfigError, SurfaceDown)) as caught:
            await surface.start(Society(), SurfaceMemory())
        await surface.close()
        await surface.close()
        return caught.value

    error = asyncio.run(main())
    for secret in (server.bot_token, server.app_token, server.signing_secret):
        assert secret not in str(error)
    assert "\n" not in str(error)
    return error


@pytest.mark.parametrize(
    ("token", "code", "says"),
    [
        ("bot_token", "invalid_auth", "Slack refuses the bot token (invalid_auth): copy it again"),
        ("bot_token", "account_inactive", "reinstall it and copy the new token"),
        ("app_token", "invalid_auth", "Slack refuses the app token (invalid_auth): copy it again"),
        ("app_token", "not_allowed_token_type", "another kind of token"),
    ],
)
def test_a_wrong_token_is_named_with_what_to_do(server, token, code, says):
    server.spoil_token(code, getattr(server, token))
    error = refusal(server)
    assert isinstance(error, SurfaceConfigError)
    assert says in str(error)


@pytest.mark.parametrize("scope", ["chat:write", "chat:write.customize", "channels:history", "commands"])
def test_a_missing_scope_is_named_with_where_to_click(server, scope):
    server.drop_scope(scope)
    error = refusal(server)
    assert isinstance(error, SurfaceConfigError)
    assert f"add {scope} under OAuth & Permissions" in str(error)
    assert "Reinstall to Workspace" in str(error)


def test_an_app_token_without_its_scope_says_which(server):
    server.set_scopes(token=server.app_token)
    assert "connections:write" in str(refusal(server))


def test_socket_mode_that_is_switched_off_is_told(server):
    server.faults.add("apps.connections.open", 1, "error", code="socket_mode_not_enabled")
    error = refusal(server)
    assert isinstance(error, SurfaceConfigError)
    assert "switch it on in the app's settings" in str(error)


def test_a_slack_that_is_down_is_tried_again_later(server):
    server.stop()
    error = refusal(server)
    assert isinstance(error, SurfaceDown)
    assert "Slack cannot be reached" in str(error)


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("MOOT_SLACK_BOT_TOKEN", "", "set MOOT_SLACK_BOT_TOKEN, or name a file in bot_token_file"),
        ("MOOT_SLACK_APP_TOKEN", "", "set MOOT_SLACK_APP_TOKEN, or name a file in app_token_file"),
        ("MOOT_SLACK_BOT_TOKEN", "xapp-1-swapped", "begins with xoxb-"),
        ("MOOT_SLACK_APP_TOKEN", "xoxb-1-swapped", "begins with xapp-"),
    ],
)
def test_a_token_that_is_not_there_or_swapped_is_told(server, monkeypatch, variable, value, says):
    monkeypatch.setenv(variable, value)
    assert says in str(refusal(server))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "carrier pigeon"}, "mode is socket or http"),
        ({"port": 70_000}, "port is a number"),
        ({"port": True}, "port is a number"),
        ({"prefix": "Moot!"}, "prefix is at most 40"),
        ({"api": "slack"}, "api is an address"),
        ({"host": ""}, "host is a name"),
        ({"bot_token": "xoxb-in-the-open"}, "bot_token_file"),
        ({"colour": 1}, "has no option 'colour'; it takes mode, host, port"),
    ],
)
def test_an_option_that_cannot_be_meant_so_gets_one_line(options, says):
    with pytest.raises(SurfaceConfigError) as caught:
        load_surface("moot.channels.slack:SlackSurface", options)
    assert says in str(caught.value)
    assert "in-the-open" not in str(caught.value)


def test_channels_that_are_not_there_do_not_keep_the_others_from_working(monkeypatch):
    with slack_server(monkeypatch, "admin") as server:

        async def main():
            async with living(server) as surface:
                assert surface.port is None

        with capture_logs() as lines:
            asyncio.run(main())
        (line,) = [line for line in lines if line["event"] == "slack channels missing"]
        assert line["to_do"] == "run: moot slack setup"
        assert "#a-arena" in line["channels"]


async def test_an_app_token_that_is_revoked_meanwhile_ends_the_watch(server):
    async with living(server) as surface:
        watching = asyncio.create_task(surface.watch())
        server.spoil_token("token_revoked", server.app_token)
        server.cut()
        with pytest.raises(SurfaceConfigError, match="the app token"):
            await watching


async def test_a_connection_that_does_not_come_back_ends_the_watch(server, monkeypatch):
    monkeypatch.setattr(socket_mode, "LOST_S", 0.5)

    async with living(server) as surface:
        watching = asyncio.create_task(surface.watch())
        await asyncio.to_thread(server.stop)
        with pytest.raises(SurfaceDown, match="did not come back"):
            await watching


def attempts(server):
    return [call for call in server.calls if call.method == "socket"]


async def test_an_address_for_the_connection_is_used_once(server, monkeypatch):
    """A ticket that went stale on the way is not tried for ever, as the library would."""

    monkeypatch.setattr(socket_mode, "ATTEMPT_S", 4.0)
    async with living(server) as surface:
        watching = asyncio.create_task(surface.watch())
        server.sockets.ticket_ttl_s = -1.0
        opened, tried = server.opened, len(attempts(server))
        server.cut()
        await until(lambda: len(attempts(server)) > tried, within_s=60.0)
        server.sockets.ticket_ttl_s = 30.0
        await until(lambda: server.opened > opened, within_s=50.0)
        assert not watching.done()
        watching.cancel()


async def test_a_connection_that_answers_no_pings_is_replaced(server):
    server.be_zombie()

    async with living(server) as surface:
        watching = asyncio.create_task(surface.watch())
        server.be_zombie(False)
        opened = server.opened
        await until(lambda: server.opened > opened, within_s=60.0)
        assert not watching.done()
        watching.cancel()


def test_no_token_is_in_a_repr_or_a_log_line(server):
    async def main():
        async with living(server) as surface:
            return repr(surface), repr(surface._options)

    with capture_logs() as lines:
        told = asyncio.run(main())
    for secret in (server.bot_token, server.app_token, server.signing_secret):
        assert secret not in str(told)
        assert secret not in str(lines)


def test_what_the_libraries_log_is_all_that_our_handler_of_it_hears(server):
    """Bolt gives every logger that it makes the handlers of the one that it was given."""
    log = logging.getLogger("moot")

    async def main():
        async with living(server):
            return [*log.handlers, *logging.getLogger().handlers]

    assert not [one for one in asyncio.run(main()) if type(one).__module__.startswith("moot.channels.")]
