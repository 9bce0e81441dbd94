"""Every figure that a society publishes is recomputed from `moot log --json` alone, by code that knows no Moot.

`make soak` does the same over two times 35 days (`tests/soak/figures.py`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.simulation.scene import load_scene, run_scene
from tests.independent.recomputed import mismatches
from tests.independent.simulated import log_of

DAYS = 8
SCENES = Path(__file__).parents[1] / "acceptance" / "scenes"
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


@pytest.mark.rule("R-F6")
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
        if done:
            break

    wrong, _ = mismatches(altered)

    assert wrong and wrong[0].startswith(done)


def _scene(name: str) -> list[str]:
    return [env.line for env in run_scene(load_scene(SCENES / f"{name}.yaml")).envelopes]


def _halvings(lines: list[str]) -> tuple[list[str], Counter[str]]:
    """Recompute a scene; of a strategy that somebody brings in by hand no debate names the symbols."""
    wrong, compared = mismatches(lines)
    return [one for one in wrong if "drawdown" not in one], compared


def _is_half(said: dict[str, Any]) -> bool:
    return "/reduce-" in (said["obligation_id"] or "") and said["body"]["type"] == "SIGNAL"


def _anew(said: dict[str, Any]) -> bool:
    body = said["body"]
    if body["type"] != "RULING" or body["reason"] != "already_reduced":
        return False
    body.update(outcome="reduce_exposure", reason="conservative")
    return True


def _more(said: dict[str, Any]) -> bool:
    if not _is_half(said):
        return False
    said["body"]["quantity"] += 1
    return True


def _grows(said: dict[str, Any]) -> bool:
    body = said["body"]
    if body["type"] != "ORDER" or said["seq"] < 130:
        return False
    body["side"] = "SELL" if body["side"] == "BUY" else "BUY"
    return True


def _early(said: dict[str, Any]) -> bool:
    body = said["body"]
    if body["type"] != "MODE_CHANGED" or body["system"] != "B":
        return False
    body["mode"] = "normal"
    return True


@pytest.mark.rule("R-F1")
@pytest.mark.parametrize(
    ("alter", "why"),
    [
        (_anew, "halves anew"),
        (_more, "half of them are"),
        (_grows, "its signal"),
        (_early, "a halving is in force"),
    ],
)
def test_r_f1_a_halving_that_is_not_the_rules_is_found(
    alter: Callable[[dict[str, Any]], bool], why: str
) -> None:
    lines = _scene("R-F1-a-second-expiry-halves-nothing-more")
    wrong, compared = _halvings(lines)
    assert wrong == []
    assert compared["halvings"] == 1
    assert compared["signals that halve"] == compared["orders while halved"] > 3

    altered, done = [], False
    for line in lines:
        said = json.loads(line)
        done = done or alter(said)
        altered.append(json.dumps(said))
    wrong, _ = _halvings(altered)

    assert wrong and why in wrong[0]


@pytest.mark.rule("R-F1")
def test_r_f1_an_order_that_grows_a_position_in_a_halving_is_found() -> None:
    lines = _scene("R-F1-no-order-grows-a-position-that-was-halved")
    assert _halvings(lines)[0] == []
    passed = [line for line in lines if json.loads(line)["body"].get("rule") != "R-F1"]
    assert len(passed) < len(lines)

    wrong, _ = _halvings(passed)

    assert wrong and "while a halving is in force" in wrong[0]


@pytest.mark.rule("R-F1")
def test_r_f1_a_position_that_nobody_halves_is_found_at_the_close() -> None:
    lines = _scene("R-F2-the-desks-halving-ends-with-its-session")
    assert _halvings(lines)[0] == []
    (trade,) = {said["case_id"] for said in map(json.loads, lines) if _is_half(said)}
    without = [line for line in lines if json.loads(line)["case_id"] != trade]

    wrong, _ = _halvings(without)

    assert any("were to be halved, and no order did" in one for one in wrong)


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
