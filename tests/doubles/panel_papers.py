"""Sample papers, and whole panels of simulated reviewers over them, each output judged by the lints."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from moot.bots.minds.simulated.panel.reviewer import commit, review
from moot.protocols.panel.contract import ROLES, Contract, as_json
from moot.protocols.panel.layer1 import inconsistencies
from moot.protocols.panel.lint_phase1 import lint_phase1
from moot.protocols.panel.lint_phase2 import lint_phase2
from moot.protocols.panel.reports import Report, parse_report
from moot.protocols.panel.synthesis import Synthesis, matrix_of, predicates, synthesize

FOLDER = Path(__file__).with_name("papers")
TITLE, FIELD = "A title", "a field"


class Seen(NamedTuple):
    """What one reviewer wrote, and how it is read."""

    phase1: str
    phase2: str
    report: Report


@cache
def paper(name: str) -> str:
    """Return a sample: good, middling, bad, strategy or architecture."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def without(text: str, heading: str) -> str:
    """Return a text without one of its sections of level 2."""
    before, _, after = text.partition(f"\n## {heading}\n")
    assert after, heading
    _, mark, rest = after.partition("\n## ")
    return before + mark + rest


def reviewed(role: str, contract: Contract, text: str, seed: int, words: int | None = None) -> Seen:
    """Let one reviewer go through both phases; what it writes passes both lints and holds to itself."""
    data = as_json(contract)
    phase1 = commit(role, data, TITLE, FIELD, len(text.split()) if words is None else words, (), seed)
    first = lint_phase1(phase1, contract)
    assert first.is_clean, first.findings
    phase2 = review(role, data, phase1, text, seed)
    second = lint_phase2(phase2, contract, first.plan)
    assert second.is_clean, second.findings
    report = parse_report(phase2, contract)
    assert report.role == role
    assert not list(inconsistencies(report, contract, predicates(contract)))
    assert len(report.dissent) <= 1
    return Seen(phase1, phase2, report)


def panel(contract: Contract, text: str, seed: int) -> dict[str, Seen]:
    """Let everybody who sits on such a panel review a text."""
    return {role: reviewed(role, contract, text, seed) for role in ROLES[contract.mode]}


def concluded(contract: Contract, seen: dict[str, Seen]) -> Synthesis:
    """Conclude from what a panel wrote."""
    return synthesize(contract, matrix_of(contract, {role: one.report.scores for role, one in seen.items()}))
