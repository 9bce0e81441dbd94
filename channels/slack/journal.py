"""The journal: what was acknowledged to Slack and is not done yet, kept across a crash.

Slack forgets a button or a command once it is acknowledged, so it is written down before.
"""

from __future__ import annotations

import asyncio
import json
from typing import Final

import structlog

from moot.channels.slack.events import Heard
from moot.channels.slack.web import as_json
from moot.channels.surface import Memory

KEY: Final = "open"
MOST: Final = 200
"""Acts that are written down at a time; in a flood beyond it they are handed in all the same."""


class Journal:
    """Keeps what is open under one key of the surface's memory."""

    def __init__(self, memory: Memory) -> None:
        """Start empty; `load` reads what a crash left."""
        self._memory = memory
        self._open: dict[str, Heard] = {}
        self._changes = 0
        self._written = 0
        self._writing = asyncio.Lock()

    async def load(self) -> list[Heard]:
        """Return what was open when the last process ended, oldest first."""
        try:
            raw = json.loads(await self._memory.get(KEY) or "[]")
            self._open = {heard.key: heard for heard in map(Heard.from_json, raw)}
        except (ValueError, TypeError, KeyError, AttributeError) as exc:
            structlog.get_logger().warning("slack journal unreadable", why=type(exc).__name__)
        return list(self._open.values())

    async def add(self, heard: Heard) -> None:
        """Write down; returns when a crash would not lose it."""
        if len(self._open) < MOST:
            self._open[heard.key] = heard
            await self._write()

    async def done(self, heard: Heard) -> None:
        """Cross out."""
        if self._open.pop(heard.key, None) is not None:
            await self._write()

    async def _write(self) -> None:
        self._changes += 1
        change = self._changes
        async with self._writing:
            # Who waited for the lock may find that its change is written already.
            if self._written < change:
                now = self._changes
                await self._memory.put(KEY, as_json([heard.as_json() for heard in self._open.values()]))
                self._written = now
