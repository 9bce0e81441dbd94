"""Figures of a log: what a person wants to know of it besides whether it holds."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, Final

from moot.protocols.arena.run import KIND as RUN
from moot.protocols.escalation.case import KIND as ESCALATION
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.times import rfc3339
from moot.protocols.motion.state import KIND as MOTION
from moot.protocols.panel.panel import KIND as PANEL
from moot.protocols.research.debate import KIND as DEBATE

KINDS: Final = {DEBATE: "debates", MOTION: "motions", RUN: "runs", PANEL: "panels", ESCALATION: "escalations"}
"""The kinds of case that are counted by how they ended, and the figures that say so."""


class Tally:
    """Counts while a log is folded."""

    def __init__(self) -> None:
        """Start with nothing counted."""
        self._types: Counter[str] = Counter()
        self._ended: dict[str, Counter[str]] = {name: Counter() for name in KINDS.values()}
        self._open: Counter[str] = Counter()
        self._first: datetime | None = None
        self._last: datetime | None = None

    def take(self, env: Envelope, fx: Effects) -> None:
        """Count a message and what it ended."""
        self._types[env.body.type] += 1
        if self._first is None:
            self._first = env.sent_at
        self._last = env.sent_at
        for state in fx.started:
            self._open[state.kind] += 1
        for state in fx.ended:
            self._open[state.kind] -= 1
            if state.kind in KINDS:
                self._ended[KINDS[state.kind]][state.outcome or ""] += 1

    def figures(self) -> dict[str, Any]:
        """Return the figures.

        `first_at`, `last_at`: RFC 3339 or None; `debates`, `motions`, `runs` (of the Arena), `panels`,
        `escalations`: how many ended how, and as "open" how many have not; `violations`, `rulings`, `cycles`: how
        many messages of that type; `types`: how many of each type.
        """
        return {
            "first_at": rfc3339(self._first) if self._first is not None else None,
            "last_at": rfc3339(self._last) if self._last is not None else None,
            "cycles": self._types["CYCLE_TRIGGER"],
            **{name: self._with_open(kind) for kind, name in KINDS.items()},
            "violations": self._types["VIOLATION"],
            "rulings": self._types["RULING"],
            "types": dict(sorted(self._types.items())),
        }

    def _with_open(self, kind: str) -> dict[str, int]:
        still = self._open[kind]
        return dict(sorted(self._ended[KINDS[kind]].items())) | ({"open": still} if still else {})
