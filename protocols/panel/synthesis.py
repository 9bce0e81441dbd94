"""The synthesizer: scores in, an editorial decision out, in three mechanical steps (spec 8, R-P1 to R-P3).

What the spec forbids cannot be expressed here:

* No other rule of aggregation: a condition is counted over reviewers by its quantifier and chosen by its severity;
  nothing else of it is read.
* No average and no vote within a dimension: a predicate sees the scores of one reviewer and returns true or false;
  scores of two reviewers never meet.
* No softening: the decision is the action of the chosen condition, copied; no text of a reviewer comes here.
* No substitute scores: a panel that is not complete, and a matrix with a hole, raise; nothing has a default.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from moot.protocols.kernel.errors import ProtocolError
from moot.protocols.panel import audit
from moot.protocols.panel.contract import (
    ACCEPT,
    SCORES,
    Action,
    Contract,
    FailureCondition,
    Quantifier,
    Score,
)
from moot.protocols.panel.expression import Predicate, Unrecognised, parse

Majority = Literal["spec", "strict"]
OnNoneFired = Literal["accept", "abort"]
Scores = Mapping[str, Score]
"""The scores of one reviewer, by dimension."""
Matrix = Mapping[str, Mapping[str, Score]]
"""Scores by dimension, then by role."""

NONE_FIRED: Final = "[NO-CONDITION-FIRED]"

LONGEST: Final = 200
"""In a tag an expression is cut to so many characters."""


class SynthesisAborted(ProtocolError):
    """End a synthesis without a decision.

    Attributes:
        tag: The line for the audit log.
        why: One sentence without a dot.
    """

    def __init__(self, tag: str, why: str) -> None:
        """Keep tag and reason."""
        super().__init__(f"{tag} {why}")
        self.tag = tag
        self.why = why


class PanelShrunk(SynthesisAborted):
    """Refuse fewer reviewers than the contract binds (spec 6)."""


class MatrixFaulty(SynthesisAborted):
    """Refuse scores that are not one for each reviewer and dimension."""


class ConditionUnreadable(SynthesisAborted):
    """Refuse a condition whose expression is unrecognised or orphaned, or that has no quantifier (R-P3)."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A condition, counted over the panel.

    Attributes:
        holds_for: The reviewers of whose scores the expression is true, as the panel sits.
        needed: How many it takes.
        arithmetic: The count and the threshold, spelled out.
    """

    condition_id: str
    fired: bool
    holds_for: tuple[str, ...]
    needed: int
    arithmetic: str


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What the three steps lead to.

    Attributes:
        matrix: Scores by dimension in the contract's order, then by role.
        conditions: In the contract's order.
        fired_conditions: Ids, in the contract's order.
        editorial_decision: An action of the contract; None when nothing fired and that aborts (R-P2).
        majority: How majorities were counted, for the audit log (R-P1).
        tags: For the audit log, shown wherever the decision is.
    """

    matrix: Matrix
    conditions: tuple[Evaluated, ...]
    fired_conditions: tuple[str, ...]
    editorial_decision: Action | None
    majority: Majority
    tags: tuple[str, ...]


def matrix_of(contract: Contract, scores: Mapping[str, Scores]) -> dict[str, dict[str, Score]]:
    """Gather the reviewers' scores by dimension (step 1).

    Args:
        scores: By role, then by dimension.

    Raises:
        MatrixFaulty: A reviewer has not scored exactly the contract's dimensions.
    """
    dimensions = [one.id for one in contract.acceptance_dimensions]
    for role, row in scores.items():
        odd = sorted(set(dimensions).symmetric_difference(row))
        if odd:
            raise _faulty(f"{role} has {'no' if odd[0] in dimensions else 'a'} score for {odd[0]}")
    return {one: {role: row[one] for role, row in scores.items()} for one in dimensions}


def synthesize(
    contract: Contract,
    matrix: Matrix,
    *,
    majority: Majority = "spec",
    on_none_fired: OnNoneFired = "accept",
) -> Synthesis:
    """Decide by a contract (spec 8).

    Args:
        matrix: By dimension, then by role, as `matrix_of` makes it.
        majority: R-P1: ⌈N/2⌉ + 1 of N, or ⌊N/2⌋ + 1.
        on_none_fired: R-P2: decide by the action that accepts, or not at all.

    Raises:
        PanelShrunk: There are fewer reviewers than `panel_size`.
        MatrixFaulty: There are more, or a score is missing, unknown or one too many.
        ConditionUnreadable: A condition is not in the grammar or speaks of what the contract lacks (R-P3).
    """
    roles = _roles(contract, matrix)
    rows: dict[str, dict[str, Score]] = {
        role: {dimension: column[role] for dimension, column in matrix.items()} for role in roles
    }
    conditions = tuple([_evaluated(contract, one, rows, majority) for one in contract.failure_conditions])
    fired = tuple([one.condition_id for one in conditions if one.fired])
    may_decide = bool(fired) or on_none_fired == "accept"
    return Synthesis(
        matrix={
            one.id: {role: matrix[one.id][role] for role in roles} for one in contract.acceptance_dimensions
        },
        conditions=conditions,
        fired_conditions=fired,
        editorial_decision=decide(contract, fired) if may_decide else None,
        majority=majority,
        tags=() if fired else (NONE_FIRED,),
    )


def decide(contract: Contract, fired: Collection[str]) -> Action:
    """Return the decision that fired conditions lead to (step 3, R-P2); a reviewer's own likewise (R-P5).

    The highest severity wins, among equals the earliest in the contract; without any, the first action that accepts.

    Raises:
        SynthesisAborted: None fired and no action accepts.
    """
    strongest: FailureCondition | None = None
    for one in contract.failure_conditions:
        is_fired = one.condition_id in fired
        if is_fired and (strongest is None or one.severity > strongest.severity):
            strongest = one
    if strongest is not None:
        return strongest.action
    if all(one.action != ACCEPT for one in contract.failure_conditions):
        raise SynthesisAborted(NONE_FIRED, f"and no condition of {contract.contract_id} accepts")
    return ACCEPT


def predicates(contract: Contract) -> dict[str, Predicate]:
    """Parse the expression of every condition, by id.

    Raises:
        ConditionUnreadable: One is unrecognised or orphaned (R-P3).
    """
    return {one.condition_id: _predicate(contract, one) for one in contract.failure_conditions}


def needed_for(quantifier: Quantifier, panel_size: int, majority: Majority = "spec") -> int:
    """Return of how many reviewers a predicate must hold (R-P1).

    A majority of two is both; of one it is two, which never is: the least majority is two.
    """
    if quantifier == "any":
        return 1
    if quantifier == "all":
        return panel_size
    half = panel_size // 2 if majority == "strict" else -(-panel_size // 2)
    return max(2, half + 1)


def _roles(contract: Contract, matrix: Matrix) -> tuple[str, ...]:
    """Return who sits on the panel, after a check that the matrix is whole."""
    dimensions = [one.id for one in contract.acceptance_dimensions]
    for one in matrix:
        if one not in dimensions:
            raise _faulty(f"{one} is no dimension of {contract.contract_id}")
    for one in dimensions:
        if one not in matrix:
            raise _faulty(f"nobody scored {one}")
    roles = tuple(matrix[dimensions[0]])
    for one in dimensions:
        odd = sorted(set(roles).symmetric_difference(matrix[one]))
        if odd:
            raise _faulty(f"{odd[0]} has not scored every dimension: look at {one}")
        for role, score in matrix[one].items():
            if score not in SCORES:
                raise _faulty(f"{role} scores {one} {score!r}, which is no score")
    if len(roles) < contract.panel_size:
        tag = audit.panel_shrunk(len(roles), contract.panel_size)
        raise PanelShrunk(tag, "the round is aborted")
    if len(roles) > contract.panel_size:
        raise MatrixFaulty(
            "[PANEL-CARDINALITY]", f"{len(roles)} reviewers sit on a panel of {contract.panel_size}"
        )
    return roles


def _faulty(why: str) -> MatrixFaulty:
    return MatrixFaulty("[REPORT-PARSE]", why)


def _predicate(contract: Contract, condition: FailureCondition) -> Predicate:
    try:
        return parse(condition.expression, contract)
    except Unrecognised as exc:
        raise _unreadable(condition, exc.why) from exc


def _unreadable(condition: FailureCondition, why: str) -> ConditionUnreadable:
    return ConditionUnreadable(
        audit.expression_unrecognised(condition.condition_id, condition.expression), why
    )


def _evaluated(
    contract: Contract, condition: FailureCondition, rows: Mapping[str, Scores], majority: Majority
) -> Evaluated:
    """Count a condition over the panel (step 2)."""
    quantifier, size = condition.cross_reviewer_quantifier, contract.panel_size
    if quantifier is None:
        raise _unreadable(condition, "it has no cross_reviewer_quantifier")
    predicate = _predicate(contract, condition)
    holds_for = tuple([role for role, row in rows.items() if predicate.holds(row)])
    needed = needed_for(quantifier, size, majority)
    is_fired = len(holds_for) >= needed
    named = f" ({', '.join(holds_for)})" if holds_for else ""
    arithmetic = (
        f"{quantifier}: holds for {len(holds_for)} of {size}{named}, {_threshold(quantifier, size, majority)}: "
        f"{'fires' if is_fired else 'does not fire'}"
    )
    return Evaluated(condition.condition_id, is_fired, holds_for, needed, arithmetic)


def _threshold(quantifier: Quantifier, size: int, majority: Majority) -> str:
    needed = needed_for(quantifier, size, majority)
    if quantifier != "majority":
        return f"{needed} needed"
    if size == 1:
        return "a majority of one never fires"
    if size == 2:
        return "both needed"
    half = f"⌊{size}/2⌋" if majority == "strict" else f"⌈{size}/2⌉"
    return f"{half} + 1 = {needed} needed"
