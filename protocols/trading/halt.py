"""A halt of the desk: from HALT to a confirmed RESUME (R-B5, R-B13, R-G12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, Decision, Ended
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import DERIVED, SECOND_AUDIT, Exactly, Figures, OneOf, check
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.seats import ADMIN, Seat
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Missed, Move, Owe, RuleInput, Step, ends
from moot.protocols.kernel.times import minutes
from moot.protocols.trading.briefing import desk_brief, session_of
from moot.protocols.trading.messages import Halt, Resume, ResumeConfirmed, RiskAlert
from moot.protocols.trading.seats import GUARDIAN, OPERATOR

KIND: Final = "halt"
RESUMED: Final = "resumed"
JOINED: Final = "joined"
"""Outcome of a HALT that found the desk halted: its reason belongs to the halt in force from then on (R-G12)."""

HALTED, RESUMING = "halted", "resuming"

SILENT_TICKS: Final = 3
"""So many risk checks missed in a row are the Guardian's silence (R-B13)."""

LIMIT: Final = minutes(10)
"""Time for a RESUME that is ordered, for its confirmation, and from a missed one until the admin is asked anew."""

RESUME: Final = Decision("void", "resume", "R-B5")
"""What the Referee rules when an admin answers that trading may go on: the Operator owes RESUME."""


MAX_REASONS: Final = 20
"""Reasons of one halt that a resume has to name; later ones are paged, and stand in the log."""

MAX_REASON_CHARS: Final = 600
"""Length limit of a reason as a resume names it."""


class Reason(NamedTuple):
    """One reason of a halt.

    Attributes:
        seq: Seq of the HALT or RISK_ALERT that gave it.
        by: Its author.
        text: The text that a resume names it by.
        context: The line that the admin reads in the escalation.
    """

    seq: int
    by: Seat
    text: str
    context: str


@dataclass(frozen=True, kw_only=True)
class HaltState(CaseState):
    """State of a halt; it stands until a RESUME is confirmed, even a human STOP does not lift it (R-B5).

    Attributes:
        by: The seat that halted the desk.
        reasons: Why trading is halted, oldest first, each once; a resume names all of them (R-G12).
        halted_seq: Seq of the latest HALT; an answer given before it does not resume trading (R-G12).
        steps: Obligations so far, which numbers them.
        is_unconfirmed: Whether the Guardian missed a confirmation.
    """

    by: Seat
    reasons: tuple[Reason, ...] = ()
    halted_seq: int = 0
    steps: int = 0
    is_unconfirmed: bool = False


def open_halt(given: RuleInput, text: str, context_text: str) -> HaltState:
    """Open a halt, or join the one in force (R-G12).

    Args:
        given: The HALT, or the RISK_ALERT of level HALT.
        text: Its reason.
        context_text: What the admin reads of it.

    Raises:
        Violation: Up to rules version 3, the desk is halted already (R-B5); or the Operator halts it while the Guardian
            is not silent, which shows in that nothing makes the Operator owe a HALT (R-B13).
    """
    env, context = given.message, given.context
    book = context.fold_named("book")
    is_joining = bool(book.halted)
    if is_joining and context.version < SECOND_AUDIT:
        raise Violation("R-B5", f"the desk is halted already, by {book.halt_id}")
    if env.author == OPERATOR and not _is_owed(context):
        raise Violation("R-B13", "the Operator halts the desk only while the Guardian is silent")
    parent = given.parent.case_id if given.parent is not None else None
    return HaltState(
        case_id=getattr(env.body, env.body.case_field),
        kind=KIND,
        phase=ENDED if is_joining else HALTED,
        outcome=JOINED if is_joining else None,
        parent=book.halt_id if is_joining else parent,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
        by=env.author,
        reasons=(Reason(env.seq, env.author, name_of(text), f"{env.author}: {context_text}"),),
        halted_seq=env.seq,
    )


def name_of(text: str) -> str:
    """Return what a resume calls a reason: its text on one line, cut."""
    return " ".join(text.split())[:MAX_REASON_CHARS].rstrip()


def new_reason(reasons: tuple[Reason, ...], joining: Reason) -> bool:
    """Return whether a joining reason differs from those of a halt: another text, or another seat's."""
    return all((one.by, one.text) != (joining.by, joining.text) for one in reasons)


def unnamed(state: HaltState, lifts: tuple[str, ...]) -> tuple[Reason, ...]:
    """Return the open reasons that a resume leaves out; one that names none means the only one (R-G12)."""
    if not lifts and len(state.reasons) == 1:
        return ()
    named = {name_of(text) for text in lifts}
    return tuple(one for one in state.reasons if one.text not in named)


def listed(reasons: tuple[Reason, ...]) -> str:
    """Return reasons as people read them, each with the number of its message."""
    return "; ".join(f"#{one.seq} {one.by}: {one.text}" for one in reasons)


def _joined(state: HaltState, given: RuleInput) -> Effect:
    """A HALT on a halted desk adds its reason, and stops a resume that is under way (R-G12)."""
    (joining,) = given.child.reasons
    reasons = state.reasons
    if len(reasons) < MAX_REASONS and new_reason(reasons, joining):
        reasons = (*reasons, joining)
    changes = {"reasons": reasons, "halted_seq": joining.seq}
    return Effect(changes, drop=lambda _due: True)


def halt_said(given: RuleInput) -> HaltState:
    """Open a halt with a HALT.

    Raises:
        Violation: It names another than who says it; or as `open_halt`.
    """
    check(given.body, said_by(given.message), "R-B5", version=given.context.version)
    return open_halt(given, given.body.reason, given.body.reason)


def halt_alerted(given: RuleInput) -> HaltState:
    """Open a halt with a RISK_ALERT of level HALT.

    Raises:
        Violation: As `open_halt`.
    """
    body = given.body
    figures = f"{body.metric} is {body.current_value}, the limit {body.threshold}"
    return open_halt(given, body.message, f"{figures}: {body.message}")


def said_by(env: Envelope) -> Figures:
    """Return what a HALT says of itself: its seat, or the person who says it."""
    who = (env.author, env.actor.user_id) if env.actor.user_id else (env.author,)
    return {"by": OneOf(who, f"{env.author} says it, which", since=DERIVED)}


def after_end(ended: Ended, env: Envelope) -> Violation:
    """Return the violation of a message to a halt that has ended; one that joined another halt says so (R-G12)."""
    if ended.outcome == JOINED:
        why = f"{ended.case_id} joined the halt in force: name that one in {env.body.type}"
        return Violation("R-G12", why, field="halt_id")
    return Violation("K23", f"{ended.case_id} has ended ({ended.outcome}); nothing changes it")


def check_resume(env: Envelope, context: RuleContext) -> None:
    """Check a RESUME that names no open halt: an admin ends System A's conservative mode by what led to it (R-F2).

    Raises:
        Violation: It led to no mode that is in force, or it is no admin that ends it.
    """
    is_meant = context.conservative_a and env.case_id == context.fold_named("modes").because
    if not is_meant or env.author != ADMIN:
        raise Violation("K9", f"there is no open case {env.case_id}", field="case_id")


def _is_owed(context: RuleContext) -> bool:
    owed = (due for state in context.cases.values() for due in state.owed)
    return any(due.seat == OPERATOR and "HALT" in due.expects for due in owed)


def _asked(state: HaltState, given: RuleInput) -> Effect:
    """Check that a RESUME names every open reason (R-G12), and ask the Guardian to confirm it (R-B5)."""
    if given.context.version >= SECOND_AUDIT:
        left_out = unnamed(state, given.body.lifts)
        if left_out:
            raise Violation(
                "R-G12",
                f"trading is halted for {len(state.reasons)} reasons, and a resume names all of them; "
                f"left out: {listed(left_out)}",
                field="lifts",
            )
        known = {one.text for one in state.reasons}
        for text in given.body.lifts:
            if name_of(text) not in known:
                raise Violation("R-G12", f"{text[:200]!r} is no reason of {state.case_id}", field="lifts")
    return Effect({"steps": state.steps + 1})


def _lifts(state: HaltState, given: RuleInput) -> Figures:
    """A resume that is owed names all reasons of a halt that has several (R-G12)."""
    if given.context.version < SECOND_AUDIT or len(state.reasons) < 2:
        return {}
    texts = tuple(dict.fromkeys(one.text for one in state.reasons))
    return {"lifts": Exactly(texts, rule="R-G12", since=SECOND_AUDIT)}


def _not_asked(_state: HaltState, _given: RuleInput) -> Effect:
    """Nothing is confirmed that nobody asked for (R-B5)."""
    raise Violation("R-B5", "nobody asked to resume: RESUME comes first")


def _confirmed_by_admin(state: HaltState, given: RuleInput) -> Effect:
    """An admin confirms only while the Guardian is silent (R-B13)."""
    if not _is_silent(state, given):
        until = f"{state.owed[0].due_at:%H:%M} UTC"
        raise Violation("R-B13", f"the Guardian is not silent: it has until {until}")
    return Effect(outcome=RESUMED)


def _is_silent(state: HaltState, given: RuleInput) -> bool:
    """Say whether the Guardian is silent: late with this confirmation, or silent since it missed one, or its checks.

    Any message of the Guardian in effect ends its silence (R-B13).
    """
    if any(given.at >= o.due_at for o in state.owed):
        return True
    context = given.context
    checks = max((getattr(case, "silent", 0) for case in context.cases.values()), default=0)
    if not state.is_unconfirmed and checks < SILENT_TICKS:
        return False
    silences: int = context.fold_named("health").silences(GUARDIAN)
    return silences >= (1 if state.is_unconfirmed else SILENT_TICKS)


def _unconfirmed(_state: HaltState, _given: RuleInput) -> Effect:
    """A confirmation that is missed leaves the desk halted; the Guardian is silent (R-B13)."""
    return Effect({"is_unconfirmed": True})


def _ordered(state: HaltState, _given: RuleInput) -> Effect | None:
    """An admin's answer makes the Operator owe RESUME, unless that is under way (R-B5)."""
    return None if state.owed else Effect({"steps": state.steps + 1}, owe=(Owe("resume"),))


def _stands(_state: HaltState, _given: RuleInput) -> Effect:
    """Silence leaves the desk halted, and so does a human STOP (R-B5)."""
    return Effect(drop=lambda _due: True)


def _numbered(state: HaltState, _subject: Any) -> str:
    return f"{state.phase}-{state.steps}"


def _brief(state: HaltState, given: RuleInput) -> dict[str, Any]:
    """Tell the seat which halt is to be lifted."""
    return {
        "subject": state.case_id,
        "phase": state.phase,
        "by": state.by,
        **({"reasons": [one.context for one in state.reasons]} if len(state.reasons) > 1 else {}),
        "desk": desk_brief(given.context),
    }


HALT: Final = Machine(
    kind=KIND,
    system="B",
    phases=(HALTED, RESUMING),
    rule="R-B5",
    start={
        Halt: Start(halt_said, (HALTED, ENDED)),
        RiskAlert: Start(halt_alerted, (HALTED, ENDED), through="alert"),
    },
    steps={
        "resume": Step(
            phase=HALTED,
            seat=OPERATOR,
            channel="#b-ops",
            moves={Resume: Move((RESUMING,), _asked)},
            missed=Missed("R-B5", "void", Move((HALTED,), _stands)),
            rule="R-B5",
            within=LIMIT,
            grace=LIMIT,
            subjects=lambda _state: (),
            name=_numbered,
            figures=_lifts,
            brief=_brief,
        ),
        "confirmation": Step(
            phase=RESUMING,
            seat=GUARDIAN,
            channel="#b-risk",
            moves={ResumeConfirmed: Move((ENDED,), ends(RESUMED))},
            missed=Missed("R-B13", "void", Move((HALTED,), _unconfirmed)),
            rule="R-B5",
            within=LIMIT,
            grace=LIMIT,
            name=_numbered,
            brief=_brief,
        ),
    },
    facts={
        (HALTED, Resume): Move((RESUMING,), _asked),
        (HALTED, ResumeConfirmed): Move((), _not_asked),
        (RESUMING, ResumeConfirmed): Move((ENDED,), _confirmed_by_admin),
    },
    children={(HALTED, KIND): Move((HALTED,), _joined), (RESUMING, KIND): Move((HALTED,), _joined)},
    rulings={STOP: Move((HALTED,), _stands), RESUME.reason: Move((HALTED,), _ordered)},
    idle={HALTED: "somebody resumes"},
    parent_of=session_of,
    after_end=after_end,
)
"""A halt stands until a RESUME is confirmed (R-B5); who confirms, what silence does (R-B13); others join (R-G12)."""
