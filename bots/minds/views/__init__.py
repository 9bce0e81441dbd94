"""What an obligation is about, typed: read from a view's messages and figures, never from the case's state.

* `debate`: the debate over a hypothesis.
* `motion`: any question, debated.
* `arena`: a run of the Arena.
* `panel`: a review panel.
"""
