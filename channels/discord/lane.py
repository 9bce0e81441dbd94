"""A lane: what people say in one channel of the log and its threads, in the order in which it was said.

At every new session the history after the last message that was seen is read, threads included; then it goes on
with what comes live. What was seen is noted once the intake has it: after a crash nothing is missing, and what comes
again carries the same id. A history that cannot be read is a gap: what comes live is handed in all the same, but
nothing counts as seen until the gap was read.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Final, NoReturn

import structlog

from moot.channels.backoff import PATIENT
from moot.channels.discord.catching_up import since
from moot.channels.discord.connection import Connection
from moot.channels.discord.places import Places
from moot.channels.discord.wording import Said
from moot.channels.surface import Memory, PostRefused, RateLimited, SurfaceDown

MOST_WAITING: Final = 1_000
"""Live messages of a channel that wait; where there are more, all are read from the history."""

NOTE_EVERY: Final = 100
"""Messages of others than people after which the place in the history is noted."""

TakeSaid = Callable[[str, Said], Awaitable[None]]
"""Where what people said goes: (channel of the log, what was said)."""


class Lane:
    """Hands in what is said in one channel, one message after the other. `run` is its whole life."""

    def __init__(
        self, channel: str, client: Connection, places: Places, memory: Memory, take: TakeSaid, name: str
    ) -> None:
        """Connect.

        Args:
            channel: The log's channel.
            client: Connected.
            places: Where channels are.
            memory: Keeps what was seen.
            take: Takes what people said.
            name: Name of the surface.
        """
        self.channel = channel
        self._client = client
        self._places = places
        self._memory = memory
        self._hand_in = take
        self._log = structlog.get_logger().bind(surface=name)
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
        """Note that messages may have come unheard: the history is read before anything else."""
        self._waiting.clear()
        self._has_gap = True
        self._failures = 0
        self._look_now()

    async def begin(self) -> None:
        """Learn what was seen; what is there already counts as seen where nobody ever listened."""
        channel_id = self._places.channel_ids().get(self.channel)
        noted = await self._memory.get(self._key)
        if noted is not None:
            self._seen = max(self._seen, int(noted))
        elif channel_id is not None:
            self._seen = self._places.newest(channel_id)
            await self._note()

    async def run(self) -> NoReturn:
        """Hand in what is said until cancelled.

        Raises:
            SurfaceConfigError: Discord does not know the token any more.
        """
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
            await self._hand_in(self.channel, said)
        if not self._has_gap:
            await self._see(id, is_worth_noting=said is not None)

    async def _see(self, id: int, *, is_worth_noting: bool) -> None:
        self._seen = max(self._seen, id)
        self._unnoted += 1
        if is_worth_noting or self._unnoted >= NOTE_EVERY:
            await self._note()

    async def _note(self) -> None:
        await self._memory.put(self._key, str(self._seen))
        self._unnoted = 0

    async def _catch_up(self) -> None:
        self._stop_timer()
        failures = 0
        while True:
            self._is_due = False
            begun_at = self._seen
            try:
                is_read = await self._read()
            except RateLimited as exc:
                await asyncio.sleep(exc.retry_after_s)
            except (PostRefused, SurfaceDown) as exc:
                self._complain(str(exc))
                if isinstance(exc, PostRefused) or not exc.everywhere:
                    return self._look_later()
                # Where some of it was handed in, it goes on from there.
                failures = failures + 1 if self._seen == begun_at else 1
                await asyncio.sleep(PATIENT.delay_s(failures))
            else:
                return self._close_gap() if is_read else self._look_later()

    async def _read(self) -> bool:
        """Hand in what was missed; False where the channel is not there now."""
        channel_id = self._places.channel_ids().get(self.channel)
        if channel_id is None:
            return False
        await self.begin()
        async with aclosing(since(self._client, self._places, channel_id, self._seen)) as history:
            async for id, said in history:
                if said is not None:
                    await self._hand_in(self.channel, said)
                await self._see(id, is_worth_noting=said is not None)
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
            self._log.warning("history not read", channel=self.channel, why=why)
