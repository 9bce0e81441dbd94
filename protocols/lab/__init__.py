"""The lab: experiments that sample how answers to one question are distributed, as a society hears of them.

A run of Arbiter happens in a process of its own; what it tells stands here under the society's rules.

* `messages`: an experiment started, a batch of it, its end.
* `figures`: what the figures of a batch and of an end say of each other, and what no run can have measured.
* `experiment`: its case; who falls silent is ended as lost.
* `stoppers`: which person stopped which experiment.
"""
