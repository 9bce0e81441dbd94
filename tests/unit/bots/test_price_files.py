import gzip
import io
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.bots.tools.bars import Bars
from moot.bots.tools.errors import PriceFileError
from moot.bots.tools.price_files import parse_prices, read_price_file

HEADER = "date,open,high,low,close,volume"
ROWS = (
    "2020-01-01,10,12,9,11,100",
    "2020-01-02,11,13,10,12,200",
    "2020-01-03,12,14,11,13,300",
)


def csv(*rows, header=HEADER):
    return "\n".join((header, *rows)).encode() + b"\n"


def parquet(**columns):
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def columns(**changes):
    days = np.array(["2020-01-01", "2020-01-02"], "M8[D]")
    return {
        "date": days,
        "open": [10.0, 11.0],
        "high": [12.0, 13.0],
        "low": [9.0, 10.0],
        "close": [11.0, 12.0],
        "volume": [100, 200],
    } | changes


def fault(content, source="prices.csv"):
    with pytest.raises(PriceFileError) as caught:
        parse_prices(content, source)
    text = str(caught.value)
    assert text.isprintable(), text
    return text


def test_a_plain_csv_becomes_bars_named_after_the_file():
    (bars,) = parse_prices(csv(*ROWS), "spy.csv")
    assert (bars.symbol, bars.label) == ("spy", "file")
    assert bars.close.tolist() == [11.0, 12.0, 13.0]
    assert bars.volume.tolist() == [100.0, 200.0, 300.0]
    assert [str(day) for day in bars.dates] == ["2020-01-01", "2020-01-02", "2020-01-03"]


def test_rows_in_any_order_are_sorted():
    (bars,) = parse_prices(csv(*reversed(ROWS)), "spy.csv")
    assert bars.close.tolist() == [11.0, 12.0, 13.0]


@pytest.mark.parametrize(
    "content",
    [
        csv(*ROWS, header="Date,Open,HIGH,Low,Close,Volume"),
        csv(*ROWS, header=" date , open,high,low,close,volume "),
        b"\xef\xbb\xbf" + csv(*ROWS),
        csv(*ROWS).replace(b",", b";"),
        csv(*ROWS).replace(b",", b"\t"),
        csv(*ROWS).replace(b"\n", b"\r\n"),
        csv(*ROWS).replace(b"\n", b"\n\n"),
        csv(*(row + ",note" for row in ROWS), header=HEADER + ",remark"),
        csv(*(row.replace(",", " 00:00:00,", 1) for row in ROWS)),
        gzip.compress(csv(*ROWS)),
    ],
    ids=["case", "spaces", "bom", "semicolons", "tabs", "crlf", "blank lines", "extra", "midnight", "gzip"],
)
def test_usual_variants_of_a_csv_read_the_same(content):
    (bars,) = parse_prices(content, "spy.csv")
    (plain,) = parse_prices(csv(*ROWS), "spy.csv")
    for one, other in zip(bars.columns(), plain.columns(), strict=True):
        assert one.tolist() == other.tolist()
    assert bars.dates.tolist() == plain.dates.tolist()


def test_many_symbols_have_a_column_and_come_out_sorted():
    rows = [f"{row},{symbol}" for row in ROWS for symbol in ("ZZZ", "AAA")]
    bars = parse_prices(csv(*rows, header=HEADER + ",Symbol"), "all.csv")
    assert [one.symbol for one in bars] == ["AAA", "ZZZ"]
    assert [len(one) for one in bars] == [3, 3]


def test_an_adjusted_close_scales_all_four_prices():
    (bars,) = parse_prices(
        csv("2020-01-01,10,12,9,10,5,100", header="Date,Open,High,Low,Close,Adj Close,Volume"), "spy.csv"
    )
    assert [float(c[0]) for c in bars.columns()] == [5.0, 6.0, 4.5, 5.0, 100.0]


def test_high_and_low_may_be_off_by_rounding_and_are_mended():
    (bars,) = parse_prices(csv("2020-01-01,10,11.9999999,9,12,100"), "spy.csv")
    assert bars.high[0] == 12.0


def test_parquet_reads_like_csv():
    (bars,) = parse_prices(parquet(**columns()), "spy.parquet")
    assert (bars.symbol, bars.close.tolist()) == ("spy", [11.0, 12.0])
    assert str(bars.dates[1]) == "2020-01-02"


@pytest.mark.parametrize(
    "days",
    [
        ["2020-01-01", "2020-01-02"],
        pa.array([18262, 18263], pa.date32()),
        pa.array([18262 * 86_400_000, 18263 * 86_400_000], pa.date64()),
        pa.array([18262 * 86_400 + 77, 18263 * 86_400], pa.timestamp("s")),
        pa.array([18262 * 86_400 * 10**9, 18263 * 86_400 * 10**9], pa.timestamp("ns")),
        pa.array([18261 * 86_400 + 54_000, 18262 * 86_400 + 54_000], pa.timestamp("s", "Asia/Tokyo")),
        pa.array([18262 * 86_400 + 18_000, 18263 * 86_400 + 18_000], pa.timestamp("s", "America/New_York")),
    ],
    ids=["text", "date32", "date64", "seconds", "nanoseconds", "tokyo", "new york"],
)
def test_parquet_dates_may_have_any_usual_type(days):
    (bars,) = parse_prices(parquet(**columns(date=days)), "spy.parquet")
    assert [str(day) for day in bars.dates] == ["2020-01-01", "2020-01-02"]


def test_parquet_with_symbols_splits_by_symbol():
    symbols = pa.array(["B", "A"]).dictionary_encode()
    bars = parse_prices(parquet(**columns(symbol=symbols)), "all.parquet")
    assert [(one.symbol, one.close.tolist()) for one in bars] == [("A", [12.0]), ("B", [11.0])]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (["2020-01-04,10,12,9,abc,100"], "prices.csv: row 5, column 'close': 'abc' is not a number"),
        (["2020-01-04,10,12,9,,100"], "prices.csv: row 5, column 'close': is empty"),
        (["2020-01-04,nan,12,9,11,100"], "prices.csv: row 5, column 'open': is empty or not a finite number"),
        (["2020-01-04,10,inf,9,11,100"], "prices.csv: row 5, column 'high': is empty or not a finite number"),
        (["2020-01-04,10,12,-9,11,100"], "prices.csv: row 5, column 'low': -9 is not a price"),
        (["2020-01-04,0,12,9,11,100"], "prices.csv: row 5, column 'open': 0 is not a price"),
        (
            ["2020-01-04,10,12,9,1e300,100"],
            "prices.csv: row 5, column 'close': 1e+300 is not a plausible price",
        ),
        (["2020-01-04,10,10.5,9,11,100"], "prices.csv: row 5, column 'high': 10.5 is below another price"),
        (["2020-01-04,10,12,10.5,11,100"], "prices.csv: row 5, column 'low': 10.5 is above another price"),
        (["2020-01-04,10,12,9,11,-1"], "prices.csv: row 5, column 'volume': -1 is not a volume"),
        (["04.01.2020,10,12,9,11,100"], "prices.csv: row 5, column 'date': '04.01.2020' is not a date"),
        (["2020-02-30,10,12,9,11,100"], "prices.csv: row 5, column 'date': '2020-02-30' is not a date"),
        (["2020-W09-1,10,12,9,11,100"], "prices.csv: row 5, column 'date': '2020-W09-1' is not a date"),
        (["0020-01-04,10,12,9,11,100"], "prices.csv: row 5, column 'date': 0020-01-04 is not a date between"),
        (["2020-01-02,10,12,9,11,100"], "row 5, column 'date': 2020-01-02 of prices is already in row 3"),
        (["2020-01-04,10,12,9,11"], "prices.csv: row 5: holds 5 cells instead of 6"),
        (["", "2020-01-04,10,12,9,x,100"], "prices.csv: row 6, column 'close': 'x' is not a number"),
        (["2020-01-04,10,12,9,11,y", "2020-01-05,x,12,9,11,1"], "row 5, column 'volume'"),
    ],
)
def test_a_faulty_row_gets_one_line_that_names_row_and_column(rows, line):
    assert line in fault(csv(*ROWS, *rows))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "prices.csv: is empty"),
        (b"\n\n", "prices.csv: is empty"),
        (csv(), "prices.csv: holds no rows"),
        (
            csv("2020-01-01,1,1,1,1", header="date,open,high,low,close"),
            "prices.csv: column 'volume' is missing",
        ),
        (csv(header="close,Close," + HEADER), "prices.csv: column 'close' is there twice"),
        (csv("2020-01-01,1,1,1,1,1\xff".encode("latin-1").decode("latin-1")), "is not a number"),
        (HEADER.encode() + b"\n2020-01-01,1,1,1,1,\xff\n", "prices.csv: row 2: is not UTF-8 text"),
        (b"\x00\x01\x02" * 50, "prices.csv: is a binary file"),
        (b'"' + b"x" * 200_000, "prices.csv: row 1: is not CSV"),
        (b"\x1f\x8bnonsense", "prices.csv: is damaged gzip"),
        (gzip.compress(csv(*ROWS))[:-12], "prices.csv: is damaged gzip"),
        (b"PAR1 but no more", "prices.csv: is not a readable Parquet file"),
        (parquet(**columns())[:-40], "prices.csv: is not a readable Parquet file"),
        (parquet(**columns(close=["a", "b"])), "column 'close': holds string instead of numbers"),
        (parquet(**columns(date=[1, 2])), "column 'date': holds int64 instead of dates"),
        (parquet(**columns(symbol=[1, 2])), "column 'symbol': holds int64 instead of text"),
        (parquet(**columns(close=[11.0, None])), "row 2, column 'close': is empty"),
        (
            parquet(**columns(date=pa.array([None, 18263], pa.date32()))),
            "row 1, column 'date': NaT is not a date",
        ),
        (parquet(day=[1]), "column 'date' is missing (found: 'day')"),
        (
            csv("2020-01-01,1,1,1,1,1,", header=HEADER + ",symbol"),
            "row 2, column 'symbol': '' is not a symbol",
        ),
        (
            csv("2020-01-01,10,10,10,10,1e-300,1", header="date,open,high,low,close,adj_close,volume"),
            "adj_close",
        ),
    ],
    # Bytes as names would hold a time stamp of gzip: other names in every process.
    ids=lambda value: value if isinstance(value, str) else "content",
)
def test_a_file_that_is_something_else_gets_one_line(content, line):
    assert line in fault(content)


def test_a_parquet_name_with_other_content_says_so():
    assert "spy.parquet: is not a Parquet file" in fault(csv(*ROWS), "spy.parquet")


def test_an_error_carries_its_facts():
    with pytest.raises(PriceFileError) as caught:
        parse_prices(csv(*ROWS, "2020-01-04,10,12,9,abc,100"), "prices.csv")
    assert (caught.value.source, caught.value.row, caught.value.column) == ("prices.csv", 5, "close")


def test_what_is_no_readable_file_gets_one_line(tmp_path):
    with pytest.raises(PriceFileError, match=r"nowhere\.csv: no such file"):
        read_price_file(tmp_path / "nowhere.csv")
    with pytest.raises(PriceFileError, match="is a directory"):
        read_price_file(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PriceFileError, match="cannot be read"):
        read_price_file(tmp_path / "file" / "below.csv")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PriceFileError, match="is not a regular file"):
        read_price_file(tmp_path / "pipe")
    with pytest.raises(PriceFileError, match="cannot be read"):
        read_price_file(tmp_path / "nul\x00.csv")


def test_a_file_on_disk_reads_like_its_bytes(tmp_path):
    path = tmp_path / "two\nlines.csv"
    path.write_bytes(csv("2020-01-01,x,1,1,1,1"))
    with pytest.raises(PriceFileError, match=r"^two\?lines\.csv: row 2, column 'open'"):
        read_price_file(path)
    path.write_bytes(csv(*ROWS))
    assert len(read_price_file(path)[0]) == 3


def judged(content, source):
    """Parse; whatever comes back must keep the promises of Bars."""
    try:
        found = parse_prices(content, source)
    except PriceFileError as error:
        assert str(error).isprintable()
        return
    assert found
    for bars in found:
        assert isinstance(bars, Bars)
        assert len(bars) > 0
        assert np.isfinite([*bars.columns()]).all()
        assert (bars.low > 0).all()
        assert (bars.high >= np.maximum(bars.open, bars.close)).all()
        assert (bars.low <= np.minimum(bars.open, bars.close)).all()


@given(st.binary(max_size=300), st.sampled_from(["a.csv", "a.parquet", "", "\n"]))
def test_any_bytes_give_bars_or_a_price_file_error(content, source):
    judged(content, source)
    judged(HEADER.encode() + b"\n" + content, source)
    judged(b"PAR1" + content + b"PAR1", source)
    judged(b"\x1f\x8b\x08" + content, source)


CELL = st.one_of(
    st.sampled_from(
        ["1", "2.5", "1e12", "1e-9", "-1", "nan", "inf", "", "x", "1e400", "٣", "1_0", '"', "\r"]
    ),
    st.floats().map(repr),
    st.text(max_size=4),
)
DAY = st.one_of(
    st.dates().map(str), st.sampled_from(["2020-01-01", "2020-1-1", "1", ""]), st.text(max_size=12)
)


@given(st.lists(st.tuples(DAY, CELL, CELL, CELL, CELL, CELL, CELL, CELL), max_size=5), st.booleans())
def test_any_cells_give_bars_or_a_price_file_error(rows, plain):
    header = HEADER + ",adj_close,symbol"
    judged(
        csv(*(",".join(row[: 6 if plain else 8]) for row in rows), header=HEADER if plain else header),
        "a.csv",
    )


@settings(max_examples=200)
@given(st.data())
def test_a_parquet_file_with_altered_bytes_gives_bars_or_a_price_file_error(data):
    content = bytearray(parquet(**columns(symbol=["A", "B"])))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    judged(bytes(content), "a.parquet")
