"""Deadlines: which open obligation falls due when, which ones the referee has pinged, of which it reminded a person."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.seats import OFFICERS, PEOPLE

SLACK: Final = 1024
"""So many entries of closed obligations may lie about before they are swept out."""


REMINDER_INTERVAL: Final = timedelta(minutes=30)
"""Interval between reminders of a person's duty, and between pages of an URGENT escalation (R-E2, R-G16)."""

MAX_REMINDERS: Final = 5
"""Maximum number of reminders of a person's duty, and of further pages of an escalation (R-E2)."""


class Deadline(NamedTuple):
    """An instant at which an officer has something to do about an obligation.

    Attributes:
        at: The instant.
        obligation_id: The obligation.
        is_void: Whether it may be ruled void there; else it asks for its ping, or for a notice to a person.
    """

    at: datetime
    obligation_id: str
    is_void: bool


class Deadlines:
    """A queue over the open obligations: the earliest instant at which one of them asks for an officer.

    Obligations that were closed or moved meanwhile stay behind as entries that no longer hold, and are
    dropped when their turn comes. People are never pinged. What they owe has a deadline here where it can be
    missed: until then the referee reminds them (R-G16). For an escalation, the referee owes its end.

    Attributes:
        pinged: When the referee pinged, by the id of the open obligation.
        notices: Number of notices so far, by the id of a person's open obligation.
    """

    def __init__(self, open_: Mapping[str, Obligation]) -> None:
        """Watch a mapping of open obligations, which stays the docket's."""
        self._open = open_
        self._heap: list[Deadline] = []
        self._fresh: list[Obligation] = []
        self.pinged: dict[str, datetime] = {}
        self.notices: dict[str, int] = {}

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

    def note_notice(self, obligation: Obligation) -> None:
        """Note that the referee has asked or reminded a person; a reminder comes next, or the ruling."""
        self.notices[obligation.id] = self.notices.get(obligation.id, 0) + 1
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
        self._heap = [self._next_of(o) for o in self._open.values() if o.is_ruled_on]
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

        An obligation that was not pinged is returned for its ping, even when its grace is over; a person's for each
        notice that is left.
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
            if is_open.get(obligation.id) is obligation and obligation.is_ruled_on:
                heappush(heap, self._next_of(obligation))

    def _next_of(self, obligation: Obligation) -> Deadline:
        if obligation.id in self.pinged and obligation.seat not in OFFICERS:
            return Deadline(self.void_at(obligation), obligation.id, True)
        if obligation.seat in PEOPLE:
            at = notice_at(obligation, self.notices.get(obligation.id, 0))
            return Deadline(at or obligation.void_at, obligation.id, at is None)
        return Deadline(obligation.due_at, obligation.id, False)


def notice_at(obligation: Obligation, n: int) -> datetime | None:
    """Return when a person is asked (0) or reminded for the n-th time, None for no more: all come before the ruling."""
    at = obligation.opened_at + obligation.outage + n * REMINDER_INTERVAL
    return at if n == 0 or (n <= MAX_REMINDERS and at < obligation.void_at) else None


def first_instant(obligation: Obligation) -> datetime:
    """Return when an obligation first asks for an officer: a person is told of it when it opens."""
    if obligation.seat in PEOPLE and obligation.can_be_missed:
        return obligation.opened_at
    return obligation.due_at
