"""What runs choose from: prompts, decision contracts, models."""

from moot.protocols.arbiter.generated import (
    CatalogEntry,
    CatalogVersion,
    ContractEntry,
    ContractManifest,
    ContractPreset,
    ModelCatalog,
    PromptEntry,
    PromptKind,
    PromptManifest,
)

__all__ = [
    "CatalogEntry",
    "CatalogVersion",
    "ContractEntry",
    "ContractManifest",
    "ContractPreset",
    "ModelCatalog",
    "PromptEntry",
    "PromptKind",
    "PromptManifest",
]
