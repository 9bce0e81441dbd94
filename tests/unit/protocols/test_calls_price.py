"""Money of a call: whole micro-USD, rounded up, and never more than the most that was said before."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from moot.protocols.calls.price import ModelPrice, cost, most
from moot.protocols.calls.usage import MOST_TOKENS, Usage

LONG = {"input": 2, "output": 10, "long": ({"input": 4, "output": 15, "above": 200},)}


def price(**rates: Any) -> ModelPrice:
    return ModelPrice.model_validate(rates)


@pytest.mark.parametrize(
    ("rates", "usage", "micro_usd"),
    [
        ({"input": 2, "output": 10}, Usage(input=1_000_000, output=100_000), 3_000_000),
        ({"input": 0.1, "output": 0}, Usage(input=1, output=0), 1),
        ({"input": 0.1, "output": 0.2}, Usage(input=30, output=10), 5),
        ({"input": 2, "output": 0, "cached_input": 0.5}, Usage(input=10, cached_input=4, output=0), 14),
        (
            {"input": 2, "output": 0, "cache_write": 3},
            Usage(input=10, cached_input=4, cache_write=2, output=0),
            22,
        ),
        ({"input": 2, "output": 8}, Usage(input=0, output=10, reasoning=9), 80),
        ({"input": 0, "output": 0}, Usage(input=10**9, output=10**9), 0),
        (LONG, Usage(input=200, output=10), 500),
        (LONG, Usage(input=201, output=10), 954),
        (LONG, Usage(input=201, cached_input=201, output=10), 954),
    ],
)
def test_a_cost_is_exact_and_rounded_up(rates: dict[str, Any], usage: Usage, micro_usd: int) -> None:
    assert cost(price(**rates), usage) == micro_usd


rate = st.decimals(0, 1_000_000, places=4)
rates = {
    "input": rate, "output": rate, "cached_input": st.none() | rate, "cache_write": st.none() | rate,
}  # fmt: skip
prices = st.builds(
    lambda short, long: price(**short, long=long),
    st.fixed_dictionaries(rates),
    st.lists(st.fixed_dictionaries({**rates, "above": st.integers(0, MOST_TOKENS)}), max_size=3),
)
tokens = st.integers(0, 10**6)


@given(prices, tokens, tokens, tokens, tokens, tokens, tokens)
def test_no_call_costs_more_than_the_most_that_its_tokens_may_cost(
    one: ModelPrice, plain: int, cached: int, written: int, output: int, more: int, longer: int
) -> None:
    usage = Usage(input=plain + cached + written, cached_input=cached, cache_write=written, output=output)
    assert cost(one, usage) <= most(one, usage.input + more, output + longer)
    assert ModelPrice.model_validate_json(one.model_dump_json()) == one


def test_the_dearest_call_is_a_whole_number_that_every_json_reader_reads() -> None:
    dearest = price(input=1_000_000, output=1_000_000)
    assert most(dearest, MOST_TOKENS, MOST_TOKENS) == 2 * 10**15 < 2**53


def test_rates_are_kept_as_they_were_written() -> None:
    assert price(input=0.1, output="0.30").output == Decimal("0.30")
    assert price(input=0.1, output=2).model_dump(mode="json", exclude_none=True) == {
        "input": "0.1",
        "output": "2",
    }


@pytest.mark.parametrize(
    "figures",
    [
        {"input": -1, "output": 0},
        {"input": 5, "cached_input": 3, "cache_write": 3, "output": 0},
        {"input": 5, "output": 2, "reasoning": 3},
        {"input": 10**9 + 1, "output": 0},
        {"input": True, "output": 0},
        {"input": 5, "output": 1, "thought": 1},
    ],
)
def test_figures_that_cannot_be_are_no_usage(figures: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Usage.model_validate(figures)
