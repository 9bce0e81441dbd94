"""What may be spent, as a configuration in a log says it; whatever a log holds, reading it raises nothing."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from typing import Any, Final

from moot.protocols.calls.books import SCOPES, UNITS, Limit, shown
from moot.protocols.calls.messages import Scope

MICRO: Final = 1_000_000
"""So many micro-USD are a dollar."""

MOST: Final = 10**15
"""A larger figure in a log is none."""


def limits_in(budget: object) -> dict[Scope, Limit]:
    """Read the limits of a logged `[budget]`: those of the society, and a section each for day, seat and case."""
    if not isinstance(budget, Mapping):
        return {}
    found: dict[Scope, Limit] = {"society": _limit(budget)}
    for scope in SCOPES[1:]:
        section = budget.get(scope)
        if isinstance(section, Mapping):
            found[scope] = _limit(section)
    return found


def told(budget: object) -> str:
    """Say what a logged `[budget]` limits: `budget $2.00, $0.50 a day`; "no budget" where it limits nothing."""
    found = [
        shown(unit, most) + ("" if scope == "society" else f" a {scope}")
        for scope, limit in limits_in(budget).items()
        for unit, most in zip(UNITS, limit, strict=True)
        if most is not None
    ]
    return f"budget {', '.join(found)}" if found else "no budget"


def dollars(value: object) -> Decimal | None:
    """Read a sum as a configuration in a log gives it: a number or a text of one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    try:
        read = Decimal(str(value))
    except InvalidOperation:
        return None
    return read if read.is_finite() and 0 <= read <= MOST else None


def _limit(section: Mapping[str, Any]) -> Limit:
    return Limit(micro(section.get("usd")), _whole(section.get("tokens")), _whole(section.get("calls")))


def micro(value: object) -> int | None:
    """Read dollars as micro-USD; what is smaller than one is left out."""
    read = dollars(value)
    return None if read is None else int((read * MICRO).to_integral_value(ROUND_FLOOR))


def _whole(value: object) -> int | None:
    read = dollars(value)
    return None if read is None else int(read.to_integral_value(ROUND_FLOOR))
