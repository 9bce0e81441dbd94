"""Prices: whole micro-USD, the configuration's before the published one, and none that is guessed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from moot.bots.models.answer import Usage
from moot.bots.models.prices import price_of
from moot.config.models import ModelSettings

NOW = datetime(2026, 3, 2, tzinfo=UTC)
HOSTED = "https://api.openai.com/v1"


def settings(url: str = "http://127.0.0.1:8080/v1", model: str = "gpt-4o", **more: Any) -> ModelSettings:
    return ModelSettings.model_validate({"url": url, "model": model, **more})


@pytest.mark.parametrize(
    ("price", "usage", "micro_usd"),
    [
        ({"input": 2, "output": 10}, Usage(1_000_000, 0, 0, 100_000, 0), 3_000_000),
        ({"input": 0.1, "output": 0}, Usage(1, 0, 0, 0, 0), 1),
        ({"input": 0.1, "output": 0.2}, Usage(30, 0, 0, 10, 0), 5),
        ({"input": 2, "output": 0, "cached_input": 0.5}, Usage(10, 4, 0, 0, 0), 14),
        ({"input": 2, "output": 0, "cache_write": 3}, Usage(10, 4, 2, 0, 0), 22),
        ({"input": 2, "output": 8}, Usage(0, 0, 0, 10, 9), 80),
        ({"input": 0, "output": 0}, Usage(10**9, 0, 0, 10**9, 0), 0),
    ],
)
def test_a_configured_price_is_exact_and_rounded_up(
    price: dict[str, float], usage: Usage, micro_usd: int
) -> None:
    cost = price_of(settings(HOSTED, price=price))
    assert cost is not None
    assert cost(usage, NOW) == micro_usd


def test_a_published_price_counts_all_kinds_of_tokens() -> None:
    cost = price_of(settings(HOSTED))
    assert cost is not None
    plain = cost(Usage(1_000_000, 0, 0, 0, 0), NOW)
    assert plain > 0
    assert 0 < cost(Usage(1_000_000, 1_000_000, 0, 0, 0), NOW) < plain
    assert cost(Usage(0, 0, 0, 1_000_000, 0), NOW) > plain
    assert isinstance(cost(Usage(1, 0, 0, 1, 0), NOW), int)


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("http://127.0.0.1:8080/v1", "gpt-4o"),
        (HOSTED, "no-such-model"),
        ("https://x.example/api.openai.com", "gpt-4o"),
    ],
)
def test_an_unknown_price_is_none_also_for_a_known_model_elsewhere(url: str, model: str) -> None:
    assert price_of(settings(url, model)) is None
