"""Where strategies stand, by the moves and decisions in the log: deployed, promoted, withdrawn (R-B1, R-B3, R-D20).

Written apart from `moot.protocols.trading` on purpose; it keeps no more than limits, money and thresholds need.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from moot.verify.second_told import Told, remember

MOST: Final = Decimal("0.05")
"""Of the equity one position may have so much (R-B7)."""
PAPER_SESSIONS: Final = 5
EXTENSION: Final = 3
OF_A: Final = ("explorer", "critic", "evolver")
UPPER: Final = ("staging", "production")
"""Stores that a strategy is taken up to."""


class Standing:
    """Where one strategy stands.

    Attributes:
        stage: candidates, staging, production or withdrawn.
        symbols: How many symbols it trades, 0 when the log does not say.
        sharpe: What its backtest promises, None when the log does not say.
        debate: The debate that approved it.
        is_deployed: Whether it trades while it is staged.
        limit: Share of the equity that one of its positions may have.
        deployed_at: When its statistics began.
        promoted_at: When it entered production.
        days: Closes since it was deployed.
        days_needed: So many of them a promotion takes.
        extensions: How often its validation was extended.
        sessions: Closes since its promotion.
        fed_back_at: When its last feedback was given.
        is_flagged: Whether a recall of it was flagged.
    """

    __slots__ = (
        "days",
        "days_needed",
        "debate",
        "deployed_at",
        "extensions",
        "fed_back_at",
        "is_deployed",
        "is_flagged",
        "limit",
        "promoted_at",
        "sessions",
        "sharpe",
        "stage",
        "symbols",
    )

    def __init__(self, stage: str) -> None:
        """Enter a store for the first time."""
        self.symbols = 0
        self.sharpe: float | None = None
        self.debate = ""
        self.enter(stage)

    def enter(self, stage: str) -> None:
        """Begin anew in a store."""
        self.stage = stage
        self.is_deployed = self.is_flagged = False
        self.limit = MOST
        self.deployed_at: datetime | None = None
        self.promoted_at: datetime | None = None
        self.fed_back_at: datetime | None = None
        self.days = self.extensions = self.sessions = 0
        self.days_needed = PAPER_SESSIONS

    def promote(self, at: datetime) -> None:
        """Enter production, with what was agreed on in staging."""
        self.stage = "production"
        self.is_deployed = True
        self.deployed_at = self.deployed_at or at
        self.promoted_at = at
        self.sessions = 0
        self.fed_back_at, self.is_flagged = None, False

    @property
    def is_traded(self) -> bool:
        """Say whether its signals are traded (R-B12)."""
        return self.stage == "production" or (self.stage == "staging" and self.is_deployed)


class Strategies:
    """Follows all strategies.

    Attributes:
        known: Where each stands, by its id.
        traded: Those whose signals are traded.
    """

    def __init__(self) -> None:
        """Start with none."""
        self.known: dict[str, Standing] = {}
        self.traded: set[str] = set()
        self._symbols: dict[str, int] = {}
        self._promised: dict[str, float] = {}
        self._passed: set[str] = set()

    def get(self, strategy_id: str) -> Standing | None:
        """Return where a strategy stands, None when the log does not say."""
        return self.known.get(strategy_id)

    def limit(self, strategy_id: str) -> Decimal:
        """Return the share of the equity that one of its positions may have."""
        known = self.known.get(strategy_id)
        return known.limit if known is not None else MOST

    # ------------------------------------------------------------ what the log says

    def hypothesis(self, told: Told) -> None:
        """Remember how many symbols a debate is about."""
        remember(self._symbols, told.case_id, len(told.body.strategy.symbols))

    def backtest(self, told: Told) -> None:
        """Remember what a backtest promises, and whether it passed."""
        remember(self._promised, told.case_id, told.body.metrics.sharpe)
        (self._passed.add if told.body.passed else self._passed.discard)(told.case_id)

    def is_unfounded(self, told: Told) -> str:
        """Return the rule that a bot's move outside a case breaks, "" for none (spec 4.1, R-B3, R-D15)."""
        body: Any = told.body
        if told.case_id or told.env.actor.kind == "human":
            return ""
        if told.env.author in OF_A:
            return "" if body.hypothesis_id in self._passed else "R-D15"
        known = self.known.get(body.strategy_id)
        if body.to not in UPPER or (known is not None and known.stage == "production"):
            return ""
        return "R-B3" if body.to == "production" else "4.1"

    def move(self, told: Told) -> None:
        """Put a strategy where a move in effect says."""
        body: Any = told.body
        known = self.known.get(body.strategy_id)
        if not _has_right(told.env.author, known, body.to):
            return
        if known is None:
            known = self.known[body.strategy_id] = Standing(body.to)
        own = told.case_id if told.case_id in self._symbols else ""
        known.debate = own or body.hypothesis_id or known.debate
        known.sharpe = self._promised.pop(known.debate, known.sharpe)
        if own:
            known.symbols = self._symbols[own]
        elif body.strategy is not None:
            known.symbols = len(body.strategy.symbols)
        elif not known.symbols:
            known.symbols = self._symbols.get(known.debate, 0)
        if body.to == "production":
            known.promote(told.env.sent_at)
        else:
            known.enter(body.to)
        self._sort(body.strategy_id, known)

    def deploy(self, strategy_id: str, at: datetime, limit: float | None) -> None:
        """Begin to trade a staged strategy on paper."""
        known = self.known.get(strategy_id)
        if known is None or known.stage != "staging":
            return
        known.is_deployed, known.deployed_at, known.days = True, at, 0
        known.limit = MOST if limit is None else min(MOST, Decimal(repr(limit)))
        self._sort(strategy_id, known)

    def extend(self, strategy_id: str) -> None:
        """Ask for three more sessions (R-B3)."""
        known = self.known.get(strategy_id)
        if known is not None:
            known.days_needed = known.days + EXTENSION
            known.extensions += 1

    def refuse(self, strategy_id: str) -> None:
        """End the paper trading of what was rejected and never moved away."""
        known = self.known.get(strategy_id)
        if known is not None and known.stage == "staging":
            known.is_deployed = False
            self._sort(strategy_id, known)

    def halve(self, strategy_id: str) -> None:
        """Halve the limit of a strategy whose feedback led to an adjustment (spec 6.1)."""
        known = self.known.get(strategy_id)
        if known is not None:
            known.limit = Decimal(repr(round(float(known.limit) / 2, 6)))

    def close(self) -> None:
        """Count a session of everything that is traded."""
        for strategy_id in self.traded:
            known = self.known[strategy_id]
            known.days += 1
            known.sessions += known.stage == "production"

    def _sort(self, strategy_id: str, known: Standing) -> None:
        if known.is_traded:
            self.traded.add(strategy_id)
        else:
            self.traded.discard(strategy_id)


def _has_right(author: str, known: Standing | None, to: str) -> bool:
    is_of_b = known is not None and known.stage in UPPER
    if author == "admin":
        return True
    if author in OF_A:
        return to == "candidates" and not is_of_b
    return to != "candidates" or is_of_b
