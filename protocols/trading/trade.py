"""A trade: a signal, its orders, and what the broker did with them (K11, R-B5, R-B7, R-F4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.machine import Machine, Start
from moot.protocols.kernel.steps import ENDED, STOP, Effect, Missed, Move, RuleInput, Step
from moot.protocols.kernel.times import minutes
from moot.protocols.trading.briefing import session_of
from moot.protocols.trading.messages import Execution, NoOrder, Order, Signal
from moot.protocols.trading.seats import TRADER
from moot.protocols.trading.trade_fills import executed, execution_brief, execution_figures, unanswered
from moot.protocols.trading.trade_orders import (
    declined,
    not_ordered,
    open_trade,
    order_brief,
    order_figures,
    ordered,
)
from moot.protocols.trading.trade_state import (
    CANCELLING,
    EXECUTING,
    FLATTENING,
    HALTED,
    KIND,
    ORDERING,
    STOPPED,
    TradeState,
)

DESK: Final = "#b-desk"

ON_HALT: Final = Decision("void", "halt", "R-B5")
"""What the Referee rules on the trades that a halt finds open."""
STOPPED_BY_HALT: Final = frozenset({"order", "execution"})
"""Steps that a halt stops; what is being cancelled or flattened goes on."""


def on_halt(state: CaseState) -> Decision | None:
    """Say what the Referee rules on an open case when the desk is halted; None: nothing (R-B5)."""
    return ON_HALT if isinstance(state, TradeState) and _is_stopped_by_halt(state) else None


def _is_stopped_by_halt(state: TradeState) -> bool:
    """Say whether an order, or the broker's answer to one, is owed that a halt stops; one that flattens goes on."""
    return not state.is_flattening and any(due.rule in STOPPED_BY_HALT for due in state.owed)


def _halted(state: TradeState, _given: RuleInput) -> Effect | None:
    """At a halt a trade without an order ends; one with an order owes its cancellation, or what was filled (R-B5)."""
    if not _is_stopped_by_halt(state):
        return None
    if state.order is None:
        return Effect(to=ENDED, outcome=HALTED)
    return Effect({"executions": state.executions + 1}, to=CANCELLING)


def _stopped(_state: TradeState, _given: RuleInput) -> Effect:
    return Effect(outcome=STOPPED)


def _numbered(state: TradeState, _subject: None) -> str:
    return f"execution-{state.executions}"


def _order_step(phase: str, rule: str, name: Callable[[TradeState, None], str] | None = None) -> Step:
    """Return the duty to give an order, or to say why none is given."""
    return Step(
        phase=phase,
        seat=TRADER,
        channel=DESK,
        moves={Order: Move((EXECUTING,), ordered), NoOrder: Move((ENDED,), declined)},
        missed=Missed(rule, "void", Move((ENDED,), not_ordered)),
        rule="K11",
        within=minutes(5),
        grace=minutes(5),
        name=name,
        figures=order_figures,
        brief=order_brief,
    )


def _execution_step(phase: str, rule: str, within: int) -> Step:
    """Return the duty to say what the broker did."""
    return Step(
        phase=phase,
        seat=TRADER,
        channel=DESK,
        moves={Execution: Move((phase, FLATTENING, ENDED), executed)},
        missed=Missed(rule, "void", Move((FLATTENING, ENDED), unanswered)),
        rule="K11",
        within=minutes(within),
        grace=minutes(within),
        name=_numbered,
        figures=execution_figures,
        brief=execution_brief,
    )


TRADE: Final = Machine(
    kind=KIND,
    system="B",
    phases=(ORDERING, EXECUTING, CANCELLING, FLATTENING),
    rule="K11",
    start={Signal: Start(open_trade, (ORDERING,))},
    steps={
        "order": _order_step(ORDERING, "K11"),
        "execution": _execution_step(EXECUTING, "K11", 10),
        "execution/cancelling": _execution_step(CANCELLING, "R-B5", 5),
        "flatten": _order_step(FLATTENING, "R-B5", lambda state, _subject: f"flatten-{state.orders}"),
    },
    rulings={
        STOP: Move((ENDED,), _stopped),
        ON_HALT.reason: Move((ENDED, CANCELLING), _halted),
    },
    parent_of=session_of,
)
"""A trade: only silence is silence, an order that is not given is said not to be (R-F4)."""
