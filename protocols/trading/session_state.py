"""The state of a session of the desk, and what its duties beside the tracks are about (R-D18)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from moot.protocols.kernel.case import CaseState, Decision

KIND: Final = "session"
OPEN: Final = "open"
CLOSED, STOPPED = "closed", "stopped"

MOVE, REVOKE, DEPLOY, ALERT, HALT = "move", "revoke", "deploy", "alert", "halt"
REDUCE, FLATTEN = "reduce", "flatten"
CHANGES: Final = (REDUCE, FLATTEN)
"""Steps that change a position."""
METRICS, FEEDBACK, RECALL, PROMOTE = "metrics", "feedback", "recall", "promote"

HALT_DESK: Final = Decision("void", "halt_desk", "R-B5")
"""The Operator owes HALT, ruled on the session."""
LATE_FILL: Final = Decision("void", "late_fill", "K11")
"""The Trader owes what undoes a fill after a halt whose trade is over, ruled on the session."""


class Subject(NamedTuple):
    """What an obligation is about.

    Attributes:
        name: A strategy's id, a metric's name, or why the desk is to be halted.
        symbol: What is to be reduced.
        level: Level of an alert.
        value: Its value.
        threshold: The limit that it reached.
        affected: The strategies concerned, empty for all.
        may_halt: Whether an alert of level HALT answers it as well (R-F16).
        number: How many duties beside the tracks the session owed with it, which names it; 0 before it is owed.
    """

    name: str
    symbol: str = ""
    level: str = ""
    value: float = 0.0
    threshold: float = 0.0
    affected: tuple[str, ...] = ()
    may_halt: bool = False
    number: int = 0

    @property
    def key(self) -> str:
        """Return what tells one risk from another: drawdowns by strategy, other metrics by their name."""
        return risk_key(self.name, *self.affected)


def risk_key(metric: str, *affected: str) -> str:
    """Return what tells one risk from another: drawdowns by strategy, other metrics by their name."""
    return f"{metric}/{'/'.join(affected)}" if metric == "drawdown" else metric


@dataclass(frozen=True, kw_only=True)
class SessionState(CaseState):
    """State of a session of the desk.

    A track's position is the `opened_at` of its obligation, which is the nominal instant.

    Attributes:
        date: Its day in New York, `YYYY-MM-DD`.
        nominal_at: When its desk day began.
        opens_at: When the exchange opens.
        closes_at: When it closes.
        ends_at: When the next desk day begins.
        weekly_at: When the weekly report is due, None when not in this day.
        is_early_close: Whether the exchange closes early.
        follows: Obligations beside the tracks so far, which numbers them.
        silent: Risk checks missed in a row.
        levels: Level that each risk reached at the last check, by `risk_key`; those within their limits left out.
        alerts: Alerts of this session that are open.
        proposed: Strategies whose deployment was asked for in this session.
        covered: Changes of positions that wait while orders under way may close them, with their kinds.
    """

    date: str
    nominal_at: datetime
    opens_at: datetime
    closes_at: datetime
    ends_at: datetime
    weekly_at: datetime | None
    is_early_close: bool
    levels: Mapping[str, str]
    follows: int = 0
    silent: int = 0
    alerts: tuple[str, ...] = ()
    proposed: frozenset[str] = frozenset()
    covered: tuple[tuple[str, Subject], ...] = ()
