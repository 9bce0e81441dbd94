"""What runs choose from: prompts, decision contracts, models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from moot.protocols.arbiter.records import Name, Positive, Record, SchemaVersion, Sha256
from moot.protocols.arbiter.resolved import EmbedSource

PromptKind = Literal["participant_persona", "participant_protocol_template", "instrument_prompt"]
CatalogVersion = Annotated[str, Field(pattern=r"^\d{4}(\.\d{2}\.\d{2}|-\d{2}-\d{2})$")]


class PromptEntry(Record):
    """A prompt: which file it is, and the SHA-256 of that file."""

    id: Name
    type: PromptKind
    path: Name
    sha256: Sha256
    description: str | None = None


class PromptManifest(Record):
    """prompts/manifest.json."""

    schema_version: SchemaVersion
    prompts: tuple[PromptEntry, ...]


class ContractEntry(Record):
    """A decision contract: which file it is, and the SHA-256 of that file."""

    id: Name
    path: Name
    sha256: Sha256
    description: str | None = None


class ContractManifest(Record):
    """contracts/manifest.json."""

    schema_version: SchemaVersion
    contracts: tuple[ContractEntry, ...]


class ContractPreset(Record):
    """A decision contract: the form of a decision, and which part of it is embedded."""

    id: Name
    schema_: dict[str, Any] = Field(alias="schema")
    embed_text_source: EmbedSource
    rationale_max_chars: Positive | None = None
    description: str | None = None


class CatalogEntry(Record):
    """A model; an aliased one is a name whose model changes in time."""

    slug: Name
    display_name: Name
    provider: Name
    context_window: Positive | None
    is_aliased: bool | None
    tier: Literal["default", "extended", "free"]
    notes: str | None = None


class ModelCatalog(Record):
    """catalog.json."""

    schema_version: SchemaVersion
    catalog_version: CatalogVersion
    models: tuple[CatalogEntry, ...]
