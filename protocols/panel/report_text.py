"""What a reviewer writes in Phase 2, written by the pinned grammar; `reports` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from moot.protocols.panel.contract import Contract, Score
from moot.protocols.panel.pinned import DECISION
from moot.protocols.panel.reports import BODY, CONDITIONS, DIMENSIONS, DISSENT
from moot.protocols.panel.synthesis import decide, predicates


def report_text(
    role: str,
    contract: Contract,
    scores: Mapping[str, Score],
    body: Iterable[str],
    dissent: tuple[str, str] | None = None,
) -> str:
    """Write a report whose conditions and decision follow from its scores.

    Args:
        role: Who reviews.
        contract: What it judges by.
        scores: By dimension, all of the contract's.
        body: The paragraphs of the Review Body.
        dissent: The dimension whose committed plan is set aside, and why; None: none is.

    Raises:
        SynthesisAborted: A condition's expression is unrecognised (R-P3).
    """
    fired = {name: one.holds(scores) for name, one in predicates(contract).items()}
    parts = [f"contract_role: {role}"]
    if dissent is not None:
        parts += [f"## {DISSENT}", f"dimension_id: {dissent[0]}\n{dissent[1]}"]
    parts.append(f"## {DIMENSIONS}")
    parts += [f"### {one.id}: {one.name}\nscore: {scores[one.id]}" for one in contract.acceptance_dimensions]
    parts.append(f"## {CONDITIONS}")
    parts += [f"### {name}\nfired: {str(is_fired).lower()}" for name, is_fired in fired.items()]
    parts += [f"## {BODY}", *body]
    parts += [f"## {DECISION}", decide(contract, [name for name, is_fired in fired.items() if is_fired])]
    return "\n\n".join(parts) + "\n"
