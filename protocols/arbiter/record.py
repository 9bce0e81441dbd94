"""What all records of Arbiter have in common: they hold what their schema says, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import is_
from typing import Any, Final, Self, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from moot.protocols.arbiter.conditions import Condition, conditions

SCHEMA_VERSION: Final = "1.0.0"

NULLABLE: Final = "x-nullable"
"""Keyword of a schema: fields that may be left out, and that files of earlier versions hold as null."""

Checked = TypeVar("Checked")


def _fields(schema: Any, handler: GetCoreSchemaHandler) -> dict[str, Any]:
    while schema["type"] != "model-fields":
        schema = (
            handler.resolve_ref_schema(schema) if schema["type"] == "definition-ref" else schema["schema"]
        )
    fields: dict[str, Any] = schema["fields"]
    return fields


def _may_be_absent(field: Any, *, may_be_null: bool) -> None:
    """Let code give None for a field that may be left out, files not, and leave None out of files.

    Files may hold null for it where its schema says so, by `x-nullable`: earlier versions wrote it.

    It is said once for each model, to the core, because a serializer written in Python takes six times as long.
    """
    given = field["schema"]
    if given["type"] != "default" or given.get("default", ...) is not None:
        return
    field["serialization_exclude_if"] = _IS_NONE
    value = given["schema"]
    inner = value["schema"] if value["type"] == "nullable" else value
    if inner["type"] == "any":
        inner = _NOT_NULL
    if value["type"] in ("nullable", "any") and not may_be_null:
        given["schema"] = core_schema.json_or_python_schema(inner, value)


def _write_whole_numbers(part: Any) -> None:
    """Have 1 written for 1.0, so that a hash of what is read is the same in any language."""
    if isinstance(part, list):
        for one in part:
            _write_whole_numbers(one)
    elif isinstance(part, dict) and part.get("type") == "float":
        part["serialization"] = _AS_WHOLE
    elif isinstance(part, dict) and part.get("type") in _HOLDERS:
        for one in part.values():
            _write_whole_numbers(one)


def _whole(value: float) -> float:
    whole = int(value)
    return whole if whole == value else value


def _not_null(value: object) -> object:
    if value is None:
        raise PydanticCustomError("null", "null is no value: leave it out")
    return value


_NOT_NULL: Final = core_schema.no_info_after_validator_function(_not_null, core_schema.any_schema())
_AS_WHOLE: Final = core_schema.plain_serializer_function_ser_schema(_whole, when_used="json")
_HOLDERS: Final = ("model-field", "default", "json-or-python", "nullable", "union", "tuple")
_IS_NONE: Final = partial(is_, None)


def _held_to(rules: Sequence[Condition], record: Checked) -> Checked:
    for rule in rules:
        rule.check(record)
    return record


class Record(BaseModel):
    """Part of a file; a field whose default is None may be left out, and is null in no file."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        defer_build=True,
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        told = cls.model_config.get("json_schema_extra")
        nullable = told.get(NULLABLE, ()) if isinstance(told, dict) else ()
        for name, field in _fields(schema, handler).items():
            _may_be_absent(field, may_be_null=name in nullable)  # type: ignore[operator]  # a list of names
            _write_whole_numbers(field)
        rules = tuple(conditions(told)) if isinstance(told, dict) else ()
        return (
            core_schema.no_info_after_validator_function(partial(_held_to, rules), schema)
            if rules
            else schema
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data, as the file holds it."""
        return self.model_dump(mode="json")

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read it.

        Raises:
            pydantic.ValidationError: The text is no JSON, or not what the schema says.
        """
        return cls.model_validate_json(text)
