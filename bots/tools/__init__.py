"""What minds may call to weigh a strategy: prices, backtests, risk measures. All are read-only.

Prices:
    ``bars``              one symbol's daily bars; knows neither files nor seeds
    ``universe``          all symbols of a society, and the view of them at one instant (no look-ahead)
    ``price_rows``        raw columns into checked bars; the first fault becomes one clear line
    ``price_cells``       single cells: dates, numbers, symbols
    ``csv_rows``          a CSV table into raw columns
    ``parquet_rows``      a Parquet table into raw columns
    ``price_files``       a file on disk, of either format, into bars
    ``simulated_prices``  seeded stocks: those of ``sample`` and the whole of ``synthetic``
    ``continuation``      how the market goes on after a source's last bar
    ``prices``            ``load_universe``: the only door minds and the composition root need

Strategies and their evidence:
    ``strategies``        a strategy as data: archetype, parameters, symbols; the space they are drawn from
    ``wording``           a strategy in words
    ``indicators``        rolling windows over past bars
    ``signals``           a strategy and bars into target positions
    ``statistics``        performance figures
    ``splits``            train, validation and test spans of a universe
    ``backtest``          a strategy over a span, with costs, judged by the pass rule
    ``returns``           how trades turn positions into net daily returns
    ``scores``            the formulas behind the Critic's seven scores
    ``risk``              a strategy's risk report and the market's regime

Data flows downwards: a file or seed becomes a ``Universe``; ``Universe.until(instant)`` hides the future; a
``StrategySpec`` and a ``Span`` become a ``BacktestReport``; ``assess`` becomes a ``RiskReport``. Nothing here
waits, reads a clock or keeps state besides caches keyed by content: equal arguments give equal answers, byte
for byte. All random numbers come from ``seeding.generator``.
"""
