"""What a record holds besides when one of its fields has a certain value: `if`, `then`, `else` of its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Condition(NamedTuple):
    """Fields that stand, and fields that do not, when another has a value."""

    field: str
    value: object
    needed: tuple[str, ...]
    barred: tuple[str, ...]

    def check(self, record: object) -> None:
        """Hold a record to it.

        Raises:
            ValueError: A field is missing, or should be.
        """
        if getattr(record, self.field) != self.value:
            return
        for name in self.needed:
            if getattr(record, name) is None:
                raise ValueError(f"{name} is needed where {self.field} is {self.value}")
        for name in self.barred:
            if getattr(record, name) is not None:
                raise ValueError(f"{name} has no place where {self.field} is {self.value}")


def conditions(schema: Mapping[str, Any]) -> Iterator[Condition]:
    """Read what a schema says by `if` and `then`, and on in its `else`.

    Args:
        schema: Its `if` compares one field with a constant. Its `then` says which fields are required, and of others
            that there are none (`false`, or only null) or that they are not null.
    """
    while "if" in schema:
        ((field, value),) = schema["if"]["properties"].items()
        then = schema["then"]
        others = then.get("properties", {})
        barred = tuple(name for name, shape in others.items() if shape in (False, {"type": "null"}))
        given = (name for name in others if name not in barred)
        yield Condition(field, value["const"], (*then.get("required", ()), *given), barred)
        schema = schema.get("else", {})
