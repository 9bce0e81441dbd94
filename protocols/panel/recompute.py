"""The decision a second time, by other means, before it counts (issue: an independent recomputation).

Shares no code with `expression` and `synthesis`. It parses nothing: it writes down every statement that the grammar has
for the contract, beside the reviewers of whom it is true, and looks expressions up in that list. Slower, and simple
enough to be checked by eye.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from moot.protocols.kernel.errors import ProtocolError
from moot.protocols.panel.contract import Action, Contract, Score

Row = Mapping[str, Score]


class RecomputationError(ProtocolError):
    """Say why there is no decision to compare with: an expression that nothing matches, or an incomplete panel."""


class Recomputed(NamedTuple):
    """What the scores lead to.

    Attributes:
        fired: Ids of conditions.
        decision: None when nothing fired and that aborts (R-P2).
    """

    fired: frozenset[str]
    decision: Action | None


def recompute(
    contract: Contract,
    scores: Mapping[str, Row],
    *,
    majority: Literal["spec", "strict"] = "spec",
    on_none_fired: Literal["accept", "abort"] = "accept",
) -> Recomputed:
    """Compute fired conditions and decision from the reviewers' scores alone.

    Args:
        scores: By role, then by dimension; as reported, not as the synthesizer gathered them.

    Raises:
        RecomputationError: The panel is not complete, a score is missing, or an expression means nothing here.
    """
    if len(scores) != contract.panel_size:
        raise RecomputationError(f"{len(scores)} reviewers for a panel of {contract.panel_size}")
    wanted = {one.id for one in contract.acceptance_dimensions}
    for role, row in scores.items():
        if set(row) != wanted or not set(row.values()) <= {"block", "warn", "pass"}:
            raise RecomputationError(f"{role} has not scored exactly the dimensions of the contract")
    true_for = _statements(contract, scores)
    fired = set()
    for condition in contract.failure_conditions:
        agreeing = set(scores)
        for statement in condition.expression.split(" AND "):
            if statement not in true_for:
                raise RecomputationError(f"{condition.condition_id} means nothing: {statement[:80]!a}")
            agreeing &= true_for[statement]
        if _is_enough(condition.cross_reviewer_quantifier, len(agreeing), len(scores), majority):
            fired.add(condition.condition_id)
    order = sorted(enumerate(contract.failure_conditions), key=lambda pair: (-pair[1].severity, pair[0]))
    for _, condition in order:
        if condition.condition_id in fired:
            return Recomputed(frozenset(fired), condition.action)
    return Recomputed(frozenset(), "editorial_decision=accept" if on_none_fired == "accept" else None)


def disagreement(recomputed: Recomputed, fired: Iterable[str], decision: Action | None) -> str | None:
    """Say in one line how a synthesis differs from the recomputation; None when it does not."""
    declared = set(fired)
    if declared != recomputed.fired:
        return f"fired_conditions are {_listed(recomputed.fired)}, not {_listed(declared)}"
    if decision != recomputed.decision:
        return f"the decision is {recomputed.decision or 'none'}, not {decision or 'none'}"
    return None


def _statements(contract: Contract, scores: Mapping[str, Row]) -> dict[str, set[str]]:
    """Write down every statement about this contract, and of which reviewers it is true."""
    true_for: dict[str, set[str]] = {}
    grades: tuple[Score, ...] = ("pass", "warn", "block")
    for grade in grades:
        as_bad = grades[grades.index(grade) :]
        for dimension in contract.acceptance_dimensions:
            true_for[f"{dimension.id} scores '{grade}'"] = {
                role for role, row in scores.items() if row[dimension.id] == grade
            }
        for priority in ("mandatory", "high", "normal"):
            ids = [one.id for one in contract.acceptance_dimensions if one.priority == priority]
            if not ids:
                continue
            equal = {role: [row[one] for one in ids].count(grade) for role, row in scores.items()}
            some = {role for role, count in equal.items() if count > 0}
            every = {role for role, count in equal.items() if count == len(ids)}
            two = {role for role, row in scores.items() if sum(row[one] in as_bad for one in ids) > 1}
            true_for[f"any {priority} dimension scores '{grade}'"] = some
            true_for[f"any dimension with priority={priority} scores '{grade}'"] = some
            true_for[f"any {priority}-priority dimension scores '{grade}'"] = some
            true_for[f"every {priority} dimension scores '{grade}'"] = every
            true_for[f"two or more {priority} dimensions score '{grade}' or worse"] = two
            true_for[f"two or more dimensions with priority={priority} score '{grade}' or worse"] = two
    return true_for


def _is_enough(quantifier: str | None, count: int, size: int, majority: str) -> bool:
    if quantifier == "any":
        return count != 0
    if quantifier == "all":
        return count == size
    if quantifier != "majority":
        raise RecomputationError("a condition has no quantifier")
    if size == 1:
        return False
    if size == 2:
        return count == 2
    if majority == "strict":
        return 2 * count > size
    return 2 * (count - 1) >= size


def _listed(ids: Iterable[str]) -> str:
    return f"[{', '.join(sorted(ids))}]"
