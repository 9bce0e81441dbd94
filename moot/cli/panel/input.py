"""What `moot panel` reads: a contract by name or path, and texts of reviewers and synthesizer as UTF-8."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moot.cases.texts import read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from moot.protocols.panel.contract import Contract
    from moot.protocols.panel.seating import Source


def contract_or_tag(name: str, read: Callable[[object], Contract] | None = None) -> Contract | str:
    """Load a contract; return the audit tag when it is none.

    Args:
        name: A file, or the name of a shipped contract.
        read: What reads its JSON data; None: `contract_from`.
    """
    from moot.config.contracts import load_contract
    from moot.protocols.panel import audit
    from moot.protocols.panel.contract import ContractError, contract_from

    try:
        return load_contract(name, read or contract_from)
    except ContractError as error:
        return audit.contract_invalid(str(error))


def source(path: Path) -> Source:
    """Read a text; one that cannot be read says why."""
    from moot.protocols.panel.seating import Source

    return Source(str(path), *read_text(path))
