"""What the decisions of System B rest on: its decision tables in words, its limits, what reviewers object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from moot.protocols.kernel.grounds import Bar, Decides, Grounds, Table
from moot.protocols.trading import alert, deploy, promotion
from moot.protocols.trading.bridge import LOSING
from moot.protocols.trading.limits import LIMITS

_ANYTHING: Final = "anything"


def _words(code: str) -> str:
    return code.replace("_", " ").lower() or _ANYTHING


def _reviews(said: Sequence[Any], kind: str) -> dict[str, Any]:
    """Return the last review of each form, by the form's name."""
    return {body.form: body for body in said if body.type == kind}


def _on_deployment(said: Sequence[Any], _decision: Any) -> int:
    found = _reviews(said, "DEPLOY_REVIEW")
    guardian, trader = found.get("guardian"), found.get("trader")
    return deploy.TABLE.index(deploy.row_of(deploy.guardian_says(guardian), deploy.trader_says(trader)))


def _on_promotion(said: Sequence[Any], _decision: Any) -> int:
    found = _reviews(said, "PROMOTION_REVIEW")
    says = (
        found[form].recommendation if form in found else promotion.MISSING for form in ("guardian", "trader")
    )
    return promotion.TABLE.index(promotion.row_of(*says))


def _on_alert(said: Sequence[Any], _decision: Any) -> int | None:
    """Name the last projection; before there is one, the level."""
    says = [body.trend if body.type == "RISK_PROJECTION" else getattr(body, "level", "") for body in said]
    known = [word for word in says if word in alert.ALLOWED]
    return [*alert.ALLOWED].index(known[-1]) if known else None


def _reviewed(title: str, rows: Sequence[Any], on: Any) -> Table:
    head = ("row", "the Guardian says", "the Trader says", "then")
    told = (
        (str(row.n), _words(row.guardian), _words(row.trader), _words(row.decision).replace("_", " "))
        for row in rows
    )
    return Table(title, head, tuple(told), on)


DEPLOYING: Final = _reviewed("what two reviews of a deployment lead to", deploy.TABLE, _on_deployment)
PROMOTING: Final = _reviewed("what two reviews of a promotion lead to", promotion.TABLE, _on_promotion)
ALLOWED: Final = Table(
    "what may be decided on an alert",
    ("level or projection", "may be decided"),
    tuple((_words(said), " or ".join(map(_words, may))) for said, may in alert.ALLOWED.items()),
    _on_alert,
)


def _falls(body: Any) -> bool:
    """Say whether an alert is about a figure that is worse the lower it is."""
    limit = LIMITS.get(body.metric)
    return limit is not None and limit.sign < 0


def _doubts(body: Any) -> Sequence[str]:
    """Return what a reviewer of a deployment has against it."""
    is_content = body.risk_assessment in (None, deploy.ACCEPTABLE)
    is_fit = body.executability in (None, deploy.READY) and not body.liquidity_concern
    return () if is_content and is_fit else body.concerns or ("",)


GROUNDS: Final = Grounds(
    decides={
        "DEPLOY_DECISION": Decides("decision", ("feedback",)),
        "PROMOTION_DECISION": Decides("decision"),
        "STRATEGY_MOVED": Decides("to", ("reason",)),
        "RISK_ALERT": Decides("level", ("message",)),
        "RISK_DECISION": Decides("action", ("reason", "waits_for")),
        "HALT": Decides("type", ("reason",)),
        "RESUME_CONFIRMED": Decides("type", ("checks",)),
        "SIGNAL": Decides("action", ("reason",)),
        "NO_ORDER": Decides("reason"),
        "EXECUTION": Decides("status"),
        "PERFORMANCE_FEEDBACK": Decides("type", ("proposed_adjustment",)),
        "FEEDBACK_RESPONSE": Decides("action", ("counter_evidence",)),
        "RECALL_FLAG": Decides("type"),
        "RECALL_REQUEST": Decides("type", ("reason",)),
    },
    bars={
        "PROMOTION_PROPOSAL": (
            Bar(
                "Sharpe ratio on paper",
                "paper_trading_metrics.sharpe",
                "above",
                promotion.SHARPE,
                "to promote",
                "R-B3",
            ),
            Bar(
                "drawdown on paper",
                "paper_trading_metrics.max_drawdown",
                "above",
                promotion.DRAWDOWN,
                "to promote",
                "R-B3",
            ),
        ),
        "RISK_ALERT": (
            Bar("its figure", "current_value", "at most", "threshold", "for this level", "R-B7", _falls),
            Bar(
                "its figure",
                "current_value",
                "at least",
                "threshold",
                "for this level",
                "R-B7",
                lambda body: not _falls(body),
            ),
        ),
        "RECALL_FLAG": (Bar("Sharpe ratio", "sharpe", "below", LOSING, "to recall it", "R-B10"),),
    },
    tables={"DEPLOY_DECISION": DEPLOYING, "PROMOTION_DECISION": PROMOTING, "RISK_DECISION": ALLOWED},
    objects={
        "DEPLOY_REVIEW": _doubts,
        "PROMOTION_REVIEW": lambda body: (
            () if body.recommendation == "approve" else body.execution_issues or ("",)
        ),
        "RISK_DISCUSSION": lambda body: (body.reason,),
        "FEASIBILITY": lambda body: () if body.feasible else (body.note,),
    },
)
