"""The contract's models as a JSON Schema (draft 2020-12), for readers and tools that do not speak Python."""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from moot.protocols.panel.contract import ACCEPT, QUANTIFIER, REVIEWER, REVIEWER_FIELDS, Contract

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
NOTE: Final = "Written by docs/generate.py from protocols/panel/contract.py."

CONDITIONAL: Final = (
    {
        "$comment": "A panel's condition says over how many reviewers it is counted; no other has a panel's fields.",
        "if": {"properties": {"mode": {"pattern": f"^{REVIEWER}"}}},
        "then": {
            "required": list(REVIEWER_FIELDS),
            "properties": {"failure_conditions": {"items": {"required": [QUANTIFIER]}}},
        },
        "else": {
            "properties": {
                **dict.fromkeys(REVIEWER_FIELDS, False),
                "failure_conditions": {"items": {"properties": {QUANTIFIER: False}}},
            },
        },
    },
    {
        "$comment": "There is a way to be accepted.",
        "properties": {
            "failure_conditions": {
                "contains": {"properties": {"condition_id": {"const": "F0"}, "action": {"const": ACCEPT}}}
            }
        },
    },
    {
        "$comment": "The rounds of the ladder stand in order.",
        "properties": {
            "override_ladder": {"prefixItems": [{"properties": {"round": {"const": n}}} for n in (1, 2, 3)]}
        },
    },
)
"""What one field demands of another. That ids and names are unique is beyond JSON Schema."""


class _Plain(GenerateJsonSchema):
    """Writes neither titles of fields nor defaults: a field that may be left out has none."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def contract_schema() -> dict[str, Any]:
    """Return the JSON Schema of a contract as new JSON data."""
    schema = Contract.model_json_schema(schema_generator=_Plain)
    schema["$defs"]["ScoringPlanSchema"]["properties"]["required"]["uniqueItems"] = True
    schema["required"] = [name for name in schema["required"] if name not in REVIEWER_FIELDS]
    return {"$schema": DIALECT, "$comment": NOTE, **schema, "allOf": list(CONDITIONAL)}


def schema_text() -> str:
    """Return the JSON Schema as its file holds it."""
    return json.dumps(contract_schema(), indent=2, ensure_ascii=False) + "\n"
