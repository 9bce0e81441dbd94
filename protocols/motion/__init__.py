"""Motions: any question debated, from a claim through objections and replies to a judgment.

* `messages`: what its seats say; `seats`, `rights`: who they are and who says it where; `acts`: who opens one.
* `state`, `debating`, `judging`, `machine`: one motion from MOTION to JUDGMENT.
"""
