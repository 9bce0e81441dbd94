"""Deadlines: whatever the tables ask of the officers stands in the log in time (K5, K9, K16).

A violation's VIOLATION and RULING, pings and rulings for silence, pages and ends of escalations, the triggers
of cycles: the docket derives them all as duties; this module waits for them with the patience of `slack`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from moot.verify.report import Findings
from protocols.kernel.docket import Docket, Effects
from protocols.kernel.envelope import Envelope
from protocols.kernel.officers import SocietyStarted
from protocols.kernel.officers import Violation as ViolationMessage


class Deadlines:
    """Compares what is due with the time that has passed while the society was up (K6)."""

    def __init__(self, findings: Findings) -> None:
        """Start with nothing due."""
        self._findings = findings
        self._caused_at: dict[int, datetime] = {}
        self._next: datetime | None = None
        self._is_known = False
        self._said: set[str] = set()

    def before(self, env: Envelope, docket: Docket, settled_at: datetime | None, slack: timedelta) -> None:
        """Check what should have come before a message that is sent so much later.

        Args:
            env: The message, not folded yet.
            docket: The state before it.
            settled_at: Since when the society is up; nobody is late before that plus `slack`.
            slack: How late the officers may be.
        """
        if settled_at is None or not docket.house.is_up or isinstance(env.body, SocietyStarted):
            return
        before = env.sent_at - slack
        if before <= settled_at:
            return
        if docket.pending:
            self._pending(env.id, env.seq, docket, before)
            return
        if self._is_known and (self._next is None or before < self._next):
            return
        self._next = docket.next_instant()
        self._is_known = True
        if self._next is not None and self._next <= before:
            self._overdue(env.seq, docket, before)

    def after(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in what the fold of a message made due."""
        if docket.pending:
            self._caused_at.setdefault(env.seq, env.sent_at)
        elif self._caused_at:
            self._caused_at.clear()
        if fx.opened and self._next is not None:
            self._next = min(self._next, min(obligation.due_at for obligation in fx.opened))
        elif fx.opened or fx.ended or fx.closed or env.obligation_id is None:
            self._is_known = False

    def restarted(self, gap: timedelta) -> None:
        """Move what is waited for by an outage (K6)."""
        self._caused_at = {seq: at + gap for seq, at in self._caused_at.items()}
        self._is_known = False

    def end(self, docket: Docket, settled_at: datetime | None, slack: timedelta) -> None:
        """Check what should have come before the log ends."""
        at = docket.at
        if at is None or settled_at is None or at - slack <= settled_at:
            return
        self._pending("", docket.seq, docket, at - slack)
        waiting, docket.pending = docket.pending, {}
        self._overdue(docket.seq, docket, at - slack)
        docket.pending = waiting

    def _pending(self, identity: str, seq: int, docket: Docket, before: datetime) -> None:
        """Report immediate duties that nobody discharged, and wait for them no longer."""
        for key, (cause, draft) in list(docket.pending.items()):
            caused_at = self._caused_at.get(cause)
            if caused_at is None or caused_at >= before or key == identity:
                continue
            del docket.pending[key]
            body = draft.body
            if isinstance(body, ViolationMessage):
                why = f"breaks a rule and no VIOLATION stands beside it: {body.why}"
                self._findings.add(cause, "violation", body.rule, f"{body.field}: {why}" if body.field else why)
            else:
                self._findings.add(
                    cause, "settled", "K9", f"asks {draft.author} for a {body.type} ({key}), none came in time"
                )

    def _overdue(self, seq: int, docket: Docket, before: datetime) -> None:
        for why in docket.overdue(before):
            if why not in self._said:
                self._said.add(why)
                self._findings.add(seq, "settled", "K5", f"{why}, and it did not come before this")
