"""What reaches our log of what discord.py logs, and of an error in a handler."""

import asyncio
import logging

import pytest
from structlog.testing import capture_logs

from moot.channels.discord.connection import Connection
from moot.channels.discord.options import Options

HOOK = "http://127.0.0.1:80/api/v10/webhooks/123456/c2VjcmV0LXRva2Vu?wait=true"


def said(name, *lines):
    logger = logging.getLogger(name)
    with capture_logs() as logs:
        for level, line, *args in lines:
            logger.log(level, line, *args)
    return [(log["log_level"], log["event"], log["said"]) for log in logs]


@pytest.mark.parametrize("name", ["discord.http", "discord.gateway", "discord.webhook.async_"])
def test_a_warning_of_the_library_is_one_calm_line_without_addresses(name):
    found = said(name, (logging.WARNING, f"{name} is rate limited. %s %s gave 429.", "POST", HOOK))
    assert found == [
        (
            "warning",
            "discord library",
            f"{name} is rate limited. POST http://127.0.0.1:80/api/v10/webhooks/123456/[redacted:webhook]"
            "?wait=true gave 429.",
        )
    ]


def test_what_says_nothing_to_anybody_is_dropped():
    assert not said(
        "discord.gateway",
        (logging.WARNING, "Can't keep up, shard ID %s websocket is %.1fs behind.", 0, 11.5),
        (logging.WARNING, "logging in using static token"),
        (logging.INFO, "Shard ID %s has connected to Gateway.", 0),
        (logging.DEBUG, "%s", HOOK),
    )


def test_the_same_line_running_is_written_once():
    line = "Shard ID %s has stopped responding to the gateway. Closing and restarting."
    assert len(said("discord.gateway", (logging.WARNING, line, 0), (logging.WARNING, line, 1))) == 1


def test_a_traceback_of_the_library_becomes_its_type_and_its_place(capfd):
    logger = logging.getLogger("discord.client")
    with capture_logs() as logs:
        logger.warning(
            "heartbeat blocked for %s seconds.\nLoop thread traceback (most recent call last):\n  x", 10
        )
        try:
            raise LookupError("with a word that nobody else may read")
        except LookupError:
            logger.exception("Attempting a reconnect")
    first, second = (log["said"] for log in logs)
    assert first == "heartbeat blocked for 10 seconds."
    assert second.startswith("Attempting a reconnect (LookupError at test_discord_library_log.py:")
    assert "".join(capfd.readouterr()) == "", "nothing goes past our log"


def test_an_error_in_a_handler_is_told_by_its_type_and_its_place():
    class Broken:
        def on_new_session(self):
            raise LookupError("with a word that nobody else may read")

    async def main():
        client = Connection(Options(guild="1"), Broken())
        await client._run_event(client.on_connect, "on_connect")

    with capture_logs() as logs:
        asyncio.run(main())
    (log,) = [log for log in logs if log["event"] == "event not handled"]
    assert log["event_name"] == "on_connect"
    assert log["why"].startswith("LookupError at test_discord_library_log.py:")
    assert "exc_info" not in log
