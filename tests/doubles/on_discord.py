"""A society on the Discord double: a surface in this process, or a gateway process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from moot.channels.discord import DiscordSurface
from moot.channels.discord.setup import steps
from moot.channels.showing.rendering import card
from moot.channels.surface import ActReply, InboundAct, PlatformMessageId, Posting, load_surface
from moot.protocols.escalation.messages import Escalation, Option
from moot.protocols.kernel.catalogue import Viewers
from moot.protocols.kernel.seats import REFEREE
from moot.protocols.rulebook import rulebook
from tests.doubles import gateway_running
from tests.doubles.discord_server import DiscordServer
from tests.doubles.read_back import from_discord
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until as eventually

ROOT = Path(__file__).parents[2]
TOKEN = "MOOT_DISCORD_TOKEN"
until = partial(eventually, within_s=60.0)


def with_channels(server: DiscordServer) -> DiscordServer:
    """Give the guild the log's channels."""
    for channel in rulebook().public:
        server.add_channel(channel.name, category="Moot")
    return server


def options(server: DiscordServer, **more: Any) -> dict[str, Any]:
    return {"guild": server.guild_id, "api": server.api, "gateway": server.gateway, **more}


def posting(
    log: SmallLog, text: str, channel: str = "#a-arena", root: str | None = None, **more: Any
) -> Posting:
    envelope = log.say(text, channel, case_id=more.pop("thread", None))
    return Posting(
        seq=envelope.seq,
        envelope=envelope,
        channel=channel,
        thread=envelope.case_id,
        root=None if root is None else PlatformMessageId(root),
        in_reply_to=None,
        nonce=f"log:{envelope.seq}",
        rendering=card(envelope),
        **more,
    )


def escalation(log: SmallLog, id: str = "esc_20260222_1338") -> Posting:
    """Have the log escalate something: two options to answer with."""
    body = Escalation(
        escalation_id=id,
        level="DECISION_NEEDED",
        system="B",
        trigger="the reviewers disagree",
        context="Guardian: elevated, Trader: needs adjustment",
        suggested_actions=("look at the reviews",),
        trigger_code="review_conflict",
        evidence_seqs=(1,),
        options=(
            Option(n=1, label="Do not deploy", effect="reject"),
            Option(n=2, label="Deploy", effect="deploy"),
        ),
    )
    envelope = log.append(body, channel="#admin", author=REFEREE, case_id=id)
    return Posting(
        seq=envelope.seq,
        envelope=envelope,
        channel="#admin",
        thread=id,
        root=None,
        in_reply_to=None,
        nonce=f"log:{envelope.seq}",
        rendering=card(envelope),
    )


class Inbox:
    """An intake that answers everything alike, and remembers it."""

    def __init__(self, reply: ActReply | None = None) -> None:
        self.acts: list[InboundAct] = []
        self.reply = reply or ActReply("Noted as message 7.", seq=7)

    async def __call__(self, act: InboundAct) -> ActReply:
        self.acts.append(act)
        return self.reply

    @property
    def texts(self) -> list[object]:
        return [act.fields.get("text") for act in self.acts]


@asynccontextmanager
async def started(
    server: DiscordServer,
    inbound: Any = None,
    memory: SurfaceMemory | None = None,
    *,
    heartbeat_timeout_s: float = 60.0,
    **more: Any,
) -> AsyncGenerator[DiscordSurface]:
    """Start a surface; what it raises is for the test."""
    os.environ[TOKEN] = server.token
    surface = load_surface("moot.channels.discord:DiscordSurface", options(server, **more))
    assert isinstance(surface, DiscordSurface)
    surface.heartbeat_timeout_s = heartbeat_timeout_s
    try:
        await surface.start(inbound or Inbox(), memory or SurfaceMemory())
        yield surface
    finally:
        await surface.close()
        await surface.close()
        os.environ.pop(TOKEN, None)


def gateway(
    directory: Path, server: DiscordServer, **more: Any
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Run a gateway process with Discord as its only surface; `admins` are user ids."""
    surface = ("moot.channels.discord:DiscordSurface", options(server))
    return gateway_running.gateway(directory, {"discord": surface}, env={TOKEN: server.token}, **more)


def posts(server: DiscordServer, channel: str | None = None) -> list[list[int]]:
    """Return the numbers of the messages that each post stands for, in the order in which they came."""
    return [
        [json.loads(line)["seq"] for line in from_discord(message.payload)]
        for message in server.messages(channel)
        if message.payload is not None
    ]


def seqs(server: DiscordServer, channel: str | None = None) -> list[int]:
    """Return the numbers of all messages that stand in a channel."""
    return [seq for found in posts(server, channel) for seq in found]


async def register(server: DiscordServer) -> None:
    """Register the slash commands, as `moot discord setup` does."""
    async with started(server, Inbox()) as surface:
        async for step in steps(surface._client, surface.options, Viewers()):
            if step.make is not None and step.check.name == "commands":
                await step.make()
