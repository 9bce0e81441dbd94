"""What the models of Arbiter's files say as JSON Schema, to be held against the committed `schemas/`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from moot.protocols import arbiter
from moot.protocols.arbiter.bank import ContractManifest, ContractPreset, ModelCatalog, PromptManifest
from moot.protocols.arbiter.certificate import Certificate
from moot.protocols.arbiter.clusters import Assignment, ClusterState
from moot.protocols.arbiter.configuration import Configuration
from moot.protocols.arbiter.convergence import ClusteredRow, ConvergenceRow
from moot.protocols.arbiter.embedding import EmbeddingLine
from moot.protocols.arbiter.parsing import ParsedTrial
from moot.protocols.arbiter.plan import PlannedTrial
from moot.protocols.arbiter.resolved import ResolvedConfiguration
from moot.protocols.arbiter.run import Aggregates, Manifest, Provenance
from moot.protocols.arbiter.trial import Trial

FOLDER: Final = Path(arbiter.__file__).with_name("schemas")

SCHEMAS: Final[Mapping[str, Any]] = {
    "config": Configuration,
    "config.resolved": ResolvedConfiguration,
    "trial_plan": PlannedTrial,
    "trials": Trial,
    "manifest": Manifest,
    "aggregates": Aggregates,
    "parsed": ParsedTrial,
    "convergence_trace": ConvergenceRow | ClusteredRow,
    "online.assignments": Assignment,
    "online.state": ClusterState,
    "certificate": Certificate,
    "embeddings": EmbeddingLine,
    "embeddings.provenance": Provenance,
    "prompt_manifest": PromptManifest,
    "contract_manifest": ContractManifest,
    "contract_preset": ContractPreset,
    "model_catalog": ModelCatalog,
}
"""The models by the name of their schema; a schema of a .jsonl file says what one line holds."""


class _Plain(GenerateJsonSchema):
    """Says of a field that may be left out what it holds, not that it may be null."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        inner = schema["schema"]
        if schema.get("default", ...) is None:
            return self.generate_inner(inner["schema"] if inner["type"] == "nullable" else inner)
        return super().default_schema(schema)

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a model, draft 2020-12.

    Args:
        name: One of `SCHEMAS`.
    """
    found: dict[str, Any] = TypeAdapter(SCHEMAS[name]).json_schema(schema_generator=_Plain)
    for part in (found, *found.get("$defs", {}).values()):
        part.pop("title", None)
        if "description" in part:
            part["description"] = " ".join(part["description"].partition("\n\nArgs:")[0].split())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{name}.schema.json",
        **found,
    }
