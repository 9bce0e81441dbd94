"""Whether a trial that is a case of Moot's went as its protocol goes, and what was said in it leads to its verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.protocols.arbiter.seats import SYNTHESIZER
from moot.protocols.arena.conformance.parser import verdict_of
from moot.protocols.arena.seats import ARENA, FINALIZER, PLANNER, REVIEWER
from moot.protocols.panel.contract import ROLES, ContractError, contract_from
from moot.protocols.panel.seating import Source
from moot.protocols.panel.verify import verify

Told = Iterator[tuple[str, str]]
Trial = Mapping[str, Any]


class Unlike(Exception):
    """What was said leads to no verdict, or not to this one; its text says why."""


class Course(NamedTuple):
    """How a protocol of Moot's goes, as far as its turns show.

    Attributes:
        follows: Who may speak after whom, "" being nobody; a reviewer of a panel walks by itself.
        last: Who speaks last.
        decided: Says of the turns of a trial that succeeded which decision and which rationale they lead to.
        is_side_by_side: Seats need not wait for each other.
    """

    follows: Callable[[str, Trial], frozenset[str]]
    last: str
    decided: Callable[[Sequence[Trial], ResolvedConfiguration], tuple[str, str] | None]
    is_side_by_side: bool = False


_DEBATE: Final[Mapping[str, frozenset[str]]] = {
    "": frozenset({"advocate"}),
    "advocate": frozenset({"critic", "judge"}),
    "critic": frozenset({"advocate", "judge"}),
    "judge": frozenset({"critic"}),
}
"""A Judge who adds a round is followed by the Critic."""


def _in_arena(before: str, _trial: Trial) -> frozenset[str]:
    """Draft, review, and so on; a Reviewer whose verdict cannot be read is asked once more."""
    if before == FINALIZER:
        return frozenset()
    if before == REVIEWER:
        return ARENA
    return frozenset({REVIEWER if before else PLANNER})


def _on_panel(before: str, trial: Trial) -> frozenset[str]:
    seats = frozenset(trial["role_assignments"])
    return frozenset({SYNTHESIZER}) if before == SYNTHESIZER else seats


def _judged(_said: Sequence[Trial], _config: ResolvedConfiguration) -> None:
    """Leave a judgment to the Judge: it is the last turn."""


def _reviewed(said: Sequence[Trial], config: ResolvedConfiguration) -> tuple[str, str]:
    reviews = [turn["content"] for turn in said if turn["role"] == REVIEWER]
    rounds = sum(turn["role"] == PLANNER for turn in said)
    verdict = verdict_of(reviews[-1]).verdict if reviews else None
    if verdict is None:
        raise Unlike("ends without a verdict of the Reviewer")
    if any(verdict_of(one).verdict == "APPROVED" for one in reviews[:-1]):
        raise Unlike("goes on after an approval")
    most = config.protocol.arena.max_rounds if config.protocol.arena is not None else 0
    if rounds > most or (verdict == "REVISE" and rounds < most):
        raise Unlike(f"ends with {verdict} after {rounds} rounds, max_rounds is {most}")
    return ("approved" if verdict == "APPROVED" else "unresolved"), said[-1]["content"]


def _synthesized(said: Sequence[Trial], config: ResolvedConfiguration) -> tuple[str, str]:
    panel = config.protocol.panel
    if panel is None:
        raise Unlike("is a panel's, and the run holds none")
    try:
        contract = contract_from(panel.contract)
    except ContractError as error:
        raise Unlike(f"goes by a sprint contract that is none: {error}") from None
    if panel.reviewers != ROLES.get(contract.mode):
        raise Unlike(f"has reviewers that are not those of mode {contract.mode}")
    last = {turn["role"]: turn["content"] for turn in said}
    reports = [Source(role, last[role]) for role in panel.reviewers if role in last]
    synthesis = Source(SYNTHESIZER, last.get(SYNTHESIZER))
    found = verify(contract, panel.reviewers, reports, synthesis)
    if found.exit_code or "recomputed" not in found.detail:
        raise Unlike(f"does not lead to a decision: {next(iter(found.lines), '')}")
    return found.detail["recomputed"]["editorial_decision"], last[SYNTHESIZER]


COURSES: Final[Mapping[str, Course]] = {
    "moot:debate": Course(lambda before, _trial: _DEBATE[before], "judge", _judged),
    "moot:arena": Course(_in_arena, FINALIZER, _reviewed),
    "moot:panel": Course(_on_panel, SYNTHESIZER, _synthesized, is_side_by_side=True),
}


def of_meeting(trial: Trial, config: ResolvedConfiguration) -> Told:
    """Yield what does not fit: turns that follow no other, calls made for none, a verdict that nothing leads to."""
    course, said = COURSES[trial["protocol"]], trial["transcript"]
    before = ""
    for n, turn in enumerate(said):
        # Another protocol's seat is found by the plan.
        if turn["turn"] != n or turn["role"] not in course.follows(before, trial):
            yield f"transcript[{n}]", "is out of its turn"
            return
        before = turn["role"]
    yield from _of_calls(trial, course, course.follows(before, trial))
    if trial["status"] != "success":
        return
    if before != course.last:
        yield "transcript", f"ends without the {course.last}"
        return
    yield from _of_verdict(trial, course, config)


def _of_calls(trial: Trial, course: Course, next_ones: frozenset[str]) -> Told:
    calls, said = trial["calls"], trial["transcript"]
    at: dict[str, int] = {}
    for n, call in enumerate(calls):
        role, turn = call["role"], call["turn"]
        speaks = {said[turn]["role"]} if turn < len(said) else next_ones
        whose = role if course.is_side_by_side else ""
        if call["call_index"] != n or not at.get(whose, 0) <= turn <= len(said) or role not in speaks:
            yield f"calls[{n}]", "is out of its turn"
            return
        at[whose] = turn
        if call["model_requested"] != trial["role_assignments"].get(role, {}).get("model_slug"):
            yield f"calls[{n}].model_requested", "is not the model of its role"
        if call["error_message"] is not None and (n != len(calls) - 1 or trial["status"] == "success"):
            yield f"calls[{n}].error_message", "is there, though the trial went on"
    if unasked := {*range(len(said))} - {call["turn"] for call in calls}:
        yield f"transcript[{min(unasked)}]", "was asked of nobody"
    answered = calls[-1]["model_actual"] if calls and trial["status"] == "success" else None
    if trial["actual_model"] != answered:
        yield "actual_model", f"is {trial['actual_model']}, the last turn was answered by {answered}"


def _of_verdict(trial: Trial, course: Course, config: ResolvedConfiguration) -> Told:
    text = trial.get("raw_assistant_text", "")
    try:
        decided = course.decided(trial["transcript"], config)
    except Unlike as why:
        yield "transcript", str(why)
        return
    if decided is None:
        if trial["transcript"][-1]["content"] != text:
            yield "raw_assistant_text", "is not what the last turn says"
        return
    decision, rationale = decided
    contract = config.protocol.decision_contract
    known = contract.schema_.get("properties", {}) if contract is not None else {}
    expected = {"decision": decision, "rationale": rationale}
    if text != json.dumps(
        {name: value for name, value in expected.items() if name in known}, ensure_ascii=False
    ):
        yield "raw_assistant_text", f"is not what its turns lead to, {decision} with the {course.last}'s text"
