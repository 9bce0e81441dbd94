"""How a run ends: in one of three terminal states, from where only RUN_TERMINATED is left (5.2, 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moot.protocols.arena import reasons
from moot.protocols.arena.cleaning import quoted
from moot.protocols.arena.messages import RunTerminated
from moot.protocols.arena.reasons import because
from moot.protocols.arena.state import RunState
from moot.protocols.arena.states import State
from moot.protocols.arena.trail import Entered, Notes, event
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.steps import Effect, RuleInput


def over(
    state: State, code: str, sentence: str, notes: Notes = (), changes: Mapping[str, Any] | None = None
) -> Effect:
    """Go to a terminal state, with the reason."""
    reason = because(code, sentence)
    return Effect({**(changes or {}), "reason": reason}, state, notes=(*notes, Entered(state, reason)))


def failed(code: str, sentence: str, notes: Notes = (), changes: Mapping[str, Any] | None = None) -> Effect:
    """End in an error."""
    return over(State.TERMINATED_ERROR, code, sentence, notes, changes)


def faulted(state: RunState, given: RuleInput) -> Effect:
    """Fail as a seat's shell says (9.5, R-A7)."""
    body, seat = given.body, given.message.author
    n, tool, detail = state.round_index, quoted(body.tool), quoted(body.detail)
    if body.fault == reasons.SESSION:
        told = event("SESSION_RESUME_MISSING", round_index=n, session_id=state.session_id, why=detail)
        return failed(reasons.SESSION, f"session {state.session_id} cannot be resumed: {detail}", (told,))
    told = event("SAFETY_VIOLATION", seat=seat, tool=tool, detail=detail, round_index=n)
    said = f"the {seat.capitalize()} tried to use a tool that it may not: the call was blocked"
    return failed(reasons.SAFETY, f"{said}, and what it wrote is discarded", (told,))


def silent(_state: RunState, given: RuleInput) -> Effect:
    """An output that does not come ends the run (6)."""
    due = given.due
    assert due is not None
    return failed(reasons.TIMEOUT, f"the {due.seat.capitalize()} owed {due.expects[0]} and was silent")


def stopped(state: RunState, _given: RuleInput) -> Effect | None:
    """A human STOP ends a run in an error; one that has its reason already is over (5.2)."""
    return None if state.reason else failed(reasons.STOPPED, "an admin stopped it")


def absorbed(state: RunState, _given: RuleInput) -> Effect:
    """Nothing leaves a terminal state (5.2)."""
    raise Violation("5.2", f"{state.phase} is terminal: nothing leaves it")


def terminated(state: RunState, _given: RuleInput) -> Effect:
    """The Orchestrator's word closes the run (11)."""
    return Effect(
        outcome=str(state.phase),
        notes=(event("RUN_TERMINATED", state=str(state.phase), reason=state.reason),),
    )


def last_word(state: RunState, _given: RuleInput) -> RunTerminated:
    """Make the Orchestrator's RUN_TERMINATED."""
    return RunTerminated(
        run_id=state.case_id,
        state=str(state.phase),  # type: ignore[arg-type]
        reason=state.reason,
        rounds=state.rounds,
    )
