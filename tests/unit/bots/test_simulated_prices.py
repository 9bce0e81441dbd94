import numpy as np
import pytest

from moot.bots.tools.bars import Bars
from moot.bots.tools.simulated_prices import SAMPLE_STOCKS, sample_stocks, synthetic_stocks


def index(symbol, seed):
    rng = np.random.default_rng(seed)
    dates = np.busday_offset("2010-01-04", np.arange(1500), roll="forward")
    close = 1000.0 * np.cumprod(1.0 + 0.01 * rng.standard_normal(1500))
    return Bars(symbol, dates, close, close, close, close, close, "real")


INDICES = (index("SP500", 1), index("NASDAQ", 2))


def daily(bars):
    return bars.close[1:] / bars.close[:-1] - 1.0


@pytest.mark.parametrize(
    "stocks", [sample_stocks(INDICES, 7), synthetic_stocks(7)], ids=["sample", "synthetic"]
)
def test_every_simulated_stock_says_so_and_keeps_the_promises_of_bars(stocks):
    for bars in stocks:
        assert bars.label == "simulated"
        assert bars.symbol.startswith("SIM-")
        assert (bars.low > 0).all()
        assert (bars.high >= np.maximum(bars.open, bars.close)).all()
        assert (bars.low <= np.minimum(bars.open, bars.close)).all()
        assert np.array_equal(bars.close, np.round(bars.close, 4))


def test_the_same_seed_gives_the_same_prices_and_another_seed_others():
    first, again, other = (sample_stocks(INDICES, seed)[0].close for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(synthetic_stocks(7)[0].close, synthetic_stocks(8)[0].close)


def test_sample_has_eight_stocks_that_follow_their_index_by_beta():
    stocks = sample_stocks(INDICES, 7)
    assert [bars.symbol for bars in stocks] == [stock.symbol for stock in SAMPLE_STOCKS]
    assert len(stocks) == 8
    markets = {bars.symbol: bars for bars in INDICES}
    for stock, bars in zip(SAMPLE_STOCKS, stocks, strict=True):
        market = daily(markets[stock.market])
        slope = np.cov(daily(bars), market)[0, 1] / market.var()
        assert slope == pytest.approx(stock.beta, abs=0.2)
        assert np.array_equal(bars.dates, markets[stock.market].dates)


def test_one_stocks_noise_does_not_depend_on_the_other_index():
    other = (INDICES[0], index("NASDAQ", 3))
    alfa, charlie = 0, 2
    assert np.array_equal(sample_stocks(INDICES, 7)[alfa].close, sample_stocks(other, 7)[alfa].close)
    assert not np.array_equal(
        sample_stocks(INDICES, 7)[charlie].close, sample_stocks(other, 7)[charlie].close
    )


def test_synthetic_has_ten_stocks_over_twelve_years_of_weekdays():
    stocks = synthetic_stocks(7)
    assert len(stocks) == 10
    dates = stocks[0].dates
    assert len(dates) == 3130
    assert np.is_busday(dates).all()


def test_volatility_comes_in_regimes():
    bars = synthetic_stocks(7)[5]
    windows = np.lib.stride_tricks.sliding_window_view(daily(bars), 20).std(axis=1)
    calm, stormy = np.quantile(windows, [0.1, 0.95])
    assert stormy > 2.0 * calm
