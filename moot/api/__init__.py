"""What `import moot` gives: debates, simulations, runs of the Arena, panels and logs, from Python.

* `debating`, `simulating`, `refining`, `judging`: the functions, each with its twin for `await`, and their results.
* `log`: a log, on disk or in memory; `case`: a case of one; `transcript`: what was said in one, as text.
* `running`: a society beside a loop that runs already; `showing`: results as text and as HTML.

The names that users import are in `moot/__init__.py`; nothing here does what the command line does not do, too.
"""
