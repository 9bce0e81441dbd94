"""From a contract as somebody named it to one that a panel can be held by."""

from __future__ import annotations

from pathlib import Path

from moot.config.contracts import load_contract
from moot.protocols.kernel.errors import BadInput
from moot.protocols.panel import audit
from moot.protocols.panel.contract import Contract, ContractError
from moot.protocols.panel.verify import expression_tags


def a_contract(name: str | Path, *, is_scripted: bool = False) -> Contract:
    """Load a contract.

    Args:
        name: The name of a shipped one, or a file.
        is_scripted: Whether a script says which conditions fire.

    Raises:
        BadInput: It is none; or a simulated reviewer could not say whether one of its conditions fired.
    """
    try:
        found = load_contract(name)
    except ContractError as error:
        raise BadInput(audit.contract_invalid(str(error))) from None
    if not is_scripted and (unreadable := list(expression_tags(found))):
        raise BadInput(unreadable[0])
    return found
