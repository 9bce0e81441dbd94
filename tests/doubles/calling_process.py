"""A society whose Critic is a model, which kills itself with SIGKILL at a moment of its first call.

Moments: the request's body is `kept`, the call is `reserved`, the record of its reply is kept (`replied`), and the call
is `settled`.
Arguments: data directory, the model's URL, the moment ("" for none), hours to live; the address of the society on NATS
where it is one of several hosts.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from moot.bots.officers.bursar import Bursar
from moot.channels.log.lease import Lease
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.lease import NatsLease
from moot.channels.nats.thread import NatsThread
from moot.clock import VirtualClock
from moot.config.settings import load_settings
from moot.hosts.leading import Leading
from moot.hosts.standby import Standby
from moot.plan import Plan
from moot.protocols.calls.call import Call
from moot.protocols.calls.messages import CallReserved, CallSettled
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.society import Society
from moot.stored import last_sent_at
from tests.doubles.table import START


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


RESERVED: set[str] = set()
"""Calls of this life; those of an earlier one are settled first."""


def watch(env: Envelope, _fx: Effects) -> None:
    """Die behind a message of this life's first call."""
    body = env.body
    if type(body) is CallReserved:
        RESERVED.add(body.call_id)
        if moment == "reserved":
            die()
    elif type(body) is CallSettled and moment == "settled" and body.call_id in RESERVED:
        die()


settle = Bursar._settle


async def die_or_settle(bursar: Bursar, call: Call, *more: Any) -> None:
    if call.asked.call_id in RESERVED:
        die()
    await settle(bursar, call, *more)


def main(directory: str, url: str, hours: str) -> None:
    if moment == "kept":
        Bursar._reserve = die  # type: ignore[method-assign,assignment]
    elif moment == "replied":
        Bursar._settle = die_or_settle  # type: ignore[method-assign,assignment]
    place = Path(directory)
    model: dict[str, Any] = {"url": url, "model": "tiny-1", "price": {"input": 1, "output": 10}}
    settings = load_settings(
        models={"local": model},
        minds={"critic": {"model": "local"}},
        schedules={"micro": {"at": [(START + timedelta(hours=hour)).isoformat() for hour in range(3)]}},
        panel={"enabled": False},
        desk={"enabled": False},
        arena={"enabled": False},
    )
    plan = Plan(settings=settings, seed=1, start=START, directory=place, bus="nats" if address else "sqlite")
    with ExitStack() as exits:
        lease = exits.enter_context(Lease.acquire(place))
        led = (
            asyncio.run(followed(plan, lease, exits.enter_context(NatsThread(address)))) if address else None
        )
        lead(replace(plan, start=last_sent_at(place) or START, led=led), lease, float(hours))


async def followed(plan: Plan, lease: Lease, nats: NatsThread) -> Leading | None:
    """Follow until this host leads, which it does as soon as the one before falls silent."""

    def stand() -> NatsLease:
        return NatsLease(
            nats, name=f"{os.getpid()}", token=f"{os.getpid()}", since=str, lapse_s=0.5, renew_s=0.05
        )

    return await Standby(plan, lease, nats, f"{os.getpid()}", stand).follow(asyncio.Event(), print)


def lead(plan: Plan, lease: Lease, hours: float) -> None:
    start = plan.start

    async def live(clock: VirtualClock) -> None:
        async with await Society.open(plan, clock, lease=lease, listener=watch) as society:
            await society.run_until(start + timedelta(hours=hours))

    VirtualClock(start).run(live)


if __name__ == "__main__":
    directory, url, moment, hours, *more = sys.argv[1:]
    address = NatsAddress.parse(more[0]) if more else None
    Path(directory).mkdir(exist_ok=True)
    main(directory, url, hours)
