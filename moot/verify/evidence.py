"""Evidence recomputed: backtests, risk scores and fills by the prices that the log names (R-D15, K11).

A BACKTEST_RESULT must be what the test split gives as of its `sent_at` (or as of the opening of its
obligation, when a bar came into being in between). A Critic's scores that differ break no rule: scenes override
them on purpose, and nothing hangs on them. Whatever is not computed again is told, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.research.debate import DebateState
from moot.protocols.research.messages import BacktestResult, RiskAssessment, Strategy
from moot.verify.fills import Fills
from moot.verify.marks import Marks
from moot.verify.prices import Prices
from moot.verify.report import Findings

if TYPE_CHECKING:
    from moot.bots.tools.universe import Universe

FILLS: Final = frozenset({"ORDER", "EXECUTION"})
MARKS: Final = frozenset({"RISK_CHECK", "MARKET_CLOSE"})
FACTS: Final = MARKS | {"EXECUTION", "BACKTEST_RESULT"}
"""Types that hold no opinion: figures that follow from prices, whoever tells them."""

RECOMPUTED: Final = FILLS | FACTS | {"SOCIETY_STARTED", "RISK_ASSESSMENT"}
"""Types that a `Recompute` is shown."""

DIGITS: Final = 6


class Recompute(Protocol):
    """Recomputes what messages claim to have computed; `verify` shows it the types in `RECOMPUTED`."""

    @property
    def recomputed(self) -> int:
        """How many results were computed again."""
        ...

    def before(self, env: Envelope, docket: Docket) -> None:
        """Look at the state before a message."""
        ...

    def after(self, env: Envelope, fx: Effects) -> None:
        """Judge a message that is in effect."""
        ...


class Nothing:
    """Recomputes nothing (`--no-evidence`)."""

    recomputed = 0

    def __init__(self, findings: Findings) -> None:
        """Take where to say what is believed."""
        self._findings = findings

    def before(self, env: Envelope, docket: Docket) -> None:
        """Look away."""

    def after(self, env: Envelope, fx: Effects) -> None:
        """Say that a figure is believed."""
        if env.body.type in FACTS:
            self._findings.skip("believed", env.seq, f"{env.body.type} was believed, as asked for")


class Evidence:
    """Recomputes backtests, scores, fills and marks with the society's own tools and prices."""

    def __init__(self, findings: Findings) -> None:
        """Start without prices; SOCIETY_STARTED names them."""
        self._prices = Prices(findings)
        self._backtests = Backtests(findings, self._prices)
        self._fills = Fills(findings, self._prices)
        self._marks = Marks(findings, self._prices)

    @property
    def recomputed(self) -> int:
        """How many results were computed again."""
        return self._backtests.recomputed + self._fills.recomputed + self._marks.recomputed

    def _of(self, kind: str) -> Recompute:
        if kind in FILLS:
            return self._fills
        return self._marks if kind in MARKS else self._backtests

    def before(self, env: Envelope, docket: Docket) -> None:
        """Look at the state before a message."""
        self._of(env.body.type).before(env, docket)

    def after(self, env: Envelope, fx: Effects) -> None:
        """Judge a message that is in effect."""
        if isinstance(env.body, SocietyStarted):
            self._prices.load(env, env.body)
        else:
            self._of(env.body.type).after(env, fx)


class Backtests:
    """Recomputes backtests and scores."""

    def __init__(self, findings: Findings, prices: Prices) -> None:
        """Start with nothing recomputed."""
        self._findings = findings
        self._prices = prices
        self._strategy: Strategy | None = None
        self._opened_at: datetime | None = None
        self.recomputed = 0

    def before(self, env: Envelope, docket: Docket) -> None:
        """Look at the strategy that a result is of, and since when it is owed."""
        self._strategy = self._opened_at = None
        state = docket.cases.get(env.case_id or "")
        if isinstance(state, DebateState):
            self._strategy = state.strategy
            owed = next((o for o in state.owed if env.body.type in o.expects), None)
            self._opened_at = owed.opened_at if owed is not None else None

    def after(self, env: Envelope, fx: Effects) -> None:
        """Compute a result again; one that broke a rule has no effect."""
        body, universe = env.body, self._prices.universe
        if fx.violation is not None or fx.superseded:
            return
        if isinstance(body, RiskAssessment) and not self._prices.is_simulated(env):
            return
        if universe is None or self._strategy is None:
            why = self._prices.why or "it belongs to no debate"
            self._findings.skip(f"no {body.type}", env.seq, f"{body.type} was not computed again: {why}")
            return
        instants = [env.sent_at] if self._opened_at is None else [env.sent_at, self._opened_at]
        if isinstance(body, BacktestResult):
            self._backtest(env, body, self._strategy, self._views(universe, instants))
        elif isinstance(body, RiskAssessment):
            self._assessment(env, body, self._strategy, self._views(universe, instants))

    def _views(self, universe: Universe, instants: Sequence[datetime]) -> list[Universe]:
        """Return what existed at some instants, equal views once."""
        views: list[Universe] = []
        for instant in instants:
            view = universe.until(instant)
            if view not in views:
                views.append(view)
        return views

    def _backtest(
        self, env: Envelope, body: BacktestResult, strategy: Strategy, views: Sequence[Universe]
    ) -> None:
        self.recomputed += 1
        differences = [_compare_backtest(body, strategy, view) for view in views]
        if not all(differences):
            return
        if env.actor.kind == "human":
            self._findings.skip("a person's backtest", env.seq, f"{differences[0]}; a person says it")
        else:
            self._findings.add(env.seq, "evidence", "R-D15", differences[0])

    def _assessment(
        self, env: Envelope, body: RiskAssessment, strategy: Strategy, views: Sequence[Universe]
    ) -> None:
        differences = [_compare_scores(body, strategy, view) for view in views]
        if all(differences):
            self._findings.skip("scores", env.seq, differences[0])
        self.recomputed += 1


def _compare_backtest(body: BacktestResult, strategy: Strategy, universe: Universe) -> str:
    """Run a strategy over the test split; return the first difference to a BACKTEST_RESULT, "" for none."""
    from moot.bots.tools.backtest import PROFIT_FACTOR_CAP, backtest, judge
    from moot.bots.tools.errors import ToolError
    from moot.bots.tools.splits import splits
    from moot.bots.tools.statistics import published
    from moot.memory.evidence import InMemoryEvidence

    try:
        span = splits(universe).test
        report = backtest(_spec(strategy), universe, span)
    except ToolError as exc:
        is_empty = not body.passed and not any(body.metrics.model_dump().values())
        return "" if is_empty else f"metrics: the strategy cannot be tested: {exc}"
    given = body.metrics.model_dump()
    found: Mapping[str, float] = {**report.metrics}  # type: ignore[dict-item]
    for name, value in found.items():
        said = given[name]
        if said is None and name == "profit_factor" and value >= PROFIT_FACTOR_CAP:
            continue
        if said is None or round(said, DIGITS) != round(value, DIGITS):
            return f"metrics.{name}: {said}, the test split gives {value}"
    passed, reason = judge(report)
    if (body.passed, body.reason) != (passed, reason):
        return f"passed, reason: {body.passed}, {body.reason}; the test split gives {passed}, {reason}"
    if (body.split.from_, body.split.to) != (span.first.isoformat(), span.last.isoformat()):
        return f"split: {body.split.from_} to {body.split.to}, the test split is {span.first} to {span.last}"
    equity = {
        "dates": [str(day) for day in report.dates],
        "equity": [published(value) for value in report.equity.tolist()],
    }
    reference = InMemoryEvidence().put("equity", equity)
    if body.equity_ref not in ("", reference):
        return f"equity_ref: {body.equity_ref}, the equity curve is {reference}"
    return ""


def _compare_scores(body: RiskAssessment, strategy: Strategy, universe: Universe) -> str:
    """Assess a strategy; return the first difference to the scores of a RISK_ASSESSMENT, "" for none.

    What it has in common with approved strategies (`correlation_risk`) is the Critic's choice of them.
    """
    from moot.bots.tools.errors import ToolError
    from moot.bots.tools.risk import assess

    try:
        scores: Mapping[str, float] = assess(_spec(strategy), universe).scores
    except ToolError:
        scores = dict.fromkeys(body.scores.model_dump(), 1.0)
    for name, said in body.scores.model_dump().items():
        if name != "correlation_risk" and round(said, DIGITS) != round(scores[name], DIGITS):
            return f"scores.{name}: {said}, the prices give {scores[name]}"
    return ""


def _spec(strategy: Strategy) -> Any:
    from moot.bots.tools.strategies import StrategySpec

    return StrategySpec(strategy.archetype, dict(strategy.params), tuple(strategy.symbols))
