"""What happened in a stretch of a society's life: the figures of `moot simulate`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from moot.minds.silences import count_silence
from moot.protocols.arena.state import RunState
from moot.protocols.escalation.case import EscalationState
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.research.debate import DebateState
from moot.simulation.arguing import Arguing
from moot.simulation.desk import DeskSummary


@dataclass(slots=True)
class SimulationSummary:
    """Figures of a simulation; `wall_s` is the only one that differs between two runs of a seed.

    Those of System B are in `desk`, how System A argued is in `arguing`, ended runs of the Arena are in `runs` by
    terminal state; `escalation_endings` tells by trigger how escalations ended, `open` included; `silences` why minds
    of one's own gave no answer; `calls` what was booked for models and what may be, in micro-USD, tokens and calls,
    empty where no model has a seat.
    """

    days: float = 0.0
    seed: int = 0
    start: str = ""
    prices: str = ""
    messages: int = 0
    cycles: int = 0
    debates: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    revisions: int = 0
    extensions: int = 0
    concessions: int = 0
    early_ends: int = 0
    timeouts: int = 0
    pings: int = 0
    rulings: Counter[str] = field(default_factory=Counter)
    violations: int = 0
    escalations: Counter[str] = field(default_factory=Counter)
    escalations_ended: Counter[str] = field(default_factory=Counter)
    escalation_endings: dict[str, Counter[str]] = field(default_factory=dict)
    principles: int = 0
    backtests_passed: int = 0
    backtests_failed: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    silences: Counter[str] = field(default_factory=Counter)
    head_hash: str = ""
    virtual_s: float = 0.0
    wall_s: float = 0.0
    out: str | None = None
    desk: DeskSummary = field(default_factory=DeskSummary)
    arguing: Arguing = field(default_factory=Arguing)
    calls: dict[str, Any] = field(default_factory=dict)

    def take(self, env: Envelope, fx: Effects) -> None:
        """Count one message and what it changed."""
        self.messages += 1
        self.head_hash = env.hash
        self.desk.take(env, fx)
        self.arguing.take(env, fx)
        count_silence(env, self.silences)
        body = env.body
        kind = body.type
        if fx.violation is not None:
            self.violations += 1
        elif kind == "CYCLE_TRIGGER":
            self.cycles += 1
        elif kind == "EXTEND_DEBATE":
            self.extensions += 1
        elif kind == "CONCEDE":
            self.concessions += 1
        elif kind == "REVISE_REQUEST":
            self.revisions += 1
        elif kind == "TIMEOUT_PING" and not fx.superseded:
            self.pings += 1
        elif kind == "PRINCIPLE_SYNTHESIS":
            self.principles += len(body.principles)  # type: ignore[attr-defined]
        if fx.voided is not None:
            self.timeouts += 1
        if fx.decision is not None:
            self.rulings[fx.decision.reason] += 1
        for state in fx.started:
            if isinstance(state, DebateState):
                self.debates += 1
            elif isinstance(state, EscalationState):
                self.escalations[state.code] += 1
                self.escalation_endings.setdefault(state.code, Counter())["open"] += 1
        for state in fx.ended:
            self._ended(state)

    def _ended(self, state: object) -> None:
        if isinstance(state, EscalationState):
            self.escalations_ended[state.outcome or ""] += 1
            endings = self.escalation_endings.setdefault(state.code, Counter())
            endings["open"] -= 1
            endings[state.outcome or ""] += 1
        elif isinstance(state, RunState):
            self.runs[state.outcome or ""] += 1
            self.rounds += state.rounds
        elif isinstance(state, DebateState):
            self.verdicts[state.verdict or "none"] += 1
            if state.ended_by == "confidence":
                self.early_ends += 1
            if state.passed is True:
                self.backtests_passed += 1
            elif state.passed is False:
                self.backtests_failed += 1

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain data, counters sorted by name."""
        plain: dict[str, Any] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            plain[name] = _sorted(value) if isinstance(value, Counter) else value
        plain["escalation_endings"] = {
            code: _sorted(+endings) for code, endings in sorted(self.escalation_endings.items())
        }
        plain["desk"], plain["arguing"] = self.desk.as_json(), self.arguing.as_json()
        return plain


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items()))
