"""System A: hypothesis debates, the weekly architecture debate, reflection and reports (spec 1 to 3).

* `messages`: what its seats say; `rights`: who says it where.
* `debate_table`, `debate`, `debate_duties`, `judging`, `debate_machine`: one debate from HYPOTHESIS to its last record.
* `cycle`: the micro-cycle around a debate; `daily`, `architecture`: the daily and weekly cycles.
* `ledger`: counts over the log that reports must equal; `learning`: arithmetic of principles and thresholds.
* `calendar`: which cycle is due when; `triggers`: conditions of System A that escalate.
"""
