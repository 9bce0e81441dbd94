"""What `moot panel` reads: a contract by name or path, and texts of reviewers and synthesizer as UTF-8."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moot.cases.texts import read_text

if TYPE_CHECKING:
    from moot.protocols.panel.contract import Contract
    from moot.protocols.panel.seating import Source


def contract_or_tag(name: str) -> Contract | str:
    """Load a contract; return the audit tag when it is none."""
    from moot.config.contracts import load_contract
    from moot.protocols.panel import audit
    from moot.protocols.panel.contract import ContractError

    try:
        return load_contract(name)
    except ContractError as error:
        return audit.contract_invalid(str(error))


def source(path: Path) -> Source:
    """Read a text; one that cannot be read says why."""
    from moot.protocols.panel.seating import Source

    return Source(str(path), *read_text(path))
