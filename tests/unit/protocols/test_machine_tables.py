"""Every machine of the rulebook: what its table says, what its rules may ask, and that it moves as it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import Exactly, OneOf
from moot.protocols.kernel.machine import Machine, faults, rows
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN, REFEREE, Seat
from moot.protocols.kernel.steps import ENDED, Effect, Move, RuleInput
from moot.protocols.research.messages import Hypothesis
from moot.protocols.rulebook import rulebook, rules
from moot.protocols.trading.messages import Halt, RiskAlert
from moot.simulation.scene import load_scene, run_scene
from tests.doubles.copying import replace
from tests.doubles.lab_table import LabTable
from tests.doubles.machine_reading import asked_of, functions_of
from tests.unit.protocols.test_messages import BODIES

MACHINES = list(rulebook().types.values())
EACH = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.kind)

# ---------------------------------------------------------------- what tables say


def test_no_two_machines_share_a_kind_and_each_is_listed_under_its_own() -> None:
    assert len({machine.kind for machine in MACHINES}) == len(MACHINES)
    assert all(rulebook().types[machine.kind] is machine for machine in MACHINES)


@EACH
def test_a_table_does_not_contradict_itself(machine: Machine) -> None:
    assert list(faults(machine)) == []


@EACH
def test_silence_is_ruled_by_a_rule_of_the_spec(machine: Machine) -> None:
    for name, step in machine.steps.items():
        if step.missed is not None:
            assert step.missed.rule and step.missed.reason, name
            assert step.missed.move.to, name


@EACH
def test_each_phase_owes_or_says_what_ends_it_and_is_reached(machine: Machine) -> None:
    owing = {phase for step in machine.steps.values() for phase in (step.phase, *step.lasts)}
    reached = {phase for start in machine.start.values() for phase in start.phases}
    for row in rows(machine):
        reached.update(row.move.to)
    for phase in machine.phases:
        assert phase in owing or machine.idle[phase]
        assert phase in reached
    assert ENDED in reached


# ---------------------------------------------------------------- what rules may ask


@EACH
def test_no_rule_asks_for_a_messages_type_or_the_phase(machine: Machine) -> None:
    found = functions_of(machine)
    assert found
    assert {name: asked for name, function in found.items() if (asked := asked_of(function))} == {}


class Phased(CaseState):
    """A state that asks for its own phase."""

    @property
    def is_over(self) -> bool:
        """Say whether it is over."""
        return self.phase in ("ended", "closed")


def by_class(_state: Any, given: RuleInput) -> Effect:
    return Effect(outcome="halted" if isinstance(given.body, Halt | RiskAlert) else "gone")


def by_exact_class(_state: Any, given: RuleInput) -> Effect:
    return Effect(outcome="halted" if type(given.body) is Halt else "gone")


def by_pattern(_state: Any, given: RuleInput) -> Effect:
    match given.body:
        case Hypothesis():
            return Effect(outcome="taken up")
    return Effect()


def by_name(_state: Any, given: RuleInput) -> Effect:
    return Effect(outcome={"HALT": "halted"}.get(given.body.type))


def by_phase(state: Any, _given: RuleInput) -> Effect:
    return Effect(outcome={"open": "closed"}[state.phase])


def by_comparing(state: Any, _given: RuleInput) -> Effect:
    return Effect(outcome="closed" if state.phase != "open" else None)


def to_people(state: Any, given: RuleInput) -> Effect:
    raise Violation("K23", f"a {given.body.type} in {state.phase}: {isinstance(state, CaseState)}")


@pytest.mark.parametrize(
    "rule",
    [by_class, by_exact_class, by_pattern, by_name, by_phase, by_comparing, Phased.is_over.fget],
    ids=lambda rule: str(rule.__name__),
)
def test_each_way_to_ask_is_found(rule: Any) -> None:
    assert asked_of(rule)


def test_what_is_said_to_people_is_not_asked() -> None:
    assert asked_of(to_people) == []


# ---------------------------------------------------------------- tables in motion

SCENES = Path(__file__).parents[2] / "acceptance" / "scenes"
SAMPLES: dict[str, dict[str, Any]] = {
    **BODIES,
    "RUN_FAULT": {"run_id": "run_1", "fault": "SAFETY_VIOLATION", "detail": "it wrote"},
}
LIVED = (
    "1.3-a-motion-is-extended-once",
    "1.3-a-second-extension",
    "4.1-a-candidate-goes-to-paper-trading",
    "4.2-accelerating-risk-reduces-exposure",
    "4.3-both-approve",
    "5.1-the-admin-answers-that-trading-resumes",
    "5.3-silence-leads-to-the-conservative-action",
    "6-a-silent-planner-ends-the-run",
    "6.1-agree-and-withdraw",
    "9.3-an-endless-revise-cycle-ends-at-the-cap",
    "9.4-an-optional-notebook-that-is-silent-degrades-the-run",
    "K11-a-fill-after-the-halt-is-booked-and-flattened",
    "K11-a-late-fill-after-the-halt-is-flattened",
    "R-B13-a-silent-guardian-makes-the-operator-halt",
    "R-D20-a-strategy-that-fails-three-times-is-revoked",
    "R-F1-no-order-grows-a-position-that-was-halved",
    "R-F13-a-debate-taken-up-again-is-no-new-one",
    "R-F3-what-was-approved-after-a-revision-is-approved",
    "R-F5-a-recall-and-no-feedback-beside-it",
    "panel-4-a-phase-1-is-retried-once-with-its-gaps",
    "panel-6-one-unusable-reviewer-ends-it",
)
"""Scenes in which every phase of every kind is lived through, and every step owed, but for what is left out here."""

ELSEWHERE = {
    ("promotion", "convening"),
    ("promotion", "awaiting"),
    ("architecture", "panelling"),
    ("run", "after/cap"),
}
"""Phases and steps that no scene has; the tests of their cases live through them."""
AT_ONCE = {("run", "INIT")}
"""Phases that one message enters and leaves."""


@cache
def logs() -> tuple[list[Envelope], ...]:
    """Return what is said in the scenes, and of an experiment."""
    scenes = (run_scene(load_scene(SCENES / f"{name}.yaml")).envelopes for name in LIVED)
    # No seat of a scene starts an experiment: a run in another process does.
    return (*scenes, LabTable().lived())


@cache
def moments() -> tuple[tuple[Docket, Envelope, CaseState], ...]:
    """Return one docket for each phase of each machine, and for each set of steps that is owed in it."""
    found = []
    seen: set[Any] = set()
    for log in logs():
        new = {key for _, key in _keys(log)} - seen
        for n, key in _keys(log):
            if key in new - seen:
                seen.add(key)
                docket = Docket(rules())
                for env in log[:n]:
                    docket.fold(env)
                state = next(state for state in docket.cases.values() if _key(state) == key)
                found.append((docket, log[n - 1], state))
    return tuple(found)


def _keys(log: list[Envelope]) -> Iterator[tuple[int, Any]]:
    docket = Docket(rules())
    for n, env in enumerate(log, 1):
        docket.fold(env)
        for state in docket.cases.values():
            yield n, _key(state)


def _key(state: CaseState) -> Any:
    return state.kind, str(state.phase), tuple(sorted(due.rule for due in state.owed))


def test_every_phase_is_lived_through_and_every_step_is_owed() -> None:
    lived = {(state.kind, str(state.phase)) for _, _, state in moments()}
    owed = {(state.kind, due.rule) for _, _, state in moments() for due in state.owed}
    for machine in MACHINES:
        for phase in machine.phases:
            assert (machine.kind, str(phase)) in lived | ELSEWHERE | AT_ONCE, phase
        for name, step in machine.steps.items():
            known = {(machine.kind, name), (machine.kind, str(step.phase))}
            assert known & (owed | ELSEWHERE), name


@cache
def examples(kind: type[Message]) -> tuple[Message, ...]:
    """Return plausible messages of a class: the first and the last that scenes say, and a sample."""
    found = [env.body for log in logs() for env in log if type(env.body) is kind]
    name = str(kind.model_fields["type"].default)
    samples = [SAMPLES[name]] if name in SAMPLES else []
    assert found or samples, name
    return (
        *found[:1],
        *found[-1:],
        *(kind.model_validate_json(json.dumps({"type": name, **one})) for one in samples),
    )


def bodies_of(kind: type[Message], figures: dict[str, Any]) -> Iterator[Message]:
    """Make plausible messages of a class, those that say besides what figures fix, and each other choice of a field."""
    said = {field: value for field, value in figures.items() if field in kind.model_fields}
    for body in examples(kind):
        yield body
        if said:
            yield body.model_copy(update=said)
        for field, info in kind.model_fields.items():
            for value in choices(info.annotation) if field != "type" else ():
                yield body.model_copy(update={**said, field: value})


def choices(annotation: Any) -> Iterator[Any]:
    """Yield what a field of few values may say."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif annotation is bool:
        yield from (True, False)
    else:
        for part in get_args(annotation):
            yield from choices(part)


def fixed(machine: Machine, state: CaseState, due: Obligation | None, docket: Docket) -> dict[str, Any]:
    """Return what the figures of a step fix, and the first of what they leave to choose."""
    if due is None:
        return {}
    figures = machine.steps[due.rule].figures(state, RuleInput(docket.context, due=due))
    return {
        name: figure.value if isinstance(figure, Exactly) else figure.values[0]
        for name, figure in figures.items()
        if isinstance(figure, Exactly | OneOf)
    }


def leads_to(machine: Machine, move: Move) -> set[str]:
    """Return where a move may lead, on its own and by what is done when nothing is owed any more."""
    found = set(move.to)
    while more := {to for phase in found & set(machine.dry) for to in machine.dry[phase].to} - found:
        found |= more
    return found


def expected(machine: Machine, state: CaseState, seat: Seat, kind: type[Message]) -> set[str]:
    """Return where a message of a seat may lead in a state, by the rows of its table; nothing: it is refused."""
    moves = [
        machine.steps[due.rule].moves[kind]
        for due in state.owed
        if due.seat == seat and kind in machine.steps[due.rule].moves
    ]
    facts = [
        machine.facts[key] for key in ((state.phase, kind), (state.phase, Message)) if key in machine.facts
    ]
    return {to for move in (*moves, *facts) for to in leads_to(machine, move)}


def told(machine: Machine, state: CaseState, docket: Docket) -> Iterator[tuple[Seat, Message]]:
    """Yield what every seat that the machine knows might say, whether it is owed or not."""
    seats = {due.seat: None for due in state.owed} | {
        step.seat: None for step in machine.steps.values() if isinstance(step.seat, str)
    }
    kinds = {kind for step in machine.steps.values() for kind in step.moves}
    kinds |= {kind for _, kind in machine.facts} | {Note}
    for kind in sorted(kinds - {Message, Ruling}, key=lambda kind: kind.__name__):
        for seat in (*seats, ADMIN):
            due = next((due for due in state.owed if due.seat == seat), None)
            for body in bodies_of(kind, fixed(machine, state, due, docket)):
                yield seat, body


def unharmed(machine: Machine, before: CaseState, after: CaseState) -> None:
    """Check that what a move leaves owed belongs to where it led, each once."""
    owed = [due.id for due in after.owed]
    assert len(owed) == len(set(owed))
    for due in after.owed:
        step = machine.steps[due.rule]
        assert after.phase in (step.phase, *step.lasts), due.id
    assert (after.outcome is not None) is (after.phase == ENDED), before.case_id


@EACH
def test_each_message_moves_as_written_or_is_refused_and_changes_nothing(machine: Machine) -> None:
    for docket, last, state in moments():
        if state.kind != machine.kind:
            continue
        before, cases = repr(state), dict(docket.cases)
        for seat, body in told(machine, state, docket):
            env = replace(last, author=seat, body=body, case_id=state.case_id, obligation_id=None)
            leads = expected(machine, state, seat, type(body))
            try:
                after = machine.step(state, env, docket.context)
            except Violation:
                assert repr(state) == before
            else:
                assert after.phase in leads, (seat, body.type, state.phase)
                unharmed(machine, state, after)
        assert docket.cases == cases


@EACH
def test_each_silence_is_ruled_once_and_leads_where_it_is_written(machine: Machine) -> None:
    for docket, last, state in moments():
        for due in state.owed if state.kind == machine.kind else ():
            missed = machine.steps[due.rule].missed
            if missed is None:
                continue
            outcome, reason, rule = decision = machine.silence(state, due)
            body = Ruling.model_construct(
                obligation_id=due.id, case_id=None, outcome=outcome, reason=reason, rule=rule, of_seq=None
            )
            env = replace(
                last,
                author=REFEREE,
                body=body,
                case_id=state.case_id,
                obligation_id=None,
                sent_at=due.void_at,
            )
            after = machine.ruled(state, decision, env, docket.context, due)
            assert after.phase in leads_to(machine, missed.move), due.id
            assert due.id not in {one.id for one in after.owed}, due.id
            unharmed(machine, state, after)
