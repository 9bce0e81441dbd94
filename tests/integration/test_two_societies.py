"""Two societies in one workspace: born alike on one day, each keeps its own posts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot.channels.outbox.outbox import Outbox
from moot.channels.outbox.pacing import UNPACED
from moot.channels.outbox.store import Mirrored, OutboxStore
from moot.channels.surface import Surface
from moot.clock import VirtualClock
from moot.config.settings import load_settings
from moot.plan import Plan
from moot.protocols.kernel.envelope import Envelope
from moot.society import Society
from moot.stored import stored_envelopes
from tests.doubles import live_slack, on_discord
from tests.doubles.discord_server import DiscordServer
from tests.doubles.table import START
from tests.doubles.waiting import until as eventually

until = partial(eventually, within_s=60.0)


def born(directory: Path) -> list[Envelope]:
    """Let a society live for half an hour as a warm-up does, with the same settings, seed and start."""
    directory.mkdir()
    plan = Plan(settings=load_settings(), seed=1, start=START, directory=directory, is_warm_up=True)

    async def main(_clock: VirtualClock) -> None:
        async with await Society.open(plan, _clock) as society:
            await society.run_until(START + timedelta(minutes=30))

    VirtualClock(START).run(main)
    return list(stored_envelopes(directory))


async def mirror(surface: Surface, directory: Path, log: list[Envelope]) -> None:
    """Mirror a log whose posts are all in doubt, as after a power cut: each is looked up before it is posted."""
    store = OutboxStore(directory, "mirror", log[0].hash)
    await store.open()
    taken = [Mirrored(e.seq, e.channel, e.case_id, e.id, e.body.type, e.line) for e in log]
    await store.take(taken, len(log))
    for envelope in log:
        await store.intend([envelope.seq], store.nonce(envelope.seq))

    async def stream(cursor: int) -> AsyncIterator[list[str]]:
        yield [envelope.line for envelope in log[cursor:]]
        await asyncio.Event().wait()

    outbox = asyncio.create_task(Outbox(surface, store, pace=UNPACED).run(stream))
    try:
        await until(lambda: outbox.done() or store.cursor == len(log))
        while not outbox.done() and await store.channels():
            await asyncio.sleep(0.01)
    finally:
        outbox.cancel()
        await asyncio.gather(outbox, return_exceptions=True)
        await store.close()


@asynccontextmanager
async def in_discord(_monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Any, Callable[[], int]]]:
    with DiscordServer() as server:
        on_discord.with_channels(server)
        yield lambda: on_discord.started(server), lambda: len(on_discord.seqs(server))


@asynccontextmanager
async def in_slack(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Any, Callable[[], int]]]:
    with live_slack.slack_server(monkeypatch) as server:
        yield (
            lambda: live_slack.living(server),
            lambda: sum(len(server.posts(channel)) for channel in live_slack.ALL),
        )


Platform = Callable[[pytest.MonkeyPatch], AbstractAsyncContextManager[tuple[Any, Callable[[], int]]]]


@pytest.mark.parametrize("platform", [in_discord, in_slack])
def test_what_one_society_posted_is_never_taken_for_anothers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: Platform
) -> None:
    """Before it had a name of its own, the younger one's messages counted as posted and never were."""
    older, younger = born(tmp_path / "older"), born(tmp_path / "younger")
    assert [env.body.type for env in older] == [env.body.type for env in younger]

    async def main() -> None:
        async with platform(monkeypatch) as (surface, count):
            for directory, log in (("older", older), ("younger", younger)):
                async with surface() as started:
                    await mirror(started, tmp_path / directory, log)
            assert count() == len(older) + len(younger)

    asyncio.run(main())
