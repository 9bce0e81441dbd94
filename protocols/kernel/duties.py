"""Duties: what the officers owe because of the docket, as drafts with derived ids (K9).

Immediate ones (a VIOLATION, the RULING it leads to) stand in `docket.pending` until they are posted; those
that time brings (pings, rulings on silence, what officers owe in a case, what the folds' alarms ask for) are
derived anew whenever somebody asks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import DutyNotice, Ruling, TimeoutPing
from moot.protocols.kernel.officers import Violation as ViolationMessage
from moot.protocols.kernel.seats import OFFICERS, PEOPLE, REFEREE

if TYPE_CHECKING:
    from moot.protocols.kernel.docket import Docket

MAX_CONTEXT: Final = 8_000
"""Length limit of the brief in a DUTY_NOTICE, in characters of JSON."""

MAX_WHY: Final = 1000
"""A VIOLATION says at most so much of what is wrong; what it quotes may be long."""

_INSTANT: Final = timedelta(microseconds=1)


def due(docket: Docket, now: datetime) -> Iterator[Draft]:
    """List what the officers owe at this instant, most urgent first."""
    immediate = dict(docket.pending)
    yield from [draft for _, draft in immediate.values()]
    for obligation, is_void in docket.deadlines.ripe(now):
        yield from ripe_duties(docket, obligation, is_void=is_void)
    for fold in docket.context.ringing:
        yield from fold.ring(now, docket)
    if len(docket.pending) != len(immediate):
        # The AUDIT of a fold that failed just now.
        yield from [draft for key, (_, draft) in docket.pending.items() if key not in immediate]


def overdue(docket: Docket, before: datetime) -> Iterator[str]:
    """Say what the officers should have done before this instant and did not.

    What arose or fell due at that very instant may still be under way.
    """
    for key, (seq, draft) in docket.pending.items():
        if docket.arose[key] < before:
            yield f"seq {seq} asks {draft.author} for a {draft.body.type}, none came"
    latest = before - _INSTANT
    for obligation, is_void in docket.deadlines.ripe(latest):
        for draft in ripe_duties(docket, obligation, is_void=is_void):
            yield f"{draft.author} owed a {draft.body.type} ({draft.identity()})"
    for fold in docket.context.ringing:
        for draft in fold.ring(latest, docket):
            yield f"{draft.author} owed a {draft.body.type} ({draft.identity()})"


def ripe_duties(docket: Docket, obligation: Obligation, *, is_void: bool) -> tuple[Draft, ...]:
    """Derive what an obligation asks of an officer whose deadline has come; where its rule raises, the case's end."""
    try:
        return (ripe_duty(docket, obligation, is_void=is_void),)
    except Exception as exc:
        return docket.fault_duties(obligation, exc)


def fails(docket: Docket, state: CaseState) -> bool:
    """Return True where a rule of an open case raises that is only asked: a brief, a discharge, what silence says."""
    machine = docket.rules.types[state.kind]
    for owed in state.owed:
        try:
            machine.brief(state, owed, docket.context)
            if owed.seat in OFFICERS:
                discharge_of(docket, owed)
            elif machine.steps[owed.rule].missed is not None:
                void_of(docket, owed)
        except Exception:
            return True
    return False


def ripe_duty(docket: Docket, obligation: Obligation, *, is_void: bool) -> Draft:
    """Derive what an obligation asks of an officer whose deadline has come."""
    if obligation.seat in OFFICERS:
        return discharge_of(docket, obligation)
    if is_void:
        return void_of(docket, obligation)
    if obligation.seat in PEOPLE:
        return notice_of(docket, obligation, docket.deadlines.notices.get(obligation.id, 0))
    return ping_of(obligation)


def discharge_of(docket: Docket, obligation: Obligation) -> Draft:
    """Derive what an officer owes in a case.

    Raises:
        LocalProtocolError: Its kind of case does not say.
    """
    state = docket.cases[obligation.case_id]
    return Draft(
        channel=obligation.channel,
        author=obligation.seat,
        body=docket.rules.types[state.kind].discharge(state, obligation, docket.context),
        actor=OFFICER,
        case_id=obligation.case_id,
        obligation_id=obligation.id,
    )


def ping_of(obligation: Obligation) -> Draft:
    """Derive the TIMEOUT_PING of an obligation."""
    waited_min = obligation.within / timedelta(minutes=1)
    return Draft(
        channel=obligation.channel,
        author=REFEREE,
        body=TimeoutPing(obligation_id=obligation.id, seat=obligation.seat, waited_min=waited_min),
        actor=OFFICER,
        case_id=obligation.case_id,
        key=f"ping/{obligation.id}",
    )


def notice_of(docket: Docket, obligation: Obligation, n: int) -> Draft:
    """Derive a person's n-th DUTY_NOTICE of an obligation (R-G16)."""
    body = DutyNotice(
        obligation_id=obligation.id,
        seat=obligation.seat,
        n=n,
        until=obligation.void_at,
        expects=obligation.expects,
        brief=context_of(docket, obligation),
    )
    return Draft(
        channel=obligation.channel,
        author=REFEREE,
        body=body,
        actor=OFFICER,
        case_id=obligation.case_id,
        key=notice_key(obligation.id, n),
    )


def notice_key(obligation_id: str, n: int) -> str:
    """Return the id of a DUTY_NOTICE."""
    return f"notice/{obligation_id}/{n}"


def context_of(docket: Docket, obligation: Obligation) -> Mapping[str, Any]:
    """Return what an obligation's step shows of it, as JSON has it; texts stand for what JSON has not."""
    state = docket.cases[obligation.case_id]
    shown = docket.rules.types[state.kind].brief(state, obligation, docket.context)
    text = json.dumps({str(name): one for name, one in shown.items()}, default=str, sort_keys=True)
    if len(text) > MAX_CONTEXT:
        return {"context": f"{text[:MAX_CONTEXT]}…"}
    found: dict[str, Any] = json.loads(text)
    return found


def context_and_silence(docket: Docket, obligation: Obligation) -> tuple[Mapping[str, Any], str]:
    """Return what a person is shown of a duty, and what the referee rules on silence, "" where it stays owed (R-G16).

    Both are empty where a rule of the protocol raises: the host ends that case (R-G14).
    """
    state = docket.cases[obligation.case_id]
    try:
        silence = (
            docket.rules.types[state.kind].silence(state, obligation).outcome
            if obligation.can_be_missed
            else ""
        )
        return context_of(docket, obligation), silence
    except Exception:
        return {}, ""


def void_of(docket: Docket, obligation: Obligation) -> Draft:
    """Derive the RULING on an obligation that nobody met."""
    state = docket.cases[obligation.case_id]
    outcome, reason, rule = docket.rules.types[state.kind].silence(state, obligation)
    return Draft(
        channel=obligation.channel,
        author=REFEREE,
        body=Ruling(
            obligation_id=obligation.id,
            case_id=None,
            outcome=outcome,
            reason=reason,
            rule=rule,
            of_seq=None,
        ),
        actor=OFFICER,
        case_id=obligation.case_id,
        key=f"ruling/{obligation.id}",
    )


def violation_of(env: Envelope, violation: Violation) -> Draft:
    """Derive the VIOLATION beside a message (K10)."""
    body = ViolationMessage(
        of_seq=env.seq,
        seat=env.author,
        rule=violation.rule,
        field=violation.field,
        why=violation.why[:MAX_WHY],
    )
    return _beside(env, body, f"violation/{env.seq}", env.channel, env.case_id)


def ruling_of(env: Envelope, decision: Decision, case_id: str) -> Draft:
    """Derive the RULING that a violation leads to (K10)."""
    return _beside(env, _case_ruling(env, decision, case_id), f"ruling/{env.seq}", env.channel, case_id)


def case_ruling_of(env: Envelope, decision: Decision, case_id: str, channel: str) -> Draft:
    """Derive a RULING on a case that a message which is no violation leads to: one of many, perhaps."""
    return _beside(env, _case_ruling(env, decision, case_id), f"ruling/{env.seq}/{case_id}", channel, case_id)


def _case_ruling(env: Envelope, decision: Decision, case_id: str) -> Ruling:
    return Ruling(
        obligation_id=None,
        case_id=case_id,
        outcome=decision.outcome,
        reason=decision.reason,
        rule=decision.rule,
        of_seq=env.seq,
    )


def _beside(env: Envelope, body: Message, key: str, channel: str, case_id: str | None) -> Draft:
    return Draft(
        channel=channel,
        author=REFEREE,
        body=body,
        actor=OFFICER,
        case_id=case_id,
        in_reply_to=env.id,
        key=key,
    )
