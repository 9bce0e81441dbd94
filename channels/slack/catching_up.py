"""Catching up: one channel is read from a mark on, with the threads that have news, and handed in.

A call that fails is made again after a pause, and what was read is kept meanwhile. However much was missed, all of it
is handed in: the oldest first, and never more of it in memory than `MOST_KEPT` messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from moot.channels.backoff import PATIENT
from moot.channels.slack.events import order
from moot.channels.slack.marks import Marks
from moot.channels.slack.posting import PAGE, pages
from moot.channels.slack.troubles import NO_THREAD, SlackSaid, trouble
from moot.channels.slack.web import answer
from moot.channels.surface import RateLimited, SurfaceDown

MOST_KEPT: Final = 5_000
"""Messages that are held at a time; of more, the older ones are handed in before the newer are read once more."""

TakeMessage = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Where a message that was read goes: (room, message)."""

Message = Mapping[str, Any]


class Reader:
    """Reads what is new and hands it in."""

    def __init__(
        self, client: AsyncWebClient, marks: Marks, take: TakeMessage, *, most_kept: int = MOST_KEPT
    ) -> None:
        """Connect."""
        self._client = client
        self._marks = marks
        self._take = take
        self._most_kept = most_kept
        self._log = structlog.get_logger()

    async def newest(self, room: str) -> list[str]:
        """Return the timestamps of a page of what is there now.

        Raises:
            SlackSaid, SurfaceDown, RateLimited: It cannot be read now.
        """
        return [one["ts"] async for one in pages(self._client.conversations_history, 1, channel=room)]

    async def read_top(self, channel: str, room: str, since: str) -> tuple[str, list[str]]:
        """Hand in what is new in a channel and in the threads it shows; return its end and the threads it does not."""
        far = dict.fromkeys(await self._marks.threads(channel))
        found: list[Message] = []
        tops: list[str] = []  # where each part begins that was let go, the newest first
        seen = 0
        history = self._client.conversations_history
        async for one in pages(history, ask=self._ask, channel=room):
            seen += 1
            far.pop(one["ts"], None)
            is_new = order(one["ts"]) > order(since)
            if is_new and len(found) >= self._most_kept:
                tops.append(found[0]["ts"])
                found = []
            if is_new or _has_news(one, since):
                found.append(one)
            if not is_new and seen >= PAGE:
                break
        end = await self._hand_in_part(channel, room, since, found)
        for top in reversed(tops):
            found = []
            async for one in pages(history, ask=self._ask, channel=room, latest=top, inclusive=True):
                if order(one["ts"]) <= order(end):
                    break
                found.append(one)
            end = max(end, await self._hand_in_part(channel, room, since, found), key=order)
        return end, list(far)

    async def _hand_in_part(self, channel: str, room: str, since: str, part: list[Message]) -> str:
        """Hand in a part of a channel with the threads that begin in it, and return the part's end.

        Raises:
            SlackSaid: One of the threads cannot be read; all else was handed in.
        """
        found = [one for one in part if order(one["ts"]) > order(since)]
        failure: SlackSaid | None = None
        end = _end(since, found)
        for one in part:
            if _has_news(one, since):
                try:
                    found += await self._replies(channel, room, since, one["ts"])
                except SlackSaid as said:
                    failure = said
        await self._hand_in(channel, room, found)
        if failure is not None:
            raise failure
        return end

    async def read_thread(self, channel: str, room: str, since: str, thread: str) -> str:
        """Hand in what is new in a thread and return its end."""
        found = await self._replies(channel, room, since, thread)
        await self._hand_in(channel, room, found)
        return _end(since, found)

    async def _replies(self, channel: str, room: str, since: str, thread: str) -> list[Message]:
        """Return what is new in a thread; where that is very much, its end, and the rest is handed in already."""
        replies = self._client.conversations_replies
        found: list[Message] = []
        try:
            async for one in pages(replies, ask=self._ask, channel=room, ts=thread, oldest=since):
                if one["ts"] == thread or order(one["ts"]) <= order(since):
                    continue
                if len(found) >= self._most_kept:
                    await self._hand_in(channel, room, found)
                    found = []
                found.append(one)
        except SlackSaid as said:
            if said.code not in NO_THREAD:
                raise
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
            except SlackSaid as said:
                if not passes(said):
                    raise
                failures += 1
                self._log.info("slack history not read", why=str(trouble(said)))
                await asyncio.sleep(PATIENT.delay_s(failures))


def passes(said: SlackSaid) -> bool:
    """Say whether it is Slack's own fault, which passes."""
    found = trouble(said)
    return isinstance(found, SurfaceDown) and found.everywhere


def _has_news(one: Message, since: str) -> bool:
    """Say whether a message begins a thread in which something may be new."""
    latest = one.get("latest_reply")
    return bool(one.get("reply_count")) and (not isinstance(latest, str) or order(latest) > order(since))


def _end(since: str, found: list[Message]) -> str:
    return max([since, *(str(one["ts"]) for one in found)], key=order)
