"""Officers' messages: each is the duty that the tables derive, in its derived envelope (K5, K9).

That its body is the derived one is the docket's to judge; here it is the envelope around it, and that a
message without effect (`superseded`) was due until a moment before.
"""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from moot.protocols.kernel.deadlines import notice_at
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.duties import notice_key
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import ClockSet, DutyNotice, Ruling, TimeoutPing
from moot.protocols.kernel.rule_faults import FAULT, FAULTED
from moot.protocols.kernel.seats import OFFICERS, PEOPLE
from moot.verify.report import Findings

KEPT: Final = 4096
"""So many closed obligations are remembered; a superseded message is never far behind."""


def _is_of_fault(env: Envelope, docket: Docket) -> bool:
    """Return True for a message about a case of which a rule raised; what it asked for was dropped (R-G14)."""
    case_id = env.case_id or ""
    ended = docket.ended.get(case_id)
    return docket.waiting.get(case_id) == FAULT or (ended is not None and ended.outcome == FAULTED)


class Closed(NamedTuple):
    """An obligation that is closed."""

    obligation: Obligation
    at: datetime


class Officers:
    """Checks the envelopes of officers' messages."""

    def __init__(self, findings: Findings) -> None:
        """Start with no obligation closed."""
        self._findings = findings
        self._closed: deque[Closed] = deque(maxlen=KEPT)
        self._ended: deque[tuple[str, datetime]] = deque(maxlen=KEPT)
        self._expected: Draft | None = None

    def before(self, env: Envelope, docket: Docket) -> None:
        """Check an officer's message against the state before it."""
        if env.actor != OFFICER or env.attempt or env.tenure or env.hops:
            self._bad(env, "K5", "actor, attempt, tenure, hops: those of an officer are fixed")
        body = env.body
        pending = docket.pending.get(env.id)
        self._expected = pending[1] if pending is not None else None
        if isinstance(body, Ruling) and body.outcome == FAULTED:
            return
        obligation_id = env.obligation_id
        if pending is not None:
            self._as_derived(env, pending[1])
        elif type(body) is TimeoutPing:
            self._beside(env, docket, body.obligation_id, f"ping/{body.obligation_id}")
        elif type(body) is DutyNotice:
            self._beside(env, docket, body.obligation_id, notice_key(body.obligation_id, body.n))
        elif type(body) is Ruling and obligation_id is None:
            self._beside(env, docket, body.obligation_id or "", f"ruling/{body.obligation_id or ''}")
        elif obligation_id is not None:
            self._discharge(env, docket, obligation_id)
        else:
            case_id = getattr(body, body.case_field) if body.case_field else None
            withdrawn = env.case_id if body.type == "ESCALATION_RESOLVED" else None
            if env.case_id != case_id or (env.in_reply_to is not None and withdrawn is None):
                self._bad(
                    env, "K9", f"case_id, in_reply_to: a {body.type} of its own has none but its body's"
                )
            if withdrawn is not None and env.id != f"withdrawn/{withdrawn}":
                self._bad(env, "K1", f"id: the end of {withdrawn} is not derived from anything")

    def after(self, env: Envelope, fx: Effects, slack: timedelta, docket: Docket) -> None:
        """Take in what the fold of a message changed; judge one without effect."""
        at = env.sent_at
        if isinstance(env.body, ClockSet) and (held := env.body.held):
            # What was overtaken a moment before an outage was overtaken a moment before.
            self._closed = deque((Closed(one, then + held) for one, then in self._closed), maxlen=KEPT)
            self._ended = deque(((case_id, then + held) for case_id, then in self._ended), maxlen=KEPT)
        for obligation in fx.closed:
            self._closed.append(Closed(obligation, at))
        for state in fx.ended:
            self._ended.append((state.case_id, at))
        if fx.superseded and not _is_of_fault(env, docket):
            self._superseded(env, at - slack)

    def _gone(self, obligation_id: str) -> Closed | None:
        """Find an obligation that was closed lately; few ask, so nothing is indexed."""
        return next((one for one in reversed(self._closed) if one.obligation.id == obligation_id), None)

    def _bad(self, env: Envelope, rule: str, why: str) -> None:
        self._findings.add(env.seq, "officer", rule, why)

    def _as_derived(self, env: Envelope, duty: Draft) -> None:
        """Compare an envelope with the immediate duty that bears its id."""
        case_id = duty.case_id
        if case_id is None and env.body.case_field:
            case_id = getattr(env.body, env.body.case_field)
        given = (env.author, env.channel, env.case_id, env.obligation_id, env.in_reply_to)
        derived = (duty.author, duty.channel, case_id, duty.obligation_id, duty.in_reply_to)
        for name, one, other in zip(
            ("author", "channel", "case_id", "obligation_id", "in_reply_to"), given, derived, strict=True
        ):
            if one != other:
                self._bad(env, "K9", f"{name}: {one}, the tables derive {other}")

    def _beside(self, env: Envelope, docket: Docket, obligation_id: str, key: str) -> None:
        """Check a ping of an obligation, a reminder of it, or a ruling on it."""
        if env.id != key:
            self._bad(env, "K9", f"id: {env.id}, the tables derive {key}")
        owed = docket.open.get(obligation_id)
        if owed is None and (closed := self._gone(obligation_id)) is not None:
            owed = closed.obligation
        if env.obligation_id is not None or env.in_reply_to is not None:
            self._bad(env, "K9", f"obligation_id, in_reply_to: a {env.body.type} carries none")
        if owed is not None and (env.case_id, env.channel) != (owed.case_id, owed.channel):
            self._bad(
                env, "K9", f"case_id, channel: {owed.id} is owed in case {owed.case_id}, {owed.channel}"
            )
        if owed is not None and owed.seat in OFFICERS:
            self._bad(env, "K5", f"{owed.id} is an officer's own and neither pinged nor voided")
        if owed is not None and owed.seat in PEOPLE and type(env.body) is TimeoutPing:
            self._bad(env, "R-G16", f"{owed.id} is owed by a person, who is reminded and never pinged")

    def _discharge(self, env: Envelope, docket: Docket, obligation_id: str) -> None:
        """Check what settles an officer's own obligation."""
        if env.id != f"{obligation_id}/0":
            self._bad(env, "K1", f"id: {env.id}, the tables derive {obligation_id}/0")
        if env.in_reply_to is not None:
            self._bad(env, "K9", "in_reply_to: it answers no message")
        owed = docket.open.get(obligation_id)
        if owed is not None and (env.case_id, env.channel) != (owed.case_id, owed.channel):
            self._bad(
                env, "K9", f"case_id, channel: {owed.id} is owed in case {owed.case_id}, {owed.channel}"
            )

    def _superseded(self, env: Envelope, since: datetime) -> None:
        """Check that a message without effect was due until something overtook it a moment ago."""
        body = env.body
        obligation_id = env.obligation_id
        due = 0
        if isinstance(body, TimeoutPing | DutyNotice):
            obligation_id = body.obligation_id
        elif isinstance(body, Ruling) and obligation_id is None and body.obligation_id is not None:
            obligation_id, due = body.obligation_id, 1
        if obligation_id is not None:
            closed = self._gone(obligation_id)
            if closed is None:
                self._bad(env, "K5", f"{env.author} has a {body.type} on {obligation_id}, which is not owed")
                return
            owed = closed.obligation
            instant = owed.void_at if due else owed.due_at
            if isinstance(body, DutyNotice):
                instant = notice_at(owed, body.n) or owed.void_at
            if env.sent_at < instant or closed.at < since:
                self._bad(env, "K5", f"the {body.type} on {obligation_id} was not due when that was settled")
            if env.obligation_id is not None and (owed.seat != env.author or body.type not in owed.expects):
                self._bad(env, "K5", f"{owed.seat} owed {' or '.join(owed.expects)} for {obligation_id}")
            return
        was_due = self._expected is not None or any(
            case_id == env.case_id and at >= since for case_id, at in self._ended
        )
        if not was_due and body.type in ("ESCALATION_RESOLVED", "RULING"):
            self._bad(env, "K5", f"the {body.type} comes after {env.case_id} ended")
