"""Who posts the messages of a panel: one row a type, all in `#r-panel`."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.catalogue import Channel, Right
from moot.protocols.kernel.seats import ADMIN, ORCHESTRATOR
from moot.protocols.panel.seats import PANELISTS, SYNTHESIZER

PLACE: Final = "#r-panel"
_HERE: Final = frozenset({PLACE})
_ORCHESTRATOR: Final = frozenset({ORCHESTRATOR})

CHANNELS: Final = (Channel(PLACE, "panel", "review panels under a contract", "Arena and panels"),)

RIGHTS: Final = (
    Right("PANEL_OPENED", frozenset({ADMIN}), _HERE),
    Right("PHASE1", PANELISTS, _HERE),
    Right("PHASE2", PANELISTS, _HERE),
    Right("LINT", _ORCHESTRATOR, _HERE),
    Right("SYNTHESIS", frozenset({SYNTHESIZER}), _HERE),
    Right("PANEL_DECIDED", _ORCHESTRATOR, _HERE),
    Right("PANEL_ABORTED", _ORCHESTRATOR, _HERE),
)
