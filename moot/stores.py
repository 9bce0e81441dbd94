"""What a society is kept in: its bus, its memory, its evidence, as its plan says."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
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
from moot.folding import Folding
from moot.memory.errors import CorruptStore
from moot.memory.evidence import DirectoryEvidence, Evidence, InMemoryEvidence
from moot.memory.inmemory import InMemoryStore
from moot.memory.sqlite import HoldTime, SqliteStore
from moot.memory.store import Store
from moot.model_service import Synced
from moot.plan import Plan
from moot.protocols.codec import decode_stored
from moot.protocols.kernel.rules import Gate
from moot.snapshot import read_snapshot
from moot.stored import hash_at, last_envelope, stored_envelopes

_log = structlog.get_logger("moot.stores")


def catch_up(directory: Path, folding: Folding) -> None:
    """Fold what the log of a data directory holds, from the snapshot on where one fits (K18)."""
    if not folding.docket.seq:
        found = read_snapshot(directory, rules=folding.rules, hash_at=partial(hash_at, directory))
        if found is not None and found[0] <= folding.store.applied_seq:
            folding.restore(found[1])
    if last_envelope(directory) is not None:
        folding.catch_up(stored_envelopes(directory, folding.docket.seq + 1))


async def memory_of(plan: Plan, clock: Clock, exits: AsyncExitStack) -> tuple[Store, Evidence]:
    """Open memory and what is kept as evidence.

    Raises:
        StoreUnavailable: Memory cannot be opened; what is damaged is rebuilt from the log.
    """
    if plan.directory is None:
        return InMemoryStore(), plan.past.evidence if plan.past is not None else InMemoryEvidence()
    # People look at what a living society remembers; a simulated one is looked at when it is over.
    store = await open_memory(plan.directory, hold=clock.hold, is_prompt=clock.kind != "virtual")
    exits.push_async_callback(store.close)
    evidence = DirectoryEvidence(plan.directory / "evidence")
    return store, evidence if plan.led is None else plan.led.evidence(evidence)


async def open_memory(
    directory: Path, *, hold: HoldTime = nullcontext, is_prompt: bool = False
) -> SqliteStore:
    """Open memory; what is damaged or belongs to another log is thrown away, for the log rebuilds it.

    Raises:
        StoreUnavailable: It cannot be opened.
    """
    path = directory / "moot.memory.sqlite"
    try:
        store = await SqliteStore.open(path, hold=hold, is_prompt=is_prompt)
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
    return await SqliteStore.open(path, hold=hold, is_prompt=is_prompt)


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
    elif plan.led is not None:
        if plan.directory is None:
            raise ValueError("a host of several needs a data directory")
        bus = await plan.led.bus(plan.directory, gate, clock, lease, exits)
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
