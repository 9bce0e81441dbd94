"""Price files as vendors write them: names of columns, numbers, time stamps, and what a user is told of a file."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from moot.bots.tools.bars import Bars
from moot.bots.tools.errors import PriceFileError, PriceFileWarning
from moot.bots.tools.price_files import parse_prices
from tests.doubles.command_line import moot

ADJUSTED = [
    "adj_close",
    "Adj Close",
    "Adj. Close",
    "Adj Close*",
    "Adj Close**",
    "AdjClose",
    "adjClose",
    "ADJ_CLOSE",
    "adjclose",
    "adjusted_close",
    "Adjusted Close",
    "adjustedClose",
    "AdjustedClose",
    "5. adjusted close",
    "close_adj",
    "Close (adj)",
    "Close (adjusted)",
    "closeadj",
    "Adj Closing Price",
    "adjusted-close",
]
SYMBOLS = [
    "symbol",
    "Symbol",
    "Ticker",
    "ticker",
    "TICKER",
    "Name",
    "Instrument",
    "Stock",
    "Asset",
    "Security",
    "tic",
]


def read(text: str | bytes, source: str = "prices.csv") -> tuple[list[Bars], list[str]]:
    """Return the bars of a file, and the lines that a user is told."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bars = parse_prices(text.encode() if isinstance(text, str) else text, source)
    assert all(one.category is PriceFileWarning for one in caught)
    lines = [str(one.message) for one in caught]
    assert all(line.startswith(f"{source}: ") and line.isprintable() for line in lines)
    return bars, lines


def table(*rows: str, header: str = "date,open,high,low,close,volume") -> str:
    return "\n".join((header, *rows)) + "\n"


@pytest.mark.parametrize("name", ADJUSTED)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_adjusted_close_is_used_under_any_usual_name(name: str, form: str) -> None:
    if form == "csv":
        text: str | bytes = table(
            "2020-01-02,40,44,36,40,10,100", header=f"Date,Open,High,Low,Close,{name},Volume"
        )
    else:
        sink = io.BytesIO()
        columns = {"Date": ["2020-01-02"], "Open": [40.0], "High": [44.0], "Low": [36.0], "Close": [40.0]}
        pq.write_table(pa.table({**columns, name: [10.0], "Volume": [100]}), sink)
        text = sink.getvalue()
    ((bars,), lines) = read(text)
    assert [float(column[0]) for column in bars.columns()] == [10.0, 11.0, 9.0, 10.0, 100.0]
    assert lines == []


@pytest.mark.parametrize("name", SYMBOLS)
def test_a_column_of_symbols_may_have_any_usual_name(name: str) -> None:
    rows = ("2020-01-02,1,1,1,1,5,AAA", "2020-01-02,2,2,2,2,5,BBB")
    bars, lines = read(table(*rows, header=f"date,open,high,low,close,volume,{name}"))
    assert [one.symbol for one in bars] == ["AAA", "BBB"]
    assert lines == []


def test_a_symbol_comes_before_a_name_which_is_listed_as_ignored() -> None:
    header = "date,open,high,low,close,volume,Name,Ticker"
    bars, lines = read(table("2020-01-02,1,1,1,1,5,Alfa Corporation,AAA", header=header))
    assert [one.symbol for one in bars] == ["AAA"]
    assert lines == ["prices.csv: ignored columns: 'Name'"]


@pytest.mark.parametrize(
    "header",
    [
        "Date,Open,High,Low,Close/Last,Volume",
        "Datetime,open,high,low,close,volume",
        "timestamp,1. open,2. high,3. low,4. close,5. volume",
        "Date,Open,High,Low,Price,Vol.",
        "trade_date,open_price,high_price,low_price,close_price,vol",
    ],
)
def test_other_columns_have_usual_names_too(header: str) -> None:
    ((bars,), lines) = read(table("2020-01-02,1,3,0.5,2,5", header=header))
    assert [float(column[0]) for column in bars.columns()] == [1.0, 3.0, 0.5, 2.0, 5.0]
    assert lines == []


def test_ignored_columns_are_listed_as_the_file_names_them() -> None:
    header = "date,open,high,low,close,volume,Dividends,Stock Splits,adj factor"
    _, lines = read(table("2020-01-02,1,1,1,1,5,0,0,1", header=header))
    assert lines == ["prices.csv: ignored columns: 'Dividends', 'Stock Splits', 'adj factor'"]


@pytest.mark.parametrize(
    ("stamp", "day"),
    [
        ("2018-12-31", "2018-12-31"),
        ("2018-12-31 00:00:00", "2018-12-31"),
        ("2018-12-31T00:00:00Z", "2018-12-31"),
        ("2018-12-31 00:00:00+00:00", "2018-12-31"),
        ("2018-12-31 00:00:00-05:00", "2018-12-31"),
        ("2018-12-31T21:00:00Z", "2018-12-31"),
        ("2019-01-01T01:00:00Z", "2018-12-31"),  # eight in the evening in New York
        ("2018-12-31T05:00:00+00:00", "2018-12-31"),  # midnight in New York
        ("2018-07-01T04:00:00Z", "2018-07-01"),
        ("2018-12-31T23:30:00-05:00", "2018-12-31"),
        ("2018-12-31T00:00:00+09:00", "2018-12-31"),
    ],
)
def test_a_time_stamp_belongs_to_the_day_at_the_exchange(stamp: str, day: str) -> None:
    ((bars,), _) = read(table(f"{stamp},1,1,1,1,5"))
    assert str(bars.dates[0]) == day


def test_time_stamps_of_parquet_in_utc_belong_to_the_day_at_the_exchange() -> None:
    sink = io.BytesIO()
    # 2018-12-31 21:00 and 2019-01-03 01:00 UTC
    stamps = pa.array([1_546_290_000, 1_546_477_200], pa.timestamp("s", "UTC"))
    figures = {name: [1.0, 1.0] for name in ("open", "high", "low", "close", "volume")}
    pq.write_table(pa.table({"date": stamps, **figures}), sink)
    ((bars,), _) = read(sink.getvalue())
    assert [str(day) for day in bars.dates] == ["2018-12-31", "2019-01-02"]


@pytest.mark.parametrize(
    ("prices", "volume", "separator", "close", "shares"),
    [
        ('"1,234.56"', '"1,234,567"', ",", 1234.56, 1_234_567),
        ("1.234,56", "1.234.567", ";", 1234.56, 1_234_567),
        ("1 234.56", "1 234 567", ",", 1234.56, 1_234_567),
        ("1'234.56", "1'234'567", ",", 1234.56, 1_234_567),
        ("12,5", "300", ";", 12.5, 300),
        ("$12.50", '"1,300"', ",", 12.5, 1300),
        ("12.50", "1.3M", ",", 12.5, 1_300_000),
        ("12.50", "45K", ",", 12.5, 45_000),
    ],
)
def test_separators_in_numbers_are_read_and_told(
    prices: str, volume: str, separator: str, close: float, shares: float
) -> None:
    row = separator.join(["2020-01-02", *[prices] * 4, volume])
    ((bars,), lines) = read(
        table(row, header=separator.join(["date", "open", "high", "low", "close", "volume"]))
    )
    assert (float(bars.close[0]), float(bars.volume[0])) == (close, shares)
    (line,) = lines
    assert "numbers are written with separators or units" in line


def test_one_reading_of_numbers_holds_for_a_whole_file() -> None:
    ((bars,), _) = read(table('2020-01-02,"1,234","1,234","1,234","1,234",5', "2020-01-03,2.5,2.5,2.5,2.5,5"))
    assert bars.close.tolist() == [1234.0, 2.5]


@pytest.mark.parametrize(
    "rows",
    [
        ('2020-01-02,"1,234","1,234","1,234","1,234",5',),
        (
            '2020-01-02,"1,234.5","1,234.5","1,234.5","1,234.5",5',
            '2020-01-03,"1.234,5","1.234,5","1.234,5","1.234,5",5',
        ),
    ],
    ids=["thousands or decimals", "two decimal marks"],
)
def test_a_number_that_can_be_read_in_two_ways_is_refused_in_one_line(rows: tuple[str, ...]) -> None:
    with pytest.raises(PriceFileError, match="write numbers without thousands separators"):
        read(table(*rows))


def test_bars_on_weekends_are_told() -> None:
    _, lines = read(table("2020-01-03,1,1,1,1,5", "2020-01-04,1,1,1,1,5", "2020-01-05,1,1,1,1,5"))
    assert lines == [
        "prices.csv: 2 bars on a weekend: first 2020-01-04 of prices, so every day counts as a session"
    ]


@pytest.mark.parametrize(
    ("close", "is_told"), [("4", True), ("3.01", True), ("3", False), ("0.25", True), ("0.5", False)]
)
def test_a_jump_by_more_than_a_factor_of_three_is_told(close: str, is_told: bool) -> None:
    _, lines = read(table("2020-01-02,1,1,1,1,5", f"2020-01-03,{close},{close},{close},{close},5"))
    assert bool(lines) == is_told
    if is_told:
        assert (
            "1 bar whose close moves by more than a factor of 3: 2020-01-03 of prices, an unadjusted split?"
            in lines[0]
        )


@pytest.mark.parametrize(("day", "is_told"), [("2020-01-09", False), ("2020-01-10", True)])
def test_a_gap_of_more_than_a_week_is_told(day: str, is_told: bool) -> None:
    _, lines = read(table("2020-01-02,1,1,1,1,5", f"{day},1,1,1,1,5"))
    assert bool(lines) == is_told
    if is_told:
        assert lines == ["prices.csv: 1 bar after a gap of more than 7 days: 2020-01-10 of prices"]


def test_a_command_prints_each_line_once(tmp_path: Path) -> None:
    days = [f"{2015 + n // 336}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}" for n in range(700)]
    rows = [f"{day},{10 + n % 7},{18},{9},{10 + n % 7},1000,x" for n, day in enumerate(days)]
    (tmp_path / "mine.csv").write_text(table(*rows, header="date,open,high,low,close,volume,remark"))
    done = moot("simulate", "--days", "1", "--prices", tmp_path / "mine.csv", "--out", tmp_path / "run")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count("moot simulate: mine.csv: ignored columns: 'remark'") == 1
    assert done.stderr.count("bars on a weekend") == 1
