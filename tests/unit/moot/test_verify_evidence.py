"""Backtests and scores are computed again from the prices that the log names (R-D15, R-M1, R-M2)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from moot.protocols.kernel.times import parse_instant, rfc3339
from moot.simulation.scene import load_scene, run_scene
from tests.doubles.tampering import Lines, judged, rehashed

SCENE = """
start: 2026-02-23T10:00:00Z
until: 3h
seed: 7
cycle: once
systems: [A]
minds:
  explorer: {script: [{delay: 20m}, {type: REBUTTAL, delay: 5m, modifications: [], strategy: null}]}
  critic: {script: [{type: RISK_ASSESSMENT, delay: 5m, confidence: 0.6},
      {type: RISK_ASSESSMENT, delay: 5m, confidence: 0.6}]}
  evolver:
    script:
      - {type: VERDICT, delay: 5m, verdict: APPROVE, confidence: 0.8, alpha_argument_score: 0.8,
         risk_argument_score: 0.3}
      - {type: BACKTEST_RESULT, delay: 5m}
"""

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    path = tmp_path_factory.mktemp("scene") / "approve.yaml"
    path.write_text(SCENE)
    return unrecorded([json.loads(env.line) for env in run_scene(load_scene(path)).envelopes])


def unrecorded(lines: Lines) -> Lines:
    """Leave the figures out of records: what is altered here, they would give away (R-D13)."""
    for line in lines:
        if "record" in line["body"]:
            line["body"]["record"]["metrics"] = {}
    return rehashed(lines)


def altered(lines: Lines, kind: str, change: Change) -> Lines:
    """Alter all messages of a type and compute the hashes anew."""
    copy: Lines = json.loads(json.dumps(lines))
    for line in copy:
        if line["body"]["type"] == kind:
            change(line["body"])
    return rehashed(copy)


def seq_of(lines: Lines, kind: str) -> int:
    return next(int(line["seq"]) for line in lines if line["body"]["type"] == kind)


@pytest.mark.rule("R-M1")
def test_a_simulated_society_verifies_with_its_evidence(lines: Lines) -> None:
    report = judged(lines, evidence=True)
    assert report.ok
    assert report.warnings == report.unproven == ()
    assert report.figures["recomputed"] == 3
    assert judged(lines, evidence=True, strict=True).ok


METRICS = ("sharpe", "max_drawdown", "win_rate", "total_trades", "profit_factor", "annual_return")


@pytest.mark.parametrize("name", METRICS)
def test_every_figure_of_a_backtest_is_computed_again(lines: Lines, name: str) -> None:
    def change(body: dict[str, Any]) -> None:
        figures = body["metrics"]
        figures[name] = figures[name] + 1 if name == "total_trades" else round(figures[name] + 1e-6, 6)

    copy = altered(lines, "BACKTEST_RESULT", change)
    (first, *_) = judged(copy, evidence=True).findings
    assert (first.seq, first.invariant, first.rule) == (seq_of(lines, "BACKTEST_RESULT"), "evidence", "R-D15")
    assert f"metrics.{name}" in first.why


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("reason", lambda body: body.update(reason="low_sharpe")),
        ("split", lambda body: body["split"].update(to="2026-02-17")),
        ("equity_ref", lambda body: body.update(equity_ref="equity/0000000000000000")),
    ],
)
def test_so_are_reason_split_and_equity(lines: Lines, field: str, change: Change) -> None:
    report = judged(altered(lines, "BACKTEST_RESULT", change), evidence=True)
    assert [f.invariant for f in report.findings] == ["evidence"]
    assert field in report.findings[0].why


def test_an_equity_curve_that_the_disk_did_not_take_is_none(lines: Lines) -> None:
    copy = altered(lines, "BACKTEST_RESULT", lambda body: body.update(equity_ref=""))
    assert judged(copy, evidence=True).ok


def test_the_order_of_a_strategys_symbols_changes_no_figure(lines: Lines) -> None:
    copy = altered(lines, "HYPOTHESIS", lambda body: body["strategy"]["symbols"].reverse())
    assert copy[seq_of(copy, "HYPOTHESIS") - 1]["body"] != lines[seq_of(lines, "HYPOTHESIS") - 1]["body"]
    assert judged(copy, evidence=True).findings == ()


def test_another_strategy_than_the_tested_one_is_found(lines: Lines) -> None:
    copy = altered(lines, "HYPOTHESIS", lambda body: body["strategy"].update(symbols=["NASDAQ"]))
    assert {f.invariant for f in judged(copy, evidence=True).findings} == {"evidence"}


def test_a_strategy_that_cannot_be_tested_has_no_figures(lines: Lines) -> None:
    copy = altered(lines, "HYPOTHESIS", lambda body: body["strategy"].update(symbols=["NOWHERE"]))
    (first, *_) = judged(copy, evidence=True).findings
    assert "cannot be tested: symbols" in first.why


def test_without_evidence_figures_are_believed(lines: Lines) -> None:
    copy = altered(lines, "BACKTEST_RESULT", lambda body: body["metrics"].update(win_rate=0.9))
    assert judged(copy, evidence=False).ok
    assert judged(copy, evidence=False).figures["recomputed"] == 0
    assert not judged(copy, evidence=False, strict=True).ok


def test_scores_that_differ_are_told_with_their_number(lines: Lines) -> None:
    copy = altered(lines, "RISK_ASSESSMENT", lambda body: body["scores"].update(tail_risk=0.123))
    report = judged(copy, evidence=True)
    assert report.ok
    (remark,) = report.unproven
    assert (remark.seq, remark.messages) == (seq_of(lines, "RISK_ASSESSMENT"), 2)
    assert "scores.tail_risk: 0.123, the prices give" in remark.why
    assert not judged(copy, evidence=True, strict=True).ok


@pytest.mark.parametrize("how", [{"scripts": {"evolver": True}}, {"minds": {"evolver": "mine"}}])
def test_a_backtest_is_computed_again_whoever_the_log_says_made_it(lines: Lines, how: Any) -> None:
    copy = altered(lines, "SOCIETY_STARTED", lambda body: body["config"].update(how))
    assert judged(copy, evidence=True, strict=True).ok
    copy = altered(copy, "BACKTEST_RESULT", lambda body: body["metrics"].update(win_rate=0.9))
    (first, *_) = judged(copy, evidence=True).findings
    assert (first.seq, first.invariant) == (seq_of(lines, "BACKTEST_RESULT"), "evidence")


def test_opinions_are_listed_by_whose_they_are_and_fail_nothing(lines: Lines) -> None:
    copy = altered(lines, "SOCIETY_STARTED", lambda body: body["config"]["minds"].update(critic="mine"))
    copy = altered(copy, "RISK_ASSESSMENT", lambda body: body["scores"].update(tail_risk=0.123))
    report = judged(copy, evidence=True, strict=True)
    assert report.ok
    assert report.heard["critic by the mind 'mine'"] == 2
    simulated = sum(line["actor"]["kind"] == "bot" for line in lines) - 3  # two assessments, one backtest
    assert report.heard["scripted and simulated"] == simulated, "this scene scripts every seat that speaks"


@pytest.mark.parametrize(("minutes", "ok"), [(0, True), (4, True), (9, False)])
def test_a_bar_that_came_while_the_answer_was_on_its_way_is_no_finding(
    tmp_path: Path, minutes: int, ok: bool
) -> None:
    """The verdict falls at 20:52, the backtest at 20:57, and the day's bar exists from 21:00 on."""
    path = tmp_path / "inside.yaml"
    path.write_text(SCENE.replace("2026-02-23T10:00:00Z", "2015-03-02T20:12:00Z").replace("3h", "68m"))
    inside = unrecorded([json.loads(env.line) for env in run_scene(load_scene(path)).envelopes])
    for line in inside[7:]:
        line["sent_at"] = rfc3339(parse_instant(line["sent_at"]) + timedelta(minutes=minutes))
    report = judged(rehashed(inside), evidence=True)
    assert report.ok is ok
    assert {f.invariant for f in report.findings} == (set() if ok else {"evidence"})


# ---------------------------------------------------------------- prices


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda body: body.update(data={}), "the log names no prices"),
        (lambda body: body["data"].update(prices=7), "the log names no prices"),
        (lambda body: body["data"]["prices"].pop("seed"), "prices: 'seed'"),
        (lambda body: body["data"]["prices"].update(start="soon"), "Invalid isoformat string"),
        (lambda body: body["data"]["prices"].update(spec="/nowhere.csv"), "no such file"),
        (lambda body: body["data"]["prices"].update(sha256="0" * 64), "this machine makes others"),
    ],
)
def test_what_is_not_recomputed_for_want_of_prices_is_told_and_fails_a_strict_check(
    lines: Lines, change: Change, why: str
) -> None:
    def named(body: dict[str, Any]) -> None:
        change(body)
        prices = body["data"].get("prices")
        if isinstance(prices, dict):
            body["config"]["prices"]["source"] = prices["spec"]
            body["seed"] = prices.get("seed", body["seed"])

    copy = altered(lines, "SOCIETY_STARTED", named)
    report = judged(copy, evidence=True)
    assert report.ok
    assert [(remark.seq, remark.messages) for remark in report.unproven] == [
        (seq_of(lines, "RISK_ASSESSMENT"), 2),
        (seq_of(lines, "BACKTEST_RESULT"), 1),
    ]
    assert all(why in remark.why for remark in report.unproven)
    assert report.figures["recomputed"] == 0
    assert not judged(copy, evidence=True, strict=True).ok


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda body: body.update(seed=8), "data.prices.seed: 7, the society was started with 8"),
        (lambda body: body["data"]["prices"].update(seed=8), "data.prices.seed: 8, the society was started"),
        (lambda body: body["config"]["prices"].update(source="synthetic"), "data.prices.spec: sample, the"),
    ],
)
def test_prices_are_those_that_the_society_was_started_with(lines: Lines, change: Change, why: str) -> None:
    (first, *_) = judged(altered(lines, "SOCIETY_STARTED", change), evidence=True).findings
    assert (first.seq, first.rule) == (1, "R-M2")
    assert first.why.startswith(why)


@pytest.mark.parametrize("name", ["shift_weeks", "description"])
def test_what_the_log_says_of_its_prices_is_checked(lines: Lines, name: str) -> None:
    def change(body: dict[str, Any]) -> None:
        body["data"]["prices"][name] = 371 if name == "shift_weeks" else "all real"

    report = judged(altered(lines, "SOCIETY_STARTED", change), evidence=True)
    assert [(f.seq, f.invariant) for f in report.findings] == [(1, "evidence")]


def test_a_price_file_that_changed_is_told(lines: Lines, tmp_path: Path) -> None:
    rows = "".join(f"2025-01-{day:02d},1,1,1,1,1\n" for day in range(1, 29))
    path = tmp_path / "p.csv"
    path.write_text("date,open,high,low,close,volume\n" + rows)

    def change(body: dict[str, Any]) -> None:
        body["data"]["prices"].update(spec=str(path), sha256="0" * 64)
        body["config"]["prices"]["source"] = str(path)

    report = judged(altered(lines, "SOCIETY_STARTED", change), evidence=True)
    assert "the file has changed" in report.unproven[0].why
