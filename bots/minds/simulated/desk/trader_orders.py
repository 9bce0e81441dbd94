"""The Trader's orders: what is ordered of a signal, and what the broker did with it (K11, R-B5, R-B7, R-F4)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from moot.bots.desk.broker import Ticket
from moot.bots.minds.mind import Reply, View
from moot.bots.minds.simulated.desk.deskfile import filled_in
from moot.bots.minds.simulated.tools import SimulatedTools
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.protocols.trading.messages import Execution, NoOrder, Order
from moot.protocols.trading.no_order import Facts, most, reason_for
from moot.protocols.trading.seats import TRADER
from moot.protocols.trading.trade_state import CANCELLING


def order(turn: Turn) -> Reply:
    """Order what was signalled, as much of it as the rules leave; where they leave nothing, say why (R-B7, R-F4)."""
    facts = Facts(**turn.view.brief["facts"])
    reason = reason_for(facts, turn.now)
    if reason is not None and "NO_ORDER" in turn.view.obligation.expects:
        return Reply(filled_in(NoOrder, turn, reason=reason))
    # A script may want an order where none need be given; it is the one that was signalled.
    return Reply(filled_in(Order, turn, quantity=most(facts, turn.now) or facts.quantity))


def ticket_of(view: View) -> Ticket | None:
    """Return the order that an EXECUTION is owed for, as the broker got it; None when the log shows none."""
    wanted = view.brief["client_order_id"]
    for env in reversed(view.in_effect):
        if isinstance(env.body, Order) and env.body.client_order_id == wanted:
            body = env.body
            limit = body.limit_price if body.order_type == "limit" else None
            return Ticket(wanted, body.symbol, body.side, body.quantity, env.sent_at, limit)
    return None


def ready_at(view: View, tools: SimulatedTools) -> datetime | None:
    """Return from when on the broker has an answer to what is owed; None when there is nothing to wait for."""
    if view.brief["phase"] == CANCELLING:
        return None
    ticket = ticket_of(view)
    if ticket is None:
        return None
    return tools.broker.ends_at(ticket, int(view.brief["filled"]))


def execute(turn: Turn) -> Reply | None:
    """Tell what the broker did with an order: its next part, or at a halt what was filled until then (K11, R-B5)."""
    view, tools, brief = turn.view, turn.tools, turn.view.brief
    ticket = ticket_of(view)
    if ticket is None:
        return None
    told = int(brief["filled"])
    is_cancelled = brief["phase"] == CANCELLING
    if is_cancelled:
        found = tools.broker.cancel(ticket, view.obligation.opened_at, told)
    else:
        # A script may hurry the answer; what it then tells is what will have happened.
        at = max(turn.now, ready_at(view, tools) or turn.now)
        asked = tools.broker.answer(ticket, at, told)
        if asked is None:
            return None
        found = asked
    return Reply(
        filled_in(
            Execution,
            turn,
            action=ticket.side,
            qty_filled=found.quantity,
            avg_price=found.price,
            slippage_bps=found.slippage_bps,
            status=found.status,
            fee=found.fee,
            fill_after_halt=bool(brief["is_after_halt"]) and found.quantity > 0,
        )
    )


ANSWERS: Final[Answers] = {
    (TRADER, Order): order,
    (TRADER, NoOrder): order,
    (TRADER, Execution): execute,
}
