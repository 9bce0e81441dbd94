"""The trigger table: what escalates, how urgently, and what an admin may answer (spec 5.1, R-E1).

Each trigger has at least two options; the first is the conservative one, which silence leads to (5.3, R-B8).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, Literal, NamedTuple

from protocols.escalation.messages import Option
from protocols.kernel.times import hours, minutes

ANSWER_WITHIN: Final = hours(4)
"""Then the system takes the conservative action (spec 5.3)."""
REPAGE_EVERY: Final = minutes(30)
"""URGENT ones page again this often until acknowledged (R-E2)."""
PAGES: Final = 5
"""At most this many further pages (R-E2)."""
FIRES_AGAIN_AFTER: Final = timedelta(hours=24)
"""A condition that never ended fires again after this (K19)."""

Effect = Literal["none", "conservative", "restart_seat", "retire_lineage", "diversify"]


class Trigger(NamedTuple):
    """One row of spec 5.1.

    Attributes:
        level: R-E1.
        system: The system it concerns.
        text: What the admin reads; `{subject}` stands for the seat or lineage.
        options: (label, effect) in order; the first is the conservative action.
        source: Where the rule stands.
    """

    level: Literal["ATTENTION", "DECISION_NEEDED", "URGENT"]
    system: Literal["A", "B"]
    text: str
    options: tuple[tuple[str, Effect], ...]
    source: str


_CONSERVATIVE: Final[tuple[str, Effect]] = (
    "Go on with conservative defaults: reject uncertain hypotheses",
    "conservative",
)
_AS_BEFORE: Final[tuple[str, Effect]] = ("Go on as before", "none")

TRIGGERS: Final[Mapping[str, Trigger]] = {
    "timeouts": Trigger(
        "URGENT",
        "A",
        "3 consecutive timeouts from {subject}",
        (_CONSERVATIVE, ("Restart the seat's bot", "restart_seat"), _AS_BEFORE),
        "5.1",
    ),
    "deadlocked": Trigger(
        "DECISION_NEEDED",
        "A",
        "REVISE issued 3+ times for lineage {subject}: deadlocked",
        (_CONSERVATIVE, ("Retire the lineage", "retire_lineage"), _AS_BEFORE),
        "5.1, R-D11",
    ),
    "no_approve": Trigger(
        "ATTENTION",
        "A",
        "No successful APPROVE in 24h: review the research direction",
        (_CONSERVATIVE, ("Widen the search to other archetypes", "diversify"), _AS_BEFORE),
        "5.1, R-E1",
    ),
    "approve_rate": Trigger(
        "ATTENTION",
        "A",
        "Weekly meta-reflection shows an approve rate below 20%: review system parameters",
        (_CONSERVATIVE, ("Widen the search to other archetypes", "diversify"), _AS_BEFORE),
        "5.1, R-E1",
    ),
}
"""All triggers that System A can raise, by code; System B adds its rows."""


def options_of(code: str) -> tuple[Option, ...]:
    """Return the numbered options of a trigger."""
    return tuple(
        Option(n=n, label=label, effect=effect) for n, (label, effect) in enumerate(TRIGGERS[code].options, 1)
    )
