"""What is gone: obligations that were closed, to tell late from illegal and overtaken from never owed (K5)."""

from __future__ import annotations

from collections import deque
from typing import Final

from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat

KEPT: Final = 10_000
"""So many closed obligations, and so many voided ones, are remembered."""


class ClosedObligations:
    """The last obligations that were closed, and the last ones that a RULING voided.

    An officer may post what was due a moment ago, before it reads the message that overtook it: such a
    message is superseded, not faulty. A seat may answer after the ruling on it: such an answer is late.

    Attributes:
        lately: The obligations that were closed lately; the docket appends each.
    """

    def __init__(self) -> None:
        """Start with nothing closed."""
        self.lately: deque[Obligation] = deque(maxlen=KEPT)
        self._voided: dict[tuple[str, Seat], tuple[Obligation, ...]] = {}

    def void(self, obligation: Obligation) -> None:
        """Remember that an obligation was ruled void."""
        key = (obligation.case_id, obligation.seat)
        self._voided[key] = (*self._voided.pop(key, ()), obligation)
        if len(self._voided) > KEPT:
            del self._voided[next(iter(self._voided))]

    def find(self, obligation_id: str) -> Obligation | None:
        """Return an obligation that was closed, None when there was none, or long ago."""
        return next((o for o in reversed(self.lately) if o.id == obligation_id), None)

    def is_late(self, case_id: str | None, seat: Seat, kind: str, obligation_id: str | None) -> bool:
        """Say whether a message answers what was ruled void.

        Args:
            case_id: The case it belongs to.
            seat: Its author.
            kind: Its type.
            obligation_id: What it says it answers; None: the type alone decides.
        """
        voided = self._voided.get((case_id or "", seat), ())
        if obligation_id is not None:
            return any(o.id == obligation_id for o in voided)
        return any(kind in o.expects for o in voided)
