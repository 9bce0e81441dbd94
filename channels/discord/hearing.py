"""Hearing: what people write is handed in, each channel of the log in a lane of its own, and people are answered."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final, NoReturn

import structlog

from moot.channels.chat.seen import Seen
from moot.channels.discord.answering import answer, tell
from moot.channels.discord.connection import Connection
from moot.channels.discord.lane import Lane
from moot.channels.discord.library import discord
from moot.channels.discord.places import Places
from moot.channels.discord.wording import EDITED, Said, of_event
from moot.channels.surface import (
    ActReply,
    InboundAct,
    Memory,
    PlatformMessageId,
    SurfaceError,
    TakeAct,
)
from moot.protocols.rulebook import rulebook

MOST_ANSWERS: Final = 8
"""Answers that are sent at once; the others wait."""

MOST_UNTOLD: Final = 1_000
"""Answers that wait; more are left out, for a mark comes too late then to tell anything."""

MOST_RECENT: Final = 10_000
"""Messages that are known to have been handed in."""


class Hearing:
    """Hands in what people write. `run` is its whole life."""

    def __init__(
        self, client: Connection, places: Places, memory: Memory, inbound: TakeAct, name: str
    ) -> None:
        """Connect.

        Args:
            client: Connected.
            places: Where channels are.
            memory: Keeps what was seen.
            inbound: Takes acts.
            name: Name of the surface, `platform` of the acts.
        """
        self._client = client
        self._places = places
        self._inbound = inbound
        self._name = name
        self._lanes = {
            channel: Lane(channel, client, places, memory, self.hand_in, name)
            for channel in sorted(one.name for one in rulebook().public)
        }
        clock = asyncio.get_running_loop().time
        self._recent = Seen(clock, keep_s=math.inf, most=MOST_RECENT)
        self._told_of_edits = Seen(clock, keep_s=math.inf, most=MOST_RECENT)
        self._answering = asyncio.Semaphore(MOST_ANSWERS)
        self._answers: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger().bind(surface=name)

    async def begin(self) -> None:
        """Note where channels stand that were never listened to: what was said before was said to others."""
        for lane in self._lanes.values():
            await lane.begin()

    async def run(self) -> NoReturn:
        """Hand in what is said until cancelled.

        Raises:
            ExceptionGroup: What ended the lanes; a token that is not valid any more is one `SurfaceConfigError` of it.
        """
        try:
            async with asyncio.TaskGroup() as lanes:
                for lane in self._lanes.values():
                    lanes.create_task(lane.run(), name=f"hearing {lane.channel}")
        finally:
            for task in self._answers:
                task.cancel()
            await asyncio.gather(*self._answers, return_exceptions=True)
        raise RuntimeError("the lanes ended")

    def miss(self) -> None:
        """Note that messages may have come unheard: every lane reads the history before it goes on."""
        for lane in self._lanes.values():
            lane.miss()

    def hear(self, message: discord.Message) -> None:
        """Take a message of the gateway."""
        home = self._places.home(message.channel.id)
        if home is not None:
            self._lanes[home.channel].put(message.id, of_event(message))

    def hear_edit(self, message: discord.Message) -> None:
        """Tell a person once that an edit of what was handed in changes nothing."""
        said = of_event(message)
        if said is None or message.edited_at is None or self._places.home(said.channel_id) is None:
            return
        is_ours = str(said.id) in self._recent or any(reaction.me for reaction in message.reactions)
        if is_ours and self._told_of_edits.first_time(str(said.id)):
            self._answer(self._tell_of_edit(said))

    async def hand_in(self, channel: str, said: Said) -> None:
        """Hand in a message, unless it was already, and tell the person what became of it."""
        if not self._recent.first_time(str(said.id)):
            return
        try:
            reply = await self._reply_to(channel, said)
        except Exception as exc:
            self._log.error("message not handed in", message=said.id, why=f"{type(exc).__name__}: {exc}")
            return
        self._answer(answer(self._client, said.channel_id, said.id, reply, user_id=said.user_id))

    async def _reply_to(self, channel: str, said: Said) -> ActReply:
        if said.objection:
            return ActReply(said.objection, ok=False)
        home = self._places.home(said.channel_id)
        root = home.root if home is not None else None
        text = said.text(*self._places.names())
        return await self._inbound(
            InboundAct(
                platform=self._name,
                user_id=said.user_id,
                user_name=said.user_name,
                platform_message_id=str(said.id),
                channel=channel,
                kind="command",
                fields={"text": text},
                # Whatever is said in a case's thread is about that case.
                reply_to=PlatformMessageId(root or said.answers or "") or None,
            )
        )

    def _answer(self, work: Coroutine[Any, Any, None]) -> None:
        if len(self._answers) >= MOST_UNTOLD:
            work.close()
            self._log.warning("person not told", why="too many answers wait")
            return
        task = asyncio.create_task(self._in_turn(work))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _in_turn(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            async with self._answering:
                await work
        except Exception as exc:
            self._log.error("person not told", why=f"{type(exc).__name__}: {exc}")
        finally:
            work.close()

    async def _tell_of_edit(self, said: Said) -> None:
        with suppress(SurfaceError):
            await tell(self._client, said.channel_id, said.id, EDITED, about="ed")
