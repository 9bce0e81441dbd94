"""What `moot simulate` tells of the desk: figures from message bodies and from cases, text, JSON, a picture."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from moot.cli.output import money, per_cent, sparkline
from moot.protocols.codec import decode_body
from moot.protocols.escalation.case import EscalationState
from moot.protocols.kernel.case import CaseState, Decision
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import BOT, GENESIS, Draft, Envelope, seal
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.officers import SocietyStarted
from moot.protocols.kernel.seats import REFEREE, TIMEKEEPER, Seat
from moot.protocols.trading.deploy import DeploymentState
from moot.protocols.trading.halt import HaltState
from moot.protocols.trading.messages import DeployProposal
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER
from moot.simulation.desk import DeskSummary
from moot.simulation.plot import equity_at, halts, plot
from moot.simulation.summary import SimulationSummary
from tests.doubles.desk_samples import DESK_BODIES
from tests.doubles.money_table import MoneyTable

START = datetime(2026, 2, 23, 14, 0, tzinfo=UTC)


class Told:
    """A summary, and a hand that tells it messages with what they changed."""

    def __init__(self, capital: float = 1000.0) -> None:
        self.summary = SimulationSummary(
            days=1.0, seed=3, start="2026-02-23T00:00:00.000000Z", prices="sample", virtual_s=86400.0
        )
        self.now = START
        self.seq = 0
        body = SocietyStarted(
            society_id="test",
            config={"desk": {"capital": capital}},
            rules_version="1",
            seed=3,
            data={},
            speed=0.0,
            clock="virtual",
            durability="none",
            moot_version="test",
        )
        self.take(body, TIMEKEEPER)

    @property
    def desk(self) -> DeskSummary:
        return self.summary.desk

    def __call__(self, kind: str, seat: Seat = OPERATOR, fx: Effects | None = None, **over: Any) -> Envelope:
        body = decode_body(json.dumps({"type": kind, **DESK_BODIES[kind], **over}))
        return self.take(body, seat, fx)

    def take(self, body: Any, seat: Seat, fx: Effects | None = None, case_id: str | None = None) -> Envelope:
        self.seq += 1
        self.now += timedelta(minutes=5)
        draft = Draft(
            channel="#b-ops", author=seat, body=body, actor=BOT, case_id=case_id, key=f"k{self.seq}"
        )
        env, _ = seal(
            draft,
            seq=self.seq,
            envelope_id=draft.key,
            sent_at=self.now,
            previous=GENESIS,
            body=body,
        )
        self.summary.take(env, fx or Effects())
        return env

    def risk(self, equity: float, **marks: float) -> None:
        pnl = round(equity - 1000.0, 2)
        self(
            "RISK_CHECK",
            marks=marks,
            equity=equity,
            daily_pnl_usd=pnl,
            daily_pnl_pct=pnl / 1000.0,
            drawdowns={},
        )


def changed(**what: Any) -> Effects:
    fx = Effects()
    for name, value in what.items():
        setattr(fx, name, value)
    return fx


def halt(case_id: str = "halt_1", outcome: str | None = None) -> HaltState:
    return HaltState(
        case_id=case_id, kind="halt", phase="halted", anchor_at=START, outcome=outcome, by=GUARDIAN
    )


def deployment(outcome: str | None, decision: str, case_id: str = "dep_1") -> DeploymentState:
    proposal = decode_body(json.dumps({"type": "DEPLOY_PROPOSAL", **DESK_BODIES["DEPLOY_PROPOSAL"]}))
    assert isinstance(proposal, DeployProposal)
    return DeploymentState(
        case_id=case_id,
        kind="deployment",
        phase="ended",
        anchor_at=START,
        outcome=outcome,
        strategy_id="strat_1",
        proposal=proposal,
        decision=decision,
    )


def case(kind: str, outcome: str | None = None) -> CaseState:
    return CaseState(case_id=f"{kind}_1", kind=kind, phase="x", anchor_at=START, outcome=outcome)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def lively() -> Told:
    """Two days of the desk: 100 dollars up, then a fall to 950, a halt, a promotion, and a close at 1,020."""
    told = Told()
    told("TRADING_DAY", TIMEKEEPER, date="2026-02-23")
    told("SIGNAL", TRADER, signal_id="sig_1", strategy_id="strat_1")
    told("ORDER", TRADER, signal_id="sig_1")
    told("EXECUTION", TRADER, signal_id="sig_1", execution_id="e1", qty_filled=10, avg_price=20.0, fee=1.0)
    told.risk(1100.0, SPX=30.1)
    told(
        "MARKET_CLOSE",
        date="2026-02-23",
        closes={"SPX": 30.1},
        equity=1100.0,
        pnl_usd=100.0,
        pnl_pct=0.1,
        trades=1,
    )
    told("TRADING_DAY", TIMEKEEPER, date="2026-02-24")
    told.risk(950.0, SPX=15.1)
    told("HALT", GUARDIAN, changed(started=(halt(),)))
    told("RESUME_CONFIRMED", GUARDIAN, changed(ended=(halt(outcome="resumed"),)))
    told("SIGNAL", TRADER, signal_id="sig_2", strategy_id="strat_2")
    told(
        "EXECUTION", TRADER, signal_id="sig_2", execution_id="e2", client_order_id="sig_2-1", action="SELL",
        symbol="NDX", qty_filled=2, avg_price=50.0, fee=0.5,
    )  # fmt: skip
    told.take(
        decode_body(
            json.dumps(
                {
                    "type": "STRATEGY_MOVED",
                    "strategy_id": "strat_1",
                    "from": "staging",
                    "to": "production",
                    "reason": "both approve",
                }
            )
        ),
        OPERATOR,
    )
    told(
        "MARKET_CLOSE", date="2026-02-24", closes={"SPX": 22.0, "NDX": 49.0}, equity=1020.0, pnl_usd=-80.0,
        pnl_pct=-0.072727, trades=1,
    )  # fmt: skip
    return told


def test_the_periods_figures_come_from_what_was_measured(lively: Told) -> None:
    desk = lively.desk
    assert (desk.equity, desk.pnl_usd, desk.pnl_pct) == (1020.0, 20.0, 0.02)
    # 950 under a peak of 1,100; the closes alone would hide it.
    assert desk.max_drawdown == round(150 / 1100, 6)
    assert [(day.date, day.equity, day.trades, day.is_closed) for day in desk.days] == [
        ("2026-02-23", 1100.0, 1, True),
        ("2026-02-24", 1020.0, 1, True),
    ]


def test_attribution_is_what_fills_paid_and_what_is_held_at_the_last_marks(lively: Told) -> None:
    # 10 bought at 20, marked 22, fee 1; 2 sold short at 50, marked 49, fee 0.5. With the rest it makes no 20: the
    # fixture's equity is invented, so the two are independent.
    assert lively.desk.attribution() == {
        "strat_1": {"pnl_usd": 19.0, "fills": 1},
        "strat_2": {"pnl_usd": 1.5, "fills": 1},
    }


def test_what_strategies_made_adds_up_to_the_books_equity() -> None:
    table = MoneyTable()
    table.put("strat_2")
    table.trade("BUY", 100, 100.0, fee=1.5)
    table.trade("SELL", 30, 101.23, fee=0.5, strategy_id="strat_2", symbol="BBB")
    table.check(AAA=103.25, BBB=99.5)
    table.trade("SELL", 60, 104.0, fee=1.0)
    table.day(AAA=102.0, BBB=98.25)
    table.check(AAA=95.0, BBB=101.0)
    desk = DeskSummary()
    for env, fx in zip(table.log, table.effects[-len(table.log) :], strict=True):
        desk.take(env, fx)

    made = desk.attribution()
    assert desk.equity == table.book.equity() / 10_000
    assert round(sum(of["pnl_usd"] for of in made.values()), 2) == desk.pnl_usd != 0.0
    assert {name: of["pnl_usd"] for name, of in made.items()} == {
        name: table.book.paper_metrics(name)["pnl_usd"] for name in made
    }
    assert (desk.orders, desk.fills, dict(desk.trades_ended)) == (3, 3, {"filled": 3})
    assert [(day.date, day.trades, day.is_closed) for day in desk.measured_days()] == [
        ("2026-02-23", 3, True),
        ("2026-02-24", 0, False),
    ]


@pytest.mark.rule("K11")
def test_k11_fills_are_counted_whatever_rule_they_break_orders_are_not(told: Told) -> None:
    broken = changed(violation=Violation("R-B5", "halted"))
    told("ORDER", TRADER, broken)
    told("EXECUTION", TRADER, broken, execution_id="e1")

    assert (told.desk.orders, told.desk.fills, dict(told.desk.executions)) == (0, 1, {"filled": 1})


def test_a_fact_that_is_told_twice_is_booked_once(told: Told) -> None:
    for _ in range(2):
        told("EXECUTION", TRADER, execution_id="e1", qty_filled=1, avg_price=10.0, fee=0.0)
    told("EXECUTION", TRADER, execution_id="e2", qty_filled=0, avg_price=0.0, fee=0.0, status="cancelled")

    assert told.desk.fills == 1
    assert dict(told.desk.executions) == {"filled": 2, "cancelled": 1}


def test_a_fill_without_a_known_signal_is_nobodys(told: Told) -> None:
    told("EXECUTION", TRADER, signal_id="sig_unknown")

    assert list(told.desk.attribution()) == ["unassigned"]


def test_a_day_that_nobody_closed_stands_as_it_was_last_measured(told: Told) -> None:
    told("TRADING_DAY", TIMEKEEPER, date="2026-02-23")
    told.risk(990.0)
    told("EXECUTION", TRADER)
    told("TRADING_DAY", TIMEKEEPER, date="2026-02-24")
    told.risk(980.0)

    first, second = told.desk.measured_days()
    assert (first.date, first.equity, first.pnl_usd, first.is_closed) == ("2026-02-23", 990.0, -10.0, False)
    assert (second.date, second.equity, second.is_closed) == ("2026-02-24", 980.0, False)
    assert (first.trades, second.trades) == (1, 0)


def test_a_day_that_nobody_measured_is_no_session(told: Told) -> None:
    """A society that starts on a Monday at midnight lives through the end of Friday's desk day."""
    told("TRADING_DAY", TIMEKEEPER, date="2026-02-20")
    told("TRADING_DAY", TIMEKEEPER, date="2026-02-23")

    assert told.desk.measured_days() == []


def test_a_check_that_breaks_a_rule_measures_nothing(told: Told) -> None:
    wrong = changed(violation=Violation("R-B7", "the equity is another"))
    told("RISK_CHECK", GUARDIAN, wrong, equity=1.0)

    assert told.desk.equity == 1000.0


@pytest.mark.rule("R-B1")
def test_r_b1_deployments_are_counted_by_what_was_decided_and_by_whom(told: Told) -> None:
    told("DEPLOY_NOTICE", fx=changed(ended=(deployment("deployed", "DEPLOY"),)))
    for n, (reason, decision, outcome) in enumerate(
        [
            ("admin", "DEPLOY", "deployed"),
            ("expired", "REJECT", "rejected"),
            ("timeout", "REJECT", "rejected"),
        ]
    ):
        ruling = decode_body(
            json.dumps(
                {
                    "type": "RULING",
                    "case_id": f"dep_{n}",
                    "obligation_id": None,
                    "outcome": decision,
                    "rule": "R-B1",
                    "reason": reason,
                    "of_seq": None,
                }
            )
        )
        decided = changed(decision=Decision(decision, reason, "R-B1"))
        told.take(ruling, REFEREE, decided, case_id=f"dep_{n}")
        told("DEPLOY_NOTICE", fx=changed(ended=(deployment(outcome, decision, f"dep_{n}"),)))
    told("DEPLOY_NOTICE", fx=changed(ended=(deployment("stopped", ""),)))

    assert told.desk.as_json()["deployments"] == {
        "DEPLOY by the admin": 1,
        "DEPLOY by the table": 1,
        "REJECT by the admin's silence": 1,
        "REJECT by the table": 1,
        "stopped": 1,
    }


def test_cases_are_counted_as_they_open_and_as_they_end(told: Told) -> None:
    for kind in ("session", "trade", "deployment", "promotion", "feedback", "recall"):
        told("DESK_CHECK", fx=changed(started=(case(kind), case(kind))))
    told("RISK_ALERT", GUARDIAN, changed(started=(case("alert"),)), level="WARNING")
    told("RISK_ALERT", GUARDIAN, changed(started=(halt(),)), level="HALT")
    told("DESK_CHECK", fx=changed(ended=(case("trade", "filled"), case("trade", "halted"))))
    told("DESK_CHECK", fx=changed(ended=(case("promotion", "extended"), case("promotion", "promoted"))))
    told("DESK_CHECK", fx=changed(ended=(case("recall", "withdrawn"), case("feedback", "adjusted"))))
    told("DESK_CHECK", fx=changed(ended=(halt(outcome="stopped"),)))

    found = told.desk.as_json()
    assert found["cases"] == dict.fromkeys(
        ("deployment", "feedback", "promotion", "recall", "session", "trade"), 2
    ) | {"halt": 1}
    assert found["alerts"] == {"HALT": 1, "WARNING": 1}
    assert found["trades_ended"] == {"filled": 1, "halted": 1}
    assert found["promotions"] == {"extended": 1, "promoted": 1}
    assert (found["recalls"], found["feedbacks"]) == ({"withdrawn": 1}, {"adjusted": 1})
    assert (found["halted_by"], found["resumed"]) == ({"guardian": 1}, 0)


def test_escalations_are_told_by_trigger_and_ending(told: Told) -> None:
    def escalation(code: str, outcome: str | None) -> EscalationState:
        return EscalationState(
            case_id=code, kind="escalation", phase="open", anchor_at=START, outcome=outcome, level="URGENT",
            code=code, subject="", options=(),
        )  # fmt: skip

    for code in ("halt", "halt", "daily_loss"):
        told("DESK_CHECK", fx=changed(started=(escalation(code, None),)))
    told("DESK_CHECK", fx=changed(ended=(escalation("halt", "withdrawn"),)))
    told("DESK_CHECK", fx=changed(ended=(escalation("daily_loss", "expired"),)))

    assert told.summary.as_json()["escalation_endings"] == {
        "daily_loss": {"expired": 1},
        "halt": {"open": 1, "withdrawn": 1},
    }


def test_the_whole_of_it_is_json(lively: Told) -> None:
    found = json.loads(json.dumps(lively.summary.as_json()))["desk"]

    assert found["days"][0] == {
        "date": "2026-02-23",
        "equity": 1100.0,
        "pnl_usd": 100.0,
        "pnl_pct": 0.1,
        "trades": 1,
        "is_closed": True,
    }
    assert [event["what"] for event in found["events"]] == ["halt", "resume", "promotion"]
    assert found["events"][0]["at"].endswith("Z")
    assert not any(name.startswith("_") for name in found)


def test_a_desk_that_never_opened_is_told_in_zeros() -> None:
    found = SimulationSummary().as_json()["desk"]

    assert (found["equity"], found["pnl_usd"], found["pnl_pct"], found["max_drawdown"]) == (
        0.0,
        0.0,
        0.0,
        0.0,
    )
    assert found["days"] == found["events"] == []


# ---------------------------------------------------------------- the small curve


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([], ""),
        ([5.0], "▁"),
        ([5.0, 5.0], "▁▁"),
        ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "▁▂▃▄▅▆▇█"),
        ([7.0, 0.0], "█▁"),
    ],
)
def test_a_curve_is_drawn_in_blocks(values: list[float], drawn: str) -> None:
    assert sparkline(values, "utf-8") == drawn


def test_a_terminal_without_utf_8_gets_plain_ascii() -> None:
    for encoding in ("ascii", "latin-1", "cp1252", None):
        drawn = sparkline([0.0, 3.5, 7.0], encoding)
        assert drawn.isascii()
        assert len(set(drawn)) == 3


def test_a_long_curve_is_cut_to_the_line_and_ends_where_it_ends() -> None:
    values = [float(n) for n in range(1000)]
    drawn = sparkline(values, "UTF-8", most=40)
    assert len(drawn) == 40
    assert drawn[-1] == "█"
    assert drawn == "".join(sorted(drawn))


def test_next_to_nothing_has_no_minus() -> None:
    assert (money(-0.001), money(-0.004, sign=True), money(-1234.5)) == ("0.00", "+0.00", "-1,234.50")
    assert (per_cent(-0.000001), per_cent(0.0, sign=True), per_cent(-0.0123)) == (
        "0.00 %",
        "+0.00 %",
        "-1.23 %",
    )


# ---------------------------------------------------------------- the picture


def test_the_picture_is_a_png_and_the_same_every_time(lively: Told, tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        plot(lively.summary, tmp_path / name)

    drawn = (tmp_path / "a.png").read_bytes()
    assert drawn.startswith(b"\x89PNG\r\n")
    assert drawn == (tmp_path / "b.png").read_bytes()


def test_a_desk_without_sessions_can_be_drawn_too(told: Told, tmp_path: Path) -> None:
    plot(told.summary, tmp_path / "flat.png")

    assert (tmp_path / "flat.png").stat().st_size > 1000


def test_halts_are_drawn_from_halt_to_resume_or_to_the_end(lively: Told) -> None:
    ((begins, ends),) = halts(lively.desk)
    assert ends - begins == timedelta(minutes=5)

    lively("HALT", GUARDIAN, changed(started=(halt("halt_2"),)))
    lively.risk(900.0)
    assert halts(lively.desk)[1] == (lively.now - timedelta(minutes=5), lively.now)


def test_a_mark_stands_on_the_last_equity_before_it(lively: Told) -> None:
    promoted = next(event for event in lively.desk.events if event.what == "promotion")

    assert equity_at(lively.desk, promoted.at) == 950.0
    assert equity_at(lively.desk, START - timedelta(days=1)) == 1000.0


def test_matplotlib_is_loaded_for_a_picture_only() -> None:
    import subprocess
    import sys

    code = "import sys, moot.cli.run.simulate, moot.simulation.plot; print('matplotlib' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"
