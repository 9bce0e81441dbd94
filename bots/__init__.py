"""Async shells around seats: they wait for what their seat owes, ask its mind, and publish.

* `bot`: one task per obligation; `officers`: seats that are code; `seats`: what is particular to a seat.
* `minds`: what fills a seat (scripted, simulated, human); `tools`: what minds may call, each with its access;
  `desk`: the market within a day and the paper broker, for System B.

Bots hold no reference to docket or stores; a mind sees a view (K12).
"""
