import asyncio
import errno

import aiohttp
import pytest

from moot.channels.chat.reasons import reason
from moot.channels.slack.options import SlackOptions
from moot.channels.slack.troubles import HERE, IN_DOUBT, SETUP, SlackSaid, trouble
from moot.channels.slack.web import answer
from moot.channels.surface import SurfaceConfigError, SurfaceDown
from moot.protocols.kernel.redact import redact


@pytest.mark.parametrize(
    "code", [*SETUP, *HERE, *sorted(IN_DOUBT), "missing_scope", "invalid_blocks", "a_new_reason"]
)
@pytest.mark.parametrize("token", ["the bot token", "the app token"])
def test_what_a_code_means_reads_the_same_after_our_redactor(code, token):
    said = SlackSaid(code, {"needed": "chat:write"})
    line = str(trouble(said, where="#moot-a-arena", token=token))
    assert redact(line) == line


@pytest.mark.parametrize("found", ["", " ", "nothing like it", "oops"])
@pytest.mark.parametrize("which", ["bot_token", "app_token"])
def test_what_is_said_about_a_token_reads_the_same_after_our_redactor(monkeypatch, which, found):
    monkeypatch.setenv(f"MOOT_SLACK_{which.upper()}", found)
    with pytest.raises(SurfaceConfigError) as caught:
        getattr(SlackOptions(), which)()
    line = str(caught.value)
    assert redact(line) == line


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed ('10.0.0.1', 443)"),
            "connection refused",
        ),
        (ConnectionResetError(errno.ECONNRESET, "hooks"), "it was reset"),
        (TimeoutError(), "timed out"),
        (aiohttp.ServerDisconnectedError("secret"), "it was closed from there"),
        (aiohttp.ClientPayloadError("secret"), "ClientPayloadError"),
    ],
)
def test_a_reason_is_in_words_and_never_the_errors_own_text(error, says):
    assert reason(error) == says


def test_a_connection_that_is_refused_is_told_calmly():
    async def call():
        async with aiohttp.ClientSession() as session:
            await session.get("http://127.0.0.1:9/")

    with pytest.raises(SurfaceDown) as caught:
        asyncio.run(answer(call()))
    assert str(caught.value) == "Slack cannot be reached: connection refused"
