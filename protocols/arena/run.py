"""A run of the Arena as a case: the states of section 5 and who owes what in each, as a machine.

The phase of the case is the `State` of the run. A terminal state absorbs: there the Orchestrator owes RUN_TERMINATED,
which ends the case.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from moot.protocols.arena import course, endings, hooks, opening
from moot.protocols.arena.hooks import Hook
from moot.protocols.arena.messages import (
    ArenaDraft,
    ArenaTask,
    FinalOutput,
    HookResult,
    Review,
    RunFault,
    RunTerminated,
)
from moot.protocols.arena.rights import PLACE
from moot.protocols.arena.seats import FINALIZER, PLANNER, REVIEWER
from moot.protocols.arena.state import RunState
from moot.protocols.arena.states import TERMINAL, State
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.obligation import NO_GRACE
from moot.protocols.kernel.seats import ORCHESTRATOR, Seat
from moot.protocols.kernel.steps import ENDED, STOP, Missed, Move, RuleInput, Step
from moot.protocols.kernel.times import minutes

KIND: Final = "run"

GRACE: Final = minutes(10)
HOOK_WITHIN: Final = minutes(10)
OUTPUT_WITHIN: Final = minutes(20)
"""Time for a query of the notebook, and for an output of a seat; the spec names none. The grace is that of a debate."""

INIT, SEEDING, DRAFTING, REVIEWING, REVISING, FINALIZING, APPROVED, CAPPED, ERROR = State

FAULT: Final = Move((ERROR,), endings.faulted)
SILENT: Final = Missed("6", "void", Move((ERROR,), endings.silent))


def open_run(given: RuleInput) -> RunState:
    """Open a run in INIT, which it leaves at once."""
    env = given.message
    return RunState(
        case_id=given.body.run_id,
        kind=KIND,
        phase=INIT,
        parent=given.parent.case_id if given.parent is not None else None,
        opened_seq=env.seq,
        anchor_at=env.sent_at,
    )


def brief(hook: Hook | None, is_best_effort: bool, state: RunState, _given: RuleInput) -> dict[str, Any]:
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
        "hook": hook.phase if hook is not None else "",
        "query": hook.query(state) if hook is not None else "",
        "is_best_effort": is_best_effort,
    }


def _once(state: RunState) -> tuple[None, ...]:
    """The notebook is asked where it is enabled and the Finalizer, or the Reviewer, is invoked."""
    return (None,) if state.is_enabled else ()


def _unasked(state: RunState) -> tuple[None, ...]:
    return () if state.is_enabled else (None,)


def _at_cap(state: RunState) -> tuple[None, ...]:
    return _once(state) if state.is_capped else ()


def _unasked_at_cap(state: RunState) -> tuple[None, ...]:
    return _unasked(state) if state.is_capped else ()


def _in_round(name: str) -> Any:
    return lambda state, _subject: f"{name}-{state.round_index}-{state.attempt}"


def _hook(phase: State, seat: Seat, hook: Hook, to: State, **more: Any) -> Step:
    """Let a seat consult the notebook."""
    return Step(
        phase=phase,
        seat=seat,
        channel=PLACE,
        moves={HookResult: Move((to, ERROR), hook.told), RunFault: FAULT},
        missed=Missed("9.4", "void", Move((to, ERROR), hook.missed)),
        rule="8",
        within=HOOK_WITHIN,
        grace=GRACE,
        figures=hook.figures,
        brief=partial(brief, hook, phase is REVISING),
        **more,
    )


def _output(phase: State, seat: Seat, moves: dict[type[Message], Move], missed: Missed, **more: Any) -> Step:
    """Let a seat give its output."""
    return Step(
        phase=phase,
        seat=seat,
        channel=PLACE,
        moves={**moves, RunFault: FAULT},
        missed=missed,
        rule="6",
        within=OUTPUT_WITHIN,
        grace=GRACE,
        brief=partial(brief, None, phase is REVISING),
        **more,
    )


def _terminal(phase: State) -> Step:
    """Let the Orchestrator say how the run ended."""
    return Step(
        phase=phase,
        seat=ORCHESTRATOR,
        channel=PLACE,
        moves={RunTerminated: Move((ENDED,), endings.terminated)},
        missed=None,
        rule="11",
        within=NO_GRACE,
        grace=NO_GRACE,
        discharge=endings.last_word,
    )


RUN: Final = Machine(
    kind=KIND,
    system="",
    phases=tuple(State),
    rule="5.1",
    start={ArenaTask: Start(open_run, (INIT,))},
    steps={
        "before": _hook(SEEDING, PLANNER, hooks.BEFORE, DRAFTING),
        "draft": _output(
            DRAFTING,
            PLANNER,
            {ArenaDraft: Move((REVIEWING, ERROR), course.drafted)},
            SILENT,
            figures=course.draft_figures,
            name=lambda state, _subject: f"draft-{state.round_index}",
        ),
        "during": _hook(
            REVIEWING, REVIEWER, hooks.DURING, REVIEWING, subjects=_once, name=_in_round("during")
        ),
        "review": _output(
            REVIEWING,
            REVIEWER,
            {Review: Move((FINALIZING, REVISING, REVIEWING, ERROR), course.reviewed)},
            SILENT,
            figures=course.review_figures,
            subjects=_unasked,
            name=_in_round("review"),
        ),
        "after/cap": _hook(REVISING, FINALIZER, hooks.AFTER_CAP, REVISING, subjects=_at_cap),
        "final/cap": _output(
            REVISING,
            FINALIZER,
            {FinalOutput: Move((CAPPED,), course.best_effort)},
            Missed("R-A2", "void", Move((CAPPED,), course.no_effort)),
            subjects=_unasked_at_cap,
        ),
        "after/approved": _hook(FINALIZING, FINALIZER, hooks.AFTER, FINALIZING, subjects=_once),
        "final/approved": _output(
            FINALIZING,
            FINALIZER,
            {FinalOutput: Move((APPROVED, ERROR), course.finalized)},
            replace(SILENT, rule="R-A2"),
            subjects=_unasked,
        ),
        "terminated/approved": _terminal(APPROVED),
        "terminated/cap": _terminal(CAPPED),
        "terminated/error": _terminal(ERROR),
    },
    facts={(phase, Message): Move((), endings.absorbed) for phase in sorted(TERMINAL)},
    rulings={STOP: Move((ERROR,), endings.stopped)},
    dry={
        INIT: Move((SEEDING, DRAFTING, ERROR), opening.judged),
        REVISING: Move((DRAFTING,), course.revised),
    },
    idle={INIT: "what it is given is judged, which is at once"},
    parent_of=lambda body: body.parent_id or None,  # type: ignore[attr-defined]
)
"""The nine states of 5.1; REVISING leads back to DRAFTING as long as rounds are left."""
