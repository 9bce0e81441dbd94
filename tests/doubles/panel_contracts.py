"""Contracts for tests: a small one as JSON data, changes of it, and strategies of hypothesis."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from moot.protocols.panel.contract import ACTIONS, SCORES, Contract, Score, contract_from

PRIORITIES = ("mandatory", "high", "normal")
QUANTIFIERS = ("any", "majority", "all")

SMALL: Mapping[str, Any] = {
    "contract_id": "reviewer/reviewer_methodology_focus/v1",
    "mode": "reviewer_methodology_focus",
    "stage": "a_stage",
    "baseline_version": "v3.6.2",
    "panel_size": 2,
    "acceptance_dimensions": [
        {"id": "D1", "name": "rigor", "description": "It holds.", "priority": "mandatory"},
        {"id": "D2", "name": "scope", "description": "It fits.", "priority": "high"},
        {"id": "D3", "name": "style", "description": "It reads well.", "priority": "normal"},
    ],
    "measurement_procedure": {
        "reviewer_must_output_before_paper": ["contract_paraphrase", "scoring_plan"],
        "scoring_plan_schema": {
            "required": ["dimension_id", "what_to_look_for", "what_triggers_block", "what_triggers_warn"]
        },
        "paraphrase_minimum_dimensions": "all",
    },
    "failure_conditions": [
        {
            "condition_id": "F1",
            "severity": 90,
            "expression": "any mandatory dimension scores 'block'",
            "action": "editorial_decision=reject",
            "cross_reviewer_quantifier": "any",
        },
        {
            "condition_id": "F2",
            "severity": 70,
            "expression": "any high-priority dimension scores 'block'",
            "action": "editorial_decision=major_revision",
            "cross_reviewer_quantifier": "majority",
        },
        {
            "condition_id": "F0",
            "severity": 10,
            "expression": "every mandatory dimension scores 'pass'",
            "action": "editorial_decision=accept",
            "cross_reviewer_quantifier": "all",
        },
    ],
}
LADDER = [{"round": n, "trigger": "a disagreement", "required": ["reasons"]} for n in (1, 2, 3)]
GONE = object()
"""Stands for a key that is taken out."""


def changed(*path: str | int, to: object) -> dict[str, Any]:
    """Return the small contract as data with another value at a place, or without it."""
    data: dict[str, Any] = copy.deepcopy(dict(SMALL))
    at: Any = data
    for step in path[:-1]:
        at = at[step]
    if to is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return data


def condition(name: str, severity: int, quantifier: str, expression: str, decision: str) -> dict[str, Any]:
    return {
        "condition_id": name,
        "severity": severity,
        "expression": expression,
        "action": f"editorial_decision={decision}",
        "cross_reviewer_quantifier": quantifier,
    }


def contract_of(size: int, priorities: str, *conditions: dict[str, Any]) -> Contract:
    """Make a contract for any number of reviewers: a dimension for each letter m, h or n, and an F0 unless given."""
    of = {priority[0]: priority for priority in PRIORITIES}
    last = condition("F0", 10, "all", "D1 scores 'pass'", "accept")
    given = [one for one in conditions if one["condition_id"] == "F0"]
    return contract_from(
        {
            **SMALL,
            "mode": "reviewer_guided",
            "panel_size": size,
            "acceptance_dimensions": [
                {"id": f"D{n}", "name": f"name_{n}", "description": "It is so.", "priority": of[letter]}
                for n, letter in enumerate(priorities, 1)
            ],
            "failure_conditions": [*conditions, *([] if given else [last])],
        }
    )


def rows(*scores: str) -> dict[str, dict[str, Score]]:
    """Return the scores of reviewers a, b, c, …; each text holds a letter p, w or b for D1, D2, …."""
    of: dict[str, Score] = {score[0]: score for score in SCORES}
    return {
        "abcdefghijk"[n]: {f"D{m}": of[letter] for m, letter in enumerate(text, 1)}
        for n, text in enumerate(scores)
    }


@st.composite
def atoms(draw: st.DrawFn, priorities: tuple[str, ...], ids: tuple[str, ...]) -> str:
    """Draw a statement about dimensions that are there."""
    score = draw(st.sampled_from(SCORES))
    priority = draw(st.sampled_from(priorities))
    one = draw(st.sampled_from(ids))
    return draw(
        st.sampled_from(
            (
                f"any {priority} dimension scores '{score}'",
                f"any dimension with priority={priority} scores '{score}'",
                f"any {priority}-priority dimension scores '{score}'",
                f"two or more {priority} dimensions score '{score}' or worse",
                f"two or more dimensions with priority={priority} score '{score}' or worse",
                f"every {priority} dimension scores '{score}'",
                f"{one} scores '{score}'",
            )
        )
    )


@st.composite
def contracts(draw: st.DrawFn) -> Contract:
    """Draw a contract whose expressions are all legal."""
    priorities = draw(st.lists(st.sampled_from(PRIORITIES), min_size=1, max_size=6))
    numbers = draw(
        st.lists(st.integers(1, 99), min_size=len(priorities), max_size=len(priorities), unique=True)
    )
    ids = tuple(f"D{n}" for n in numbers)
    others = draw(st.lists(st.integers(1, 99), max_size=5, unique=True))
    names = draw(st.permutations([f"F{n}" for n in (0, *others)]))
    conditions = []
    for name in names:
        drawn = st.lists(atoms(tuple(dict.fromkeys(priorities)), ids), min_size=1, max_size=3)
        action = "editorial_decision=accept" if name == "F0" else draw(st.sampled_from(ACTIONS))
        conditions.append(
            {
                "condition_id": name,
                "severity": draw(st.sampled_from((0, 10, 50, 50, 90, 100))),
                "expression": " AND ".join(draw(drawn)),
                "action": action,
                "cross_reviewer_quantifier": draw(st.sampled_from(QUANTIFIERS)),
            }
        )
    return contract_from(
        {
            **SMALL,
            "mode": "reviewer_guided",
            "panel_size": draw(st.integers(1, 7)),
            "acceptance_dimensions": [
                {"id": one, "name": f"name_{one.lower()}", "description": "It is so.", "priority": priority}
                for one, priority in zip(ids, priorities, strict=True)
            ],
            "failure_conditions": conditions,
        }
    )


@st.composite
def panels(draw: st.DrawFn) -> tuple[Contract, dict[str, dict[str, Score]]]:
    """Draw a contract and the scores of a whole panel, by role; scores lean to pass, so that F0 fires at times."""
    contract = draw(contracts())
    lean: tuple[Score, ...] = draw(st.sampled_from((SCORES, ("pass",), ("warn",), ("pass", "pass", "warn"))))
    scores = {
        f"role_{n}": {one.id: draw(st.sampled_from(lean)) for one in contract.acceptance_dimensions}
        for n in range(contract.panel_size)
    }
    return contract, scores
