"""Panels: the synthesizer over five reviewers and the contract `full`; expressions are parsed each time."""

from __future__ import annotations

from itertools import product
from statistics import median
from time import perf_counter

from config.contracts import load_contract
from protocols.panel.contract import ROLES, SCORES, Contract
from protocols.panel.synthesis import Matrix, matrix_of, synthesize

PANELS = 2_000
STEPS = (1, 5, 7, 11, 13)
"""By how many rows of all possible ones each reviewer moves on from panel to panel."""


def panel_syntheses_per_s() -> float:
    """Median of 7 times so many panels."""
    contract = load_contract("full")
    panels = _panels(contract)
    return median(_syntheses(contract, panels) for _ in range(7))


def _panels(contract: Contract) -> list[Matrix]:
    roles, ids = ROLES[contract.mode], [one.id for one in contract.acceptance_dimensions]
    possible = list(product(SCORES, repeat=len(ids)))
    return [
        matrix_of(
            contract,
            {
                role: dict(zip(ids, possible[n * step % len(possible)], strict=True))
                for step, role in zip(STEPS, roles, strict=True)
            },
        )
        for n in range(PANELS)
    ]


def _syntheses(contract: Contract, panels: list[Matrix]) -> float:
    began = perf_counter()
    found = [synthesize(contract, panel) for panel in panels]
    took = perf_counter() - began
    assert len({one.editorial_decision for one in found}) > 1
    return len(panels) / took
