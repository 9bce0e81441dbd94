"""What a call costs, in whole micro-USD: the configuration's price, else the published one of a known endpoint."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from typing import Final

from moot.bots.models.answer import Usage
from moot.config.models import ModelPrice, ModelSettings

MICRO: Final = 1_000_000

_ANY_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)

Cost = Callable[[Usage, datetime], int]
"""Gives the micro-USD of what was used at an instant, rounded up."""


def price_of(settings: ModelSettings) -> Cost | None:
    """Return what calls of a model cost; None when its price is not known.

    A published price is that of the endpoint: the same model elsewhere has none.
    """
    own = settings.price
    if own is not None:
        return lambda usage, _now: _own(own, usage)
    try:
        _published(settings, Usage(1, 0, 0, 1, 0), _ANY_DAY)
    except LookupError:
        return None
    return lambda usage, now: _published(settings, usage, now)


def _own(price: ModelPrice, usage: Usage) -> int:
    plain = usage.input - usage.cached_input - usage.cache_write
    cached = price.input if price.cached_input is None else price.cached_input
    written = price.input if price.cache_write is None else price.cache_write
    # A million tokens cost so many dollars, one token so many micro-dollars.
    return _whole(
        price.input * plain
        + cached * usage.cached_input
        + written * usage.cache_write
        + price.output * usage.output
    )


def _published(settings: ModelSettings, usage: Usage, now: datetime) -> int:
    import genai_prices

    found = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=usage.input,
            cache_read_tokens=usage.cached_input,
            cache_write_tokens=usage.cache_write,
            output_tokens=usage.output,
        ),
        model_ref=settings.model,
        provider_api_url=settings.url,
        genai_request_timestamp=now,
    )
    return _whole(found.total_price * MICRO)


def _whole(micro: Decimal) -> int:
    return int(micro.to_integral_value(ROUND_CEILING))
