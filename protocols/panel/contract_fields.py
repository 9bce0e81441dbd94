"""Field types of contracts: what may be left out, date-times, and the number of paraphrased dimensions."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import CoreSchema

from moot.protocols.kernel.message import Instant

_DATE_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
)


class _LeftOut:
    """Marks a field of type `X | None` that is an X or left out, in JSON never null."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: Any = handler(source)
        assert schema["type"] == "nullable"
        inner: CoreSchema = schema["schema"]
        return inner


def _is_none(value: object) -> bool:
    return value is None


LEFT_OUT: Final = _LeftOut()
UNLESS_NONE: Final = Field(exclude_if=_is_none)
"""Marks a field that is not written when it was left out."""


def _date_time(value: object) -> object:
    if isinstance(value, datetime):
        return value
    try:
        if isinstance(value, str) and _DATE_TIME.fullmatch(value):
            return datetime.fromisoformat(value)
    except ValueError:
        pass
    raise ValueError("needs a date-time such as 2026-05-03T12:00:00Z")


def _minimum(value: object) -> Any:
    # One function instead of a union: the error then names the field, not a branch of the union.
    if value == "all" or (type(value) is int and value >= 1):
        return value
    raise ValueError('needs "all" or a whole number from 1')


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    for n, value in enumerate(values):
        if value in values[:n]:
            raise ValueError(f"names {value} twice")
    return values


Words = Annotated[str, Field(min_length=1)]
"""A text that is not empty."""

DateTime = Annotated[Instant, BeforeValidator(_date_time)]
"""An instant; in JSON an RFC 3339 date-time with T and a zone, and neither seconds since 1970 nor a day alone."""

Minimum = Annotated[
    Literal["all"] | int,
    PlainValidator(_minimum),
    WithJsonSchema({"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 1}]}),
]
"""How many dimensions are paraphrased: all, or at least so many."""

DISTINCT: Final = AfterValidator(_distinct)
"""Marks a list that names nothing twice."""
