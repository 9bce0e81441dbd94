"""Following and leading in turn: a host leads when nobody does, and follows again when it was deposed."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog

from moot.channels.errors import BusClosed, LeaseHeld, StorageError
from moot.channels.log.lease import Lease
from moot.channels.nats.address import NatsAddress
from moot.channels.nats.bus import NatsBus
from moot.channels.nats.lease import LAPSE_S, NatsLease, deposed
from moot.channels.nats.pump import NatsPump
from moot.channels.nats.stream import NatsStream
from moot.channels.nats.thread import NatsThread
from moot.clock.wall import utc_ns
from moot.hosts.copying import Copier
from moot.hosts.leading import Leading
from moot.hosts.presence import Presence
from moot.hosts.standby import Standby
from moot.hosts.waiting import Waiting
from moot.plan import Plan
from moot.ports import Posting
from moot.protocols.codec import decode_body
from moot.protocols.kernel.times import rfc3339
from moot.society import Society
from moot.stored import last_envelope

AGAIN_S: Final = 1.0
"""The pause after the servers were not there, in wall seconds."""

_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")

_log = structlog.get_logger(__name__)


def take_turns(
    plan: Plan,
    address: NatsAddress,
    lease: Lease,
    live: Callable[[Leading], None],
    tell: Callable[[str], None],
    *,
    leads: bool = True,
    replicas: int | None = None,
) -> None:
    """Follow, lead, and follow again, until told to stop.

    Args:
        plan: What society it is; it has a directory.
        address: Where its log is.
        lease: That of the directory.
        live: Leads until the society is stopped.
        tell: Told in one line what the host does.
        leads: Whether this host may lead; else it only keeps its mirror.
        replicas: On how many servers the log is kept; None: on one, where it is made.

    Raises:
        BadInput: It is kept on another number of servers.
        CorruptLog: The stream and the mirror differ.
        EmptyLog: There is no society that this host could mirror.
        NatsUnavailable: No server answers at the start.
    """
    assert plan.directory is not None
    name = name_of(plan.directory)
    with NatsThread(address, name=name) as nats:
        if replicas is not None:
            create = last_envelope(plan.directory) is None
            nats.wait(lambda connection: NatsStream(connection).open(create=create, replicas=replicas))
        while True:
            try:
                leading = asyncio.run(_follow(plan, lease, nats, name, tell, leads))
            except (BusClosed, StorageError) as fault:
                tell(f"this host cannot follow: {fault}; it tries again")
                if asyncio.run(_stopped_within(AGAIN_S)):
                    return
                continue
            if leading is None:
                return
            tell(f"{name} leads {address} from message {leading.folding.docket.seq} on")
            try:
                return live(leading)
            except LeaseHeld as held:
                _log.info("deposed", why=str(held))
                tell(f"{name} no longer leads {address}: another host does, and it follows")
            except (BusClosed, StorageError) as fault:
                tell(f"this host cannot lead: {fault}; it follows")
            finally:
                leading.lease.close()


def name_of(directory: Path) -> str:
    """Return what a host is called: its machine and its data directory."""
    return _NO_NAME.sub("-", f"{socket.gethostname()}-{directory.absolute().name}")[:100]


async def among_hosts(
    exits: AsyncExitStack, leading: Leading, society: Society, door: Posting, tell: Callable[[str], None]
) -> None:
    """Serve the inbox that all hosts share, tell how far this one is, and end when it is deposed; until `exits` closes.

    Args:
        exits: Closed before the society is.
        leading: What the host leads with.
        society: The society.
        door: Takes in what guests post.
        tell: Told in one line that the society waits for the servers, and that it goes on.
    """
    loop, directory = asyncio.get_running_loop(), society.plan.directory
    assert directory is not None

    def depose(fault: Exception) -> None:
        if isinstance(society.bus, NatsBus):
            # Nobody waits any more for what cannot be known here.
            society.bus.depose(fault)
        society.fail(fault)

    def lost(_lost: object) -> None:
        if not loop.is_closed():
            fault = deposed(str(leading.nats.address), leading.lease.leader)
            loop.call_soon_threadsafe(depose, fault)

    waiting = Waiting(leading.nats, leading.lease, society.clock, tell)

    def end() -> None:
        if waiting.is_on:
            # It ends without SOCIETY_STOPPED, as in a crash, for nobody would take that.
            depose(BusClosed(f"{leading.nats.address.where} does not answer"))
        waiting.close()

    exits.callback(end)
    leading.lease.lost.add_done_callback(lost)
    exits.enter_context(Copier(leading.nats, directory))
    exits.enter_context(Presence(leading.nats, directory, leading.name, lambda: society.host.docket.seq))
    pump = NatsPump(leading.nats, leading.lease.epoch, door, decode_body, hold=society.clock.hold)
    exits.push_async_callback(pump.close)


async def _follow(
    plan: Plan, lease: Lease, nats: NatsThread, name: str, tell: Callable[[str], None], leads: bool
) -> Leading | None:
    def stand() -> NatsLease:
        token = uuid.uuid4().hex  # noqa: TID251  # tells one candidacy from all others; the log does not depend on it
        return NatsLease(nats, name=name, token=token, since=_now, lapse_s=LAPSE_S if leads else None)

    return await Standby(plan, lease, nats, name, stand, create=leads).follow(_stop(), tell)


async def _stopped_within(wall_s: float) -> bool:
    try:
        await asyncio.wait_for(_stop().wait(), wall_s)
    except TimeoutError:
        return False
    return True


def _stop() -> asyncio.Event:
    """Return what Ctrl-C and SIGTERM set, on the running loop."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _now() -> str:
    return rfc3339(datetime.fromtimestamp(utc_ns() // 1_000_000_000, UTC))
