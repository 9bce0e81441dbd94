"""Whether a reviewer kept to the contract and to its own plan: the lint of Phase 2 (spec 5, R-P4, R-P5).

The reviewer has seen the work: what is found here is not retried. The one exception is a dissent about two dimensions
or more, after which that reviewer starts again from Phase 1, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moot.protocols.kernel.figures import NEWEST
from moot.protocols.panel.contract import ROLES, Contract
from moot.protocols.panel.findings import LintFinding
from moot.protocols.panel.reports import BODY, DIMENSIONS, DISSENT, Reading, read_report
from moot.protocols.panel.synthesis import decide
from moot.protocols.panel.triggers import Body, tokens

MULTI_DISSENT: Final = "multi_dissent"
CHECKS: Final = (
    MULTI_DISSENT, "role", "sections", "dimension_scores", "failure_condition_checks", "review_body", "dissent",
    "consistency", "decision",
)  # fmt: skip
"""What may fail, in the order in which it counts; `phase2_lint_failed=<check>` names all but the first."""

_TRIGGER: Final = {"block": "what_triggers_block", "warn": "what_triggers_warn"}


@dataclass(frozen=True, slots=True)
class Phase2:
    """What the lint says of a Phase 2 output.

    Attributes:
        reading: The report as far as it could be read.
        findings: What is wrong, none when the lint passes.
    """

    reading: Reading
    findings: tuple[LintFinding, ...]

    @property
    def is_clean(self) -> bool:
        """Say whether the lint passes."""
        return not self.findings

    @property
    def check(self) -> str | None:
        """Return the first check that fails, by the order of `CHECKS`, for the audit tag; None when none does."""
        return self.findings[0].check if self.findings else None

    @property
    def may_restart(self) -> bool:
        """Say whether the reviewer may start again from Phase 1: it set two dimensions or more aside.

        Whatever else is wrong with the report: it is thrown away as a whole (spec 5).
        """
        return self.check == MULTI_DISSENT


def lint_phase2(
    text: str, contract: Contract, plan: Mapping[str, Mapping[str, str]], version: int = NEWEST
) -> Phase2:
    """Judge a Phase 2 output of any shape.

    Args:
        text: What the reviewer wrote.
        contract: What it was to keep to.
        plan: The scoring plan of its own Phase 1, as `lint_phase1` read it.
        version: The rules version that the panel sits under.
    """
    reading = read_report(text, contract, version)
    findings = list(reading.faults)
    if reading.is_wrapped:
        return Phase2(reading, tuple(findings))
    findings += _role(reading, contract)
    findings += _body(reading)
    findings += _dissent(reading, contract)
    findings += _consistency(reading, plan)
    findings += _decision(reading, contract)
    return Phase2(reading, tuple(sorted(findings, key=lambda one: CHECKS.index(one.check))))


def _role(reading: Reading, contract: Contract) -> Iterator[LintFinding]:
    seats = ROLES.get(contract.mode)
    if seats and reading.role and reading.role not in seats:
        yield LintFinding("role", 0, f"{reading.role} does not sit on this panel: {', '.join(seats)} do")


def _body(reading: Reading) -> Iterator[LintFinding]:
    there = reading.sections.get(BODY, ())
    if len(there) > 1:
        yield LintFinding(
            "review_body", there[1].line, f"the section '## {BODY}' stands there {len(there)} times"
        )
    elif not there:
        yield LintFinding("review_body", 0, f"there is no section '## {BODY}'")
    elif not reading.body:
        yield LintFinding("review_body", there[0].line, f"'## {BODY}' is empty")


def _dissent(reading: Reading, contract: Contract) -> Iterator[LintFinding]:
    there: Sequence[int] = [block.line for block in reading.sections.get(DISSENT, ())]
    if not there:
        return
    if len(there) > 1:
        yield LintFinding("dissent", there[1], f"the section '## {DISSENT}' stands there {len(there)} times")
    scores = reading.sections.get(DIMENSIONS, ())
    if scores and there[0] > scores[0].line:
        yield LintFinding("dissent", there[0], f"'## {DISSENT}' stands after '## {DIMENSIONS}'")
    known = {one.id for one in contract.acceptance_dimensions}
    for name in reading.dissent:
        if name not in known:
            yield LintFinding("dissent", there[0], f"{name} is not the contract's")
    if len(reading.dissent) > 1:
        yield LintFinding(
            MULTI_DISSENT, there[0], f"it names {', '.join(reading.dissent)}: one dimension is the most"
        )


def _consistency(reading: Reading, plan: Mapping[str, Mapping[str, str]]) -> Iterator[LintFinding]:
    """Hold each block and warn to the trigger that the reviewer committed itself to (R-P4)."""
    body = Body(reading.body)
    for name, score in reading.scores.items():
        field = _TRIGGER.get(score)
        if field is None or name in reading.dissent or name not in plan:
            continue
        trigger = tokens(plan[name].get(field, ""))
        # A trigger without such a word binds to nothing (spec 5: a known limit).
        if trigger and not body.holds_one(trigger):
            named = ", ".join(sorted(trigger)[:5])
            yield LintFinding(
                "consistency",
                0,
                f"{name} scores {score}, and '## {BODY}' has no word of its {field}: {named}",
            )


def _decision(reading: Reading, contract: Contract) -> Iterator[LintFinding]:
    """Derive the decision from the conditions that the reviewer itself declares fired (R-P5)."""
    if reading.decision is None or len(reading.fired) < len(contract.failure_conditions):
        return
    derived = decide(contract, [name for name, is_fired in reading.fired.items() if is_fired])
    if derived != reading.decision:
        why = f"it states {reading.decision}, its own conditions give {derived}"
        yield LintFinding("decision", 0, why)
