"""What a model costs: the configuration's price, else the published one of a known endpoint."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from moot.config.models import ModelSettings
from moot.protocols.calls.price import LongRates, ModelPrice

if TYPE_CHECKING:
    from genai_prices import types

_KINDS: Final = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}


def price_of(settings: ModelSettings, now: datetime) -> ModelPrice | None:
    """Return what a model costs; None when its price is not known.

    A published price is that of the endpoint: the same model elsewhere has none. Of prices that change with the time
    of day the dearest counts, so that one price holds all day.

    Args:
        settings: The model.
        now: Published prices change; those of this instant are returned.
    """
    if settings.price is not None:
        return settings.price
    try:
        hours = [_published(settings, now + timedelta(hours=hour)) for hour in range(24)]
    except LookupError:
        return None
    listed = [price for one in hours if (price := _flat(one)) is not None]
    return max(listed, key=lambda one: (one.input, one.output)) if len(listed) == len(hours) else None


def _published(settings: ModelSettings, at: datetime) -> types.ModelPrice:
    import genai_prices

    found = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=1),
        model_ref=settings.model,
        provider_api_url=settings.url,
        genai_request_timestamp=at,
    )
    return found.model_price


def _flat(told: types.ModelPrice) -> ModelPrice | None:
    """Return a published price by kinds of tokens; None when there is more or less to it."""
    from genai_prices.types import TieredPrices

    given = {name: getattr(told, key) for name, key in _KINDS.items()}
    if given["input"] is None or given["output"] is None:
        return None
    if told.requests_kcount is not None or told.output_reasoning_mtok is not None:
        return None
    starts = sorted(
        {tier.start for one in given.values() if isinstance(one, TieredPrices) for tier in one.tiers}
    )

    def at(tokens: int) -> dict[str, Decimal | None]:
        return {name: _tier(one, tokens) for name, one in given.items()}

    long = tuple(LongRates.model_validate({**at(start), "above": start}) for start in starts)
    return ModelPrice.model_validate({**at(-1), "long": long or None})


def _tier(price: types.TieredPrices | Decimal | None, above: int) -> Decimal | None:
    if price is None or isinstance(price, Decimal):
        return price
    return next((tier.price for tier in reversed(price.tiers) if tier.start <= above), price.base)
