"""Hands what people did to the society, in the order in which they did it.

An act is written down before it is handed over and forgotten when the log answered for it, so a crash of the
gateway or an outage of the society loses none; its key keeps it single however often it is handed over (K1). What
was kept goes before what is done now: a `/halt` from the outage never follows the `/resume` that came after it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import structlog

from moot.channels.backoff import PATIENT, Backoff
from moot.channels.gateway.client import Requests
from moot.channels.gateway.link import SocietyAway
from moot.channels.outbox.store import OutboxStore

PATIENCE_S: Final = 10.0
"""How long an act may hold up those behind it while the society says nothing to it."""

Receipt = Mapping[str, Any]


class SetAside(SocietyAway):
    """The society is there and could not take this one act: it has lost its place, and is tried again."""


class Handing:
    """The acts of one surface on their way. `run` hands over what was kept; call it as long as the surface runs."""

    def __init__(
        self,
        store: OutboxStore,
        requests: Requests,
        *,
        backoff: Backoff = PATIENT,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Connect.

        Args:
            store: Keeps acts; open.
            requests: The way to the society.
            backoff: The pauses while the society cannot take what was kept.
            patience_s: Wall time that one kept act may take.
        """
        self._store = store
        self._requests = requests
        self._backoff = backoff
        self._patience_s = patience_s
        self._turn = asyncio.Lock()
        self._left = asyncio.Event()
        self._aside: set[str] = set()

    async def keep(self, key: str, draft: str) -> None:
        """Write an act down; from now on it is not lost.

        Raises:
            sqlite3.Error: It cannot be written down.
        """
        await self._store.keep_act(key, draft)

    async def hand_over(self, key: str, draft: str) -> Receipt:
        """Hand over what was kept before an act, then the act itself, and return its receipt.

        When this is cancelled or raises, the act stays kept and `run` goes on with it.

        Raises:
            SocietyAway: The society is away, or cannot take this act now.
        """
        try:
            async with self._turn:
                for earlier, kept in await self._store.acts():
                    if earlier == key:
                        break
                    await self._try(earlier, kept)
                return await self._pass_on(key, draft)
        except BaseException:
            self._left.set()
            raise

    async def run(self) -> NoReturn:
        """Hand over what was kept, now and whenever something is left; until cancelled."""
        failures = 0
        self._left.set()
        while True:
            await self._left.wait()
            await self._requests.connected()
            self._left.clear()
            try:
                async with self._turn:
                    for key, draft in await self._store.acts():
                        await self._try(key, draft)
                # What has lost its place keeps nobody waiting.
                for key, draft in await self._store.acts():
                    if key in self._aside:
                        await self._try(key, draft, again=True)
            except SocietyAway:
                self._left.set()
            if self._aside:
                self._left.set()
            failures = failures + 1 if self._left.is_set() else 0
            if failures:
                await asyncio.sleep(self._backoff.delay_s(failures))

    async def _try(self, key: str, draft: str, *, again: bool = False) -> None:
        """Hand over one that was kept; what the society cannot take is set aside."""
        if key in self._aside and not again:
            return
        try:
            async with asyncio.timeout(self._patience_s):
                await self._pass_on(key, draft)
        except (SetAside, TimeoutError):
            self._aside.add(key)

    async def _pass_on(self, key: str, draft: str) -> Receipt:
        receipt = await self._requests.publish(json.loads(draft), key)
        if receipt.get("status") == "unavailable":
            self._aside.add(key)
            raise SetAside(str(receipt.get("why")))
        self._aside.discard(key)
        try:
            await self._store.drop_act(key)
        except sqlite3.Error as exc:
            # The log has it. Handed over again, it is a duplicate.
            structlog.get_logger().warning("an act that is done is still kept", why=str(exc))
            self._left.set()
        return receipt
