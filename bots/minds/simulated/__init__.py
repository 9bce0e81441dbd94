"""Simulated minds: seeded bots that argue from what the prices show; the default filling of all seats.

Four rooms, one for each kind of work:
    ``debate``   Explorer, Critic and Evolver: a micro-cycle, what follows from it, and what comes daily and weekly
    ``desk``     Operator, Guardian and Trader
    ``arena``    Planner, Reviewer and Finalizer
    ``panel``    reviewers and synthesizer, and the work that is put before them

What they share:
    ``mind``        ``SimulatedMind``: one per seat, dispatches to the tables of the rooms; what is in none of them
                    is filled from the figures that fix it (``moot.bots.minds.generic``)
    ``tools``       ``SimulatedTools``: prices as of an instant, the market within a day, evidence, the seed
    ``turn``        one obligation with all that its answer needs, computed when asked for
    ``temper``      every constant of behaviour in one dataclass, for tuning by data
    ``delays``      how long an answer takes (R-D19)
    ``phrases``     reads the sentences, which are TOML files in the rooms
    ``wording``     how sentences are chosen and figures are written

There are no dice in a decision: the draw comes from the seed, the decision from figures. Nothing here keeps state
between two answers besides caches keyed by content: the same view and seed give the same bytes in any process.
"""
