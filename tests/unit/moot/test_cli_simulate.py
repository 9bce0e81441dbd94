"""`moot simulate`: its options and its summary; the simulation itself is tested elsewhere."""

import json
import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from moot.cli.run.simulate import free_directory
from moot.protocols.kernel.errors import BadInput
from moot.simulation.arguing import Arguing
from moot.simulation.desk import Day, DeskSummary, Point
from moot.simulation.durations import first_instant
from moot.simulation.simulate import SimulateOptions
from moot.simulation.summary import SimulationSummary
from tests.doubles.command_line import complaint, data, done, moot, write

ROOT = Path(__file__).resolve().parents[3]
FIRST = datetime(2026, 2, 23, tzinfo=UTC)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[SimulateOptions]:
    """Simulate nothing, and keep what was asked for."""
    found: list[SimulateOptions] = []

    def simulate(options: SimulateOptions, progress: object) -> SimulationSummary:
        found.append(options)
        return SUMMARY

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("moot.simulation.simulate.simulate", simulate)
    return found


SUMMARY = SimulationSummary(
    days=7.0,
    seed=3,
    start="2026-02-23T00:00:00.000000Z",
    prices="sample",
    messages=1204,
    cycles=84,
    debates=80,
    verdicts=Counter(APPROVE=20, REJECT=59),
    revisions=12,
    extensions=6,
    concessions=3,
    early_ends=10,
    timeouts=2,
    pings=14,
    rulings=Counter(timeout=2),
    violations=1,
    escalations=Counter(no_approve=1, timeouts=2),
    escalations_ended=Counter(answered=1, expired=1),
    escalation_endings={
        "no_approve": Counter(open=0, answered=1),
        "timeouts": Counter(open=1, expired=1),
    },
    principles=4,
    backtests_passed=12,
    backtests_failed=8,
    head_hash="0123456789abcdef" * 4,
    runs=Counter(TERMINATED_APPROVED=2, TERMINATED_MAX_ROUNDS=1),
    rounds=9,
    arguing=Arguing(
        with_change=Counter(lower=30, higher=4),
        without_change=Counter(unmoved=41),
        after_extension=Counter(APPROVE=4, REJECT=2),
        proposed={"2026-02-23": Counter(momentum=50, mean_reversion=29), "2026-03-02": Counter(breakout=1)},
        correlations=[0.2, 0.61, 0.75],
    ),
    virtual_s=604800.0,
    wall_s=3.21,
    out="runs/20260223-3",
    desk=DeskSummary(
        capital=1_000_000.0,
        cases=Counter(session=2, trade=9, deployment=2, promotion=1, halt=1),
        orders=8,
        executions=Counter(filled=7, partial=1),
        fills=8,
        trades_ended=Counter(filled=7, halted=2),
        deployments=Counter({"DEPLOY by the admin": 1, "REJECT by the table": 1}),
        promotions=Counter(promoted=1),
        withdrawn=["s1", "s2", "s3", "s4", "s5", "s6"],
        alerts=Counter(WARNING=2, HALT=1),
        halted_by=Counter(guardian=1),
        resumed=1,
        days=[
            Day("2026-02-23", 1_050_000.0, 50_000.0, 0.05, 4, True),
            Day("2026-02-24", 1_020_000.5, -29_999.5, -0.028571, 4, True),
        ],
        curve=[
            Point(FIRST, 1_000_000.0),
            Point(FIRST + timedelta(hours=21), 1_050_000.0),
            Point(FIRST + timedelta(hours=40), 1_000_000.0),
            Point(FIRST + timedelta(hours=45), 1_020_000.5),
        ],
    ),
)


TEXT = (
    "7 days from 2026-02-23, seed 3  prices sample\n"
    "System A\n"
    "cycles                 84\n"
    "debates                80  20 APPROVE, 59 REJECT, 10 ended early by a clear signal\n"
    "proposals              80  week of 2026-02-23: 50 momentum, 29 mean reversion\n"
    "                           week of 2026-03-02: 1 breakout\n"
    "rebuttals              75  34 with a change, 34 of them (100 %) moved the scores: 30 down, 4 up\n"
    "                           41 without, none of them moved the scores\n"
    "extensions              6  4 APPROVE, 2 REJECT\n"
    "revisions              12\n"
    "approvals               3  correlation with what is approved: median 0.61, 1 above 0.70\n"
    "concessions             3\n"
    "principles              4\n"
    "backtests              20  12 passed, 8 failed\n"
    "System B\n"
    "sessions                2\n"
    "equity       1,020,000.50  ▁█▄ from 1,000,000.00\n"
    "P&L            +20,000.50  +2.00 %, max drawdown 4.76 %\n"
    "by strategy             0\n"
    "trades                  9  7 filled, 2 halted\n"
    "orders                  8\n"
    "fills                   8  7 filled, 1 partial\n"
    "deployments             2  1 DEPLOY by the admin, 1 REJECT by the table\n"
    "promotions              1  1 promoted\n"
    "feedbacks               0\n"
    "recalls                 0\n"
    "withdrawals             6  s1, s2, s3, s4, s5 and 1 more\n"
    "alerts                  3  1 HALT, 2 WARNING\n"
    "halts                   1  1 by the guardian; 1 lifted\n"
    "Arena\n"
    "runs                    3  2 approved, 1 max rounds\n"
    "rounds                  9\n"
    "Both\n"
    "timeouts                2  14 reminders; rulings: 2 timeout\n"
    "violations              1\n"
    "escalations             3  1 no approve: 1 answered; 2 timeouts: 1 expired, 1 open\n"
    "messages            1,204  head 0123456789abcdef\n"
    "7 d of society time in 3.2 s, log in runs/20260223-3\n"
)


def test_the_summary_reads_like_this(asked: list[SimulateOptions]) -> None:
    assert done("simulate") == TEXT


def rows(text: str) -> dict[str, tuple[str, str]]:
    """Return a printed summary's figures by name, each with what is said of it."""
    found = re.findall(r"^([\w&]+(?: \w+)?) {2,}(\S+)(?: {2}(.*))?$", text, re.MULTILINE)
    return {name: (figure, about) for name, figure, about in found}


def test_a_day_that_is_simulated_is_summed_up_as_its_log_has_it(tmp_path: Path) -> None:
    place = tmp_path / "run"
    text = done("simulate", "--days", "1", "--out", place)
    log = [json.loads(line) for line in done("log", place, "--json").splitlines()]
    kinds = Counter(line["body"]["type"] for line in log)
    verdicts = Counter(
        line["body"]["verdict"] for line in log if line["body"]["type"] in ("VERDICT", "FINAL_VERDICT")
    )
    # A backtest that never comes turns an approval into a rejection (R-D10).
    never = [line for line in log if "/backtest/" in str(line["body"].get("obligation_id"))]
    ruled = sum(line["body"]["type"] == "RULING" for line in never)
    verdicts.update(APPROVE=-ruled, REJECT=ruled)
    said = rows(text)

    first, *_, last = text.splitlines()
    assert first == "1 day from 2026-02-23, seed 1  prices sample"
    assert re.fullmatch(rf"24 h of society time in \d+\.\d s, log in {re.escape(str(place))}", last)
    assert [*said] == [*rows(TEXT)], "the same figures in the same order"
    assert said["messages"] == (f"{len(log):,}", f"head {log[-1]['hash'][:16]}")
    assert said["cycles"][0] == str(kinds["CYCLE_TRIGGER"])
    assert said["debates"][0] == str(kinds["HYPOTHESIS"])
    assert f"{verdicts['APPROVE']} APPROVE, {verdicts['REJECT']} REJECT" in said["debates"][1]
    assert said["backtests"][0] == str(kinds["BACKTEST_RESULT"])
    assert said["orders"][0] == str(kinds["ORDER"])
    assert said["timeouts"][1].startswith(f"{kinds['TIMEOUT_PING']} reminder")
    assert said["violations"][0] == str(kinds["VIOLATION"])
    assert said["sessions"] == ("1", "")
    (equity,) = [line["body"]["equity"] for line in log if line["body"]["type"] == "MARKET_CLOSE"]
    assert said["equity"][0] == f"{equity:,.2f}"


def test_the_summary_says_what_models_spent_and_of_what(asked: list[SimulateOptions]) -> None:
    assert "spent" not in done("simulate")
    booked = {"usd": 2_210, "tokens": 4_080, "calls": 33}
    SUMMARY.calls = {"booked": booked, "limit": {"usd": 500_000, "tokens": None, "calls": None}}
    try:
        assert "$0.00221 of $0.50, 4,080 tokens, 33 calls" in done("simulate")
        assert data("simulate")["calls"]["booked"] == booked
    finally:
        SUMMARY.calls = {}


def test_a_terminal_without_utf_8_gets_the_curve_in_ascii(asked: list[SimulateOptions]) -> None:
    import io

    from rich.console import Console

    from moot.cli.run.simulate import print_summary

    raw = io.BytesIO()
    with io.TextIOWrapper(raw, encoding="ascii", errors="strict") as file:
        print_summary(Console(file=file, width=200), SUMMARY)
        file.flush()
        said = raw.getvalue()

    assert b"_#~ from 1,000,000.00" in said


def test_a_picture_is_drawn_on_request(asked: list[SimulateOptions], tmp_path: Path) -> None:
    result = moot("simulate", "--plot", tmp_path / "equity.png")

    assert result.exit_code == 0
    assert result.stderr == f"the equity curve is in {tmp_path / 'equity.png'}\n"
    assert (tmp_path / "equity.png").read_bytes().startswith(b"\x89PNG")


def test_where_no_picture_can_be_written_nothing_is_simulated(
    asked: list[SimulateOptions], tmp_path: Path
) -> None:
    assert "name a file that ends in .png" in complaint(2, "simulate", "--plot", tmp_path / "x.pdf")
    assert "there is no" in complaint(2, "simulate", "--plot", tmp_path / "nowhere" / "x.png")
    (tmp_path / "d.png").mkdir()
    assert "it is a directory" in complaint(2, "simulate", "--plot", tmp_path / "d.png")
    assert asked == []


def test_the_summary_as_json_is_the_summary(asked: list[SimulateOptions]) -> None:
    assert data("simulate") == SUMMARY.as_json()


def test_a_run_goes_where_it_is_told_or_below_runs(asked: list[SimulateOptions], tmp_path: Path) -> None:
    done("simulate")
    done("simulate", "--seed", "7", "--start", "2026-06-01")
    done("simulate", "--out", tmp_path / "x", "--days", "0.5", "--prices", "synthetic")

    assert [options.out for options in asked] == [
        Path("runs/20260223-1"),
        Path("runs/20260601-7"),
        tmp_path / "x",
    ]
    assert (asked[2].days, asked[2].prices) == (0.5, "synthetic")
    assert asked[1].start == datetime(2026, 6, 1, tzinfo=UTC)


def test_a_run_writes_over_no_other(asked: list[SimulateOptions], tmp_path: Path) -> None:
    for name in ("20260223-1", "20260223-1-2"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        write(tmp_path / "runs" / name / "log.sqlite", "no log\n" * 200)

    assert free_directory("20260223-1") == Path("runs/20260223-1-3")
    assert "holds a log already" in complaint(2, "simulate", "--out", "runs/20260223-1")
    assert asked == []


def test_a_place_that_can_be_no_directory_is_usage_whatever_stands_there(tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("x")
    for place in (file, file / "deeper", Path("/proc/nowhere")):
        assert str(place) in complaint(2, "simulate", "--out", place, "--days", "0.1")


def test_the_start_is_a_day_or_an_instant_in_utc() -> None:
    assert first_instant("2026-02-23") == datetime(2026, 2, 23, tzinfo=UTC)
    assert first_instant("2026-02-23T10:00+02:00") == datetime(2026, 2, 23, 8, tzinfo=UTC)
    for text in ("monday", "2026-02-30", "", "0001-01-01T00:00+23:00"):
        with pytest.raises(BadInput, match="write a day such as 2026-02-23"):
            first_instant(text)


@pytest.mark.parametrize("days", ["0", "-1", "nan", "1e9"])
def test_days_are_a_positive_number(asked: list[SimulateOptions], days: str) -> None:
    assert "choose a number above 0" in complaint(2, "simulate", f"--days={days}")


@pytest.mark.parametrize("start", ["1800-01-01", "9999-12-31", "2300-01-01"])
def test_a_start_where_no_prices_can_be_moved_is_usage(asked: list[SimulateOptions], start: str) -> None:
    assert f"start {start}: choose a day from 1900 to 2199" in complaint(2, "simulate", "--start", start)
    assert "a simulation ends before 2200" in complaint(2, "simulate", "--start", "2199-12-31")
    assert asked == []


@pytest.mark.parametrize("words", [["simulate"], ["arena", "run"], ["panel", "run"]])
def test_a_seed_beyond_what_json_holds_is_usage(asked: list[SimulateOptions], words: list[str]) -> None:
    for seed in ("9" * 20, "9007199254740993"):
        assert "choose at most 9,007,199,254,740,992" in complaint(2, *words, f"--seed={seed}")
        assert "choose at least -9,007,199,254,740,992" in complaint(2, *words, f"--seed=-{seed}")
    assert asked == []


@pytest.mark.parametrize(
    "options",
    [
        ["--prices", "nope.csv"],
        ["--prices", "bad.csv"],
        ["--start", "1800-01-01"],
        ["--seed", "9" * 20],
        ["--days", "-1"],
    ],
)
def test_a_refused_simulation_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "bad.csv", "date,open,high,low,close,volume\n2020-01-02,1,2,0.5,x,3\n")

    complaint(2, "simulate", "--days", "1", *options)

    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_prices_that_are_not_there_are_named_once(tmp_path: Path) -> None:
    assert complaint(2, "simulate", "--prices", "nope.csv", "--out", tmp_path / "x") == (
        "moot simulate: prices nope.csv: there is no such file: choose sample, synthetic, or a CSV or Parquet file"
    )
    assert "it is a directory" in complaint(2, "simulate", "--prices", tmp_path, "--out", tmp_path / "x")


def test_help_says_where_a_second_run_goes() -> None:
    assert "-2, -3" in done("simulate", "--help")


def test_wrong_days_are_told_before_anything_is_loaded() -> None:
    code = (
        "import sys\n"
        "from moot.cli.commands import app\n"
        "try: app(['simulate', '--days=-1'])\n"
        "except SystemExit as end: print(end.code, {'pandas', 'numpy'} & {*sys.modules})\n"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert found.stdout == "2 set()\n"


def test_wrong_prices_are_one_line_with_row_and_column(tmp_path: Path) -> None:
    file = write(tmp_path / "p.csv", "date,open,high,low,close,volume\n2020-01-02,1,2,0.5,x,3\n")

    line = complaint(2, "simulate", "--prices", file, "--out", tmp_path / "run")

    assert "close" in line
    assert "p.csv" in line
