"""Calls of language models: what a society pays for, within budgets that are kept before a call is sent (K26, K27).

* `messages`: a call reserved, settled or refused, and a budget set.
* `usage`, `price`: the tokens of a call, and what they cost.
* `books`: what is booked in each budget, and what still fits.
* `limits`: what may be spent, as a log's configuration says it.
* `call`: one call, and what follows about it.
* `ledger`: the fold that holds the officer's word on calls against both.
* `exhaustion`: what follows when a budget is spent.
"""
