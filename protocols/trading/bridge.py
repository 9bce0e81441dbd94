"""What passes between the systems: when a feedback on a strategy, or its recall, is due (spec 6, R-B9, R-B10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.case import CaseState
from moot.protocols.kernel.context import RuleContext
from moot.protocols.trading.book_figures import Ratio
from moot.protocols.trading.life import Life
from moot.protocols.trading.messages import FeedbackResponse, RecallRequest
from moot.protocols.trading.standing import PRODUCTION, Standing

if TYPE_CHECKING:
    from moot.protocols.trading.book import Book

FEEDBACK_KIND, RECALL_KIND = "feedback", "recall"

SESSIONS: Final = 5
"""Sessions in production before a strategy is judged (R-B9, R-B10)."""
SHARE: Final = 0.5
"""A realised Sharpe ratio below this share of the backtest's is worth a feedback (R-B9)."""
LOSING: Final = 0.0
"""A strategy in production whose realised Sharpe ratio is below it is recalled (R-B10)."""
ONCE_IN: Final = timedelta(days=7)
"""At most one feedback a strategy in this time (R-B9)."""


@dataclass(frozen=True, kw_only=True)
class BridgeState(CaseState):
    """State of a feedback or a recall.

    Attributes:
        strategy_id: What it is about.
        figures: What the opener says of it: expected and actual, or its Sharpe ratio, and its sessions.
        live: What it did from its promotion to the opener; the lesson that follows quotes it (R-F5).
        answer: The Operator's response or request, once there is one.
        result: How it ends when all that follows is done.
        is_missed: Whether what would have withdrawn the strategy was missed.
    """

    strategy_id: str
    figures: Mapping[str, float]
    live: Mapping[str, float]
    answer: FeedbackResponse | RecallRequest | None = None
    result: str = ""
    is_missed: bool = False


def is_underperforming(context: RuleContext, strategy_id: str) -> bool:
    """Say whether a strategy's realised Sharpe ratio is worth a feedback now (R-B9).

    It stands in production for at least five sessions, the ratio since its promotion is below half of its
    backtest's, there was no feedback on it within a week, and no recall of it is open (R-F5).
    """
    known = life_of(context).strategies.get(strategy_id)
    if known is None or known.stage != PRODUCTION or known.sessions_in_production < SESSIONS:
        return False
    actual, expected = _ratio(context, known).sharpe, known.backtest.get("sharpe")
    if actual is None or expected is None or actual >= SHARE * expected:
        return False
    return not (is_too_early(known, context.at) or is_recalling(context, strategy_id))


def is_losing(context: RuleContext, strategy_id: str) -> bool:
    """Say whether a strategy is to be recalled now (R-B10).

    It stands in production for at least five sessions, its realised Sharpe ratio is below 0, and no recall of it
    was flagged before.
    """
    known = life_of(context).strategies.get(strategy_id)
    if known is None or known.stage != PRODUCTION or known.sessions_in_production < SESSIONS:
        return False
    actual = _ratio(context, known).sharpe
    return actual is not None and actual < LOSING and not known.is_flagged


def is_recalling(context: RuleContext, strategy_id: str) -> bool:
    """Say whether a recall of a strategy is open (R-F5)."""
    return any(s.kind == RECALL_KIND and s.strategy_id == strategy_id for s in _open(context))


def feedback_figures(context: RuleContext, strategy_id: str) -> dict[str, Any]:
    """Return the field of PERFORMANCE_FEEDBACK that the log fixes, with the figures that it knows (R-B9, R-F6)."""
    known = life_of(context).strategies[strategy_id]
    actual, expected = _ratio(context, known), known.backtest.get("sharpe")
    return {
        "expected_vs_actual": {
            **({"expected_sharpe": expected} if expected is not None else {}),
            **({"actual_sharpe": actual.sharpe} if actual.sharpe is not None else {}),
            "n": actual.n,
        }
    }


def recall_figures(context: RuleContext, strategy_id: str) -> dict[str, Any]:
    """Return the fields of RECALL_FLAG that the log fixes, as far as it knows them (R-B10, R-F6)."""
    actual = _ratio(context, life_of(context).strategies[strategy_id])
    return {**({"sharpe": actual.sharpe} if actual.sharpe is not None else {}), "n": actual.n}


def _open(context: RuleContext) -> list[BridgeState]:
    return [state for state in context.cases.values() if isinstance(state, BridgeState)]


def life_of(context: RuleContext) -> Life:
    """Return the fold of strategies."""
    life: Life = context.fold_named("life")
    return life


def book_of(context: RuleContext) -> Book:
    """Return the fold of money."""
    book: Book = context.fold_named("book")
    return book


def _ratio(context: RuleContext, known: Standing) -> Ratio:
    return book_of(context).ratio(known.strategy_id, "promotion")


def is_too_early(known: Standing, now: datetime | None) -> bool:
    """Say whether the last feedback on a strategy was given within a week (R-B9)."""
    return known.fed_back_at is not None and now is not None and now < known.fed_back_at + ONCE_IN
