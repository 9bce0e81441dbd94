"""What of a message is measured, and what is the seat's own word.

A backtest, a fill or a mark is no matter of opinion: whatever fills the seat, the society's tools measure it, and a
model is asked for the rest only. Types that are not listed here are the seat's own, but for what the rules fix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

_OWN: Final[Mapping[str, tuple[str, ...]]] = {
    "BACKTEST_RESULT": (),
    "STRATEGY_MOVED": ("to", "reason"),
    "CAUSAL_RECORD": ("record.summary",),
    "REFLECTION": ("record.summary",),
    "MICRO_CYCLE_REPORT": (),
    "PRINCIPLE_SYNTHESIS": (),
    "PERFORMANCE_FEEDBACK": ("proposed_adjustment",),
    "ARENA_TASK": ("task.initial_prompt",),
    "HOOK_RESULT": (),
    "RUN_FAULT": (),
    "PANEL_OPENED": (),
    "PRE_MARKET_CHECK": (),
    "RISK_CHECK": (),
    "OVERNIGHT_RISK_CHECK": (),
    "RISK_ALERT": ("message",),
    "METRICS_RECORDED": (),
    "RECALL_FLAG": (),
    "DESK_CHECK": (),
    "SIGNAL": ("reason",),
    "ORDER": (),
    "NO_ORDER": (),
    "EXECUTION": (),
    "CHECK_NEW_STRATEGIES": (),
    "TRADING_SUMMARY": (),
    "MARKET_CLOSE": (),
    "DAILY_TRADING_REPORT": (),
    "WEEKLY_TRADING_REPORT": (),
    "DEPLOY_PROPOSAL": (),
    "DEPLOY_REVIEW": (
        "risk_assessment",
        "concerns",
        "recommended_position_limit",
        "executability",
        "suggested_order_type",
    ),
    "PROMOTION_PROPOSAL": (),
    "PROMOTION_REVIEW": ("risk_trend", "execution_issues", "recommendation"),
    "FEASIBILITY": ("feasible", "note"),
}
"""By type what its seat says of its own, dotted within objects; all else of it is measured."""


def is_measured(kind: str) -> bool:
    """Say whether some of a type is measured."""
    return kind in _OWN


def own_fields(kind: str) -> tuple[str, ...] | None:
    """Return the fields of a type that are its seat's own word; None where all are."""
    return _OWN.get(kind)


class Counted(NamedTuple):
    """A list whose items bear numbers that go on from one that the figures tell.

    Attributes:
        items: The list.
        number: The field of an item.
        first: The figure.
    """

    items: str
    number: str
    first: str


COUNTED: Final[Mapping[str, Counted]] = {"OBJECTIONS": Counted("objections", "number", "next_number")}
"""By type what is numbered for the seat: to count is no matter of opinion either."""


class Among(NamedTuple):
    """A field whose values are those of a figure.

    Attributes:
        field: The field, dotted within objects and the items of a list.
        figure: The figure: a list of values, or of entries that begin with one.
        besides: What else it may be.
    """

    field: str
    figure: str
    besides: tuple[str, ...] = ()


AMONG: Final[Mapping[str, tuple[Among, ...]]] = {
    "REPLIES": (Among("replies.number", "unanswered"),),
    "JUDGMENT": (Among("option", "options", ("",)),),
    "ARCHITECTURE_CRITIQUE": (Among("critiques.change_id", "changes"),),
    "ARCHITECTURE_REBUTTAL": (Among("responses.change_id", "changes"),),
    "ARCHITECTURE_VERDICT": (
        Among("approved_changes.change_id", "changes"),
        Among("deferred", "changes"),
        Among("rejected", "changes"),
    ),
}
"""By type the fields that name something that the figures list, so that a form can hold a model to what there is."""
