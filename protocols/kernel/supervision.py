"""Supervision: officers' messages are held against what the tables derive (K5).

An officer's message is what the docket says is due, or what was due a moment ago and was overtaken
(`superseded`, no effect), or a fault, on which the host stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.deadlines import notice_at
from moot.protocols.kernel.duties import discharge_of, notice_key, notice_of, ping_of, void_of
from moot.protocols.kernel.effects import Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import OfficerFault, Violation
from moot.protocols.kernel.message import Message, changed
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import Audit, DutyNotice, Ruling, TimeoutPing
from moot.protocols.kernel.officers import Violation as ViolationMessage
from moot.protocols.kernel.rule_faults import FAULT, FAULTED, RULE_FAULT, audit_key, why_no_ruling
from moot.protocols.kernel.seats import OFFICERS, PEOPLE
from moot.protocols.kernel.upcast import Opaque

if TYPE_CHECKING:
    from moot.protocols.kernel.docket import Docket


def fold_officer(docket: Docket, env: Envelope, fx: Effects, before: datetime | None) -> None:
    """Apply an officer's message.

    Args:
        docket: The docket, whose `seq` and `at` are already those of the message.
        env: The message.
        fx: What it changes.
        before: `sent_at` of its predecessor in the log.

    Raises:
        OfficerFault: No table asks for it, or not like this.
    """
    body = env.body
    rules = docket.rules
    kind = body.type
    if kind in rules.lifecycle:
        gap = docket.context.lifecycle(env, before)
        if gap:
            docket.shift(gap)
        return
    if type(body) is Opaque:
        return
    if type(body) is Ruling and body.outcome == FAULTED:
        _end_faulted(docket, env, body, fx)
        return
    if type(body) is Audit and body.event == RULE_FAULT:
        docket.audited.add(env.id)
        docket.revoke(env.id)
        return
    if docket.waiting.get(env.case_id or "") == FAULT and _is_overtaken(docket, env, body):
        fx.superseded = True
        return
    try:
        _fold_duty(docket, env, fx)
    except (Violation, OfficerFault):
        raise
    except Exception as exc:
        state = docket.cases.get(env.case_id or "")
        if state is None:
            raise
        docket.fault_case(state.case_id, exc, env, fx)


def _end_faulted(docket: Docket, env: Envelope, body: Ruling, fx: Effects) -> None:
    """Apply the RULING that ends a case of which a rule raised (R-G14)."""
    if why := why_no_ruling(env):
        raise OfficerFault(why, seq=env.seq)
    case_id = body.case_id or ""
    if docket.never_was(case_id):
        raise OfficerFault(f"there never was a case {case_id}", seq=env.seq)
    docket.end_faulted(env, case_id, fx)


def _is_overtaken(docket: Docket, env: Envelope, body: Message) -> bool:
    """Return True for what a case no longer asks for because a rule of it raised; its VIOLATIONs stand all the same."""
    if env.id in docket.pending:
        return False
    return type(body) is not ViolationMessage or not _stands_beside(env, body)


def _stands_beside(env: Envelope, body: ViolationMessage) -> bool:
    return env.id == f"violation/{body.of_seq}"


def _is_aftermath(docket: Docket, env: Envelope) -> bool:
    """Return True for the VIOLATION of a message that came while its case waited for a RULING `faulted`.

    A rule that no longer raises leaves the case open until that RULING, so nothing derives the VIOLATION (R-G14). The
    log shows that a rule raised: by the AUDIT of the case, which precedes the RULING, or by the case's outcome.
    """
    body = env.body
    if type(body) is not ViolationMessage or body.rule != "K10" or not _stands_beside(env, body):
        return False
    case_id = env.case_id or ""
    ended = docket.ended.get(case_id)
    return audit_key(case_id) in docket.audited or (ended is not None and ended.outcome == FAULTED)


def _fold_duty(docket: Docket, env: Envelope, fx: Effects) -> None:
    """Apply an officer's message that is no part of the society's life.

    Raises:
        OfficerFault: No table asks for it, or not like this.
    """
    rules = docket.rules
    kind = env.body.type
    expected = _expected(docket, env)
    if expected is None:
        if kind in rules.unowed:
            if kind in rules.facts:
                _apply(docket, env, fx)
            return
        if _was_owed(docket, env):
            fx.superseded = True
            return
        if _is_aftermath(docket, env):
            fx.superseded = True
            return
        raise OfficerFault(f"{env.author} posted a {kind} that no table asks for", seq=env.seq)
    try:
        _compare(docket, expected, env)
    except OfficerFault:
        if not _is_aftermath(docket, env):
            raise
    docket.pending.pop(env.id, None)
    docket.arose.pop(env.id, None)
    _apply(docket, env, fx)


def _apply(docket: Docket, env: Envelope, fx: Effects) -> None:
    """Put into effect what is as it should be."""
    body = env.body
    rules = docket.rules
    if type(body) is TimeoutPing:
        docket.deadlines.ping(docket.open[body.obligation_id], env.sent_at)
        return
    if type(body) is DutyNotice:
        docket.deadlines.note_notice(docket.open[body.obligation_id])
        return
    if type(body) is Ruling:
        _rule(docket, env, body, fx)
        return
    opener = rules.openers.get(body.type)
    if opener is not None:
        docket.open_case(opener, env, fx)
    elif env.case_id is not None and body.type not in rules.remarks:
        state = docket.cases.get(env.case_id)
        if state is None:
            if docket.never_was(env.case_id):
                raise OfficerFault(f"there never was a case {env.case_id}", seq=env.seq)
            fx.superseded = True
            return
        docket.install(state, rules.types[state.kind].step(state, env, docket.context), env, fx)


def _rule(docket: Docket, env: Envelope, body: Ruling, fx: Effects) -> None:
    """Apply a RULING: on an obligation that nobody met, or on a case."""
    obligation = None
    if body.obligation_id is not None:
        obligation = docket.open[body.obligation_id]
        state = docket.cases.get(obligation.case_id)
        docket.closed.void(obligation)
        fx.voided = obligation
    else:
        state = docket.cases.get(body.case_id or "")
        if env.obligation_id is not None:
            obligation = docket.open.get(env.obligation_id)
    if state is None:
        fx.superseded = True
        return
    docket.waiting.pop(state.case_id, None)
    fx.decision = Decision(body.outcome, body.reason, body.rule)
    machine = docket.rules.types[state.kind]
    docket.install(state, machine.ruled(state, fx.decision, env, docket.context, obligation), env, fx)


def _expected(docket: Docket, env: Envelope) -> Draft | None:
    """Find the duty that an officer's message discharges; None when nothing asks for it."""
    found = docket.pending.get(env.id)
    if found is not None:
        return found[1]
    body = env.body
    if type(body) is TimeoutPing:
        obligation = docket.open.get(body.obligation_id)
        if obligation is None or obligation.seat in OFFICERS or obligation.seat in PEOPLE:
            return None
        if env.sent_at < obligation.due_at:
            raise OfficerFault(f"TIMEOUT_PING before {obligation.id} is due", seq=env.seq)
        if obligation.id in docket.deadlines.pinged:
            raise OfficerFault(f"{obligation.id} was pinged before", seq=env.seq)
        return ping_of(obligation)
    if type(body) is DutyNotice:
        return _expected_notice(docket, env, docket.open.get(body.obligation_id))
    if type(body) is Ruling and body.obligation_id is not None:
        return _expected_ruling(docket, env, docket.open.get(body.obligation_id))
    if env.obligation_id is not None:
        obligation = docket.open.get(env.obligation_id)
        if obligation is None or obligation.seat != env.author:
            return None
        if env.sent_at < obligation.due_at:
            raise OfficerFault(
                f"{body.type} before {obligation.due_at:%H:%M:%S}, when it is due", seq=env.seq
            )
        return discharge_of(docket, obligation)
    for fold in docket.context.ringing:
        duty = fold.owed(env, docket)
        if duty is not None:
            return duty
    return None


def _expected_notice(docket: Docket, env: Envelope, obligation: Obligation | None) -> Draft | None:
    if obligation is None or obligation.seat not in PEOPLE or not obligation.can_be_missed:
        return None
    n = docket.deadlines.notices.get(obligation.id, 0)
    at = notice_at(obligation, n)
    if at is None or env.sent_at < at:
        raise OfficerFault(f"DUTY_NOTICE {n} of {obligation.id} before it is due", seq=env.seq)
    return notice_of(docket, obligation, n)


def _expected_ruling(docket: Docket, env: Envelope, obligation: Obligation | None) -> Draft | None:
    if obligation is None or obligation.seat in OFFICERS:
        return None
    if not obligation.is_ruled_on:
        return None
    # Not `Deadlines.void_at`: in logs of before, a late ping took its lateness from the grace.
    if env.sent_at < obligation.void_at:
        raise OfficerFault(f"RULING on {obligation.id} before its grace is over", seq=env.seq)
    if obligation.seat not in PEOPLE and obligation.id not in docket.deadlines.pinged:
        raise OfficerFault(f"RULING on {obligation.id} without a TIMEOUT_PING before it", seq=env.seq)
    return void_of(docket, obligation)


def _was_owed(docket: Docket, env: Envelope) -> bool:
    """Tell a duty that something else overtook from one that never was."""
    body = env.body
    if type(body) is TimeoutPing:
        gone = docket.closed.find(body.obligation_id)
        return gone is not None and env.id == f"ping/{gone.id}" and env.sent_at >= gone.due_at
    if type(body) is DutyNotice:
        gone = docket.closed.find(body.obligation_id)
        at = notice_at(gone, body.n) if gone is not None and gone.can_be_missed else None
        return at is not None and env.id == notice_key(body.obligation_id, body.n) and env.sent_at >= at
    if type(body) is Ruling and body.obligation_id is not None:
        gone = docket.closed.find(body.obligation_id)
        return gone is not None and env.id == f"ruling/{gone.id}" and env.sent_at >= gone.void_at
    if env.obligation_id is not None:
        gone = docket.closed.find(env.obligation_id)
        return (
            gone is not None
            and gone.seat == env.author
            and env.id == f"{gone.id}/0"
            and body.type in gone.expects
            and env.sent_at >= gone.due_at
        )
    return any(fold.was_owed(env, docket) for fold in docket.context.folds)


_SHOWN: Final[Mapping[str, str]] = {"DUTY_NOTICE": "brief", "ESCALATION": "context"}
"""By type, the field that a protocol's own function fills for people to read; nothing else depends on it (R-G14)."""


def _is_about_foreign_case(docket: Docket, env: Envelope) -> bool:
    subject = getattr(env.body, "subject", None) or env.case_id
    state = docket.cases.get(subject) if isinstance(subject, str) else None
    return state is not None and state.kind in docket.rules.brought


def _compare(docket: Docket, expected: Draft, env: Envelope) -> None:
    """Hold a message against the duty that it discharges.

    Raises:
        OfficerFault: It differs.
    """
    kind = env.body.type
    if expected.channel != env.channel or expected.author != env.author:
        raise OfficerFault(f"the {kind} belongs in {expected.channel}, from {expected.author}", seq=env.seq)
    if expected.case_id is not None and expected.case_id != env.case_id:
        raise OfficerFault(f"the {kind} belongs to case {expected.case_id}", seq=env.seq)
    if expected.identity() != env.id or expected.obligation_id != env.obligation_id:
        raise OfficerFault(f"the id of the {kind} is {expected.identity()}", seq=env.seq)
    body, wanted = env.body, expected.body
    if docket.rules.same(wanted, body, docket.context):
        return
    shown = _SHOWN.get(body.type)
    if (
        shown is not None
        and type(body) is type(wanted)
        and _is_about_foreign_case(docket, env)
        and docket.rules.same(changed(wanted, shown, getattr(body, shown)), body, docket.context)
    ):
        # The protocol's function returned it then, and need not return the same in another process or version.
        return
    if type(body) is Ruling and type(wanted) is Ruling:
        said, meant = (f"{r.outcome}, {r.reason} by {r.rule}" for r in (body, wanted))
        raise OfficerFault(f"the RULING says {said}; the tables derive {meant}", seq=env.seq)
    raise OfficerFault(f"the {kind} differs from what the tables derive", seq=env.seq)
