"""Every figure that a society publishes is recomputed from `moot log --json` alone, by code that knows no Moot.

`make soak` does the same over two times 35 days (`tests/soak/figures.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.independent.recomputed import mismatches
from tests.independent.simulated import log_of

DAYS = 8
PUBLISHED = frozenset(
    {
        "DAILY_REPORT",
        "DAILY_TRADING_REPORT",
        "MARKET_CLOSE",
        "META_REFLECTION",
        "METRICS_RECORDED",
        "MICRO_CYCLE_REPORT",
        "PROMOTION_PROPOSAL",
        "RISK_CHECK",
        "THRESHOLD_REVIEW",
        "TRADING_SUMMARY",
        "WEEKLY_REPORT",
        "WEEKLY_TRADING_REPORT",
    }
)
"""What eight days hold for certain; feedback and recalls need longer."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return log_of(tmp_path_factory.mktemp("figures"), days=DAYS, seed=1)


def test_r_f6_no_figure_of_eight_days_differs_from_what_their_log_gives(log: list[str]) -> None:
    wrong, compared = mismatches(log)

    assert wrong == []
    assert compared.keys() >= PUBLISHED


def _daily(body: dict[str, Any]) -> None:
    pnl = body["trading_feedback"]["daily_pnl_pct"]
    body["trading_feedback"]["daily_pnl_pct"] = 0.0 if pnl is None else pnl + 0.000002


def _realised(body: dict[str, Any]) -> None:
    body["realised"]["sharpe_30d"] = 417.98


def _counted(body: dict[str, Any]) -> None:
    body["n"] += 1


@pytest.mark.parametrize(
    ("kind", "alter"),
    [
        ("DAILY_REPORT", _daily),
        ("DAILY_REPORT", lambda body: body.update(strategies_approved=body["strategies_approved"] + 1)),
        ("METRICS_RECORDED", _realised),
        ("DAILY_TRADING_REPORT", _counted),
        ("WEEKLY_TRADING_REPORT", lambda body: body.update(pnl_usd=body["pnl_usd"] + 0.01)),
        ("META_REFLECTION", lambda body: body.update(explorer_win_rate=body["explorer_win_rate"] + 0.01)),
        ("RISK_CHECK", lambda body: body.update(exposure=body["exposure"] + 0.000002)),
    ],
)
def test_a_figure_that_is_altered_is_found(
    log: list[str], kind: str, alter: Callable[[dict[str, Any]], None]
) -> None:
    altered, done = [], ""
    for line in log:
        said = json.loads(line)
        if not done and said["body"]["type"] == kind:
            alter(said["body"])
            done = f"{said['seq']} {kind} "
        altered.append(json.dumps(said))

    wrong, _ = mismatches(altered)

    assert wrong and wrong[0].startswith(done)


def test_the_recomputation_imports_nothing_of_the_society() -> None:
    files = Path(__file__).parents[1].joinpath("independent").glob("*.py")
    imports = {
        line.split()[1].partition(".")[0]
        for path in files
        if path.name != "simulated.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(("import ", "from "))
    }

    assert imports.isdisjoint({"moot", "protocols", "bots", "channels", "memory", "config"})
