"""Tampering with a desk's log: what is altered, dropped, doubled or moved is named, hashes mended or taken away."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.every_log import DAY, SCENES, lived
from tests.doubles.tampering import Lines, judged, rehashed, renumbered, stripped

WEEK = """
start: 2026-02-23T00:00:00Z
until: 5d
seed: 1
"""

Change = Callable[[dict[str, Any]], None]
HIDE = pytest.mark.parametrize("hide", [rehashed, stripped], ids=["rehashed", "stripped"])


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    path = tmp_path_factory.mktemp("week") / "week.yaml"
    path.write_text(WEEK)
    return lived(path)


def find(lines: Lines, kind: str, n: int = 0, **fields: Any) -> int:
    """Return the index of a message by its type and fields."""
    return [
        index
        for index, line in enumerate(lines)
        if line["body"]["type"] == kind and all(line["body"][name] == value for name, value in fields.items())
    ][n]


def altered(lines: Lines, index: int, change: Change) -> Lines:
    copied = list(lines)
    copied[index] = copy.deepcopy(lines[index])
    change(copied[index]["body"])
    return copied


def changed(week: Lines, at: int, change: Change) -> tuple[int, Lines] | None:
    """Return where a log was altered, and the log; None where there is nothing of the kind to alter."""
    try:
        lines = altered(week, at, change)
    except IndexError:
        return None
    return None if lines == week else (at, lines)


def nudge(name: str, by: float) -> Change:
    """Make a change of a figure."""

    def change(body: dict[str, Any]) -> None:
        *path, last = name.split(".")
        place: Any = body
        for part in path:
            place = place[int(part) if part.isdigit() else part]
        place[last] = round(place[last] + by, 6)

    return change


def test_a_desks_week_verifies(week: Lines) -> None:
    kinds = {line["body"]["type"] for line in week}
    assert {
        "EXECUTION",
        "DEPLOY_DECISION",
        "MARKET_CLOSE",
        "DAILY_TRADING_REPORT",
        "METRICS_RECORDED",
    } <= kinds
    report = judged(week, evidence=True, strict=True)
    assert report.ok
    assert report.warnings == report.unproven == ()
    assert judged(stripped(week)).ok


# ---------------------------------------------------------------- fills

FILL = {
    "price": nudge("avg_price", 0.01),
    "quantity": nudge("qty_filled", -1),
    "fee": nudge("fee", 0.01),
    "slippage": nudge("slippage_bps", 0.01),
}


@HIDE
@pytest.mark.parametrize("what", sorted(FILL))
def test_an_altered_fill_is_named_where_the_prices_are_known(
    week: Lines, hide: Callable[[Lines], Lines], what: str
) -> None:
    at = find(week, "EXECUTION", 1)
    found = judged(hide(altered(week[: at + 40], at, FILL[what])), evidence=True).findings
    assert (found[0].seq, found[0].invariant, found[0].rule) in (
        (at + 1, "evidence", "K11"),
        (at + 1, "violation", "K11"),
    )
    assert (at + 1, "evidence") in {(f.seq, f.invariant) for f in found}


@HIDE
@pytest.mark.parametrize("what", ["price", "fee"])
def test_an_altered_fill_is_named_by_the_next_figure_where_they_are_not(
    week: Lines, hide: Callable[[Lines], Lines], what: str
) -> None:
    at = find(week, "EXECUTION", 1)
    found = judged(hide(altered(week, at, FILL[what])), max_findings=2).findings
    following = next(
        n for n in range(at, len(week)) if week[n]["body"]["type"] in ("RISK_CHECK", "MARKET_CLOSE")
    )
    assert found[0].seq == following + 1
    assert any(f"seq {at + 1}" in f.why for f in found)


@HIDE
def test_a_fill_that_is_another_altogether_is_named_once_the_broker_is_known(
    week: Lines, hide: Callable[[Lines], Lines]
) -> None:
    at = find(week, "EXECUTION", 2)
    other = {"avg_price": 77.5, "slippage_bps": 0.1, "fee": 9.99}
    found = judged(
        hide(altered(week[: at + 40], at, lambda body: body.update(other))), evidence=True
    ).findings
    assert (found[0].seq, found[0].invariant) == (at + 1, "evidence")


def test_a_scripts_fills_are_told_and_no_finding() -> None:
    lines = lived(SCENES / "K11-no-more-is-filled-than-ordered.yaml")
    report = judged(lines, evidence=True)
    assert report.ok
    assert any("not taken for the paper broker's" in remark.why for remark in report.unproven)
    assert not judged(lines, evidence=True, strict=True).ok


@pytest.mark.parametrize("kind", ["RISK_CHECK", "MARKET_CLOSE"])
def test_prices_that_the_market_never_had_are_told(day: Lines, kind: str) -> None:
    at = find(day, kind)
    name = "marks" if kind == "RISK_CHECK" else "closes"
    symbol = next(iter(day[at]["body"][name]))
    lines = rehashed(altered(day, at, nudge(f"{name}.{symbol}", 0.01)))
    (remark,) = judged(lines, evidence=True).unproven
    assert remark.seq == at + 1
    assert f"{symbol}: " in remark.why
    assert judged(day, evidence=True).unproven == ()


def rigged(lines: Lines) -> Lines:
    """Let the broker of a log give its orders away for a tenth of their price, and hide that as far as hashes go."""
    copied = copy.deepcopy(lines)
    for line in copied:
        body = line["body"]
        if body["type"] == "EXECUTION" and body["avg_price"]:
            body.update(avg_price=round(body["avg_price"] / 10, 4), slippage_bps=1.23, fee=4.56)
    return rehashed(copied)


EXCUSES: dict[str, Change] = {
    "prices' digest": lambda body: body["data"]["prices"].update(sha256="0" * 64),
    "no data": lambda body: body.update(data={}),
    "intraday": lambda body: body["config"]["desk"].update(intraday="own.csv"),
    "scripts": lambda body: body["config"].update(scripts={"trader": True}),
    "seed": lambda body: (body.update(seed=5), body["data"]["prices"].update(seed=5)),
    "mind": lambda body: body["config"]["minds"].update(trader="mine"),
    "none": lambda body: None,
}


@pytest.mark.parametrize("excuse", sorted(EXCUSES))
def test_a_rigged_broker_passes_no_strict_check_whatever_the_log_says_for_it(
    week: Lines, excuse: str
) -> None:
    fills = [n for n, line in enumerate(week) if line["body"]["type"] == "EXECUTION"]
    lines = rigged(altered(week[: fills[3] + 1], 0, EXCUSES[excuse]))
    report = judged(lines, evidence=True, strict=True)
    told = " ".join(map(str, [*report.unproven, *report.findings]))
    assert not report.ok
    assert f"seq {fills[0] + 1}:" in told
    assert [
        remark for remark in report.unproven if "EXECUTION was not" in remark.why or "broker" in remark.why
    ]


def test_prices_within_a_day_of_ones_own_are_recomputed_where_they_are_to_be_had(
    week: Lines, tmp_path: Path
) -> None:
    def with_file(file: Path, digest: str) -> Lines:
        def change(body: dict[str, Any]) -> None:
            body["config"]["desk"].update(intraday=str(file))
            body["data"]["intraday"] = {"file": file.name, "sha256": digest}

        return rehashed(altered(week, find(week, "SOCIETY_STARTED"), change))

    file = tmp_path / "own.csv"
    report = judged(with_file(file, "0" * 64), evidence=True)
    assert report.ok
    assert any("prices within a day are the user's own" in remark.why for remark in report.unproven)

    file.write_text("timestamp,symbol,open,high,low,close,volume\n")
    assert any(
        "not those of the log" in r.why for r in judged(with_file(file, "0" * 64), evidence=True).unproven
    )


@pytest.mark.parametrize("instant", ["0001-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.000000Z"])
def test_an_instant_at_an_end_of_the_calendar_is_a_finding(day: Lines, instant: str) -> None:
    lines = copy.deepcopy(day)
    lines[40]["sent_at"] = instant
    assert not judged(rehashed(lines)).ok


# ---------------------------------------------------------------- decisions, moves, figures

ALTERED: dict[str, tuple[str, Change]] = {
    "a decision": ("DEPLOY_DECISION", lambda body: body.update(decision="ESCALATE", row=2)),
    "a row": ("DEPLOY_DECISION", nudge("row", 1)),
    "a review": ("DEPLOY_REVIEW", lambda body: body.update(form="trader")),
    "a notice": ("DEPLOY_NOTICE", lambda body: body.update(action="PROMOTE")),
    "a strategy's store": ("STRATEGY_MOVED", lambda body: body.update(to="production")),
    "a check's equity": ("RISK_CHECK", nudge("equity", 0.01)),
    "a close's equity": ("MARKET_CLOSE", nudge("equity", 0.01)),
    "a close's P&L": ("MARKET_CLOSE", nudge("pnl_usd", -0.01)),
    "a summary's wins": ("TRADING_SUMMARY", nudge("wins", 1)),
    "a report's P&L": ("DAILY_TRADING_REPORT", nudge("pnl_usd", 0.01)),
    "a report's attribution": ("DAILY_TRADING_REPORT", nudge("strategy_attribution.0.pnl_pct", 1e-6)),
    "a strategy's P&L": ("METRICS_RECORDED", nudge("realised.pnl", 0.01)),
    "an order's size": ("ORDER", nudge("quantity", 1_000_000)),
    "a day": ("TRADING_DAY", lambda body: body.update(date="2026-02-21")),
}


@HIDE
@pytest.mark.parametrize("what", sorted(ALTERED))
def test_what_is_altered_is_named(week: Lines, hide: Callable[[Lines], Lines], what: str) -> None:
    kind, change = ALTERED[what]
    at, lines = next(
        found for n in (0, -1) if (found := changed(week, find(week, kind, n), change)) is not None
    )
    found = judged(hide(lines)).findings
    assert found, what
    assert found[0].seq == at + 1, found


@HIDE
def test_a_review_that_says_something_else_makes_the_decision_wrong(
    week: Lines, hide: Callable[[Lines], Lines]
) -> None:
    at = find(week, "DEPLOY_REVIEW", -1, form="guardian")
    case_id = week[at]["case_id"]
    decision = next(
        line["seq"]
        for line in week
        if line["case_id"] == case_id and line["body"]["type"] == "DEPLOY_DECISION"
    )
    says = week[at]["body"]["risk_assessment"]
    other = "acceptable" if says == "excessive" else "excessive"
    found = judged(hide(altered(week, at, lambda body: body.update(risk_assessment=other)))).findings
    assert found[0].seq == decision
    assert "violation" in {f.invariant for f in found if f.seq == decision}


# ---------------------------------------------------------------- dropped and doubled


def dropped(lines: Lines, at: int) -> Lines:
    return renumbered([*lines[:at], *lines[at + 1 :]])


@HIDE
@pytest.mark.parametrize(
    "kind",
    [
        "TRADING_DAY",
        "RISK_CHECK",
        "MARKET_CLOSE",
        "DAILY_TRADING_REPORT",
        "METRICS_RECORDED",
        "DEPLOY_DECISION",
        "DEPLOY_NOTICE",
        "SIGNAL",
        "ORDER",
        "EXECUTION",
    ],
)
def test_what_is_dropped_is_missed(week: Lines, hide: Callable[[Lines], Lines], kind: str) -> None:
    at = find(week, kind, 0)
    assert not judged(hide(dropped(week, at)), max_findings=1).ok


@HIDE
@pytest.mark.parametrize("kind", ["TRADING_DAY", "MARKET_CLOSE", "EXECUTION", "DAILY_TRADING_REPORT"])
def test_what_is_said_twice_is_named(week: Lines, hide: Callable[[Lines], Lines], kind: str) -> None:
    at = find(week, kind, -1)
    again = {**week[at], "id": f"{week[at]['id']}-again"}
    found = judged(hide(renumbered([*week[: at + 1], again, *week[at + 1 :]]))).findings
    assert found[0].seq == at + 2, found


@HIDE
def test_a_dropped_halt_is_missed_where_it_stood(hide: Callable[[Lines], Lines]) -> None:
    lines = lived(SCENES / "R-B5-an-admin-halts-and-resumes.yaml")
    assert judged(lines).ok
    at = find(lines, "HALT")
    found = judged(hide(dropped(lines, at))).findings
    assert found[0].seq == at + 1, found


@HIDE
def test_a_signal_that_grows_a_position_while_halted_needs_its_violation(
    hide: Callable[[Lines], Lines],
) -> None:
    lines = lived(SCENES / "R-B5-no-signal-opens-a-position-while-halted.yaml")
    at = find(lines, "VIOLATION")
    found = judged(hide(dropped(lines, at))).findings
    signal = lines[at]["body"]["of_seq"]
    assert {(f.invariant, f.rule) for f in found if f.seq == signal} == {
        ("violation", "R-B5"),
        ("halted-means-nothing-grows", "R-B5, K11"),
    }


ALERTED = """
start: 2026-02-23T14:00:00Z
until: 2h
seed: 1
cycle: none
systems: [B]
minds: {guardian: {script: [{type: RISK_CHECK, var95: 0.06}]}}
"""


@HIDE
def test_a_dropped_alert_is_named_by_the_check_that_asks_for_it(
    tmp_path: Path, hide: Callable[[Lines], Lines]
) -> None:
    path = tmp_path / "alert.yaml"
    path.write_text(ALERTED)
    lines = lived(path)
    assert judged(lines).ok
    alert = find(lines, "RISK_ALERT")
    case_id = lines[alert]["case_id"]
    rest = [line for line in lines if line["case_id"] != case_id]
    found = judged(hide(renumbered(rest)), max_findings=100).findings
    assert any("/alert-1/guardian" in f.why for f in found), found


@HIDE
@pytest.mark.parametrize(
    ("name", "value"), [("metric", "drawdown"), ("current_value", 0.061), ("threshold", 0.051)]
)
def test_an_alert_that_a_check_asks_for_says_what_the_check_said(
    tmp_path: Path, hide: Callable[[Lines], Lines], name: str, value: Any
) -> None:
    path = tmp_path / "alert.yaml"
    path.write_text(ALERTED)
    lines = lived(path)
    at = find(lines, "RISK_ALERT")
    found = judged(hide(altered(lines, at, lambda body: body.update({name: value})))).findings
    assert found[0].seq == at + 1, found


@pytest.fixture(scope="module")
def day() -> Lines:
    return lived(DAY)


def test_fills_keep_the_seed_of_the_prices(day: Lines) -> None:
    """A society that went on under another seed has another one in SOCIETY_STARTED, and the same prices."""
    started = find(day, "SOCIETY_STARTED")
    stop = copy.deepcopy(day[-1])
    again = copy.deepcopy(day[started])
    assert stop["body"]["type"] == "SOCIETY_STOPPED"
    n = len(day) + 1
    again.update(seq=n, id=f"started/{n}", sent_at=stop["sent_at"])
    again["body"]["seed"] = 99
    report = judged(rehashed([*day, again]), evidence=True)
    assert report.ok
    assert report.unproven == ()

    again["body"]["data"]["prices"]["seed"] = 99
    (first, *_) = judged(rehashed([*day, again]), evidence=True).findings
    assert "a society keeps that of its first start: " in first.why
