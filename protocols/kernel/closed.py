"""What is gone: obligations that were closed, to tell late from illegal and overtaken from never owed (K5)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import Seat

KEPT: Final = 1_000
"""So many closed obligations are remembered at least."""

LATELY: Final = timedelta(hours=1)
"""So long each of them is remembered at least, unless so many others are closed meanwhile."""

MOST: Final = 10_000
"""So many closed obligations are remembered whatever their age, and so many voided ones; twice as many at most."""


class ClosedObligations:
    """The obligations that were closed lately, and the last ones that a RULING voided.

    An officer may post what was due a moment ago, before it reads the message that overtook it: such a
    message is superseded, not faulty. A seat may answer after the ruling on it: such an answer is late.
    """

    def __init__(self) -> None:
        """Start with nothing closed."""
        self._young: dict[str, Obligation] = {}
        self._old: dict[str, Obligation] = {}
        self._young_since: datetime | None = None
        self._voided: dict[tuple[str, Seat], tuple[Obligation, ...]] = {}

    def __len__(self) -> int:
        """Count the closed obligations that are remembered."""
        return len(self._young) + len(self._old)

    def close(self, obligation: Obligation, at: datetime) -> None:
        """Remember that an obligation was closed at an instant, and forget those of long ago."""
        count = len(self._young)
        if count >= KEPT and (count >= MOST or self._young_since is None or at - self._young_since >= LATELY):
            self._old, self._young = self._young, {}
            self._young_since = at
        self._young[obligation.id] = obligation

    def void(self, obligation: Obligation) -> None:
        """Remember that an obligation was ruled void."""
        key = (obligation.case_id, obligation.seat)
        self._voided[key] = (*self._voided.pop(key, ()), obligation)
        if len(self._voided) > MOST:
            del self._voided[next(iter(self._voided))]

    def find(self, obligation_id: str) -> Obligation | None:
        """Return an obligation that was closed, None when there was none, or long ago."""
        return self._young.get(obligation_id) or self._old.get(obligation_id)

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
