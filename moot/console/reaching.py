"""The way to the society: what people do, what they have before them (K8), and whether it can speak at all."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from moot.channels.backoff import Backoff
from moot.channels.errors import ChannelError
from moot.channels.gateway.client import Requests
from moot.channels.gateway.link import SocietyAway
from moot.channels.inbound import Authority
from moot.console.acts import Acts, ActStore

PATIENCE: Final = Backoff(first_s=0.5, most_s=10.0)
"""The pauses while acts cannot be kept."""

ASK_S: Final = 1.0
ASKED_S: Final = 5.0
"""Wall time between two questions to the society, and for its answer."""

STARTING: Final = "the console is starting"
START_S: Final = 8.0
"""Wall time for which what people do meanwhile waits; a page waits longer for its answer."""

_log = structlog.get_logger("moot.console")


class Reaching:
    """Reaches a society, or whoever hosts its directory next.

    Attributes:
        acts: The intake; None while there is none.
        no_acts: Why there is none.
        trouble: Why the society can say nothing now, "" while all is well or nobody is there.
    """

    def __init__(
        self, requests: Requests | None, authority: Authority, *, on_change: Callable[[], None]
    ) -> None:
        """Prepare; nobody is asked yet.

        Args:
            requests: The way; None: there is none, and this console only shows.
            authority: What a person is (R-E5).
            on_change: Called when people are to be told something else.
        """
        self.requests = requests
        self.acts: Acts | None = None
        self.no_acts = STARTING
        self.trouble = ""
        self._authority = authority
        self._on_change = on_change
        self._store: ActStore | None = None
        self._is_settled = asyncio.Event()
        self._pages: dict[str, frozenset[str]] = {}

    # ------------------------------------------------------------ acts

    async def open(self, store: ActStore) -> None:
        """Take people's acts from now on, kept in a store; where it cannot be opened `no_acts` says why.

        Args:
            store: Not open yet; closed with `close`.
        """
        if self.requests is None:
            self.no_acts = "nobody can act here: this console only shows"
        else:
            await self._open(store, self.requests)
        self._is_settled.set()

    async def _open(self, store: ActStore, requests: Requests) -> None:
        try:
            await store.open()
        except (ChannelError, sqlite3.Error, OSError) as exc:
            await store.close()
            why, self.no_acts = self.no_acts, f"nobody can act here now: {exc}"
            if why != self.no_acts:
                _log.warning("no acts", why=str(exc))
            return
        self._store = store
        self.acts = Acts(store, requests, authority=self._authority)

    @property
    def is_starting(self) -> bool:
        """Say whether it is not known yet whether people can act: whoever does something may wait for it."""
        return not self._is_settled.is_set()

    async def settled(self) -> None:
        """Wait until it is known whether people can act, or until that takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_S):
                await self._is_settled.wait()

    async def hand_over(self, make: Callable[[], ActStore]) -> None:
        """Hand over what people do, until cancelled; where it cannot be kept yet, try until it can.

        Args:
            make: Makes a store to try with.
        """
        if self.requests is None:
            return
        failures = 0
        while self.acts is None:
            failures += 1
            await asyncio.sleep(PATIENCE.delay_s(failures))
            await self.open(make())
        self._on_change()
        await self.acts.run()

    async def close(self) -> None:
        """Take no more acts; safe to call twice."""
        self.acts, self.no_acts = None, STARTING
        self._is_settled.clear()
        if self._store is not None:
            await self._store.close()
            self._store = None

    # ------------------------------------------------------------ what is before people, and whether anybody is there

    async def hold(self, page: str, escalation_ids: frozenset[str]) -> None:
        """Note which escalations a page shows, and tell the society what changed (K8)."""
        before = self._held()
        if escalation_ids:
            self._pages[page] = escalation_ids
        else:
            self._pages.pop(page, None)
        await self._tell(before ^ self._held())

    async def keep_asking(self) -> None:
        """Ask the society whether it can write its log, for then it cannot say so; until cancelled.

        A society that was started anew is told what pages show: it has forgotten (K8).
        """
        if self.requests is None:
            return
        told = self.requests.connections
        while True:
            if not self.requests.is_connected:
                self._note("")
                await self.requests.connected()
            try:
                async with asyncio.timeout(ASKED_S):
                    if told != (now := self.requests.connections):
                        await self._tell(self._held())
                        told = now
                    self._note(await self.requests.ask("trouble", {}))
            except (SocietyAway, TimeoutError):
                self._note("")
            await asyncio.sleep(ASK_S)

    def _note(self, trouble: str) -> None:
        if trouble != self.trouble:
            self.trouble = trouble
            self._on_change()

    async def _tell(self, escalation_ids: frozenset[str]) -> None:
        if self.requests is None:
            return
        for escalation_id in sorted(escalation_ids):
            # As it is now: a page may have come or gone while others were told of.
            args = {"escalation_id": escalation_id, "is_open": escalation_id in self._held()}
            with suppress(SocietyAway):
                await self.requests.ask("escalation_shown", args)

    def _held(self) -> frozenset[str]:
        return frozenset().union(*self._pages.values())
