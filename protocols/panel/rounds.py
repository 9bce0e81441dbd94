"""How panels end: counted over the whole log, for the rate of [PANEL-SHRUNK] (spec 6)."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.context import Deed, Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.panel.audit import name_of
from moot.protocols.panel.state import DECIDED, PanelState

NAME: Final = "panels"
SHRUNK: Final = "PANEL-SHRUNK"

MOST: Final = 0.05
"""A higher share of shrunk panels is alarming (spec 6)."""
FEWEST: Final = 3
"""So many shrunk panels it takes: of a few, one is soon more than 5 %."""
MOST_SEQS: Final = 10
"""An escalation names at most so many messages."""


class Rounds(Fold):
    """Count the panels that ended, and those of them that shrank.

    Attributes:
        ended: All that ended, refused and stopped ones among them.
        decided: Those with a decision.
        shrunk: Those that ended in [PANEL-SHRUNK].
        seqs: Of the messages that ended the last of the shrunk ones.
    """

    name = NAME
    types = frozenset()
    deeds = Deed.ENDED

    def __init__(self) -> None:
        """Start with none."""
        self.ended = 0
        self.decided = 0
        self.shrunk = 0
        self.seqs: tuple[int, ...] = ()

    @property
    def rate(self) -> float:
        """Return the share of the ended panels that shrank; 0 before the first."""
        return self.shrunk / self.ended if self.ended else 0.0

    @property
    def is_alarming(self) -> bool:
        """Say whether an admin should look into it."""
        return self.shrunk >= FEWEST and self.rate > MOST

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Count the panels that a message ends."""
        for state in fx.ended:
            if not isinstance(state, PanelState):
                continue
            self.ended += 1
            self.decided += state.outcome == DECIDED
            if name_of(state.verdict) == SHRUNK:
                self.shrunk += 1
                self.seqs = (*self.seqs, env.seq)[-MOST_SEQS:]
