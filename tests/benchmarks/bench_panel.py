"""Panels: the synthesizer over five reviewers and the contract `full`, expressions parsed each time; the judge."""

from __future__ import annotations

from itertools import product
from statistics import median
from time import perf_counter

from moot.config.contracts import load_contract
from moot.protocols.panel.contract import ROLES, SCORES, Contract
from moot.protocols.panel.seating import Source
from moot.protocols.panel.synthesis import Matrix, matrix_of, synthesize
from moot.protocols.panel.verify import verify
from tests.doubles.panel_samples import FULL, WARNS, panel, sources, synthesis

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


def panel_verify_s() -> float:
    """Median of 20: a full panel judged from its texts, after start-up."""
    scores = {"eic": WARNS, "da": WARNS}
    given, verdict = sources(panel(scores)), Source("s.md", synthesis(scores))
    return median(_verified(given, verdict) for _ in range(20))


def _verified(given: list[Source], verdict: Source) -> float:
    began = perf_counter()
    assert verify(FULL, (), given, verdict).exit_code == 0
    return perf_counter() - began
