"""The audit record of a run (11): a projection of its messages, whole enough to be judged without Moot."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import singledispatchmethod
from operator import itemgetter
from typing import Any, Final

from moot.protocols.arena.contracts import RoundRecord
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.arena.opening import lacks_notebook
from moot.protocols.arena.run import RUN
from moot.protocols.arena.states import TERMINAL, State
from moot.protocols.arena.trail import (
    Artifact,
    Entered,
    Event,
    Given,
    HookRun,
    Output,
    ReviewRead,
    event,
)
from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import NEWEST, SECOND_AUDIT
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.message import Part
from moot.protocols.kernel.officers import Ruling, SocietyStarted
from moot.protocols.kernel.officers import Violation as ViolationMessage
from moot.protocols.kernel.steps import STOP, RuleInput
from moot.protocols.kernel.times import rfc3339

AuditRecord = dict[str, Any]
"""JSON data: config, task, notebook, transitions, rounds, hooks, events, parser, artifacts, terminal_state,
terminal_reason, final_output; written_by where that is known: by seat, who wrote its texts; rules_version from rules
version 4 on, by which the filter for excluded content is judged (R-A9)."""

OPENER: Final = RUN.openers[0]

MOVES: Final = frozenset({"DRAFT", "REVIEW", "HOOK_RESULT", "RUN_FAULT", "FINAL_OUTPUT", "RUN_TERMINATED"})
"""What moves a run, besides rulings."""


class Recorder:
    """Keeps what happens in a run, with the instant of the message that made it happen.

    Attributes:
        record: What is kept.
        at: The instant of the message.
    """

    def __init__(self) -> None:
        """Start with an empty record."""
        self.record: AuditRecord = {
            "config": {},
            "task": {},
            "notebook": None,
            "transitions": [],
            "rounds": [],
            "hooks": [],
            "events": [],
            "parser": [],
            "artifacts": {},
            "terminal_state": None,
            "terminal_reason": None,
            "final_output": None,
        }
        self.at = ""
        self._state = State.INIT

    @singledispatchmethod
    def take(self, note: Any) -> None:
        """Keep what a move notes.

        Raises:
            TypeError: Nobody knows such a note: a bug of ours.
        """
        raise TypeError(f"{type(note).__name__} is nothing that a record keeps")

    @take.register
    def _given(self, note: Given) -> None:
        self.record.update({name: _plain(value) for name, value in note._asdict().items()})

    @take.register
    def _event(self, note: Event) -> None:
        self.record["events"].append({"type": note.kind, "at": self.at, "data": _plain(note.data)})

    @take.register
    def _entered(self, note: Entered) -> None:
        """Keep a transition, as such and as an event."""
        before, self._state = self._state, note.state
        step = {"from": before.value, "to": note.state.value, "at": self.at, "reason": note.reason}
        self.record["transitions"].append(step)
        self.take(event("STATE_TRANSITION", **{key: step[key] for key in ("from", "to", "reason")}))
        if note.state in TERMINAL:
            self.record.update(terminal_state=note.state.value, terminal_reason=note.reason)

    @take.register
    def _hook(self, note: HookRun) -> None:
        """Keep a hook's result, as such and as an event."""
        result = note.result
        self.record["hooks"].append(_plain(result))
        self.take(
            event(
                "HOOK_EXECUTED",
                phase=result.phase,
                status=result.status,
                evidence_refs=result.evidence_refs,
                round_index=note.round_index,
                attempt=note.attempt,
                why=note.why,
            )
        )

    @take.register
    def _read(self, note: ReviewRead) -> None:
        found = note.found
        self.record["parser"].append(
            {
                "round_index": note.round_index,
                "attempt": note.attempt,
                "output_ref": note.output_ref,
                "code": found.code,
                "line": found.line,
                "verdict": found.verdict,
            }
        )

    @take.register
    def _round(self, note: RoundRecord) -> None:
        """Keep a round, as such and as an event."""
        self.record["rounds"].append(_plain(note))
        self.take(event("ROUND_RECORDED", round_index=note.round_index, verdict=note.verdict))

    @take.register
    def _artifact(self, note: Artifact) -> None:
        self.record["artifacts"][note.ref] = note.text

    @take.register
    def _final(self, note: Output) -> None:
        self.record["final_output"] = note.text


def audit_record(
    messages: Iterable[Envelope],
    written_by: Mapping[str, Sequence[str]] | None = None,
    versions: Sequence[tuple[int, str]] = (),
) -> AuditRecord:
    """Make the audit record of one run; as far as it has come, when it is not over.

    Args:
        messages: The messages of the run's case from its ARENA_TASK on, in their order. What broke a rule is marked
            by the VIOLATION beside it and changes nothing (K10); a ruling that came too late changes nothing (K5).
        written_by: By seat, who wrote its texts (`moot.protocols.authorship`).
        versions: From which seq on which rules version is in force, in their order; none: the newest, but for a run
            that only older rules let go on.

    Raises:
        ValueError: They do not begin with an ARENA_TASK.
    """
    said = list(messages)
    if not said or not isinstance(said[0].body, ArenaTask):
        raise ValueError(f"a run begins with {OPENER}")
    broken = {env.body.of_seq for env in said if isinstance(env.body, ViolationMessage)}
    recorder = Recorder()
    recorder.at = rfc3339(said[0].sent_at)
    context = RuleContext(())
    context.rules_version = _in_force(versions, said[0].seq)
    if not versions and any(_is_move(env) for env in said[1:] if env.seq not in broken):
        # Since R-G4 nothing moves a run that lacks its required notebook: one that moves is older.
        context.rules_version = str(SECOND_AUDIT - 1) if lacks_notebook(said[0].body) else ""
    if SECOND_AUDIT <= context.version < NEWEST:
        recorder.record["rules_version"] = context.rules_version
    machine = replace(RUN, note=recorder.take)
    state = machine.open(RuleInput(context, said[0]))
    for env in said[1:]:
        if env.seq in broken or state.outcome is not None:
            continue
        recorder.at = rfc3339(env.sent_at)
        if versions:
            context.rules_version = _in_force(versions, env.seq)
        if isinstance(env.body, Ruling):
            state = _ruled(machine, state, env, env.body, context)
        elif env.body.type in MOVES:
            with suppress(Violation):  # of a run under way the VIOLATION may not stand in the log yet
                state = machine.step(state, env, context)
    if written_by:
        recorder.record["written_by"] = dict(written_by)
    return recorder.record


def versions_of(messages: Iterable[Envelope]) -> list[tuple[int, str]]:
    """List from which seq on which rules version is in force, by the SOCIETY_STARTED among some messages."""
    return [(env.seq, env.body.rules_version) for env in messages if isinstance(env.body, SocietyStarted)]


def _in_force(versions: Sequence[tuple[int, str]], seq: int) -> str:
    """Return the rules version in force at a seq, "" for none."""
    at = bisect_right(versions, seq, key=itemgetter(0))
    return versions[at - 1][1] if at else ""


def _is_move(env: Envelope) -> bool:
    """Return True for a message that moves a run under way."""
    return isinstance(env.body, Ruling) or env.body.type in MOVES - {"RUN_TERMINATED"}


def _ruled(
    machine: Machine, state: CaseState, env: Envelope, body: Ruling, context: RuleContext
) -> CaseState:
    owed = next((one for one in state.owed if one.id == body.obligation_id), None)
    if owed is None and body.outcome != STOP:
        return state
    decision = Decision(body.outcome, body.reason, body.rule)
    return machine.ruled(state, decision, env, context, owed)


def _plain(value: Any) -> Any:
    """Turn parts, mappings and tuples into JSON data."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is tuple or kind is list:
        return [_plain(part) for part in value]
    if isinstance(value, Part):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    return str(value) if isinstance(value, str) else value


_ATOMS: Final = frozenset({str, int, float, bool, type(None)})
