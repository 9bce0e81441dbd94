"""Load a contract: one of the shipped templates by its name, or a file.

Templates are read and never written; a `Contract` cannot be changed, and `as_json` of it is a new copy each time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

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


def load_contract(name: str | Path) -> Contract:
    """Load a contract.

    Args:
        name: The name of a shipped template, or a path; `./full` is a file of that name.

    Raises:
        ContractError: The file cannot be read, is not JSON, or is no valid contract; file and place are named.
    """
    path = SHIPPED.get(ALIASES.get(name, name)) if isinstance(name, str) else None
    path = path or Path(name)
    try:
        return contract_from(_parsed(_read(path)))
    except ContractError as exc:
        shown = str(path) if str(path).isprintable() else ascii(str(path))
        raise ContractError(exc.problem, f"{shown}: {exc.where}" if exc.where else shown) from None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        known = ", ".join(SHIPPED)
        raise ContractError(f"there is no such file; the shipped contracts are {known}") from None
    except (OSError, ValueError) as exc:
        why = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
        raise ContractError(f"cannot be read: {why}") from None
    if len(data) > MOST_BYTES:
        raise ContractError(f"is larger than {MOST_BYTES:,} bytes: no contract is")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ContractError(f"is not UTF-8: see byte {exc.start}") from None


def _parsed(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as exc:
        raise ContractError(f"is not JSON: {exc.msg}, line {exc.lineno}") from None
    except RecursionError:
        raise ContractError("is not JSON that anybody needs: it nests too deep") from None
    except ValueError as exc:
        raise ContractError(f"is not JSON: {exc}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ContractError(f"has the key {key[:60]!a} twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise ContractError(f"is not JSON: {name} is no number of it")
