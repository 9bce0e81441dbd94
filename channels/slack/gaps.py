"""Gaps: after a start and after every reconnect, history is read from the last message that was handed in.

Every channel is read first, with the threads that it shows to have news; then the threads of ours that are too far
back to be shown. A call that fails is made again after a pause, and what was read is kept meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from channels.backoff import PATIENT
from channels.slack.events import order
from channels.slack.marks import Marks
from channels.slack.posting import PAGE, pages
from channels.slack.rooms import Rooms
from channels.slack.troubles import SlackSaid, trouble
from channels.slack.web import answer
from channels.surface import RateLimited, SurfaceConfigError, SurfaceDown

MOST_PAGES: Final = 25
"""Pages that are read back at most."""

TakeMessage = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Where a message that was read goes: (room, message)."""

Message = Mapping[str, Any]


class Gaps:
    """Reads what is missing."""

    def __init__(self, client: AsyncWebClient, rooms: Rooms, marks: Marks, take: TakeMessage) -> None:
        """Connect."""
        self._client = client
        self._rooms = rooms
        self._marks = marks
        self._take = take
        self._wanted = asyncio.Event()
        self._round = 0
        self._done = 0
        self._log = structlog.get_logger()

    @property
    def is_caught_up(self) -> bool:
        """Say whether every reading that was wanted is done."""
        return self._done == self._round

    async def begin(self) -> None:
        """Mark where each channel stands that was never heard: the first start begins at now.

        Raises:
            SurfaceDown, RateLimited: History cannot be read now.
        """
        for channel, room in self._rooms:
            if await self._marks.since(channel, room) is None:
                try:
                    newest = [
                        m["ts"] async for m in pages(self._client.conversations_history, 1, channel=room)
                    ]
                except SlackSaid as said:
                    self._log.warning("slack history not read", channel=channel, why=said.code)
                    continue
                await self._marks.begin(channel, newest)

    def want(self) -> None:
        """Ask for a reading; from now on the marks stand still until it is done."""
        for channel, _ in self._rooms:
            self._marks.open(channel)
        self._round += 1
        self._wanted.set()

    async def run(self) -> None:
        """Read whenever it is wanted, until cancelled.

        Raises:
            SurfaceConfigError: The token is refused.
        """
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            round_ = self._round
            await self._read_all(round_)
            self._done = round_

    async def _read_all(self, round_: int) -> None:
        far: list[tuple[str, str, str, str, list[str]]] = []
        for channel, room in self._rooms:
            since = await self._marks.since(channel, room)
            try:
                if since is None:
                    raise SlackSaid("never_heard", {})
                latest, threads = await self._read_top(channel, room, since)
                far.append((channel, room, since, latest, threads))
            except SlackSaid as said:
                found = trouble(said)
                if isinstance(found, SurfaceConfigError):
                    raise found from None
                # Archived, gone or new: nothing is missed there. It is tried again after the next reconnect.
                self._log.info("slack history not read", channel=channel, why=said.code)
                self._marks.leave(channel)
        for channel, room, since, latest, threads in far:
            ends = [latest, *[await self._read_thread(channel, room, since, thread) for thread in threads]]
            if round_ == self._round:
                await self._marks.close(channel, max(ends, key=order))

    async def _read_top(self, channel: str, room: str, since: str) -> tuple[str, list[str]]:
        """Hand in what is new in a channel and in the threads it shows; return its end and the threads it does not."""
        found: list[Message] = []
        shown: set[str] = set()
        moved: list[str] = []
        history = self._client.conversations_history
        async for one in pages(history, MOST_PAGES, ask=self._ask, channel=room):
            shown.add(one["ts"])
            is_new = order(one["ts"]) > order(since)
            if is_new:
                found.append(one)
            latest = one.get("latest_reply")
            if one.get("reply_count") and (not isinstance(latest, str) or order(latest) > order(since)):
                moved.append(one["ts"])
            if not is_new and len(shown) >= PAGE:
                break
        for thread in moved:
            found += await self._replies(channel, room, since, thread)
        await self._hand_in(channel, room, found)
        far = [ts for ts in await self._marks.threads(channel) if ts not in shown]
        return _end(since, found), far

    async def _read_thread(self, channel: str, room: str, since: str, thread: str) -> str:
        """Hand in what is new in a thread and return its end."""
        found = await self._replies(channel, room, since, thread)
        await self._hand_in(channel, room, found)
        return _end(since, found)

    async def _replies(self, channel: str, room: str, since: str, thread: str) -> list[Message]:
        replies = self._client.conversations_replies
        found = []
        try:
            async for one in pages(replies, MOST_PAGES, ask=self._ask, channel=room, ts=thread, oldest=since):
                if one["ts"] != thread and order(one["ts"]) > order(since):
                    found.append(one)
        except SlackSaid as said:
            self._log.info("slack thread not read", channel=channel, why=said.code)
        return found

    async def _hand_in(self, channel: str, room: str, found: list[Message]) -> None:
        for one in sorted(found, key=lambda one: order(one["ts"])):
            if not self._marks.is_known(channel, one["ts"]):
                await self._take(room, one)
                self._marks.know(channel, one["ts"])
        await self._marks.keep(channel)

    async def _ask(self, method: Any, how: Mapping[str, Any]) -> AsyncSlackResponse:
        """Make one call, again after every pause that is asked for or needed."""
        failures = 0
        while True:
            try:
                return await answer(method(**how))
            except RateLimited as exc:
                await asyncio.sleep(exc.retry_after_s)
            except SurfaceDown as exc:
                failures += 1
                self._log.info("slack history not read", why=str(exc))
                await asyncio.sleep(PATIENT.delay_s(failures))


def _end(since: str, found: list[Message]) -> str:
    return max([since, *(str(one["ts"]) for one in found)], key=order)
