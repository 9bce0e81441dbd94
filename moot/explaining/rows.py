"""Which row of a machine's table moved a case, found from what the log says: no state is computed for it.

The messages of a case are a walk through its table. Forwards from the phases in which it may open, then backwards from
its last message, all are struck out that do not fit; what is left are the phases that the case was in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from moot.channels.showing.wording import words
from moot.explaining.explanation import Row
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.steps import ANSWERED, ENDED, EXPIRED, STOP, Rule, Step, passes
from moot.protocols.rulebook import rulebook

RULING: Final = "RULING"


class Option(NamedTuple):
    """A row by which a message may have moved its case.

    Attributes:
        phases: In which phases it applies.
        event: What moved the case, in words.
        to: Where it can lead.
        rule: The rule that judged it.
        is_anywhere: Whether it applies in any phase.
    """

    phases: frozenset[str]
    event: str
    to: tuple[str, ...]
    rule: Rule | None
    is_anywhere: bool = False


def machines_of(said: Sequence[Envelope]) -> Sequence[Machine]:
    """Return the machines that a case can have, by its messages; none where these rules know none.

    Several kinds may have an opener in common; then those are meant whose table has rows for most of what followed.
    """
    opener = type(said[0].body)
    opened = [machine for machine in rulebook().types.values() if opener in machine.start]
    placed = [len(_options(machine, said)) for machine in opened]
    return [machine for machine, n in zip(opened, placed, strict=True) if n == max(placed)]


def rows_of(machine: Machine, said: Sequence[Envelope]) -> Mapping[int, Row]:
    """Return the rows of the messages that moved a case, by seq.

    Args:
        machine: Its kind.
        said: Its messages that are in effect, in order, its opener first.
    """
    every = _options(machine, said)
    before: list[frozenset[str]] = []
    at = frozenset[str]()
    for n, options in enumerate(every.values()):
        before.append(at)
        fit = [one for one in options if n == 0 or one.phases & at] or options
        at = _reached(machine, fit)
    found: dict[int, Row] = {}
    needed: frozenset[str] | None = None
    for (seq, options), at in zip(reversed(every.items()), reversed(before), strict=True):
        fit = [one for one in options if not at or one.phases & at] or options
        fit = [one for one in fit if needed is None or _reached(machine, [one]) & needed] or fit
        phases = frozenset().union(*(one.phases & at or one.phases for one in fit))
        is_anywhere = any(one.is_anywhere for one in fit)
        found[seq] = Row(
            machine.shown,
            "" if is_anywhere or not at else " or ".join(_in_order(machine, phases)),
            fit[0].event,
            tuple(_in_order(machine, _led_to(machine, fit, needed))),
            " ".join(dict.fromkeys(filter(None, (_says(one.rule) for one in fit)))),
        )
        # A ruling on the case itself comes where nobody owes anything, if there is such a phase.
        needed = (phases & frozenset(machine.idle) or phases) if is_anywhere else phases
    return found


def _in_order(machine: Machine, phases: Collection[str]) -> Iterator[str]:
    return (words(phase) for phase in (*machine.phases, ENDED) if phase in phases)


def _led_to(machine: Machine, options: Sequence[Option], needed: frozenset[str] | None) -> frozenset[str]:
    """Return the phases that rows can have led to, where the case was in one of some phases at its next message."""
    at_once = _onwards(machine, {phase for one in options for phase in one.to}, by_children=False)
    if needed is None:
        return at_once
    later = {
        phase for phase in at_once & _moved_from_elsewhere(machine) if _onwards(machine, {phase}) & needed
    }
    return at_once & needed | later or at_once


def _moved_from_elsewhere(machine: Machine) -> frozenset[str]:
    """Return the phases that messages of other cases end: the last of one in it, or what opens one as an answer."""
    openers = {kind for other in rulebook().types.values() if other is not machine for kind in other.start}
    answered = {step.phase for step in machine.steps.values() if openers & step.moves.keys()}
    return frozenset(answered.union(phase for phase, _ in machine.children))


def _reached(machine: Machine, options: Sequence[Option]) -> frozenset[str]:
    """Return where rows lead, with where the case goes on from there by itself."""
    return _onwards(machine, {phase for one in options for phase in one.to})


def _onwards(machine: Machine, phases: set[str], *, by_children: bool = True) -> frozenset[str]:
    """Add where a case goes on where nothing is owed any more, and where the cases in it end."""
    found = news = phases
    while news:
        moves = [machine.dry[phase] for phase in news if phase in machine.dry]
        if by_children:
            moves += [move for (phase, _), move in machine.children.items() if phase in news]
        news = {phase for move in moves for phase in move.to} - found
        found = found | news
    return frozenset(found)


def _options(machine: Machine, said: Sequence[Envelope]) -> dict[int, list[Option]]:
    """Return the rows that fit each message by itself, by seq; messages that fit none moved nothing."""
    found = {env.seq: [*_of(machine, env)] for env in said[1:]}
    start = machine.start.get(type(said[0].body))
    if start is not None:
        phases = frozenset(machine.phases)
        opening = Option(phases, words(said[0].body.type), start.phases, start.state)  # type: ignore[arg-type]
        found = {said[0].seq: [opening], **found}
    return {seq: options for seq, options in found.items() if options}


def _of(machine: Machine, env: Envelope) -> Iterator[Option]:
    kind, event = type(env.body), words(env.body.type)
    if env.body.type == RULING:
        yield from _ruled(machine, env)
        return
    owed = False
    for step in _steps(machine, env.case_id, env.obligation_id):
        if (move := step.moves.get(kind)) is not None:
            owed = True
            yield Option(frozenset((step.phase, *step.lasts)), event, move.to, move.effect)
    for (phase, fact), move in machine.facts.items():
        if fact is kind and move.to and not owed:
            yield Option(frozenset((phase,)), event, move.to, move.effect)
    if env.obligation_id is None:
        for step in machine.steps.values():
            if (move := step.moves.get(kind)) is not None:
                yield Option(frozenset((step.phase, *step.lasts)), event, move.to, move.effect)


def _ruled(machine: Machine, env: Envelope) -> Iterator[Option]:
    body = env.body.model_dump()
    outcome, reason = body.get("outcome"), str(body.get("reason"))
    owed = [] if outcome == STOP else [*_steps(machine, env.case_id, body.get("obligation_id"))]
    for step in owed:
        phases = frozenset((step.phase, *step.lasts))
        if step.missed is not None:
            missed = step.missed.move
            name = words(str(body["obligation_id"]).split("/")[-2])
            yield Option(phases, f"{name} missed", missed.to, missed.effect)
        elif (move := step.moves.get(type(env.body))) is not None:
            yield Option(phases, f"ruling: {words(reason)}", move.to, move.effect)
    if not owed and outcome != STOP and reason in (ANSWERED, EXPIRED):
        for phase, asks in machine.asks.items():
            yield Option(
                frozenset((phase,)), f"{words(asks.trigger)}: {reason}", asks.move.to, asks.move.effect
            )
        if machine.asks:
            return
    move = machine.rulings.get(STOP if outcome == STOP else reason)
    if not owed and move is not None:
        everywhere = frozenset(machine.phases)
        yield Option(everywhere, f"ruling: {words(reason)}", move.to, move.effect, is_anywhere=True)


def _steps(machine: Machine, case_id: str | None, owed: str | None) -> Iterator[Step]:
    """Yield the steps that an obligation may be of: by its name in the table, also where a number follows it."""
    if owed is None or not owed.startswith(f"{case_id}/"):
        return
    part = owed[len(str(case_id)) + 1 :].rsplit("/", 1)[0]
    bases = {name: name.partition("/")[0] for name in machine.steps}
    named = part if part in bases.values() else ""
    named = named or max((one for one in bases.values() if part.startswith(f"{one}-")), key=len, default="")
    yield from (machine.steps[name] for name, base in bases.items() if base == named)


def _says(rule: Rule | None) -> str:
    """Return the first sentences of what a rule says of itself; they stand where the rule does."""
    text = "" if rule is passes else (getattr(rule, "__doc__", None) or "")
    return " ".join(text.split("\n\n")[0].split())
