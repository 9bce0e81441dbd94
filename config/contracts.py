"""Load a contract: one of the shipped templates by its name, or a file.

Templates are read and never written; a `Contract` cannot be changed, and `as_json` of it is a new copy each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from moot.config.json_files import BadJson, parsed, read_text
from moot.protocols.panel.contract import Contract, ContractError, contract_from

FOLDER: Final = Path(__file__).with_name("contracts")

SHIPPED: Final[Mapping[str, Path]] = {
    "full": FOLDER / "reviewer" / "full.json",
    "methodology_focus": FOLDER / "reviewer" / "methodology_focus.json",
    "strategy": FOLDER / "strategy" / "full.json",
    "architecture": FOLDER / "architecture" / "methodology_focus.json",
}
"""The templates by name: two for papers, one for dossiers of strategies, one for changes of the architecture."""

ALIASES: Final[Mapping[str, str]] = {
    "reviewer_full": "full",
    "reviewer_methodology_focus": "methodology_focus",
}
"""The templates for papers are known by their modes, too."""

SCHEMA: Final = FOLDER / "sprint_contract.schema.json"
"""The JSON Schema of a contract, written by docs/generate.py."""

MOST_BYTES: Final = 1_000_000
"""A larger file is no contract."""


def load_contract(name: str | Path, read: Callable[[object], Contract] = contract_from) -> Contract:
    """Load a contract.

    Args:
        name: The name of a shipped template, or a path; `./full` is a file of that name.
        read: What makes a contract of its JSON data.

    Raises:
        ContractError: The file cannot be read, is not JSON, or is no valid contract; file and place are named.
    """
    path = SHIPPED.get(ALIASES.get(name, name)) if isinstance(name, str) else None
    path = path or Path(name)
    try:
        return read(_data(path))
    except ContractError as exc:
        shown = str(path) if str(path).isprintable() else ascii(str(path))
        raise ContractError(exc.problem, f"{shown}: {exc.where}" if exc.where else shown) from None


def _data(path: Path) -> object:
    try:
        return parsed(read_text(path, MOST_BYTES))
    except FileNotFoundError:
        known = ", ".join(SHIPPED)
        raise ContractError(f"there is no such file; the shipped contracts are {known}") from None
    except BadJson as exc:
        raise ContractError(str(exc)) from None
