"""Gaps: after a start and after every reconnect, history is read from the last message that was handed in.

Every channel is read first, with the threads that it shows to have news; then the threads of ours that are too far
back to be shown. Where Slack refuses to let a channel be read, its mark stands still and it is read again later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress

import structlog

from moot.channels.backoff import PATIENT
from moot.channels.slack.catching_up import Reader, passes
from moot.channels.slack.events import order
from moot.channels.slack.marks import Marks
from moot.channels.slack.rooms import Rooms
from moot.channels.slack.troubles import SlackSaid, trouble
from moot.channels.surface import SurfaceConfigError


class Gaps:
    """Reads what is missing."""

    def __init__(self, rooms: Rooms, marks: Marks, reader: Reader) -> None:
        """Connect."""
        self._rooms = rooms
        self._marks = marks
        self._reader = reader
        self._wanted = asyncio.Event()
        self._round = 0
        self._done = 0
        self._refused: dict[str, str] = {}  # channel -> Slack's word for why it cannot be read
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
                    newest = await self._reader.newest(room)
                except SlackSaid as said:
                    if passes(said):
                        raise trouble(said) from None
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
        failures = 0
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENT.delay_s(failures) if self._refused else None):
                    await self._wanted.wait()
            again = None if self._wanted.is_set() else set(self._refused)
            self._wanted.clear()
            round_ = self._round
            self._refused = await self._read_all(round_, again)
            failures = 1 if again is None else failures + 1
            self._done = round_

    async def _read_all(self, round_: int, only: Collection[str] | None) -> dict[str, str]:
        """Read every channel, or only some; return which of them Slack refused to let us read, and its word why."""
        refused: dict[str, str] = {}
        far: list[tuple[str, str, str, str, list[str]]] = []
        for channel, room in self._rooms:
            if only is not None and channel not in only:
                continue
            since = await self._marks.since(channel, room)
            if since is None:
                # New: nothing is missed there, and it begins with what is heard.
                self._marks.leave(channel)
                continue
            try:
                latest, threads = await self._reader.read_top(channel, room, since)
                far.append((channel, room, since, latest, threads))
            except SlackSaid as said:
                refused[channel] = self._told(channel, said)
        for channel, room, since, latest, threads in far:
            try:
                ends = [latest, *[await self._reader.read_thread(channel, room, since, ts) for ts in threads]]
            except SlackSaid as said:
                refused[channel] = self._told(channel, said)
                continue
            if round_ == self._round:
                await self._marks.close(channel, max(ends, key=order))
        return refused

    def _told(self, channel: str, said: SlackSaid) -> str:
        """Say once that a channel cannot be read.

        Raises:
            SurfaceConfigError: It is the token that is refused.
        """
        found = trouble(said)
        if isinstance(found, SurfaceConfigError):
            raise found from None
        if self._refused.get(channel) != said.code:
            self._log.info("slack history not read", channel=channel, why=said.code)
        return said.code
