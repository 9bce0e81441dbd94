"""What all records of Arbiter have in common: they hold what their schema says, and nothing else."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

SCHEMA_VERSION: Final = "1.0.0"

SchemaVersion = Literal["1.0.0"]
Name = Annotated[str, Field(min_length=1)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]


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
    )

    @model_validator(mode="after")
    def _null_is_not_absent(self, info: ValidationInfo) -> Self:
        if info.mode == "json":
            for name in self.model_fields_set:
                if getattr(self, name) is None and type(self).model_fields[name].default is None:
                    raise ValueError(f"{name} is null: leave it out, or give it a value")
        return self

    @model_serializer(mode="wrap")
    def _without_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        may_lack = self._may_lack()
        return {
            name: value
            for name, value in serialize(self).items()
            if value is not None or name not in may_lack
        }

    @classmethod
    def _may_lack(cls) -> frozenset[str]:
        return frozenset(
            field.alias or name
            for name, field in cls.model_fields.items()
            if field.default is None and not field.is_required()
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
