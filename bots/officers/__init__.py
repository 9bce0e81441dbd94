"""The seats that are code and hold the rest to the rules.

* `duty_runner`: posts what the tables make them owe, when it falls due.
* `timekeeper`: the messages of the society's life and clock; `referee`: the audit of refusals.
* `bursar`: calls of models; `lab`: what runs of Arbiter tell.
"""
