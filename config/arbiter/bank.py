"""The bank: prompts, decision contracts and the catalog of models that runs choose from.

Moot's own lie beside this module. A folder of a user's is laid out the same: `prompts/manifest.json`,
`contracts/manifest.json` and `catalog.json`, each of which may be missing. It adds, and replaces what has the same id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from moot.config.arbiter.reading import Faulty, parsed_file, read_record, record, text_of
from moot.protocols.arbiter.generated import (
    CatalogEntry,
    ContractEntry,
    ContractManifest,
    ContractPreset,
    ModelCatalog,
    PromptEntry,
    PromptManifest,
    ResolvedContract,
)
from moot.protocols.arbiter.hashes import sha256_of

FOLDER: Final = Path(__file__).parent

PROMPTS: Final = Path("prompts", "manifest.json")
CONTRACTS: Final = Path("contracts", "manifest.json")
CATALOG: Final = Path("catalog.json")

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt.

    Attributes:
        entry: What the manifest says of it.
        text: The whole file.
    """

    entry: PromptEntry
    text: str


@dataclass(frozen=True, slots=True)
class Bank:
    """All that a run may choose from.

    Attributes:
        prompts: By id.
        contracts: By id, as a resolved configuration holds them.
        catalog: The models.
    """

    prompts: Mapping[str, Prompt]
    contracts: Mapping[str, ResolvedContract]
    catalog: ModelCatalog

    @property
    def prompt_manifest_sha256(self) -> str:
        """SHA-256 of what the manifests of prompts say together, in hex."""
        return sha256_of([one.entry.as_json() for _, one in sorted(self.prompts.items())])

    @property
    def model_catalog_sha256(self) -> str:
        """SHA-256 of the catalog, in hex."""
        return sha256_of(self.catalog.as_json())

    def model(self, slug: str) -> CatalogEntry | None:
        """Return what the catalog says of a model."""
        return next((one for one in self.catalog.models if one.slug == slug), None)


def load_bank(folder: Path | None = None) -> Bank:
    """Load Moot's bank, and over it a user's folder.

    Raises:
        Faulty: A manifest or the catalog cannot be used, a file is missing or is not the one its manifest names; the
            folder holds none of the three.
    """
    bank = _bank_in(FOLDER)
    if folder is None:
        return bank
    if not folder.is_dir():
        raise Faulty([f"{folder}: there is no such folder"])
    if not any((folder / part).exists() for part in (PROMPTS, CONTRACTS, CATALOG)):
        raise Faulty([f"{folder}: holds none of {PROMPTS}, {CONTRACTS} and {CATALOG}"])
    own = _bank_in(folder)
    models = {one.slug: one for one in (*bank.catalog.models, *own.catalog.models)}
    version = own.catalog.catalog_version if own.catalog.models else bank.catalog.catalog_version
    return Bank(
        {**bank.prompts, **own.prompts},
        {**bank.contracts, **own.contracts},
        ModelCatalog(
            schema_version="1.0.0",
            catalog_version=version,
            models=tuple(models[slug] for slug in sorted(models)),
        ),
    )


def _bank_in(folder: Path) -> Bank:
    prompts: Mapping[str, Prompt] = {}
    contracts: Mapping[str, ResolvedContract] = {}
    catalog = ModelCatalog(schema_version="1.0.0", catalog_version="0000.00.00", models=())
    if (path := folder / PROMPTS).exists():
        entries = read_record(path, PromptManifest).prompts
        prompts = _named(path, [(one.id, _prompt(path, one)) for one in entries])
    if (path := folder / CONTRACTS).exists():
        presets = read_record(path, ContractManifest).contracts
        contracts = _named(path, [(one.id, _contract(path, one)) for one in presets])
    if (path := folder / CATALOG).exists():
        catalog = read_record(path, ModelCatalog)
        _named(path, [(one.slug, lambda: None) for one in catalog.models])
    return Bank(prompts, contracts, catalog)


def _named(path: Path, items: Iterable[tuple[str, Callable[[], Item]]]) -> dict[str, Item]:
    """Load what a manifest names, and tell all that is wrong with it at once."""
    found: dict[str, Item] = {}
    lines: list[str] = []
    for name, load in items:
        try:
            if name in found:
                raise Faulty([f"{path}: {name} stands there twice: rename or remove one"])
            found[name] = load()
        except Faulty as exc:
            lines += exc.lines
    if lines:
        raise Faulty(lines)
    return found


def _prompt(manifest: Path, entry: PromptEntry) -> Callable[[], Prompt]:
    return lambda: Prompt(entry, _file(manifest, entry.path, entry.sha256)[1])


def _contract(manifest: Path, entry: ContractEntry) -> Callable[[], ResolvedContract]:
    def load() -> ResolvedContract:
        path, _ = _file(manifest, entry.path, entry.sha256)
        preset = record(parsed_file(path), ContractPreset, str(path))
        if preset.id != entry.id:
            raise Faulty([f"{path}: calls itself {preset.id}, the manifest says {entry.id}"])
        try:
            Draft202012Validator.check_schema(preset.schema_)
        except SchemaError as exc:
            place = ".".join(str(part) for part in ("schema", *exc.absolute_path))
            raise Faulty([f"{path}: {place}: is no JSON Schema: {exc.message[:200]}"]) from None
        return ResolvedContract(
            id=preset.id,
            sha256=entry.sha256,
            schema_=preset.schema_,
            embed_text_source=preset.embed_text_source,
            rationale_max_chars=preset.rationale_max_chars,
        )

    return load


def _file(manifest: Path, name: str, sha256: str) -> tuple[Path, str]:
    """Return a file that a manifest names, and its text."""
    path = manifest.parent / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise Faulty([f"{manifest}: {name} lies outside the folder: name a file in it"])
    text = text_of(path)
    found = hashlib.sha256(text.encode()).hexdigest()
    if found != sha256:
        raise Faulty([f"{path}: its SHA-256 is {found}, the manifest says {sha256}: correct one of them"])
    return path, text
