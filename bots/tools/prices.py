"""Load the prices a society lives on. Access: read-only."""

from __future__ import annotations

import importlib.resources
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from moot.bots.tools.bars import Bars
from moot.bots.tools.errors import PriceFileError
from moot.bots.tools.price_files import parse_prices, read_price_file
from moot.bots.tools.simulated_prices import sample_stocks, synthetic_stocks
from moot.bots.tools.splits import MIN_BARS
from moot.bots.tools.universe import Universe
from moot.protocols.research.debate_table import PASS_TRADES

SAMPLES: Final = {"SP500": "sp500_daily.csv.gz", "NASDAQ": "nasdaq_daily.csv.gz"}
"""Real indices that are shipped in ``config/samples``, by symbol."""

LEAST_BARS: Final = 5 * PASS_TRADES
"""So many bars a society needs at its start: the test, a fifth of them, then has a session for each trade of a backtest
that passes (R-D15)."""

SEEDS_KEPT: Final = 4
"""So many seeds' samples stay: societies that one process lives one after the other often share theirs."""


def load_universe(spec: str | Path, *, start: datetime, seed: int) -> Universe:
    """Load a society's prices and move them to its date.

    Args:
        spec: ``sample`` (two real indices and eight simulated stocks), ``synthetic`` (ten simulated stocks)
            or the path of a CSV or Parquet file.
        start: Aware instant at which the society starts. Outside the source's dates, all dates move by whole
            weeks so that the last bar is the latest possible strictly before the start's date (UTC); inside,
            nothing moves and later bars appear day by day. After the source's last bar the market goes on (R-M4).
        seed: Seed of the society; it moves simulated prices and the continuation, never what the source holds.

    Returns:
        The whole source, also what lies in the future of ``start``: call ``until(instant)`` before use, which
        knows the continuation too.

    Raises:
        PriceFileError: The file cannot be used, or fewer than three bars exist at the start.
        ValueError: ``start`` is naive or not between 1900 and 2200.

    Source: Rulings R-M1, R-M2, R-M4.
    """
    if start.tzinfo is None or not 1900 <= start.year < 2200:
        raise ValueError(f"start must be an aware instant between 1900 and 2200, not {start}")
    name = str(spec)
    if name == "sample":
        universe = _sample(seed)
    elif name == "synthetic":
        universe = Universe.of(synthetic_stocks(seed), f"synthetic: 10 simulated stocks, seed {seed}")
    else:
        bars = read_price_file(Path(spec))
        noun = "symbol" if len(bars) == 1 else "symbols"
        universe = Universe.of(bars, f"{Path(spec).name}: {len(bars)} {noun}")
    universe = universe.shifted(weeks_to(start.astimezone(UTC).date(), universe)).continued(seed)
    known = len(universe.until(start).calendar)
    if known < MIN_BARS:
        first = universe.calendar[0].item()
        raise PriceFileError(
            Path(name).name,
            f"only {known} bars exist at the start {start.astimezone(UTC):%Y-%m-%d %H:%M} UTC (the first is "
            f"of {first}), {MIN_BARS} are needed — choose a later start or a longer file",
        )
    return universe


def enough_to_backtest(universe: Universe, name: str, start: datetime) -> None:
    """Refuse prices that are too short for a society to backtest on.

    Args:
        universe: What was loaded.
        name: What the user called it.
        start: When the society starts.

    Raises:
        PriceFileError: Fewer than `LEAST_BARS` exist at the start.
    """
    known = len(universe.until(start).calendar)
    if known < LEAST_BARS:
        raise PriceFileError(
            Path(name).name,
            f"{known} days before the start {start.astimezone(UTC):%Y-%m-%d} are too few to backtest on, {LEAST_BARS} "
            "are needed — choose a longer file or a later start",
        )


def weeks_to(day: date, universe: Universe) -> int:
    """Find the shift of R-M2.

    Args:
        day: The society's start date.
        universe: An unshifted universe.

    Returns:
        Whole weeks to move by: 0 when ``day`` lies inside the universe's dates (both ends included).
    """
    first, last = universe.calendar[0], universe.calendar[-1]
    start = np.datetime64(day, "D")
    if first <= start <= last:
        return 0
    days_to_eve = int((start - last).astype(np.int64)) - 1
    return days_to_eve // 7


@lru_cache(maxsize=SEEDS_KEPT)
def _sample(seed: int) -> Universe:
    indices = tuple(map(_index, SAMPLES))
    stocks = sample_stocks(indices, seed)
    description = (
        f"sample: real indices SP500 and NASDAQ {indices[0].dates[0]} to {indices[0].dates[-1]}, "
        f"{len(stocks)} simulated stocks (seed {seed})"
    )
    return Universe.of([*indices, *stocks], description)


@cache
def _index(symbol: str) -> Bars:
    file = SAMPLES[symbol]
    (bars,) = parse_prices((importlib.resources.files("moot.config") / "samples" / file).read_bytes(), file)
    return Bars(symbol, bars.dates, *bars.columns(), "real")
