"""Checks 1, 4 and 8: what the run was given (4.1, 4.2), the read-only Reviewer (3.2, R-A7) and its session (9.5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from moot.protocols.arena.conformance.issues import OUR_ID
from moot.protocols.arena.conformance.reading import Reading
from moot.protocols.arena.conformance.report import Findings, is_same, show
from moot.protocols.arena.conformance.texts import texts_in
from moot.protocols.arena.conformance.walk import Place, Walk
from moot.protocols.arena.conformance.words import ERROR

_FIELDS = ("max_rounds", "session_resume_required", "reviewer_mode", "notebook_enabled")


def config_faults(reading: Reading) -> list[str]:
    """Return what breaks 4.1 and R-A5 in the config."""
    config = reading.config
    if not isinstance(config, dict):
        return [f"config: is no object but {show(config)}"]
    cap = config.get("max_rounds")
    is_cap = isinstance(cap, int) and not isinstance(cap, bool) and 1 <= cap <= 5
    wanted = (
        ("max_rounds", is_cap, "is no integer from 1 to 5"),
        ("session_resume_required", config.get("session_resume_required") is True, "is not true"),
        ("reviewer_mode", config.get("reviewer_mode") == "read-only", 'is not "read-only"'),
        ("notebook_enabled", isinstance(config.get("notebook_enabled"), bool), "is no boolean"),
    )
    return [
        f"config.{key}: {what} but {show(config[key])}" if key in config else f"config.{key}: is missing"
        for key, holds, what in wanted
        if not holds
    ]


def task_faults(reading: Reading) -> list[str]:
    """Return what breaks 4.2 in the task, besides its session."""
    task = reading.task
    if not isinstance(task, dict):
        return [f"task: is no object but {show(task)}"]
    found = [
        f"task.{key}: is missing or blank"
        for key in ("task_id", "initial_prompt")
        if _is_blank(task.get(key))
    ]
    if not found and _is_marks(task["initial_prompt"]):
        found.append("task.initial_prompt: nothing is left of it but the marks of what was taken out")
    if not isinstance(task.get("notebook_required", False), bool):
        found.append(f"task.notebook_required: is no boolean but {show(task['notebook_required'])}")
    refs = task.get("round_history_refs", [])
    if not isinstance(refs, list | tuple) or not all(isinstance(ref, str) for ref in refs):
        found.append(f"task.round_history_refs: is no list of texts but {show(refs)}")
    return found


def check_config(walk: Walk, found: Findings) -> None:
    """Check 1. An invalid config is right where the run refused it and said so (6.2)."""
    reading = walk.reading
    faults = config_faults(reading)
    claims = reading.terminal_reason.startswith("CONFIG_INVALID")
    if not faults:
        if claims and set(reading.config) == set(_FIELDS):
            found.wrong("terminal_reason", "says that the config is invalid, and it satisfies 4.1")
        found.saw(", ".join(f"{key} {show(reading.config[key])}" for key in _FIELDS))
        return
    if walk.refused("config", *_FIELDS):
        found.saw(f"the run refused the invalid config as 6.2 asks, before anything else: {faults[0]}")
        return
    for fault in faults:
        found.wrong("", fault)


def check_read_only(walk: Walk, found: Findings) -> None:
    """Check 4: the mode is read-only throughout, and a blocked write ends the run (R-A7)."""
    reading = walk.reading
    mode = reading.field("config", "reviewer_mode")
    if mode != "read-only" and not walk.refused("config", *_FIELDS):
        found.wrong("config.reviewer_mode", f'is not "read-only" but {show(mode)}')
    invoked = walk.of_type("REVIEWER_INVOKED")
    for place in invoked:
        is_told = walk.is_telling or walk.tells("REVIEWER_INVOKED", "mode")
        if is_told and place.event.data.get("mode") != "read-only":
            found.wrong(
                f"{place.path}.data.mode", f'is not "read-only" but {show(place.event.data.get("mode"))}'
            )
    violations = walk.of_type("SAFETY_VIOLATION")
    for place in violations:
        _check_discarded(walk, place, found)
    if violations and not any(
        word in reading.terminal_reason.lower() for word in ("safety", "write", "read-only")
    ):
        found.wrong("terminal_reason", "does not name the safety violation that ended the run")
    is_claimed = "SAFETY_VIOLATION" in reading.terminal_reason
    if is_claimed and not any(word in place.type for place in walk.places for word in _VIOLATION):
        found.wrong("terminal_reason", "says SAFETY_VIOLATION, and no event tells it (R-A7)")
    found.saw(
        f"reviewer_mode {show(mode)}; {len(invoked)} invocations read-only; {len(violations)} blocked writes"
    )


_VIOLATION = ("SAFETY", "VIOLATION", "WRITE", "BLOCKED")
"""Words by one of which an event is known that tells a blocked write."""


def _check_discarded(walk: Walk, violation: Place, found: Findings) -> None:
    """Check that nothing follows a violation but the end, and that its review stayed unread."""
    reading = walk.reading
    if reading.terminal_state != ERROR:
        found.wrong(
            violation.path, f"a safety violation, and the run ended {show(reading.terminal_state)} (R-A7)"
        )
    _nothing_after(walk, violation, "a safety violation", "R-A7", found)
    if violation.state == "REVIEWING" and violation.round_index in walk.rounds:
        found.wrong(
            violation.path, f"a safety violation, and round {violation.round_index} was accepted (R-A7)"
        )
    begun = [
        place
        for place in walk.in_review.get(violation.round_index, ())
        if place.type == "REVIEWER_INVOKED" and place.path != violation.path
    ]
    parsed = walk.rows.get(violation.round_index, ())
    if violation.state == "REVIEWING" and begun and len(parsed) >= len(begun):
        found.wrong(violation.path, "a safety violation, and the review of this pass was parsed (R-A7)")


def _nothing_after(walk: Walk, culprit: Place, what: str, rule: str, found: Findings) -> None:
    for place in walk.places[culprit.index + 1 :]:
        if place.type == "RUN_TERMINATED":
            continue
        if place.type == "STATE_TRANSITION":
            if place.state != ERROR:
                found.wrong(place.path, f"{what} is followed by {show(place.state)} ({rule})")
        elif place.type in _WORK and not (walk.is_off and place.type == "HOOK_EXECUTED"):
            found.wrong(place.path, f"{what} is followed by {place.type} ({rule})")


_WORK = frozenset(
    {
        "PLANNER_INVOKED", "REVIEWER_INVOKED", "REVIEWER_RETRIED", "FINALIZER_INVOKED", "ROUND_RECORDED",
        "HOOK_EXECUTED", "PARSER_WARNING", "PARSER_ERROR", "REVIEW_WARNING",
    }
)  # fmt: skip
"""Events that show a run going on."""


def check_session(walk: Walk, found: Findings) -> None:
    """Check 8: one session from the first review to the last; without it the run fails (6.3, 9.5)."""
    reading = walk.reading
    session_id = reading.field("task", "session_id")
    if _is_blank(session_id):
        if walk.refused("session", "task", "config"):
            found.saw("the run refused a task without a valid session_id, as 6.3 asks")
        else:
            found.wrong(
                "task.session_id", f"is missing or blank ({show(session_id)}), and the run went on (6.3)"
            )
        return
    if reading.field("config", "session_resume_required") is not True and not walk.refused(
        "config", *_FIELDS
    ):
        found.wrong("config.session_resume_required", "is not true, and the run went on (4.1)")
    gone = walk.of_type("SESSION_RESUME_MISSING")
    for place in gone:
        if reading.terminal_state != ERROR:
            found.wrong(
                place.path, f"no session to resume, and the run ended {show(reading.terminal_state)} (9.5)"
            )
        _nothing_after(walk, place, "a missing session", "9.5", found)
        if place.event.data.get("session_id", session_id) != session_id:
            found.wrong(f"{place.path}.data.session_id", "is not the task's session")
        if place.state == "REVIEWING" and place.round_index in walk.rounds:
            found.wrong(place.path, f"no session to resume, and round {place.round_index} was accepted (9.5)")
    if gone and not any(word in reading.terminal_reason.lower() for word in ("session", "resum")):
        found.wrong("terminal_reason", "does not name the missing session that ended the run")
    invoked = walk.of_type("REVIEWER_INVOKED")
    for place in invoked:
        _check_resumed(walk, place, session_id, found)
    found.saw(f"{len(invoked)} reviews invoked in session {show(session_id)}, {len(gone)} without a session")


def _check_resumed(walk: Walk, place: Place, session_id: str, found: Findings) -> None:
    data, path = place.event.data, f"{place.path}.data"
    is_told = walk.is_telling or walk.tells("REVIEWER_INVOKED", "session_id")
    if is_told and data.get("session_id") != session_id:
        found.wrong(
            f"{path}.session_id", f"is not the task's session but {show(data.get('session_id'))} (9.5)"
        )
    if "resume_ref" in data and _is_blank(data["resume_ref"]):
        found.wrong(
            f"{path}.resume_ref", f"resumes nothing ({show(data['resume_ref'])}): a stateless review (9.5)"
        )
    before = place.round_index - 1
    resumed = data.get("resumed_round", before)
    if not is_same(resumed, before):
        found.wrong(f"{path}.resumed_round", f"is not {before} but {show(resumed)}")
    issues = walk.rounds[before].issues if before in walk.rounds else ()
    for stranger in _strangers(data.get("unresolved"), issues):
        found.wrong(f"{path}.unresolved", f"{show(stranger)} is no issue of round {before}")
    left = _unresolved(issues)
    if left is not None and "unresolved" in data and not is_same(data["unresolved"], left):
        found.wrong(f"{path}.unresolved", f"is not what round {before} left unresolved ({len(left)} issues)")


def _unresolved(issues: Sequence[Any]) -> list[Any] | None:
    """Return the ids of what a round left to do; None where its issues have no ids."""
    if not all(isinstance(issue, dict) and isinstance(issue.get("id"), str) for issue in issues):
        return None
    return [issue["id"] for issue in issues if issue.get("kind") != "evidence"]


def _strangers(unresolved: object, issues: Sequence[Any]) -> list[str]:
    """Return what an invocation lists as an issue of Moot's and no issue of the round before is."""
    known = set(texts_in(issues))
    listed = unresolved if isinstance(unresolved, list | tuple) else ()
    return [one for one in listed if isinstance(one, str) and OUR_ID.fullmatch(one) and one not in known]


def _is_marks(text: str) -> bool:
    return "[re" in text and not re.search(r"\w", re.sub(r"\[re(?:moved: |dacted:)[a-z_]+\]", "", text))


def _is_blank(value: object) -> bool:
    return not isinstance(value, str) or not value.strip()
