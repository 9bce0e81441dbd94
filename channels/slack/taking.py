"""Taking in: written down, acknowledged, then handed in and answered, each thing once, however often Slack says it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import structlog

from moot.channels.chat.seen import Seen
from moot.channels.slack.answers import Answers
from moot.channels.slack.catching_up import Reader
from moot.channels.slack.events import Heard, hear, hear_message, is_ours
from moot.channels.slack.gaps import Gaps
from moot.channels.slack.identity import Me
from moot.channels.slack.journal import Journal
from moot.channels.slack.marks import Marks
from moot.channels.slack.people import People
from moot.channels.slack.rooms import Rooms
from moot.channels.slack.web import Web
from moot.channels.surface import ActReply, InboundAct, Memory, TakeAct

MOST_AT_ONCE: Final = 64
"""Acts that are under way at a time; more wait their turn, in their order."""


CHANGES: Final = ("message_changed", "message_deleted")
"""Events that have a time of their own, which is no message's."""


class Taking:
    """From what Slack delivers to the society, and back to the person."""

    def __init__(
        self, web: Web, rooms: Rooms, me: Me, memory: Memory, inbound: TakeAct, platform: str
    ) -> None:
        """Connect; needs a running loop."""
        self._rooms = rooms
        self._me = me
        self._inbound = inbound
        self._platform = platform
        self._journal = Journal(memory)
        self._people = People(web.client, memory)
        self._answers = Answers(web)
        self._seen = Seen(asyncio.get_running_loop().time)
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)
        self._in_order = asyncio.Lock()
        self._works: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._log = structlog.get_logger()
        self.marks = Marks(rooms, memory)
        self.gaps = Gaps(rooms, self.marks, Reader(web.client, self.marks, self.take_message))

    async def resume(self) -> None:
        """Hand in again what was acknowledged and not done when the last process ended."""
        for heard in await self._journal.load():
            self._seen.first_time(heard.key)
            self._start(heard)

    async def take(self, body: Mapping[str, Any]) -> None:
        """Take one delivery; returns when Slack may forget it.

        Raises:
            Exception: It could not be written down; Slack is to deliver it again.
        """
        if self._is_closed:
            raise RuntimeError("closed")
        event = body.get("event")
        event_id = body.get("event_id")
        ids = [f"event/{event_id}"] if isinstance(event_id, str) and event_id else []
        if ids and not self._seen.first_time(ids[0]):
            return
        try:
            heard = hear(body, self._me, self._rooms.channel_of)
            if heard is not None:
                await self._once(heard)
            if isinstance(event, Mapping) and event.get("type") == "message":
                await self._mark(event)
        except BaseException:
            for one in ids:
                self._seen.forget(one)
            raise

    async def take_message(self, room: str, message: Mapping[str, Any]) -> None:
        """Take a message that was read from history."""
        heard = hear_message(message, room, self._me, self._rooms.channel_of(room))
        if heard is not None and not self._is_closed:
            await self._once(heard)

    async def close(self) -> None:
        """Take nothing more and leave what is under way; the journal has it."""
        self._is_closed = True
        for work in self._works:
            work.cancel()
        await asyncio.gather(*self._works, return_exceptions=True)

    async def _once(self, heard: Heard) -> None:
        if not self._seen.first_time(heard.key):
            return
        try:
            await self._journal.add(heard)
        except BaseException:
            self._seen.forget(heard.key)
            raise
        self._start(heard)

    async def _mark(self, event: Mapping[str, Any]) -> None:
        room, ts = event.get("channel"), event.get("ts")
        channel = self._rooms.channel_of(room) if isinstance(room, str) else None
        if channel is not None and isinstance(ts, str) and event.get("subtype") not in CHANGES:
            await self.marks.heard(channel, ts, is_ours=is_ours(event, self._me))

    def _start(self, heard: Heard) -> None:
        work = asyncio.create_task(self._work(heard), name=f"slack {heard.key}")
        self._works.add(work)
        work.add_done_callback(self._works.discard)

    async def _work(self, heard: Heard) -> None:
        try:
            if heard.say:
                reply = ActReply(heard.say, ok=False)
            else:
                async with self._turns:
                    reply = await self._hand_in(heard)
            await self._answers.tell(heard.where, reply)
            await self._journal.done(heard)
        except Exception as exc:
            self._log.error("slack act not finished", key=heard.key, why=type(exc).__name__)

    async def _hand_in(self, heard: Heard) -> ActReply:
        if not heard.where.ts:
            # A press or a command says all by itself, and waits for nobody's name.
            text = str((heard.fields or {}).get("text") or "")
            return await self._inbound(heard.act(self._platform, text, heard.user_name or heard.where.user))
        reading = asyncio.ensure_future(self._read(heard))
        handed: asyncio.Future[ActReply] | None = None
        try:
            # In the order in which it was said; the names of all that wait are looked up meanwhile.
            async with self._in_order:
                handed = asyncio.ensure_future(self._inbound(await reading))
                await asyncio.sleep(0)
            return await handed
        finally:
            for work in (reading, handed):
                if work is not None and not work.done():
                    work.cancel()
                    with suppress(asyncio.CancelledError):
                        await work

    async def _read(self, heard: Heard) -> InboundAct:
        """Return the act of a message, in plain words."""
        rooms = {room: channel.removeprefix("#") for channel, room in self._rooms}
        text = await self._people.plain(str((heard.fields or {}).get("text") or ""), rooms)
        return heard.act(self._platform, text, await self._people.name(heard.where.user))
