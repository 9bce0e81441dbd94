"""Which row of a machine's table moved a case, found from what the log says: no state is computed for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from moot.channels.showing.wording import words
from moot.explaining.explanation import Row
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.steps import STOP, Move, Step, passes
from moot.protocols.rulebook import rulebook

RULING = "RULING"


class Placed:
    """A message at its row.

    Attributes:
        phases: In which phases it can come; none for any.
        event: What moved the case.
        move: The move; None for what opened it.
        to: The phases that it can lead to.
        says: What the rule says of itself.
    """

    def __init__(self, phases: Sequence[str], event: str, move: Move | None, to: Sequence[str]) -> None:
        """Take what the table says."""
        self.phases = tuple(phases)
        self.event = event
        self.move = move
        self.to = tuple(to)


def machine_of(said: Sequence[Envelope]) -> Machine | None:
    """Return the machine of a case by its messages; None where these rules know none.

    Several kinds may have an opener in common; then the one is meant whose table has rows for what followed.
    """
    opener = type(said[0].body)
    opened = [machine for machine in rulebook().types.values() if opener in machine.start]
    return max(opened, key=lambda machine: len(_all(machine, said)), default=None)


def rows_of(machine: Machine, said: Sequence[Envelope]) -> Mapping[int, Row]:
    """Return the rows of the messages that moved a case, by seq.

    Args:
        machine: Its kind.
        said: Its messages that are in effect, in order.
    """
    placed = _all(machine, said)
    following = [*[*placed.values()][1:], None]
    found = {}
    for (seq, one), after in zip(placed.items(), following, strict=False):
        to = one.to
        if len(to) > 1 and after is not None:
            # A ruling on the case itself comes where nobody owes anything, if there is such a phase.
            ahead = after.phases or tuple(machine.idle)
            to = tuple(phase for phase in to if phase in ahead) or to
        phase = words(one.phases[0]) if one.phases and one.move is not None else ""
        found[seq] = Row(machine.shown, phase, one.event, tuple(map(words, to)), _says(machine, said[0], one))
    return found


def _all(machine: Machine, said: Sequence[Envelope]) -> dict[int, Placed]:
    start = machine.start.get(type(said[0].body))
    first = (
        {said[0].seq: Placed(start.phases, words(said[0].body.type), None, start.phases)}
        if start is not None
        else {}
    )
    return first | {env.seq: one for env in said[1:] if (one := _placed(machine, env)) is not None}


def _placed(machine: Machine, env: Envelope) -> Placed | None:
    kind, owed = type(env.body), env.obligation_id
    if env.body.type == RULING:
        return _ruled(machine, env)
    for step in _steps(machine, env.case_id, owed):
        if (move := step.moves.get(kind)) is not None:
            return Placed((step.phase, *step.lasts), words(env.body.type), move, move.to)
    facts = [(phase, move) for (phase, fact), move in machine.facts.items() if fact is kind and move.to]
    if not facts:
        return None
    return Placed([phase for phase, _ in facts], words(env.body.type), facts[0][1], facts[0][1].to)


def _ruled(machine: Machine, env: Envelope) -> Placed | None:
    body = env.body.model_dump()
    outcome, reason = body.get("outcome"), str(body.get("reason"))
    move = machine.rulings.get(STOP if outcome == STOP else reason)
    for step in () if outcome == STOP else _steps(machine, env.case_id, body.get("obligation_id")):
        phases = (step.phase, *step.lasts)
        if step.missed is not None:
            name = words(str(body["obligation_id"]).split("/")[-2])
            return Placed(phases, f"{name} missed", step.missed.move, step.missed.move.to)
        move = step.moves.get(type(env.body), move)
    return None if move is None else Placed((), f"ruling: {words(reason)}", move, move.to)


def _steps(machine: Machine, case_id: str | None, owed: str | None) -> Iterable[Step]:
    """Yield the steps that an obligation may be of: by its name in the table, also where a number follows it."""
    if owed is None or not owed.startswith(f"{case_id}/"):
        return
    part = owed[len(str(case_id)) + 1 :].rsplit("/", 1)[0]
    bases = {name: name.partition("/")[0] for name in machine.steps}
    named = part if part in bases.values() else ""
    named = named or max((one for one in bases.values() if part.startswith(f"{one}-")), key=len, default="")
    yield from (machine.steps[name] for name, base in bases.items() if base == named)


def _says(machine: Machine, opener: Envelope, one: Placed) -> str:
    """Return the first sentence of what a rule says of itself; it stands where the rule does."""
    rule = machine.start[type(opener.body)].state if one.move is None else one.move.effect
    text = "" if rule is passes else (getattr(rule, "__doc__", None) or "")
    return " ".join(text.split("\n\n")[0].split())
