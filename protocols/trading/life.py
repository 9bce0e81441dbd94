"""The life of strategies: where each stands, and what the desk knows of it (R-B3, R-B11, R-B12, R-D20)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final, cast

from moot.protocols.kernel.context import Deed, Fold, RuleContext
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.figures import Exactly, Figures, OneOf
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import ADMIN, REFEREE, Seat
from moot.protocols.research.debate import DebateState
from moot.protocols.research.messages import BacktestMetrics, BacktestResult, Strategy, StrategyMoved
from moot.protocols.research.seats import SYSTEM_A
from moot.protocols.trading.limits import PORTFOLIO
from moot.protocols.trading.messages import (
    CheckNewStrategies,
    DeployParameters,
    DeskCheck,
    FeedbackResponse,
    MarketClose,
    PerformanceFeedback,
    RecallFlag,
    RecallRequest,
)
from moot.protocols.trading.messages.deployments import OrderType
from moot.protocols.trading.seats import SYSTEM_B

CANDIDATES, STAGING, PRODUCTION, WITHDRAWN = "candidates", "staging", "production", "withdrawn"

WRITERS: Final[Mapping[str, frozenset[Seat]]] = {
    CANDIDATES: SYSTEM_A,
    STAGING: SYSTEM_B,
    PRODUCTION: SYSTEM_B,
    WITHDRAWN: SYSTEM_B,
}
"""Who may put a strategy into each store (R-B11)."""

HELD_BY_B: Final = frozenset({STAGING, PRODUCTION})
"""What stands here only System B may move, wherever to: also back to candidates (R-B3)."""

PAPER_DAYS: Final = 5
"""Sessions of paper trading before a promotion (R-B3)."""
EXTENSION: Final = 3
"""Sessions by which a validation is extended (R-B3)."""
MOST_EXTENSIONS: Final = 2
"""So often it may be (R-B3)."""
RESTS: Final = 5
"""Sessions for which a rejected strategy is not proposed again without a new backtest (R-F7)."""
FAULTS: Final = 3
"""Faults of a strategy in a row, after which the Operator revokes it."""
DEFAULT_ORDER_TYPE: Final[OrderType] = "market"
AS_USUAL: Final = DeployParameters()
"""What a deployment that agreed on nothing special is traded with."""
BACKTESTS_KEPT: Final = 1000
"""Backtests that wait for their strategy's move."""

DEPLOYED, EXTENDED, REJECTED, UNANSWERED = "deployed", "extended", "rejected", "unanswered"
"""Outcomes of deployments, promotions and recalls that change a strategy's life."""


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


def may_move(seat: Seat, stands: str | None, to: str) -> bool:
    """Say whether a seat, or the admin, may move a strategy from where it stands, None for a new one (R-B11).

    The referee returns from staging what was rejected there (R-F7).
    """
    if seat == REFEREE:
        return (stands, to) == (STAGING, CANDIDATES)
    return seat == ADMIN or seat in (SYSTEM_B if stands in HELD_BY_B else WRITERS[to])


def standing_of(context: RuleContext, strategy_id: str, stage: str, rule: str) -> Standing:
    """Return what is known of a strategy that must stand in a certain store.

    Raises:
        Violation: It does not stand there.
    """
    life: Life = context.fold_named("life")
    known = life.strategies.get(strategy_id)
    if known is None:
        raise Violation(rule, f"the log knows no strategy {strategy_id}", field="strategy_id")
    if known.stage != stage:
        raise Violation(rule, f"{strategy_id} stands in {known.stage}, not in {stage}", field="strategy_id")
    return known


def move_figures(context: RuleContext, strategy_id: str, from_: str | None, *to: str) -> Figures:
    """Return the fields of a STRATEGY_MOVED that a case fixes which moves one strategy (R-D20).

    Args:
        context: The society's folds.
        strategy_id: It.
        from_: Where it is taken from.
        to: Where it goes, or the stores among which its author chooses.
    """
    life: Life = context.fold_named("life")
    stands = life.stage_of(strategy_id) or "no store"
    return {
        "strategy_id": Exactly(strategy_id, f"{strategy_id} is to be moved", "R-D20"),
        "from_": Exactly(from_, f"{strategy_id} stands in {stands}", "R-D20"),
        "to": (
            Exactly(to[0], f"it is to go to {to[0]}", "R-D20")
            if len(to) == 1
            else OneOf(to, f"the decision on {strategy_id}", "R-D20")
        ),
    }


def check_move(
    env: Envelope,
    context: RuleContext,
    *,
    feedback: str = "",
) -> StrategyMoved:
    """Check a STRATEGY_MOVED against where the strategy stands; what a case fixes of it `move_figures` says.

    Args:
        env: The message.
        context: The society's folds.
        feedback: The rule by which its `reason` tells System A why the strategy comes back, "" where none does.

    Returns:
        Its body.

    Raises:
        Violation: Its `from` is not where the strategy stands, or its `to` is (R-D20), its author may not write there
            (R-B11), it names another strategy than was approved (R-D20), or it returns a rejected one without a word
            (R-B1, R-B3).
    """
    body = cast("StrategyMoved", env.body)
    life: Life = context.fold_named("life")
    known = life.strategies.get(body.strategy_id)
    stands = known.stage if known is not None else body.from_
    if body.from_ != stands:
        raise Violation("R-D20", f"{body.strategy_id} stands in {stands or 'no store'}", field="from")
    if body.to == stands:
        raise Violation("R-D20", f"{body.strategy_id} stands in {stands} already", field="to")
    if not may_move(env.author, stands, body.to):
        why = f"{env.author} may not move a strategy from {stands or 'no store'} to {body.to}"
        raise Violation("R-B11", why, field="to")
    if known is not None and body.strategy is not None and known.strategy not in (None, body.strategy):
        raise Violation("R-D20", "it is not the strategy that was approved", field="strategy")
    if feedback and not body.reason.strip():
        raise Violation(feedback, "a rejection gives System A its feedback", field="reason")
    return body


def check_moved(env: Envelope, context: RuleContext) -> None:
    """Check a STRATEGY_MOVED that no open case asked for; it stands by itself.

    A person moves what it likes, within the rights of its seat; a bot brings back what a debate approved, or
    gives up what its system holds.

    Raises:
        Violation: It names a case, which then is not open; or as `check_move`; or a bot takes a strategy up
            that no case decided on (spec 4.1, R-B3), or that no debate approved (R-D15, R-D20).
    """
    if env.case_id is not None:
        raise Violation("K23", f"{env.case_id} is not open; leave the case out to move it all the same")
    body = check_move(env, context)
    if env.actor.kind == "human":
        return
    if env.author in SYSTEM_A:
        _check_approved(body, context)
    elif body.to in HELD_BY_B:
        known = context.fold_named("life").strategies.get(body.strategy_id)
        if known is None or known.stage != PRODUCTION:
            rule = "R-B3" if body.to == PRODUCTION else "4.1"
            raise Violation(rule, f"a bot takes nothing up to {body.to} outside its case", field="to")


def _check_approved(body: StrategyMoved, context: RuleContext) -> None:
    """Check that a strategy comes from a debate that ended with an APPROVE and a passed backtest.

    Raises:
        Violation: It does not (R-D15), or it is another strategy than that debate's (R-D20).
    """
    debate = context.fold_named("research").strategies.get(body.hypothesis_id)
    if debate is None:
        said = body.hypothesis_id or "an unnamed debate"
        raise Violation("R-D20", f"{said} is no debate that has ended", field="hypothesis_id")
    if debate.verdict != "APPROVE":
        raise Violation("R-D20", f"{body.hypothesis_id} was not approved", field="hypothesis_id")
    if not debate.passed:
        raise Violation("R-D15", f"{body.hypothesis_id} passed no backtest", field="hypothesis_id")
    if body.strategy is not None and body.strategy != debate.strategy:
        raise Violation("R-D20", "it is not the strategy that was approved", field="strategy")
