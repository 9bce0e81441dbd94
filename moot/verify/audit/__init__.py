"""Auditors that share no rule with the machines they judge: where a second way of reckoning pays.

Everything else that `moot verify` finds, the docket finds: it folds the log by the very tables that a society ran on.
"""
