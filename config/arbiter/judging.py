"""Hold what models wrote against the schema of a decision contract."""

from __future__ import annotations

from typing import Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from moot.protocols.arbiter.contract import Judge
from moot.protocols.arbiter.generated import ResolvedContract

MOST_CHARS: Final = 300
"""A fault that quotes a longer value is cut."""


def judge_of(contract: ResolvedContract | None) -> Judge | None:
    """Return who judges values by a contract; None without one."""
    if contract is None:
        return None
    # Without a registry of its own it would look on the network for what the schema refers to.
    validator = Draft202012Validator(contract.schema_, registry=Registry())

    def judge(value: object) -> str | None:
        try:
            fault = best_match(validator.iter_errors(value))
        except Unresolvable as error:
            return f"the contract's schema refers to {error.ref}, which it does not hold"
        if fault is None:
            return None
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.absolute_path)
        text = " ".join(fault.message.split())[:MOST_CHARS]
        return f"{where.removeprefix('.')}: {text}" if where else text

    return judge
