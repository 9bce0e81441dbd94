"""One escalation: open, perhaps acknowledged, then answered, expired or withdrawn (spec 5.2, 5.3, R-E2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from moot.protocols.escalation.messages import (
    ANSWER_WITHIN,
    Escalation,
    EscalationAck,
    EscalationAnswer,
    EscalationPaged,
    EscalationResolved,
    Option,
)
from moot.protocols.kernel.case import CaseState, Ended
from moot.protocols.kernel.deadlines import MAX_REMINDERS, REMINDER_INTERVAL
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Late, Violation
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import NO_GRACE
from moot.protocols.kernel.seats import ADMIN, REFEREE, Seat
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Move, Owe, RuleInput, Step, ends, passes

KIND: Final = "escalation"
MAX_USER_ID: Final = 200
OPEN, ACKNOWLEDGED, ANSWERED = "open", "acknowledged", "answered"


@dataclass(frozen=True, kw_only=True)
class EscalationState(CaseState):
    """State of an escalation.

    Attributes:
        level: ATTENTION, DECISION_NEEDED or URGENT.
        code: Its row in the trigger table.
        subject: The seat or lineage it is about, or "".
        options: What an admin may choose.
        within: Time for an answer.
        default: Effect that silence takes.
        pages: Further pages so far.
        effect: Effect of the answer, once there is one.
        answered_by: User id of who answered.
        answered_seq: Seq of the answer, 0 before.
    """

    level: str
    code: str
    subject: str
    options: tuple[Option, ...]
    within: timedelta = ANSWER_WITHIN
    default: str = ""
    pages: int = 0
    effect: str = ""
    answered_by: str = ""
    answered_seq: int = 0


def open_escalation(given: RuleInput) -> EscalationState:
    """Open an escalation."""
    env, body = given.message, given.body
    return EscalationState(
        case_id=body.escalation_id,
        kind=KIND,
        phase=OPEN,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        level=body.level,
        code=body.trigger_code,
        subject=body.subject,
        options=body.options,
        within=body.within,
        default=body.default_option.effect,
    )


def _answered(state: EscalationState, given: RuleInput) -> Effect:
    """An answer takes the effect of its option; a free text takes none (R-E2)."""
    user_id = given.message.actor.user_id or "admin"
    effect = _effect(state, given.body)
    return Effect({"effect": effect, "answered_by": user_id[:MAX_USER_ID], "answered_seq": given.message.seq})


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


def _answered_before(state: EscalationState, _given: RuleInput) -> Effect:
    """The first answer stands (R-E4)."""
    raise Late("R-E4", f"late: {state.case_id} was answered before; that stands")


def after_end(ended: Ended, _env: Envelope) -> Violation:
    """Make the violation of a message to an ended escalation (R-E4)."""
    return Late("R-E4", f"late: {ended.case_id} was {ended.outcome} before; that stands")


def _paged(state: EscalationState, _given: RuleInput) -> Effect:
    """Page again half an hour after the time of this page, until the last one (R-E2)."""
    pages = state.pages + 1
    return Effect({"pages": pages}, owe=(Owe("page", pages + 1),) if pages < MAX_REMINDERS else ())


def _resolved(_state: EscalationState, given: RuleInput) -> Effect:
    """It ends as the referee says: by an answer, by time, or because its condition ended (R-E2, R-E3)."""
    return Effect({"effect": given.body.effect}, outcome=given.body.how)


def first_page(state: EscalationState) -> tuple[int, ...]:
    """Only an urgent escalation pages (R-E2)."""
    return (1,) if state.level == "URGENT" else ()


def until_page(state: EscalationState, given: RuleInput) -> timedelta:
    """Pages keep their half hours, though one of them be late (R-E2)."""
    n: int = given.subject
    return state.anchor_at + n * REMINDER_INTERVAL - given.at


def what_is_left(state: EscalationState, given: RuleInput) -> timedelta:
    """Who acknowledges has what is left of the time for an answer (R-E2)."""
    return state.anchor_at + state.within - given.at


def in_time(state: EscalationState, _given: RuleInput) -> timedelta:
    """An answer has four hours, or what the trigger of a protocol says (R-E2, R-G16)."""
    return state.within


def _page(state: EscalationState, given: RuleInput) -> Message:
    return EscalationPaged(escalation_id=state.case_id, n=given.subject)


def _end_by_answer(state: EscalationState, _given: RuleInput) -> Message:
    return EscalationResolved(
        escalation_id=state.case_id, how="answered", by=state.answered_by, effect=state.effect
    )


def _end_by_time(state: EscalationState, _given: RuleInput) -> Message:
    """Silence takes the first option, the conservative one, or the default of a protocol's trigger (R-E2, R-G16)."""
    effect = state.default or state.options[0].effect
    return EscalationResolved(escalation_id=state.case_id, how="expired", by="referee", effect=effect)


Within = timedelta | Callable[[EscalationState, RuleInput], timedelta]


def _owed(phase: str, seat: Seat, moves: Mapping[type[Message], Move], within: Within, **more: Any) -> Step:
    """Return a step of a person or of the referee, which cannot be missed."""
    return Step(
        phase=phase,
        seat=seat,
        channel="#admin",
        moves=moves,
        missed=None,
        rule="R-E2",
        within=within,
        grace=NO_GRACE,
        **more,
    )


ANSWER: Final = Move((ANSWERED,), _answered)
RESOLVE: Final[Mapping[type[Message], Move]] = {EscalationResolved: Move((ENDED,), _resolved)}

ESCALATION: Final = Machine(
    kind=KIND,
    system="",
    phases=(OPEN, ACKNOWLEDGED, ANSWERED),
    rule="5.2",
    start={Escalation: Start(open_escalation, (OPEN,))},
    steps={
        "answer": _owed(
            OPEN,
            ADMIN,
            {EscalationAnswer: ANSWER, EscalationAck: Move((ACKNOWLEDGED,), passes)},
            in_time,
        ),
        "expire": _owed(OPEN, REFEREE, RESOLVE, in_time, lasts=(ACKNOWLEDGED,), discharge=_end_by_time),
        "page": _owed(
            OPEN,
            REFEREE,
            {EscalationPaged: Move((OPEN,), _paged)},
            until_page,
            subjects=first_page,
            name=lambda _state, n: f"page-{n}",
            is_about=lambda _n, body: not body.added,
            discharge=_page,
        ),
        "answer-acked": _owed(ACKNOWLEDGED, ADMIN, {EscalationAnswer: ANSWER}, what_is_left),
        "resolve": _owed(ANSWERED, REFEREE, RESOLVE, timedelta(0), discharge=_end_by_answer),
    },
    facts={
        (ANSWERED, EscalationAnswer): Move((), _answered_before),
        **{(phase, EscalationPaged): Move((phase,), passes) for phase in (OPEN, ACKNOWLEDGED, ANSWERED)},
    },
    rulings={STOP: Move((ENDED,), ends("withdrawn", effect="none"))},
    after_end=after_end,
)
"""An escalation: the admin has four hours; then, or at the answer, the referee ends it (R-E2)."""
