"""The auditor of the desk's money finds figures that a book with a mistake in it would let pass."""

from __future__ import annotations

import copy
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from moot.protocols.kernel import machine
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.trading import promotion
from moot.simulation.scene import load_scene, run_scene
from moot.verify import verify
from moot.verify.audit.money import Money
from moot.verify.audit.told import Standings
from tests.doubles.checking import InHand
from tests.doubles.desk_table import DeskTable, at
from tests.doubles.money_table import MoneyTable
from tests.doubles.table import START, Table
from tests.doubles.tampering import Lines, judged, rehashed

SCENES = Path(__file__).parents[2] / "acceptance" / "scenes"
Patch = pytest.MonkeyPatch
Found = list[tuple[int, str, str]]

DAY = """
start: {start}T14:00:00Z
until: {hours}h
seed: 1
cycle: none
systems: [B]
inject:
  - after: 1m
    seat: admin
    body: {{type: STRATEGY_MOVED, strategy_id: strat_1, from: staging, to: production, reason: promoted,
      strategy: {{archetype: momentum, params: {{allow_short: 1, fast: 5, slow: 50, target_vol: 0.2}},
      symbols: [SIM-ALFA, SIM-BRAVO, SIM-DELTA, SIM-ECHO, SIM-GOLF, SP500, NASDAQ]}}}}
"""


def day(tmp_path: Path, hours: int, start: str = "2026-02-23") -> list[Envelope]:
    """Let a desk with one strategy live from a day on, by default from a Monday."""
    path = tmp_path / "day.yaml"
    path.write_text(DAY.format(hours=hours, start=start))
    return run_scene(load_scene(path)).envelopes


def second(log: list[Envelope]) -> Found:
    """Return what the auditor finds, and make sure that the docket finds nothing."""
    found = verify(InHand(log), evidence=False, max_findings=1000).findings
    assert {f.invariant for f in found} <= {"money"}, found
    return [(f.seq, f.invariant, f.rule) for f in found]


def nothing(*_args: Any, **_how: Any) -> Any:
    return None


def test_a_sound_day_is_sound(tmp_path: Path) -> None:
    log = day(tmp_path, hours=30)
    assert {"EXECUTION", "RISK_CHECK", "MARKET_CLOSE", "METRICS_RECORDED"} <= {env.body.type for env in log}
    assert second(log) == []


FIGURES = [
    ("RISK_CHECK", "equity", 0.01, "R-B7"),
    ("RISK_CHECK", "daily_pnl_usd", 0.01, "R-B7"),
    ("RISK_CHECK", "daily_pnl_pct", 1e-6, "R-B7"),
    ("RISK_CHECK", "exposure", 1e-6, "R-B7"),
    ("RISK_CHECK", "largest_position", 1e-6, "R-B7"),
    ("RISK_CHECK", "drawdowns.strat_1", -1e-6, "R-B7"),
    ("OVERNIGHT_RISK_CHECK", "exposure", 1e-6, "R-B7"),
    ("TRADING_SUMMARY", "pnl_usd", -0.01, "R-D18"),
    ("TRADING_SUMMARY", "wins", 1, "R-D18"),
    ("TRADING_SUMMARY", "trades", 1, "R-D18"),
    ("MARKET_CLOSE", "equity", -0.01, "R-D18"),
    ("MARKET_CLOSE", "pnl_usd", 0.01, "R-D18"),
    ("MARKET_CLOSE", "pnl_pct", 1e-6, "R-D18"),
    ("MARKET_CLOSE", "trades", -1, "R-D18"),
    ("METRICS_RECORDED", "realised.pnl", 0.01, "R-D20"),
    ("METRICS_RECORDED", "realised.trades", 1, "R-D20"),
    ("DAILY_TRADING_REPORT", "pnl_usd", 0.01, "R-D18"),
    ("DAILY_TRADING_REPORT", "cumulative_pnl_pct", 1e-6, "R-D18"),
    ("DAILY_TRADING_REPORT", "max_dd_30d", 1e-6, "R-D18"),
    ("DAILY_TRADING_REPORT", "total_trades", 1, "R-D18"),
    ("DAILY_TRADING_REPORT", "strategy_attribution.0.pnl_pct", 1e-6, "R-D18"),
    ("DAILY_TRADING_REPORT", "strategy_attribution.0.trades", 1, "R-D18"),
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    log = day(tmp_path_factory.mktemp("day"), hours=30)
    return [json.loads(env.line) for env in log]


@pytest.fixture
def blind(monkeypatch: Patch) -> None:
    """Let the docket believe every figure."""
    monkeypatch.setattr(promotion, "check", nothing)
    monkeypatch.setattr(machine, "check", nothing)


@pytest.mark.rule("K11")
@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize(("kind", "field", "step", "rule"), FIGURES)
def test_k11_a_figure_that_is_a_cent_or_a_digit_off_is_found(
    sound: Lines, kind: str, field: str, step: float, rule: str
) -> None:
    assert_found(sound, kind, field, step, rule)


def assert_found(sound: Lines, kind: str, field: str, step: float, rule: str) -> None:
    """Change the figure of the last message of a type, which for a check comes after all trades of the day."""
    lines = copy.deepcopy(sound)
    line = [line for line in lines if line["body"]["type"] == kind][-1]
    *path, name = field.split(".")
    place = line["body"]
    for part in path:
        place = place[int(part) if part.isdigit() else part]
    place[name] = round(place[name] + step, 6)
    found = judged(rehashed(lines), max_findings=1000).findings
    found = tuple(one for one in found if one.invariant != "money-adds-up")  # the law sees equity, too
    assert [(f.seq, f.invariant, f.rule) for f in found] == [(line["seq"], "money", rule)], found
    assert name in found[0].why


@pytest.fixture(scope="module")
def friday(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    log = day(tmp_path_factory.mktemp("friday"), hours=26, start="2026-02-27")
    return [json.loads(env.line) for env in log]


@pytest.mark.rule("K11")
@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize(
    ("field", "step"),
    [
        ("sessions", 1),
        ("pnl_usd", 0.01),
        ("pnl_pct", 1e-6),
        ("cumulative_pnl_pct", 1e-6),
        ("total_trades", 1),
        ("strategy_attribution.0.pnl_pct", 1e-6),
    ],
)
def test_k11_a_figure_of_the_week_that_is_off_is_found(friday: Lines, field: str, step: float) -> None:
    assert_found(friday, "WEEKLY_TRADING_REPORT", field, step, "R-D18")


@pytest.mark.parametrize("symbols", [("AAA",), ("AAA", "BBB"), ("AAA", "BBB", "CCC")])
@pytest.mark.parametrize("capital", [1_000_000.0, 1_000_000.0005, 1_000_000.001, 976_697.7649])
def test_a_curve_starts_from_one_amount_in_the_book_and_for_the_auditor(
    capital: float, symbols: tuple[str, ...]
) -> None:
    table = MoneyTable(capital)
    table.put("strat_2", symbols=symbols)
    standings = Standings()
    standings.known = table.docket.context.fold_named("life").strategies
    money = Money(standings)
    money.start({"desk": {"capital": capital}})
    assert money.allocation("strat_2").scaleb(4) == table.book.allocation("strat_2")


@pytest.mark.rule("K11")
@pytest.mark.usefixtures("blind")
def test_k11_a_promise_on_figures_that_the_executions_do_not_make_is_found() -> None:
    table = DeskTable()
    table.deployed()
    table.answer_all(at(17, day=date(2026, 2, 27)))
    lines = [json.loads(env.line) for env in table.log]
    assert_found(lines, "PROMOTION_PROPOSAL", "paper_trading_metrics.pnl_usd", 0.01, "R-B3")


@pytest.mark.rule("K11")
@pytest.mark.usefixtures("blind")
def test_k11_a_figure_that_is_off_names_the_fills_that_may_be(sound: Lines) -> None:
    lines = copy.deepcopy(sound)
    fill = next(line for line in lines if line["body"]["type"] == "EXECUTION")
    fill["body"]["avg_price"] = round(fill["body"]["avg_price"] + 0.01, 4)
    found = judged(rehashed(lines)).findings
    after = next(n for n in lines if n["seq"] > fill["seq"] and n["body"]["type"] == "RISK_CHECK")
    assert (found[0].seq, found[0].invariant) == (after["seq"], "money")
    assert f"fills since then: seq {fill['seq']}" in found[0].why
    assert {f.invariant for f in found} == {"money", "money-adds-up"}


@pytest.mark.rule("K6")
@pytest.mark.parametrize("crash", [True, False])
@pytest.mark.parametrize("goes_on", [True, False])
def test_k6_a_day_that_began_while_the_society_was_down_is_opened_in_time(crash: bool, goes_on: bool) -> None:
    table = Table(START, config={"desk": {"enabled": True}})
    table.wait(minutes=5)
    table.say(ADMIN, Note(text="good morning"), channel="#admin")
    table.down(crash=crash, hours=6)
    if goes_on:
        table.wait(minutes=20)
    assert [env.body.type for env in table.log].count("TRADING_DAY") == 2
    assert second(table.log) == []
