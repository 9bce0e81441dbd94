"""What the desk of System B trades on. Access: the market is read-only, the broker writes nothing.

    ``quarters``   15-minute bars, and how many of them a session has
    ``bridge``     a seeded path through one day's open, high, low and close
    ``intraday``   the user's own 15-minute bars in its place, checked (R-M3)
    ``market``     prices, 15-minute bars and marks at any instant, never what comes after it
    ``broker``     the paper broker: what becomes of an order, as a pure function (K11)
    ``risk``       value at risk, correlation, concentration, and what a strategy would add (R-B7)
    ``signals``    what a strategy wants to hold at an instant

Data flows downwards: a `Universe` of daily bars becomes a `Market`; broker and signals ask it at an instant. Nothing
here waits, reads a clock or keeps state besides caches keyed by content: equal arguments give equal answers, in any
process, so a restart changes nothing.
"""
