"""The audit record of a run (11): a projection of its messages, whole enough to be judged without Moot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

from moot.protocols.arena.contracts import NotebookHookResult, RoundRecord
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.arena.relevance import Removed
from moot.protocols.arena.run import RUN, open_run, rule, step
from moot.protocols.arena.state import RunState
from moot.protocols.arena.states import TERMINAL, State
from moot.protocols.arena.trail import Trail
from moot.protocols.arena.verdict import Parsed
from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Part
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.officers import Violation as ViolationMessage
from moot.protocols.kernel.times import rfc3339

AuditRecord = dict[str, Any]
"""JSON data: config, task, notebook, transitions, rounds, hooks, events, parser, artifacts, terminal_state,
terminal_reason, final_output."""

OPENER: Final = RUN.openers[0]

MOVES: Final = frozenset({"DRAFT", "REVIEW", "HOOK_RESULT", "RUN_FAULT", "FINAL_OUTPUT", "RUN_TERMINATED"})
"""What moves a run, besides rulings."""


class Recorder(Trail):
    """Keeps what happens in a run, with the instant of the message that made it happen."""

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

    def given(self, config: Any, task: Any, notebook: Any) -> None:
        """Keep the effective config, task and notebook."""
        self.record.update(config=_plain(config), task=_plain(task), notebook=_plain(notebook))

    def event(self, kind: str, **data: Any) -> None:
        """Keep an event."""
        self.record["events"].append({"type": kind, "at": self.at, "data": _plain(data)})

    def transition(self, before: State, after: State, reason: str) -> None:
        """Keep a transition, as such and as an event."""
        step = {"from": before.value, "to": after.value, "at": self.at, "reason": reason}
        self.record["transitions"].append(step)
        self.event("STATE_TRANSITION", **{key: step[key] for key in ("from", "to", "reason")})
        if after in TERMINAL:
            self.record.update(terminal_state=after.value, terminal_reason=reason)

    def hook(self, result: NotebookHookResult, **data: Any) -> None:
        """Keep a hook's result, as such and as an event."""
        self.record["hooks"].append(_plain(result))
        self.event(
            "HOOK_EXECUTED",
            phase=result.phase,
            status=result.status,
            evidence_refs=result.evidence_refs,
            **data,
        )

    def parsed(self, round_index: int, attempt: int, output_ref: str, found: Parsed) -> None:
        """Keep what the parser found."""
        self.record["parser"].append(
            {
                "round_index": round_index,
                "attempt": attempt,
                "output_ref": output_ref,
                "code": found.code,
                "line": found.line,
                "verdict": found.verdict,
            }
        )

    def round(self, record: RoundRecord) -> None:
        """Keep a round, as such and as an event."""
        self.record["rounds"].append(_plain(record))
        self.event("ROUND_RECORDED", round_index=record.round_index, verdict=record.verdict)

    def artifact(self, ref: str, text: str) -> None:
        """Keep an output."""
        self.record["artifacts"][ref] = text

    def filtered(self, where: str, removed: Sequence[Removed]) -> None:
        """Keep what was left out of a text, and why (R-A9)."""
        self.event("RELEVANCE_FILTERED", where=where, removed=[r._asdict() for r in removed])

    def final(self, text: str) -> None:
        """Keep the final output."""
        self.record["final_output"] = text


def audit_record(messages: Iterable[Envelope]) -> AuditRecord:
    """Make the audit record of one run; as far as it has come, when it is not over.

    Args:
        messages: The messages of the run's case from its ARENA_TASK on, in their order. What broke a rule is marked
            by the VIOLATION beside it and changes nothing (K10); a ruling that came too late changes nothing (K5).

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
    state = open_run(said[0], context, None, recorder)
    for env in said[1:]:
        if env.seq in broken or state.outcome is not None:
            continue
        recorder.at = rfc3339(env.sent_at)
        if isinstance(env.body, Ruling):
            state = _ruled(state, env, env.body, context, recorder)
        elif env.body.type in MOVES:
            with suppress(Violation):  # of a run under way the VIOLATION may not stand in the log yet
                state = step(state, env, context, recorder)
    return recorder.record


def _ruled(
    state: RunState, env: Envelope, body: Ruling, context: RuleContext, recorder: Recorder
) -> RunState:
    owed = next((one for one in state.owed if one.id == body.obligation_id), None)
    if owed is None and body.outcome != "stop":
        return state
    return rule(state, Decision(body.outcome, body.reason, body.rule), env, context, owed, recorder)


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
