"""Marks looked up again: the prices that checks and closes name, in the market that the log names (R-M3).

Those that differ break no rule, and are told: scenes make prices up on purpose, and their logs do not say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.trading.messages import MarketClose, RiskCheck
from moot.verify.prices import Prices
from moot.verify.report import Findings

if TYPE_CHECKING:
    from moot.bots.desk.market import Market

STEP: Final = timedelta(minutes=1)
"""Prices change so often; an answer may have been on its way when one did."""


class Marks:
    """Looks up what the Guardian and the Operator say that prices are, whoever fills these seats.

    Attributes:
        recomputed: How many messages were looked at.
    """

    def __init__(self, findings: Findings, prices: Prices) -> None:
        """Start with nothing to look up."""
        self._findings = findings
        self._prices = prices
        self._opened_at: datetime | None = None
        self.recomputed = 0

    def before(self, env: Envelope, docket: Docket) -> None:
        """Look up since when a message is owed."""
        owed = docket.open.get(env.obligation_id or "")
        self._opened_at = owed.opened_at if owed is not None else None

    def after(self, env: Envelope, fx: Effects) -> None:
        """Look up the prices of a message."""
        body, opened_at = env.body, self._opened_at or env.sent_at
        market = self._prices.market
        if market is None:
            why = f"{body.type} was not computed again: {self._prices.why_no_market}"
            self._findings.skip(f"no {body.type}", env.seq, why)
        elif isinstance(body, RiskCheck):
            self._compare(env, body.marks, market, (env.sent_at, env.sent_at - STEP, opened_at))
        elif isinstance(body, MarketClose):
            self._compare(env, body.closes, market, (opened_at, env.sent_at))

    def _compare(
        self, env: Envelope, said: Mapping[str, float], market: Market, instants: tuple[datetime, ...]
    ) -> None:
        """Compare prices with the market's at some instants, any one of which will do."""
        self.recomputed += 1
        first: tuple[str, float | None] | None = None
        for instant in instants:
            off = next(
                (
                    (name, now)
                    for name, price in said.items()
                    if (now := market.price(name, instant)) != price
                ),
                None,
            )
            if off is None:
                return
            first = first or off
        if first is not None:
            name, now = first
            self._findings.skip("marks", env.seq, f"{name}: {said[name]}, the market's price is {now}")
