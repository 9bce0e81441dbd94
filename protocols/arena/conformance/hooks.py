"""Checks 9, 10 and 11: the notebook before, during and after the loop (8, 9.4), and `studio_create` (8.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from moot.protocols.arena.conformance.reading import Hook
from moot.protocols.arena.conformance.report import Findings, show
from moot.protocols.arena.conformance.texts import texts_in
from moot.protocols.arena.conformance.walk import Place, Visit, Walk
from moot.protocols.arena.conformance.words import APPROVED, CAPPED, ERROR, PHASES
from moot.protocols.arena.reading import is_mentioned

Placed = tuple[int, Hook, Place | None]
"""A hook's index, the hook, and its event if there is one."""

_STATES = {"before": ("INIT", "SEEDING"), "during": ("REVIEWING",), "after": ("FINALIZING", "REVISING")}
"""Where each phase belongs (8, R-A2, R-A3)."""


def notebook_faults(walk: Walk) -> list[str]:
    """Return what breaks 4.3 in the notebook."""
    notebook = walk.reading.notebook
    if not isinstance(notebook, dict):
        return [f"notebook: is no object but {show(notebook)}, and the notebook is enabled"]
    found = []
    notebook_id, tools = notebook.get("notebook_id"), notebook.get("tools")
    if not isinstance(notebook_id, str) or not notebook_id.strip():
        found.append(f"notebook.notebook_id: is missing or blank ({show(notebook_id)})")
    if not isinstance(tools, list | tuple) or "notebook_query" not in tools:
        found.append("notebook.tools: do not include notebook_query")
    elif not all(isinstance(tool, str) and tool.strip() for tool in tools):
        found.append("notebook.tools: hold what is no name of a tool")
    if notebook.get("profile", "auto") not in ("enterprise", "personal", "auto"):
        found.append(
            f"notebook.profile: is none of enterprise, personal, auto but {show(notebook['profile'])}"
        )
    return found


def check_hooks(walk: Walk, found: Findings) -> None:
    """Check 9: every phase of an enabled notebook has its query, every failure its consequence; off means off."""
    hooks = walk.reading.hooks
    if isinstance(walk.reading.field("config", "notebook_enabled"), bool) and not walk.is_enabled:
        _check_disabled(walk, found)
        return
    if walk.ended_at_init and [(hook.phase, hook.status) for hook in hooks] != [("before", "FAILED")]:
        if hooks:
            found.wrong("hooks", f"there are {len(hooks)}, and the run refused its inputs")
        found.saw("the run ended at INIT, before any hook")
        return
    for fault in notebook_faults(walk):
        found.wrong("", fault)
    if len(walk.of_type("HOOK_EXECUTED")) != len(hooks):
        told = len(walk.of_type("HOOK_EXECUTED"))
        found.wrong("hooks", f"there are {len(hooks)}, and the events tell {told} HOOK_EXECUTED")
    order = [PHASES.index(hook.phase) for hook in hooks if hook.phase in PHASES]
    if order != sorted(order):
        found.wrong("hooks", "are not in the order before, during, after")
    placed = list(_placed(walk))
    for index, hook, place in placed:
        _check_hook(walk, index, hook, place, found)
    _check_before(walk, placed, found)
    _check_during(walk, placed, found)
    check_after(walk, found)
    found.saw(", ".join(f"{hook.phase} {hook.status}" for hook in hooks[:20]))


def _placed(walk: Walk) -> Iterator[Placed]:
    told = walk.of_type("HOOK_EXECUTED")
    for index, hook in enumerate(walk.reading.hooks):
        yield index, hook, told[index] if index < len(told) else None


def _check_disabled(walk: Walk, found: Findings) -> None:
    """Check that a notebook that is off was left alone (R-A6)."""
    hooks = walk.reading.hooks
    if walk.ended_at_init and not hooks:
        found.saw("the run ended at INIT, before any hook")
        return
    if [hook.phase for hook in hooks] != list(PHASES):
        said = ", ".join(hook.phase for hook in hooks[:10]) or "none"
        found.wrong(
            "hooks", f"are {said}; a notebook that is off has one each of before, during, after (R-A6)"
        )
    for index, hook in enumerate(hooks):
        if hook.status != "SKIPPED_DISABLED":
            found.wrong(f"hooks[{index}].status", f"is {hook.status}, and the notebook is disabled (R-A6)")
        if hook.evidence_refs:
            found.wrong(f"hooks[{index}].evidence_refs", "come from a notebook that is disabled")
        if hook.query:
            found.warn(f"hooks[{index}].query: a query that was not made")
    told = len(walk.of_type("HOOK_EXECUTED"))
    if told not in (0, len(hooks)):
        found.wrong("hooks", f"there are {len(hooks)}, and the events tell {told} HOOK_EXECUTED")
    found.saw("the notebook is disabled: before, during and after are SKIPPED_DISABLED")


def _check_hook(walk: Walk, index: int, hook: Hook, place: Place | None, found: Findings) -> None:
    """Check one hook's status, query and place, and that a failure had its consequence (9.4)."""
    path = f"hooks[{index}]"
    if hook.status == "SKIPPED_DISABLED":
        found.wrong(f"{path}.status", "is SKIPPED_DISABLED, and the notebook is enabled")
    if hook.status == "SUCCESS" and not hook.query.strip():
        found.wrong(f"{path}.query", "is blank, and the hook was executed (8)")
    if not all(ref.strip() for ref in hook.evidence_refs):
        found.wrong(f"{path}.evidence_refs", "hold a blank reference")
    if hook.status == "SKIPPED_DEGRADED":
        if walk.is_required:
            found.wrong(f"{path}.status", "is SKIPPED_DEGRADED, and the task requires the notebook (9.4)")
        found.warn(f"{path}: the run went on without the notebook {hook.phase} the loop")
    is_late = hook.phase == "after" and place is not None and place.state == CAPPED
    if is_late:
        found.warn(f"{path}: the drift was checked on reaching the cap, not before (R-A2)")
    if place is not None and place.state not in _STATES.get(hook.phase, ()) and not is_late:
        found.wrong(
            place.path, f"the hook {hook.phase} the loop was executed in {show(place.state)} (8, R-A3)"
        )
    if hook.status == "FAILED":
        _check_failure(walk, index, place, found)


def _check_failure(walk: Walk, index: int, place: Place | None, found: Findings) -> None:
    reading = walk.reading
    path = f"hooks[{index}].status"
    steps = reading.transitions
    is_next_the_end = place is None or [step.target for step in steps[place.moved :]] == [ERROR]
    if reading.terminal_state != ERROR or not is_next_the_end or index + 1 < len(reading.hooks):
        found.wrong(path, "is FAILED, and the run went on (9.4)")
    if "notebook" not in reading.terminal_reason.lower():
        found.wrong(
            "terminal_reason", f"does not name the notebook, whose failure ended the run ({path}, 9.4)"
        )


def _check_before(walk: Walk, placed: Sequence[Placed], found: Findings) -> None:
    steps = walk.reading.transitions
    before = [hook for _, hook, _ in placed if hook.phase == "before"]
    if not before and walk.drafts:
        found.wrong("hooks", "none before the loop, and drafting began (8.1)")
    if len(before) > 1:
        found.warn(f"hooks: {len(before)} before the loop")
    if not before and not walk.drafts and steps:
        found.warn("hooks: the run ended before the notebook was asked")


def _check_during(walk: Walk, placed: Sequence[Placed], found: Findings) -> None:
    """Check that each review had its query, and that its evidence can be found again (8.2)."""
    by_round: Mapping[int, list[tuple[int, Hook]]] = defaultdict(list)
    for index, hook, place in placed:
        if hook.phase == "during" and place is not None and place.state == "REVIEWING":
            by_round[place.round_index].append((index, hook))
    for visit in walk.visits:
        here = by_round.get(visit.round_index, [])
        if not here and (walk.rows.get(visit.round_index) or visit.left_for != ERROR):
            found.wrong("hooks", f"none during round {visit.round_index}, which was reviewed (8.2)")
        _check_evidence(walk, visit, here, found)


def _check_evidence(walk: Walk, visit: Visit, hooks: Sequence[tuple[int, Hook]], found: Findings) -> None:
    said = walk.rounds.get(visit.round_index)
    if said is None:
        return
    reading = walk.reading
    refs = {row.output_ref for row in walk.rows.get(visit.round_index, ())} | {said.review_ref}
    texts = [reading.artifacts[ref] for ref in refs if ref in reading.artifacts]
    issues = list(texts_in(said.issues))
    for index, hook in hooks:
        for ref in hook.evidence_refs:
            if ref.strip() and not any(is_mentioned(ref, text) for text in (*texts, *issues)):
                found.wrong(
                    f"hooks[{index}].evidence_refs",
                    f"{show(ref)} is neither in the review nor in the issues of round {visit.round_index} (8.2)",
                )


def check_after(walk: Walk, found: Findings) -> None:
    """Check that the drift was checked before any final output (8.3, R-A2)."""
    reading = walk.reading
    if not walk.is_enabled or walk.ended_at_init:
        return
    after = [hook for hook in reading.hooks if hook.phase == "after"]
    has_output = bool(reading.final_output and reading.final_output.strip())
    if not after and (reading.terminal_state == APPROVED or has_output):
        found.wrong("hooks", "none after the loop, and there is a final output (8.3)")
    if len(after) > 1:
        found.warn(f"hooks: {len(after)} after the loop")


def check_drift(walk: Walk, found: Findings) -> None:
    """Check 10: the after-hook asked something."""
    if not walk.is_enabled:
        found.saw("the notebook is disabled: there is nothing to drift from")
        return
    check_after(walk, found)
    asked = 0
    for index, hook in enumerate(walk.reading.hooks):
        if hook.phase != "after":
            continue
        if hook.status == "SUCCESS" and not hook.query.strip():
            found.wrong(f"hooks[{index}].query", "is blank: the drift was not checked (8.3)")
        if hook.status == "FAILED" and walk.reading.final_output:
            found.wrong("final_output", "is there, and the drift could not be checked (8.3, 9.4)")
        asked += 1
        found.saw(f"hooks[{index}] {hook.status}: {show(hook.query)}")
    if not asked:
        found.saw("the run did not get as far as a final output")


_STUDIO = ("studio_create", "studio create")


def check_studio(walk: Walk, found: Findings) -> None:
    """Check 11: no run fails because `studio_create` is absent, unless the task says that it must be there."""
    reading = walk.reading
    tools = reading.field("notebook", "tools")
    has_studio = isinstance(tools, list | tuple) and "studio_create" in tools
    task = reading.task if isinstance(reading.task, dict) else {}
    if any(isinstance(key, str) and "studio_create" in key and task[key] is True for key in task):
        found.saw("the task's policy requires studio_create")
        return
    reasons = [("terminal_reason", reading.terminal_reason)]
    reasons += [
        (f"transitions[{index}].reason", step.reason)
        for index, step in enumerate(reading.transitions)
        if step.target == ERROR
    ]
    for place in walk.places:
        data = place.event.data
        is_failure = place.type == "HOOK_EXECUTED" and data.get("status") == "FAILED"
        for key in ("why", "reason"):
            if (is_failure or place.type == "RUN_TERMINATED") and isinstance(data.get(key), str):
                reasons.append((f"{place.path}.data.{key}", data[key]))
    for path, reason in reasons:
        if reading.terminal_state == ERROR and any(word in reason.lower() for word in _STUDIO):
            found.wrong(path, "names studio_create, whose absence must not fail a run (8.3)")
    found.saw(
        f"studio_create is {'available' if has_studio else 'absent'}; the run ended {show(reading.terminal_state)}"
    )
