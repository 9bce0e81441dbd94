"""More field types of messages: bounded lists, dates, minted ids, immutable mappings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    WithJsonSchema,
)
from pydantic_core import core_schema

from moot.protocols.kernel.frozen import MAX_ITEMS, MAX_WHOLE, FrozenDict, freeze_object, thaw
from moot.protocols.kernel.message import Ident
from moot.protocols.kernel.seats import SEAT_NAME

T = TypeVar("T")

VISIBLE: Final = r"[^\s\x1c-\x1f]"
"""A character that is not blank; the four separators are blank for Python, not for the validator's expressions."""


def _exact(value: object) -> object:
    # A Literal of numbers is looked up by equality, so True and 1.0 would pass for 1.
    if isinstance(value, bool | float):
        raise ValueError("needs a whole number or a name")
    return value


def _day(text: str) -> str:
    date.fromisoformat(text)
    return text


def _week(text: str) -> str:
    date.fromisocalendar(int(text[:4]), int(text[6:]), 1)
    return text


def _figure(value: object) -> float:
    # One function instead of a union: errors then name the field, not the branch of the union.
    if type(value) is int and abs(value) <= MAX_WHOLE:
        return value
    if type(value) is float and math.isfinite(value):
        return round(value, 6) + 0.0
    raise ValueError("needs a finite number")


def _by_name(figures: dict[str, float]) -> FrozenDict[str, float]:
    return FrozenDict(sorted(figures.items()))


def _frozen_dict(_source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
    return core_schema.no_info_after_validator_function(_by_name, handler(dict[Ident, Figure]))


Several = Annotated[tuple[T, ...], Field(max_length=MAX_ITEMS)]
"""At most 1000 of something."""

Whole = Annotated[int, Field(ge=-MAX_WHOLE, le=MAX_WHOLE)]
"""An integer that every JSON reader reads alike."""

Minted = Annotated[str, Field(max_length=200, json_schema_extra={"readOnly": True})]
"""An id that the sequencer fills in when a draft leaves it empty (K20); a schema marks it `readOnly`."""

Day = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_day)]
"""A calendar day, `YYYY-MM-DD`."""

Week = Annotated[str, Field(pattern=r"^[0-9]{4}-W[0-9]{2}$"), AfterValidator(_week)]
"""An ISO week, `YYYY-Www`."""

SeatName = Annotated[str, Field(pattern=SEAT_NAME)]
"""The name of a seat; which seats there are, the rulebook says."""

Exact = BeforeValidator(_exact)
"""Marks a Literal of numbers that takes neither True nor 1.0 for 1."""

# Without float's own serialiser, which would write 20 as 20.0.
Figure = Annotated[
    float,
    GetPydanticSchema(lambda _source, _handler: core_schema.no_info_plain_validator_function(_figure)),
    WithJsonSchema({"type": "number"}),
]
"""A finite number; an integer stays one, anything else is rounded to 6 digits."""

Numbers = Annotated[Mapping[str, float], GetPydanticSchema(_frozen_dict), Field(max_length=MAX_ITEMS)]
"""An immutable mapping from names to figures."""

FrozenJson = Annotated[
    Mapping[str, Any],
    GetPydanticSchema(
        lambda _source, _handler: core_schema.no_info_plain_validator_function(
            freeze_object, serialization=core_schema.plain_serializer_function_ser_schema(thaw)
        )
    ),
    WithJsonSchema({"type": "object"}),
]
"""An immutable JSON object of any shape."""
