"""The rows of the matrix on rounds and verdicts, as data: T01 to T06, T10."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.cases.arena.matrix.case import AGAIN, APPROVED, ONCE, SEEDED, TWICE, Run, Scenario, fixture, review
from moot.cases.arena.matrix.criteria import (
    Criterion,
    codes_are,
    critique_is_applied,
    ends_in,
    last_line_decides,
    leaves_reviewing_for,
    notice_is_given,
    parsed_as,
    prose_follows,
    rounds_say,
    stops_at,
    takes,
    times,
)
from moot.cases.arena.matrix.evidence import ALL_HOOKS, hooks_are

MISSING: Final = "PARSER_ERROR_MISSING_VERDICT"
MULTIPLE: Final = "PARSER_WARNING_MULTIPLE_VERDICTS"


def _t03(cap: int) -> Run:
    return Run(
        name=f"max_rounds {cap}",
        reviews=("revise",),
        config={"max_rounds": cap},
        path=" ".join([SEEDED, *[AGAIN] * (cap - 1), "REVISING TERMINATED_MAX_ROUNDS"]),
        criteria=(
            Criterion(
                "final state is TERMINATED_MAX_ROUNDS", "4", ends_in("TERMINATED_MAX_ROUNDS", "MAX_ROUNDS")
            ),
            Criterion("round_index == max_rounds, no extra round is executed", "3, 4", stops_at(cap)),
            Criterion("the Finalizer receives the unresolved-issues notice", "4", notice_is_given),
            Criterion(
                "best effort and drift check follow the cap",
                "R-A2",
                hooks_are(before=["SUCCESS"], during=["SUCCESS"] * cap, after=["SUCCESS"]),
            ),
        ),
    )


def _t10(case: Mapping[str, str]) -> Run:
    verdict = case["verdict"]
    is_approved = verdict == "APPROVED"
    return Run(
        name=case["name"],
        script={"reviewer": [case["text"], review("approved")]},
        path=ONCE if is_approved else TWICE,
        criteria=(
            Criterion(
                f"the verdict is canonical {verdict}",
                "4",
                parsed_as(*([verdict] if is_approved else [verdict, "APPROVED"])),
            ),
            Criterion("no ambiguous parse", "4", codes_are(*[None] * (1 if is_approved else 2))),
            Criterion(
                "it decides the next state",
                "3",
                leaves_reviewing_for(*(["FINALIZING"] if is_approved else ["REVISING", "FINALIZING"])),
            ),
        ),
    )


LOOP: Final = (
    Scenario(
        "T01",
        "Happy path approve in round 1",
        (
            Run(
                name="approved at once",
                reviews=("approved",),
                path=ONCE,
                criteria=(
                    APPROVED,
                    Criterion(
                        "one RoundRecord: round_index 1, verdict APPROVED", "3, 4", rounds_say("APPROVED")
                    ),
                    Criterion("hooks exist for before, during and after", "3, 4", ALL_HOOKS),
                ),
            ),
        ),
    ),
    Scenario(
        "T02",
        "Revise then approve in rounds 2-3",
        tuple(
            Run(
                name=f"approved in round {n + 1}",
                reviews=reviews,
                path=" ".join([SEEDED, *[AGAIN] * n, "FINALIZING TERMINATED_APPROVED"]),
                criteria=(
                    Criterion(
                        "REVISE comes first, the final round is APPROVED",
                        "4",
                        rounds_say(*["REVISE"] * n, "APPROVED"),
                    ),
                    Criterion(
                        "REVISING → DRAFTING before finalization",
                        "4",
                        takes("REVISING", "DRAFTING", ahead_of="FINALIZING"),
                    ),
                    Criterion("prior critique applied", "3", critique_is_applied),
                    APPROVED,
                ),
            )
            for n, reviews in (
                (1, ("revise", "approved_after_revision")),
                (2, ("revise", "revise_again", "approved_after_revision")),
            )
        ),
    ),
    Scenario("T03", "Max-round termination at cap", (_t03(5), _t03(3), _t03(1))),
    Scenario(
        "T04",
        "Missing verdict response",
        (
            Run(
                name="no verdict twice",
                reviews=("no_verdict", "no_verdict_again"),
                path=f"{SEEDED} TERMINATED_ERROR",
                criteria=(
                    Criterion(
                        "exactly one reviewer retry occurs, in the same state",
                        "4, R-A1",
                        times("REVIEWER_RETRIED", 1),
                    ),
                    Criterion(
                        "the Reviewer is invoked twice", "9.1", times("REVIEWER_INVOKED", 2, round_index=1)
                    ),
                    Criterion(
                        "final state is TERMINATED_ERROR, the reason says why",
                        "4",
                        ends_in("TERMINATED_ERROR", MISSING),
                    ),
                    Criterion("both reviews were parsed in vain", "7.3", codes_are(MISSING, MISSING)),
                    Criterion("the round has no RoundRecord", "R-A8", rounds_say()),
                ),
            ),
            Run(
                name="a verdict at the retry",
                reviews=("no_verdict", "approved"),
                path=ONCE,
                criteria=(
                    Criterion("exactly one reviewer retry occurs", "9.1", times("REVIEWER_RETRIED", 1)),
                    Criterion("the retry's verdict counts", "9.1", rounds_say("APPROVED")),
                    Criterion(
                        "every review pass asks the notebook",
                        "8.2",
                        hooks_are(before=["SUCCESS"], during=["SUCCESS", "SUCCESS"], after=["SUCCESS"]),
                    ),
                ),
            ),
        ),
    ),
    Scenario(
        "T05",
        "Multiple verdict lines",
        (
            Run(
                name="the last one is APPROVED",
                reviews=("two_verdicts_last_approved",),
                path=ONCE,
                criteria=(
                    Criterion(f"{MULTIPLE} is emitted", "4", codes_are(MULTIPLE)),
                    Criterion("the last verdict line is selected", "3", last_line_decides),
                    Criterion("it determines the next state", "4", leaves_reviewing_for("FINALIZING")),
                ),
            ),
            Run(
                name="the last one is REVISE",
                reviews=("two_verdicts_last_revise", "approved"),
                path=TWICE,
                criteria=(
                    Criterion(f"{MULTIPLE} is emitted", "4", codes_are(MULTIPLE, None)),
                    Criterion("the last verdict line is selected", "3", last_line_decides),
                    Criterion(
                        "it determines the next state", "4", leaves_reviewing_for("REVISING", "FINALIZING")
                    ),
                ),
            ),
        ),
    ),
    Scenario(
        "T06",
        "Non-terminal prose after verdict",
        (
            Run(
                name="approved, then prose",
                reviews=("approved_then_prose",),
                path=ONCE,
                criteria=(
                    Criterion("the verdict is valid despite trailing prose", "4", parsed_as("APPROVED")),
                    Criterion("prose does follow", "3", prose_follows),
                    Criterion("no false parser error is emitted", "4", codes_are(None)),
                ),
            ),
            Run(
                name="a revision, then prose",
                reviews=("revise_then_prose", "approved"),
                path=TWICE,
                criteria=(
                    Criterion(
                        "the verdict is valid despite trailing prose", "4", parsed_as("REVISE", "APPROVED")
                    ),
                    Criterion("prose does follow", "3", prose_follows),
                    Criterion("no false parser error is emitted", "4", codes_are(None, None)),
                ),
            ),
        ),
    ),
    Scenario(
        "T10", "Parser robustness casing/whitespace", tuple(map(_t10, fixture("reviewer_outputs/casings")))
    ),
)
