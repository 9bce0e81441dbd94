"""Fills recomputed: what the paper broker made of an order, from the prices and the seed that the log names (K11).

The broker is a pure function of order, market and seed, so every EXECUTION can be derived from its ORDER, whoever fills
the Trader's seat. A script or a person may tell anything, and a log need not say that it did: an EXECUTION of which
neither price nor slippage nor fee is the broker's is taken for theirs, and is not borne out, as long as no other one
shows that the broker fills this log's orders. The next figures must agree with it all the same.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.trading.messages import Execution, Order
from moot.protocols.trading.trade_state import CANCELLING, TradeState
from moot.verify.prices import Prices
from moot.verify.report import Findings

if TYPE_CHECKING:
    from moot.bots.desk.broker import Answer, Ticket
    from moot.bots.desk.market import Market

EARLY: Final = timedelta(seconds=1)
"""A fill told no earlier than this before its time is told in time: clocks round."""

KEPT: Final = 4096
"""So many orders are remembered, the latest."""


class Fills:
    """Derives each EXECUTION.

    Attributes:
        recomputed: How many were derived again.
    """

    def __init__(self, findings: Findings, prices: Prices) -> None:
        """Start without orders."""
        self._findings = findings
        self._prices = prices
        self._tickets: dict[str, Ticket] = {}
        self._asked: tuple[str, int, datetime] | None = None
        self._is_brokers = False
        self.recomputed = 0

    def before(self, env: Envelope, docket: Docket) -> None:
        """Look at the trade that an EXECUTION belongs to: its order, what was told of it, since when it is owed."""
        self._asked = None
        body = env.body
        if not isinstance(body, Execution):
            return
        state, owed = docket.cases.get(env.case_id or ""), docket.open.get(env.obligation_id or "")
        filled = docket.context.fold_named("book").filled(body.client_order_id)
        is_asked = isinstance(state, TradeState) and owed is not None
        phase = state.phase if isinstance(state, TradeState) else ""
        self._asked = phase, filled, owed.opened_at if is_asked and owed is not None else env.sent_at

    def after(self, env: Envelope, fx: Effects) -> None:
        """Derive what an EXECUTION should say; one that broke a rule may say anything but is looked at as well."""
        body = env.body
        if isinstance(body, Order):
            if fx.violation is None:
                self._remember(env, body)
        elif isinstance(body, Execution) and self._asked is not None:
            market, ticket = self._prices.market, self._tickets.get(body.client_order_id)
            if market is None or ticket is None:
                why = self._prices.why_no_market or f"no order {body.client_order_id} is known any more"
                self._findings.skip("no fill", env.seq, f"EXECUTION was not computed again: {why}")
                return
            told = self._answer(env, market, ticket, *self._asked)
            if told is None:
                self._findings.skip("no fill", env.seq, "the paper broker says nothing of this order by then")
            else:
                self._judge(env, body, told)

    def _remember(self, env: Envelope, body: Order) -> None:
        from moot.bots.desk.broker import Ticket

        limit = body.limit_price if body.order_type == "limit" else None
        self._tickets[body.client_order_id] = Ticket(
            body.client_order_id, body.symbol, body.side, body.quantity, env.sent_at, limit
        )
        if len(self._tickets) > KEPT:
            del self._tickets[next(iter(self._tickets))]

    def _answer(
        self, env: Envelope, market: Market, ticket: Ticket, phase: str, filled: int, opened_at: datetime
    ) -> Answer | None:
        """Return what the broker says: the next part, or, at a halt, what was filled until then."""
        from moot.bots.desk.broker import answer, cancel, ends_at

        seed = market.seed
        if phase == CANCELLING:
            return cancel(ticket, market, opened_at, seed, filled)
        ready_at = ends_at(ticket, market, seed, filled)
        if env.sent_at < ready_at - EARLY:
            why = f"told at {env.sent_at:%H:%M:%S}, the paper broker says it at {ready_at:%H:%M:%S}"
            self._findings.skip("early fill", env.seq, why)
        return answer(ticket, market, max(env.sent_at, ready_at), seed, filled)

    def _judge(self, env: Envelope, body: Execution, told: Answer) -> None:
        self.recomputed += 1
        off = _difference(body, told)
        if not off:
            self._is_brokers = self._is_brokers or told.quantity > 0
            return
        said = (body.avg_price, body.slippage_bps, body.fee)
        is_like = told.quantity > 0 and any(map(_same, said, (told.price, told.slippage_bps, told.fee)))
        if env.actor.kind == "human":
            self._findings.skip("a person's fill", env.seq, f"{off}; a person says it")
        elif self._is_brokers or is_like:
            self._findings.add(env.seq, "evidence", "K11", off)
        else:
            self._findings.skip("foreign fill", env.seq, f"{off}; it is not taken for the paper broker's")


def _same(said: float, told: float) -> bool:
    return round(said, 6) == round(told, 6)


def _difference(body: Message, told: Answer) -> str:
    """Return the first difference between an EXECUTION and what the broker says, "" for none."""
    given: dict[str, Any] = body.model_dump()
    wanted = {
        "status": told.status,
        "qty_filled": told.quantity,
        "avg_price": told.price,
        "slippage_bps": told.slippage_bps,
        "fee": told.fee,
    }
    for name, value in wanted.items():
        if given[name] != value and (isinstance(value, str) or not _same(given[name], value)):
            return f"{name}: {given[name]}, the paper broker makes it {value}"
    return ""
