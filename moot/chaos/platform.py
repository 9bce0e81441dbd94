"""A chat platform that fails, and the gateway that mirrors a world on it: real socket, real outbox, on a thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from moot.channels.backoff import Backoff
from moot.channels.gateway.process import Mirroring, run_gateway
from moot.channels.inbound import Authority
from moot.channels.outbox.mirroring import public_but_own_notes
from moot.channels.surface import (
    Capabilities,
    Memory,
    PlatformMessageId,
    Posting,
    RateLimited,
    Surface,
    SurfaceDown,
    TakeAct,
)
from moot.chaos.judge import Finding
from moot.chaos.plan import Spell, WorldPlan
from moot.chaos.striking import Striking
from moot.protocols.kernel.envelope import Envelope

NAME: Final = "chat"
AGAIN: Final = 3
"""So many times a message is refused at most: spells are of society time, and posting takes wall time."""
AGAIN_S: Final = Backoff(0.01, 0.1)
"""The pauses after failures; a world passes faster than a wall."""
DRAINED_S: Final = 120.0
"""Wall seconds in which all that was said is shown."""
LOOK_S: Final = 0.02


class Platform:
    """What the platform keeps, whatever becomes of the gateway.

    Attributes:
        shown: The seqs of each channel's messages, in the order in which they were taken.
    """

    def __init__(self, plan: WorldPlan, striking: Striking) -> None:
        """Begin with nothing posted."""
        self.shown: dict[str, list[int]] = defaultdict(list)
        self._start = plan.start
        self._speed = plan.speed
        self._striking = striking
        self._spells = [spell for spell in plan.spells if spell.fault in FAILS]
        self._ids: dict[str, PlatformMessageId] = {}
        self._tries: Counter[int] = Counter()

    def take(self, item: Posting) -> PlatformMessageId:
        """Take a message, unless a spell is in force that it was said in.

        Raises:
            RateLimited, SurfaceDown: As its spell says.
        """
        self._tries[item.seq] += 1
        spell = self._spell(item)
        if spell is not None:
            self._striking.happened[spell.fault] += 1
        if spell is not None and spell.name == "surface_limited":
            raise RateLimited(spell.size)
        if spell is not None and spell.name == "surface_down":
            raise SurfaceDown("the platform is down, on purpose", maybe_posted=False)
        found = self._ids[item.nonce] = PlatformMessageId(f"m{len(self._ids)}")
        self.shown[item.channel] += [item.seq, *(one.seq for one in item.folded)]
        if spell is not None:
            raise SurfaceDown("the platform took it and said nothing, on purpose")
        return found

    def find(self, item: Posting) -> PlatformMessageId | None:
        """Look up a message that was taken."""
        return self._ids.get(item.nonce)

    def _spell(self, item: Posting) -> Spell | None:
        at_s = (item.envelope.sent_at - self._start).total_seconds() / self._speed
        tried = self._tries[item.seq]
        for spell in self._spells:
            is_on = spell.at_s <= at_s < spell.ends_s and tried <= AGAIN
            if is_on and self._striking.dice(spell, item.seq, tried).chance(spell.rate):
                return spell
        return None

    def wrong(self, log: Sequence[Envelope], shown_until: int) -> Iterator[Finding]:
        """Yield what is shown twice, out of order, or was never said, and what is not shown.

        Args:
            log: All of it.
            shown_until: The last message that there was time to show.
        """
        mirrors = public_but_own_notes(NAME)
        said: dict[str, list[int]] = defaultdict(list)
        for env in log:
            if mirrors(env):
                said[env.channel].append(env.seq)
        for channel in sorted({*said, *self.shown}):
            shown, wanted = self.shown[channel], said[channel]
            if shown != wanted[: len(shown)]:
                n = next(n for n, seq in enumerate(shown) if wanted[n : n + 1] != [seq])
                yield Finding(
                    "shown-once", shown[n], f"{channel} shows {shown[n]} where {wanted[n : n + 1]} belongs"
                )
            elif missing := [seq for seq in wanted[len(shown) :] if seq <= shown_until]:
                yield Finding("shown-once", missing[0], f"{channel} never shows {len(missing)} messages")


FAILS: Final = frozenset(f"transport.surface_{name}" for name in ("limited", "down", "lost"))
"""What goes wrong with a platform: it asks for a pause, is away, or takes a message and does not say so."""


class _Chat(Surface):
    """The platform as the gateway knows it."""

    name = NAME
    capabilities = Capabilities(supports_nonce=True)

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def start(self, inbound: TakeAct, memory: Memory) -> None:
        """Connect: nobody does anything there."""

    async def post(self, item: Posting) -> PlatformMessageId:
        return self._platform.take(item)

    async def find(self, item: Posting) -> PlatformMessageId | None:
        return self._platform.find(item)

    async def close(self) -> None:
        """Let go of it."""


class Gateway:
    """The gateway of a world on files, on a thread of its own, through all its lives."""

    def __init__(self, directory: Path, platform: Platform, authority: Authority) -> None:
        """Take where the society is; `start` starts."""
        self.platform = platform
        self._directory = directory
        self._authority = authority
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name="gateway", daemon=True
        )

    def start(self) -> None:
        """Start it."""
        self._thread.start()

    def close(self) -> None:
        """End it."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(DRAINED_S)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        await run_gateway(
            None,
            {NAME: Mirroring(build=lambda: _Chat(self.platform))},
            data_dir=self._directory,
            authority=self._authority,
            stop=self._stop,
            backoff=AGAIN_S,
            lifeline=None,
        )

    def drain(self, log: Sequence[Envelope]) -> None:
        """Wait until all that was said is shown, for a while."""
        mirrors = public_but_own_notes(NAME)
        wanted = sum(map(mirrors, log))
        for _ in range(round(DRAINED_S / LOOK_S)):
            if sum(map(len, self.platform.shown.values())) >= wanted:
                return
            time.sleep(LOOK_S)
