"""Escalation: when the society asks a person, and what it does when nobody answers (spec 5).

* `messages`: the escalation itself, its pages, its answers, its end.
* `rights`: who may post which of them.
* `mode`: when System A turns conservative, and who ends it.

Triggers and their options are tables here; the kernel does not know them.
"""
