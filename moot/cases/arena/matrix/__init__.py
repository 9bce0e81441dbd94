"""The test matrix T01 to T12 of Arena Protocol v2.

Its rows are data: `loop` and `guards` say what is given, which states must be passed and what must hold (`case` says
what a row is); `criteria` and `evidence` look at the record; `runner` holds the runs, `result` what they found;
`fixtures/` is what is given.
"""
