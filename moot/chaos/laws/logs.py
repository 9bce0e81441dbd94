"""Laws of the log itself."""

from __future__ import annotations

from typing import Final

from moot.chaos.laws.law import Findings, Memory, Message, hears
from moot.chaos.laws.recent import Recent

RECENT_IDS: Final = 200_000


class Dense(Memory, source="K3", is_raw=True):
    """Messages are numbered from 1 without a gap."""

    def __init__(self) -> None:
        self.last = 0

    @hears()
    def any(self, message: Message) -> Findings:
        expected, self.last = self.last + 1, message["seq"]
        if self.last != expected:
            return (f"seq {expected} should come here",)
        return ()


class TimeNeverGoesBack(Memory, source="K3, K7", is_raw=True):
    """No message was sent before the one in front of it."""

    def __init__(self) -> None:
        self.last = ""

    @hears()
    def any(self, message: Message) -> Findings:
        # All instants are UTC with six decimals and a Z, so that texts compare as instants do.
        before, self.last = self.last, message["sent_at"]
        if self.last < before:
            return (f"was sent at {self.last}, the message before it at {before}",)
        return ()


class IdsOnce(Memory, source="K1", is_raw=True):
    """What was acknowledged stands in the log once: no two messages have the same id."""

    def __init__(self) -> None:
        self.seqs: Recent[int, int] = Recent(RECENT_IDS)

    @hears()
    def any(self, message: Message) -> Findings:
        key = hash(message["id"])
        before = self.seqs.get(key)
        if before is not None:
            return (f"has the id {message['id']}, as seq {before} has",)
        self.seqs[key] = message["seq"]
        return ()
