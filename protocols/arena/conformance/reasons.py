"""Terminal reasons: what a reason of Moot's claims has to stand in the record (9, 10.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from moot.protocols.arena.conformance.report import Findings, show
from moot.protocols.arena.conformance.walk import Walk
from moot.protocols.arena.conformance.words import APPROVED, CAPPED, ERROR


def check_reason(walk: Walk, found: Findings) -> None:
    """Check the code that a terminal reason begins with. Reasons of others have none, and are free text."""
    reading = walk.reading
    code = reading.terminal_reason.partition(":")[0].strip()
    claim = CLAIMS.get(code)
    if claim is None:
        return
    state, is_borne_out = claim
    if reading.terminal_state != state:
        found.wrong("terminal_reason", f"{code} does not lead to {show(reading.terminal_state)}")
    elif not is_borne_out(walk):
        found.wrong("terminal_reason", f"says {code}, and nothing else in the record does")


def _left_from(*states: str) -> Callable[[Walk], bool]:
    return lambda walk: bool(walk.reading.transitions) and walk.reading.transitions[-1].source in states


def _is_told(type_: str) -> Callable[[Walk], bool]:
    return lambda walk: bool(walk.of_type(type_))


def _is_always(walk: Walk) -> bool:
    return True


def _at_init(walk: Walk) -> bool:
    return walk.ended_at_init


def _is_sessionless(walk: Walk) -> bool:
    session_id = walk.reading.field("task", "session_id")
    return walk.ended_at_init and not (isinstance(session_id, str) and session_id.strip())


def _has_failed_hook(walk: Walk) -> bool:
    """Return True if a hook failed, or if the required notebook is disabled (R-G4)."""
    if walk.is_required and not walk.is_enabled:
        return walk.ended_at_init
    return any(hook.status == "FAILED" for hook in walk.reading.hooks)


def _is_verdictless(walk: Walk) -> bool:
    last = walk.rows.get(walk.drafts, ())
    return len(last) == 2 and last[-1].verdict is None


def _has_no_output(walk: Walk) -> bool:
    return _left_from("FINALIZING")(walk) and not (walk.reading.final_output or "").strip()


CLAIMS: Final[Mapping[str, tuple[str, Callable[[Walk], bool]]]] = {
    "APPROVED": (APPROVED, _is_always),
    "MAX_ROUNDS": (CAPPED, _is_always),
    "CONFIG_INVALID": (ERROR, _at_init),
    "TASK_INVALID": (ERROR, _at_init),
    "SESSION_ID_MISSING": (ERROR, _is_sessionless),
    "NOTEBOOK_CONTEXT_INVALID": (ERROR, _at_init),
    "NOTEBOOK_UNAVAILABLE": (ERROR, _has_failed_hook),
    "PARSER_ERROR_MISSING_VERDICT": (ERROR, _is_verdictless),
    "SESSION_RESUME_MISSING": (ERROR, _is_told("SESSION_RESUME_MISSING")),
    "SAFETY_VIOLATION": (ERROR, _is_told("SAFETY_VIOLATION")),
    "EMPTY_DRAFT": (ERROR, _left_from("DRAFTING")),
    "EMPTY_FINAL_OUTPUT": (ERROR, _has_no_output),
    "TIMEOUT": (ERROR, _is_always),
    "STOPPED": (ERROR, _is_always),
}
"""A code, the terminal state it leads to, and what bears it out."""
