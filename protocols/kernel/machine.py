"""Machines: the rules of one kind of case as data, and the `CaseType` that follows from them.

A machine is a table of *steps*: each says who owes what, where, until when, what each legal answer does, and what
silence does. A protocol adds guards and effects: small pure functions, each named after its rule. They never ask for a
message's type or the phase; that is the table's business.

What a phase makes owed, what a message may move, what a missed duty is ruled and leads to, what a mind is briefed on
and what its answer is held to are all read from the table here, once for all machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, CaseType, Decision, Ended, evolve
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import LocalProtocolError, Violation
from moot.protocols.kernel.house import House
from moot.protocols.kernel.message import Message, Part
from moot.protocols.kernel.obligation import EVERYTHING, Obligation, Visibility
from moot.protocols.kernel.seats import OFFICERS, Seat
from moot.protocols.kernel.table import illegal

ENDED: Final = "ended"
"""The phase of every case that has ended."""

STOP: Final = "stop"
"""The ruling that a human STOP leads to, see `Machine.rulings`."""


class RuleInput(NamedTuple):
    """What a rule is given besides the state.

    Attributes:
        env: The message, or the ruling, that is being folded.
        house: What holds for the whole society.
        due: The obligation that it settles or voids, None when it does neither.
        parent: At the start, the case in which this one opens, if any.
        child: The last state of the case in this one that has just ended, if that is what happens.
    """

    env: Envelope
    house: House
    due: Obligation | None = None
    parent: CaseState | None = None
    child: Any = None

    @property
    def body(self) -> Any:
        """Return the body of the message."""
        return self.env.body


class Effect(NamedTuple):
    """What a move does.

    Attributes:
        changes: New values of the state's fields.
        to: The phase that it leads to; "" where the move knows only one.
        outcome: How the case ends; with the phase `ended` only.
        owe: Names of the steps to open; None: those that entering the phase opens.
    """

    changes: Mapping[str, Any] = {}
    to: str = ""
    outcome: str | None = None
    owe: tuple[str, ...] | None = None


Rule = Callable[[Any, RuleInput], Effect]
"""A guard and what follows: (state, input) -> effect; raises Violation and changes nothing."""


class Move(NamedTuple):
    """A legal move.

    Attributes:
        to: Every phase that it can lead to.
        effect: Its rule.
    """

    to: tuple[str, ...]
    effect: Rule


class Missed(NamedTuple):
    """What silence leads to: the referee's ruling, and the move that it makes.

    Attributes:
        rule: The spec section or ruling that says so.
        outcome: What is ruled.
        move: What the ruling does.
        reason: Why, as a code.
    """

    rule: str
    outcome: str
    move: Move
    reason: str = "timeout"


class Exactly(NamedTuple):
    """A field has this value and no other."""

    value: Any

    def why_not(self, given: Any) -> str:
        """Say what is wrong with a field's value, "" when nothing is."""
        if given == self.value or (isinstance(given, Part) and given.model_dump() == self.value):
            return ""
        plain = given.model_dump() if isinstance(given, Part) else given
        return f"the log says {self.value}, the message {plain}"


class OneOf(NamedTuple):
    """A field has one of these values; what they follow from is said for people.

    Attributes:
        values: They.
        because: What leads to them.
    """

    values: tuple[Any, ...]
    because: str

    def why_not(self, given: Any) -> str:
        """Say what is wrong with a field's value, "" when nothing is."""
        return "" if given in self.values else f"{self.because} leads to {' or '.join(map(str, self.values))}"


Figures = Mapping[str, Exactly | OneOf]
"""What the rules hold an answer to, by field; nested fields are compared whole."""


def _nothing(_state: Any, _house: House) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Step:
    """A duty of a phase.

    Attributes:
        phase: In which it is owed.
        seat: Who owes it.
        channel: Where.
        moves: What each legal answer does.
        missed: What silence does; None for an officer's duty, which cannot be missed.
        rule: The spec section or ruling that a figure broken by the answer breaks.
        within: Time until the referee pings.
        grace: Time after that until it may be ruled void.
        opens: Whether entering the phase opens it; else an effect's `owe` does.
        name: Its name in obligation ids, from the state; None: its name in the machine.
        figures: (state, house) -> what the rules hold the answer to; used by the check, the brief and the minds.
        brief: (state, house) -> what the mind is shown besides the figures.
        may_see: What the seat's mind is shown for it.
    """

    phase: str
    seat: Seat
    channel: str
    moves: Mapping[type[Message], Move]
    missed: Missed | None
    rule: str
    within: timedelta
    grace: timedelta
    opens: bool = True
    name: Callable[[Any], str] | None = None
    figures: Callable[[Any, House], Figures] = _nothing
    brief: Callable[[Any, House], dict[str, Any]] = _nothing
    may_see: Visibility = EVERYTHING
    expects: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Name the types of its answers once."""
        names = tuple(str(kind.model_fields["type"].default) for kind in self.moves)
        object.__setattr__(self, "expects", names)


@dataclass(frozen=True, slots=True)
class Start:
    """How a case opens.

    Attributes:
        state: (input) -> its first state, whose phase says what is owed; raises Violation.
        phases: Every phase in which it may start.
    """

    state: Callable[[RuleInput], CaseState]
    phases: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A kind of case.

    Attributes:
        kind: Its name.
        system: "A", "B" or "".
        phases: Its phases in the order in which they come, `ended` left out.
        rule: The spec section or ruling that an illegal move breaks.
        start: What opens it.
        steps: The duties, by name.
        facts: By (phase, type), what may come unowed.
        rulings: By reason of the ruling (a human STOP's is `stop`), what a RULING on the case does.
        children: By kind, what the end of a case in this one does.
        dry: By phase, the move that is made when nothing is owed in it any more.
        idle: Phases in which nobody owes, each with what ends it.
        parent_of: Returns the case in which an opener says that it opens, None for none.
        after_end: (ended, envelope) -> the violation of a message that comes after the end.

    Raises:
        LocalProtocolError: The table contradicts itself: see `faults`.
    """

    kind: str
    system: str
    phases: tuple[str, ...]
    rule: str
    start: Mapping[type[Message], Start]
    steps: Mapping[str, Step]
    facts: Mapping[tuple[str, type[Message]], Move] = field(default_factory=dict)
    rulings: Mapping[str, Move] = field(default_factory=dict)
    children: Mapping[str, Move] = field(default_factory=dict)
    dry: Mapping[str, Move] = field(default_factory=dict)
    idle: Mapping[str, str] = field(default_factory=dict)
    parent_of: Callable[[Message], str | None] | None = None
    after_end: Callable[[Ended, Envelope], Violation] | None = None

    def __post_init__(self) -> None:
        """Refuse a table that contradicts itself."""
        if found := "; ".join(faults(self)):
            raise LocalProtocolError(f"the machine {self.kind}: {found}")

    def opens_at(self, phase: str) -> tuple[str, ...]:
        """Return the names of the steps that entering a phase opens."""
        return tuple(name for name, step in self.steps.items() if step.phase == phase and step.opens)

    def case_type(self) -> CaseType:
        """Return what the docket runs it by."""
        return CaseType(
            kind=self.kind,
            openers=tuple(str(kind.model_fields["type"].default) for kind in self.start),
            open=self._open,
            step=self._step,
            otherwise=self._otherwise,
            rule=self._rule,
            child_ended=self._child_ended if self.children else None,
            parent_of=self.parent_of,
            brief=self._brief,
            after_end=self.after_end,
            system=self.system,
            machine=self,
        )

    def _open(self, env: Envelope, house: House, parent: CaseState | None) -> CaseState:
        state = self.start[type(env.body)].state(RuleInput(env, house, parent=parent))
        if state.outcome is not None or state.kind != self.kind:
            return state
        return evolve(state, owed=self._owed(state, self.opens_at(state.phase), env))

    def _owed(self, state: CaseState, names: tuple[str, ...], env: Envelope) -> tuple[Obligation, ...]:
        return tuple(self._owe(name, state, env) for name in names)

    def _owe(self, name: str, state: CaseState, env: Envelope) -> Obligation:
        step = self.steps[name]
        part = step.name(state) if step.name is not None else name.partition("/")[0]
        return Obligation(
            f"{state.case_id}/{part}/{step.seat.value}",
            state.case_id,
            step.seat,
            step.expects,
            step.channel,
            env.sent_at,
            env.sent_at + step.within,
            step.grace,
            step.may_see,
            rule=name,
        )

    def _step(self, state: CaseState, env: Envelope, house: House) -> CaseState:
        kind = type(env.body)
        due = next(
            (o for o in state.owed if o.seat is env.author and kind in self.steps[o.rule].moves),
            None,
        )
        given = RuleInput(env, house, due)
        if due is not None:
            step = self.steps[due.rule]
            check(env.body, step.figures(state, house), step.rule)
            return self._moved(state, step.moves[kind], given)
        fact = self.facts.get((state.phase, kind))
        if fact is None:
            raise illegal(state, env, self.rule)
        return self._moved(state, fact, given)

    def _moved(self, state: CaseState, move: Move, given: RuleInput) -> CaseState:
        effect = move.effect(state, given)
        to = effect.to or move.to[0]
        if to not in move.to:
            raise LocalProtocolError(f"the machine {self.kind}: a move leads to {to}, its row says {move.to}")
        if to == ENDED:
            return evolve(state, phase=to, owed=(), outcome=effect.outcome, **effect.changes)
        new = evolve(state, phase=to, **effect.changes)
        names = effect.owe
        if to == state.phase and names is None:
            left = tuple(o for o in state.owed if o is not given.due)
        else:
            left = self._owed(new, self.opens_at(to) if names is None else names, given.env)
        new = evolve(new, owed=left)
        if not left and to in self.dry:
            return self._moved(new, self.dry[to], given)
        return new

    def _otherwise(self, _state: CaseState, obligation: Obligation, _house: House) -> Decision:
        missed = self.steps[obligation.rule].missed
        assert missed is not None
        return Decision(missed.outcome, missed.reason, missed.rule)

    def _rule(
        self, state: CaseState, decision: Decision, env: Envelope, house: House, obligation: Obligation | None
    ) -> CaseState:
        given = RuleInput(env, house, obligation)
        reason = STOP if decision.outcome == STOP else decision.reason
        missed = self.steps[obligation.rule].missed if obligation is not None else None
        move = missed.move if missed is not None and reason != STOP else self.rulings.get(reason)
        if move is None:
            raise LocalProtocolError(f"the machine {self.kind} has no row for a ruling of reason {reason}")
        return self._moved(state, move, given)

    def _child_ended(self, state: CaseState, child: CaseState, env: Envelope, house: House) -> CaseState:
        return self._moved(state, self.children[child.kind], RuleInput(env, house, child=child))

    def _brief(self, state: CaseState, obligation: Obligation, house: House) -> dict[str, Any]:
        step = self.steps[obligation.rule]
        shown = step.brief(state, house)
        for name, figure in step.figures(state, house).items():
            shown[name] = figure.value if isinstance(figure, Exactly) else figure.values
        return shown


def check(body: Message, figures: Figures, rule: str) -> None:
    """Check that an answer says what the rules hold it to.

    Raises:
        Violation: A field does not.
    """
    for name, figure in figures.items():
        if why := figure.why_not(getattr(body, name)):
            raise Violation(rule, why, field=name)


def faults(machine: Machine) -> Iterator[str]:
    """Say how a machine's table contradicts itself: each sentence names the row."""
    phases = set(machine.phases)
    owing = {step.phase for step in machine.steps.values()}
    for phase in sorted(phases ^ (owing | set(machine.idle))):
        yield (
            f"nobody owes in the phase {phase}, and nothing says what ends it"
            if phase in phases
            else (f"the phase {phase} is not listed")
        )
    for name, step in machine.steps.items():
        if step.missed is None and step.seat not in OFFICERS:
            yield f"the step {name} does not say what silence leads to"
        if not step.moves:
            yield f"the step {name} has no legal answer"
    reached = {phase for start in machine.start.values() for phase in start.phases}
    for row in rows(machine):
        reached |= set(row.move.to)
        for to in row.move.to:
            if to != ENDED and to not in phases:
                yield f"{row.phase}, {row.event}: leads to {to}, which is no phase"
    for phase in sorted(phases - reached):
        yield f"nothing leads to the phase {phase}"
    for phase, _ in machine.facts:
        if phase not in phases:
            yield f"a fact comes in the phase {phase}, which no step belongs to"
    if STOP not in machine.rulings:
        yield "no row says what a human STOP does"


class Row(NamedTuple):
    """A row of a machine's table.

    Attributes:
        phase: In which it applies; "" for any.
        event: The message, the missed step, the ruling or whatever else makes the move.
        move: The move.
    """

    phase: str
    event: str
    move: Move


def rows(machine: Machine) -> Iterator[Row]:
    """Yield every move of a machine, for diagrams, tests and checks."""
    for name, step in machine.steps.items():
        for (_, move), expected in zip(step.moves.items(), step.expects, strict=True):
            yield Row(step.phase, expected, move)
        if step.missed is not None:
            yield Row(step.phase, f"{name} missed", step.missed.move)
    for (phase, kind), move in machine.facts.items():
        yield Row(phase, f"{kind.model_fields['type'].default} unowed", move)
    for child, move in machine.children.items():
        yield Row("", f"its {child} ended", move)
    for phase, move in machine.dry.items():
        yield Row(phase, "nothing is owed any more", move)
    for reason, move in machine.rulings.items():
        yield Row("", f"RULING {reason}", move)
