"""A Slack surface in the hands of an adversary: what its scenes share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from moot.channels.showing.rendering import Button, card
from moot.channels.slack import SlackSurface
from moot.channels.surface import ActReply, Posting
from tests.doubles.copying import replace
from tests.doubles.slack_faults import Limits
from tests.doubles.slack_server import SlackServer
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until

ESCALATION = "ESC-1"
NASTY = (
    "*b* _i_ `c` ~s~ <!channel> <!here> <@U0ANA> @everyone @here &lt;x&gt; :fire: > q <https://evil.org|ok>"
)
BUTTONS = (
    Button("Acknowledge", "ack", {"escalation_id": ESCALATION}),
    Button("Resume *now* <!here>", "answer", {"escalation_id": ESCALATION, "option": 1, "text": None}),
)


@contextmanager
def workspace(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlackServer]:
    """Run a workspace; at the end nobody was called and no text of ours was markup."""
    with SlackServer("a-arena", "admin", "bridge", scale=0.001, limits=Limits(scale=0)) as server:
        monkeypatch.setenv("MOOT_SLACK_BOT_TOKEN", server.bot_token)
        monkeypatch.setenv("MOOT_SLACK_APP_TOKEN", server.app_token)
        monkeypatch.setenv("MOOT_SLACK_SIGNING_SECRET", server.signing_secret)
        yield server
        assert server.pings == []
        ours = "link to https://moot.slack.com/files/"
        assert [line for line in server.formatted if not line.startswith(ours)] == []


class Society:
    """Takes acts, and answers as told."""

    def __init__(self):
        self.acts = []
        self.answer = lambda act: ActReply(f"kept {len(self.acts)}", seq=len(self.acts))
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def take(self, act):
        self.acts.append(act)
        await self.may_go_on.wait()
        return self.answer(act)

    @property
    def texts(self):
        return [act.fields["text"] for act in self.acts if act.kind == "command"]


@asynccontextmanager
async def mirrored(server, memory=None, society=None, **options):
    """Run the surface; yields it and the society behind it."""
    surface = SlackSurface(api=server.api, **options)
    society = society or Society()
    try:
        await surface.start(society.take, memory or SurfaceMemory())
        yield surface, society
    finally:
        await surface.close()
        await surface.close()


async def read(server, memory):
    """Wait until the history was read that a start asks for."""
    await until(
        lambda: sum(key.startswith("seen/") for key in memory.texts) == len(server.workspace.channels)
    )


def posting(log, text="hello", channel="#a-arena", *, buttons=(), root=None, thread=None):
    envelope = log.say(text, channel)
    return Posting(
        seq=envelope.seq,
        envelope=envelope,
        channel=channel,
        thread=thread,
        root=root,
        in_reply_to=None,
        nonce=f"log:{envelope.seq}",
        rendering=replace(card(envelope), buttons=tuple(buttons)),
    )


def one_line(error):
    text = str(error)
    assert "\n" not in text
    assert 10 < len(text) < 400
    return text


@asynccontextmanager
async def by_http(server):
    async with mirrored(server, mode="http", port=0) as (surface, society):
        url = f"http://127.0.0.1:{surface.port}/slack/events"
        server.use_http(url)
        yield url, surface, society
