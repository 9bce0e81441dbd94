"""Hearing: what people write is handed in, channel by channel, in the order in which it was written.

Each channel of the log has a lane. At every new session the lane reads the history after the last message that
it has seen, threads included; then it goes on with what comes live. What was seen is noted once the intake has
it: after a crash nothing is missing, and what comes again carries the same id. A history that cannot be read is
a gap: what comes live is handed in all the same, but nothing counts as seen until the gap was read.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final, NoReturn

import structlog

from channels.backoff import PATIENT
from channels.discord.answering import answer, tell
from channels.discord.catching_up import since
from channels.discord.connection import Connection
from channels.discord.library import discord
from channels.discord.places import Places
from channels.discord.wording import EDITED, Said, of_event
from channels.surface import (
    ActReply,
    InboundAct,
    Memory,
    PlatformMessageId,
    PostRefused,
    RateLimited,
    SurfaceDown,
    SurfaceError,
    TakeAct,
)
from protocols.kernel.catalogue import ANY

MOST_ANSWERS: Final = 8
"""Answers that are sent at once; the others wait."""

MOST_UNTOLD: Final = 1_000
"""Answers that wait; more are left out, for a mark comes too late then to tell anything."""

MOST_WAITING: Final = 1_000
"""Live messages of a channel that wait; where there are more, all are read from the history."""

MOST_RECENT: Final = 10_000
"""Messages that are known to have been handed in."""

NOTE_EVERY: Final = 100
"""Messages of others than people after which the place in the history is noted."""


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
        self.client = client
        self.places = places
        self.memory = memory
        self._inbound = inbound
        self._name = name
        self._lanes = {channel: _Lane(channel, self) for channel in sorted(ANY)}
        self._recent: dict[int, None] = {}
        self._told_of_edits: dict[int, None] = {}
        self._answering = asyncio.Semaphore(MOST_ANSWERS)
        self._answers: set[asyncio.Task[None]] = set()
        self.log = structlog.get_logger().bind(surface=name)

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
        home = self.places.home(message.channel.id)
        if home is not None:
            self._lanes[home.channel].put(message.id, of_event(message))

    def hear_edit(self, message: discord.Message) -> None:
        """Tell a person once that an edit of what was handed in changes nothing."""
        said = of_event(message)
        if said is None or message.edited_at is None or self.places.home(said.channel_id) is None:
            return
        is_ours = said.id in self._recent or any(reaction.me for reaction in message.reactions)
        if is_ours and _is_new(self._told_of_edits, said.id):
            self._answer(self._tell_of_edit(said))

    async def hand_in(self, channel: str, said: Said) -> None:
        """Hand in a message, unless it was already, and tell the person what became of it."""
        if not _is_new(self._recent, said.id):
            return
        try:
            reply = await self._reply_to(channel, said)
        except Exception as exc:
            self.log.error("message not handed in", message=said.id, why=f"{type(exc).__name__}: {exc}")
            return
        self._answer(answer(self.client, said.channel_id, said.id, reply))

    async def _reply_to(self, channel: str, said: Said) -> ActReply:
        if said.objection:
            return ActReply(said.objection, ok=False)
        home = self.places.home(said.channel_id)
        root = home.root if home is not None else None
        text = said.text(*self.places.names())
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
            self.log.warning("person not told", why="too many answers wait")
            return
        task = asyncio.create_task(self._in_turn(work))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _in_turn(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            async with self._answering:
                await work
        except Exception as exc:
            self.log.error("person not told", why=f"{type(exc).__name__}: {exc}")
        finally:
            work.close()

    async def _tell_of_edit(self, said: Said) -> None:
        with suppress(SurfaceError):
            await tell(self.client, said.channel_id, said.id, EDITED, about="ed")


class _Lane:
    """What is said in one channel of the log and its threads, one message after the other."""

    def __init__(self, channel: str, hearing: Hearing) -> None:
        self.channel = channel
        self._hearing = hearing
        self._key = f"seen/{channel}"
        self._waiting: deque[tuple[int, Said | None]] = deque()
        self._news = asyncio.Event()
        self._has_gap = True
        self._is_due = True
        self._failures = 0
        self._complaint = ""
        self._timer: asyncio.TimerHandle | None = None
        self._seen = 0
        self._unnoted = 0
        self._news.set()

    def put(self, id: int, said: Said | None) -> None:
        """Take a live message; None for one that no person wrote."""
        self._waiting.append((id, said))
        if len(self._waiting) > MOST_WAITING:
            self.miss()
        self._news.set()

    def miss(self) -> None:
        self._waiting.clear()
        self._has_gap = True
        self._failures = 0
        self._look_now()

    async def begin(self) -> None:
        """Learn what was seen; what is there already counts as seen where nobody ever listened."""
        channel_id = self._hearing.places.channel_ids().get(self.channel)
        noted = await self._hearing.memory.get(self._key)
        if noted is not None:
            self._seen = max(self._seen, int(noted))
        elif channel_id is not None:
            self._seen = self._hearing.places.newest(channel_id)
            await self._note()

    async def run(self) -> NoReturn:
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                while self._is_due or self._waiting:
                    if self._is_due:
                        await self._catch_up()
                    else:
                        await self._take(*self._waiting.popleft())
        finally:
            self._stop_timer()

    async def _take(self, id: int, said: Said | None) -> None:
        if said is not None:
            await self._hearing.hand_in(self.channel, said)
        if not self._has_gap:
            await self._see(id, is_worth_noting=said is not None)

    async def _see(self, id: int, *, is_worth_noting: bool) -> None:
        self._seen = max(self._seen, id)
        self._unnoted += 1
        if is_worth_noting or self._unnoted >= NOTE_EVERY:
            await self._note()

    async def _note(self) -> None:
        await self._hearing.memory.put(self._key, str(self._seen))
        self._unnoted = 0

    async def _catch_up(self) -> None:
        self._stop_timer()
        failures = 0
        while True:
            self._is_due = False
            try:
                is_read = await self._read()
            except RateLimited as exc:
                await asyncio.sleep(exc.retry_after_s)
            except (PostRefused, SurfaceDown) as exc:
                self._complain(str(exc))
                if isinstance(exc, PostRefused) or not exc.everywhere:
                    return self._look_later()
                failures += 1
                await asyncio.sleep(PATIENT.delay_s(failures))
            else:
                return self._close_gap() if is_read else self._look_later()

    async def _read(self) -> bool:
        """Hand in what was missed; False where the channel is not there now."""
        hearing = self._hearing
        channel_id = hearing.places.channel_ids().get(self.channel)
        if channel_id is None:
            return False
        await self.begin()
        said, newest = await since(hearing.client, hearing.places, channel_id, self._seen)
        for one in said:
            await hearing.hand_in(self.channel, one)
            await self._see(one.id, is_worth_noting=True)
        self._seen = max(self._seen, newest)
        await self._note()
        return True

    def _close_gap(self) -> None:
        # Something may have been missed while it was read; then it is read again.
        if not self._is_due:
            self._has_gap = False
        self._failures = 0
        self._complaint = ""

    def _look_now(self) -> None:
        self._is_due = True
        self._news.set()

    def _look_later(self) -> None:
        """Try the gap again after a pause: a channel that cannot be read holds up nothing, and loses nothing."""
        self._failures += 1
        self._timer = asyncio.get_running_loop().call_later(PATIENT.delay_s(self._failures), self._look_now)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _complain(self, why: str) -> None:
        if why != self._complaint:
            self._complaint = why
            self._hearing.log.warning("history not read", channel=self.channel, why=why)


def _is_new(known: dict[int, None], id: int) -> bool:
    if id in known:
        return False
    known[id] = None
    if len(known) > MOST_RECENT:
        del known[next(iter(known))]
    return True
