"""The life of strategies: a fold of where each stands, and what the desk knows of it (R-B3, R-B12, R-D20)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from moot.protocols.kernel.context import Deed, Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.research.debate import DebateState
from moot.protocols.research.messages import BacktestMetrics, BacktestResult, StrategyMoved
from moot.protocols.research.seats import SYSTEM_A
from moot.protocols.trading.messages import (
    CheckNewStrategies,
    DeskCheck,
    FeedbackResponse,
    MarketClose,
    PerformanceFeedback,
    RecallFlag,
    RecallRequest,
)
from moot.protocols.trading.moves import may_move
from moot.protocols.trading.standing import (
    AS_USUAL,
    CANDIDATES,
    HELD_BY_B,
    PRODUCTION,
    STAGING,
    WITHDRAWN,
    Standing,
)

EXTENSION: Final = 3
"""Sessions by which a validation is extended (R-B3)."""
MOST_EXTENSIONS: Final = 2
"""So often it may be (R-B3)."""
RESTS: Final = 5
"""Sessions for which a rejected strategy is not proposed again without a new backtest (R-F7)."""
FAULTS: Final = 3
"""Faults of a strategy in a row, after which the Operator revokes it."""
BACKTESTS_KEPT: Final = 1000
"""Backtests that wait for their strategy's move."""

DEPLOYED, EXTENDED, REJECTED, UNANSWERED = "deployed", "extended", "rejected", "unanswered"
"""Outcomes of deployments, promotions and recalls that change a strategy's life."""


class Life(Fold):
    """Fold where each strategy stands; only STRATEGY_MOVED moves it.

    Attributes:
        strategies: What is known of each, by its id, in the order in which the log named them.
        resting: Sessions since their deployment was rejected, of those that are not to be proposed yet (R-F7).
        taken_in: How many messages it took in; nothing else changes it.

    What is asked of every day is answered by those that are asked about, however many there ever were.
    """

    name = "life"
    types = frozenset(
        {
            "BACKTEST_RESULT",
            "STRATEGY_MOVED",
            "CHECK_NEW_STRATEGIES",
            "MARKET_CLOSE",
            "DESK_CHECK",
            "PERFORMANCE_FEEDBACK",
            "FEEDBACK_RESPONSE",
            "RECALL_FLAG",
            "RECALL_REQUEST",
        }
    )
    deeds = Deed.ENDED

    def __init__(self) -> None:
        """Start with no strategies."""
        self.strategies: dict[str, Standing] = {}
        self.resting: dict[str, int] = {}
        self._backtests: dict[str, BacktestMetrics] = {}
        self.taken_in = 0
        self._places: dict[str, int] = {}
        self._held: set[str] = set()
        self._new: set[str] = set()
        self._faulty: set[str] = set()

    # ------------------------------------------------------------ folding

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> Iterable[Draft] | None:
        """Take in one envelope; what entered with a violation does not count."""
        self.taken_in += 1
        for ended in fx.ended:
            strategy_id = getattr(ended, "strategy_id", "")
            if strategy_id in self.strategies:
                self._case_ended(ended, self.strategies[strategy_id], env)
        if fx.violation is None and not fx.superseded:
            self._said(env.body, env, docket)
        return None

    def _said(self, body: Message, env: Envelope, docket: Docket) -> None:
        if isinstance(body, StrategyMoved):
            self._moved(body, env, docket)
        elif isinstance(body, BacktestResult):
            self._backtests[env.case_id or ""] = body.metrics
            if len(self._backtests) > BACKTESTS_KEPT:
                del self._backtests[next(iter(self._backtests))]
        elif isinstance(body, CheckNewStrategies):
            for strategy_id in body.found:
                self._change(strategy_id, is_considered=True)
        elif isinstance(body, MarketClose):
            self._closed()
        elif isinstance(body, DeskCheck):
            self._checked(body)
        elif isinstance(body, PerformanceFeedback):
            self._change(body.strategy_id, fed_back_at=env.sent_at)
        elif isinstance(body, RecallFlag):
            self._change(body.strategy_id, is_flagged=True)
        elif isinstance(body, RecallRequest):
            self._change(body.strategy_id, is_recall_requested=True)
        elif isinstance(body, FeedbackResponse) and body.action == "adjust":
            state = docket.cases.get(env.case_id or "")
            self._halve(getattr(state, "strategy_id", ""))

    def _change(self, strategy_id: str, **changes: object) -> None:
        known = self.strategies.get(strategy_id)
        if known is not None:
            self._put(replace(known, **changes))  # type: ignore[arg-type]

    def _put(self, known: Standing) -> None:
        """Take in where a strategy stands, and among which it is looked for."""
        strategy_id = known.strategy_id
        self._places.setdefault(strategy_id, len(self._places))
        self.strategies[strategy_id] = known
        is_new = known.stage == CANDIDATES and not known.is_considered
        for found, belongs in (
            (self._held, known.stage in HELD_BY_B),
            (self._new, is_new),
            (self._faulty, known.faults > 0),
        ):
            (found.add if belongs else found.discard)(strategy_id)

    def _of(self, names: Iterable[str]) -> list[Standing]:
        """Return strategies in the order in which the log named them first."""
        return [self.strategies[name] for name in sorted(names, key=self._places.__getitem__)]

    def _moved(self, body: StrategyMoved, env: Envelope, docket: Docket) -> None:
        """Put a strategy where a move in effect says; a debate of System A cannot take from B what it holds."""
        known = self.strategies.get(body.strategy_id)
        if known is not None and not may_move(env.author, known.stage, body.to):
            return
        if known is None:
            known = Standing(strategy_id=body.strategy_id, stage=body.from_ or CANDIDATES, backtest={})
        debate = body.hypothesis_id or known.hypothesis_id
        state = docket.cases.get(env.case_id or "")
        said = body.strategy
        if isinstance(state, DebateState):
            debate, said = state.case_id, state.strategy
        elif said is None and known.strategy is None:
            found = docket.context.fold_named("research").strategies.get(debate)
            said = found.strategy if found is not None else None
        metrics = self._backtests.pop(debate, None)
        known = replace(
            known,
            hypothesis_id=debate,
            strategy=said or known.strategy,
            backtest=figures_of(metrics) if metrics is not None else known.backtest,
        )
        if metrics is not None:
            self.resting.pop(body.strategy_id, None)
        self._put(_entered(known, body.to, env))

    def _closed(self) -> None:
        self.resting = {name: n + 1 for name, n in self.resting.items() if n + 1 < RESTS}
        for known in self.at_desk():
            if known.is_traded:
                self._change(
                    known.strategy_id,
                    days=known.days + 1,
                    sessions_in_production=known.sessions_in_production + (known.stage == PRODUCTION),
                )

    def _checked(self, body: DeskCheck) -> None:
        """Count faults in a row; a round that does not name a strategy ends its row."""
        faulty = {fault.strategy_id for fault in body.faults} & self.strategies.keys()
        for strategy_id in self._faulty - faulty:
            self._change(strategy_id, faults=0)
        for strategy_id in faulty:
            self._change(strategy_id, faults=self.strategies[strategy_id].faults + 1)

    def _halve(self, strategy_id: str) -> None:
        known = self.strategies.get(strategy_id)
        if known is not None:
            halved = known.parameters.model_copy(
                update={"position_limit": round(known.position_limit / 2, 6)}
            )
            self._change(strategy_id, parameters=halved)

    def _case_ended(self, ended: object, known: Standing, env: Envelope) -> None:
        """Take in how a deployment, a promotion or a recall ended."""
        kind, outcome = getattr(ended, "kind", ""), getattr(ended, "outcome", "")
        if (kind, outcome) == ("deployment", DEPLOYED) and known.stage == STAGING:
            self._change(
                known.strategy_id,
                is_deployed=True,
                deployed_at=env.sent_at,
                days=0,
                parameters=getattr(ended, "parameters", AS_USUAL),
            )
        elif (kind, outcome) == ("deployment", REJECTED):
            self.resting[known.strategy_id] = 0
        elif (kind, outcome) == ("promotion", EXTENDED):
            self._change(
                known.strategy_id, days_needed=known.days + EXTENSION, extensions=known.extensions + 1
            )
        elif (kind, outcome) == ("promotion", REJECTED) and known.stage == STAGING:
            self._change(known.strategy_id, is_deployed=False)
        elif (kind, outcome) == ("recall", UNANSWERED):
            self._change(known.strategy_id, is_flagged=False)

    # ------------------------------------------------------------ questions

    def stage_of(self, strategy_id: str) -> str | None:
        """Return where a strategy stands, None when the log never saw it."""
        known = self.strategies.get(strategy_id)
        return known.stage if known is not None else None

    def is_traded(self, strategy_id: str) -> bool:
        """Say whether a strategy's signals are traded (R-B12)."""
        known = self.strategies.get(strategy_id)
        return known is not None and known.is_traded

    def at_desk(self) -> list[Standing]:
        """Return the strategies that System B holds, staged or in production."""
        return self._of(self._held)

    def traded(self) -> list[str]:
        """Return the strategies whose signals are traded (R-B12)."""
        return [known.strategy_id for known in self.at_desk() if known.is_traded]

    def to_consider(self) -> tuple[str, ...]:
        """Return the candidates that System A put there and no CHECK_NEW_STRATEGIES named since."""
        return tuple(known.strategy_id for known in self._of(self._new))

    def to_promote(self) -> tuple[str, ...]:
        """Return the strategies that were traded on paper for as many sessions as they need (R-B3)."""
        return tuple(
            s.strategy_id
            for s in self.at_desk()
            if s.stage == STAGING and s.is_deployed and s.days >= s.days_needed
        )


def _entered(known: Standing, stage: str, env: Envelope) -> Standing:
    """Return a strategy's standing as it enters a store.

    Its counts start anew, but what was agreed on in staging goes with it into production.
    """
    if stage == PRODUCTION:
        return replace(
            known,
            stage=stage,
            is_considered=True,
            is_deployed=True,
            deployed_at=known.deployed_at or env.sent_at,
            promoted_at=env.sent_at,
            sessions_in_production=0,
            fed_back_at=None,
            is_flagged=False,
            is_recall_requested=False,
        )
    return Standing(
        strategy_id=known.strategy_id,
        stage=stage,
        hypothesis_id=known.hypothesis_id,
        strategy=known.strategy,
        backtest=known.backtest,
        is_recall_requested=known.is_recall_requested and stage == WITHDRAWN,
        is_considered=stage != CANDIDATES or (env.author not in SYSTEM_A and known.stage in HELD_BY_B),
    )


def figures_of(metrics: BacktestMetrics) -> dict[str, float]:
    """Return the figures of a backtest by name, those without a value left out."""
    return {name: value for name, value in metrics.model_dump().items() if value is not None}
