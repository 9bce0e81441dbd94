"""The protocol of the Arena."""

from __future__ import annotations

from typing import Final

from moot.protocols.arena import acts, grounds, messages, rights, seats, wording
from moot.protocols.arena.run import RUN
from moot.protocols.kernel.protocol import Protocol, declared
from moot.protocols.kernel.rules import Minted
from moot.protocols.kernel.seats import ADMIN, ORCHESTRATOR

PROTOCOL: Final = Protocol(
    name="arena",
    messages=declared(messages),
    wording=wording.WORDING,
    grounds=grounds.GROUNDS,
    duties=wording.DUTIES,
    seats=seats.SEATS,
    uses=(ADMIN, ORCHESTRATOR),
    switch="arena",
    channels=rights.CHANNELS,
    rights=rights.RIGHTS,
    cases=(RUN,),
    acts=acts.ACTS,
    minted={"ARENA_TASK": Minted(("run_id",), "arena", True)},
)
