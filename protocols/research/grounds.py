"""What the decisions of System A rest on; the guards in `judging` and `debate` apply the same limits."""

from __future__ import annotations

from typing import Final

from moot.protocols.kernel.grounds import Bar, Decides, Grounds
from moot.protocols.research.debate_table import (
    CLEAR_SIGNAL,
    EXTENSION_BAND,
    LOW_CONFIDENCE,
    PASS_DRAWDOWN,
    PASS_SHARPE,
    PASS_TRADES,
    TIE,
)

APPROVING, EXTENDING = "to approve", "for another round"

SURE: Final = Bar("confidence", "confidence", "at least", LOW_CONFIDENCE, APPROVING, "R-D7")
LEAD: Final = Bar("lead of the case for it", "lead", "at least", TIE, APPROVING, "R-D8, R-F9")
CLEAR: Final = Bar("confidence", "confidence", "above", CLEAR_SIGNAL, "to end the exchange", "1.4, R-D3")
STRONG: Final = (
    Bar("case for it", "alpha_argument_score", "at least", EXTENSION_BAND[0], EXTENDING, "1.3"),
    Bar("case for it", "alpha_argument_score", "at most", EXTENSION_BAND[1], EXTENDING, "1.3"),
    Bar("case against it", "risk_argument_score", "at least", EXTENSION_BAND[0], EXTENDING, "1.3"),
    Bar("case against it", "risk_argument_score", "at most", EXTENSION_BAND[1], EXTENDING, "1.3"),
)
TESTED: Final = (
    Bar("Sharpe ratio", "sharpe", "at least", PASS_SHARPE, "to pass", "R-D15"),
    Bar("drawdown", "max_drawdown", "at most", PASS_DRAWDOWN, "to pass", "R-D15"),
    Bar("trades", "total_trades", "at least", PASS_TRADES, "to pass", "R-D15"),
)
"""What the figures of a backtest are held against."""

_VERDICT: Final = Decides("verdict", ("reasoning", "conditions"))

GROUNDS: Final = Grounds(
    decides={
        "VERDICT": _VERDICT,
        "FINAL_VERDICT": _VERDICT,
        "CONCEDE": Decides("type", ("reason",)),
        "BACKTEST_RESULT": Decides("reason"),
        "ARCHITECTURE_VERDICT": Decides("type", ("approved_changes.description", "deferred", "rejected")),
        "THRESHOLD_REVIEW": Decides("recommendation"),
    },
    bars={
        "VERDICT": (SURE, LEAD),
        "FINAL_VERDICT": (SURE, LEAD),
        "RISK_ASSESSMENT": (CLEAR,),
        "EXTEND_DEBATE": STRONG,
        "BACKTEST_RESULT": tuple(bar._replace(path=f"metrics.{bar.path}") for bar in TESTED),
    },
    objects={
        "RISK_ASSESSMENT": lambda body: (
            () if body.risk_rating == "PASS" else (*body.fatal_flaws, *body.conditions) or (body.reasoning,)
        ),
        "ARCHITECTURE_CRITIQUE": lambda body: [
            f"{one.change_id}: {text}" for one in body.critiques for text in one.objections
        ],
    },
)
