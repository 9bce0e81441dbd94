"""Figures of a log: what a person wants to know of it besides whether it holds."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from moot.protocols.escalation.case import EscalationState
from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.times import rfc3339
from moot.protocols.research.debate import DebateState


class Tally:
    """Counts while a log is folded."""

    def __init__(self) -> None:
        """Start with nothing counted."""
        self._types: Counter[str] = Counter()
        self._debates: Counter[str] = Counter()
        self._escalations: Counter[str] = Counter()
        self._open: Counter[type[CaseState]] = Counter()
        self._first: datetime | None = None
        self._last: datetime | None = None

    def take(self, env: Envelope, fx: Effects) -> None:
        """Count a message and what it ended."""
        self._types[env.body.type] += 1
        if self._first is None:
            self._first = env.sent_at
        self._last = env.sent_at
        for state in fx.started:
            self._open[type(state)] += 1
        for state in fx.ended:
            self._open[type(state)] -= 1
            if isinstance(state, DebateState):
                self._debates[state.outcome or ""] += 1
            elif isinstance(state, EscalationState):
                self._escalations[state.outcome or ""] += 1

    def figures(self) -> dict[str, Any]:
        """Return the figures.

        `first_at`, `last_at`: RFC 3339 or None; `debates`, `escalations`: how many ended how, and as "open" how
        many have not; `violations`, `rulings`, `cycles`: how many messages of that type; `types`: how many of
        each type.
        """
        return {
            "first_at": rfc3339(self._first) if self._first is not None else None,
            "last_at": rfc3339(self._last) if self._last is not None else None,
            "cycles": self._types["CYCLE_TRIGGER"],
            "debates": self._with_open(self._debates, DebateState),
            "violations": self._types["VIOLATION"],
            "rulings": self._types["RULING"],
            "escalations": self._with_open(self._escalations, EscalationState),
            "types": dict(sorted(self._types.items())),
        }

    def _with_open(self, ended: Counter[str], kind: type[CaseState]) -> dict[str, int]:
        still = self._open[kind]
        return dict(sorted(ended.items())) | ({"open": still} if still else {})
