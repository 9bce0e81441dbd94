"""The rows of the matrix on notebook, session, safety and relevance, as data: T07 to T09, T11, T12."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.cases.arena.matrix.case import APPROVED, ONCE, SEEDED, TWICE, Run, Scenario, fixture
from moot.cases.arena.matrix.criteria import Criterion, ends_in, reason_has, rounds_say, times
from moot.cases.arena.matrix.evidence import (
    contradiction_is_listed,
    evidence_is_named,
    hooks_are,
    keeps,
    lacks,
    leaks_nothing,
    nothing_is_reviewed,
    rationale_is_given,
    removal_is_told,
    reviewer_is_read_only,
    round_2_knows_round_1,
    secrets_are_marked,
    session_goes_on,
    violation_is_told,
)


def _t08(phase: str, is_required: bool) -> Run:
    upto = {
        "before": "INIT SEEDING",
        "during": SEEDED,
        "after": f"{SEEDED} FINALIZING",
    }[phase]
    phases = ("before", "during", "after")
    ran = phases[: phases.index(phase)]
    criteria: tuple[Criterion, ...]
    if is_required:
        statuses = {name: ["SUCCESS"] for name in ran} | {phase: ["FAILED"]}
        criteria = (
            Criterion(
                "the run terminates with an explicit notebook failure",
                "4",
                ends_in("TERMINATED_ERROR", "NOTEBOOK_UNAVAILABLE"),
            ),
            Criterion("the reason names the phase", "R-A3", reason_has(f" {phase} the loop ")),
            Criterion("the failed hook is recorded, none follows", "9.4", hooks_are(**statuses)),
        )
    else:
        statuses = {name: ["SKIPPED_DEGRADED" if name == phase else "SUCCESS"] for name in phases}
        criteria = (
            APPROVED,
            Criterion("SKIPPED_DEGRADED is logged, the other hooks run", "4", hooks_are(**statuses)),
        )
    return Run(
        name=f"{phase}, {'required' if is_required else 'optional'}",
        reviews=("approved",),
        script={"notebook": {phase: "timeout"}},
        task={"notebook_required": is_required},
        path=f"{upto} TERMINATED_ERROR" if is_required else ONCE,
        criteria=criteria,
    )


def _t12() -> Run:
    mixed = fixture("mixed_inputs")
    excluded: Mapping[str, list[str]] = mixed["excluded"]
    secrets: Mapping[str, str] = mixed["secrets"]
    dirty = "\n".join(
        [*mixed["kept"], *(line for lines in excluded.values() for line in lines), *secrets.values()]
    )
    return Run(
        name="prompt, draft, review and final output from mixed inputs",
        script={"planner": [dirty], "reviewer": [f"{dirty}\nVERDICT: APPROVED\n"], "finalizer": [dirty]},
        task={"initial_prompt": dirty},
        path=ONCE,
        criteria=(
            *(
                Criterion(f"artifacts exclude {name.replace('_', ' ')}", "4", lacks(lines))
                for name, lines in excluded.items()
            ),
            Criterion("no secret, token or password is in the record", "4", leaks_nothing(secrets)),
            Criterion("what was removed is listed with why", "R-A9", removal_is_told(excluded)),
            Criterion("a mark stands where a secret was", "R-A9", secrets_are_marked(len(secrets))),
            Criterion("everything else is kept", "R-A9", keeps(mixed["kept"])),
        ),
    )


GUARDS: Final = (
    Scenario(
        "T07",
        "Notebook contradictory evidence",
        tuple(
            Run(
                name=name,
                reviews=reviews,
                script={"notebook": {"during": "contradict"}},
                path=path,
                criteria=(
                    Criterion("evidence is referenced in the review or its issues", "4", evidence_is_named),
                    Criterion("the contradiction is in issues[]", "4, R-A10", contradiction_is_listed),
                    Criterion(what, "3, R-A10", rationale_is_given(is_given)),
                    Criterion("the parsed verdict stands", "3.2", rounds_say(*said)),
                ),
            )
            for name, reviews, path, said, is_given, what in (
                (
                    "revised, then approved with a rationale",
                    ("contradicted_revise", "contradicted_approved_with_rationale"),
                    TWICE,
                    ("REVISE", "APPROVED"),
                    True,
                    "the approval gives its rationale",
                ),
                (
                    "approved with a rationale",
                    ("contradicted_approved_with_rationale",),
                    ONCE,
                    ("APPROVED",),
                    True,
                    "the approval gives its rationale",
                ),
                (
                    "approved without a rationale",
                    ("approved",),
                    ONCE,
                    ("APPROVED",),
                    False,
                    "the missing rationale is warned of",
                ),
            )
        ),
    ),
    Scenario(
        "T08",
        "Notebook timeout in before/during/after",
        tuple(
            _t08(phase, is_required)
            for phase in ("before", "during", "after")
            for is_required in (True, False)
        ),
    ),
    Scenario(
        "T09",
        "Session resume continuity across rounds",
        (
            Run(
                name="valid resume token",
                reviews=("revise", "approved_after_revision"),
                script=fixture("session_resume/valid"),
                path=TWICE,
                criteria=(
                    Criterion(
                        "round 2 references the unresolved items of round 1", "3", round_2_knows_round_1
                    ),
                    Criterion("no stateless reset: continuity across rounds", "4", session_goes_on),
                    APPROVED,
                ),
            ),
            Run(
                name="missing resume token",
                reviews=("approved",),
                script=fixture("session_resume/missing"),
                path=f"{SEEDED} TERMINATED_ERROR",
                criteria=(
                    Criterion(
                        "a missing token forces TERMINATED_ERROR",
                        "4",
                        ends_in("TERMINATED_ERROR", "SESSION_RESUME_MISSING"),
                    ),
                    Criterion("the event is recorded", "9.5", times("SESSION_RESUME_MISSING", 1)),
                    Criterion("no stateless review takes its place", "9.5", nothing_is_reviewed),
                ),
            ),
        ),
    ),
    Scenario(
        "T11",
        "Safety check reviewer read-only",
        (
            Run(
                name="the Reviewer tries to write",
                reviews=("approved",),
                script={"reviewer_writes": True},
                path=f"{SEEDED} TERMINATED_ERROR",
                criteria=(
                    Criterion(
                        "the write attempt is blocked, a safety violation is recorded", "4", violation_is_told
                    ),
                    Criterion("its output is no valid review", "3, R-A7", nothing_is_reviewed),
                    Criterion("the reason says so", "R-A7", ends_in("TERMINATED_ERROR", "SAFETY_VIOLATION")),
                    Criterion("the Reviewer runs read-only", "3.2", reviewer_is_read_only),
                ),
            ),
        ),
    ),
    Scenario("T12", "Relevance filter compliance", (_t12(),)),
)
