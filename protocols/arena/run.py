"""A run of the Arena as a case: the round algorithm of section 6 as obligations, the states of section 5.

The phase of the case is the `State` of the run; every transition passes `check_transition`. A terminal state absorbs:
there the Orchestrator owes RUN_TERMINATED, which ends the case.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import ValidationError

from moot.protocols.arena import course, reasons
from moot.protocols.arena.cleaning import Told, cleaned, quoted
from moot.protocols.arena.contracts import NotebookContext, ProtocolConfig, TaskContext, complaint
from moot.protocols.arena.messages import (
    ArenaTask,
    Draft,
    FinalOutput,
    HookResult,
    Review,
    RunFault,
    RunTerminated,
)
from moot.protocols.arena.move import Move, is_over
from moot.protocols.arena.relevance import is_spent
from moot.protocols.arena.session import first_ref
from moot.protocols.arena.state import RunState
from moot.protocols.arena.states import State
from moot.protocols.arena.trail import NOWHERE, Trail
from moot.protocols.kernel.case import CaseState, CaseType, Decision, evolve
from moot.protocols.kernel.context import RuleContext
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import Obligation
from moot.protocols.kernel.table import illegal

KIND: Final = "run"

MISSED: Final[dict[str, Decision]] = {
    "HOOK_RESULT": Decision("void", "timeout", "9.4"),
    "DRAFT": Decision("void", "timeout", "6"),
    "REVIEW": Decision("void", "timeout", "6"),
    "FINAL_OUTPUT": Decision("void", "timeout", "R-A2"),
}
"""What silence leads to: a notebook that does not answer has failed; a seat that does not ends the run."""


def open_run(
    env: Envelope, context: RuleContext, parent: CaseState | None, trail: Trail = NOWHERE
) -> RunState:
    """Open a run: judge config, session, task and notebook, in the order of section 6.

    A prompt of which the filter for excluded content leaves nothing is as blank as an empty one (4.2, R-A9).
    """
    body = env.body
    assert isinstance(body, ArenaTask)
    state = RunState(
        case_id=body.run_id,
        kind=KIND,
        phase=State.INIT.value,
        parent=parent.case_id if parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
    )
    m = Move(state, env, trail)
    found: dict[str, Any] = {"config": body.config, "task": body.task, "notebook": body.notebook}
    problem = _judge(found)
    told: Told = {}
    for name, value in found.items():
        found[name] = cleaned(value, name, told)
    trail.given(**found)
    trail.event("RUN_STARTED", run_id=state.case_id)
    for where, removed in told.items():
        trail.filtered(where, removed)
    if problem is None and is_spent(found["task"].initial_prompt):
        kinds = ", ".join(sorted({one.category for one in told.get("task.initial_prompt", ())}))
        why = f"nothing is left of it but what was excluded ({kinds or 'as it came'}): say what is to be done"
        problem = reasons.TASK, f"the task is invalid: initial_prompt: {why}"
    if problem is not None:
        return m.fail(*problem)
    _take(m, found["config"], found["task"], found["notebook"])
    return course.start(m)


def _judge(found: dict[str, Any]) -> tuple[str, str] | None:
    """Replace what was given by what it means, as far as it is valid (6.2, 6.3).

    Returns:
        What is wrong with it: code and sentence.
    """
    try:
        config = found["config"] = ProtocolConfig.model_validate(found["config"])
    except ValidationError as error:
        return reasons.CONFIG, f"the config is invalid: {complaint(error)}"
    session_id = found["task"].get("session_id")
    if not isinstance(session_id, str) or not session_id.strip():
        return reasons.SESSION_ID, "the task has no valid session_id, and every review resumes its session"
    try:
        found["task"] = TaskContext.model_validate(found["task"])
    except ValidationError as error:
        return reasons.TASK, f"the task is invalid: {complaint(error)}"
    if not config.notebook_enabled:
        return None
    if found["notebook"] is None:
        return reasons.NOTEBOOK_CONTEXT, "the notebook is enabled and none is named"
    try:
        found["notebook"] = NotebookContext.model_validate(found["notebook"])
    except ValidationError as error:
        return reasons.NOTEBOOK_CONTEXT, f"the notebook is invalid: {complaint(error)}"
    return None


def _take(m: Move, config: ProtocolConfig, task: TaskContext, notebook: Any) -> None:
    """Take over what the run is given."""
    m.set(
        task_id=task.task_id,
        prompt=task.initial_prompt,
        session_id=task.session_id,
        resume_ref=first_ref(m.state.case_id, task.session_id),
        max_rounds=config.max_rounds,
        is_enabled=config.notebook_enabled,
        is_required=task.notebook_required,
        notebook_id=notebook.notebook_id if config.notebook_enabled else "",
        tools=notebook.tools if config.notebook_enabled else (),
    )


def step(state: RunState, env: Envelope, context: RuleContext, trail: Trail = NOWHERE) -> RunState:
    """Apply a message of a seat, or the Orchestrator's last word.

    Raises:
        Violation: It is not what the state asks for: the states and their order are those of section 5.
    """
    body, kind = env.body, env.body.type
    if is_over(state):
        if isinstance(body, RunTerminated):
            trail.event("RUN_TERMINATED", state=state.phase, reason=state.reason)
            return evolve(state, owed=(), outcome=state.phase)
        raise Violation("5.2", f"{state.phase} is terminal: nothing leaves it")
    owed = state.owed[0]
    if kind not in owed.expects or env.author != owed.seat:
        raise illegal(state, env, "5.1")
    m = Move(state, env, trail)
    if isinstance(body, RunFault):
        return _fault(m, body)
    if isinstance(body, HookResult):
        return course.hooked(m, body)
    if isinstance(body, Draft):
        return course.drafted(m, body)
    if isinstance(body, Review):
        return course.reviewed(m, body)
    assert isinstance(body, FinalOutput)
    return course.finalized(m, body)


def _fault(m: Move, body: RunFault) -> RunState:
    """Fail as a seat's shell says (9.5, R-A7)."""
    seat = m.env.author
    n, tool, detail = m["round_index"], quoted(body.tool), quoted(body.detail)
    if body.fault == reasons.SESSION:
        session_id = m["session_id"]
        m.trail.event("SESSION_RESUME_MISSING", round_index=n, session_id=session_id, why=detail)
        return m.fail(reasons.SESSION, f"session {session_id} cannot be resumed: {detail}")
    m.trail.event("SAFETY_VIOLATION", seat=seat, tool=tool, detail=detail, round_index=n)
    said = f"the {seat.capitalize()} tried to use a tool that it may not: the call was blocked"
    return m.fail(reasons.SAFETY, f"{said}, and what it wrote is discarded")


def otherwise(state: RunState, obligation: Obligation, context: RuleContext) -> Decision:
    """Say what the referee rules when an output is missed."""
    return MISSED[obligation.expects[0]]


def rule(
    state: RunState,
    decision: Decision,
    env: Envelope,
    context: RuleContext,
    obligation: Obligation | None,
    trail: Trail = NOWHERE,
) -> RunState:
    """Apply a ruling: a missed output, or a human STOP."""
    if is_over(state):
        return state
    m = Move(state, env, trail)
    if decision.outcome == "stop":
        return m.fail(reasons.STOPPED, "an admin stopped it")
    assert obligation is not None
    seat, expected = obligation.seat.capitalize(), obligation.expects[0]
    if expected == "HOOK_RESULT":
        return course.unavailable(m, standard_query(state), f"the {seat} was silent (timeout)")
    if expected == "FINAL_OUTPUT" and m.at is State.REVISING:
        return course.capped(m, ", and the Finalizer was silent")
    return m.fail(reasons.TIMEOUT, f"the {seat} owed {expected} and was silent")


def standard_query(state: RunState) -> str:
    """Return what a hook asks in any case: for the context of the task, its claims, its drift (8)."""
    asked = {State.SEEDING: "context of", State.REVIEWING: "evidence on the claims of"}
    return f"{asked.get(State(state.phase), 'drift from')} {state.task_id}: {state.prompt[:300]}"


def discharge(state: RunState, obligation: Obligation, context: RuleContext) -> Message:
    """Make the Orchestrator's last word."""
    return RunTerminated(
        run_id=state.case_id,
        state=state.phase,  # type: ignore[arg-type]
        reason=state.reason,
        rounds=state.rounds,
    )


def brief(state: RunState, obligation: Obligation, context: RuleContext) -> dict[str, Any]:
    """Tell the seat what it works on: prompt, round, session, evidence, and what is unresolved."""
    return {
        "subject": state.task_id,
        "prompt": state.prompt,
        "round_index": state.round_index,
        "max_rounds": state.max_rounds,
        "attempt": state.attempt,
        "session_id": state.session_id,
        "resume_ref": state.resume_ref,
        "unresolved": state.issues,
        "evidence_refs": state.evidence,
        "findings": state.findings,
        "notebook_id": state.notebook_id,
        "tools": state.tools,
        "is_notebook_required": state.is_required,
        "hook": course.PHASE_OF.get(State(state.phase), ""),
        "query": standard_query(state) if obligation.expects[0] == "HOOK_RESULT" else "",
        "is_best_effort": state.phase == State.REVISING,
    }


RUN: Final = CaseType(
    kind=KIND,
    openers=("ARENA_TASK",),
    open=open_run,
    step=step,
    otherwise=otherwise,
    rule=rule,
    discharge=discharge,
    parent_of=lambda body: body.parent_id or None,  # type: ignore[attr-defined]
    brief=brief,
)
