"""Guards around the folds of protocols that are not Moot's own: what one raises ends in the audit (R-G14).

A fold belongs to no case, so nothing but what it asked for is lost. It hears of what follows all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from moot.protocols.kernel.context import NOTHING, Fold
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import LocalProtocolError
from moot.protocols.kernel.seats import OFFICERS
from moot.protocols.kernel.steps import check_instant

if TYPE_CHECKING:
    from moot.protocols.kernel.docket import Docket
    from moot.protocols.kernel.effects import Effects


class GuardedFold(Fold):
    """A fold of a foreign protocol; rules that ask for it by its name get the fold itself.

    Attributes:
        inner: The fold.
        protocol: The name of its protocol.
    """

    def __init__(self, inner: Fold, protocol: str) -> None:
        """Wrap a fold of the named protocol."""
        self.inner = inner
        self.protocol = protocol
        self.name = str(inner.name)
        self.types = inner.types
        self.deeds = inner.deeds
        self._silent_seq = -1
        self._silent_at: datetime | None = None
        self._asked: tuple[Draft, ...] = ()

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Draft] | None:
        """Apply one envelope; return the duties that follow, none if the fold raises."""
        try:
            return self._checked(self.inner.apply(env, fx, docket), docket)
        except Exception as exc:
            self._fault(exc, docket)
            return None

    def alarm(self, docket: Docket) -> datetime | None:
        """Return the next instant at which the fold may ask for something; None where it raises or asked in vain."""
        try:
            found = self.inner.alarm(docket)
            if found is not None:
                check_instant(found)
        except Exception as exc:
            self._fault(exc, docket)
            return None
        is_vain = docket.seq == self._silent_seq and self._silent_at is not None
        return None if found is not None and is_vain and found <= self._silent_at else found  # type: ignore[operator]

    def ring(self, now: datetime, docket: Docket) -> Iterable[Draft]:
        """Return the duties that time alone makes due, none where the fold raises."""
        try:
            found = list(self._checked(self.inner.ring(now, docket), docket) or ())
        except Exception as exc:
            self._fault(exc, docket)
            found = []
        self._asked = tuple(found)
        left = tuple(draft for draft in found if draft.identity() not in docket.muted)
        if not left:
            self._silent_seq, self._silent_at = docket.seq, now
        return left or NOTHING

    def asks_for(self, key: str) -> bool:
        """Return True where the fold asked for a duty of this id when it was last rung."""
        return any(draft.identity() == key for draft in self._asked)

    def owed(self, env: Envelope, docket: Docket) -> Draft | None:
        """Return the duty that a message discharges; None where the fold raises."""
        try:
            found = self._checked((self.inner.owed(env, docket),), docket)
        except Exception as exc:
            self._fault(exc, docket)
            return None
        return next(iter(found or ()), None)

    def was_owed(self, env: Envelope, docket: Docket) -> bool:
        """Return whether a message was a duty that something else overtook; False where the fold raises."""
        try:
            return bool(self.inner.was_owed(env, docket))
        except Exception as exc:
            self._fault(exc, docket)
            return False

    def _checked(self, drafts: Iterable[Draft | None] | None, docket: Docket) -> list[Draft] | None:
        """Return the duties of a fold as a list.

        Raises:
            LocalProtocolError: One is none that an officer may post.
        """
        if drafts is None:
            return None
        found = []
        for draft in drafts:
            if draft is None:
                continue
            if not isinstance(draft, Draft) or draft.author not in OFFICERS:
                raise LocalProtocolError(f"a fold names drafts of officers, not {type(draft).__name__}")
            if not docket.rules.matrix.may_write(draft.author, draft.channel, draft.body.type):
                raise LocalProtocolError(f"{draft.author} may not post {draft.body.type} in {draft.channel}")
            draft.identity()
            found.append(draft)
        return found

    def _fault(self, error: Exception, docket: Docket) -> None:
        if docket.at is not None:
            name = self.name or type(self.inner).__name__
            docket.fault_rule(f"fold {name}", self.protocol, error, f"fold-{self.protocol}-{name}"[:150])
