"""How the messages of calls read: one template a type. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.templates` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDING: Final[Mapping[str, str]] = {
    "CALL_RESERVED": "reserves call {call_id} to the model {model} for the {seat|seat}: at most "
    "{max_tokens|count:token}[ and {max_cost|micro}]",
    "CALL_SETTLED": "settles call {call_id}: {outcome|words}[ ({why})], {tokens|count:token}[, {cost|micro}]"
    "[, {overrun|either:more than its reservation,within its reservation}]",
    "CALL_REFUSED": "refuses call {call_id} to the model {model} for the {seat|seat}: {why}",
    "BUDGET_SET": "sets the budget of {scope|budget}[: {usd|dollars}][, {tokens|count:token}][, {calls|count:call}]",
}

UNSHOWN: Final[Mapping[str, frozenset[str]]] = {
    "CALL_RESERVED": frozenset({"obligation", "attempt", "turn", "try"}),
    "CALL_REFUSED": frozenset({"obligation", "attempt", "turn", "try"}),
}
"""Fields that no card shows: the call's id says them."""
