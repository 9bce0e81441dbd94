"""What simulated minds may call: prices as of an instant, evidence, and the society's seed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from moot.bots.desk.broker import Broker
from moot.bots.desk.market import Market
from moot.bots.minds.simulated.temper import DEFAULT, Temper
from moot.bots.tools.backtest import BacktestReport, backtest
from moot.bots.tools.risk import regime
from moot.bots.tools.splits import splits
from moot.bots.tools.statistics import published
from moot.bots.tools.strategies import StrategySpec
from moot.bots.tools.universe import SESSION_ENDS_AT, Universe
from moot.memory.errors import StoreUnavailable
from moot.memory.evidence import Evidence

WORK: Final = "dossier"
"""Kind of evidence: a dossier or a proposal, as a panel's Phase 2 is shown it."""


class SimulatedTools:
    """The one thing that the minds of all seats share; it holds no state of its own.

    Attributes:
        seed: The society's seed.
        temper: The constants of behaviour.
        market: Prices within a day, for the desk.
        broker: Fills the desk's orders.
    """

    def __init__(
        self,
        universe: Universe,
        evidence: Evidence,
        seed: int,
        bars_as_of: Callable[[datetime], Universe] | None = None,
        temper: Temper = DEFAULT,
        market: Market | None = None,
        broker: Broker | None = None,
    ) -> None:
        """Equip the minds of a society.

        Args:
            universe: The whole universe, its future included.
            evidence: Where equity curves go.
            seed: The society's seed.
            bars_as_of: Shows what exists at an aware instant; None for `universe.until`.
            temper: The constants of behaviour.
            market: Prices within a day; None for seeded ones of this universe (R-M3).
            broker: Fills the desk's orders; None for the paper broker of the market.
        """
        self.seed = seed
        self.temper = temper
        # A society that goes on under another seed keeps its prices, those within a day and its fills too (K11).
        of_prices = universe.seed if universe.continuation is not None else seed
        self.market = Market(universe, of_prices) if market is None else market
        self.broker = Broker(self.market) if broker is None else broker
        self._evidence = evidence
        self._bars_as_of = universe.until if bars_as_of is None else bars_as_of

    def bars(self, now: datetime) -> Universe:
        """Return what exists at an instant."""
        return self._bars_as_of(now)

    def regime(self, universe: Universe) -> str:
        """Label the market at the end of the validation, the latest that a seat may know (R-D15).

        Lessons are kept and looked up under this label, so that the test split cannot steer a hypothesis.
        """
        return _regime(universe)

    def test(self, spec: StrategySpec, universe: Universe) -> BacktestReport:
        """Run a strategy over the test split; only an APPROVE gives the right to ask (R-D15)."""
        return backtest(spec, universe, splits(universe).test)

    def keep_equity(self, report: BacktestReport) -> str:
        """Keep the equity curve of a backtest as evidence.

        Returns:
            Its reference; "" when the disk did not take it, for a verdict does not hang on a full disk.
        """
        payload = {
            "dates": [str(day) for day in report.dates],
            "equity": [published(value) for value in report.equity.tolist()],
        }
        try:
            return self._evidence.put("equity", payload)
        except StoreUnavailable:
            return ""

    def keep_work(self, text: str) -> str:
        """Keep a text that a panel is to judge as evidence.

        Returns:
            Its reference; "" when the disk did not take it.
        """
        try:
            return self._evidence.put(WORK, {"text": text})
        except StoreUnavailable:
            return ""


@lru_cache(maxsize=32)
def _regime(universe: Universe) -> str:
    last = splits(universe).validation.last
    return regime(universe.until(datetime.combine(last, SESSION_ENDS_AT, UTC)))
