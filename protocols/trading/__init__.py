"""System B: deployment, promotion and risk deliberations, halts, the trading day, the book (spec 4, 5, 6).

* `messages`, `rights`: what is said, and by whom.
* `hours`: the exchange calendar as a pure function.
* `session`: the trading day as one case with parallel tracks.
* `book`: money, positions and marks, folded from the log.
* `life`: where each strategy stands and how it fares; `moves`: who may move one.
* `deploy`, `promotion`, `alert`, `halt`, `trade`, `bridge`: the cases.
* `limits`: the limit table and the rule of what grows a position.
"""
