"""What `moot panel` reads: a contract by name or path, and texts of reviewers and synthesizer as UTF-8."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot.protocols.panel.contract import Contract
    from moot.protocols.panel.seating import Source

MOST_BYTES: Final = 4_000_000
"""A larger file is no review; no more than this is read of it."""


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
    """Read a text; one that cannot be read says why.

    Line ends stay as they are, for the grammar has its own idea of them; a byte order mark is no text.
    """
    from moot.protocols.panel.seating import Source

    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return Source(str(path), None, error.strerror or str(error))
    except ValueError as error:
        return Source(str(path), None, str(error))
    if len(data) > MOST_BYTES:
        return Source(str(path), None, f"is larger than {MOST_BYTES:,} bytes: no review is")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Source(str(path), None, f"is not UTF-8: see byte {error.start}")
    if "\0" in text:
        return Source(str(path), None, "is no text: it holds NUL bytes")
    return Source(str(path), text)
