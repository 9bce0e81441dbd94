"""The market in a spell: symbols that are halted, have no price, hardly trade, or cost a part of what they did."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from moot.bots.desk.market import Market
from moot.chaos.dice import Dice
from moot.chaos.plan import Spell, WorldPlan
from moot.chaos.striking import Striking

LEAST: Final = 0.01
DECIMALS: Final = 4


class StruckMarket(Market):
    """A market as its spells let it be: what it tells of an instant is the same whenever it is asked (K11)."""

    def __init__(self, market: Market, plan: WorldPlan, striking: Striking) -> None:
        """Take over a market."""
        super().__init__(market.universe, market.seed, market.intraday)
        self._start = plan.start
        self._speed = plan.speed
        self._dice = Dice("market", plan.seed)
        self._striking = striking
        self._struck: set[tuple[int, str]] = set()
        self._spells = [spell for spell in plan.spells if spell.kind == "market"]

    def is_open(self, symbol: str, instant: datetime) -> bool:
        if any(self._under("halted", symbol, instant)):
            return False
        return super().is_open(symbol, instant)

    def price(self, symbol: str, instant: datetime) -> float | None:
        found = super().price(symbol, instant)
        if found is None or any(self._under("gap", symbol, instant)):
            return None
        for spell in self._under("split", symbol, instant):
            found = max(round(found * spell.size, DECIMALS), LEAST)
        return found

    def liquidity(self, symbol: str, instant: datetime) -> float | None:
        found = super().liquidity(symbol, instant)
        for spell in self._under("thin", symbol, instant):
            found = spell.size if found is None else min(found, spell.size)
        return found

    def _under(self, name: str, symbol: str, instant: datetime) -> Iterator[Spell]:
        """Yield the spells that a symbol is under at an instant of society time."""
        if not self._spells:
            return
        at_s = (instant - self._start).total_seconds() / self._speed
        for spell in self._spells:
            is_on = spell.name == name and spell.at_s <= at_s < spell.ends_s
            if is_on and self._dice.of(spell.n, symbol).chance(spell.rate):
                if (spell.n, symbol) not in self._struck:
                    self._struck.add((spell.n, symbol))
                    self._striking.happened[spell.fault] += 1
                yield spell
