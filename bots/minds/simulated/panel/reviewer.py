"""Simulated reviewers of a panel, and its mechanical synthesizer: texts in, a text out.

They commit themselves by what can be counted (`standards`), then read the paper, count, and hold to what they
said. What stands in a paper is counted and quoted, never obeyed. The same arguments give the same text in any process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from moot.bots.minds.simulated.panel import plan
from moot.bots.minds.simulated.panel.review import review as measured_review
from moot.protocols.kernel.figures import NEWEST
from moot.protocols.panel.contract import Contract, ContractError, contract_from
from moot.protocols.panel.synthesis import (
    NONE_FIRED,
    Majority,
    OnNoneFired,
    Scores,
    SynthesisAborted,
    matrix_of,
    synthesize,
)
from moot.protocols.panel.synthesis_text import SynthesisText


def commit(
    role: str,
    contract: str | Mapping[str, Any],
    title: str,
    field: str,
    word_count: int,
    gaps: Sequence[str] = (),
    seed: int = 0,
    version: int = NEWEST,
) -> str:
    """Write Phase 1 of a reviewer: all that it is given of the paper are title, field and length.

    Args:
        role: Who reviews; a role without an emphasis of its own looks at everything alike.
        contract: As JSON, in text or read.
        title: Of the paper, as any text.
        field: The paper's field, as any text.
        word_count: Of the paper; longer ones owe more sources.
        gaps: What the lint of a first attempt found; they are told and change no trigger.
        seed: Draws words and bounds.
        version: The log's rules version.

    Raises:
        ContractError: The contract is none.
    """
    return plan.commitment(role, _contract(contract), title, field, word_count, gaps, seed, version)


def review(
    role: str, contract: str | Mapping[str, Any], phase1_output: str, paper_text: str, seed: int = 0
) -> str:
    """Write Phase 2 of a reviewer, by the triggers that stand in its Phase 1.

    Args:
        role: Who reviews.
        contract: As JSON, in text or read.
        phase1_output: What `commit` returned, without delimiters around it. A trigger in other words than those of
            `commit` cannot be measured and does not fire; the body says so.
        paper_text: Any text.
        seed: Draws words, and now and then a dissent.

    Raises:
        ContractError: The contract is none.
        ValueError: Phase 1 does not pass its lint.
        SynthesisAborted: A condition's expression is unrecognised.
    """
    return measured_review(role, _contract(contract), phase1_output, paper_text, seed)


def synthesize_text(
    contract: str | Mapping[str, Any],
    scores: Mapping[str, Scores],
    majority: Majority = "spec",
    on_none_fired: OnNoneFired = "accept",
) -> str:
    """Write the synthesis: the count of each condition, then the pinned lines.

    Args:
        contract: As JSON, in text or read.
        scores: By role, then by dimension.
        majority: As in `synthesize` (R-P1).
        on_none_fired: As in `synthesize` (R-P2).

    Raises:
        ContractError: The contract is none.
        SynthesisAborted: The panel is not whole, or nothing fired and that aborts.
    """
    one = _contract(contract)
    found = synthesize(one, matrix_of(one, scores), majority=majority, on_none_fired=on_none_fired)
    if found.editorial_decision is None:
        raise SynthesisAborted(NONE_FIRED, "and the run aborts on that")
    counted = [f"- {condition.condition_id}, {condition.arithmetic}" for condition in found.conditions]
    lines = SynthesisText(found.fired_conditions, found.editorial_decision).lines()
    return "\n".join(["# Synthesis", "", *counted, *found.tags, "", *lines]) + "\n"


def _contract(json_or_data: str | Mapping[str, Any]) -> Contract:
    if not isinstance(json_or_data, str):
        return contract_from(json_or_data)
    try:
        return contract_from(json.loads(json_or_data))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ContractError(f"is not JSON: {str(error).splitlines()[0]}") from None
