"""The second opinion on the desk finds what rules with a mistake in them would let pass."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.protocols.kernel import machine
from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.people import Note
from moot.protocols.kernel.seats import ADMIN
from moot.protocols.kernel.steps import ENDED, Effect
from moot.protocols.trading import (
    alert,
    book_entries,
    bridge,
    deploy,
    desk_calendar,
    life,
    limits,
    policies,
    promotion,
    session,
    session_tracks,
    trade_fills,
    trade_orders,
)
from moot.protocols.trading import triggers as desk_triggers
from moot.protocols.trading.limits import Breach
from moot.simulation.scene import load_scene, run_scene
from moot.verify import verify
from tests.doubles.checking import InHand
from tests.doubles.table import START, Table
from tests.doubles.tampering import Lines, judged, rehashed

SCENES = Path(__file__).parents[2] / "acceptance" / "scenes"
Patch = pytest.MonkeyPatch
Found = list[tuple[int, str, str]]

DAY = """
start: 2026-02-23T14:00:00Z
until: {hours}h
seed: 1
cycle: none
systems: [B]
minds: {minds}
inject:
  - after: 1m
    seat: admin
    body: {{type: STRATEGY_MOVED, strategy_id: strat_1, from: staging, to: production, reason: promoted,
      strategy: {{archetype: momentum, params: {{allow_short: 1, fast: 5, slow: 50, target_vol: 0.2}},
      symbols: [SIM-ALFA, SIM-BRAVO, SIM-DELTA, SIM-ECHO, SIM-GOLF, SP500, NASDAQ]}}}}
{more}
"""


def scene(name: str) -> list[Envelope]:
    return run_scene(load_scene(SCENES / f"{name}.yaml")).envelopes


def day(tmp_path: Path, hours: int = 9, minds: str = "{}", more: str = "") -> list[Envelope]:
    """Let a desk with one strategy live through a Monday."""
    path = tmp_path / "day.yaml"
    path.write_text(DAY.format(hours=hours, minds=minds, more=more))
    return run_scene(load_scene(path)).envelopes


def second(log: list[Envelope]) -> Found:
    """Return what only the second opinion finds, and make sure that the docket, being mistaken, finds nothing."""
    found = verify(InHand(log), evidence=False, max_findings=1000).findings
    assert {f.invariant for f in found} <= {"desk", "money"}, found
    return [(f.seq, f.invariant, f.rule) for f in found]


def seq_of(log: list[Envelope], kind: str, n: int = 0) -> int:
    return [env.seq for env in log if env.body.type == kind][n]


def nothing(*_args: Any, **_how: Any) -> Any:
    return None


# ---------------------------------------------------------------- trades


def test_r_b5_a_signal_and_an_order_that_grow_a_position_while_halted_are_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(trade_orders, "_check_growth", nothing)
    log = scene("R-B5-no-signal-opens-a-position-while-halted")
    assert [env.body.type for env in log].count("VIOLATION") == 0
    assert second(log) == [(seq_of(log, "SIGNAL", n), "desk", "R-B5") for n in (1, 2)]


def test_r_b12_a_signal_of_what_is_not_traded_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(trade_orders, "_check_growth", nothing)
    found = second(scene("R-B12-only-what-is-traded-gets-a-signal"))
    assert {(invariant, rule) for _, invariant, rule in found} == {("desk", "R-B12")}


def test_r_b7_an_order_above_the_limits_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(trade_orders, "check_order", nothing)
    log = scene("R-B7-an-order-above-the-limits")
    assert (seq_of(log, "ORDER"), "desk", "R-B7") in second(log)


def test_r_b7_the_fifty_first_trade_of_a_day_is_found(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("moot.verify.second_trades.TRADES_A_DAY", 1)
    log = day(tmp_path)
    orders = [env.seq for env in log if env.body.type == "ORDER"]
    assert second(log)[0] == (orders[1], "desk", "R-B7")


def test_k11_a_fill_after_the_halt_that_does_not_say_so_is_found(monkeypatch: Patch) -> None:
    real = trade_fills._is_late
    log = scene("K11-a-fill-after-the-halt-is-booked-and-flattened")
    assert second(log) == []
    monkeypatch.setattr(
        trade_fills, "_is_late", lambda state, book: state.orders == 1 and not real(state, book)
    )
    log = scene("K11-a-fill-after-the-halt-says-so")
    assert (seq_of(log, "EXECUTION"), "desk", "K11") in second(log)


def test_k11_a_fill_after_the_halt_that_nobody_flattens_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(
        trade_fills, "_flatten", lambda late, changes: Effect(changes, to=ENDED, outcome="filled")
    )
    log = scene("K11-a-fill-after-the-halt-is-booked-and-flattened")
    assert [env.body.type for env in log].count("ORDER") == 1
    assert second(log) == [(seq_of(log, "EXECUTION"), "desk", "K11")]


def test_r_b5_an_order_that_may_grow_a_position_once_others_are_filled_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(trade_orders, "_check_growth", nothing)
    log = scene("R-B5-orders-under-way-do-not-sell-the-same-shares-twice")
    assert [env.body.type for env in log].count("VIOLATION") == 0
    assert second(log) == [(seq_of(log, "ORDER", 2), "desk", "R-B5")]


def test_r_b7_an_order_that_may_exceed_the_limits_once_others_are_filled_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(trade_orders, "check_order", nothing)
    log = scene("R-B7-orders-under-way-count-as-what-they-may-become")
    assert second(log) == [(seq_of(log, "ORDER", 3), "desk", "R-B7")]


def test_k11_a_fill_of_no_order_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(trade_fills, "check_execution", nothing)
    log = scene("K11-a-fill-of-no-order-is-a-violation-and-booked")
    assert second(log) == [(seq_of(log, "EXECUTION"), "desk", "K11")]


LATE = "K11-a-late-fill-after-the-halt-is-flattened"


def test_k11_a_late_fill_that_does_not_say_so_is_found(monkeypatch: Patch, tmp_path: Path) -> None:
    monkeypatch.setattr(trade_fills, "_check_flag", nothing)
    path = tmp_path / "late.yaml"
    said = (SCENES / f"{LATE}.yaml").read_text()
    path.write_text(said.replace("fill_after_halt: true", "fill_after_halt: false"))
    log = run_scene(load_scene(path)).envelopes
    assert second(log) == [(seq_of(log, "EXECUTION"), "desk", "K11")]


def test_k11_a_late_fill_that_nobody_makes_owed_to_flatten_is_found(monkeypatch: Patch) -> None:
    assert second(scene(LATE)) == []
    monkeypatch.setattr(book_entries.Entries, "_note_late", nothing)
    log = scene(LATE)
    assert [env.body.type for env in log].count("ORDER") == 1
    assert second(log) == [(seq_of(log, "EXECUTION"), "desk", "K11")]


# ---------------------------------------------------------------- decisions


def test_r_b1_a_decision_that_is_not_the_tables_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(machine, "check", nothing)
    log = scene("4.1-a-decision-with-other-parameters")
    assert (seq_of(log, "DEPLOY_DECISION"), "desk", "R-B1") in second(log)


EVERY_DEPLOYMENT = sorted(path.stem for path in SCENES.glob("4.1-*.yaml"))


@pytest.mark.parametrize("n", range(len(deploy.TABLE)))
def test_r_b1_a_line_of_the_table_that_says_something_else_is_found(monkeypatch: Patch, n: int) -> None:
    """Each line of the table is changed in turn; some scene must show that."""
    row = deploy.TABLE[n]
    other = "DEPLOY" if row.decision != "DEPLOY" else "DEPLOY_MODIFIED"
    changed = row._replace(decision=other)
    monkeypatch.setattr(deploy, "TABLE", (*deploy.TABLE[:n], changed, *deploy.TABLE[n + 1 :]))
    rules: set[str] = set()
    for name in EVERY_DEPLOYMENT:
        rules.update(rule for _, _, rule in second(scene(name)))
        if "R-B1" in rules:
            return
    raise AssertionError(f"{row} -> {other}: nothing was found")


def test_r_b1_an_admins_silence_is_no_consent(monkeypatch: Patch) -> None:
    monkeypatch.setitem(policies.OF_DEPLOYMENT, "conservative_b", Decision("DEPLOY", "admin", "R-B1"))
    log = scene("4.1-disagreement-and-the-admin-is-silent")
    (found,) = second(log)
    assert found[1:] == ("desk", "R-B1")
    assert log[found[0] - 1].body.type == "RULING"


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize(("field", "value"), [("action", "PROMOTE"), ("strategy_id", "strat_2")])
def test_r_b12_a_notice_of_what_nobody_decided_is_found(field: str, value: str) -> None:
    lines = [json.loads(env.line) for env in scene("4.1-all-clear-is-deployed")]
    line = next(line for line in lines if line["body"]["type"] == "DEPLOY_NOTICE")
    line["body"][field] = value
    (found,) = judged(rehashed(lines)).findings
    assert (found.seq, found.invariant, found.rule) == (line["seq"], "desk", "R-B12")


CASELESS = """
  - after: 2m
    seat: {seat}
    body: {{type: STRATEGY_MOVED, strategy_id: strat_2, from: {from_}, to: {to}, reason: r}}
"""


@pytest.mark.parametrize(
    ("seat", "from_", "to", "rule"),
    [
        ("operator", "staging", "production", "R-B3"),
        ("operator", "candidates", "staging", "4.1"),
        ("evolver", "null", "candidates", "R-D15"),
        ("operator", "production", "candidates", ""),
        ("admin", "candidates", "staging", ""),
    ],
)
def test_r_b3_what_a_bot_takes_up_outside_its_case_is_found(
    tmp_path: Path, monkeypatch: Patch, seat: str, from_: str, to: str, rule: str
) -> None:
    monkeypatch.setattr(life, "check_moved", nothing)
    log = day(tmp_path, hours=1, more=CASELESS.format(seat=seat, from_=from_, to=to))
    assert second(log) == ([(seq_of(log, "STRATEGY_MOVED", 1), "desk", rule)] if rule else [])


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("4.1-the-guardian-calls-it-excessive", "R-B1"),
        ("4.3-a-strong-objection-of-the-guardian-rejects", "R-B3"),
    ],
)
def test_r_b3_a_rejection_that_does_not_tell_system_a_why_is_found(
    monkeypatch: Patch, name: str, rule: str
) -> None:
    for module in (deploy, promotion):
        monkeypatch.setattr(module, "check_move", nothing)
    lines = [json.loads(env.line) for env in scene(name)]
    line = [line for line in lines if line["body"]["type"] == "STRATEGY_MOVED"][-1]
    line["body"]["reason"] = " "
    (found,) = judged(rehashed(lines)).findings
    assert (found.seq, found.invariant, found.rule) == (line["seq"], "desk", rule)


def test_r_b3_every_pair_of_reviews_is_decided_as_the_ruling_says() -> None:
    from moot.verify import second_decisions

    def review(says: str) -> Any:
        return None if says == "missing" else type("Review", (), {"recommendation": says})()

    for guardian in promotion.SAYS:
        for trader in promotion.SAYS:
            for extensions in range(3):
                row = promotion.row_of(guardian, trader)
                wanted = (row.n, promotion.decision_of(row, extensions))
                got = second_decisions.promotion(review(guardian), review(trader), extensions)
                assert (got.row, got.decision) == wanted


def test_r_b1_every_pair_of_reviews_is_decided_as_the_ruling_says() -> None:
    from moot.verify import second_decisions

    def guardian(says: str) -> Any:
        if says == "missing":
            return None
        return type("Review", (), {"risk_assessment": says, "recommended_position_limit": 0.02})()

    def trader(says: str) -> Any:
        if says == "missing":
            return None
        is_adjusted = says == "needs_adjustment"
        fields = {
            "executability": "needs_adjustment" if is_adjusted else "ready",
            "liquidity_concern": says == "liquidity_concern",
            "suggested_order_type": "limit",
        }
        return type("Review", (), fields)()

    for one in deploy.GUARDIAN_SAYS:
        for other in deploy.TRADER_SAYS:
            row = deploy.row_of(one, other)
            got = second_decisions.deployment(guardian(one), trader(other))
            limits = (0.02 if row.position_limit else None, "limit" if row.order_type else None)
            assert got == (row.n, row.decision, *limits)


# ---------------------------------------------------------------- the bridge


def test_r_b9_a_second_feedback_in_a_week_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(bridge, "is_too_early", lambda known, now: False)
    log = scene("6.1-one-feedback-a-week")
    assert (seq_of(log, "PERFORMANCE_FEEDBACK", 1), "desk", "R-B9") in second(log)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (
            "{type: PERFORMANCE_FEEDBACK, session_id: session_20260223, strategy_id: strat_1,"
            " expected_vs_actual: {}, proposed_adjustment: less}",
            "R-B9",
        ),
        (
            "{type: RECALL_FLAG, session_id: session_20260223, strategy_id: strat_1, sharpe: -1.0, n: 0}",
            "R-B10",
        ),
    ],
)
def test_a_feedback_or_a_recall_that_nothing_calls_for_is_found(
    tmp_path: Path, monkeypatch: Patch, body: str, rule: str
) -> None:
    monkeypatch.setattr(bridge, "is_underperforming", lambda context, strategy_id: True)
    monkeypatch.setattr(bridge, "is_losing", lambda context, strategy_id: True)
    seat, channel = ("evolver", "#bridge") if rule == "R-B9" else ("guardian", "#b-risk")
    more = f'  - {{after: 2h, seat: {seat}, channel: "{channel}", body: {body}}}'
    log = day(tmp_path, hours=3, more=more)
    assert rule in {rule for _, _, rule in second(log)}


# ---------------------------------------------------------------- sessions


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
    for module in (session, promotion):
        monkeypatch.setattr(module, "check_figures", nothing)
    monkeypatch.setattr(machine, "check", nothing)


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize(("kind", "field", "step", "rule"), FIGURES)
def test_k11_a_figure_that_is_a_cent_or_a_digit_off_is_found(
    sound: Lines, kind: str, field: str, step: float, rule: str
) -> None:
    lines = copy.deepcopy(sound)
    # The last check of the day comes after all its trades.
    line = [line for line in lines if line["body"]["type"] == kind][-1]
    *path, name = field.split(".")
    place = line["body"]
    for part in path:
        place = place[int(part) if part.isdigit() else part]
    place[name] = round(place[name] + step, 6)
    found = judged(rehashed(lines), max_findings=1000).findings
    assert [(f.seq, f.invariant, f.rule) for f in found] == [(line["seq"], "money", rule)], found
    assert name in found[0].why


@pytest.mark.usefixtures("blind")
def test_k11_a_figure_that_is_off_names_the_fills_that_may_be(sound: Lines) -> None:
    lines = copy.deepcopy(sound)
    fill = next(line for line in lines if line["body"]["type"] == "EXECUTION")
    fill["body"]["avg_price"] = round(fill["body"]["avg_price"] + 0.01, 4)
    found = judged(rehashed(lines)).findings
    after = next(n for n in lines if n["seq"] > fill["seq"] and n["body"]["type"] == "RISK_CHECK")
    assert (found[0].seq, found[0].invariant) == (after["seq"], "money")
    assert f"fills since then: seq {fill['seq']}" in found[0].why
    assert {f.invariant for f in found} == {"money"}


def test_r_d18_a_day_without_its_close_is_found(tmp_path: Path, monkeypatch: Patch) -> None:
    tracks = {name: track for name, track in session_tracks.TRACKS.items() if name not in ("close", "weekly")}
    monkeypatch.setattr(session_tracks, "TRACKS", tracks)
    log = day(tmp_path, hours=12)
    (found,) = second(log)
    assert found[1:] == ("desk", "R-D18")


def test_r_d18_a_day_that_nobody_opens_is_found(tmp_path: Path, monkeypatch: Patch) -> None:
    real = desk_calendar.DeskCalendar

    class Late(real):  # type: ignore[misc, valid-type]
        def alarm(self, docket: Any) -> Any:
            return None if self.opened else super().alarm(docket)

        def ring(self, now: Any, docket: Any) -> Any:
            return iter(()) if self.opened else super().ring(now, docket)

    monkeypatch.setattr("moot.protocols.rulebook.DeskCalendar", Late)
    log = day(tmp_path, hours=26)
    assert [env.body.type for env in log].count("TRADING_DAY") == 1
    assert ("desk", "R-D18") in {found[1:] for found in second(log)}


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


# ---------------------------------------------------------------- alerts and halts

TAIL = "{guardian: {script: [{type: RISK_CHECK, var95: 0.06}, {type: RISK_CHECK, var95: 0.06}]}}"


def test_r_b7_a_dropped_alert_is_found(tmp_path: Path, monkeypatch: Patch) -> None:
    log = day(tmp_path, hours=2, minds=TAIL)
    assert seq_of(log, "RISK_ALERT")
    assert second(log) == []
    monkeypatch.setattr(session, "check_levels", lambda state, breaches, context: state)
    log = day(tmp_path, hours=2, minds=TAIL)
    assert second(log) == [(seq_of(log, "RISK_CHECK"), "desk", "R-B7")]


def test_r_b7_limits_that_were_moved_are_found(tmp_path: Path, monkeypatch: Patch) -> None:
    real: Callable[..., list[Breach]] = limits.breaches
    monkeypatch.setattr(limits, "breaches", lambda check: [b for b in real(check) if b.metric != "var95"])
    log = day(tmp_path, hours=2, minds=TAIL)
    assert second(log) == [(seq_of(log, "RISK_CHECK"), "desk", "R-B7")]


def test_r_b4_a_decision_that_the_projection_does_not_lead_to_is_found(monkeypatch: Patch) -> None:
    anything = ("reduce_exposure", "hold", "monitor")
    monkeypatch.setattr(alert, "ALLOWED", dict.fromkeys(alert.ALLOWED, anything))
    for name in ("4.2-stable-risk-is-not-reduced", "4.2-increasing-risk-is-not-merely-monitored"):
        log = scene(name)
        assert second(log) == [(seq_of(log, "RISK_DECISION"), "desk", "R-B4")]


def test_5_1_a_halt_that_no_admin_is_told_of_is_found(monkeypatch: Patch) -> None:
    monkeypatch.setattr(desk_triggers.Halts, "changes", lambda self, env, fx, docket: ())
    log = scene("R-B5-an-admin-halts-and-resumes")
    assert (seq_of(log, "HALT"), "desk", "5.1") in second(log)


def test_r_b6_an_escalation_without_a_loss_is_found(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(desk_triggers, "DAILY_LOSS", 1.0)
    log = day(tmp_path, hours=2)
    assert (seq_of(log, "ESCALATION"), "desk", "R-E1") in second(log)
