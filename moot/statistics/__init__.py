"""Statistics that may be looked at at any time, and tests without a model of the noise; they know nothing of Moot.

* `shares`: how large the share of an outcome is, by an interval that holds at all times together.
* `mode`: which outcome is the most frequent one, or that this is not settled yet.
* `wilson`: the same shares by intervals of a number of trials that was fixed beforehand, and how two shares differ.
* `permutation`: whether two groups differ, by shuffling who belongs to which; `categories`, `means` and `energy` say in
  what: into which categories they fall, how large they are, where they lie.
* `clusters`: figures over cases with intervals, for which alone scipy is needed, of tables that `detection` (how well
  what was there was found) and `votes` (how many independent votes voters are worth) make.
* `calibration`: whether stated confidences come true.

Counts are whole numbers, shares lie in [0, 1], `alpha` is the rate of error in (0, 1).
"""
