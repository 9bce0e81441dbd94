"""Where each strategy stands, by the log alone: stages, deployments, limits, days (R-B1, R-B3, R-B9, R-B12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from tests.independent.said import Said

MOST: Final = Decimal("0.05")
"""Per position at most this share of the equity (R-B7)."""
SYSTEM_A: Final = frozenset({"explorer", "critic", "evolver"})
TRADED: Final = ("staging", "production")


@dataclass
class Standing:
    """What is known of a strategy."""

    stage: str = ""
    symbols: int = 0
    promised: Decimal | None = None
    is_deployed: bool = False
    limit: Decimal | None = None
    deployed_at: datetime | None = None
    promoted: int | None = None
    days: int = 0
    live: int = 0
    debate: str = ""

    @property
    def is_traded(self) -> bool:
        return self.stage == "production" or (self.stage == "staging" and self.is_deployed)

    @property
    def position(self) -> Decimal:
        return MOST if self.limit is None else min(self.limit, MOST)


@dataclass
class Standings:
    """Fold where strategies stand."""

    known: dict[str, Standing] = field(default_factory=dict)
    backtests: dict[str, dict[str, Any]] = field(default_factory=dict)
    symbols: dict[str, int] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    """The strategy of each deployment, promotion, feedback and recall."""
    reviews: dict[str, dict[str, Any]] = field(default_factory=dict)
    agreed: dict[str, dict[str, Any]] = field(default_factory=dict)
    decisions: dict[str, str] = field(default_factory=dict)

    def take(self, said: Said) -> None:
        """Take in a message."""
        body = said.body
        if said.kind in ("HYPOTHESIS", "REBUTTAL", "REVISED_HYPOTHESIS") and body.get("strategy") is not None:
            self.symbols[said.case] = len(body["strategy"]["symbols"])
        elif said.kind == "BACKTEST_RESULT":
            self.backtests[said.case] = body["metrics"]
        elif said.kind == "STRATEGY_MOVED":
            self._moved(said)
        elif said.kind in ("DEPLOY_PROPOSAL", "PROMOTION_PROPOSAL", "PERFORMANCE_FEEDBACK", "RECALL_FLAG"):
            self.about[said.case] = body["strategy_id"]
        elif said.kind == "DEPLOY_REVIEW":
            self.reviews.setdefault(said.case, {}).update(
                {name: value for name, value in body.items() if value is not None}
            )
        elif said.kind in ("DEPLOY_DECISION", "PROMOTION_DECISION"):
            self.decisions[said.case] = body["decision"]
            self.agreed[said.case] = body.get("parameters") or {}
        elif said.kind == "RULING":
            self._ruled(said)
        elif said.kind == "DEPLOY_NOTICE" and self.decisions.get(said.case) in ("DEPLOY", "DEPLOY_MODIFIED"):
            self._deployed(said)
        elif said.kind == "FEEDBACK_RESPONSE" and body["action"] == "adjust":
            known = self.known[self.about[said.case]]
            known.limit = round(known.position / 2, 6)
        elif said.kind == "MARKET_CLOSE":
            for known in self.known.values():
                known.days += known.is_traded
                known.live += known.stage == "production"

    def _moved(self, said: Said) -> None:
        body, to = said.body, said.body["to"]
        known = self.known.setdefault(body["strategy_id"], Standing())
        if known.stage in TRADED and said.author in SYSTEM_A:
            return
        debate = said.case if said.case in self.symbols else body.get("hypothesis_id") or known.debate
        known.debate = debate
        strategy = body.get("strategy")
        if debate == said.case or (strategy is None and not known.symbols):
            known.symbols = self.symbols.get(debate, known.symbols)
        elif strategy is not None:
            known.symbols = len(strategy["symbols"])
        metrics = self.backtests.pop(debate, None)
        if metrics is not None:
            known.promised = Decimal(metrics["sharpe"])
        if to == "production":
            known.stage, known.is_deployed, known.promoted, known.live = to, True, said.seq, 0
            known.deployed_at = known.deployed_at or said.at
        else:
            self.known[body["strategy_id"]] = Standing(to, known.symbols, known.promised, debate=debate)

    def _ruled(self, said: Said) -> None:
        outcome, case = said.body["outcome"], said.case
        if case not in self.about:
            return
        decision, owed = self.decisions.get(case), said.body["obligation_id"] or ""
        if outcome == "DEPLOY":
            is_modified = said.body["reason"] == "admin_modified"
            self.decisions[case], self.agreed[case] = outcome, {}
            if is_modified:
                limit = self.reviews.get(case, {}).get("recommended_position_limit")
                self.agreed[case] = {"position_limit": limit}
        elif decision in ("DEPLOY", "DEPLOY_MODIFIED") and "/notice" in owed:
            self._deployed(said)
        elif case.startswith("prom_") and (outcome == "REJECT" or (decision == "REJECT" and "/move" in owed)):
            self.decisions[case] = "REJECT"
            known = self.known[self.about[case]]
            if "/move" in owed and known.stage == "staging":
                known.is_deployed = False

    def _deployed(self, said: Said) -> None:
        known = self.known[self.about[said.case]]
        if known.stage == "staging" and not known.is_deployed:
            known.is_deployed, known.deployed_at, known.days = True, said.at, 0
            limit = self.agreed.get(said.case, {}).get("position_limit")
            known.limit = None if limit is None else Decimal(limit)

    def of(self, strategy: str) -> Standing:
        """Return what is known of a strategy."""
        return self.known.get(strategy) or Standing()

    def traded(self) -> list[str]:
        """Return the strategies whose signals are traded, by name."""
        return sorted(name for name, known in self.known.items() if known.is_traded)
