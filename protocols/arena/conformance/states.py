"""Checks 2, 3 and 7: the states (4.4), the transition table (5.1, 5.2) and the cap of rounds (9.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.protocols.arena.conformance.instants import Instant
from moot.protocols.arena.conformance.report import Findings, show
from moot.protocols.arena.conformance.walk import Walk
from moot.protocols.arena.conformance.words import APPROVED, CAPPED, ERROR, STATES, TERMINAL

TABLE: Final[Mapping[str, frozenset[str]]] = {
    "INIT": frozenset({"SEEDING", "DRAFTING", ERROR}),
    "SEEDING": frozenset({"DRAFTING", ERROR}),
    "DRAFTING": frozenset({"REVIEWING", ERROR}),
    "REVIEWING": frozenset({"FINALIZING", "REVISING", ERROR}),
    "REVISING": frozenset({"DRAFTING", CAPPED, ERROR}),
    "FINALIZING": frozenset({APPROVED, ERROR}),
}
"""Section 5.1: from a state to those that may follow. A state that is no key is terminal."""

LED_TO: Final = {"FINALIZING": "APPROVED", "REVISING": "REVISE"}
"""What a verdict has to be for REVIEWING to be left so (5.1)."""


def check_states(walk: Walk, found: Findings) -> None:
    """Check 2: only the nine states of 4.4 occur."""
    reading = walk.reading
    named: list[tuple[str, object]] = [
        (f"transitions[{index}].{key}", state)
        for index, step in enumerate(reading.transitions)
        for key, state in (("from", step.source), ("to", step.target))
    ]
    named += [
        (f"{place.path}.data.{key}", place.event.data.get(key))
        for type_, keys in (
            ("STATE_TRANSITION", ("from", "to")),
            ("RUN_TERMINATED", ("state", "terminal_state")),
        )
        for key in keys
        if walk.tells(type_, key)
        for place in walk.of_type(type_)
    ]
    named.append(("terminal_state", reading.terminal_state))
    for path, state in named:
        if not isinstance(state, str) or state not in STATES:
            found.wrong(path, f"{show(state)} is no state of 4.4")
    states = {state for _, state in named if isinstance(state, str)}
    found.saw(f"{len(states)} states, named {len(named)} times, are all in 4.4")


def check_transitions(walk: Walk, found: Findings) -> None:
    """Check 3: the path begins at INIT, follows the table, hangs together, and ends in its first terminal state."""
    steps = walk.reading.transitions
    before = "INIT"
    for index, step in enumerate(steps):
        path = f"transitions[{index}]"
        if step.source != before:
            found.wrong(f"{path}.from", f"{show(step.source)}, and the run was in {show(before)}")
        if step.source in TERMINAL:
            found.wrong(path, f"leaves {step.source}, which is terminal (5.2)")
        elif step.target not in TABLE.get(step.source, ()):
            found.wrong(path, f"{show(step.source)} → {show(step.target)} is not in 5.1")
        before = step.target
    if before not in TERMINAL:
        found.wrong("transitions", f"end in {show(before)}, which is not terminal")
    _check_start(walk, found)
    _check_verdicts_lead(walk, found)
    check_transition_events(walk, found)
    found.saw(" → ".join(["INIT", *(step.target for step in steps[:30])]))


def _check_start(walk: Walk, found: Findings) -> None:
    """Check the entry conditions of the two ways out of INIT."""
    steps = walk.reading.transitions
    if not steps or steps[0].target not in ("SEEDING", "DRAFTING"):
        return
    wanted = "SEEDING" if walk.is_enabled else "DRAFTING"
    if steps[0].target != wanted:
        enabled = show(walk.reading.field("config", "notebook_enabled"))
        found.wrong("transitions[0]", f"goes to {steps[0].target} while notebook_enabled is {enabled} (5.1)")


def _check_verdicts_lead(walk: Walk, found: Findings) -> None:
    """Check that REVIEWING is left for where the round's verdict leads."""
    for visit in walk.visits:
        wanted = LED_TO.get(visit.left_for)
        if wanted is None:
            continue
        path = f"transitions[{visit.entered + 1}]"
        said = walk.rounds.get(visit.round_index)
        if said is None:
            found.wrong(
                path, f"to {visit.left_for}, and round {visit.round_index} has no record with a verdict"
            )
        elif said.verdict != wanted:
            found.wrong(
                path, f"to {visit.left_for}, and the verdict of round {visit.round_index} is {said.verdict}"
            )


def check_transition_events(walk: Walk, found: Findings) -> None:
    """Check that every transition has its event, in the same order, at the same instant."""
    steps, told = walk.reading.transitions, walk.of_type("STATE_TRANSITION")
    if len(steps) != len(told):
        found.wrong(
            "events", f"tell {len(told)} STATE_TRANSITION, and there are {len(steps)} transitions (5.2)"
        )
    is_exact = _is_exact(walk)
    for index, (step, place) in enumerate(zip(steps, told, strict=False)):
        data, path = place.event.data, f"transitions[{index}]"
        for key, value in (("from", step.source), ("to", step.target)):
            if walk.tells("STATE_TRANSITION", key) and data.get(key) != value:
                found.wrong(
                    f"{place.path}.data.{key}", f"is {show(data.get(key))}, and {path} says {show(value)}"
                )
        if data.get("reason", step.reason) != step.reason and (data["reason"] or step.reason):
            found.wrong(f"{place.path}.data.reason", f"differs from {path}.reason")
        if is_exact and place.event.at != step.at:
            found.wrong(f"{place.path}.at", f"differs from {path}.at")
        elif not _is_between(walk, step.at, place.index):
            found.wrong(f"{path}.at", f"does not fit between the events around {place.path}")


def _is_exact(walk: Walk) -> bool:
    """Say whether the events of most transitions tell their instants; others log theirs a little later."""
    steps, told = walk.reading.transitions, walk.of_type("STATE_TRANSITION")
    same = [step.at == place.event.at for step, place in zip(steps, told, strict=False)]
    return 2 * sum(same) > len(same)


def _is_between(walk: Walk, at: Instant, index: int) -> bool:
    """Say whether an instant lies between the events before and after the one with an index."""
    events = walk.reading.events
    return events[max(index - 1, 0)].at <= at <= events[min(index + 1, len(events) - 1)].at


def check_cap(walk: Walk, found: Findings) -> None:
    """Check 7: no round beyond `max_rounds`; a REVISE in the last one, and nothing else, ends the run at the cap."""
    reading = walk.reading
    cap = reading.field("config", "max_rounds")
    if not isinstance(cap, int) or isinstance(cap, bool) or not 1 <= cap <= 5:
        if walk.drafts or reading.rounds:
            found.wrong("config.max_rounds", f"{show(cap)} caps nothing, and rounds were run")
        found.saw("the config is invalid and no round was run")
        return
    if walk.drafts > cap:
        found.wrong("transitions", f"begin {walk.drafts} rounds, the cap is {cap}")
    for index, said in enumerate(reading.rounds):
        if said.index > cap:
            found.wrong(f"rounds[{index}].round_index", f"is {show(said.index)}, the cap is {cap}")
    for index, step in enumerate(reading.transitions):
        round_index, path = walk.rounds_entered[index], f"transitions[{index}]"
        if step.source != "REVISING":
            continue
        if step.target == "DRAFTING" and round_index >= cap:
            found.wrong(path, f"begins another round after round {round_index} of {cap} (9.3)")
        if step.target == CAPPED and round_index != cap:
            found.wrong(path, f"ends the run at the cap after round {round_index} of {cap} (5.1)")
    if reading.terminal_state == CAPPED:
        last = walk.rounds.get(cap)
        if last is None or last.verdict != "REVISE":
            found.wrong("terminal_state", f"is {CAPPED}, and round {cap} has no verdict REVISE")
    found.saw(
        f"{walk.drafts} of {cap} rounds begun, {len(reading.rounds)} recorded, ended {show(reading.terminal_state)}"
    )
