"""A Slack surface against the fake Slack server, in a test's hands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from moot.channels.outbox.pacing import UNPACED
from moot.channels.showing.rendering import card
from moot.channels.slack import SlackSurface
from moot.channels.surface import ActReply, InboundAct, Memory, PlatformMessageId, Posting
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.rulebook import rulebook
from tests.doubles.slack_faults import Limits
from tests.doubles.slack_server import SlackServer
from tests.doubles.surface_memory import SurfaceMemory

ALL = tuple(channel.name.removeprefix("#") for channel in rulebook().public)


@contextmanager
def slack_server(monkeypatch: pytest.MonkeyPatch, *channels: str, **how: Any) -> Iterator[SlackServer]:
    """Run a server without paces, its secrets in the environment, by default with every channel of a society."""
    how = {"scale": 0.05, "limits": Limits(scale=0), **how}
    with SlackServer(*(channels or ALL), **how) as server:
        monkeypatch.setenv("MOOT_SLACK_BOT_TOKEN", server.bot_token)
        monkeypatch.setenv("MOOT_SLACK_APP_TOKEN", server.app_token)
        monkeypatch.setenv("MOOT_SLACK_SIGNING_SECRET", server.signing_secret)
        yield server


class Society:
    """Takes acts as the intake does, and says what the test wants."""

    def __init__(self, reply: Callable[[InboundAct], Awaitable[ActReply]] | None = None) -> None:
        self.acts: list[InboundAct] = []
        self._reply = reply

    async def __call__(self, act: InboundAct) -> ActReply:
        self.acts.append(act)
        if self._reply is not None:
            return await self._reply(act)
        return ActReply(f"Noted as message {len(self.acts)}.", seq=len(self.acts))

    @property
    def texts(self) -> list[object]:
        return [act.fields.get("text") for act in self.acts]


async def never(_act: InboundAct) -> ActReply:
    await asyncio.Event().wait()
    raise AssertionError


@asynccontextmanager
async def living(
    server: SlackServer, society: Society | None = None, memory: Memory | None = None, **options: Any
) -> AsyncIterator[SlackSurface]:
    """Start a surface, and close it at the end."""
    surface = SlackSurface(api=server.api, **options)
    try:
        await surface.start(society or Society(), memory or SurfaceMemory())
        yield surface
    finally:
        await surface.close()


def posting(envelope: Envelope, **more: Any) -> Posting:
    """Return what the outbox would post for a message."""
    given: dict[str, Any] = {
        "seq": envelope.seq,
        "envelope": envelope,
        "channel": envelope.channel,
        "thread": envelope.case_id,
        "root": None,
        "in_reply_to": None,
        "nonce": f"log:{envelope.seq}",
        "rendering": card(envelope),
    }
    return Posting(**{**given, **more})


def id_(text: str) -> PlatformMessageId:
    return PlatformMessageId(text)


class UnpacedSlack(SlackSurface):
    """Posts as fast as the server takes it."""

    pace = UNPACED
