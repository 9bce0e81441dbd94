"""The page on Arbiter's statistics tells what was measured, and what was measured keeps what is promised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.soak import stopping

PAGE = Path(__file__).parents[2] / "docs" / "design" / "arbiter-statistics.md"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(stopping.RESULTS.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", ["stopping", "coverage", "comparisons"])
def test_the_page_holds_the_tables_of_the_results(results: dict[str, Any], name: str) -> None:
    told = "\n".join(stopping.tables(results)[name])
    assert f"<!-- {name} of tests/soak/stopping.json -->\n{told}\n" in PAGE.read_text(encoding="utf-8")


def test_no_promise_was_broken(results: dict[str, Any]) -> None:
    assert stopping.findings(results) == []
    results["stopping"][0]["certified"]["false_stops"] = 0.07
    assert len(stopping.findings(results)) == 1


def test_rules_stop_as_they_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "RUNS", 40)
    monkeypatch.setattr(stopping, "TRIALS", 300)
    counts = stopping.drawn((0.9, 0.1, 0.0), seed=1)
    assert counts.shape == (40, 300, 3)
    assert (counts.sum(axis=2) == np.arange(1, 301)).all()
    for rule in stopping.RULES.values():
        after, leader = rule(counts)
        assert (after % stopping.BATCH == 0).all()
        assert after.max() <= 100
        assert (leader == 0).all()
