"""What people may do about calls: set what may be spent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.calls.books import SCOPES
from moot.protocols.calls.messages import BudgetSet
from moot.protocols.kernel.acts import Act, Blank, Words

_AMOUNT: Final = re.compile(
    r"(?P<sign>\$)?\s*(?P<figure>[0-9][0-9,_]*(?:\.[0-9]+)?)\s*(?P<unit>[a-z]*)(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s+|$)",
    re.IGNORECASE,
)
_UNITS: Final[Mapping[str, str]] = {
    "usd": "usd",
    "dollar": "usd",
    "dollars": "usd",
    "token": "tokens",
    "tokens": "tokens",
    "call": "calls",
    "calls": "calls",
}


def amounts(said: str) -> Mapping[str, float | int]:
    """Read what may be spent: `$5`, `200,000 tokens`, `2.50 usd and 100 calls`.

    Raises:
        ValueError: It says something else, or one of them twice.
    """
    found: dict[str, float | int] = {}
    at = 0
    while at < len(said):
        read = _AMOUNT.match(said, at)
        unit = (
            None
            if read is None
            else "usd"
            if read["sign"] and not read["unit"]
            else _UNITS.get(read["unit"].lower())
        )
        if read is None or unit is None or (read["sign"] and unit != "usd"):
            raise ValueError(
                f"the amount is $5, 200000 tokens, 100 calls or several of them, not {said[:60]!r}"
            )
        if unit in found:
            raise ValueError(f"the amount says {unit} twice")
        figure = read["figure"].replace(",", "").replace("_", "")
        if "." in figure and unit != "usd":
            raise ValueError(f"{unit} are whole numbers, not {figure}")
        found[unit] = float(figure) if unit == "usd" else int(figure)
        at = read.end()
    return found


def _read(words: Words) -> Mapping[str, Any]:
    return {"scope": words["scope"], **amounts(words["amount"].strip())}


ACTS: Final = (
    Act(
        name="budget",
        does="set what language models may spend from here on",
        message=BudgetSet,
        asks=(
            Blank(
                "scope",
                "society for all, day for each day in UTC, seat or case for each of them",
                choices=SCOPES,
            ),
            Blank("amount", "$5, 200000 tokens, 100 calls, or several of them"),
        ),
        read=_read,
    ),
)
