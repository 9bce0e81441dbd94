"""Where a strategy stands, and what is known of it there (R-B3, R-B7, R-B12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from moot.protocols.research.messages import Strategy
from moot.protocols.trading.limits import PORTFOLIO
from moot.protocols.trading.messages import DeployParameters
from moot.protocols.trading.messages.deployments import OrderType

CANDIDATES, STAGING, PRODUCTION, WITHDRAWN = "candidates", "staging", "production", "withdrawn"

HELD_BY_B: Final = frozenset({STAGING, PRODUCTION})
"""What stands here only System B may move, wherever to: also back to candidates (R-B3)."""

PAPER_DAYS: Final = 5
"""Sessions of paper trading before a promotion (R-B3)."""
DEFAULT_ORDER_TYPE: Final[OrderType] = "market"
AS_USUAL: Final = DeployParameters()
"""What a deployment that agreed on nothing special is traded with."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What is known of one strategy.

    Attributes:
        strategy_id: Its id.
        stage: candidates, staging, production or withdrawn.
        hypothesis_id: The debate that approved it, "" when the log does not say.
        strategy: Archetype, numbers and symbols; None when the log does not say.
        backtest: Figures of its backtest by name, those without a value left out; empty when unknown.
        is_considered: Whether CHECK_NEW_STRATEGIES named it since System A put it there, or B sent it back.
        is_deployed: Whether it trades, on paper while it is staged (R-B12).
        parameters: What its deployment was agreed on.
        deployed_at: When that was.
        promoted_at: When it entered production.
        days: MARKET_CLOSEs since it was deployed.
        days_needed: So many of them a promotion takes.
        extensions: How often its validation was extended.
        faults: DESK_CHECKs in a row that named it faulty.
        fed_back_at: Last PERFORMANCE_FEEDBACK on it.
        is_flagged: Whether a recall of it was flagged.
        is_recall_requested: Whether System A was asked to evaluate it anew since its promotion.
        sessions_in_production: MARKET_CLOSEs since its promotion.
    """

    strategy_id: str
    stage: str
    hypothesis_id: str = ""
    strategy: Strategy | None = None
    backtest: Mapping[str, float]
    is_considered: bool = False
    is_deployed: bool = False
    parameters: DeployParameters = AS_USUAL
    deployed_at: datetime | None = None
    promoted_at: datetime | None = None
    days: int = 0
    days_needed: int = PAPER_DAYS
    extensions: int = 0
    faults: int = 0
    fed_back_at: datetime | None = None
    is_flagged: bool = False
    is_recall_requested: bool = False
    sessions_in_production: int = 0

    @cached_property
    def plain(self) -> Mapping[str, Any]:
        """Return what a brief says of it, but for how it fares; made once, for a life is long and briefs are many."""
        strategy = self.strategy
        return {
            "stage": self.stage,
            "is_deployed": self.is_deployed,
            "archetype": strategy.archetype if strategy is not None else None,
            "params": dict(strategy.params) if strategy is not None else {},
            "symbols": list(strategy.symbols) if strategy is not None else [],
            "position_limit": self.position_limit,
            "order_type": self.order_type,
            "days": self.days,
            "backtest": dict(self.backtest),
        }

    @property
    def is_traded(self) -> bool:
        """Say whether its signals are traded: deployed in staging, or in production (R-B12)."""
        return self.stage == PRODUCTION or (self.stage == STAGING and self.is_deployed)

    @property
    def position_limit(self) -> float:
        """Return the share of the equity that one of its positions may have, at most 5 % (R-B7)."""
        agreed = self.parameters.position_limit
        return PORTFOLIO.position if agreed is None else min(agreed, PORTFOLIO.position)

    @property
    def order_type(self) -> OrderType:
        """Return the order type that was agreed on, a market order when none was."""
        return self.parameters.order_type or DEFAULT_ORDER_TYPE
