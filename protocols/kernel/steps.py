"""Steps: what a duty of a case is, and what a rule is given and returns; a `machine.Machine` is a table of them.

A protocol adds guards and effects: small pure functions, each named after its rule. They never ask for a message's type
or the phase; that is the table's business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import LocalProtocolError, Violation
from moot.protocols.kernel.figures import SECOND_AUDIT, Figures
from moot.protocols.kernel.frozen import FrozenDict
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import EVERYTHING, NO_GRACE, Obligation, Visibility
from moot.protocols.kernel.seats import PEOPLE, REFEREE, Seat

ENDED: Final = "ended"
"""The phase of every case that has ended."""

STOP: Final = "stop"
"""The ruling that a human STOP leads to, see `Machine.rulings`."""

MIN_YEAR: Final = 1000
MAX_YEAR: Final = 9000
"""Years of the instants that rules may name: what is counted from them stays a date."""

UNCHANGED: Final[Mapping[str, Any]] = FrozenDict()
"""The changes of an effect that changes no field."""


@dataclass(slots=True)
class RuleInput:
    """What a rule is given besides the state.

    Attributes:
        context: What holds for the whole society.
        env: The message, or the ruling, that is being folded; None where a rule is only asked, as for a brief.
        due: The obligation that it settles or voids, or that is asked about; None for neither.
        parent: At the start, the case in which this one opens, if any.
        child: The last state of the case in this one that has just ended, if that is what happens.
    """

    context: Final[RuleContext]
    env: Final[Envelope | None] = None
    due: Final[Obligation | None] = None
    parent: Final[CaseState | None] = None
    child: Final[Any] = None

    @property
    def body(self) -> Any:
        """Return the body of the message, None where there is no message."""
        return self.env.body if self.env is not None else None

    @property
    def message(self) -> Envelope:
        """Return the message, where there is one."""
        assert self.env is not None
        return self.env

    @property
    def at(self) -> datetime:
        """Return the instant of the message that is, or was last, folded."""
        return self.env.sent_at if self.env is not None else self.context.now

    @property
    def subject(self) -> Any:
        """Return what the obligation is about, None where it is about nothing."""
        return self.due.subject if self.due is not None else None

    def about(self, due: Obligation | None) -> RuleInput:
        """Return the same input about another obligation, or about none."""
        return RuleInput(self.context, self.env, due, self.parent, self.child)


class Owe(NamedTuple):
    """A duty that an effect opens.

    Attributes:
        step: Its name in the machine.
        subject: What it is about.
        at: From when on; None: from now on.
    """

    step: str
    subject: Any = None
    at: datetime | None = None


@dataclass(slots=True)
class Effect:
    """What a move does.

    Attributes:
        changes: New values of the state's fields.
        to: The phase that it leads to; "" where the move knows only one.
        outcome: How the case ends; with the phase `ended` only.
        owe: What is owed from now on; None: what entering the phase opens, where the phase changes. What else was owed
            stays owed in a phase that does not change, and in one through which its step lasts.
        drop: (obligation) -> whether it is closed unsettled though it could stay owed; None: none is.
        notes: What happens, in order, for whoever keeps a record of the case, see `Machine.note`.
    """

    changes: Final[Mapping[str, Any]] = UNCHANGED
    to: Final[str] = ""
    outcome: Final[str | None] = None
    owe: Final[tuple[Owe, ...] | None] = None
    drop: Final[Callable[[Obligation], bool] | None] = None
    notes: Final[tuple[Any, ...]] = ()


Rule = Callable[[Any, RuleInput], Effect | None]
"""A guard and what follows: (state, input) -> effect; raises Violation and changes nothing.

None where a message leaves the case as it is, or a ruling or the end of a case within it comes too late.
"""


@dataclass(frozen=True, slots=True)
class Move:
    """A legal move.

    Attributes:
        to: Every phase that it can lead to; none for a move that is always refused.
        effect: Its rule.
    """

    to: tuple[str, ...]
    effect: Rule


@dataclass(frozen=True, slots=True)
class Missed:
    """What silence leads to: the referee's ruling, and the move that it makes.

    Attributes:
        rule: The spec section or ruling that says so.
        outcome: What is ruled, or (state) -> what.
        move: What the ruling does.
        reason: Why, as a code.
    """

    rule: str
    outcome: str | Callable[[Any], str]
    move: Move
    reason: str = "timeout"

    def decision(self, state: CaseState) -> Decision:
        """Return the ruling."""
        outcome = self.outcome if isinstance(self.outcome, str) else self.outcome(state)
        return Decision(outcome, self.reason, self.rule)


ANSWERED: Final = "answered"
EXPIRED: Final = "expired"
"""Reasons of the ruling that hands the answer to an escalation back to its case: a person gave it, or time did."""


class Asks(NamedTuple):
    """An escalation that a case raises when it enters a phase, and what its end does (R-G16).

    Attributes:
        trigger: Code of its trigger, one of its protocol's `triggers`; `{subject}` in its text is the id of the case.
        channel: Channel of the ruling that hands the answer back.
        context: (state) -> text of what a person should know to decide.
        move: What the ruling does. `body.outcome` is the effect of the chosen option, of the default one where nobody
            answered in time, and `none` where the answer was words of the person's own; `body.reason` is `answered` or
            `expired`.
    """

    trigger: str
    channel: str
    context: Callable[[Any], str]
    move: Move


_PASSES: Final = Effect()


def passes(_state: Any, _given: RuleInput) -> Effect:
    """Lead on to what the row says, and change nothing else."""
    return _PASSES


def ends(outcome: str, **changes: Any) -> Rule:
    """Return the rule that ends the case.

    Args:
        outcome: How.
        changes: New values of the state's fields.
    """

    def effect(_state: Any, _given: RuleInput) -> Effect:
        return Effect(changes, outcome=outcome)

    return effect


def nothing(_state: Any, _given: RuleInput) -> dict[str, Any]:
    """Hold an answer to nothing, or show nothing."""
    return {}


def _everything(_state: Any, _given: RuleInput) -> Visibility:
    return EVERYTHING


def _one(_state: Any) -> tuple[Any, ...]:
    return (None,)


def _whatever(_subject: Any, _body: Message) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Step:
    """A duty of a phase: who owes what, where, until when, what answers do and what silence does.

    Attributes:
        phase: In which it is owed: what entering it opens, unless the effect says otherwise.
        seat: Who owes it, or (subject) -> who.
        channel: Where.
        moves: What each legal answer does.
        missed: What silence does; None for an officer's duty, which cannot be missed, and for a person's that stays
            owed until it is answered. A person is reminded and not pinged (R-G16).
        rule: The spec section or ruling that a figure broken by the answer breaks.
        within: Time until the referee pings, or (state, input) -> that time.
        grace: Time after that until it may be ruled void.
        lasts: Phases after its own through which it stays owed, when one moves on there.
        subjects: (state) -> what it is owed about when the phase is entered, one obligation each; None alone is "about
            nothing", and an empty tuple leaves it to an effect's `owe`.
        is_about: (subject, body) -> whether a message that names no obligation may answer this one.
        asks: (state, input) -> which of its answers it expects now; None: all. One that is not expected is judged by
            its move all the same, so that the rule that forbids it is what its author hears.
        name: (state, subject) -> its name in obligation ids; None: its name in the machine, up to a "/".
        figures: (state, input) -> what the rules hold the answer to; used by the check, the brief and the minds. A
            field that an answer's type lacks holds it to nothing.
        brief: (state, input) -> what the mind is shown besides the figures.
        may_see: (state, input) -> what the seat's mind is shown for it.
        applies: (state, input) -> whether it is still owed; asked of all that stays owed after each move of its case,
            not of what that move opens: the folds take the message in after the case. What no longer applies is
            withdrawn, and is nobody's silence.
        next_at: (state, instant, last) -> when it is owed next, None when no more: at the start (`last` is None), and
            after each answer or silence (`last` is when that one opened). That instant is what it is about. Without
            it a duty is owed once.
        discharge: (state, input) -> the message that an officer owes; None for other seats.
        expects: The types of its answers.
        is_plain: Whether entering its phase opens one obligation, at once and about nothing.
    """

    phase: str
    seat: Seat | Callable[[Any], Seat]
    channel: str
    moves: Mapping[type[Message], Move]
    missed: Missed | None
    rule: str
    within: timedelta | Callable[[Any, RuleInput], timedelta]
    grace: timedelta
    lasts: tuple[str, ...] = ()
    subjects: Callable[[Any], tuple[Any, ...]] = _one
    is_about: Callable[[Any, Message], bool] = _whatever
    asks: Callable[[Any, RuleInput], tuple[str, ...]] | None = None
    name: Callable[[Any, Any], str] | None = None
    figures: Callable[[Any, RuleInput], Figures] = nothing
    brief: Callable[[Any, RuleInput], dict[str, Any]] = nothing
    may_see: Callable[[Any, RuleInput], Visibility] = _everything
    applies: Callable[[Any, RuleInput], bool] | None = None
    next_at: Callable[[Any, datetime, datetime | None], datetime | None] | None = None
    discharge: Callable[[Any, RuleInput], Message] | None = None
    expects: tuple[str, ...] = field(init=False)
    is_plain: bool = field(init=False)
    _is_fixed: bool = field(init=False)

    def __post_init__(self) -> None:
        """Name the types of its answers once, and note whether the state says more of its obligations."""
        names = tuple(str(kind.model_fields["type"].default) for kind in self.moves)
        object.__setattr__(self, "expects", names)
        depends = callable(self.within) or self.asks is not None or self.may_see is not _everything
        object.__setattr__(self, "_is_fixed", not depends)
        object.__setattr__(self, "is_plain", self.subjects is _one and self.next_at is None)

    def seat_of(self, subject: Any) -> Seat:
        """Return who owes it about a subject."""
        return self.seat(subject) if callable(self.seat) else self.seat

    def owed(self, name: str, state: CaseState, subject: Any, given: RuleInput, at: datetime) -> Obligation:
        """Return the obligation that it makes.

        Args:
            name: Its name in the machine.
            state: The case.
            subject: What it is about.
            given: The message that opens it.
            at: From when on it is owed.
        """
        seat, within, case_id = self.seat, self.within, state.case_id
        if callable(seat):
            seat = seat(subject)
        part = name if self.name is None else self.name(state, subject)
        due_at = at if callable(within) else at + within
        can_be_missed = self.missed is not None
        if can_be_missed and seat in PEOPLE:
            can_be_missed = given.context.version >= SECOND_AUDIT
        due = Obligation(
            case_id + _tail(part, seat),
            case_id,
            seat,
            self.expects,
            self.channel,
            at,
            due_at,
            self.grace,
            EVERYTHING,
            NO_GRACE,
            name,
            subject,
            can_be_missed,
        )
        return due if self._is_fixed else self._narrowed(due, state, given.about(due))

    def _narrowed(self, due: Obligation, state: CaseState, given: RuleInput) -> Obligation:
        """Return an obligation with what depends on the state."""
        within = self.within
        narrowed = Obligation(
            due.id,
            due.case_id,
            due.seat,
            due.expects if self.asks is None else self.asks(state, given),
            due.channel,
            due.opened_at,
            due.opened_at + within(state, given) if callable(within) else due.due_at,
            due.grace,
            self.may_see(state, given),
            due.outage,
            due.rule,
            due.subject,
            due.can_be_missed,
        )
        check_instant(narrowed.due_at)
        if type(narrowed.may_see) is not Visibility or type(narrowed.expects) is not tuple:
            raise LocalProtocolError(
                f"the step {self.phase}: may_see is a Visibility, and asks a tuple of types"
            )
        return narrowed


def check_instant(at: object) -> None:
    """Check that an instant which a rule names can be compared with all others.

    Raises:
        LocalProtocolError: It has no time zone, or lies so far off that deadlines cannot be counted from it.
    """
    if not isinstance(at, datetime) or at.tzinfo is None or not MIN_YEAR <= at.year <= MAX_YEAR:
        raise LocalProtocolError(
            f"an instant has a time zone and a year from {MIN_YEAR} to {MAX_YEAR}, not {at!r}"
        )


@cache
def _tail(name: str, seat: Seat) -> str:
    """Return the end of an obligation's id."""
    return f"/{name.partition('/')[0]}/{seat}"


def illegal(state: CaseState, env: Envelope, rule: str) -> Violation:
    """Make the violation of a message that is no move in this phase."""
    owed = " or ".join(" / ".join(o.expects) for o in state.owed if o.seat != REFEREE) or "nothing"
    return Violation(
        rule, f"{env.body.type} from {env.author} is not a move in phase {state.phase}; owed is {owed}"
    )
