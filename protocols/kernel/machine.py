"""Machines: the rules of one kind of case as a table of steps, and how the docket runs it.

What a phase makes owed, what a message may move, what a missed duty is ruled and leads to, what a mind is briefed on
and what its answer is held to are all read from the table here, once for all machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.case import CaseState, Decision, Ended, changed, owing
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import LocalProtocolError, Violation
from moot.protocols.kernel.figures import ByField, check
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.rule_faults import FAULTED
from moot.protocols.kernel.seats import OFFICERS, PEOPLE
from moot.protocols.kernel.steps import (
    ANSWERED,
    ENDED,
    EXPIRED,
    STOP,
    Asks,
    Effect,
    Move,
    Owe,
    RuleInput,
    Step,
    check_instant,
    illegal,
    nothing,
)
from moot.protocols.kernel.times import rfc3339

KERNEL_FIELDS: Final = frozenset({"case_id", "kind", "phase", "opened_seq", "owed", "outcome"})
"""Fields of a state that no effect changes."""

MAX_OUTCOME: Final = 200
"""Maximum length of an outcome, in characters."""

RESERVED_OUTCOMES: Final = frozenset({STOP, FAULTED})
"""Outcomes of rulings that the kernel itself gives a meaning."""


@dataclass(frozen=True, slots=True)
class Start:
    """How a case opens.

    Attributes:
        state: (input) -> its first state, newly made, whose phase says what is owed; raises Violation. One of another
            kind is taken as it is: its opener opens cases of several kinds.
        phases: Every phase in which it may start.
        through: The kind whose opener the message is, where that opens this kind too; "": this kind's own.
    """

    state: Callable[[RuleInput], CaseState]
    phases: tuple[str, ...]
    through: str = ""

    def open(self, machine: Machine, given: RuleInput) -> CaseState:
        """Open a case of a machine."""
        state = self.state(given)
        return state if state.kind != machine.kind else machine.opened(state, given)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A kind of case.

    Attributes:
        kind: Its name.
        system: "A", "B" or "".
        title: How people write its kind; "": the kind with a capital.
        phases: Its phases in the order in which they come, `ended` left out.
        rule: The spec section or ruling that an illegal move breaks.
        start: What opens it.
        steps: The duties, by name.
        facts: By (phase, type), what may come unowed; the type `Message` stands for all that have no row.
        rulings: By reason of the ruling (a human STOP's is `stop`), what a RULING on the case does.
        children: By (phase, kind), what the end of a case in this one does; that of another does nothing.
        dry: By phase, the move that is made when nothing is owed in it any more; its effect is None where something
            else is waited for.
        asks: By phase, the escalation that a case raises when it enters it; a case that leaves it withdraws it.
        outcomes: What rulings on silence may say; empty: what its steps say. Where a step's outcome is a function, this
            is what it is held to.
        idle: Phases in which nobody owes, each with what ends it.
        parent_of: Returns the case in which an opener says that it opens, None for none.
        after_end: (ended, envelope) -> the violation of a message that comes after the end.
        note: Takes the notes of each move that is made; None: nobody keeps a record.
        openers: The types that open it.

    Raises:
        LocalProtocolError: The table contradicts itself: see `faults`.
    """

    kind: str
    system: str
    title: str = ""
    phases: tuple[str, ...]
    rule: str
    start: Mapping[type[Message], Start]
    steps: Mapping[str, Step]
    facts: Mapping[tuple[str, type[Message]], Move] = field(default_factory=dict)
    rulings: Mapping[str, Move] = field(default_factory=dict)
    children: Mapping[tuple[str, str], Move] = field(default_factory=dict)
    dry: Mapping[str, Move] = field(default_factory=dict)
    asks: Mapping[str, Asks] = field(default_factory=dict)
    outcomes: tuple[str, ...] = ()
    idle: Mapping[str, str] = field(default_factory=dict)
    parent_of: Callable[[Message], str | None] | None = None
    after_end: Callable[[Ended, Envelope], Violation] | None = None
    note: Callable[[Any], None] | None = None

    openers: tuple[str, ...] = field(init=False)
    _opens: Mapping[str, tuple[str, ...]] = field(init=False, repr=False)
    _lasting: Mapping[str, frozenset[str]] = field(init=False, repr=False)
    _withdraws: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a table that contradicts itself, and sort its steps by phase once."""
        if found := "; ".join(faults(self)):
            raise LocalProtocolError(f"the machine {self.kind}: {found}")
        steps = self.steps.items()
        opens = {phase: tuple(name for name, step in steps if step.phase == phase) for phase in self.phases}
        lasting = {phase: frozenset(n for n, step in steps if phase in step.lasts) for phase in self.phases}
        openers = (
            str(kind.model_fields["type"].default) for kind, start in self.start.items() if not start.through
        )
        object.__setattr__(self, "openers", tuple(openers))
        object.__setattr__(self, "_opens", opens)
        object.__setattr__(self, "_lasting", lasting)
        object.__setattr__(self, "_withdraws", any(step.applies for step in self.steps.values()))

    @property
    def shown(self) -> str:
        """Return its kind as people write it."""
        return self.title or self.kind.capitalize()

    def open(self, given: RuleInput) -> CaseState:
        """Open a case: return its first state with what its phase makes owed.

        Raises:
            Violation: It may not open, or not like this.
        """
        return self.start[type(given.message.body)].open(self, given)

    def opened(self, state: CaseState, given: RuleInput) -> CaseState:
        """Return a first state with what its phase makes owed."""
        if state.outcome is not None:
            return state
        return self._settled(owing(state, tuple(self._entering(state, given))), given)

    def _entering(self, state: CaseState, given: RuleInput) -> list[Obligation]:
        """Make what entering the phase of a state opens."""
        at = given.at
        owed: list[Obligation] = []
        for name in self._opens.get(state.phase, ()):
            step = self.steps[name]
            if step.is_plain:
                owed.append(step.owed(name, state, None, given, at))
                continue
            for subject in step.subjects(state):
                due = self._owed(Owe(name, subject, at), state, given)
                if due is not None:
                    owed.append(due)
        return owed

    def _owed(self, owe: Owe, state: CaseState, given: RuleInput) -> Obligation | None:
        """Make an obligation; None where it is owed at an instant that never comes."""
        step = self.steps[owe.step]
        at = owe.at or given.at
        if at is not given.at:
            check_instant(at)
        if step.next_at is not None:
            last = given.due.opened_at if given.due is not None and given.due.rule == owe.step else None
            following = step.next_at(state, at, last)
            if following is None:
                return None
            check_instant(following)
            return step.owed(owe.step, state, following, given, following)
        return step.owed(owe.step, state, owe.subject, given, at)

    def step(self, state: CaseState, env: Envelope, context: RuleContext) -> CaseState:
        """Return the state after a message.

        It answers the obligation that it says it answers, else what its author owes of this type about the same.

        Raises:
            Violation: It is no move, or the rule of its move refuses it; nothing changes.
        """
        body, author, answers = env.body, env.author, env.obligation_id
        kind = type(body)
        for due in state.owed:
            if due.seat != author or (answers is not None and answers != due.id):
                continue
            step = self.steps[due.rule]
            move = step.moves.get(kind)
            if move is not None and (answers is not None or step.is_about(due.subject, body)):
                if env.sent_at < due.opened_at:
                    raise Violation(step.rule, f"it is owed from {rfc3339(due.opened_at)} on")
                given = RuleInput(context, env, due)
                if step.figures is not nothing:
                    check(body, step.figures(state, given), step.rule, version=context.version)
                return self.moved(state, move, given)
        fact = self.facts.get((state.phase, kind)) or self.facts.get((state.phase, Message))
        if fact is None:
            raise _unfit(state, env, self.rule)
        return self.moved(state, fact, RuleInput(context, env))

    def moved(self, state: CaseState, move: Move, given: RuleInput) -> CaseState:
        """Return the state after a move, with what it makes owed.

        Raises:
            Violation: The rule refuses it.
            LocalProtocolError: It leads where its row does not say.
        """
        effect = move.effect(state, given)
        if effect is None:
            return state
        to = effect.to or move.to[0]
        if to not in move.to:
            raise LocalProtocolError(f"the machine {self.kind}: a move leads to {to}, its row says {move.to}")
        if not KERNEL_FIELDS.isdisjoint(effect.changes):
            names = ", ".join(sorted(KERNEL_FIELDS.intersection(effect.changes)))
            raise LocalProtocolError(
                f"the machine {self.kind}: an effect changes {names}, which are the kernel's"
            )
        if self.note is not None:
            for note in effect.notes:
                self.note(note)
        if to == ENDED:
            if not isinstance(effect.outcome, str) or not 0 < len(effect.outcome) <= MAX_OUTCOME:
                raise LocalProtocolError(
                    f"the machine {self.kind}: a case ends with an outcome, not {type(effect.outcome).__name__}"
                )
            return changed(state, {**effect.changes, "owed": (), "outcome": effect.outcome}, to)
        new = changed(state, effect.changes, to)
        left = self._kept(state, new, effect, given)
        if to == state.phase:
            owed = (*left, *self._again(new, given), *self._opened(new, effect.owe or (), given))
        elif effect.owe is not None:
            owed = (*self._opened(new, effect.owe, given), *left)
        else:
            owed = (*self._entering(new, given), *left)
        owing(new, owed)
        return new if owed else self._settled(new, given)

    def _kept(
        self, before: CaseState, after: CaseState, effect: Effect, given: RuleInput
    ) -> list[Obligation]:
        """Return what stays owed: in a phase that does not change all but what was answered, missed or withdrawn."""
        due, drop = given.due, effect.drop
        lasting = self.steps if after.phase == before.phase else self._lasting[after.phase]
        kept = []
        for one in before.owed:
            if one is not due and one.rule in lasting:
                kept.append(one)
        if drop is not None:
            kept = [o for o in kept if not drop(o)]
        return [o for o in kept if self._applies(after, o, given)] if self._withdraws else kept

    def _again(self, state: CaseState, given: RuleInput) -> tuple[Obligation, ...]:
        """Make the next one of what was answered or missed, where it comes again."""
        due = given.due
        if due is None or self.steps[due.rule].next_at is None:
            return ()
        found = self._owed(Owe(due.rule), state, given)
        return () if found is None else (found,)

    def _opened(self, state: CaseState, owe: tuple[Owe, ...], given: RuleInput) -> tuple[Obligation, ...]:
        return tuple(found for one in owe if (found := self._owed(one, state, given)) is not None)

    def _settled(self, state: CaseState, given: RuleInput) -> CaseState:
        """Go on where nothing is owed any more."""
        move = None if state.owed else self.dry.get(state.phase)
        return state if move is None else self.moved(state, move, given.about(None))

    def _applies(self, state: CaseState, due: Obligation, given: RuleInput) -> bool:
        applies = self.steps[due.rule].applies
        return applies is None or applies(state, given.about(due))

    def silence(self, state: CaseState, due: Obligation) -> Decision:
        """Return what the referee rules when an obligation is missed (K5).

        Raises:
            LocalProtocolError: It cannot be missed.
        """
        missed = self.steps[due.rule].missed
        if missed is None:
            raise LocalProtocolError(f"{due.id} is not ruled on")
        decision = missed.decision(state)
        if why := self._why_not(decision.outcome):
            raise LocalProtocolError(f"the machine {self.kind}: {why}")
        return decision

    def _why_not(self, outcome: object) -> str:
        """Return why an outcome is none of a ruling on silence here, "" where it is one."""
        if not isinstance(outcome, str) or not outcome.strip() or len(outcome) > MAX_OUTCOME:
            return f"the outcome of a ruling is a text of 1 to {MAX_OUTCOME} characters, not {str(outcome)[:40]!r}"
        if outcome in RESERVED_OUTCOMES:
            return f"the outcome {outcome} is the kernel's own: choose another word"
        if self.outcomes and outcome not in self.outcomes:
            return f"the outcome {outcome} of a ruling is not declared: {', '.join(self.outcomes)} are"
        return ""

    def ruled(
        self,
        state: CaseState,
        decision: Decision,
        env: Envelope,
        context: RuleContext,
        due: Obligation | None,
    ) -> CaseState:
        """Return the state after a RULING.

        Args:
            state: The case.
            decision: What it says.
            env: It.
            context: What holds for the whole society.
            due: The obligation that it settles or voids, None where it is on the case itself.

        Raises:
            LocalProtocolError: No row says what it does.
        """
        given = RuleInput(context, env, due)
        if due is None and self.asks and decision.outcome != STOP and decision.reason in (ANSWERED, EXPIRED):
            asks = self.asks.get(state.phase)
            # It went on a moment before its answer came.
            return state if asks is None else self.moved(state, asks.move, given)
        reason = STOP if decision.outcome == STOP else decision.reason
        move = self.rulings.get(reason)
        if due is not None and reason != STOP:
            step = self.steps[due.rule]
            move = step.missed.move if step.missed is not None else step.moves.get(type(env.body))
        if move is None:
            raise LocalProtocolError(f"the machine {self.kind} has no row for a ruling of reason {reason}")
        return self.moved(state, move, given)

    def child_ended(
        self, state: CaseState, child: CaseState, env: Envelope, context: RuleContext
    ) -> CaseState:
        """Return the state after the end of a case in this one, by its last state and the message that ended it."""
        move = self.children.get((state.phase, child.kind))
        return state if move is None else self.moved(state, move, RuleInput(context, env, child=child))

    def discharge(self, state: CaseState, due: Obligation, context: RuleContext) -> Message:
        """Return the message that an officer owes for its obligation.

        Raises:
            LocalProtocolError: It is no officer's.
        """
        discharge = self.steps[due.rule].discharge
        if discharge is None:
            raise LocalProtocolError(f"nobody discharges {due.id}")
        return discharge(state, RuleInput(context, due=due))

    def brief(self, state: CaseState, due: Obligation, context: RuleContext) -> dict[str, Any]:
        """Return what a mind is shown for an obligation: its step's brief, and the figures that hold its answer."""
        step, given = self.steps[due.rule], RuleInput(context, due=due)
        shown = step.brief(state, given)
        if step.figures is not nothing:
            for name, figure in step.figures(state, given).items():
                shown[name] = figure.shown
        return shown


def _unfit(state: CaseState, env: Envelope, rule: str) -> Violation:
    """Make the violation of a message that is no move: the table lacks it, or what it says that it answers."""
    kind = env.body.type
    if env.obligation_id is not None and any(
        due.seat == env.author and kind in due.expects for due in state.owed
    ):
        return Violation("K1", f"{env.obligation_id} is not what this answers", field="obligation_id")
    return illegal(state, env, rule)


def faults(machine: Machine) -> Iterator[str]:
    """Say how a machine's table contradicts itself: each sentence names the row."""
    phases = set(machine.phases)
    owing = {step.phase for step in machine.steps.values()}
    for phase in sorted(phases ^ (owing | set(machine.idle) | set(machine.asks))):
        yield (
            f"nobody owes in the phase {phase}, and nothing says what ends it"
            if phase in phases
            else (f"the phase {phase} is not listed")
        )
    for name, step in machine.steps.items():
        if step.missed is None and (callable(step.seat) or step.seat not in OFFICERS | PEOPLE):
            yield f"the step {name} does not say what silence leads to"
        outcome = step.missed.outcome if step.missed is not None else None
        if outcome is not None and not callable(outcome) and (why := machine._why_not(outcome)):
            yield f"the step {name}: {why}"
        if (step.seat in OFFICERS) != (step.discharge is not None):
            yield f"the step {name}: an officer's duty, and no other, says how it is discharged"
        for figure in step.figures.rules if isinstance(step.figures, ByField) else ():
            if not any(figure in kind.model_fields for kind in step.moves):
                yield f"the step {name}: the figure {figure} is no field of {' or '.join(step.expects)}"
        if not step.moves:
            yield f"the step {name} has no legal answer"
    reached = {phase for start in machine.start.values() for phase in start.phases}
    for row in rows(machine):
        reached.update(row.move.to)
        for to in row.move.to:
            if to != ENDED and to not in phases:
                yield f"{row.phase}, {row.event}: leads to {to}, which is no phase"
    for phase in sorted(phases - reached):
        yield f"nothing leads to the phase {phase}"
    for name, step in machine.steps.items():
        for phase in step.lasts:
            if phase not in phases:
                yield f"the step {name} lasts through {phase}, which is no phase"
    for phase, _ in machine.facts:
        if phase not in phases:
            yield f"a fact comes in the phase {phase}, which no step belongs to"
    for phase, kind in machine.children:
        if phase not in phases:
            yield f"a {kind} ends in the phase {phase}, which no step belongs to"
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
        for phase in (step.phase, *step.lasts):
            for (kind, move), expected in zip(step.moves.items(), step.expects, strict=True):
                yield Row(phase, f"{expected} {name}" if kind is Ruling else expected, move)
            if step.missed is not None:
                yield Row(phase, f"{name} missed", step.missed.move)
    for (phase, kind), move in machine.facts.items():
        name = "any other message" if kind is Message else kind.model_fields["type"].default
        yield Row(phase, f"{name} unowed", move)
    for (phase, child), move in machine.children.items():
        yield Row(phase, f"its {child} ended", move)
    for phase, asks in machine.asks.items():
        yield Row(phase, f"answer to {asks.trigger}", asks.move)
    for phase, move in machine.dry.items():
        yield Row(phase, "nothing is owed any more", move)
    for reason, move in machine.rulings.items():
        yield Row("", f"RULING {reason}", move)
