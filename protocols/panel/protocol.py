"""The protocol of review panels."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.protocol import Protocol, declared
from moot.protocols.kernel.rules import Minted
from moot.protocols.kernel.seats import ADMIN, ORCHESTRATOR
from moot.protocols.panel import grounds, messages, rights, seats, triggers_watch, wording
from moot.protocols.panel.panel import PANEL
from moot.protocols.panel.rounds import Rounds

PROTOCOL: Final = Protocol(
    name="panel",
    messages=declared(messages),
    wording=wording.WORDING,
    grounds=grounds.GROUNDS,
    duties=wording.DUTIES,
    seats=seats.SEATS,
    uses=(ADMIN, ORCHESTRATOR),
    switch="panel",
    channels=rights.CHANNELS,
    rights=rights.RIGHTS,
    cases=(PANEL,),
    folds=(Rounds,),
    sources=triggers_watch.sources,
    minted={"PANEL_OPENED": Minted(("panel_id",), "panel", True)},
)
