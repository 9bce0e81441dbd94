"""What tokens of a model cost: US dollars for a million of them, and whole micro-USD of a call."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from moot.protocols.calls.usage import Tokens, Usage
from moot.protocols.kernel.frozen import thaw


def as_written(value: Any) -> Any:
    """Return an amount of money as its digits were written, which a float may not hold exactly."""
    if isinstance(value, bool):
        raise ValueError("give a number of US dollars, such as 2.50")
    return str(value) if isinstance(value, int | float) else value


Dollars = Annotated[Decimal, BeforeValidator(as_written), Field(ge=0, le=1_000_000, allow_inf_nan=False)]
"""US dollars for a million tokens; in JSON a text, which is exact."""


class Rates(BaseModel):
    """What a million tokens cost, in US dollars.

    Attributes:
        input: Of the prompt.
        output: Of what is generated, reasoning included.
        cached_input: Of the prompt, read from the provider's cache; None: as `input`.
        cache_write: Of the prompt, written to it; None: as `input`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None
    cache_write: Dollars | None = None


class LongRates(Rates):
    """The rates of all tokens of a call whose prompt is long.

    Attributes:
        above: They hold for prompts of more tokens than this.
    """

    above: Tokens


class ModelPrice(Rates):
    """What a model costs.

    Attributes:
        long: Other rates for long prompts; of those that hold, the one for the longest prompts counts.
    """

    long: tuple[LongRates, ...] | None = None


def cost(price: ModelPrice, usage: Usage) -> int:
    """Return what a call costs in micro-USD, rounded up."""
    long = [one for one in price.long or () if usage.input > one.above]
    rates = max(long, key=lambda one: one.above) if long else price
    cached = rates.input if rates.cached_input is None else rates.cached_input
    written = rates.input if rates.cache_write is None else rates.cache_write
    plain = usage.input - usage.cached_input - usage.cache_write
    # A million tokens cost so many dollars, one token so many micro-dollars.
    return _whole(
        rates.input * plain
        + cached * usage.cached_input
        + written * usage.cache_write
        + rates.output * usage.output
    )


def most(price: ModelPrice, input_tokens: int, output_tokens: int) -> int:
    """Return what a call costs at most in micro-USD, however its prompt is cached.

    Args:
        price: What the model costs.
        input_tokens: Tokens of its prompt, at most.
        output_tokens: Tokens that may be generated, at most.
    """
    possible = [price, *(one for one in price.long or () if input_tokens > one.above)]
    return max(
        _whole(
            max(rates.input, rates.cached_input or Decimal(0), rates.cache_write or Decimal(0)) * input_tokens
            + rates.output * output_tokens
        )
        for rates in possible
    )


def least_most(price: ModelPrice, tokens: int) -> int:
    """Return the least that `most` comes to for so many tokens, however they are divided into prompt and answer."""
    dearest = max(price.input, price.cached_input or Decimal(0), price.cache_write or Decimal(0))
    return _whole(min(dearest, price.output) * tokens)


def price_in(config: Mapping[str, Any], model: str) -> ModelPrice | None:
    """Return the price of a model by a logged configuration; None when it names none.

    Args:
        config: As SOCIETY_STARTED holds it.
        model: NAME of the `[models.NAME]`.
    """
    models = config.get("models")
    told = models.get(model) if isinstance(models, Mapping) else None
    price = told.get("price") if isinstance(told, Mapping) else None
    if price is None:
        return None
    try:
        return ModelPrice.model_validate(thaw(price))
    except ValidationError:
        return None


def _whole(micro: Decimal) -> int:
    return int(micro.to_integral_value(ROUND_CEILING))
