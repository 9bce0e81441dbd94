"""Deadlines: whatever the tables ask of the officers stands in the log in time (K5, K9, K16).

A violation's VIOLATION and RULING, pings and rulings for silence, pages and ends of escalations, the triggers
of cycles: the docket derives them all as duties; this module waits for them with the patience of `slack`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from moot.protocols.kernel.deadlines import first_instant
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.duties import ripe_duties
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.officers import ClockSet, ends_outage
from moot.protocols.kernel.officers import Violation as ViolationMessage
from moot.protocols.kernel.rule_faults import FAULT, is_of_fault
from moot.verify.lifecycle import MESSAGES
from moot.verify.report import Findings

EVER: Final = datetime.min.replace(tzinfo=UTC)
NEVER: Final = datetime.max.replace(tzinfo=UTC)


class Deadlines:
    """Compares what is due with the time that has passed while the society was up (K6)."""

    def __init__(self, findings: Findings) -> None:
        """Start with nothing due."""
        self._findings = findings
        self._alarm_at = EVER
        self._deadline_at = EVER
        self._ended_at: datetime | None = None
        self._said: set[str] = set()

    def before(self, env: Envelope, docket: Docket, settled_at: datetime | None, slack: timedelta) -> None:
        """Check what should have come before a message that is sent so much later.

        Args:
            env: The message, not folded yet.
            docket: The state before it.
            settled_at: Since when the society is up; nobody is late before that plus `slack`.
            slack: How late the officers may be.
        """
        if settled_at is None or not docket.context.is_up or ends_outage(env.body):
            return
        before = env.sent_at - slack
        if docket.pending:
            is_later = before > settled_at and env.sent_at != docket.at
            self._pending(env.id, docket, before if is_later else EVER, env.seq - MESSAGES)
            return
        if before <= settled_at or env.sent_at == docket.at:
            return
        if (self._deadline_at < before and self._has_deadline(docket, before)) or (
            self._alarm_at < before and not self._is_settling(before) and self._has_alarm(docket, before)
        ):
            self._overdue(env.seq, docket, before)

    def after(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in what the fold of a message made due."""
        if fx.ended and any(state.parent is None for state in fx.ended):
            self._ended_at = env.sent_at
            self._alarm_at = EVER
        elif env.body.type in docket.rules.lifecycle:
            self._alarm_at = self._deadline_at = EVER
            if isinstance(env.body, ClockSet) and self._ended_at is not None:
                self._ended_at += env.body.held
        for obligation in fx.opened:
            self._deadline_at = min(self._deadline_at, first_instant(obligation))

    def _has_deadline(self, docket: Docket, before: datetime) -> bool:
        """Say whether an obligation falls due before an instant; what is known may be too early, never late."""
        self._deadline_at = docket.deadlines.next_instant() or NEVER
        return self._deadline_at < before

    def _is_settling(self, before: datetime) -> bool:
        """Say whether a case has just ended, so that nothing it held up is late already (R-D17)."""
        return self._ended_at is not None and self._ended_at >= before

    def _has_alarm(self, docket: Docket, before: datetime) -> bool:
        """Say whether a fold asks for something before an instant.

        What is known of the next alarm may be too early, never too late: an alarm is brought forward only by
        the end of a case that is no part of another, and by what the timekeeper says of the society.
        """
        alarms = (fold.alarm(docket) for fold in docket.context.folds)
        self._alarm_at = min((alarm for alarm in alarms if alarm is not None), default=NEVER)
        return self._alarm_at < before

    def end(self, docket: Docket, before: datetime) -> None:
        """Check what should have come before the log ends, of what was due before an instant."""
        self._pending("", docket, before)
        self._overdue(docket.seq, docket, before)

    def _pending(self, identity: str, docket: Docket, before: datetime, until: int = 0) -> None:
        """Report immediate duties that nobody discharged, and wait for them no longer.

        Args:
            identity: The id of the message that comes now.
            docket: The state before it.
            before: What arose before this instant is late.
            until: So is what a message up to this seq caused.
        """
        late = [
            key
            for key, at in docket.arose.items()
            if key != identity
            and not docket.is_unspoken(docket.pending[key][1])
            and (at < before or docket.pending[key][0] <= until)
        ]
        for key in late:
            cause, draft = docket.pending[key]
            docket.revoke(key)
            body = draft.body
            if is_of_fault(draft) or docket.waiting.get(draft.case_id or "") == FAULT:
                why = f"a rule raises here that did not raise when this was logged: {getattr(body, 'reason', '')}"
                self._findings.warn("rule_fault", cause, why)
            elif isinstance(body, ViolationMessage):
                why = f"it breaks a rule and no VIOLATION stands beside it: {body.why}"
                self._findings.add(
                    cause, "violation", body.rule, f"{body.field}: {why}" if body.field else why
                )
            else:
                self._findings.add(
                    cause,
                    "settled",
                    "K9",
                    f"it asks {draft.author} for a {body.type} ({key}), none came in time",
                )

    def _overdue(self, seq: int, docket: Docket, before: datetime) -> None:
        for draft in self._owed(docket, before):
            key = draft.identity()
            if key not in self._said and not docket.is_unspoken(draft):
                self._said.add(key)
                if is_of_fault(draft):
                    why = f"a rule of {draft.case_id} raises here and did not raise when this was logged"
                    self._findings.warn("rule_fault", seq, why)
                    continue
                why = f"{draft.author} owed a {draft.body.type} ({key}) and did not post it before this"
                self._findings.add(seq, "settled", "K5", why)

    def _owed(self, docket: Docket, before: datetime) -> Iterator[Draft]:
        """Yield what was due before an instant and stands in no message yet."""
        latest = before - timedelta.resolution
        for obligation, is_void in docket.deadlines.ripe(latest):
            yield from ripe_duties(docket, obligation, is_void=is_void)
        if self._is_settling(before):
            return
        for fold in docket.context.folds:
            yield from fold.ring(latest, docket)
