"""Check 12: the audit trail holds all that section 11 asks for, and its parts agree with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from moot.protocols.arena.conformance.inputs import task_faults
from moot.protocols.arena.conformance.instants import Instant
from moot.protocols.arena.conformance.invocations import check_invocations
from moot.protocols.arena.conformance.issues import check_issues
from moot.protocols.arena.conformance.reasons import check_reason
from moot.protocols.arena.conformance.refs import check_refs
from moot.protocols.arena.conformance.report import Findings, is_same, show
from moot.protocols.arena.conformance.states import check_transition_events
from moot.protocols.arena.conformance.verdicts import check_parser_events
from moot.protocols.arena.conformance.walk import Place, Walk
from moot.protocols.arena.conformance.words import APPROVED, CAPPED, TERMINAL

PLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "PLANNER_INVOKED": ("DRAFTING",),
    "REVIEWER_INVOKED": ("REVIEWING",),
    "REVIEWER_RETRIED": ("REVIEWING",),
    "PARSER_WARNING": ("REVIEWING",),
    "PARSER_ERROR": ("REVIEWING",),
    "REVIEW_WARNING": ("REVIEWING",),
    "ROUND_RECORDED": ("REVIEWING", "REVISING", "FINALIZING"),
    "FINALIZER_INVOKED": ("REVISING", "FINALIZING", CAPPED),
    "HOOK_EXECUTED": ("INIT", "SEEDING", "REVIEWING", "REVISING", "FINALIZING", CAPPED),
    "SAFETY_VIOLATION": ("SEEDING", "DRAFTING", "REVIEWING", "REVISING", "FINALIZING"),
    "SESSION_RESUME_MISSING": ("INIT", "SEEDING", "DRAFTING", "REVIEWING", "REVISING", "FINALIZING"),
}
"""In which states an event can happen (5.1, 6, R-A1 to R-A3). Other types may happen anywhere."""

IN_A_PASS: Final = {"REVIEWER_RETRIED": 0, "REVIEWER_INVOKED": 1, "HOOK_EXECUTED": 1, "PARSER_WARNING": 2,
                    "PARSER_ERROR": 2, "ROUND_RECORDED": 3}  # fmt: skip
"""The order of events within one pass of the Reviewer (6.8 to 6.11, 8.2)."""


def check_trail(walk: Walk, found: Findings) -> None:
    """Check 12."""
    reading = walk.reading
    _check_ends(walk, found)
    _check_time(walk, found)
    check_transition_events(walk, found)
    _check_rounds(walk, found)
    _check_hook_events(walk, found)
    check_parser_events(walk, found)
    _check_places(walk, found)
    check_refs(walk, found)
    check_invocations(walk, found)
    check_issues(walk, found)
    check_reason(walk, found)
    if not walk.ended_at_init:
        for fault in task_faults(reading):
            found.wrong("", fault)
    found.saw(
        f"{len(reading.events)} events, {len(reading.transitions)} transitions, {len(reading.rounds)} rounds,"
        f" {len(reading.hooks)} hooks, {len(reading.parser)} parsed reviews, {len(reading.artifacts)} artifacts"
    )
    found.saw(f"{reading.terminal_state}: {show(reading.terminal_reason)}")


def _check_ends(walk: Walk, found: Findings) -> None:
    """Check the first and the last event, and the terminal state, reason and output."""
    reading = walk.reading
    for type_, at, which in (("RUN_STARTED", 0, "first"), ("RUN_TERMINATED", len(walk.places) - 1, "last")):
        told = [place.index for place in walk.of_type(type_)]
        if told != [at]:
            found.wrong("events", f"tell {type_} {len(told)} times; it is the {which} event, once (11)")
    last = reading.transitions[-1].target if reading.transitions else "INIT"
    if reading.terminal_state != last:
        found.wrong(
            "terminal_state",
            f"is {show(reading.terminal_state)}, and the last transition leads to {show(last)}",
        )
    if reading.terminal_state not in TERMINAL:
        found.wrong("terminal_state", f"{show(reading.terminal_state)} is not terminal: the run is not over")
    for place in walk.of_type("RUN_TERMINATED"):
        data = place.event.data
        for key in ("state", "terminal_state"):
            if data.get(key, reading.terminal_state) != reading.terminal_state:
                found.wrong(f"{place.path}.data.{key}", f"is {show(data[key])}, not the terminal state")
        if data.get("reason", reading.terminal_reason) != reading.terminal_reason:
            found.wrong(f"{place.path}.data.reason", "differs from terminal_reason")
    has_output = bool(reading.final_output and reading.final_output.strip())
    if reading.terminal_state == APPROVED and not has_output:
        found.wrong("final_output", "is missing, and the run was approved (6.15)")
    if reading.final_output and not _reached_finalizer(walk):
        found.wrong("final_output", "is there, and the run never came to its Finalizer")


def _reached_finalizer(walk: Walk) -> bool:
    """Say whether the run came to FINALIZING, or to the cap."""
    steps = walk.reading.transitions
    cap = walk.reading.field("config", "max_rounds")
    return any(
        step.target == "FINALIZING" or (step.target == "REVISING" and walk.rounds_entered[index] == cap)
        for index, step in enumerate(steps)
    )


def _check_time(walk: Walk, found: Findings) -> None:
    """Check that time runs forwards."""
    reading = walk.reading
    for section, instants in (
        ("events", [event.at for event in reading.events]),
        ("transitions", [step.at for step in reading.transitions]),
        ("rounds", [round_.at for round_ in reading.rounds]),
    ):
        for index in _backwards(instants):
            found.wrong(f"{section}[{index}]", "is earlier than the one before it")


def _backwards(instants: Sequence[Instant]) -> list[int]:
    return [index for index in range(1, len(instants)) if instants[index] < instants[index - 1]]


def _check_rounds(walk: Walk, found: Findings) -> None:
    """Check that every round is recorded once, in order, in its time, and that each record has its event."""
    reading = walk.reading
    indexes = [round_.index for round_ in reading.rounds]
    if indexes != list(range(1, len(indexes) + 1)):
        found.wrong("rounds", f"are {', '.join(show(index) for index in indexes[:10])}, not 1, 2, … in order")
    decided = sum(visit.left_for in ("FINALIZING", "REVISING") for visit in walk.visits)
    if not decided <= len(indexes) <= len(walk.visits):
        found.wrong("rounds", f"hold {len(indexes)} records, and {decided} rounds were decided")
    told = walk.of_type("ROUND_RECORDED")
    if len(told) != len(indexes):
        found.wrong("events", f"tell {len(told)} ROUND_RECORDED, and there are {len(indexes)} rounds")
    for index, (round_, place) in enumerate(zip(reading.rounds, told, strict=False)):
        data = place.event.data
        if walk.tells("ROUND_RECORDED", "round_index") and not is_same(data.get("round_index"), round_.index):
            found.wrong(
                f"{place.path}.data.round_index",
                f"is {show(data.get('round_index'))}, not {show(round_.index)}",
            )
        if data.get("verdict", round_.verdict) != round_.verdict:
            found.wrong(
                f"{place.path}.data.verdict",
                f"is {show(data['verdict'])}, and rounds[{index}] says {round_.verdict}",
            )
    _check_round_times(walk, found)


def _check_round_times(walk: Walk, found: Findings) -> None:
    """Check that a round's timestamp lies between its drafting and the end of the state that its verdict led to."""
    steps = walk.reading.transitions
    entered = {visit.round_index: visit.entered for visit in walk.visits}
    for index, round_ in enumerate(walk.reading.rounds):
        at = entered.get(round_.index)
        if at is None:
            found.wrong(f"rounds[{index}]", f"round {show(round_.index)} was never reviewed")
            continue
        begin = steps[max(at - 1, 0)].at
        end = steps[min(at + 2, len(steps) - 1)].at
        if not begin <= round_.at <= end:
            found.wrong(f"rounds[{index}].timestamp", "lies outside its round")


def _check_hook_events(walk: Walk, found: Findings) -> None:
    """Check that every hook has its event. A disabled notebook executes none, so its three need none (R-A6)."""
    hooks, told = walk.reading.hooks, walk.of_type("HOOK_EXECUTED")
    is_off = all(hook.status == "SKIPPED_DISABLED" for hook in hooks)
    if len(told) != len(hooks) and not (is_off and not told):
        found.wrong("events", f"tell {len(told)} HOOK_EXECUTED, and there are {len(hooks)} hooks")
    for index, (hook, place) in enumerate(zip(hooks, told, strict=False)):
        known = {"phase": hook.phase, "status": hook.status, "evidence_refs": list(hook.evidence_refs)}
        for key, value in known.items():
            is_told = key == "phase" and walk.tells("HOOK_EXECUTED", key)
            said = place.event.data.get(key, None if is_told else value)
            if (list(said) if isinstance(said, tuple) else said) != value:
                found.wrong(
                    f"{place.path}.data.{key}", f"is {show(said)}, and hooks[{index}] says {show(value)}"
                )


def _check_places(walk: Walk, found: Findings) -> None:
    """Check that events happened where they can, tell their own round, and keep the order of a pass."""
    passed: dict[int, tuple[int, int]] = {}
    for place in walk.places:
        states = PLACES.get(place.type)
        if states is None:
            continue
        is_skipped = walk.is_off and place.type == "HOOK_EXECUTED"  # by nothing, so at any time
        if place.state not in states and not is_skipped:
            found.wrong(place.path, f"{place.type} in {show(place.state)}")
        is_off = place.event.data.get("status") == "SKIPPED_DISABLED"
        said = place.event.data.get("round_index", place.round_index)
        is_outside = place.type == "HOOK_EXECUTED" and place.state != "REVIEWING"
        if not is_off and not is_same(said, place.round_index) and not (is_outside and said is None):
            found.wrong(
                f"{place.path}.data.round_index",
                f"is {show(said)}, and it happened in round {place.round_index}",
            )
        if place.state == "REVIEWING" and place.type in IN_A_PASS and not is_skipped:
            _check_pass(walk, place, passed, found)
        elif not any(is_same(place.event.data.get("attempt", 0), outside) for outside in (0, 1, None)):
            found.wrong(f"{place.path}.data.attempt", "is neither 0 nor 1, and this is outside a review")


def _check_pass(walk: Walk, place: Place, passed: dict[int, tuple[int, int]], found: Findings) -> None:
    attempt, rank = passed.get(place.round_index, (walk.base, 0))
    is_retry = place.type == "REVIEWER_RETRIED"
    is_next = is_retry or (rank == IN_A_PASS["PARSER_ERROR"] and IN_A_PASS[place.type] < rank)
    told = place.event.data.get("attempt", attempt + is_next)
    highest = walk.base + max(len(walk.rows.get(place.round_index, ())) - 1, 0) + (_is_cut_short(walk, place))
    if not isinstance(told, int) or isinstance(told, bool) or not walk.base <= told <= highest:
        found.wrong(f"{place.path}.data.attempt", f"is {show(told)}, and no such review took place")
        return
    now = (told, IN_A_PASS[place.type])
    if now < (attempt, rank) or (is_retry and told == attempt):
        found.wrong(place.path, f"{place.type} is out of order in round {place.round_index}")
    passed[place.round_index] = now


def _is_cut_short(walk: Walk, place: Place) -> bool:
    """Say whether a retry was begun and never parsed: one more attempt than the parser saw."""
    rows = walk.rows.get(place.round_index, ())
    return bool(rows) and rows[-1].verdict is None and len(rows) == 1
