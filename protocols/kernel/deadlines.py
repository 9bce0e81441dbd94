"""Deadlines: which open obligation falls due when, and which ones the referee has pinged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import OFFICERS, PEOPLE

SLACK: Final = 1024
"""So many entries of closed obligations may lie about before they are swept out."""


class Deadline(NamedTuple):
    """An instant at which an officer has something to do about an obligation.

    Attributes:
        at: The instant.
        obligation_id: The obligation.
        is_void: Whether its grace ends there; else its time.
    """

    at: datetime
    obligation_id: str
    is_void: bool


class Deadlines:
    """A queue over the open obligations: the earliest instant at which one of them asks for an officer.

    Obligations that were closed or moved meanwhile stay behind as entries that no longer hold, and are
    dropped when their turn comes. People are never pinged nor ruled on, so what they owe has no deadline
    here: the referee owes the end of an escalation.

    Attributes:
        pinged: When the referee pinged, by the id of the open obligation.
    """

    def __init__(self, open_: Mapping[str, Obligation]) -> None:
        """Watch a mapping of open obligations, which stays the docket's."""
        self._open = open_
        self._heap: list[Deadline] = []
        self._fresh: list[Obligation] = []
        self.pinged: dict[str, datetime] = {}

    def add(self, obligation: Obligation) -> None:
        """Watch an obligation, or one whose time has moved."""
        fresh = self._fresh
        fresh.append(obligation)
        # Most are closed before anybody asks for the time, so only the survivors are sorted in.
        if len(fresh) > SLACK and len(fresh) > 4 * len(self._open):
            self._sort_in()

    def ping(self, obligation: Obligation, at: datetime) -> None:
        """Note that the referee has pinged at an instant; what comes next is the end of its grace."""
        self.pinged[obligation.id] = at
        heappush(self._heap, self._next_of(obligation))

    def void_at(self, obligation: Obligation) -> datetime:
        """Return when the referee may rule: a grace after it was due, or after the ping where that came late."""
        pinged_at = self.pinged.get(obligation.id, obligation.due_at)
        return max(obligation.due_at, pinged_at) + obligation.grace

    def shift(self, gap: timedelta) -> None:
        """Start anew from the open obligations, whose times an outage has moved (K6)."""
        self.pinged = {obligation_id: at + gap for obligation_id, at in self.pinged.items()}
        self._rebuild()

    def _rebuild(self) -> None:
        self._fresh = []
        self._heap = [self._next_of(o) for o in self._open.values() if o.seat not in PEOPLE]
        heapify(self._heap)

    def next_instant(self) -> datetime | None:
        """Return the earliest deadline; None when there is none."""
        self._sort_in()
        heap = self._heap
        while heap:
            entry = heap[0]
            obligation = self._open.get(entry.obligation_id)
            if obligation is not None and entry == self._next_of(obligation):
                return entry.at
            heappop(heap)
        return None

    def ripe(self, now: datetime) -> list[tuple[Obligation, bool]]:
        """Return the obligations whose deadline has come, the earliest first, and whether grace is over too.

        An obligation that was not pinged is returned for its ping, even when its grace is over.
        """
        entries: list[Deadline] = []
        while (instant := self.next_instant()) is not None and instant <= now:
            entry = heappop(self._heap)
            if not entries or entries[-1] != entry:
                entries.append(entry)
        for entry in entries:
            heappush(self._heap, entry)
        return [(self._open[entry.obligation_id], entry.is_void) for entry in entries]

    def _sort_in(self) -> None:
        fresh = self._fresh
        if not fresh:
            return
        self._fresh = []
        is_open = self._open
        if len(self._heap) > SLACK + 4 * len(is_open):
            self._rebuild()
            return
        heap = self._heap
        for obligation in fresh:
            if is_open.get(obligation.id) is obligation and obligation.seat not in PEOPLE:
                heappush(heap, self._next_of(obligation))

    def _next_of(self, obligation: Obligation) -> Deadline:
        if obligation.id in self.pinged and obligation.seat not in OFFICERS:
            return Deadline(self.void_at(obligation), obligation.id, True)
        return Deadline(obligation.due_at, obligation.id, False)
