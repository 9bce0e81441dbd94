"""How fast the bus on NATS is, as a share of the client library alone on the same server; medians of three runs."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from moot.channels.log.sequencer import Sequencer
from moot.channels.nats.connection import NatsConnection
from moot.channels.nats.stream import headers_of
from moot.protocols.kernel.envelope import Draft
from tests.benchmarks.bench_bus import a_draft, wall
from tests.doubles.nats import NatsServer, leading, running
from tests.doubles.tiny import TinyAdmission

ROUNDS = 3
ALONE, MANY = 1, 64
MESSAGES = {ALONE: 2_000, MANY: 12_800}


class Figures(NamedTuple):
    """Publishes a second: of the bus, of the library alone, of the library with the bus's headers."""

    ours: float
    raw: float
    with_headers: float


async def _rate(publishers: int, publish: Callable[[Draft], Awaitable[object]], drafts: list[Draft]) -> float:
    each = len(drafts) // publishers

    async def one(mine: list[Draft]) -> None:
        for draft in mine:
            await publish(draft)

    began = perf_counter()
    await asyncio.gather(*(one(drafts[who * each : (who + 1) * each]) for who in range(publishers)))
    return len(drafts) / (perf_counter() - began)


async def _one_run(server: NatsServer, publishers: int) -> Figures:
    drafts = [a_draft(n) for n in range(MESSAGES[publishers])]
    with tempfile.TemporaryDirectory() as name:
        async with leading(server.address(), Path(name), TinyAdmission(), wall) as bus:
            ours = await _rate(publishers, bus.publish, drafts)
    sequencer = Sequencer(TinyAdmission(), wall)
    entries = {draft.key: entry for draft in drafts if (entry := sequencer.take(draft)[1]) is not None}
    rates = []
    for has_headers in (False, True):
        address = server.address()
        async with await NatsConnection.open(address) as connection:
            await connection.js.add_stream(name=address.stream, subjects=[address.subject])

            async def raw(
                draft: Draft, connection: NatsConnection = connection, has_headers: bool = has_headers
            ) -> None:
                entry = entries[draft.key or ""]
                headers = headers_of(entry, 1) if has_headers else None
                if headers is not None:
                    del headers["Nats-Expected-Last-Sequence"]
                await connection.js.publish(
                    connection.address.subject, entry.envelope.json.encode(), headers=headers
                )

            rates.append(await _rate(publishers, raw, drafts))
    return Figures(ours, *rates)


@cache
def _figures(publishers: int) -> Figures:
    with tempfile.TemporaryDirectory() as name, running(Path(name)) as server:
        runs = [asyncio.run(_one_run(server, publishers)) for _ in range(ROUNDS)]
    return Figures(*(median(values) for values in zip(*runs, strict=True)))


def alone_ratio() -> float:
    """One publisher that awaits each receipt, against `js.publish` of the same texts one by one."""
    figures = _figures(ALONE)
    return figures.ours / figures.raw


def many_ratio() -> float:
    """64 publishers at once, each awaiting its receipt, against 64 that await `js.publish` of the same texts."""
    figures = _figures(MANY)
    return figures.ours / figures.raw


def publishes_per_s() -> float:
    """64 publishers at once."""
    return _figures(MANY).ours


def sealing_us() -> float:
    """What the sequencer takes for a message, in microseconds: the largest part that the library alone has not."""
    drafts = [a_draft(n) for n in range(MESSAGES[ALONE])]
    sequencer = Sequencer(TinyAdmission(), wall)
    began = perf_counter()
    for draft in drafts:
        sequencer.take(draft)
    return (perf_counter() - began) / len(drafts) * 1e6


def main() -> None:
    for publishers in (ALONE, MANY):
        figures = _figures(publishers)
        print(
            f"{publishers:>2} at once: bus {figures.ours:>8,.0f}/s, nats-py {figures.raw:>8,.0f}/s, with the bus's "
            f"headers {figures.with_headers:>8,.0f}/s: share {figures.ours / figures.raw:.2f}, of that with "
            f"headers {figures.ours / figures.with_headers:.2f}"
        )
    print(f"sealing a message: {sealing_us():.0f} µs")


if __name__ == "__main__":
    main()
