"""A society that lives long keeps no more than one that lives briefly, but for the lines of what it must remember."""

from __future__ import annotations

import asyncio
import gc
import types
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from moot.bots.bot import Bot
from moot.bots.desk.market import Market
from moot.bots.tools.universe import Universe
from moot.channels.log import filed
from moot.clock import VirtualClock
from moot.config.settings import Settings, load_settings
from moot.plan import Plan
from moot.protocols.kernel import closed
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.rules import Rules
from moot.society import Society

START = datetime(2026, 2, 23, tzinfo=UTC)
FIRST, LAST = 500, 1_500
"""What is kept is counted after so many messages, and after so many."""

WINDOW = 64
"""So small are the windows here, so that they are full after the first messages."""

MOST_A_MESSAGE = 3.0
"""So many objects a message may leave: those of ended cases, strategies, lessons, sessions, orders."""

FIXED = (
    Rules,
    Settings,
    Universe,
    Market,
    VirtualClock,
    asyncio.AbstractEventLoop,
    asyncio.Future,
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.CodeType,
    types.FrameType,
    types.CoroutineType,
    type(len.__call__),
)
"""What a society has from its beginning, and what its running tasks hold."""


def kept(society: Society) -> Counter[type]:
    """Count what the society holds, directly or not, by class."""
    found: Counter[type] = Counter()
    seen: set[int] = set()
    bots = [one for one in gc.get_referents(society.host) if isinstance(one, Bot)]
    open_ended: list[Any] = [society.bus, society.host, *bots, *society.minds.values()]
    while open_ended:
        one = open_ended.pop()
        if id(one) in seen or isinstance(one, FIXED):
            continue
        seen.add(id(one))
        found[type(one)] += 1
        if not isinstance(one, Envelope):  # what one consists of says nothing of how many there are
            open_ended.extend(gc.get_referents(one))
    return found


def live(directory: Path) -> tuple[Counter[type], Counter[type], int, int]:
    """Let the shipped society live on the disk.

    Returns:
        Both counts, and at the second one the messages of open cases and what is owed in them or was ruled void.
    """
    plan = Plan(
        settings=load_settings(log={"durability": "process"}),
        seed=1,
        start=START,
        directory=directory,
        bus="sqlite",
        is_admin_simulated=True,
    )
    counts: dict[int, Counter[type]] = {}
    said = owed = 0

    async def main(clock: VirtualClock) -> None:
        done = asyncio.Event()

        def listen(env: Envelope, _fx: Effects) -> None:
            nonlocal said, owed
            if env.seq in (FIRST, LAST):
                counts[env.seq] = kept(society)
            if env.seq == LAST:
                said = sum(len(case) for case in society.host._transcripts.values())
                owed = len(society.host.docket.open) + sum(
                    len(ruled) for ruled in society.host.docket.closed._voided.values()
                )
                done.set()

        society = await Society.open(plan, clock, listener=listen)
        async with society:
            await society.run_until(START + timedelta(days=30), done)

    VirtualClock(START).run(main)
    return counts[FIRST], counts[LAST], said, owed


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filed, "WINDOW", WINDOW)
    monkeypatch.setattr(filed, "IDS", WINDOW)
    monkeypatch.setattr(closed, "KEPT", WINDOW)


@pytest.mark.rule("K18")
@pytest.mark.usefixtures("small_windows")
def test_k18_a_message_leaves_little_behind(tmp_path: Path) -> None:
    first, last, said, owed = live(tmp_path)
    assert last[Draft] <= WINDOW / 4
    assert last[Envelope] <= 2 * WINDOW + said
    assert last[Obligation] <= 2 * WINDOW + owed
    left = (last.total() - first.total()) / (LAST - FIRST)
    assert left <= MOST_A_MESSAGE, (last - first).most_common(12)
