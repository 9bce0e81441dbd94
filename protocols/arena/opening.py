"""How a run opens: what it is given is judged, in the order of section 6, and it leaves INIT (6.2, 6.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from moot.protocols.arena import reasons
from moot.protocols.arena.cleaning import Told, cleaned
from moot.protocols.arena.contracts import NotebookContext, ProtocolConfig, TaskContext, complaint
from moot.protocols.arena.course import begun
from moot.protocols.arena.endings import failed
from moot.protocols.arena.hooks import skipped
from moot.protocols.arena.relevance import is_spent
from moot.protocols.arena.session import first_ref
from moot.protocols.arena.state import RunState
from moot.protocols.arena.states import State
from moot.protocols.arena.trail import Entered, Given, Notes, all_left_out, event
from moot.protocols.kernel.figures import NEWEST, SECOND_AUDIT
from moot.protocols.kernel.steps import Effect, RuleInput


def judged(state: RunState, given: RuleInput) -> Effect:
    """Judge config, session, task and notebook, and take them over.

    A prompt of which the filter for excluded content leaves nothing is as blank as an empty one (4.2, R-A9).
    """
    found, told, problem = _read(given.body, given.context.version)
    notes: Notes = (Given(**found), event("RUN_STARTED", run_id=state.case_id), *all_left_out(told))
    if problem is not None:
        return failed(*problem, notes)
    if given.context.version >= SECOND_AUDIT and (why := _lacks_notebook(found)):
        return failed(reasons.NOTEBOOK, why, (*notes, *skipped()))
    return left_init(state, taken(state, **found), notes)


def refusal(body: Any) -> str:
    """Say why the run that an ARENA_TASK opens would end before its first round, "" where it would begin."""
    found, _, problem = _read(body, NEWEST)
    return _lacks_notebook(found) if problem is None else problem[1]


def lacks_notebook(body: Any) -> bool:
    """Return True for a valid ARENA_TASK whose required notebook is disabled (R-G4)."""
    found, _, problem = _read(body, NEWEST)
    return problem is None and bool(_lacks_notebook(found))


def _lacks_notebook(found: Mapping[str, Any]) -> str:
    """Return why a run lacks its required notebook, "" if it does not (9.4, R-G4)."""
    if found["task"].notebook_required and not found["config"].notebook_enabled:
        return (
            "the task requires a notebook (notebook_required) and the config disables it (notebook_enabled)"
        )
    return ""


def _read(body: Any, version: int) -> tuple[dict[str, Any], Told, tuple[str, str] | None]:
    """Read what is given: what it means, what was excluded from it, and what is wrong with it: code and sentence."""
    found: dict[str, Any] = {"config": body.config, "task": body.task, "notebook": body.notebook}
    problem = _problem(found)
    told: Told = {}
    for name, value in found.items():
        found[name] = cleaned(value, name, told, version)
    if problem is None and is_spent(found["task"].initial_prompt):
        kinds = ", ".join(sorted({one.category for one in told.get("task.initial_prompt", ())}))
        why = f"nothing is left of it but what was excluded ({kinds or 'as it came'}): say what is to be done"
        problem = reasons.TASK, f"the task is invalid: initial_prompt: {why}"
    return found, told, problem


def left_init(state: RunState, changes: Mapping[str, Any], notes: Notes) -> Effect:
    """Seed from the notebook, or draft at once (5.1, R-A6)."""
    if not changes["is_enabled"]:
        return begun(state, "the notebook is disabled", (*notes, *skipped()), changes)
    entered = Entered(State.SEEDING, "the notebook is enabled")
    return Effect(changes, State.SEEDING, notes=(*notes, entered))


def _problem(found: dict[str, Any]) -> tuple[str, str] | None:
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


def taken(state: RunState, config: ProtocolConfig, task: TaskContext, notebook: Any) -> Mapping[str, Any]:
    """Return what a run takes over of what it is given."""
    return {
        "task_id": task.task_id,
        "prompt": task.initial_prompt,
        "session_id": task.session_id,
        "resume_ref": first_ref(state.case_id, task.session_id),
        "max_rounds": config.max_rounds,
        "is_enabled": config.notebook_enabled,
        "is_required": task.notebook_required,
        "notebook_id": notebook.notebook_id if config.notebook_enabled else "",
        "tools": notebook.tools if config.notebook_enabled else (),
    }
