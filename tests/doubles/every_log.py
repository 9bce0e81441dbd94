"""Logs that together hold every field of every type of message, for tests that alter them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.rulebook import rulebook
from moot.simulation.scene import load_scene, run_scene
from tests.doubles.call_table import CallTable
from tests.doubles.full_life import full_life
from tests.doubles.lab_table import LabTable
from tests.doubles.tampering import Lines
from tests.integration import test_verify_arena, test_verify_motion, test_verify_panel

DAY: Final = Path(__file__).with_name("scenes") / "desk_day.yaml"
"""A day of a desk that holds a strategy."""

SCENES: Final = Path(__file__).parents[1] / "acceptance" / "scenes"


class Log(NamedTuple):
    """Logs, and the types that are altered in them.

    Attributes:
        kinds: They.
        made: Makes the logs.
        is_every: Whether every message of a type is altered, not only its first.
        is_long: Whether only bodies are altered, a field but twice, since there is so much to verify.
    """

    kinds: tuple[str, ...]
    made: Callable[[], Iterator[Lines]]
    is_every: bool = False
    is_long: bool = False


def _lines(log: Iterable[Envelope]) -> Lines:
    return [json.loads(env.line) for env in log]


def _scene(name: str, *kinds: str, is_every: bool = False, is_long: bool = False) -> Log:
    return Log(kinds, lambda: iter([lived(SCENES / f"{name}.yaml")]), is_every, is_long)


def lived(scene: Path) -> Lines:
    """Return the log of a scene."""
    return _lines(run_scene(load_scene(scene)).envelopes)


def _of(*protocols: str) -> tuple[str, ...]:
    begins = tuple(f"moot.protocols.{name}." for name in protocols)
    return tuple(kind for kind, cls in rulebook().messages.items() if cls.__module__.startswith(begins))


def _life() -> Iterator[Lines]:
    yield _lines(full_life())


def _runs() -> Iterator[Lines]:
    for name in ("with notebook", "write blocked"):
        yield test_verify_arena.lines_of(test_verify_arena.RUNS[name]())


def _panel(name: str) -> Callable[[], Iterator[Lines]]:
    return lambda: iter([test_verify_panel.lines_of(test_verify_panel.PANELS[name]())])


def _motions() -> Iterator[Lines]:
    for name in ("upheld", "extended", "refused"):
        yield test_verify_motion.lines_of(test_verify_motion.MOTIONS[name]())


def _calls() -> Iterator[Lines]:
    """A claim for which a model was asked thrice: its first call was lost, the second answered, the third refused."""
    table = CallTable({"usd": "0.0035", "calls": 2, "day": {"tokens": 2_000}})
    table.settle(table.reserve().body.call_id, usage=None, outcome="unknown")
    table.settle(table.reserve().body.call_id)
    table.refuse(turn=2)
    table.budget(scope="society", calls=3, usd=0.0036, tokens=9_000)
    table.claim()
    yield _lines(table.log)


def _experiments() -> Iterator[Lines]:
    yield _lines(LabTable().lived())


LOGS: Final = {
    "life": Log((*_of("kernel", "research", "escalation"), "HEALTH_CHECK"), _life),
    "day": Log(
        (
            "CHECK_NEW_STRATEGIES",
            "DAILY_TRADING_REPORT",
            "DESK_CHECK",
            "EXECUTION",
            "MARKET_CLOSE",
            "METRICS_RECORDED",
            "ORDER",
            "OVERNIGHT_RISK_CHECK",
            "PRE_MARKET_CHECK",
            "RISK_CHECK",
            "SIGNAL",
            "TRADING_DAY",
            "TRADING_SUMMARY",
        ),
        lambda: iter([lived(DAY)]),
    ),
    "deployment": _scene(
        "4.1-elevated-risk-gets-the-guardians-limit",
        *("DEPLOY_DECISION", "DEPLOY_NOTICE", "DEPLOY_PROPOSAL", "DEPLOY_REVIEW", "STRATEGY_MOVED"),
        is_every=True,
    ),
    "risk": _scene(
        "4.2-increasing-risk-reduces-exposure",
        *("FEASIBILITY", "RISK_ALERT", "RISK_DECISION", "RISK_DISCUSSION", "RISK_PROJECTION"),
    ),
    "halt": _scene("R-B5-the-operator-asks-to-resume", "HALT", "RESUME", "RESUME_CONFIRMED"),
    "no order": _scene("R-F4-a-trader-who-rightly-orders-nothing-is-not-silent", "NO_ORDER"),
    "week": _scene("R-F1-what-was-halved-at-the-open-does-not-grow-again-that-day", "WEEKLY_TRADING_REPORT"),
    "promotion": _scene(
        "4.3-the-guardian-objects",
        "PROMOTION_DECISION",
        "PROMOTION_PROPOSAL",
        "PROMOTION_REVIEW",
        "DAILY_TRADING_REPORT",
        is_long=True,
    ),
    "feedback": _scene(
        "6.1-disagree-with-counter-evidence", "FEEDBACK_RESPONSE", "PERFORMANCE_FEEDBACK", is_long=True
    ),
    "recall": _scene("6.2-a-losing-strategy-is-recalled", "RECALL_FLAG", "RECALL_REQUEST", is_long=True),
    "arena": Log(_of("arena"), _runs, is_every=True),
    "panel": Log(tuple(set(_of("panel")) - {"PANEL_ABORTED"}), _panel("retried"), is_every=True),
    "panel that shrank": Log(
        ("LINT", "PANEL_ABORTED", "PHASE1", "PHASE2"), _panel("shrunk by a malformed report"), is_every=True
    ),
    "changed in a rebuttal": _scene("1.1-approve-leads-to-a-backtest", "REBUTTAL"),
    "principles": _scene("2.1-three-similar-failures-make-a-principle", "PRINCIPLE_SYNTHESIS"),
    "faults": _scene("R-D20-a-strategy-that-fails-three-times-is-revoked", "DESK_CHECK"),
    "motion": Log(_of("motion"), _motions, is_every=True),
    "calls": Log(_of("calls"), _calls, is_every=True),
    "lab": Log(_of("lab"), _experiments, is_every=True),
}
"""By name."""
