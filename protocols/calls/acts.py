"""What people may do about calls: set what may be spent."""

from __future__ import annotations

from typing import Final

from moot.protocols.calls.books import SCOPES
from moot.protocols.calls.messages import BudgetSet
from moot.protocols.kernel.acts import Act, Blank

ACTS: Final = (
    Act(
        name="budget",
        does="set what calls of language models may spend",
        message=BudgetSet,
        asks=(
            Blank(
                "scope", "what it is for: the society, a day in UTC, each seat or each case", choices=SCOPES
            ),
            Blank("usd", "US dollars"),
            Blank("tokens", "tokens, of prompts and answers"),
            Blank("calls", "how many calls"),
        ),
    ),
)
