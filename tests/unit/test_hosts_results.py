"""The page on a log on NATS tells what was measured, and what was measured keeps what is promised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.soak import hosts

PAGE = Path(__file__).parents[2] / "docs" / "design" / "hosts.md"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(hosts.RESULTS.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", ["failover", "cuts"])
def test_the_page_holds_the_tables_of_the_results(results: dict[str, Any], name: str) -> None:
    told = "\n".join(hosts.tables(results)[name])
    assert f"<!-- {name} of tests/soak/hosts.json -->\n{told}\n" in PAGE.read_text(encoding="utf-8")


def test_no_promise_was_broken(results: dict[str, Any]) -> None:
    assert results["gap_s"]["count"] >= 100 and len(results["cuts"]) >= 20
    assert results["findings"] == [] == list(hosts.late(results))
    slow = {**results, "gap_s": {**results["gap_s"], "max": 10.5}}
    assert list(hosts.late(slow)) == ["a killed leader was followed after 10.5 s only"]
