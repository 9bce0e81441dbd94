"""Order: dense seq, ids that are unique, time that never runs backwards (K3)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import Enum

from moot.protocols.kernel.envelope import Envelope
from moot.verify.report import Findings


class Place(Enum):
    """What to do with a line by its seq."""

    HERE = "here"
    """It stands where it belongs, or its seq alone is wrong."""
    AFTER_GAP = "after a gap"
    EARLY = "early"
    """It stands one line too early: the next line comes first."""
    NOWHERE = "nowhere"
    """Its seq was there before."""


class Order:
    """Judges the place of each line.

    Attributes:
        next: The seq that comes next.
        ids: All ids so far.
        at: `sent_at` of the last message.
    """

    def __init__(self, findings: Findings) -> None:
        """Start before seq 1."""
        self._findings = findings
        self.next = 1
        self.ids: set[str] = set()
        self.at: datetime | None = None

    def place(self, seq: int, identity: str, following: Callable[[], int]) -> Place:
        """Say where a line belongs that does not carry the next seq.

        Args:
            seq: What it carries.
            identity: Its id.
            following: Looks up the seq of the line after it, 0 for none.
        """
        wanted = self.next
        if seq == wanted:
            return Place.HERE
        after = following()
        if after == wanted + 1 or (after == 0 and seq < wanted and identity not in self.ids):
            self._findings.add(wanted, "dense_seq", "K3", f"it says seq {seq} where {wanted} comes next")
            return Place.HERE
        if seq < wanted:
            self._findings.add(seq, "dense_seq", "K3", f"seq {seq} stands again, {wanted} comes next")
            return Place.NOWHERE
        if after == wanted:
            self._findings.add(wanted, "dense_seq", "K3", f"seq {seq} stands where {wanted} comes next")
            return Place.EARLY
        missing = f"seq {wanted} is" if seq == wanted + 1 else f"seq {wanted} to {seq - 1} are"
        self._findings.add(wanted, "dense_seq", "K3", f"{missing} missing")
        return Place.AFTER_GAP

    def take(self, env: Envelope, seq: int, following: Callable[[], datetime | None]) -> None:
        """Check id and time of the next message.

        Args:
            env: The message.
            seq: Its place in the log, whatever it says itself.
            following: Looks up `sent_at` of the line after it, None for none.
        """
        self.next = seq + 1
        ids = self.ids
        if env.id in ids:
            self._findings.add(seq, "unique_id", "K1", f"the id {env.id} stands in the log before")
        ids.add(env.id)
        at = env.sent_at
        if self.at is not None and at < self.at:
            after = following()
            is_early = after is not None and after < self.at
            odd, why = (
                (seq - 1, "is sent after its successor")
                if is_early
                else (seq, "is sent before its predecessor")
            )
            self._findings.add(
                odd, "time", "K3", f"{why}: {self.at:%d %H:%M:%S.%f}, then {at:%d %H:%M:%S.%f}"
            )
            if not is_early:
                return
        self.at = at
