"""Studies: arms × cases × repetitions, preregistered, judged against a truth, reported with intervals.

* `cases`: what is asked, each with a truth that nobody who answers is shown.
* `arms`: ways of answering: one pass, a vote, a debate, a run of the Arena, a panel.

Two runs of Arbiter are compared elsewhere (`moot.arbiter.comparing`): those ask how stable an answer is, studies ask
whether it is right.
"""
