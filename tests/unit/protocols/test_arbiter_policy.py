"""Guardrails: what a run is warned of, and what a strict policy refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.protocols.arbiter.generated import CatalogEntry, Policy, ResolvedConfiguration
from moot.protocols.arbiter.policy import refusals, warnings
from tests.doubles.arbiter_configs import resolved


def known(slug: str, *, tier: Any = "default", is_aliased: bool | None = False) -> CatalogEntry:
    return CatalogEntry(
        slug=slug, display_name=slug, provider="a", context_window=None, is_aliased=is_aliased, tier=tier
    )


CATALOG = {
    one.slug: one
    for one in (
        known("a/one"),
        known("a/unsure", is_aliased=None),
        known("a/gratis", tier="free"),
        known("a/latest", is_aliased=True),
    )
}


def run(*models: str, kind: str = "independent", **execution: int) -> ResolvedConfiguration:
    value = resolved(kind)
    value["sampling"]["models"] = [
        {
            "model": slug,
            "weight": 1,
            "catalog_status": "known" if slug in CATALOG else "unknown_to_catalog",
        }
        for slug in models
    ]
    value["execution"].update({"k_max": 100, **execution})
    return ResolvedConfiguration.from_json(json.dumps(value))


def test_a_bound_that_apis_refuse_is_told() -> None:
    value = json.loads(run("a/one").model_dump_json())
    value["sampling"]["decode"] = {"temperature": {"min": 0, "max": 2}, "top_p": 1, "max_tokens": 1}
    assert warnings(ResolvedConfiguration.from_json(json.dumps(value)), CATALOG) == []
    value["sampling"]["decode"] = {"temperature": {"min": -1, "max": 3}, "top_p": 1.5, "max_tokens": 0}
    assert warnings(ResolvedConfiguration.from_json(json.dumps(value)), CATALOG) == [
        "sampling.decode.temperature: -1 is not what OpenAI's API takes: choose 0 to 2",
        "sampling.decode.temperature: 3 is not what OpenAI's API takes: choose 0 to 2",
        "sampling.decode.top_p: 1.5 is not what OpenAI's API takes: choose 0 to 1",
        "sampling.decode.max_tokens: 0 is not what OpenAI's API takes: choose 1 or more",
    ]


def policy(*, strict: bool = True, allow_free: bool = False, allow_aliased: bool = False) -> Policy:
    return Policy(
        strict=strict, allow_free=allow_free, allow_aliased=allow_aliased, contract_failure_policy="warn"
    )


def test_a_run_of_known_models_is_not_odd() -> None:
    assert warnings(run("a/one", "a/unsure"), CATALOG) == []


def test_a_name_of_the_users_own_need_not_be_a_slug_of_the_catalog() -> None:
    def is_own(name: str) -> bool:
        return name == "plain"

    assert warnings(run("a/one", "plain"), CATALOG, is_own) == []
    assert len(warnings(run("plain", "other"), CATALOG, is_own)) == 2
    assert len(warnings(run("a/gratis", "a/latest"), CATALOG, lambda name: True)) == 2


@pytest.mark.parametrize(
    ("slug", "odd"),
    [
        ("a/other:free", ["is not in the catalog", "is free"]),
        ("a/gratis", ["is free"]),
        ("a/latest", ["is an alias"]),
        ("plain", ["names no provider", "is not in the catalog"]),
    ],
)
def test_an_odd_model_is_told(slug: str, odd: list[str]) -> None:
    found = warnings(run("a/one", slug), CATALOG)
    assert len(found) == len(odd)
    for line, part in zip(found, odd, strict=True):
        assert line.startswith(f"sampling.models[1]: {slug} {part}")


@pytest.mark.parametrize(("kind", "cells"), [("independent", 2 * 3 * 2), ("debate_v1", 2 * 3**2)])
def test_each_combination_should_be_tried_twice(kind: str, cells: int) -> None:
    assert warnings(run("a/one", "a/unsure", kind=kind, k_max=2 * cells), CATALOG) == []
    (line,) = warnings(run("a/one", "a/unsure", kind=kind, k_max=2 * cells - 1), CATALOG)
    assert f"for {cells} combinations" in line


def test_counts_that_make_stopping_odd_are_told() -> None:
    assert warnings(run("a/one", k_min=4, batch_size=4), CATALOG) == []
    (line,) = warnings(run("a/one", k_min=3, batch_size=4), CATALOG)
    assert line.startswith("execution.k_min: 3 is less than a batch of 4")
    (line,) = warnings(run("a/one", k_min=101), CATALOG)
    assert line.startswith("execution.k_min: 101 is more than k_max, 100")


def test_clusters_that_are_to_stop_a_run_are_told_to_be_advisory() -> None:
    value = resolved()
    value["execution"]["k_max"] = 100
    value["measurement"]["clustering"]["stop_mode"] = "enforced"
    (line,) = [
        one for one in warnings(ResolvedConfiguration.from_json(json.dumps(value)), {}) if "stop_mode" in one
    ]
    assert "treated as advisory" in line


def test_a_permissive_policy_refuses_nothing() -> None:
    assert refusals(run("a/gratis", "a/latest"), CATALOG, policy(strict=False)) == []


def test_a_strict_policy_refuses_what_is_not_allowed() -> None:
    odd = run("a/one", "a/gratis", "a/latest", "a/unsure", "a/new:free", "new")
    places = {
        (False, False): [1, 2, 4],
        (True, False): [2],
        (False, True): [1, 4],
        (True, True): [],
    }
    for (free, aliased), refused in places.items():
        found = refusals(odd, CATALOG, policy(allow_free=free, allow_aliased=aliased))
        assert [line.partition(":")[0] for line in found] == [f"sampling.models[{n}]" for n in refused]
