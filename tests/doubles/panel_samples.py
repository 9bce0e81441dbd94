"""What reviewers and a synthesizer write, well-formed, with any part of it to be changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from moot.config.contracts import load_contract
from moot.protocols.panel.contract import ROLES, Contract, Score
from moot.protocols.panel.seating import Source
from moot.protocols.panel.synthesis import decide, matrix_of, predicates, synthesize
from moot.protocols.panel.synthesis_text import SynthesisText

FULL = load_contract("full")
FOCUS = load_contract("methodology_focus")
ALL_PASS: dict[str, Score] = {one.id: "pass" for one in FULL.acceptance_dimensions}
WARNS: dict[str, Score] = {**ALL_PASS, "D1": "warn", "D2": "warn"}
"""Fires F2 of the full contract."""

LOOKED_FOR = {
    "D1": ("controls and sample sizes", "no control group at all", "samples below thirty"),
    "D2": ("facts of the field", "a false central claim", "outdated citations"),
    "D3": ("the thread of the argument", "the conclusion contradicts its evidence", "gaps between steps"),
    "D4": ("use to neighbours", "harmful to neighbouring fields", "narrow framing"),
    "D5": ("clear writing", "unreadable chapters", "typographical errors"),
}
"""What is looked for, what blocks and what warns, by dimension."""


def phase1(contract: Contract = FULL, **instead: str) -> str:
    """Write a Phase 1 output.

    Args:
        instead: `paraphrase`, `plan` or `end` in other words; a dimension's id for its subsection.
    """
    paraphrase = "\n\n".join(
        f"{one.id} {one.name} asks me to judge {LOOKED_FOR[one.id][0]}."
        for one in contract.acceptance_dimensions
    )
    plan = "\n\n".join(
        instead.get(one.id, plan_of(one.id, one.name)) for one in contract.acceptance_dimensions
    )
    return (
        f"## Contract Paraphrase\n\n{instead.get('paraphrase', paraphrase)}\n\n"
        f"## Scoring Plan\n\n{instead.get('plan', plan)}\n\n"
        f"{instead.get('end', '[CONTRACT-ACKNOWLEDGED]')}\n"
    )


def plan_of(dimension: str, name: str) -> str:
    """Write the subsection of a scoring plan."""
    looked_for, block, warn = LOOKED_FOR[dimension]
    return (
        f"### {dimension}: {name}\ndimension_id: {dimension}\nwhat_to_look_for: {looked_for}\n"
        f"what_triggers_block: {block}\nwhat_triggers_warn: {warn}"
    )


BODY = (
    "The control group is small and samples below thirty are common. Citations are outdated, steps have gaps."
)


def report(
    role: str = "eic",
    scores: Mapping[str, Score] | None = None,
    *,
    contract: Contract = FULL,
    fired: Iterable[str] | None = None,
    decision: str | None = None,
    dissent: str | None = None,
    body: str = BODY,
) -> str:
    """Write a Phase 2 report; flags and decision follow from the scores unless they are given."""
    scores = {**{one.id: "pass" for one in contract.acceptance_dimensions}, **(scores or {})}
    if fired is None:
        fired = [name for name, one in predicates(contract).items() if one.holds(scores)]
    flags = set(fired)
    if decision is None:
        decision = decide(contract, flags)
    parts = [f"contract_role: {role}"]
    if dissent is not None:
        parts += ["## Scoring Plan Dissent", dissent]
    parts.append("## Dimension Scores")
    parts += [f"### {one.id}: {one.name}\nscore: {scores[one.id]}" for one in contract.acceptance_dimensions]
    parts.append("## Failure Condition Checks")
    parts += [
        f"### {one.condition_id}\nfired: {str(one.condition_id in flags).lower()}"
        for one in contract.failure_conditions
    ]
    parts += ["## Review Body", f"As {role} I say: {body}", "## Editorial Decision", decision]
    return "\n\n".join(parts) + "\n"


def panel(
    scores: Mapping[str, Mapping[str, Score]] | None = None, contract: Contract = FULL
) -> dict[str, str]:
    """Write the reports of a whole panel by role; those without scores pass everything."""
    return {role: report(role, (scores or {}).get(role), contract=contract) for role in ROLES[contract.mode]}


def synthesis(
    scores: Mapping[str, Mapping[str, Score]] | None = None, contract: Contract = FULL, **options: Any
) -> str:
    """Write the synthesis that follows from a panel's scores."""
    passes: dict[str, Score] = {one.id: "pass" for one in contract.acceptance_dimensions}
    rows = {role: {**passes, **(scores or {}).get(role, {})} for role in ROLES[contract.mode]}
    found = synthesize(contract, matrix_of(contract, rows), **options)
    assert found.editorial_decision is not None
    lines = SynthesisText(found.fired_conditions, found.editorial_decision).lines()
    return "# Synthesis\n\n" + "\n".join(lines) + "\n"


def sources(texts: Mapping[str, str] | Sequence[str]) -> list[Source]:
    """Name texts as files."""
    named = texts if isinstance(texts, Mapping) else {f"r{n}": text for n, text in enumerate(texts)}
    return [Source(f"{name}.md", text) for name, text in named.items()]


def write_panel(folder: Path, texts: Mapping[str, str], verdict: str | None = None) -> list[str]:
    """Write reports and a synthesis as files; return the options that name them."""
    options: list[str] = []
    for name, text in texts.items():
        path = folder / f"{name}.md"
        path.write_text(text, encoding="utf-8")
        options += ["--report", str(path)]
    if verdict is not None:
        path = folder / "synthesis.md"
        path.write_text(verdict, encoding="utf-8")
        options += ["--synthesis", str(path)]
    return options
