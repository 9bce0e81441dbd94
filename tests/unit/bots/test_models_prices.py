"""Prices: the configuration's before the published one, and none that is guessed."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from typing import Any

import genai_prices
import pytest

from moot.bots.models import prices
from moot.bots.models.prices import price_of
from moot.config.models import ModelSettings
from moot.protocols.calls.price import ModelPrice, cost
from moot.protocols.calls.usage import Usage

NOW = datetime(2026, 3, 2, tzinfo=UTC)
HOSTED = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"


def settings(url: str = "http://127.0.0.1:8080/v1", model: str = "gpt-4o", **more: Any) -> ModelSettings:
    return ModelSettings.model_validate({"url": url, "model": model, **more})


def test_a_configured_price_counts_before_the_published_one() -> None:
    own = ModelPrice.model_validate({"input": 2, "output": 10})
    assert price_of(settings(HOSTED, price=own), NOW) == own != price_of(settings(HOSTED), NOW)


@pytest.mark.parametrize(
    ("url", "model"),
    [
        (HOSTED, "gpt-4o"),
        (ANTHROPIC, "claude-haiku-4-5-20251001"),
        # Dearer from 200,000 tokens of prompt on.
        (ANTHROPIC, "claude-sonnet-4-5"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro"),
        ("https://openrouter.ai/api/v1", "qwen/qwen3-coder-flash"),
    ],
)
@pytest.mark.parametrize("tokens", [900, 32_000, 32_001, 128_000, 200_000, 200_001, 900_000])
def test_a_published_price_gives_what_is_published_for_all_kinds_of_tokens(
    url: str, model: str, tokens: int
) -> None:
    price = price_of(settings(url, model), NOW)
    assert price is not None
    usage = Usage(input=tokens, cached_input=tokens // 3, cache_write=tokens // 7, output=1_000)
    published = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=usage.input,
            cache_read_tokens=usage.cached_input,
            cache_write_tokens=usage.cache_write,
            output_tokens=usage.output,
        ),
        model_ref=model,
        provider_api_url=url,
        genai_request_timestamp=NOW,
    )
    assert cost(price, usage) == (published.total_price * 1_000_000).to_integral_value(ROUND_CEILING) > 0


def test_a_price_that_changes_with_the_hour_is_the_dearest_one() -> None:
    """DeepSeek published half the price for the hours after 16:30."""
    model = settings("https://api.deepseek.com", "deepseek-reasoner")
    by_hour = [prices._published(model, NOW.replace(hour=hour)).input_mtok for hour in range(24)]
    assert len(set(by_hour)) > 1
    for hour in (1, 20):
        price = price_of(model, NOW.replace(hour=hour))
        assert price is not None and price.input == max(by_hour)


def test_a_price_that_has_more_to_it_than_tokens_is_not_known() -> None:
    told = genai_prices.types.ModelPrice(
        input_mtok=Decimal(1), output_mtok=Decimal(1), requests_kcount=Decimal(5)
    )
    assert prices._flat(told) is None
    assert prices._flat(genai_prices.types.ModelPrice(input_mtok=Decimal(1))) is None


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("http://127.0.0.1:8080/v1", "gpt-4o"),
        ("http://127.0.0.1:8080", "claude-sonnet-4-5"),
        (HOSTED, "no-such-model"),
        ("https://x.example/api.openai.com", "gpt-4o"),
    ],
)
def test_an_unknown_price_is_none_also_for_a_known_model_elsewhere(url: str, model: str) -> None:
    assert price_of(settings(url, model), NOW) is None
