"""What of a study's code, prompts and files decides what it measures, as hashes that are registered with it."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

from moot.compare.known import ARMS, GENERATORS, VOTE, dotted_scorer, file_of
from moot.compare.study import Study
from moot.config.minds import MindSettings
from moot.config.settings import load_settings
from moot.protocols.kernel.canonical import canonical_json
from moot.protocols.kernel.errors import BadInput

SOURCES: Final[Mapping[str, tuple[str, ...]]] = {
    "minds": ("moot.bots", "moot.minds"),
    "prompts": ("moot.config/prompts",),
    "protocols": ("moot.protocols",),
    "arms": ("moot.compare.arms",),
    "cases": ("moot.compare.cases",),
}
"""The packages, or folders in them, whose files decide what a study measures, by what they are called."""

_READ: Final = (".py", ".toml", ".md", ".json", ".sql", ".yaml")


def hashes_of(study: Study, folder: Path) -> dict[str, str]:
    """Return the SHA-256 of all that decides what a study measures, in hex, by what it is.

    Args:
        study: The study.
        folder: Of its file.

    Raises:
        BadInput: A module or a file that it names is not there.
    """
    found = {name: _sha256_of(packages) for name, packages in SOURCES.items()}
    found |= _own_hashes(study)
    found["score"] = _own(dotted_scorer(study), {})
    if study.cases.source not in GENERATORS:
        found["file"] = _file_hash(file_of(study.cases, folder))
    return found


def _sha256_of(packages: tuple[str, ...]) -> str:
    whole = hashlib.sha256()
    for package in packages:
        home, *folders = package.split("/")
        for name, data in sorted(_files(files(home).joinpath(*folders), package)):
            whole.update(f"{name}\n{hashlib.sha256(data).hexdigest()}\n".encode())
    return whole.hexdigest()


def _files(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for one in folder.iterdir():
        path = f"{name}/{one.name}"
        if one.is_dir():
            if one.name != "__pycache__":
                yield from _files(one, path)
        elif one.name.endswith(_READ):
            yield path, one.read_bytes()


def _own_hashes(study: Study) -> dict[str, str]:
    """Return the hashes of what is not shipped: classes of arms and minds, and a folder of prompts."""
    found = {}
    for name, arm in study.arms.items():
        asked = str(arm.options.get("of", VOTE)) if arm.is_ == VOTE else arm.is_
        found[f"arm {name}"] = _own(asked, {**ARMS, VOTE: {}})
        for seat, source in arm.minds.items():
            module = MindSettings.model_validate(source).module
            if ":" in module:
                found[f"mind {name} {seat}"] = _own(module, {})
    prompts = load_settings().prompts
    if prompts.folder:
        found["own prompts"] = hashlib.sha256(canonical_json(prompts.load().hashes()).encode()).hexdigest()
    return {name: digest for name, digest in found.items() if digest}


def _own(named: str, known: Mapping[str, Any]) -> str:
    """Return the hash of the module that `package.module:name` stands in; "" for what is shipped."""
    if named in known:
        return ""
    module = named.partition(":")[0]
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        raise BadInput(f"there is no module {module!r}: install it, or start where it can be imported")
    return _file_hash(Path(spec.origin))


def _file_hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as exc:
        raise BadInput(f"{path}: {exc.strerror or exc}") from None
