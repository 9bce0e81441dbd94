from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from moot.bots.desk.intraday import read_intraday
from moot.bots.desk.market import Market
from moot.bots.desk.quarters import QUARTER, quarters_of
from moot.bots.tools.bars import Bars
from moot.bots.tools.errors import PriceFileError
from moot.bots.tools.universe import Universe
from moot.protocols.trading.hours import session_on

FIRST, SECOND = date(2018, 3, 8), date(2018, 3, 9)
HEADER = "timestamp,open,high,low,close,volume"


def universe(shift=0):
    dates = np.array([FIRST, SECOND, date(2018, 3, 12)], "datetime64[D]")
    price = np.array([100.0, 101.0, 102.0])
    bars = Bars("A", dates, price, price + 2, price - 2, price + 1, price * 1000, "file")
    return Universe.of([bars], "").shifted(shift)


def rows(days=(FIRST, SECOND), scale=1.0):
    made = []
    for n, day in enumerate(days):
        hours = session_on(day)
        for k in range(quarters_of(hours)):
            price = (100.0 + n + (k % 3) * 0.5) * scale
            stamp = f"{hours.opens_at + k * QUARTER:%Y-%m-%dT%H:%M:%SZ}"
            made.append(f"{stamp},{price},{price + 0.3},{price - 0.2},{price + 0.1},{1000 + k}")
    return made


def read(tmp_path, lines, shift=0, header=HEADER):
    path = tmp_path / "quarters.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    return read_intraday(path, universe(shift))


def refusal(tmp_path, lines, **how):
    with pytest.raises(PriceFileError) as caught:
        read(tmp_path, lines, **how)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.rule("R-M3")
def test_r_m3_the_users_own_bars_take_the_bridges_place(tmp_path):
    own = read(tmp_path, rows())
    market = Market(universe(), 1, own)
    close = session_on(FIRST).closes_at
    bars = market.bars("A", FIRST, close)
    assert [bar.close for bar in bars[:3]] == [100.1, 100.6, 101.1]
    assert [bar.volume for bar in bars[:3]] == [1000, 1001, 1002]
    assert market.price("A", close) == bars[-1].close
    assert market.partial_day("A", close) == (100.0, 101.3, 99.8, 100.6, sum(range(1000, 1026)))
    for n, bar in enumerate(bars):
        walk = [market.price("A", bar.starts_at + timedelta(minutes=m)) for m in range(15)]
        assert (walk[0], max(walk), min(walk), walk[-1]) == (bar.open, bar.high, bar.low, bar.close), n


def test_a_day_that_the_file_lacks_keeps_the_bridge(tmp_path):
    own = read(tmp_path, rows((FIRST,)))
    market, plain = Market(universe(), 1, own), Market(universe(), 1)
    at = datetime(2018, 3, 9, 16, tzinfo=UTC)
    assert market.price("A", at) == plain.price("A", at)
    assert market.price("A", at - timedelta(days=1)) != plain.price("A", at - timedelta(days=1))


@pytest.mark.rule("R-M2")
def test_r_m2_bars_move_by_the_weeks_of_the_daily_bars_and_stay_at_their_place_in_the_session(tmp_path):
    # From winter into summer time: 14:30 UTC becomes 13:30 UTC, both 09:30 in New York.
    own = read(tmp_path, rows(), shift=14)
    moved = own.day("A", date(2018, 6, 14))
    assert (
        moved[0].starts_at
        == session_on(date(2018, 6, 14)).opens_at
        == datetime(2018, 6, 14, 13, 30, tzinfo=UTC)
    )
    assert own.day("A", FIRST) == ()


def test_a_gap_is_refused_with_its_row_and_the_bar_that_is_missing(tmp_path):
    lines = rows()
    said = refusal(tmp_path, lines[:5] + lines[6:])
    assert said == (
        "quarters.csv: row 7, column 'timestamp': the bar of 2018-03-08 15:45 UTC is missing before it — fill the gap"
    )


def test_a_day_that_ends_early_is_a_gap_too(tmp_path):
    assert "row 26, column 'timestamp': the bar of 2018-03-08 20:45 UTC is missing after it" in refusal(
        tmp_path, rows()[:25] + rows()[26:]
    )
    assert "missing after it" in refusal(tmp_path, rows()[:-1])


def test_duplicate_and_unordered_bars_are_refused(tmp_path):
    lines = rows()
    said = refusal(tmp_path, [*lines[:4], lines[3], *lines[4:]])
    assert "row 6, column 'timestamp': the bar of 2018-03-08 15:15 UTC is there twice" in said
    swapped = [*lines[:3], lines[4], lines[3], *lines[5:]]
    assert "row 5" in refusal(tmp_path, swapped)
    assert "earlier than the row before" in refusal(tmp_path, lines[26:] + lines[:26])


@pytest.mark.parametrize(
    ("at", "value", "column"), [(1, "-3", "open"), (3, "0", "low"), (4, "inf", "close"), (5, "-1", "volume")]
)
def test_impossible_figures_are_refused_with_row_and_column(tmp_path, at, value, column):
    lines = rows()
    cells = lines[9].split(",")
    cells[at] = value
    lines[9] = ",".join(cells)
    assert f"row 11, column '{column}'" in refusal(tmp_path, lines)


def test_a_high_below_the_close_is_refused(tmp_path):
    lines = rows()
    lines[0] = "2018-03-08T14:30:00Z,100,100.1,99,100.5,5"
    assert "row 2, column 'high': 100.1 is below another price of the row" in refusal(tmp_path, lines)


def test_a_split_that_the_daily_prices_lack_is_refused(tmp_path):
    lines = rows((FIRST,)) + rows((SECOND,), scale=0.5)
    said = refusal(tmp_path, lines)
    assert (
        "row 28, column 'open': the price jumps to 0.497 times the close before, in the daily prices to 1 times"
        in said
    )


def test_bars_on_another_scale_than_the_daily_prices_are_refused(tmp_path):
    assert "row 2, column 'high': 200.3 is far from the day's high of 102" in refusal(
        tmp_path, rows(scale=2.0)
    )


@pytest.mark.parametrize(
    ("stamp", "why"),
    [
        ("2018-03-08T14:30:00", "names no zone"),
        ("yesterday", "is not an instant"),
        ("2018-03-10T14:30:00Z", "the exchange was closed on 2018-03-10"),
        ("2018-03-08T14:31:00Z", "the bar of 2018-03-08 14:30 UTC is missing before it"),
    ],
)
def test_a_wrong_timestamp_is_refused(tmp_path, stamp, why):
    assert why in refusal(tmp_path, [f"{stamp},100,101,99,100,5"])


def test_a_foreign_symbol_and_a_day_without_a_daily_bar_are_refused(tmp_path):
    lines = [f"{line},B" for line in rows()]
    assert "row 2, column 'symbol': 'B' has no daily prices (A)" in refusal(
        tmp_path, lines, header=HEADER + ",symbol"
    )
    assert "the daily prices have no 2018-03-13" in refusal(tmp_path, rows((date(2018, 3, 13),)))


def test_missing_columns_and_missing_files_are_refused(tmp_path):
    assert "column 'volume' is missing" in refusal(tmp_path, [], header="timestamp,open,high,low,close")
    assert "holds no bars" in refusal(tmp_path, [])
    with pytest.raises(PriceFileError, match="cannot be read"):
        read_intraday(tmp_path / "none.csv", universe())


def test_parquet_is_read_like_csv(tmp_path):
    cells = [line.split(",") for line in rows()]
    table = pa.table(
        {
            "timestamp": pa.array(
                [datetime.fromisoformat(c[0]) for c in cells], pa.timestamp("us", tz="UTC")
            ),
            **{
                name: [float(c[at]) for c in cells]
                for at, name in enumerate(("open", "high", "low", "close", "volume"), 1)
            },
        }
    )
    path = tmp_path / "quarters.parquet"
    pq.write_table(table, path)
    assert read_intraday(path, universe()).day("A", FIRST) == read(tmp_path, rows()).day("A", FIRST)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(PriceFileError, match="not a readable Parquet"):
        read_intraday(path, universe())
