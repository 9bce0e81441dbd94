"""Anchors: once a day the log says what it was until midnight, so that who heard it can tell a later edit (K9, K15).

An ANCHOR names the last message before its nominal instant, not the head: so it follows from the log alone, however
late it is posted (K9). It is owed once a message from that instant on stands in the log, for then no other can come
before it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from moot.protocols.kernel.context import NOTHING, Fold
from moot.protocols.kernel.envelope import GENESIS, OFFICER, Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.officers import Anchor
from moot.protocols.kernel.seats import TIMEKEEPER
from moot.protocols.kernel.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable

    from moot.protocols.kernel.docket import Docket
    from moot.protocols.kernel.effects import Effects

DAY: Final = timedelta(days=1)

UNKNOWN: Final = GENESIS.hex()
"""Stands for the hash of a message in a log without hashes."""


class Anchors(Fold):
    """Names the timekeeper's ANCHORs: one where a midnight, UTC, lies between two messages; of several, the last."""

    name = "anchors"
    types = None

    def __init__(self) -> None:
        """Start before the first message."""
        self._seq = 0
        self._hash = ""
        self._next: datetime | None = None

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Draft] | None:
        """Take in what the last message is; where a midnight lies before this one, an ANCHOR is owed."""
        duty: tuple[Draft, ...] = NOTHING
        at = env.sent_at
        if self._next is None or at >= self._next:
            nominal = at.replace(hour=0, minute=0, second=0, microsecond=0)
            if self._next is not None:
                duty = (_duty(env, nominal, self._seq, self._hash),)
            self._next = nominal + DAY
        self._seq, self._hash = env.seq, env.hash
        return duty


def _duty(env: Envelope, nominal: datetime, seq: int, digest: str) -> Draft:
    return Draft(
        channel="#admin",
        author=TIMEKEEPER,
        actor=OFFICER,
        in_reply_to=env.id,
        key=f"anchor/{rfc3339(nominal)}",
        body=Anchor(nominal_at=nominal, seq=seq, hash=digest or UNKNOWN),
    )


def same(expected: Message, given: Message) -> bool:
    """Compare an ANCHOR that is owed with one that was posted, where the log has no hashes to compare it with."""
    return (
        isinstance(expected, Anchor)
        and isinstance(given, Anchor)
        and expected.hash == UNKNOWN
        and (expected.nominal_at, expected.seq) == (given.nominal_at, given.seq)
    )
