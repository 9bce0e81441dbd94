"""The market in a spell: symbols that are halted, have no price, hardly trade, or cost a part; and its broker."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from moot.bots.desk.broker import Answer, Broker, Ticket
from moot.bots.desk.market import Market
from moot.bots.tools.bars import Bars
from moot.chaos.dice import Dice
from moot.chaos.plan import Spell, WorldPlan
from moot.chaos.striking import Striking

LEAST: Final = 0.01
DECIMALS: Final = 4

SLUMP: Final = "slump"
"""What strikes all symbols alike: the prices of the whole market."""

NEVER: Final = timedelta(days=365)
"""After so long a broker answers that does not."""


class MarketSpells:
    """The spells of a market: whom they strike goes by society time, so that it is the same whenever it is asked."""

    def __init__(self, plan: WorldPlan, striking: Striking) -> None:
        """Take the plan."""
        self._start = plan.start
        self._speed = plan.speed
        self._dice = Dice("market", plan.seed)
        self._striking = striking
        self._struck: set[tuple[int, str]] = set()
        self._spells = [spell for spell in plan.spells if spell.kind == "market"]

    def under(self, name: str, what: str, instant: datetime) -> Iterator[Spell]:
        """Yield the spells that a symbol or an order is under at an instant of society time."""
        if not self._spells:
            return
        at_s = (instant - self._start).total_seconds() / self._speed
        for spell in self._spells:
            is_on = spell.name == name and spell.at_s <= at_s < spell.ends_s
            if is_on and (name == SLUMP or self._dice.of(spell.n, what).chance(spell.rate)):
                if (spell.n, what) not in self._struck:
                    self._struck.add((spell.n, what))
                    self._striking.happened[spell.fault] += 1
                yield spell


class StruckMarket(Market):
    """A market as its spells let it be: what it tells of an instant is the same whenever it is asked (K11)."""

    def __init__(self, market: Market, spells: MarketSpells) -> None:
        """Take over a market."""
        super().__init__(market.universe, market.seed, market.intraday)
        self._under = spells.under

    def is_open(self, symbol: str, instant: datetime) -> bool:
        if any(self._under("halted", symbol, instant)):
            return False
        return super().is_open(symbol, instant)

    def price(self, symbol: str, instant: datetime) -> float | None:
        found = super().price(symbol, instant)
        if found is None or any(self._under("gap", symbol, instant)):
            return None
        for spell in (*self._under("split", symbol, instant), *self._under(SLUMP, symbol, instant)):
            found = max(round(found * spell.size, DECIMALS), LEAST)
        return found

    def tail(self, symbol: str, instant: datetime, count: int) -> Bars | None:
        if any(self._under("gap", symbol, instant)):
            return None
        return super().tail(symbol, instant, count)

    def liquidity(self, symbol: str, instant: datetime) -> float | None:
        found = super().liquidity(symbol, instant)
        for spell in self._under("thin", symbol, instant):
            found = spell.size if found is None else min(found, spell.size)
        return found


class StruckBroker(Broker):
    """A broker as the spells of an order let it be, which are those that it was placed in."""

    def __init__(self, broker: Broker, spells: MarketSpells) -> None:
        """Take over from a broker."""
        super().__init__(broker.market)
        self._spells = spells

    def ends_at(self, ticket: Ticket, filled: int = 0) -> datetime:
        if self._is("rejects", ticket):
            return ticket.placed_at
        ends_at = super().ends_at(ticket, filled)
        if self._is("never", ticket):
            return ends_at + NEVER
        late_s = sum(spell.size for spell in self._under("late", ticket))
        return ends_at + timedelta(seconds=round(late_s))

    def answer(self, ticket: Ticket, instant: datetime, filled: int = 0) -> Answer | None:
        if instant < self.ends_at(ticket, filled):
            return None
        if self._is("rejects", ticket):
            return self._rejected(filled)
        found = super().answer(ticket, instant, filled)
        for spell in self._under("partly", ticket):
            most = max(int(ticket.quantity / spell.size), 1)
            if found is None or not found.quantity or filled + found.quantity <= most < ticket.quantity:
                continue
            if filled >= most:
                return Answer("cancelled", reason="the broker fills no more of it")
            found = found._replace(status="partial", quantity=most - filled)
        return found

    def cancel(self, ticket: Ticket, cancelled_at: datetime, filled: int = 0) -> Answer:
        if self._is("rejects", ticket) or self._is("never", ticket):
            return self._rejected(filled)
        return super().cancel(ticket, cancelled_at, filled)

    def _rejected(self, filled: int) -> Answer:
        return Answer("cancelled" if filled else "rejected", reason="the broker does not take it")

    def _is(self, name: str, ticket: Ticket) -> bool:
        return any(True for _ in self._under(name, ticket))

    def _under(self, name: str, ticket: Ticket) -> Iterator[Spell]:
        return self._spells.under(name, ticket.client_order_id, ticket.placed_at)
