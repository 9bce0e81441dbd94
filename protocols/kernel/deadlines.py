"""Deadlines: which open obligation falls due when, and which ones the referee has pinged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
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
        pinged: Ids of open obligations that the referee has pinged.
    """

    def __init__(self, open_: Mapping[str, Obligation]) -> None:
        """Watch a mapping of open obligations, which stays the docket's."""
        self._open = open_
        self._heap: list[Deadline] = []
        self._fresh: list[Obligation] = []
        self.pinged: set[str] = set()

    def add(self, obligation: Obligation) -> None:
        """Watch an obligation, or one whose time has moved."""
        fresh = self._fresh
        fresh.append(obligation)
        # Most are closed before anybody asks for the time, so only the survivors are sorted in.
        if len(fresh) > SLACK and len(fresh) > 4 * len(self._open):
            self._sort_in()

    def ping(self, obligation: Obligation) -> None:
        """Note that the referee has pinged; what comes next is the end of its grace."""
        self.pinged.add(obligation.id)
        heappush(self._heap, self._next_of(obligation))

    def rebuild(self) -> None:
        """Start anew from the open obligations: their times have moved (K6)."""
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
            self.rebuild()
            return
        heap = self._heap
        for obligation in fresh:
            if is_open.get(obligation.id) is obligation and obligation.seat not in PEOPLE:
                heappush(heap, self._next_of(obligation))

    def _next_of(self, obligation: Obligation) -> Deadline:
        if obligation.id in self.pinged and obligation.seat not in OFFICERS:
            return Deadline(obligation.void_at, obligation.id, True)
        return Deadline(obligation.due_at, obligation.id, False)
