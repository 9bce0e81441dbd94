"""What a model may look up for an answer, and what else the society knows about it: nothing, unless a kit is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moot.bots.minds.mind import View
from moot.bots.minds.model.asking import SeatTool
from moot.bots.minds.model.material import Quoted
from moot.protocols.kernel.message import Message


class Toolkit:
    """Helps with the duties of all seats; this one with none. Whatever it offers reads only."""

    def offered(self, view: View) -> Sequence[SeatTool]:
        """Return what may be looked up."""
        return ()

    def shown(self, view: View) -> Sequence[Quoted]:
        """Return what is shown without being looked up."""
        return ()

    def fixed(self, view: View) -> Mapping[str, Any]:
        """Return values of fields that are measured, not chosen; each counts where the answer has such a field."""
        return {}

    def fault_of(self, view: View, body: Message) -> str:
        """Say what is wrong with an answer that no rule of its case would find, "" for nothing."""
        return ""
