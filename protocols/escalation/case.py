"""One escalation: open, perhaps acknowledged, then answered, expired or withdrawn (spec 5.2, 5.3, R-E2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from moot.protocols.escalation.messages import (
    Escalation,
    EscalationAck,
    EscalationAnswer,
    EscalationPaged,
    EscalationResolved,
    Option,
)
from moot.protocols.escalation.triggers import ANSWER_WITHIN, PAGES, REPAGE_EVERY
from moot.protocols.kernel.case import CaseState, CaseType, Decision, Ended, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Late, LocalProtocolError, Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import NO_GRACE, Obligation
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.table import illegal

KIND: Final = "escalation"
CHANNEL: Final = "#admin"
MAX_USER_ID: Final = 200
OPEN, ACKNOWLEDGED, ANSWERED, ENDED = "open", "acknowledged", "answered", "ended"


@dataclass(frozen=True, kw_only=True)
class EscalationState(CaseState):
    """State of an escalation.

    Attributes:
        level: ATTENTION, DECISION_NEEDED or URGENT.
        code: Its row in the trigger table.
        subject: The seat or lineage it is about, or "".
        options: What an admin may choose.
        pages: Further pages so far.
        effect: Effect of the answer, once there is one.
        answered_by: User id of who answered.
    """

    level: str
    code: str
    subject: str
    options: tuple[Option, ...]
    pages: int = 0
    effect: str = ""
    answered_by: str = ""


def _owe(
    case_id: str, step: str, seat: Seat, expects: tuple[str, ...], at: datetime, within: timedelta
) -> Obligation:
    return Obligation(
        f"{case_id}/{step}/{seat.value}", case_id, seat, expects, CHANNEL, at, at + within, NO_GRACE
    )


def open_escalation(env: Envelope, context: RuleContext, parent: CaseState | None) -> EscalationState:
    """Open an escalation: the admin owes an answer within four hours, the referee its end."""
    body = env.body
    assert isinstance(body, Escalation)
    case_id, at = body.escalation_id, env.sent_at
    owed = [
        _owe(case_id, "answer", Seat.ADMIN, ("ESCALATION_ANSWER", "ESCALATION_ACK"), at, ANSWER_WITHIN),
        _owe(case_id, "expire", Seat.REFEREE, ("ESCALATION_RESOLVED",), at, ANSWER_WITHIN),
    ]
    if body.level == "URGENT":
        owed.append(_owe(case_id, "page-1", Seat.REFEREE, ("ESCALATION_PAGED",), at, REPAGE_EVERY))
    return EscalationState(
        case_id=case_id,
        kind=KIND,
        phase=OPEN,
        opened_seq=env.seq,
        anchor_at=at,
        level=body.level,
        code=body.trigger_code,
        subject=body.subject,
        options=body.options,
        owed=tuple(owed),
    )


def step(state: EscalationState, env: Envelope, context: RuleContext) -> EscalationState:
    """Apply an admin's or the referee's message.

    Raises:
        Late: An answer after the first one (R-E4).
        Violation: The phase does not allow it, or the option does not exist.
    """
    body = env.body
    if isinstance(body, EscalationResolved):
        return evolve(state, phase=ENDED, owed=(), outcome=body.how, effect=body.effect)
    if isinstance(body, EscalationPaged):
        return _paged(state, env)
    if isinstance(body, EscalationAnswer) and state.phase == ANSWERED:
        raise Late("R-E4", f"late: {state.case_id} was answered before; that stands")
    if isinstance(body, EscalationAck) and state.phase == OPEN:
        return evolve(state, phase=ACKNOWLEDGED, owed=_acknowledged(state, env))
    if isinstance(body, EscalationAnswer) and state.phase in (OPEN, ACKNOWLEDGED):
        effect = _effect(state, body)
        resolve = _owe(
            state.case_id, "resolve", Seat.REFEREE, ("ESCALATION_RESOLVED",), env.sent_at, timedelta(0)
        )
        return evolve(
            state,
            phase=ANSWERED,
            owed=(resolve,),
            effect=effect,
            answered_by=(env.actor.user_id or "admin")[:MAX_USER_ID],
        )
    raise illegal(state, env, "5.2")


def _acknowledged(state: EscalationState, env: Envelope) -> tuple[Obligation, ...]:
    """End the pages; the four hours run on, under a new id, for the ACK has settled the old one (R-E2, K1)."""
    owed = []
    for obligation in state.owed:
        if obligation.seat is Seat.ADMIN:
            within = obligation.due_at - env.sent_at
            owed.append(
                _owe(state.case_id, "answer-acked", Seat.ADMIN, ("ESCALATION_ANSWER",), env.sent_at, within)
            )
        elif not obligation.step.startswith("page-"):
            owed.append(obligation)
    return tuple(owed)


def _effect(state: EscalationState, body: EscalationAnswer) -> str:
    if body.option is None:
        if not body.text:
            raise Violation("R-E2", "an answer is an option's number or a text", field="option")
        return "none"
    for option in state.options:
        if option.n == body.option:
            return option.effect
    numbers = ", ".join(str(option.n) for option in state.options)
    raise Violation("R-E2", f"there is no option {body.option}: choose {numbers}", field="option")


def _paged(state: EscalationState, env: Envelope) -> EscalationState:
    pages = state.pages + 1
    owed = tuple(o for o in state.owed if not o.step.startswith("page-"))
    if pages < PAGES:
        paged_at = max(o.due_at for o in state.owed if o.step.startswith("page-"))
        page = Obligation(
            f"{state.case_id}/page-{pages + 1}/{Seat.REFEREE.value}",
            state.case_id,
            Seat.REFEREE,
            ("ESCALATION_PAGED",),
            CHANNEL,
            env.sent_at,
            paged_at + REPAGE_EVERY,
            NO_GRACE,
        )
        owed = (*owed, page)
    return evolve(state, pages=pages, owed=owed)


def discharge(state: EscalationState, obligation: Obligation, context: RuleContext) -> Message:
    """Make what the referee owes: a page, the end by answer, the end by time."""
    if obligation.step.startswith("page-"):
        return EscalationPaged(escalation_id=state.case_id, n=state.pages + 1)
    if obligation.step == "resolve":
        return EscalationResolved(
            escalation_id=state.case_id, how="answered", by=state.answered_by, effect=state.effect
        )
    if obligation.step == "expire":
        return EscalationResolved(
            escalation_id=state.case_id, how="expired", by="referee", effect=state.options[0].effect
        )
    raise LocalProtocolError(f"nobody discharges {obligation.id}")


def otherwise(state: EscalationState, obligation: Obligation, context: RuleContext) -> Decision:
    """Escalations are ended by ESCALATION_RESOLVED, never by a RULING."""
    raise LocalProtocolError(f"{obligation.id} is not ruled on")


def rule(
    state: EscalationState,
    decision: Decision,
    env: Envelope,
    context: RuleContext,
    obligation: Obligation | None,
) -> EscalationState:
    """Apply a human STOP, the only ruling an escalation knows."""
    return evolve(state, phase=ENDED, owed=(), outcome="withdrawn", effect="none")


def after_end(ended: Ended, env: Envelope) -> Violation:
    """Make the violation of a message to an ended escalation (R-E4)."""
    return Late("R-E4", f"late: {ended.case_id} was {ended.outcome} before; that stands")


ESCALATION: Final = CaseType(
    kind=KIND,
    openers=("ESCALATION",),
    open=open_escalation,
    step=step,
    otherwise=otherwise,
    rule=rule,
    discharge=discharge,
    after_end=after_end,
)
