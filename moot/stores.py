"""What a society is kept in: its bus, its memory, its evidence, as its plan says."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import structlog

from moot.channels.bus import Bus
from moot.channels.log.inmemory import InMemoryBus
from moot.channels.log.lease import Lease
from moot.channels.log.sequencer import Entry
from moot.channels.log.sqlite import SqliteBus
from moot.channels.log.write_behind import LogWriter
from moot.clock import Clock
from moot.host import Host
from moot.memory.errors import CorruptStore
from moot.memory.evidence import DirectoryEvidence, Evidence, InMemoryEvidence
from moot.memory.inmemory import InMemoryStore
from moot.memory.sqlite import SqliteStore
from moot.memory.store import Store
from moot.model_service import Synced
from moot.plan import Plan
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.rules import Gate
from moot.snapshot import read_snapshot
from moot.stored import hash_at, stored_envelopes

_log = structlog.get_logger("moot.stores")


def catch_up(plan: Plan, host: Host) -> None:
    """Fold what the log holds, from the snapshot on where one fits (K18)."""
    directory = plan.directory
    if directory is None or plan.bus != "sqlite":
        return
    first = 1
    found = read_snapshot(directory, rules=host.rules, hash_at=partial(hash_at, directory))
    if found is not None and found[0] <= host.store.applied_seq:
        host.restore(found[1])
        first = found[0] + 1
    host.catch_up(stored_envelopes(directory, first))


async def memory_of(plan: Plan, clock: Clock, exits: AsyncExitStack) -> tuple[Store, Evidence]:
    """Open memory and what is kept as evidence.

    Raises:
        StoreUnavailable: Memory cannot be opened; what is damaged is rebuilt from the log.
    """
    if plan.directory is None:
        return InMemoryStore(), plan.past.evidence if plan.past is not None else InMemoryEvidence()
    store = await _open_memory(plan.directory, clock)
    exits.push_async_callback(store.close)
    return store, DirectoryEvidence(plan.directory / "evidence")


async def _open_memory(directory: Path, clock: Clock) -> SqliteStore:
    """Open memory; what is damaged or belongs to another log is thrown away, for the log rebuilds it."""
    path = directory / "moot.memory.sqlite"
    # People look at what a living society remembers; a simulated one is looked at when it is over.
    is_prompt = clock.kind != "virtual"
    try:
        store = await SqliteStore.open(path, hold=clock.hold, is_prompt=is_prompt)
    except CorruptStore as damage:
        why = str(damage)
    else:
        seq = store.applied_seq
        if not seq or hash_at(directory, seq) == store.applied_hash:
            return store
        await store.close()
        why = f"{path}: what it knows up to seq {seq} is not of this log"
    _log.warning("memory is rebuilt from the log", why=why)
    SqliteStore.discard(path)
    return await SqliteStore.open(path, hold=clock.hold, is_prompt=is_prompt)


async def bus_of(
    plan: Plan, clock: Clock, gate: Gate, lease: Lease | None, exits: AsyncExitStack
) -> tuple[Bus, Synced | None]:
    """Open the bus; with it what tells when its log is durable, where that is later than the publishing.

    Raises:
        LeaseHeld: Another society runs on the directory (K3).
        CorruptLog: Its log is not what was written, or is changed by others.
        StorageError: The disk does not let it be written, or there is another log.
    """
    synced: Synced | None = None
    if plan.bus == "sqlite":
        if plan.directory is None:
            raise ValueError("the SQLite bus needs a data directory")
        bus: Bus = await SqliteBus.open(
            plan.directory / "log.sqlite",
            admission=gate,
            now=clock.now,
            decode=decode_stored,
            durability=plan.durability,
            lease=lease,
            hold=clock.hold,
        )
    else:
        past = plan.past.entries if plan.past is not None else []
        on_entry: Callable[[Entry], None] | None = None
        if plan.directory is not None:
            writer = LogWriter(plan.directory / "log.sqlite", after=len(past), lease=lease)
            exits.callback(writer.close)
            on_entry, synced = writer.write, writer.synced
        elif plan.past is not None:
            on_entry = past.append
        if on_entry is not None and plan.last_seq is not None:
            on_entry = partial(_kept_until, plan.last_seq, on_entry)
        bus = InMemoryBus(admission=gate, now=clock.now, on_entry=on_entry, past=tuple(past))
    exits.push_async_callback(bus.close)
    return plan.ports.bus(bus, clock), synced


def _kept_until(last_seq: int, keep: Callable[[Entry], None], entry: Entry) -> None:
    if entry.envelope.seq <= last_seq:
        keep(entry)
